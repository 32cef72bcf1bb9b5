// SPDX-License-Identifier: Apache-2.0
// A workflow that others use as an activity, whose output a workflow with an endpoint responds with; then its
// versions, and both ways of a file. What inputs offer comes from the server.
import fs from 'node:fs';
import path from 'node:path';

function expect(condition, message) {
  if (!condition) throw new Error(message);
}

export async function reuse(step, studio, { url, shots }) {
  const { page } = studio;
  const seen = {};
  const latest = async id => JSON.parse((await studio.api('GET', `/workflow-definitions/by-definition-id/${id}?versionOptions=Latest`)).text);

  await step('an output is picked', async () => {
    const root = { id: 'g', type: 'Elsa.Flowchart', version: 1, activities: [], connections: [] };
    const model = { name: 'Greeter', root, inputs: [{ name: 'Who', type: 'String', displayName: 'Who', uiHint: 'singleline', storageDriverType: null }],
      outputs: [{ name: 'Greeting', type: 'String', displayName: 'Greeting' }] };
    seen.greeter = JSON.parse((await studio.api('POST', '/workflow-definitions', { model, publish: false })).text).workflowDefinition.definitionId;
    await studio.open(`workflows/definitions/${seen.greeter}/edit`);
    await page.locator('.mud-expand-panel').first().waitFor();
    await studio.drag('Composition', 'Set Output', 60, 60);
    await studio.select('SetOutput1');
    await studio.pickFrom(studio.inputs().locator('.mud-input-control:visible').first(), 'Greeting');
    const saved = await studio.code('SetOutput1', 'JavaScript', '`Hello ${getInput("Who")}`', 0);
    seen.setOutput = saved.root.activities[0];
    expect(JSON.stringify(seen.setOutput).includes('Greeting'), JSON.stringify(seen.setOutput).slice(0, 400));
  });

  await step('a workflow becomes an activity', async () => {
    await studio.deselect();
    await studio.tab('Properties');
    await studio.pause(800);
    await studio.saved(() => page.getByText('Usable as activity', { exact: false }).first().click());
    const saved = await studio.publish();
    expect(saved.options?.usableAsActivity === true && saved.isPublished, JSON.stringify(saved.options));
  });

  await step('it is found among the activities and used', async () => {
    seen.caller = await studio.create('Caller');
    await studio.tab('Variables');
    await page.getByRole('button', { name: /add variable/i }).first().click();
    await studio.pause(1000);
    await studio.dialog().locator('input').first().fill('Text');
    await studio.saved(() => studio.dialog().getByRole('button', { name: /^ok$/i }).click());
    await studio.drag('HTTP', 'HTTP Endpoint', 20, 40);
    await studio.drag('Workflows', 'Greeter', 420, 40);
    await studio.drag('HTTP', 'HTTP Response', 20, 260);
    await studio.deselect();
    await studio.connect('HttpEndpoint1', 'Greeter1');
    const saved = await studio.connect('Greeter1', 'WriteHttpResponse1');
    expect(saved.root.connections.length === 2, `${saved.root.connections.length} connections`);
    await studio.literal('Greeter1', 'Who', 'Ada');
  });

  await step('its output goes into a variable', async () => {
    await studio.tab('Output');
    await studio.pause(800);
    const saved = await studio.pickFrom(page.locator('.rz-splitter-vertical .mud-select:visible').first(), 'Text');
    const greeter = saved.root.activities.find(a => a.type === 'Greeter');
    expect(greeter?.greeting?.memoryReference?.id === saved.variables[0].id, JSON.stringify(greeter).slice(0, 400));
  });

  await step('inputs offer what the server says', async () => {
    const options = studio.response('POST', /\/descriptors\/activities\/Elsa\.HttpEndpoint\/options\/Path$/, () => studio.select('HttpEndpoint1'));
    expect((await options).ok(), 'the options of the path');
    await page.getByText(`${url}/workflows/`).first().waitFor(); // in front of the path
    await studio.field('Path').fill('greet');
    await studio.saved(() => studio.field('Path').press('Tab'));
    await studio.select('WriteHttpResponse1');
    await studio.list('Status Code').click();
    await studio.pause(600);
    const offered = await page.locator('.mud-popover-open').last().innerText();
    await page.screenshot({ path: path.join(shots, 'status-codes.png') });
    const saved = await studio.saved(() => page.locator('.mud-popover-open').getByText('Created', { exact: true }).first().click());
    for (const one of ['Accepted', 'NotModified', 'PaymentRequired']) expect(offered.includes(one), `${one} is not offered: ${offered.slice(0, 300)}`);
    const reply = saved.root.activities.find(a => a.type === 'Elsa.WriteHttpResponse');
    expect(reply.statusCode.expression.value === 'Created', JSON.stringify(reply.statusCode));
  });

  await step('the endpoint responds with what the activity has made', async () => {
    await studio.pick('WriteHttpResponse1', 'Variable', 'Text', 1);
    await studio.publish();
    const given = await page.evaluate(async () => {
      const response = await fetch('/workflows/greet');
      return `${response.status} ${await response.text()}`;
    });
    expect(given === '201 Hello Ada', given);
    const { items } = JSON.parse((await studio.api('POST', '/workflow-instances', { definitionId: seen.caller })).text);
    await studio.open(`workflows/instances/${items[0].id}/view`);
    await page.locator('.rz-splitter-pane').first().getByText('Greeter1').first().waitFor();
    await page.locator('tr', { hasText: 'Sub status' }).getByText('Finished').waitFor();
    await studio.nodes().first().waitFor();
  });

  await step('versions are listed and an old one comes back', async () => {
    await studio.open(`workflows/definitions/${seen.greeter}/edit`);
    await studio.tab('Properties');
    await studio.pause(800);
    await studio.field('Description').fill('the second');
    await studio.saved(() => studio.field('Description').press('Tab'));
    await studio.publish();
    await studio.tab('Version history');
    const row = number => page.locator('tbody tr').filter({ has: page.locator('td').getByText(String(number), { exact: true }) }).first();
    await row(2).waitFor();
    await studio.pause(800);
    await page.screenshot({ path: path.join(shots, 'versions.png') });
    await row(1).locator('button').last().click();
    await studio.pause(500);
    await studio.response('POST', /\/revert\/1$/, () => page.locator('.mud-popover-open').getByText('Rollback to this version').first().click());
    const now = await latest(seen.greeter);
    expect(now.version === 3 && now.description !== 'the second', `version ${now.version}: ${now.description}`);
    await row(3).waitFor();
  });

  await step('a definition is exported and imported', async () => {
    await studio.open(`workflows/definitions/${seen.greeter}/edit`);
    await studio.icon('menu').click();
    await studio.pause(500);
    await studio.choose('Export');
    await studio.pause(800);
    const [download] = await Promise.all([page.waitForEvent('download'), studio.dialog().getByRole('button', { name: /export|ok/i }).last().click()]);
    const file = path.join(shots, 'exported.json');
    await download.saveAs(file);
    const exported = JSON.parse(fs.readFileSync(file, 'utf8'));
    await studio.open('workflows/definitions');
    const changed = JSON.stringify({ ...exported, id: 'another', definitionId: 'imported', name: 'Imported' });
    const response = await studio.response('POST', /\/workflow-definitions\/import$/, () =>
      page.locator('#workflow-file-upload-button-wrapper input[type=file]').setInputFiles({ name: 'w.json', mimeType: 'application/json', buffer: Buffer.from(changed) }));
    expect(response.ok(), `${response.status()}`);
    await studio.row('Imported').waitFor();
    const [original, imported] = [await latest(seen.greeter), await latest('imported')];
    expect(JSON.stringify(imported.root) === JSON.stringify(original.root), JSON.stringify(imported.root).slice(0, 300));
  });

  for (const id of [seen.caller, seen.greeter, 'imported']) if (id) await studio.api('DELETE', `/workflow-definitions/${id}`);
}
