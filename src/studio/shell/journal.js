// SPDX-License-Identifier: Apache-2.0
// The journal beside an instance. Studio loads it when it has changed, and then does not always draw what it has
// loaded: only when something else makes it do so afterwards. A click on the tab that is shown anyway does.

const pauses = [200, 800, 2000, 7000]; // ms, one after the other: a busy page needs a while to take in what came

function draw() {
  document.querySelector('#x .mud-timeline')?.closest('.mud-tabs')?.querySelector('.mud-tab-active')?.click();
}

let turn = 0; // of what has come last

async function drawSoon() {
  const mine = ++turn;
  for (const pause of pauses) {
    await new Promise(done => setTimeout(done, pause));
    if (mine !== turn) return;
    draw();
  }
}

export function keepDrawn() {
  const isJournal = ({ name }) => new URL(name).pathname.endsWith('/journal');
  new PerformanceObserver(list => list.getEntries().some(isJournal) && drawSoon()).observe({ type: 'resource' });
}
