// SPDX-License-Identifier: Apache-2.0
// Chromium, and what must not happen in it: errors of scripts, things that the policy of the page
// refuses, responses that say that a request was wrong.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

export const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

// npm: the folder that has node_modules/playwright-core.
export function playwright(npm) {
  return createRequire(path.join(path.resolve(npm), 'package.json'))('playwright-core');
}

export async function launch(npm) {
  return playwright(npm).chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: flags });
}

// Notes what goes wrong in all pages of a context: {what, text}.
export function watch(context) {
  const problems = [];
  context.on('console', message => {
    if (message.type() !== 'error') return;
    const text = message.text();
    if (/Failed to load resource/.test(text)) return; // counted as a response
    problems.push({ what: /Content Security Policy|Content-Security-Policy/.test(text) ? 'policy' : 'console', text: text.slice(0, 600) });
  });
  context.on('weberror', error => problems.push({ what: 'script', text: String(error.error()).slice(0, 600) }));
  context.on('response', response => {
    if (response.status() >= 400)
      problems.push({ what: 'response', text: `${response.request().method()} ${response.url()} ${response.status()}` });
  });
  context.on('requestfailed', request => {
    const why = request.failure()?.errorText ?? '';
    if (!/ABORTED/.test(why)) problems.push({ what: 'response', text: `${request.method()} ${request.url()} ${why}` });
  });
  return problems;
}

// Writes to a file what a page sends and receives, for whoever looks for the cause of a failure.
export function record(page, file) {
  const out = fs.createWriteStream(file);
  const line = (...parts) => out.write(`${new Date().toISOString().slice(11, 23)} ${parts.join(' ')}\n`);
  let count = 0;
  page.on('websocket', socket => {
    const name = `socket ${++count}`;
    line(name, 'opens', socket.url());
    socket.on('framesent', ({ payload }) => line(name, '<', payload));
    socket.on('framereceived', ({ payload }) => line(name, '>', payload));
    socket.on('socketerror', error => line(name, 'fails:', error));
    socket.on('close', () => line(name, 'closes'));
  });
  const isOurs = request => /\/(elsa|pawl)\//.test(request.url());
  page.on('request', request => isOurs(request) && line(request.method(), request.url(), request.postData()?.slice(0, 300) ?? ''));
  page.on('response', response => isOurs(response.request()) && line(response.status(), response.request().method(), response.url()));
  page.on('requestfailed', request => isOurs(request) && line('lost', request.method(), request.url(), request.failure()?.errorText));
  page.on('console', message => message.type() !== 'info' && line('console', message.type(), message.text().slice(0, 600)));
  return line;
}

// Through the dialog of the shell.
export async function signIn(page, url, user, timeout = 120000) {
  await page.goto(`${url}/studio/`, { waitUntil: 'domcontentloaded', timeout });
  const dialog = page.getByRole('dialog', { name: 'Sign in to Pawl' });
  await dialog.waitFor({ timeout });
  await dialog.getByLabel('Name').fill(user.name);
  await dialog.getByLabel('Password').fill(user.password);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'hidden', timeout });
}
