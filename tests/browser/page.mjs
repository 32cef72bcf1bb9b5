// SPDX-License-Identifier: Apache-2.0
// Studio's screens, as a user handles them. Selectors are the class names of MudBlazor and X6 in Studio 3.8.
const hangMs = 120000;

// Shapes of icons: Studio's buttons have no names.
const shapes = { publish: 'M19.35 10.04', run: 'M8 5v14l11-7z', more: 'M12 8c1.1 0', menu: 'M7 10l5 5 5-5z' };

export class Studio {
  constructor(page, url) {
    this.page = page;
    this.url = url;
    page.setDefaultTimeout(hangMs);
  }

  async open(path) {
    await this.page.goto(`${this.url}/studio/${path}`, { waitUntil: 'domcontentloaded', timeout: hangMs });
    await this.page.waitForSelector('#x .mud-table, #x .rz-splitter', { state: 'attached' });
  }

  pause(ms) {
    return this.page.waitForTimeout(ms);
  }

  // The response to the request that an action causes.
  async response(method, pattern, action) {
    const [response] = await Promise.all([
      this.page.waitForResponse(r => r.request().method() === method && pattern.test(new URL(r.url()).pathname), { timeout: hangMs }),
      action(),
    ]);
    return response;
  }

  // An action that Studio saves by itself; what is stored then. (Of a busy browser the body of the response itself
  // is not to be had: it keeps a few megabytes of bodies.)
  async saved(action) {
    const response = await this.response('POST', /\/workflow-definitions$/, action);
    if (!response.ok()) throw new Error(`saving got ${response.status()}`);
    const id = /definitions\/([^/]+)\/edit/.exec(this.page.url())[1];
    return JSON.parse((await this.api('GET', `/workflow-definitions/by-definition-id/${id}?versionOptions=Latest`)).text);
  }

  dialog() {
    return this.page.locator('.mud-dialog').last();
  }

  icon(name) {
    return this.page.locator(`button.mud-icon-button:visible:has(path[d^="${shapes[name]}"])`).first();
  }

  // Some have a count behind their name.
  async tab(name) {
    await this.page.locator('.mud-tab').filter({ hasText: new RegExp(`^\\s*${name}\\s*\\d*\\s*$`, 'i') }).first().evaluate(e => e.click());
  }

  async choose(name) {
    await this.page.locator('.mud-popover-open').getByText(name, { exact: true }).first().click();
  }

  // A new definition; returns its id.
  async create(name) {
    await this.open('workflows/definitions');
    await this.page.getByRole('button', { name: 'Create workflow' }).first().click();
    await this.pause(1000); // the dialog looks for a name of its own first
    await this.dialog().locator('input').first().fill(name);
    await this.pause(500);
    await this.response('POST', /\/workflow-definitions$/, () => this.dialog().getByRole('button', { name: 'Ok' }).click());
    await this.page.waitForURL('**/edit', { timeout: hangMs });
    await this.page.locator('.mud-expand-panel').first().waitFor();
    return decodeURIComponent(/definitions\/([^/]+)\/edit/.exec(this.page.url())[1]);
  }

  // ---- the designer ----

  nodes() {
    return this.page.locator('.x6-node');
  }

  node(name) {
    return this.nodes().filter({ has: this.page.getByText(name, { exact: true }) }).first();
  }

  async drag(category, name, x, y) {
    const panel = this.page.locator('.mud-expand-panel').filter({ has: this.page.locator('.mud-expand-panel-header').getByText(category, { exact: true }) }).first();
    const item = panel.locator('[draggable=true]').filter({ has: this.page.getByText(name, { exact: true }) }).first();
    if (!(await item.isVisible())) {
      await panel.locator('.mud-expand-panel-header').click();
      await item.waitFor();
      await this.pause(500);
    }
    const count = await this.nodes().count();
    const root = await this.saved(() => item.dragTo(this.page.locator('.graph-container').first(), { targetPosition: { x, y } }));
    await this.page.waitForFunction(n => document.querySelectorAll('.x6-node').length > n, count, { timeout: hangMs });
    return root;
  }

