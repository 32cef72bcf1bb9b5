// SPDX-License-Identifier: Apache-2.0
// Elsa Studio on `pawl serve`, in a browser:
//
//   node tests/browser/run.mjs PAWL STUDIO NPM OUT [RECORDINGS] [ONLY]
//
// STUDIO is the folder of the package, NPM the folder with playwright-core, OUT where pictures go, RECORDINGS where
// the acceptance drive is. ONLY runs some of its steps; 'shell', 'user': one of our own drives
// alone; 'reuse': the user's with workflows in others; 'cluster': on three nodes.
import fs from 'node:fs';
import path from 'node:path';
import { drive } from './acceptance/run.mjs';
import { useCluster } from './cluster.mjs';
import { startServer } from './server.mjs';
import { useShell } from './shell.mjs';
import { useStudio } from './user.mjs';

const [pawl, studio, npm, out, recordings, only] = process.argv.slice(2);
let count = 0;
let skipped = 0;
const failed = [];

function report(name, problems) {
  count++;
  if (problems.length) failed.push([`browser: ${name}`, ...problems.map(problem => `    ${problem}`)].join('\n'));
  console.log(`${problems.length ? 'not ok' : 'ok'} ${count} - ${name}`);
  for (const problem of problems) console.log(`# ${problem}`);
}

// What the steps of the drive cause by intent: a workflow that faults is executed.
const expected = /^POST \S+\/execute 500$/;

async function accept() {
  const source = path.join(recordings ?? '', 'studio', 'drive.mjs');
  if (!fs.existsSync(source)) {
    console.log(`ok ${++count} - studio: the acceptance drive # SKIP it is not here`);
    skipped++;
    return;
  }
  const server = await startServer(pawl, studio);
  const result = await drive(source, server, { npm, only, shots: path.join(out, 'acceptance'), folder: path.join(out, 'drive') });
  await server.stop();
  if (!result.steps.length) report('studio: steps of the drive', [`none is named '${only ?? ''}'`]);
  for (const step of result.steps) report(`studio ${step.name}`, step.ok ? [] : [step.error]);
  const problems = result.problems.filter(p => !(p.what === 'response' && expected.test(p.text)));
  report('studio: no script error, nothing refused', problems.map(p => `${p.what}: ${p.text}`));
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1)); // servers end with it

async function use() {
  const server = await startServer(pawl, studio);
  await useStudio(server, { npm, report, shots: path.join(out, 'user'), reuses: only === 'reuse' });
  await server.stop();
}

// The longest two are for those who ask: three nodes, and workflows that are used in others.
if (!['shell', 'user', 'reuse', 'cluster'].includes(only)) await accept();
if (!only || only === 'shell') await useShell({ report });
if (!only || only === 'user' || only === 'reuse') await use();
if (only === 'cluster') await useCluster({ pawl, studio, npm, report, shots: path.join(out, 'cluster') });
if (only && count === skipped) report(`ONLY=${only}`, ['no step was run']);
console.log(`1..${count}`);
const tally = process.env.PAWL_TEST_TALLY; // of .ci/run
if (tally) {
  fs.appendFileSync(tally, `${count - failed.length - skipped} ${failed.length} ${skipped}\n`);
  fs.appendFileSync(`${tally}.failed`, failed.map(text => `${text}\n`).join(''));
}
process.exit(failed.length ? 1 : 0);
