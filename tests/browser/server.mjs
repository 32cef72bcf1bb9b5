// SPDX-License-Identifier: Apache-2.0
// `pawl serve` with Studio on a store of its own, for one test.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const hangMs = 120000;

export const user = { name: 'ada', password: 'correct horse battery' };
export const key = 'key-of-the-tests-of-the-browser';

export async function within(condition, what) {
  for (const end = Date.now() + hangMs; Date.now() < end; await new Promise(done => setTimeout(done, 50))) {
    const found = await condition();
    if (found) return found;
  }
  throw new Error(`waited in vain for ${what}`);
}

// A private PostgreSQL; it ends with end(), or with this process.
export async function startPostgres() {
  const starter = path.join(path.dirname(fileURLToPath(import.meta.url)), '../servers/private_postgres');
  const child = spawn(starter, { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', data => { said += data; });
  let ended = false;
  child.on('exit', () => { ended = true; });
  const store = await within(() => {
    if (ended) throw new Error('PostgreSQL did not start');
    return / (\S+)\n/.exec(said)?.[1];
  }, 'PostgreSQL');
  return { store, end: async () => { child.stdin.end(); await within(() => ended, 'PostgreSQL to end'); } };
}

// studio: the folder with the package. Stop it at the end. options: folder, store, if not of its own; port; node: its
// name in a cluster; isNew: whether the store is.
export async function startServer(pawl, studio, options = {}) {
  const folder = options.folder ?? fs.mkdtempSync(path.join(os.tmpdir(), 'pawl-browser-'));
  const store = options.store ?? `sqlite:${folder}/store.db`;
  const env = { ...process.env, PAWL_STORE: store, PAWL_ADMIN_API_KEY: key };
  const log = path.join(folder, `serve-${fs.readdirSync(folder).length}.out`);
  const out = fs.openSync(log, 'w');
  const cli = (args, input) => execFileSync(pawl, args, { env, input, encoding: 'utf8' });
  const args = ['serve', '--listen', `127.0.0.1:${options.port ?? 0}`, '--studio', studio];
  if (options.node) {
    args.push('--distributed');
    Object.assign(env, { PAWL_NODE_ID: options.node, PAWL_NODE_LEASE: '3s' });
  }
  const child = spawn(pawl, args, { env, stdio: ['ignore', out, out] });
  let ended = null;
  child.on('exit', code => { ended = code ?? -1; });
  process.on('exit', () => child.kill('SIGKILL')); // a test that fails leaves no server behind
  const url = await within(() => {
    if (ended !== null) throw new Error(`the server ended: ${fs.readFileSync(log, 'utf8')}`);
    return /ready at (\S+)/.exec(fs.readFileSync(log, 'utf8'))?.[1];
  }, 'the server to be ready');
  if (options.isNew ?? !options.store) {
    cli(['roles', 'set', 'admin', '--permission', '*']);
    cli(['users', 'add', user.name, '--role', 'admin', '--password-stdin'], user.password + '\n');
    await within(() => { // nodes look for new users twice a second
      try { return /"isAuthenticated":true/.test(login(url)); } catch { return false; }
    }, 'the user to be known');
  }
  const stop = async () => {
    child.kill('SIGTERM');
    await within(() => ended !== null, 'the server to end');
    if (!options.folder) fs.rmSync(folder, { recursive: true, force: true });
  };
  return { url, port: Number(new URL(url).port), api: `${url}/elsa/api`, store, cli, pid: child.pid, stop, kill: () => child.kill('SIGKILL') };
}

function login(url) {
  return execFileSync('curl', ['-s', '-H', 'Content-Type: application/json', '-d',
    JSON.stringify({ username: user.name, password: user.password }), `${url}/elsa/api/identity/login`], { encoding: 'utf8' });
}
