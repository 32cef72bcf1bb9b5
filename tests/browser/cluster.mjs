// SPDX-License-Identifier: Apache-2.0
// Three nodes on PostgreSQL behind a proxy that knows nothing, and Studio on top of it. Somebody edits a definition
// and watches an instance, while connections break as they begin, and nodes are killed: the one that the watcher is
// connected to, another one while something happens that the watcher cannot be told, and one that is just being sent
// what was edited. Others take their places.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { launch, record, signIn, watch } from './browser.mjs';
import { Studio } from './page.mjs';
import { Proxy } from './proxy.mjs';
import { key, startPostgres, startServer, user, within } from './server.mjs';

function expect(condition, message) {
  if (!condition) throw new Error(message);
}

class Cluster {
  constructor(pawl, studio) {
    Object.assign(this, { pawl, studio, count: 0, nodes: [], broken: 0 });
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pawl-cluster-'));
  }

  async start() {
    this.postgres = await startPostgres();
    for (let i = 0; i < 3; i++) await this.add();
    this.proxy = new Proxy(this.nodes);
    await this.proxy.listen();
  }

  async add() {
    const name = `node-${++this.count}`;
    this.nodes.push(await startServer(this.pawl, this.studio,
      { folder: this.folder, store: this.postgres.store, node: name, isNew: this.count === 1 }));
  }

  kill(node) {
    this.broken += [...this.proxy.links].filter(link => link.node === node).length;
    node.kill();
    this.nodes.splice(this.nodes.indexOf(node), 1);
  }

  // Not through the proxy.
  async ask(method, where, body) {
    const response = await fetch(`${this.nodes[0].api}${where}`, {
      method, headers: { Authorization: `ApiKey ${key}`, ...(body && { 'Content-Type': 'application/json' }) }, body: body && JSON.stringify(body),
    });
    expect(response.ok, `${method} ${where}: ${response.status}`);
    return { id: response.headers.get('x-elsa-workflow-instance-id'), text: await response.text() };
  }

