// SPDX-License-Identifier: Apache-2.0
// The session: a token in a cookie that scripts cannot read. Requests to the API repeat the secret of
// a second cookie, which only pages of this origin can read. Studio needs no key and gets none.
//
// When a session has ended, requests wait until somebody has signed in again, and are then sent once
// more: what was being edited is not lost. Nor is it when a server ends that was asked: where that does
// no harm, a request without a response is sent again, to another one.

const send = window.fetch.bind(window);
const secretName = 'pawl_csrf';

function secret() {
  for (const pair of document.cookie.split(/; */)) {
    const at = pair.indexOf('=');
    if (pair.slice(0, at) === secretName) return pair.slice(at + 1);
  }
  return '';
}

export const isSignedIn = () => secret() !== '';

const isOurs = url => url.origin === location.origin && /^\/(elsa|pawl)\//.test(url.pathname);

// What begins something once, however often it is sent with the same key.
const keyed = /\/(execute|dispatch|bulk-dispatch|trigger)$/;
// What changes nothing, or nothing more when it is sent again.
const harmless = /\/(negotiate|journal|report)$|^\/elsa\/api\/workflow-instances$|\/type-definitions\//;

// A definition that is saved again is the same. One without an id would be a second one, and one that is published a
// second version.
async function isSave(request, url) {
  if (!url.pathname.endsWith('/workflow-definitions')) return false;
  const body = await request.json().catch(() => null);
  return Boolean(body?.model?.definitionId) && !body.publish;
}

async function mayRepeat(request, url) {
  if (request.signal.aborted) return false;
  if (request.method === 'GET') return true;
  return request.method === 'POST' && (keyed.test(url.pathname) || harmless.test(url.pathname) || isSave(request, url));
}

let saving = Promise.resolve();

// One save after the other: one that is sent again must not undo the next one.
function inTurn(action) {
  const mine = saving.then(action);
  saving = mine.catch(() => {});
  return mine;
}

// Pauses are for what is in front of the servers: it may take a moment to notice which of them are there. Each try is
// made anew: a clone sends its body as a stream, which tools that look at requests do not see.
async function deliver(make, url) {
  for (const pause of [100, 500, 1000, 2000, 4000]) {
    try {
      return await send(make());
    } catch (error) {
      if (!(await mayRepeat(make(), url))) throw error;
    }
    await new Promise(done => setTimeout(done, pause));
  }
  return send(make());
}

async function guarded(input, init) {
  const url = new URL(input instanceof Request ? input.url : input, document.baseURI);
  if (!isOurs(url)) return send(input, init);
  const key = Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('');
  const make = () => {
    const request = new Request(input instanceof Request ? input.clone() : url, init);
    if (!request.headers.has('Authorization')) request.headers.set('X-CSRF-Token', secret());
    if (keyed.test(url.pathname) && !request.headers.has('Idempotency-Key')) request.headers.set('Idempotency-Key', key);
    return request;
  };
  const isSaving = make().method === 'POST' && url.pathname.endsWith('/workflow-definitions');
  for (;;) {
    const response = await (isSaving ? inTurn(() => deliver(make, url)) : deliver(make, url));
    if (response.status !== 401) return response;
    await signIn('Your session has ended. Sign in to go on where you are.');
  }
}

export function guard() {
  window.fetch = guarded;
}

// What is wrong, or '' when the session has begun.
async function begin(authorization) {
  const response = await send('/pawl/api/sessions', { method: 'POST', headers: { Authorization: authorization } });
  if (response.ok) return '';
  return response.status === 401 ? 'This is not valid.' : `The server responded with ${response.status}.`;
}

async function beginByPassword(username, password) {
  const response = await send('/elsa/api/identity/login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  if (response.status === 429) return 'Too many tries. Wait a moment.';
  if (!response.ok) return `The server responded with ${response.status}.`;
  const result = await response.json();
  return result.isAuthenticated ? begin(`Bearer ${result.accessToken}`) : 'The name or the password is wrong.';
}

async function submit(form) {
  const { username, password, key } = Object.fromEntries(new FormData(form));
  try {
    if (key) return await begin(`ApiKey ${key.trim()}`);
    return await beginByPassword(username, password);
  } catch {
    return 'The server does not respond.';
  }
}

let asking = null;

// Resolves when somebody has signed in. There is one dialog, however many requests wait for it.
export function signIn(why = '') {
  asking ??= new Promise(resolve => {
    const dialog = document.getElementById('sign-in');
    const form = dialog.querySelector('form');
    const error = document.getElementById('sign-in-error');
    document.getElementById('sign-in-why').textContent = why;
    error.textContent = '';
    dialog.oncancel = event => event.preventDefault();
    dialog.onclose = () => { // a second Esc closes it all the same
      if (asking && !dialog.open) dialog.showModal();
    };
    form.onsubmit = async event => {
      event.preventDefault();
      form.querySelector('[type=submit]').disabled = true;
      error.textContent = await submit(form);
      form.querySelector('[type=submit]').disabled = false;
      if (error.textContent) return;
      form.reset();
      asking = null;
      dialog.close();
      resolve();
    };
    dialog.showModal();
  });
  return asking;
}

// false: the server has not ended the session, whose token no script can delete.
export async function signOut() {
  const request = { method: 'POST', headers: { 'X-CSRF-Token': secret() } };
  const response = await send('/sign-out', request).catch(() => null);
  if (!response?.ok && response?.status !== 401) return false;
  document.cookie = `${secretName}=; Max-Age=0; Path=/; SameSite=Strict`; // also when the session had ended
  return true;
}
