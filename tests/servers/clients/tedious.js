// SPDX-License-Identifier: Apache-2.0
// A foreign client at the double of SQL Server: npm's tedious. Prints one line per step.
//
//   node tedious.js PACKAGES PORT CONTROL_PORT USER PASSWORD [CERT]
'use strict';
const fs = require('fs');
const net = require('net');
const path = require('path');
const [packages, port, control, user, password, cert] = process.argv.slice(2);
const { Connection, Request, TYPES } = require(path.join(packages, 'node_modules', 'tedious'));

function connect() {
  return new Promise((resolve, reject) => {
    const connection = new Connection({
      server: '127.0.0.1',
      authentication: { type: 'default', options: { userName: user, password } },
      options: {
        port: Number(port),
        database: 'locks',
        encrypt: Boolean(cert),
        trustServerCertificate: false,
        ...(cert ? { serverName: 'localhost', cryptoCredentialsDetails: { ca: fs.readFileSync(cert) } } : {}),
      },
    });
    connection.connect((error) => (error ? reject(error) : resolve(connection)));
  });
}

// The return status, or an error; `cancel` cancels it once it was sent.
function call(connection, procedure, parameters, cancel) {
  return new Promise((resolve, reject) => {
    let status;
    const request = new Request(procedure, (error) => (error ? reject(error) : resolve(status)));
    for (const [name, type, value] of parameters) request.addParameter(name, type, value);
    request.on('doneProc', (count, more, returned) => { status = returned; });
    connection.callProcedure(request);
    if (cancel) cancel(() => connection.cancel());
  });
}

// Until the double has somebody who waits.
function somebodyWaits() {
  return new Promise((resolve) => {
    const socket = net.connect(Number(control), '127.0.0.1', () => socket.write('await waiting 1\n'));
    socket.once('data', () => { socket.end(); resolve(); });
  });
}

function getLock(connection, name, timeout, cancel) {
  return call(connection, 'sp_getapplock', [
    ['Resource', TYPES.NVarChar, name], ['LockMode', TYPES.VarChar, 'Exclusive'],
    ['LockOwner', TYPES.VarChar, 'Session'], ['LockTimeout', TYPES.Int, timeout],
  ], cancel);
}

function releaseLock(connection, name) {
  return call(connection, 'sp_releaseapplock', [
    ['Resource', TYPES.NVarChar, name], ['LockOwner', TYPES.VarChar, 'Session'],
  ]);
}

function query(connection, sql) {
  return new Promise((resolve, reject) => {
    const rows = [];
    const request = new Request(sql, (error) => (error ? reject(error) : resolve(rows)));
    request.on('row', (columns) => rows.push(columns.map((column) => String(column.value))));
    connection.execSqlBatch(request);
  });
}

async function main() {
  const one = await connect();
  const two = await connect();
  const name = 'grüße 漢 😀';
  console.log('take', await getLock(one, name, 0));
  console.log('busy', await getLock(two, name, 0));
  console.log('timed out', await getLock(two, name, 30));
  // An Attention while it waits.
  await getLock(two, name, 600000, (cancel) => somebodyWaits().then(cancel)).then(
    () => console.log('cancel failed'), (error) => console.log('cancelled', error.code));
  const waiting = getLock(two, name, 600000);
  await somebodyWaits();
  console.log('released', await releaseLock(one, name));
  console.log('granted later', await waiting);
  await releaseLock(one, name).catch((error) => console.log('not held', error.number));
  console.log('mode', (await query(two, `SELECT APPLOCK_MODE('public', N'${name}', 'Session')`))[0][0]);
  console.log('test', (await query(one, `SELECT APPLOCK_TEST('public', N'${name}', 'Exclusive', 'Session')`))[0][0]);
  two.close();
  console.log('after the other left', await getLock(one, name, 10000));
  one.close();
}

main().catch((error) => { console.log('failed', error.message); process.exit(1); });
