// SPDX-License-Identifier: Apache-2.0
// The workloads on `pawl serve`, called over HTTP as Restate is. The callers are this process.
//
//   node bench/peers/pawl.mjs PROGRAM STORE DATA-FOLDER
import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { request, Agent } from 'node:http';
import { performance } from 'node:perf_hooks';
import { fanIn, repeat, serve, SIGNALS } from './load.mjs';

const [program, store, data] = process.argv.slice(2);
const KEY = 'bench-key-of-the-administrator';
const READY_MS_MAX = 60000;
const END_MS_MAX = 120000;
const LOOK_MS = 2;
const API = '/elsa/api';

// ---- definitions, as in bench/workloads.c and bench/fan_in.c --------------------------------

const input = (typeName, value, type = 'Literal') => ({ typeName, expression: { type, value } });
const set = (number) => ({
  id: `set${number}`,
  type: 'Elsa.SetVariable',
  variable: { id: 'v', name: 'V' },
  value: input('String', `value ${number}`),
});
const variable = (typeName) => ({ id: 'v', name: 'V', typeName, storageDriverTypeName: 'WorkflowInstanceStorageDriver' });
const sequence = (activities) => ({ id: 'seq', type: 'Elsa.Sequence', activities });

const definitions = [
  {
    definitionId: 'w1s',
    name: 'w1s',
    options: { commitStrategyName: 'ActivityExecuted' },
    variables: [variable('String')],
    root: sequence([set(1), set(2), set(3)]),
  },
  {
    definitionId: 'w2',
    name: 'w2',
    root: sequence([{ id: 'wait', type: 'Elsa.Event', eventName: input('String', 'go') }]),
  },
  {
    definitionId: 'w3',
    name: 'w3',
    variables: [variable('Object')],
    root: {
      id: 'for',
      type: 'Elsa.For',
      start: input('Int32', 1),
      end: input('Int32', SIGNALS),
      body: sequence([
        {
          id: 'wait',
          type: 'Elsa.Event',
          eventName: input('String', 'signal'),
          result: { typeName: 'Object', memoryReference: { id: 'v' } },
        },
        { id: 'write', type: 'Elsa.WriteLine', text: input('Object', { id: 'v' }, 'Variable') },
      ]),
    },
  },
];

// ---- the server, requests -------------------------------------------------------------------

const agent = new Agent({ keepAlive: true, maxSockets: 256 });
let port;

function call(method, path, body) {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { authorization: `ApiKey ${KEY}` };
    if (text !== undefined) Object.assign(headers, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    const asked = request({ host: '127.0.0.1', port, method, path: API + path, headers, agent }, (response) => {
      let answer = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (answer += chunk));
      response.on('end', () => {
        if (response.statusCode >= 300) reject(new Error(`${method} ${path}: ${response.statusCode} ${answer}`));
        else resolve(answer === '' ? undefined : JSON.parse(answer));
      });
    });
    asked.on('error', reject);
    asked.end(text);
  });
}

// Its lines go to a file: effects of W3.
async function startServer() {
  const log = `${data}/pawl-${process.pid}.log`;
  const out = openSync(log, 'w');
  const server = spawn(program, ['serve', '--store', store, '--listen', '127.0.0.1:0'], {
    stdio: ['ignore', out, out],
    env: { ...process.env, PAWL_ADMIN_API_KEY: KEY, PAWL_SERVER_RATE: '0' },
  });
  let ended = null;
  server.on('error', (error) => (ended = String(error)));
  server.on('exit', (code, signal) => (ended ??= `it ended with ${code ?? signal}`));
  process.on('exit', () => server.kill('SIGKILL'));
  process.on('SIGTERM', () => process.exit(0));
  for (const end = performance.now() + READY_MS_MAX; ; ) {
    const found = /ready at http:\/\/127\.0\.0\.1:(\d+)/.exec(readFileSync(log, 'utf8'));
    if (found) {
      port = Number(found[1]);
      return server;
    }
    if (ended || performance.now() > end)
      throw new Error(`pawl serve does not come up: ${ended ?? 'it is late'}\n${readFileSync(log, 'utf8').slice(-2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// ---- the workloads --------------------------------------------------------------------------

async function execute(id, expected) {
  const { workflowState: state } = await call('POST', `/workflow-definitions/${id}/execute`, {});
  if (state.subStatus !== expected) throw new Error(`${id}: ${state.subStatus}`);
  return state.id;
}

async function runSignal() {
  const id = await execute('w2', 'Suspended');
  const sent = performance.now();
  // Responds when the instance has come to rest, which is its end.
  await call('POST', '/events/go/trigger', { workflowInstanceId: id, workflowExecutionMode: 'Synchronous' });
  return performance.now() - sent;
}

async function awaitEnd(id) {
  for (const end = performance.now() + END_MS_MAX; performance.now() < end; ) {
    const { status } = await call('GET', `/workflow-instances/${id}/execution-state`);
    if (status === 'Finished') return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error('W3: the instance did not finish: signals were lost');
}

// What each line was given.
async function arrived(id) {
  const records = await call('GET', `/activity-executions/list?workflowInstanceId=${id}`);
  return records.items
    .filter((record) => record.activityId === 'write')
    .map((record) => JSON.stringify(record.activityState?.Text ?? record.activityState));
}

const server = await startServer();
for (const model of definitions) await call('POST', '/workflow-definitions', { model, publish: true });

await serve({
  w1s: (callers, seconds) => repeat(callers, seconds, async () => void (await execute('w1s', 'Finished'))),
  w2: (callers, seconds) => repeat(callers, seconds, runSignal),
  w3: async (senders) => {
    const id = await execute('w3', 'Suspended');
    return fanIn(
      senders,
      (number) => call('POST', '/events/signal/trigger', { workflowInstanceId: id, input: { number } }),
      () => awaitEnd(id),
      () => arrived(id),
    );
  },
});
server.kill('SIGKILL');
process.exit(0);