  async deselect() {
    const box = await this.page.locator('.graph-container').first().boundingBox();
    await this.page.mouse.click(box.x + box.width - 40, box.y + box.height - 40);
    await this.pause(700);
  }

  // From a port of one node (1: its first outcome) to the input of another.
  async connect(from, to, port = 1) {
    const a = await this.node(from).locator('.x6-port-body').nth(port).boundingBox();
    const b = await this.node(to).locator('.x6-port-body').first().boundingBox();
    return this.saved(async () => {
      await this.page.mouse.move(a.x + a.width / 2, a.y + a.height / 2);
      await this.page.mouse.down();
      await this.page.mouse.move(b.x - 30, b.y + b.height / 2, { steps: 8 });
      await this.page.mouse.move(b.x + b.width / 2, b.y + b.height / 2, { steps: 8 });
      await this.page.mouse.up();
    });
  }

  async select(name) {
    const box = await this.node(name).boundingBox();
    await this.page.mouse.click(box.x + box.width / 2, box.y + Math.min(25, box.height / 2));
    await this.pause(1200);
    await this.tab('Input');
    await this.pause(500);
  }

  inputs() {
    return this.page.locator('.rz-splitter-vertical .rz-splitter-pane').last();
  }

  field(label) {
    return this.list(label).locator('input, textarea').first();
  }

  async literal(node, label, value) {
    await this.select(node);
    await this.field(label).fill(value);
    return this.saved(() => this.field(label).press('Tab'));
  }

  // Chooses how an input of a node, the first one if not said, is expressed: JavaScript, Liquid, Variable, Input, …
  async syntax(node, kind, nth = 0) {
    await this.select(node);
    await this.inputs().locator(`button:has(path[d^="${shapes.more}"]):visible`).nth(nth).click();
    await this.pause(600);
    await this.choose(kind);
    await this.pause(1500);
  }

  async code(node, kind, text, nth = 0) {
    await this.syntax(node, kind, nth);
    const editor = this.inputs().locator('.monaco-editor:visible').first();
    await editor.waitFor();
    await editor.click();
    await this.page.keyboard.press('Control+A');
    return this.saved(() => this.page.keyboard.type(text, { delay: 10 }));
  }

  async pick(node, kind, name, nth = 0) {
    await this.syntax(node, kind, nth);
    return this.pickFrom(this.inputs().locator('.mud-input-control:visible').nth(nth), name);
  }

  // One of the values that a list offers.
  async pickFrom(list, name) {
    await list.click();
    await this.pause(600);
    return this.saved(() => this.page.locator('.mud-popover-open').getByText(new RegExp(`^${name}`)).first().click()); // "Customer - Input 1"
  }

  list(label) {
    return this.page.locator('.mud-input-control:visible').filter({ has: this.page.locator('label', { hasText: new RegExp(`^${label}\\*?$`) }) }).first();
  }

  async publish() {
    const definition = await this.saved(() => this.icon('publish').click());
    await this.page.getByText(/Workflow published/).first().waitFor();
    return definition;
  }

  // ---- lists ----

  row(text) {
    return this.page.locator('tbody tr', { hasText: text }).first();
  }

  async rowMenu(text, item) {
    await this.row(text).locator('button').last().click();
    await this.pause(500);
    await this.page.locator('.mud-popover-open .mud-menu-item, .mud-popover-open .mud-list-item', { hasText: new RegExp(`^\\s*${item}\\s*$`) }).first().click();
  }

  // With the session of the page, as Studio asks.
  api(method, path, body) {
    return this.page.evaluate(async ([m, p, b]) => {
      const response = await fetch(`/elsa/api${p}`, { method: m, headers: b === undefined ? {} : { 'Content-Type': 'application/json' }, body: b });
      return { status: response.status, id: response.headers.get('x-elsa-workflow-instance-id'), text: await response.text() };
    }, [method, path, body === undefined ? undefined : JSON.stringify(body)]);
  }
}
