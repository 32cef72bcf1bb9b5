// SPDX-License-Identifier: Apache-2.0
// The parts of the shell that go on when a server ends, without a browser: what they use of one is played here.
//
//   node tests/browser/shell.mjs
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(import.meta.url);
const origin = 'http://pawl.test';
const separator = '\x1e';

function expect(condition, message) {
  if (!condition) throw new Error(message);
}

const same = (found, wanted) => expect(JSON.stringify(found) === JSON.stringify(wanted), `${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);

async function until(condition, what) {
  for (const end = Date.now() + 60000; !condition(); await new Promise(done => setTimeout(done, 5)))
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
}

// A part of the shell, new. It has no imports.
function load(name) {
  const source = fs.readFileSync(path.join(path.dirname(here), '../../src/studio/shell', name), 'utf8');
  return import(`data:text/javascript,${encodeURIComponent(`${source}\n// ${Math.random()}`)}`);
}

// ---- session.js ----

// What a server gets and gives; `outcomes`: a status, or null if the connection is lost. The last one repeats.
async function session(outcomes) {
  const sent = [];
  globalThis.window = {
    async fetch(request) {
      const outcome = outcomes[Math.min(sent.length, outcomes.length - 1)];
      sent.push({ method: request.method, key: request.headers.get('Idempotency-Key'), secret: request.headers.get('X-CSRF-Token'), body: await request.text() });
      if (outcome === null) throw new TypeError('Failed to fetch');
      return new Response('it', { status: outcome });
    },
  };
  globalThis.document = { baseURI: `${origin}/studio/`, cookie: 'a=b; pawl_csrf=secret' };
  globalThis.location = new URL(origin);
  (await load('session.js')).guard();
  return { sent, ask: (method, where, body) => window.fetch(`/elsa/api/${where}`, { method, body: body && JSON.stringify(body) }) };
}

async function isRepeated(method, where, body) {
  const { sent, ask } = await session([null, null, 200]);
  same((await ask(method, where, body)).status, 200);
  same(sent.map(one => [one.method, one.body]), Array(3).fill([method, body ? JSON.stringify(body) : '']));
  return sent;
}

async function isNotRepeated(method, where, body) {
  const { sent, ask } = await session([null, 200]);
  same(await ask(method, where, body).then(() => 'a response', error => error.message), 'Failed to fetch');
  same(sent.length, 1);
}

const sessionCases = {
  'what is read is read again': () => isRepeated('GET', 'workflow-definitions'),
  'a definition that is saved is saved again': () => isRepeated('POST', 'workflow-definitions', { model: { definitionId: 'd' } }),
  'a save that is sent again does not undo the next one': async () => {
    const { sent, ask } = await session([null, 200, 200]);
    const [first, second] = ['1', '2'].map(name => ({ model: { definitionId: 'd', name } }));
    await Promise.all([ask('POST', 'workflow-definitions', first), ask('POST', 'workflow-definitions', second)]);
    same(sent.map(one => JSON.parse(one.body).model.name), ['1', '1', '2']);
  },
  'the journal is read again': () => isRepeated('POST', 'workflow-instances/i/journal', { filter: {} }),
  'an execution is sent again with its key': async () => {
    const keys = (await isRepeated('POST', 'workflow-definitions/d/execute', { input: {} })).map(one => one.key);
    expect(/^[0-9a-f]{32}$/.test(keys[0]) && new Set(keys).size === 1, `the keys are ${keys}`);
  },
  'two executions have two keys': async () => {
    const { sent, ask } = await session([200]);
    for (let i = 0; i < 2; i++) await ask('POST', 'workflow-definitions/d/execute', {});
    expect(sent[0].key !== sent[1].key, 'they have one');
  },
  'a new definition is not created again': () => isNotRepeated('POST', 'workflow-definitions', { model: { name: 'n' } }),
  'an import is not sent again': () => isNotRepeated('POST', 'workflow-definitions/import', { name: 'n' }),
  'what is deleted is not deleted again': () => isNotRepeated('DELETE', 'workflow-definitions/d'),
  'a response is a response': async () => {
    const { sent, ask } = await session([503, 200]);
    same((await ask('GET', 'workflow-definitions')).status, 503);
    same(sent.map(one => one.secret), ['secret']);
  },
  'nobody is asked for ever': async () => {
    const { sent, ask } = await session([null]);
    same(await ask('GET', 'workflow-definitions').then(() => 'a response', error => error.message), 'Failed to fetch');
    same(sent.length, 6);
  },
};

// ---- live.js ----

const greeting = `{"protocol":"json","version":1}${separator}`;
const observe = `{"type":1,"target":"ObserveInstanceAsync","arguments":["i"]}${separator}`;
const news = `{"type":1,"target":"WorkflowExecutionLogUpdatedAsync","arguments":[{}]}${separator}`;

// The browser's sockets, and what Studio sees of its own one.
async function live() {
  const sockets = [];
  class Socket extends EventTarget {
    static CONNECTING = 0;
    static OPEN = 1;
    static CLOSING = 2;
    static CLOSED = 3;

    constructor(url) {
      super();
      this.token = new URL(url).searchParams.get('id');
      this.sent = [];
      sockets.push(this);
    }

    send(text) { this.sent.push(text); }
    open() { this.dispatchEvent(new Event('open')); }
    say(data) { this.dispatchEvent(new MessageEvent('message', { data })); }
    close() { this.dispatchEvent(new Event('close')); }
  }
  let tokens = 0;
  globalThis.window = { WebSocket: Socket, fetch: async () => new Response(`{"connectionToken":"again-${++tokens}"}`) };
  globalThis.document = { baseURI: `${origin}/studio/` };
  globalThis.location = new URL(origin);
  globalThis.CloseEvent ??= class extends Event {};
  (await load('live.js')).keepLive();
  const studio = new window.WebSocket(`${origin.replace('http', 'ws')}/elsa/hubs/workflow-instance?id=first`);
  const seen = [];
  for (const name of ['open', 'error', 'close']) studio.addEventListener(name, () => seen.push(name));
  studio.addEventListener('message', ({ data }) => seen.push(data));
  const socket = async nth => {
    await until(() => sockets.length > nth, `socket ${nth}`);
    return sockets[nth];
  };
  const gets = (one, ...texts) => until(() => JSON.stringify(one.sent) === JSON.stringify(texts), `${texts}; it got ${one.sent}`);
  const sees = (...all) => until(() => JSON.stringify(seen) === JSON.stringify(all), `${all}; it saw ${seen}`);
  return { studio, sockets, socket, gets, sees };
}

// Until Studio watches; returns the socket.
async function watched({ studio, socket, sees }) {
  const first = await socket(0);
  first.open();
  await sees('open');
  studio.send(greeting);
  first.say('{}');
  studio.send(observe);
  await sees('open', '{}');
  return first;
}

// The second socket of one that watched; Studio has noticed nothing.
async function resumed({ socket, gets, sees }) {
  const second = await socket(1);
  same(second.token, 'again-1');
  second.open();
  await gets(second, greeting);
  second.say('{}');
  await gets(second, greeting, observe);
  second.say(news);
  await sees('open', '{}', news);
}

const liveCases = {
  'a connection that breaks before it is open is made again': async () => {
    const all = await live();
    (await all.socket(0)).close();
    const second = await all.socket(1);
    same(second.token, 'again-1');
    second.open();
    await all.sees('open');
  },
  'one that breaks before the greeting': async () => {
    const all = await live();
    (await all.socket(0)).open();
    await all.sees('open');
    all.sockets[0].close();
    const second = await all.socket(1);
    second.open();
    await new Promise(done => setTimeout(done, 50));
    all.studio.send(greeting);
    await all.gets(second, greeting);
    second.say('{}');
    await all.sees('open', '{}');
  },
  'one that breaks before the response to the greeting': async () => {
    const all = await live();
    (await all.socket(0)).open();
    await all.sees('open');
    all.studio.send(greeting);
    all.sockets[0].close();
    const second = await all.socket(1);
    second.open();
    await all.gets(second, greeting);
    second.say('{}');
    await all.sees('open', '{}');
    all.studio.send(observe);
    await all.gets(second, greeting, observe);
  },
  'one that watches': async () => {
    const all = await live();
    (await watched(all)).close();
    await resumed(all);
  },
  'one whose server says that it ends': async () => {
    const all = await live();
    (await watched(all)).say(`{"type":7,"allowReconnect":true}${separator}`);
    await resumed(all);
  },
  'one that is refused is over': async () => {
    const all = await live();
    const first = await watched(all);
    const last = `{"type":7,"error":"no"}${separator}`;
    first.say(last);
    first.close();
    await all.sees('open', '{}', last, 'close');
    same(all.sockets.length, 1);
  },
  'one that Studio closes is over': async () => {
    const all = await live();
    await watched(all);
    all.studio.close();
    await all.sees('open', '{}', 'close');
    same(all.sockets.length, 1);
  },
  'one that cannot be had at first fails': async () => {
    const all = await live();
    for (let i = 0; i < 5; i++) (await all.socket(i)).close();
    await all.sees('error', 'close');
    same(all.sockets.length, 5);
  },
};

export async function useShell({ report }) {
  for (const [part, cases] of Object.entries({ session: sessionCases, live: liveCases })) {
    for (const [name, run] of Object.entries(cases)) {
      const error = await run().then(() => null, e => e);
      report(`shell: ${part}: ${name}`, error ? [String(error.message).replaceAll(separator, '')] : []);
    }
  }
}

if (process.argv[1] === here) {
  let count = 0, failed = 0;
  const report = (name, problems) => {
    failed += problems.length > 0;
    console.log([`${problems.length ? 'not ok' : 'ok'} ${++count} - ${name}`, ...problems.map(p => `# ${p}`)].join('\n'));
  };
  await useShell({ report });
  console.log(`1..${count}`);
  process.exit(failed ? 1 : 0);
}
