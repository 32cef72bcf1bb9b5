// SPDX-License-Identifier: Apache-2.0
// Pawl beside other durable workflow engines on one machine, in turn, every step durable:
//
//   node bench/peers/run.mjs BUILD-FOLDER PACKAGES-FOLDER [SECONDS [ROUNDS]]
//
// Workloads are those of bench/workloads.h: W1s, W2, W3, by 1, 16 and 64 callers at a time. Pawl is
// bench-store, in the process of its callers, as DBOS is in its own, and `pawl serve`, a server that
// is called over HTTP, as Restate is. Callers over HTTP are a process of Node.js for both. The
// middle one of the rounds counts. A peer that cannot be had is reported with the reason, and the
// program fails when it has measured what it could.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startPostgres } from './postgres.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const [build, packages, secondsGiven, roundsGiven] = process.argv.slice(2);
const seconds = Number(secondsGiven ?? 2);
const rounds = Number(roundsGiven ?? 3);
if (!packages || !(seconds > 0) || !(rounds > 0)) {
  console.error('usage: run.mjs BUILD-FOLDER PACKAGES-FOLDER [SECONDS [ROUNDS]]');
  process.exit(2);
}

const WORKLOADS = ['w1s', 'w2', 'w3'];
const LEVELS = [1, 16, 64];
const REPLY_MS_MAX = 300000;

// ---- Pawl -----------------------------------------------------------------------------------

const LINE = /: (\d+), (\d+) per second, p50 (\d+) us, p99 (\d+) us/;

const pawl = (name, uri) => ({
  name,
  measure(workload, callers) {
    const ran = spawnSync(`${build}/bench/bench-store`, [String(seconds), workload, String(callers), ...(uri ? [uri] : [])], {
      encoding: 'utf8',
    });
    const found = LINE.exec(ran.stdout ?? '');
    if (ran.status !== 0 || !found)
      throw new Error(`bench-store ${workload} ${callers}: ${ran.error ?? ''}${ran.stderr}${ran.stdout}`);
    const [count, perSecond, p50, p99] = found.slice(1).map(Number);
    return { count, perSecond, p50, p99 };
  },
  close() {},
});

const served = (name, store, work) =>
  startDriver(name, 'pawl.mjs', [resolve(build, 'pawl'), store, work], join(work, `${name}.log`.replaceAll(/[ ,]+/g, '-')));

// ---- peers ----------------------------------------------------------------------------------

const version = (peer, name) =>
  JSON.parse(readFileSync(join(packages, peer, 'node_modules', name, 'package.json'), 'utf8')).version;

