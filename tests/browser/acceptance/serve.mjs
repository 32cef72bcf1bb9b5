// SPDX-License-Identifier: Apache-2.0
// Stands for the acceptance drive's own host: Studio is served by `pawl serve`, which runs already.
export async function startServer() {
  return { url: `${process.env.PAWL_URL}/studio`, endpoint: `${process.env.PAWL_URL}/elsa/api`, close() {} };
}

export function parseArgs(argv) {
  const options = {};
  for (const argument of argv) {
    const [, name, value] = /^--([a-z-]+)=(.*)$/.exec(argument);
    options[name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase())] = value;
  }
  return options;
}
