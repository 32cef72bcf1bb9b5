// SPDX-License-Identifier: Apache-2.0
// What the drivers of all peers share: load from so many callers at a time, and the conversation
// with run.mjs, which writes "WORKLOAD CALLERS SECONDS" to a driver's input, a line each, and reads
// {"count", "perSecond", "p50", "p99"} (microseconds) or {"error"} from its output.
import { createInterface } from 'node:readline';
import { performance } from 'node:perf_hooks';

export const SIGNALS = 1000; // of W3, as in bench/fan_in.c

const percentile = (sorted, part) =>
  sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] : 0;

function figures(count, seconds, times) {
  times.sort((a, b) => a - b);
  return {
    count,
    perSecond: count / seconds,
    p50: percentile(times, 0.5) * 1000,
    p99: percentile(times, 0.99) * 1000,
  };
}

// Each caller repeats `once` until the time is over. What `once` returns, if anything, is the time
// in milliseconds that counts in place of the whole repetition's.
export async function repeat(callers, seconds, once) {
  const times = [];
  const begin = performance.now();
  const end = begin + seconds * 1000;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < end) {
        const start = performance.now();
        const part = await once();
        times.push(part ?? performance.now() - start);
      }
    }),
  );
  return figures(times.length, (performance.now() - begin) / 1000, times);
}

// W3: the numbers 1 to SIGNALS, each sent once, by so many senders. `finish` returns the numbers
// that arrived, or `collect` does when the clock has stopped: each must be there once.
export async function fanIn(senders, send, finish, collect) {
  const times = [];
  let next = 0;
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: senders }, async () => {
      while (next < SIGNALS) {
        const number = ++next;
        const start = performance.now();
        await send(number);
        times.push(performance.now() - start);
      }
    }),
  );
  const finished = await finish();
  const seconds = (performance.now() - begin) / 1000;
  const arrived = collect ? await collect() : finished;
  if (arrived.length !== SIGNALS || new Set(arrived).size !== SIGNALS)
    throw new Error(`W3: ${arrived.length} signals arrived, ${new Set(arrived).size} of them different`);
  return figures(SIGNALS, seconds, times);
}

// Runs what is asked for until the input ends.
export async function serve(workloads) {
  const reply = (what) => process.stdout.write(JSON.stringify(what) + '\n');
  reply({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const [name, callers, seconds] = line.split(' ');
    try {
      reply(await workloads[name](Number(callers), Number(seconds)));
    } catch (error) {
      reply({ error: String(error?.stack ?? error) });
    }
  }
}