  async stop() {
    await this.proxy.close();
    for (const node of this.nodes) await node.stop();
    await this.postgres.end();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

// Waits for four events; each is followed by a line.
function fourEvents() {
  const input = value => ({ typeName: 'String', expression: { type: 'Literal', value } });
  const activities = [1, 2, 3, 4].flatMap(n => [
    { id: `e${n}`, type: 'Elsa.Event', version: 1, name: `Event${n}`, eventName: input(`Go${n}`) },
    { id: `w${n}`, type: 'Elsa.WriteLine', version: 1, name: `WriteLine${n}`, text: input(`line ${n}`) }]);
  activities.forEach((one, at) => {
    one.metadata = { designer: { position: { x: 60 + (at % 4) * 260, y: 60 + Math.floor(at / 4) * 160 }, size: { width: 170, height: 54 } } };
  });
  const connections = activities.slice(1).map((one, at) => ({
    source: { activity: activities[at].id, port: 'Done' }, target: { activity: one.id, port: 'In' } }));
  return { id: 'f', type: 'Elsa.Flowchart', version: 1, activities, connections };
}

// The connections by which a page watches an instance: those that are open, and how many were lost.
function watchers(page, instance) {
  const open = new Set();
  open.lost = 0;
  page.on('websocket', socket => {
    socket.on('framesent', frame => {
      const text = String(frame.payload);
      if (text.includes('ObserveInstanceAsync') && text.includes(instance)) open.add(socket);
    });
    socket.on('close', () => { open.lost += open.delete(socket) ? 1 : 0; });
  });
  return open;
}

// Breaks connections for live updates as they begin: one when it was asked for, one when the greeting was sent, one
// when an instance was asked for. Returns how many it has broken.
function breakBeginnings(proxy) {
  const parts = new Map();
  const broken = [];
  proxy.sent = (text, link) => {
    if (!link.isSocket || broken.length === 3) return;
    parts.set(link, (parts.get(link) ?? 0) + 1);
    if (parts.get(link) !== broken.length + 1) return;
    broken.push(link);
    link.client.destroy();
  };
  return broken;
}

export async function useCluster({ pawl, studio: folder, npm, shots, report }) {
  fs.mkdirSync(shots, { recursive: true });
  const cluster = new Cluster(pawl, folder);
  await cluster.start();
  const { proxy } = cluster;
  const browser = await launch(npm);
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
  const problems = watch(context);
  const [editing, watching] = [await context.newPage(), await context.newPage()];
  const editor = new Studio(editing, proxy.url), viewer = new Studio(watching, proxy.url);
  const journal = watching.locator('.rz-splitter-pane').first();
  const notes = [record(editing, path.join(shots, 'editing.log')), record(watching, path.join(shots, 'watching.log'))];
  const seen = {};
  let isBroken = false;

  async function step(name, page, action) {
    let error = isBroken ? new Error('a step that it needs has failed') : null;
    for (const note of notes) note('step:', name);
    await page.bringToFront();
    if (!error) await action().catch(e => { error = e; });
    if (!error && await page.locator('#blazor-error-ui').isVisible()) error = new Error('Studio has met an error');
    await page.screenshot({ path: path.join(shots, name.replace(/\W+/g, '-') + '.png') }).catch(() => {});
    report(`cluster: ${name}`, error ? [String(error.message).split('\n')[0]] : []);
    isBroken = isBroken || Boolean(error);
  }

  // Without having been loaded again.
  async function shows(name) {
    await journal.getByText(name).first().waitFor();
    expect(await watching.evaluate(() => window.isTheSame), 'the page was loaded again');
  }

  // Studio may save more than once.
  async function stores(description) {
    const where = `/workflow-definitions/by-definition-id/${seen.edited}?versionOptions=Latest`;
    await within(async () => JSON.parse((await cluster.ask('GET', where)).text).description === description, `'${description}' to be stored`);
  }

  await step('a session is valid on every node', editing, async () => {
    await signIn(editing, proxy.url, user);
    await editing.waitForSelector('#x .mud-table');
    for (const node of cluster.nodes) {
      const response = await context.request.get(`${node.api}/workflow-definitions`);
      expect(response.status() === 200, `${node.url}: ${response.status()}`);
    }
  });

  await step('a definition is edited', editing, async () => {
    seen.edited = await editor.create('Edited');
    await editor.tab('Properties');
    await editor.pause(800);
  });

  await step('an instance is watched over connections that break as they begin', watching, async () => {
    const made = await cluster.ask('POST', '/workflow-definitions', { model: { name: 'Watched', root: fourEvents() }, publish: true });
    const id = JSON.parse(made.text).workflowDefinition.definitionId;
    seen.instance = (await cluster.ask('POST', `/workflow-definitions/${id}/execute`, {})).id;
    seen.watchers = watchers(watching, seen.instance);
    const broken = breakBeginnings(proxy);
    await viewer.open(`workflows/instances/${seen.instance}/view`);
    await watching.getByText(/Suspended/).first().waitFor();
    await watching.evaluate(() => { window.isTheSame = true; });
    await within(() => broken.length === 3, 'connections to break');
    cluster.broken += broken.length;
    proxy.sent = null;
    // A journal that comes after all else is one that Studio does not draw by itself.
    const late = async route => {
      await viewer.pause(3000);
      await route.continue().catch(() => {}); // the page may be gone
    };
    await watching.route(/\/journal\?/, late);
    await cluster.ask('POST', '/events/Go1/trigger', { workflowInstanceId: seen.instance });
    await shows('WriteLine1');
    await watching.unroute(/\/journal\?/, late);
  });

  await step('the node of the watcher is killed and the journal goes on', watching, async () => {
    await within(() => seen.watchers.size > 0, 'the page to watch');
    const { lost } = seen.watchers;
    cluster.kill([...proxy.links].find(link => link.isSocket).node);
    await within(() => seen.watchers.lost > lost, 'a watcher to lose its connection');
    await cluster.ask('POST', '/events/Go2/trigger', { workflowInstanceId: seen.instance });
    await shows('WriteLine2');
    await cluster.add();
  });

  await step('what happens while nobody can be told is shown afterwards', watching, async () => {
    proxy.hold();
    for (const node of new Set([...proxy.links].filter(link => link.isSocket).map(link => link.node))) {
      if (cluster.nodes.length > 1) cluster.kill(node);
    }
    // Those who watched by the node that is left are disconnected, too.
    for (const link of [...proxy.links]) link.client.destroy();
    await within(() => seen.watchers.size === 0, 'nobody to watch');
    await cluster.ask('POST', '/events/Go3/trigger', { workflowInstanceId: seen.instance });
    proxy.release();
    await shows('WriteLine3');
    while (cluster.nodes.length < 3) await cluster.add();
  });

  await step('a node is killed that is being sent an edit and nothing is lost', editing, async () => {
    const killed = [];
    proxy.sent = (text, link) => {
      if (!/^POST \/elsa\/api\/workflow-definitions /.test(text) || killed.length) return;
      killed.push(link.node);
      cluster.kill(link.node);
    };
    // Over a new connection: where one was kept, the browser sends the request again by itself.
    for (const link of [...proxy.links]) if (!link.isSocket) link.client.destroy();
    await editor.field('Description').fill('written while a node was killed');
    await editor.saved(() => editor.field('Description').press('Tab'));
    proxy.sent = null;
    expect(killed.length === 1, 'no node was killed');
    await stores('written while a node was killed');
    const field = editor.field('Description');
    await within(async () => { // Studio takes back what is typed while it is saving
      await field.fill('and afterwards');
      await field.press('Tab');
      await editor.pause(2000);
      return await field.inputValue() === 'and afterwards';
    }, 'the text to stay');
    await stores('and afterwards');
    const all = JSON.parse((await cluster.ask('GET', '/workflow-definitions')).text);
    expect(all.totalCount === 2, `${all.totalCount} definitions`);
  });

  await step('the instance ends before the eyes of the watcher', watching, async () => {
    await cluster.ask('POST', '/events/Go4/trigger', { workflowInstanceId: seen.instance });
    await shows('WriteLine4');
    await watching.locator('tr', { hasText: 'Sub status' }).getByText('Finished').waitFor();
    await stores('and afterwards'); // nothing older has come after it
  });

  await browser.close();
  await cluster.stop();
  // What was lost with connections that broke: not more than these.
  const isLost = ({ what, text }) => (what === 'response' && / net::ERR_(EMPTY_RESPONSE|CONNECTION_(RESET|CLOSED))$/.test(text)) ||
    (what === 'console' && /^WebSocket connection to 'ws:\S*\/elsa\/hubs\/workflow-instance\?/.test(text));
  const lost = problems.filter(isLost);
  report('cluster: no script error, nothing refused', problems.filter(p => !isLost(p)).map(p => `${p.what}: ${p.text}`));
  report('cluster: nothing lost but with connections that broke', lost.length > cluster.broken ? lost.map(p => p.text) : []);
  console.log(`# ${cluster.broken} connections broke, ${lost.length} requests were lost with them and sent again`);
}
