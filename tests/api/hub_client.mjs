// SPDX-License-Identifier: Apache-2.0
// The official client of SignalR, told by lines on standard input what to do, and saying in lines
// of JSON what happened.
//
//   node hub_client.mjs MODULES URL TRANSPORT KEY
//   > {"observe": ID} | {"invoke": [TARGET, ARGUMENT…]} | {"stop": true}
import { createRequire } from 'node:module';
import readline from 'node:readline';

const [modules, url, transport, key] = process.argv.slice(2);
const signalR = createRequire(`${modules}/`)('@microsoft/signalr');
const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
const connection = new signalR.HubConnectionBuilder()
  .withUrl(url, {
    transport: signalR.HttpTransportType[transport],
    headers: { Authorization: `ApiKey ${key}` },
  })
  .withAutomaticReconnect({ nextRetryDelayInMilliseconds: () => 100 })
  .configureLogging(signalR.LogLevel.None)
  .build();
// A machine that stands still for half a minute is no server that is gone.
connection.serverTimeoutInMilliseconds = 120000;

for (const target of ['ActivityExecutionLogUpdatedAsync', 'WorkflowExecutionLogUpdatedAsync',
  'WorkflowInstanceUpdatedAsync']) {
  connection.on(target, (argument) => say({ message: target, argument }));
}
connection.onreconnecting(() => say({ state: 'reconnecting' }));
connection.onreconnected(() => say({ state: 'reconnected' }));
connection.onclose((error) => say({ state: 'closed', error: error ? String(error) : null }));

async function invoke(target, ...values) {
  try {
    say({ result: await connection.invoke(target, ...values) });
  } catch (error) {
    say({ error: String(error) });
  }
}

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  const command = JSON.parse(line);
  if (command.observe) await invoke('ObserveInstanceAsync', command.observe);
  if (command.invoke) await invoke(...command.invoke);
  if (command.stop) await connection.stop();
}).on('close', () => process.exit(0));

connection.start().then(() => say({ state: 'connected' }), (error) => say({ failed: String(error) }));
