// SPDX-License-Identifier: Apache-2.0
// A proxy that knows nothing of what it passes on: each connection goes to the next node, round and round. A node
// that refuses a connection is passed over; what was sent to one is never sent to another.
import net from 'node:net';

export class Proxy {
  constructor(nodes) {
    this.nodes = nodes; // {port}; may change
    this.turn = 0;
    this.links = new Set(); // {node, client, isSocket}
    this.isHeld = false; // connections wait
    this.held = [];
    this.sent = null; // is called with what a client has sent, and its link, when that was passed on
    this.server = net.createServer({ pauseOnConnect: true }, client => (this.isHeld ? this.held.push(client) : this.pass(client)));
  }

  async listen() {
    await new Promise(done => this.server.listen(0, '127.0.0.1', done));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
  }

  hold() {
    this.isHeld = true;
  }

  release() {
    this.isHeld = false;
    for (const client of this.held.splice(0)) this.pass(client);
  }

  async pass(client) {
    client.on('error', () => client.destroy());
    for (let tries = 0; tries < 2 * this.nodes.length; tries++) {
      const node = this.nodes[this.turn++ % this.nodes.length];
      const server = await this.reach(node);
      if (server) {
        this.join({ node, client, isSocket: false }, server);
        return;
      }
    }
    client.destroy();
  }

  reach(node) {
    return new Promise(done => {
      const server = net.connect(node.port, '127.0.0.1', () => done(server));
      server.on('error', () => {
        server.destroy();
        done(null);
      });
    });
  }

  join(link, server) {
    const { client } = link;
    this.links.add(link);
    const end = () => {
      this.links.delete(link);
      client.destroy();
      server.destroy();
    };
    client.on('data', data => {
      if (server.destroyed) return;
      server.write(data);
      if (/^GET [^\r]*\r\n(.*\r\n)*?upgrade: websocket/i.test(data.toString('latin1'))) link.isSocket = true;
      this.sent?.(data.toString('latin1'), link);
    });
    server.on('data', data => client.write(data));
    for (const side of [client, server]) side.on('close', end);
    if (client.destroyed) end();
    else client.resume();
  }

  async close() {
    for (const { client } of this.links) client.destroy();
    await new Promise(done => this.server.close(done));
  }
}
