// SPDX-License-Identifier: Apache-2.0
// Stands for 'playwright-core' in the acceptance drive: the same, but a context that is made has signed in
// through our shell, and waits take longer on a machine that is slow.
import { playwright, signIn, watch } from '../browser.mjs';
import { user } from '../server.mjs';
import fs from 'node:fs';
import os from 'node:os';

const real = playwright(process.env.PAWL_NPM).chromium;
// How much longer pauses are: the drive clicks when they are over, whether Studio has loaded what it shows or not.
const slow = () => Math.max(1, Math.min(8, os.loadavg()[0] / os.cpus().length));

// A busy browser has forgotten the body of a response before the drive asks for it: it keeps a few megabytes.
function keepBodies() {
  const send = window.fetch.bind(window);
  window.keptBodies = {};
  window.fetch = async (input, init) => {
    const response = await send(input, init);
    const method = input.method ?? init?.method ?? 'GET';
    if (method === 'POST') window.keptBodies[`POST ${response.url}`] = response.clone().text();
    return response;
  };
}

function rememberBody(page, response) {
  const ask = response.json.bind(response);
  response.json = () => ask().catch(async error => {
    const text = await page.evaluate(name => window.keptBodies[name], `${response.request().method()} ${response.url()}`);
    if (!text) throw error;
    return JSON.parse(text);
  });
  return response;
}

// One step deletes a definition while Studio shows an instance of it. Studio does not survive a 404 for what it is just
// loading, so a slow browser would fail there: it leaves the view first. What the step shows is on the picture.
function leaveBeforeDeletion(page) {
  const evaluate = page.evaluate.bind(page);
  page.evaluate = async (action, argument) => {
    if (Array.isArray(argument) && argument[0] === 'DELETE') {
      await page.screenshot({ path: `${process.env.PAWL_SHOTS}/studio-before-deletion.png` });
      await page.goto(`${process.env.PAWL_URL}/studio/shell/shell.css`);
    }
    return evaluate(action, argument);
  };
}

async function prepare(context) {
  await context.addInitScript(keepBodies);
  const page = await context.newPage();
  await signIn(page, process.env.PAWL_URL, user);
  await page.waitForSelector('#x .mud-table', { timeout: 120000 });
  await page.close();
  const problems = watch(context);
  process.on('exit', () => fs.writeFileSync(process.env.PAWL_PROBLEMS, JSON.stringify(problems, null, 1)));
  const newPage = context.newPage.bind(context);
  context.newPage = async () => {
    const made = await newPage();
    made.setDefaultTimeout(180000);
    const wait = made.waitForTimeout.bind(made);
    made.waitForTimeout = ms => wait(ms * slow());
    leaveBeforeDeletion(made);
    const waitFor = made.waitForResponse.bind(made);
    made.waitForResponse = async (...rest) => rememberBody(made, await waitFor(...rest));
    return made;
  };
  return context;
}

export const chromium = {
  launch: async options => {
    const browser = await real.launch(options);
    const newContext = browser.newContext.bind(browser);
    browser.newContext = async settings => prepare(await newContext(settings));
    return browser;
  },
};
