// SPDX-License-Identifier: Apache-2.0
// DBOS on PostgreSQL, in the process of its callers, as it is used: every step is checkpointed
// before the next.
//
//   node bench/peers/dbos.mjs FOLDER-WITH-PACKAGES DATABASE-URL
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import { fanIn, repeat, serve, SIGNALS } from './load.mjs';

const [folder, url] = process.argv.slice(2);
const { DBOS } = createRequire(`${folder}/package.json`)('@dbos-inc/dbos-sdk');
const WAIT_SECONDS = 120;

const step = (value) => DBOS.runStep(async () => value, { name: `step${value}` });

const short = DBOS.registerWorkflow(
  async () => (await step(1)) + (await step(2)) + (await step(3)),
  { name: 'short' },
);
const signal = DBOS.registerWorkflow(async () => DBOS.recv('go', WAIT_SECONDS), { name: 'signal' });
const gather = DBOS.registerWorkflow(
  async () => {
    const arrived = [];
    for (let i = 0; i < SIGNALS; i++) arrived.push(await DBOS.recv('go', WAIT_SECONDS));
    return arrived;
  },
  { name: 'gather' },
);

async function runSignal() {
  const handle = await DBOS.startWorkflow(signal)();
  const sent = performance.now();
  await DBOS.send(handle.workflowID, 'now', 'go');
  if ((await handle.getResult()) !== 'now') throw new Error('W2: another result');
  return performance.now() - sent;
}

async function runShort() {
  if ((await short()) !== 6) throw new Error('W1s: another result');
}

DBOS.setConfig({
  name: 'pawl-bench',
  applicationVersion: '1',
  systemDatabaseUrl: url,
  runAdminServer: false,
  logLevel: 'error',
});
await DBOS.launch();
await serve({
  w1s: (callers, seconds) => repeat(callers, seconds, runShort),
  w2: (callers, seconds) => repeat(callers, seconds, runSignal),
  w3: async (senders) => {
    const handle = await DBOS.startWorkflow(gather)();
    return fanIn(
      senders,
      (number) => DBOS.send(handle.workflowID, number, 'go'),
      () => handle.getResult(),
    );
  },
});
await DBOS.shutdown();
process.exit(0);
