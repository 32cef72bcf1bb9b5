// SPDX-License-Identifier: Apache-2.0
// What a user does: signs in by link, by name and by key, designs a workflow, runs it, watches it wait and
// end, sees it fault, uses a workflow in another one, and deletes it. Texts that users write are attacks on the page where they can be.
import fs from 'node:fs';
import path from 'node:path';
import { launch, signIn, watch } from './browser.mjs';
import { Studio } from './page.mjs';
import { reuse } from './reuse.mjs';
import { key, user } from './server.mjs';

// Runs if any text becomes markup.
const attack = '<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>';

function expect(condition, message) {
  if (!condition) throw new Error(message);
}

// Resolves when the page has asked the hub for changes of an instance.
function observed(page, instance) {
  return new Promise(done => page.on('websocket', socket => socket.on('framesent', frame => {
    if (String(frame.payload).includes('ObserveInstanceAsync') && String(frame.payload).includes(instance)) setTimeout(done, 2000);
  })));
}

// `reuses`: with workflows that are used in others.
export async function useStudio(server, { npm, shots, report, reuses }) {
  fs.mkdirSync(shots, { recursive: true });
  const browser = await launch(npm);
  const context = await browser.newContext({ viewport: { width: 2000, height: 1300 }, acceptDownloads: true });
  const problems = watch(context);
  const page = await context.newPage();
  const studio = new Studio(page, server.url);
  const seen = {}; // what later steps need
  let watched; // resolves when the page hears of changes of the instance
  let broken = false;

  async function step(name, action) {
    let error = broken ? new Error('a step that it needs has failed') : null;
    if (!error) await action().catch(e => { error = e; });
    if (!error && await page.evaluate(() => window.attacked).catch(() => false)) error = new Error('a text was run as a script');
    if (!error && await page.locator('#blazor-error-ui').isVisible()) error = new Error('Studio has met an error');
    await page.screenshot({ path: path.join(shots, name.replace(/\W+/g, '-') + '.png') }).catch(() => {});
    report(`user: ${name}`, error ? [String(error.message).split('\n')[0]] : []);
    broken = broken || Boolean(error);
  }

  await step('a link signs in once', async () => {
    const link = server.cli(['open', server.url, '--print']).trim();
    await page.goto(link);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/studio/workflows/definitions');
    await page.waitForSelector('#x .mud-table');
    const other = await browser.newContext();
    const second = await other.newPage();
    await second.goto(link);
    const [response] = await Promise.all([second.waitForResponse(r => r.request().method() === 'POST'), second.getByRole('button').click()]);
    expect(response.status() === 410, `the second use got ${response.status()}`);
    await other.close();
  });

  await step('signing out ends the session', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('dialog', { name: 'Sign in to Pawl' }).waitFor();
    const cookies = await context.cookies();
    expect(!cookies.some(c => c.name === 'pawl_session'), 'the session is still there');
  });

  await step('a wrong password is refused', async () => {
    const dialog = page.getByRole('dialog', { name: 'Sign in to Pawl' });
    await dialog.getByLabel('Name').fill(user.name);
    await dialog.getByLabel('Password').fill('wrong');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.getByText('The name or the password is wrong.').waitFor();
  });

  await step('a key signs in', async () => {
    const other = await browser.newContext();
    const second = await other.newPage();
    await second.goto(`${server.url}/studio/`);
    const dialog = second.getByRole('dialog', { name: 'Sign in to Pawl' });
    for (let i = 0; i < 3; i++) await second.keyboard.press('Escape');
    await second.waitForTimeout(500);
    expect(await dialog.isVisible(), 'the dialog can be left');
    await dialog.getByText('Use an API key instead').click();
    await dialog.getByLabel('API key').fill(key);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await second.waitForSelector('#x .mud-table', { timeout: 120000 });
    await second.route('**/sign-out', route => route.fulfill({ status: 503 }));
    await second.getByRole('button', { name: 'Sign out' }).click();
    await second.getByText('You are still signed in').waitFor();
    const names = (await other.cookies()).map(c => c.name);
    expect(names.includes('pawl_session') && names.includes('pawl_csrf'), `cookies: ${names}`);
    await other.close();
  });

  await step('name and password sign in', async () => {
    await signIn(page, server.url, user);
    await page.waitForSelector('#x .mud-table');
  });

  await step('a definition is created', async () => {
    seen.name = `Order ${attack}`;
    seen.definition = await studio.create(seen.name);
  });

  await step('a variable and an input are declared', async () => {
    await studio.tab('Variables');
    await page.getByRole('button', { name: /add variable/i }).first().click();
    await studio.pause(1000);
    await studio.dialog().locator('input').first().fill('Counter');
    await studio.saved(() => studio.dialog().getByRole('button', { name: /^ok$/i }).click());
    await studio.tab('Input/Output');
    await page.getByRole('button', { name: /add input/i }).first().click();
    await studio.pause(1000);
    await studio.dialog().locator('input').first().fill('Customer');
    const saved = await studio.saved(() => studio.dialog().getByRole('button', { name: /^ok$/i }).click());
    expect(saved.variables[0].name === 'Counter' && saved.inputs[0].name === 'Customer', JSON.stringify(saved.inputs));
  });

  await step('eleven activities are dragged', async () => {
    const kinds = [['Flow', 'Start'], ['Console', 'Write Line'], ['Console', 'Write Line'], ['Console', 'Write Line'], ['Console', 'Write Line'],
      ['Primitives', 'Correlate'], ['Primitives', 'Set Name'], ['Primitives', 'Event'], ['Scripting', 'Run JavaScript'],
      ['Branching', 'Decision'], ['Primitives', 'Finish']];
    for (let i = 0; i < kinds.length; i++)
      await studio.drag(...kinds[i], 20 + (i % 4) * 300, 30 + Math.floor(i / 4) * 220);
    expect(await studio.nodes().count() === kinds.length, 'not all are there');
    seen.names = await studio.nodes().evaluateAll(nodes => nodes.map(n => n.textContent.trim().slice(0, 40)));
  });

  await step('they are connected', async () => {
    await studio.deselect();
    const order = ['Start1', 'WriteLine1', 'WriteLine2', 'WriteLine3', 'WriteLine4', 'Correlate1', 'SetName1', 'Event1', 'RunJavaScript1', 'FlowDecision1', 'Finish1'];
    let saved;
    for (let i = 0; i + 1 < order.length; i++) saved = await studio.connect(order[i], order[i + 1], order[i] === 'Start1' ? 0 : 1);
    expect(saved.root.connections.length === order.length - 1, `${saved.root.connections.length} connections`);
  });

  await step('inputs have expressions of each kind', async () => {
    await studio.literal('WriteLine1', 'Text', `Hello ${attack}`);
    await studio.code('WriteLine2', 'JavaScript', '`${1 + 2}`');
    await studio.code('WriteLine3', 'Liquid', '{{ Input.Customer }}');
    await studio.pick('WriteLine4', 'Variable', 'Counter');
    await studio.pick('Correlate1', 'Input', 'Customer');
    await studio.literal('SetName1', 'Value', `For ${attack}`);
    await studio.literal('Event1', 'Event Name', 'Paid');
    const saved = await studio.code('FlowDecision1', 'JavaScript', 'true');
    const kinds = new Set(saved.root.activities.flatMap(a => ['text', 'correlationId', 'value', 'eventName', 'condition'].map(p => a[p]?.expression?.type)));
    for (const kind of ['Literal', 'JavaScript', 'Liquid', 'Variable', 'Input']) expect(kinds.has(kind), `${kind} is not among ${[...kinds]}`);
  });

  await step('it is published', async () => {
    const saved = await studio.publish();
    expect(saved.isPublished, 'it is not');
  });

  await step('it runs with an input and waits', async () => {
    const run = await studio.api('POST', `/workflow-definitions/${seen.definition}/execute`, { input: { Customer: 'ada' } });
    expect(run.status === 200 && run.id, `${run.status} ${run.text.slice(0, 300)}`);
    seen.instance = run.id;
    watched = observed(page, seen.instance);
    await studio.open(`workflows/instances/${seen.instance}/view`);
    await page.getByText(/Suspended/).first().waitFor();
  });

  await step('its journal follows the event', async () => {
    await watched; // before that the page would not hear of it
    const journal = page.locator('.rz-splitter-pane').first();
    expect(await journal.getByText('RunJavaScript1').count() === 0, 'it is in the journal already');
    const sent = await studio.api('POST', '/events/Paid/trigger', {});
    expect(sent.status === 200, `${sent.status}`);
    await page.locator('tr', { hasText: 'Sub status' }).getByText('Finished').waitFor();
    await journal.getByText('RunJavaScript1').first().waitFor();
  });

  await step('a fault shows its message, and a retry faults again', async () => {
    const text = value => ({ typeName: 'String', expression: { type: 'Literal', value } });
    const root = { id: 'f', type: 'Elsa.Flowchart', version: 1, activities: [{ id: 'x', type: 'Elsa.Fault', version: 1, name: 'Fault1',
      code: text('E1'), category: text('Test'), faultType: text('Business'), message: text(`broken ${attack}`),
      metadata: { designer: { position: { x: 100, y: 100 }, size: { width: 170, height: 54 } } } }], connections: [] };
    const made = await studio.api('POST', '/workflow-definitions', { model: { name: `Faults ${attack}`, root }, publish: true });
    seen.faults = JSON.parse(made.text).workflowDefinition.definitionId;
    seen.faulted = (await studio.api('POST', `/workflow-definitions/${seen.faults}/execute`, {})).id;
    await studio.open(`workflows/instances/${seen.faulted}/view`);
    await page.locator('tr, .mud-simple-table').getByText('Faulted').first().waitFor();
    await studio.tab('Incidents');
    await page.getByText('broken <img').first().waitFor();
    let retried = 'it did not fault again';
    try { server.cli(['retry', seen.faulted]); } catch (error) { retried = error.stdout; } // its exit status says so
    expect(/Faulted/.test(retried), retried);
    await studio.open(`workflows/instances/${seen.faulted}/view`);
    await page.locator('tr, .mud-simple-table').getByText('Faulted').first().waitFor();
  });

  await step('instances are listed', async () => {
    await studio.open('workflows/instances');
    await studio.row(seen.instance).waitFor();
    await studio.row(seen.faulted).waitFor();
    await studio.pause(1000);
  });

  if (reuses) await reuse(step, studio, { url: server.url, shots });

  await step('an edit makes a version', async () => {
    await studio.open(`workflows/definitions/${seen.definition}/edit`);
    await studio.tab('Properties');
    await studio.pause(800);
    await studio.field('Description').fill(attack);
    const saved = await studio.saved(() => studio.field('Description').press('Tab'));
    expect(saved.version === 2 && !saved.isPublished, `version ${saved.version}`);
    await studio.tab('Version history');
    await page.locator('tbody tr').filter({ hasText: /\b1\b/ }).first().waitFor();
  });

  await step('a session that ended in the middle of an edit is resumed', async () => {
    await studio.tab('Properties');
    await studio.pause(800);
    server.cli(['keys', 'rotate', '--now']);
    await studio.pause(1500); // servers look for new keys twice a second
    await studio.field('Description').fill('written while the session ended');
    const waiting = page.waitForResponse(r => r.request().method() === 'POST' && /\/workflow-definitions$/.test(r.url()) && r.ok(), { timeout: 120000 });
    await studio.field('Description').press('Tab');
    const dialog = page.getByRole('dialog', { name: 'Sign in to Pawl' });
    await dialog.waitFor();
    await page.screenshot({ path: path.join(shots, 'session-ended.png') });
    await dialog.getByLabel('Name').fill(user.name);
    await dialog.getByLabel('Password').fill(user.password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await waiting;
    const now = JSON.parse((await studio.api('GET', `/workflow-definitions/by-definition-id/${seen.definition}?versionOptions=Latest`)).text);
    expect(now.description === 'written while the session ended', now.description);
  });

  await step('they are deleted', async () => {
    await studio.open('workflows/definitions');
    for (const id of [seen.definition, seen.faults]) {
      await studio.rowMenu(id, 'Delete');
      await studio.pause(500);
      await studio.response('DELETE', /\/workflow-definitions\//, () => page.locator('.mud-dialog').getByRole('button', { name: 'Delete' }).click());
      await studio.pause(1500);
    }
    expect((await studio.api('GET', '/workflow-definitions')).text.includes('"totalCount":0'), 'some are left');
  });

  await browser.close();
  // The workflow that faults is executed by intent; requests of the session that ended were refused.
  const bad = problems.filter(p => !(p.what === 'response' && (/\/execute 500$/.test(p.text) || / 401$/.test(p.text))));
  report('user: no script error, nothing refused', bad.map(p => `${p.what}: ${p.text}`));
}
