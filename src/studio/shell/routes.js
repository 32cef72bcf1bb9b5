// SPDX-License-Identifier: Apache-2.0
// Paths below /studio/ and what they show. Studio itself navigates to these paths.

export const base = new URL(document.baseURI).pathname;

const routes = [
  [/^workflows\/definitions\/?$/, 'definitions'],
  [/^workflows\/definitions\/([^/]+)\/edit$/, 'editor'],
  [/^workflows\/instances\/?$/, 'instances'],
  [/^workflows\/instances\/([^/]+)\/view$/, 'viewer'],
];

export const home = base + 'workflows/definitions';

// What a path shows: {view, id}; null: nothing.
export function parse(pathname) {
  if (!pathname.startsWith(base)) return null;
  for (const [pattern, view] of routes) {
    const match = pattern.exec(pathname.slice(base.length));
    try {
      if (match) return { view, id: match[1] ? decodeURIComponent(match[1]) : '' };
    } catch {
      return null; // a '%' that encodes nothing
    }
  }
  return null;
}

export const editorOf = id => `${base}workflows/definitions/${encodeURIComponent(id)}/edit`;
export const viewerOf = id => `${base}workflows/instances/${encodeURIComponent(id)}/view`;

// Studio has links to paths of the server's root, as if it were served there: "/workflows/…".
function below(anchor) {
  const url = new URL(anchor.href);
  const path = base + url.pathname.slice(1);
  return url.origin === location.origin && parse(path) ? path + url.search : null;
}

// Studio pushes another path when it wants another view; each view is a page of its own.
export function watch() {
  const shown = location.pathname;
  for (const name of ['pushState', 'replaceState']) {
    const change = history[name].bind(history);
    history[name] = (...rest) => {
      change(...rest);
      if (location.pathname !== shown && parse(location.pathname)) location.reload();
    };
  }
  window.addEventListener('popstate', () => {
    if (location.pathname !== shown && parse(location.pathname)) location.reload();
  });
  document.addEventListener('click', event => {
    const anchor = event.target instanceof Element ? event.target.closest('a[href]') : null;
    const path = anchor && below(anchor);
    if (path) anchor.href = path;
  }, true);
}
