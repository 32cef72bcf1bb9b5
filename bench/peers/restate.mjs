// SPDX-License-Identifier: Apache-2.0
// Restate: its server with its own log, synced as it is by default, an endpoint of its SDK, and
// callers over HTTP. The endpoint and the callers are this process.
//
//   node bench/peers/restate.mjs FOLDER-WITH-PACKAGES DATA-FOLDER
import { spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { request, Agent } from 'node:http';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import { fanIn, repeat, serve, SIGNALS } from './load.mjs';

const [folder, data] = process.argv.slice(2);
// The SDK uses what Node has from version 22 on.
Promise.withResolvers ??= function () {
  const made = {};
  made.promise = new this((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};
const restate = createRequire(`${folder}/package.json`)('@restatedev/restate-sdk');
const READY_MS_MAX = 60000;

const services = [
  restate.service({
    name: 'short',
    handlers: {
      run: async (ctx) =>
        (await ctx.run('a', () => 1)) + (await ctx.run('b', () => 2)) + (await ctx.run('c', () => 3)),
    },
  }),
  restate.workflow({
    name: 'signal',
    handlers: {
      run: async (ctx) => ctx.promise('go'),
      send: async (ctx, value) => ctx.promise('go').resolve(value),
    },
  }),
  restate.workflow({
    name: 'gather',
    handlers: {
      run: async (ctx) => {
        const arrived = [];
        for (let i = 1; i <= SIGNALS; i++) arrived.push(await ctx.promise(`go${i}`));
        return arrived;
      },
      send: async (ctx, number) => ctx.promise(`go${number}`).resolve(number),
    },
  }),
];

// ---- ports, requests ------------------------------------------------------------------------

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

function call(port, method, path, body) {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const asked = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
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

// ---- the server -----------------------------------------------------------------------------

// Not by the package's own script, whose child would outlive it.
async function startServer(ingress, admin, fabric) {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const program = `${folder}/node_modules/${name}/bin/restate-server`;
  if (!existsSync(program)) throw new Error(`there is no Restate server for this machine: npm has no ${name}`);
  const log = `${data}/restate.log`;
  const out = openSync(log, 'w');
  const server = spawn(program, [], {
    stdio: ['ignore', out, out],
    cwd: data,
    env: {
      ...process.env,
      TMPDIR: data, // where it leaves files
      RESTATE_BASE_DIR: `${data}/restate`,
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_ADDRESS: `127.0.0.1:${fabric}`,
      RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${fabric}`,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'warn',
    },
  });
  let ended = null;
  server.on('error', (error) => (ended = String(error)));
  server.on('exit', (code, signal) => (ended ??= `it ended with ${code ?? signal}`));
  process.on('exit', () => server.kill('SIGKILL'));
  process.on('SIGTERM', () => process.exit(0));
  for (const end = performance.now() + READY_MS_MAX; ; ) {
    try {
      await call(admin, 'GET', '/health');
      await call(ingress, 'GET', '/restate/health');
      return server;
    } catch (error) {
      if (ended || performance.now() > end)
        throw new Error(`restate-server does not come up: ${ended ?? error}\n${readFileSync(log, 'utf8').slice(-2000)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

// ---- the workloads --------------------------------------------------------------------------

const [ingress, admin, fabric, own] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
const endpoint = restate.endpoint();
for (const service of services) endpoint.bind(service);
endpoint.setLogger?.(() => {});
await endpoint.listen(own);
const server = await startServer(ingress, admin, fabric);
await call(admin, 'POST', '/deployments', { uri: `http://127.0.0.1:${own}` });

let number = 0;
const post = (path, body) => call(ingress, 'POST', path, body);
const attach = (name, key) => call(ingress, 'GET', `/restate/workflow/${name}/${key}/attach`);

async function runShort() {
  if ((await post('/short/run')) !== 6) throw new Error('W1s: another result');
}

async function runSignal() {
  const key = `k${++number}`;
  await post(`/signal/${key}/run/send`);
  const sent = performance.now();
  await post(`/signal/${key}/send`, 'now');
  if ((await attach('signal', key)) !== 'now') throw new Error('W2: another result');
  return performance.now() - sent;
}

await serve({
  w1s: (callers, seconds) => repeat(callers, seconds, runShort),
  w2: (callers, seconds) => repeat(callers, seconds, runSignal),
  w3: async (senders) => {
    const key = `k${++number}`;
    await post(`/gather/${key}/run/send`);
    return fanIn(
      senders,
      (signal) => post(`/gather/${key}/send`, signal),
      () => attach('gather', key),
    );
  },
});
server.kill('SIGKILL');
process.exit(0);
