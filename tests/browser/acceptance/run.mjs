// SPDX-License-Identifier: Apache-2.0
// The acceptance drive of Elsa Studio (50 steps, ../shared/studio/drive.mjs) through our shell. The drive is
// copied into the build folder, next to stand-ins for its host and its browser; its waits are stretched.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { key } from '../server.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));

// Deadlines that only a hang exceeds.
function stretch(source) {
  return source.replace(/(timeout: |timeout = |, )(\d{4,6})(?=[ ,})])/g, (_, before, ms) => before + ms * 6);
}

function prepare(drive, folder) {
  const modules = path.join(folder, 'node_modules', 'playwright-core');
  fs.mkdirSync(modules, { recursive: true });
  fs.writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  fs.writeFileSync(path.join(folder, 'drive.mjs'), stretch(fs.readFileSync(drive, 'utf8')));
  const pass = name => `export * from ${JSON.stringify('file://' + path.join(here, name))};\n`;
  fs.writeFileSync(path.join(folder, 'serve.mjs'), pass('serve.mjs'));
  fs.writeFileSync(path.join(modules, 'package.json'), '{"name":"playwright-core","type":"module","exports":"./index.js"}');
  fs.writeFileSync(path.join(modules, 'index.js'), pass('playwright.mjs'));
}

// {steps: [{name, ok, error, bad}], problems: [{what, text}]}
export async function drive(source, server, { npm, shots, only, folder }) {
  folder = path.resolve(folder);
  prepare(source, folder);
  fs.mkdirSync(shots, { recursive: true });
  const out = path.join(folder, 'traffic.json'), problems = path.join(folder, 'problems.json');
  for (const file of [out, problems]) fs.rmSync(file, { force: true });
  // Requests of the drive itself have the key; Studio has the session of the page.
  const args = [path.join(folder, 'drive.mjs'), `--api-key=${key}`, `--api-base=${server.api}`, `--shots=${shots}`, `--out=${out}`];
  if (only) args.push(`--only=${only}`);
  const env = { ...process.env, PAWL_URL: server.url, PAWL_NPM: path.resolve(npm), PAWL_PROBLEMS: problems, PAWL_SHOTS: shots };
  const child = spawn(process.execPath, args, { env, stdio: 'inherit' });
  process.on('exit', () => child.kill());
  await new Promise(done => child.on('exit', done));
  return { steps: JSON.parse(fs.readFileSync(out, 'utf8')).results, problems: JSON.parse(fs.readFileSync(problems, 'utf8')) };
}
