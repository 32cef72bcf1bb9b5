// SPDX-License-Identifier: Apache-2.0
// A private PostgreSQL on loopback, fsync on, that ends with whoever started it.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const READY_MS_MAX = 60000;
const CONNECTIONS_MAX = 200;

// Debian keeps each version in a folder of its own.
function programs() {
  for (let version = 30; version >= 14; version--)
    if (existsSync(`/usr/lib/postgresql/${version}/bin/initdb`)) return `/usr/lib/postgresql/${version}/bin`;
  throw new Error('no PostgreSQL server (14 or newer): apt-get install postgresql');
}

// The server refuses to run as root.
function owner() {
  if (process.getuid() !== 0) return {};
  const id = (what) => Number(spawnSync('id', [what, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

function isReady(data) {
  const file = join(data, 'postmaster.pid');

  return existsSync(file) && (readFileSync(file, 'utf8').split('\n')[7] ?? '').startsWith('ready');
}

export async function startPostgres(work) {
  const bin = programs();
  const as = owner();
  const folder = join(work, 'postgres');
  const data = join(folder, 'data');
  const log = join(work, 'postgres.log');
  const port = await freePort();

  mkdirSync(folder);
  chmodSync(work, 0o711);
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid);
  const run = (program, args) => {
    const ran = spawnSync(join(bin, program), args, { encoding: 'utf8', cwd: '/', ...as });
    if (ran.status !== 0) throw new Error(`${program}: ${ran.error ?? ''}${ran.stderr}`);
  };
  run('initdb', ['-D', data, '-U', 'pawl', '-E', 'UTF8', '--locale=C', '--auth=trust', '--no-sync', '--no-instructions']);
  const server = spawn(
    join(bin, 'postgres'),
    ['-D', data, '-p', port, '-k', folder, '-c', 'listen_addresses=127.0.0.1', '-c', 'fsync=on', '-c', `max_connections=${CONNECTIONS_MAX}`].map(String),
    { stdio: ['ignore', openSync(log, 'w'), openSync(log, 'a')], cwd: '/', ...as },
  );
  const ended = new Promise((resolve) => server.on('exit', resolve));
  process.on('exit', () => server.kill('SIGQUIT'));
  for (const end = Date.now() + READY_MS_MAX; !isReady(data); ) {
    if (server.exitCode !== null || Date.now() > end)
      throw new Error(`PostgreSQL does not come up:\n${readFileSync(log, 'utf8')}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    // Makes a database and returns its URL.
    database(name) {
      run('createdb', ['-h', '127.0.0.1', '-p', String(port), '-U', 'pawl', name]);
      return `postgresql://pawl@127.0.0.1:${port}/${name}`;
    },
    stop() {
      server.kill('SIGINT');
      return ended;
    },
  };
}
