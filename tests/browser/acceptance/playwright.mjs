// SPDX-License-Identifier: Apache-2.0
// Stands for 'playwright-core' in the acceptance drive: the same, but a context that is made has signed in
// through our shell, and waits take longer on a machine that is slow.
import { playwright, signIn, watch } from '../browser.mjs';
import { user } from '../server.mjs';
import fs from 'node:fs';

const real = playwright(process.env.PAWL_NPM).chromium;
const slow = Number(process.env.PAWL_SLOW ?? 1);

async function prepare(context) {
  const page = await context.newPage();
  await signIn(page, process.env.PAWL_URL, user);
  await page.waitForSelector('#x .mud-table', { timeout: 120000 });
  await page.close();
  const problems = watch(context);
  process.on('exit', () => fs.writeFileSync(process.env.PAWL_PROBLEMS, JSON.stringify(problems, null, 1)));
  const newPage = context.newPage.bind(context);
  context.newPage = async () => {
    const made = await newPage();
    const wait = made.waitForTimeout.bind(made);
    made.waitForTimeout = ms => wait(ms * slow);
    return made;
  };
  return context;
}

export const chromium = {
  launch: async options => {
    const browser = await real.launch(options);
    const newContext = browser.newContext.bind(browser);
    browser.newContext = async settings => prepare(await newContext(settings));
    return browser;
  },
};
