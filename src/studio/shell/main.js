// SPDX-License-Identifier: Apache-2.0
// The shell around Elsa Studio: signs in, then shows the element that the path names.
import { guard, isSignedIn, signIn, signOut } from './session.js';
import { home, parse, watch } from './routes.js';
import { load, make } from './elements.js';
import { keepDrawn } from './journal.js';
import { keepLive } from './live.js';

const titles = { definitions: 'Definitions', editor: 'Definition', instances: 'Instances', viewer: 'Instance' };

function mark(route) {
  document.title = `${titles[route.view]} · Pawl`;
  for (const link of document.querySelectorAll('nav a'))
    if (link.dataset.views.split(' ').includes(route.view)) link.setAttribute('aria-current', 'page');
}

async function show(route) {
  mark(route);
  document.getElementById('sign-out').onclick = async () => {
    const error = document.getElementById('sign-out-error');
    error.textContent = '';
    if (await signOut()) location.assign(home);
    else error.textContent = 'You are still signed in: the server did not end the session. Try again.';
  };
  document.getElementById('reload').onclick = event => {
    event.preventDefault();
    location.reload();
  };
  if (!isSignedIn()) await signIn();
  guard();
  keepLive();
  keepDrawn();
  watch();
  const progress = document.getElementById('progress');
  try {
    await load();
    document.getElementById('x').append(await make(route));
    progress.remove();
  } catch (error) {
    progress.textContent = `Studio cannot be shown: ${error.message}`;
  }
}

const route = parse(location.pathname);
if (route) show(route);
else location.replace(home);