function fetchPackages(peer) {
  const folder = resolve(packages, peer);
  const ran = spawnSync(join(here, 'fetch'), [peer, folder], { encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`its packages cannot be fetched from npm:\n${ran.stderr ?? ran.error}`);
  return folder;
}

// Starts a driver and waits until it says that it is ready.
async function startDriver(name, script, args, log) {
  const child = spawn(process.execPath, [join(here, script), ...args], { stdio: ['pipe', 'pipe', openSync(log, 'w')] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  process.on('exit', () => child.kill('SIGKILL'));
  const read = async () => {
    for (;;) {
      let timer;
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no reply within ${REPLY_MS_MAX / 1000} s`)), REPLY_MS_MAX);
      });
      const line = await Promise.race([lines.next(), late]).finally(() => clearTimeout(timer));
      if (line.done) throw new Error(`its driver ended:\n${readFileSync(log, 'utf8').slice(-3000)}`);
      if (!line.value.startsWith('{')) continue; // what the peer prints itself
      const reply = JSON.parse(line.value);
      if (reply.error) throw new Error(reply.error);
      return reply;
    }
  };
  await read();
  return {
    name,
    async measure(workload, callers) {
      child.stdin.write(`${workload} ${callers} ${seconds}\n`);
      return read();
    },
    close: () => child.kill('SIGTERM'),
  };
}

const PEERS = [
  {
    name: 'DBOS',
    async open(work, database) {
      const folder = fetchPackages('dbos');
      const name = `DBOS ${version('dbos', '@dbos-inc/dbos-sdk')}, PostgreSQL`;
      return startDriver(name, 'dbos.mjs', [folder, database('dbos')], join(work, 'dbos.log'));
    },
  },
  {
    name: 'Restate',
    async open(work) {
      const folder = fetchPackages('restate');
      const name = `Restate ${version('restate', '@restatedev/restate-server')}, own log`;
      return startDriver(name, 'restate.mjs', [folder, work], join(work, 'restate-driver.log'));
    },
  },
];

// ---- measuring, showing ---------------------------------------------------------------------

const middle = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

// Every system in turn, so that what else the machine does meets all of them.
async function measureAll(systems) {
  const figures = new Map();
  for (const system of systems) await system.measure('w1s', 16); // warms up
  for (let round = 0; round < rounds; round++)
    for (const workload of WORKLOADS)
      for (const level of LEVELS)
        for (const system of systems) {
          const key = `${workload} ${level} ${system.name}`;
          if (!figures.has(key)) figures.set(key, []);
          figures.get(key).push(await system.measure(workload, level));
        }
  return (workload, level, system, what) => middle(figures.get(`${workload} ${level} ${system.name}`).map((f) => f[what]));
}

const cell = (text, width) => String(text).padStart(width);
const time = (us) => (us < 10000 ? (us / 1000).toFixed(1) : Math.round(us / 1000));

function show(systems, peers, figure) {
  const ours = systems.filter((system) => !peers.includes(system));
  const width = (system) => Math.max(system.name.length, 14) + 2;
  console.log(`\nper second, and p50 / p99 in ms (W2: of the resume; W3: of sending one)`);
  console.log(
    '             ' +
      systems.map((s) => cell(s.name, width(s))).join('') +
      (peers.length ? ours.map((s) => cell(`${s.name.split(', ').slice(1).join(', ')}/peer`, 24)).join('') : ''),
  );
  for (const workload of WORKLOADS)
    for (const level of LEVELS) {
      const rate = (system) => figure(workload, level, system, 'perSecond');
      const fastest = Math.max(...peers.map(rate));
      console.log(
        `${workload.replace('w', 'W').padEnd(4)}at ${cell(level, 2)}    ` +
          systems.map((s) => cell(Math.round(rate(s)), width(s))).join('') +
          (peers.length ? ours.map((s) => cell((rate(s) / fastest).toFixed(1), 24)).join('') : ''),
      );
      console.log(
        '             ' +
          systems
            .map((s) => cell(`${time(figure(workload, level, s, 'p50'))} / ${time(figure(workload, level, s, 'p99'))}`, width(s)))
            .join(''),
      );
    }
}

// ---- the whole ------------------------------------------------------------------------------

const work = mkdtempSync(join(tmpdir(), 'pawl-peers-'));
const missing = [];
let postgres;
let status = 0;
try {
  postgres = await startPostgres(work);
  const systems = [
    pawl('Pawl, SQLite'),
    pawl('Pawl, PostgreSQL', postgres.database('pawl')),
    await served('Pawl, SQLite, HTTP', `sqlite:${join(work, 'served.db')}`, work),
    await served('Pawl, PostgreSQL, HTTP', postgres.database('served'), work),
  ];
  const peers = [];
  for (const peer of PEERS) {
    try {
      peers.push(await peer.open(work, postgres.database));
    } catch (error) {
      missing.push(`${peer.name} was not measured: ${error.message}`);
    }
  }
  console.log(`${rounds} rounds of ${seconds} s each (W3: 1000 signals); every step durable, fsync on`);
  console.log('Pawl and DBOS run in the process of their callers; Restate and "HTTP" are servers that are called over HTTP');
  show([...systems, ...peers], peers, await measureAll([...systems, ...peers]));
  for (const system of [...systems, ...peers]) system.close();
} catch (error) {
  console.error(error);
  status = 1;
} finally {
  await postgres?.stop();
  rmSync(work, { recursive: true, force: true });
}
for (const line of missing) console.error(line);
process.exit(status || (missing.length ? 1 : 0));
