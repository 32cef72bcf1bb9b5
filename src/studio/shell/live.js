// SPDX-License-Identifier: Apache-2.0
// Live updates that last. Studio opens a WebSocket to the hub of instances and never another one: when its
// node ends, its view would stand still. The socket that it gets here connects again, to whichever node is
// there, and repeats what Studio has asked for; the hub tells the state of that first. Studio notices nothing.

const Socket = window.WebSocket;
const hub = '/elsa/hubs/workflow-instance';
const separator = '\x1e';
const pauses = [0, 250, 500, 1000, 2000, 5000]; // ms, before each try; the last one repeats
const beatMs = 10000; // Studio takes half a minute of silence for the end
const waitMs = 10000; // for what a node says first
const firstTries = 5; // then Studio tries other ways

const event = (socket, name) => new Promise((resolve, reject) => {
  socket.addEventListener(name, resolve, { once: true });
  socket.addEventListener('close', () => reject(new Error('the connection was lost')), { once: true });
  setTimeout(() => reject(new Error('the server is silent')), waitMs);
});

const pause = tries => new Promise(done => setTimeout(done, pauses[Math.min(tries, pauses.length - 1)]));

// Of a text with several messages.
function messages(text) {
  return text.split(separator).filter(Boolean).map(part => JSON.parse(part));
}

class LiveSocket extends EventTarget {
  constructor(url, protocols) {
    super();
    Object.assign(this, { url: String(url), protocols, protocol: '', extensions: '', binaryType: 'arraybuffer', readyState: Socket.CONNECTING });
    this.greeting = null; // the first message
    this.isGreeted = false; // Studio has had the response to it
    this.asked = []; // to watch instances
    this.isOver = false; // one of both has said so
    this.begin();
  }

  // A node may end at any moment of it.
  async begin() {
    for (let tries = 0; tries < firstTries && this.readyState === Socket.CONNECTING; tries++) {
      await pause(tries);
      try {
        const socket = await this.open(tries === 0 ? this.url : await this.negotiate());
        if (this.readyState !== Socket.CONNECTING) {
          socket.close();
          break;
        }
        this.readyState = Socket.OPEN;
        this.use(socket);
        this.dispatchEvent(new Event('open'));
        return;
      } catch { /* once more */ }
    }
    if (this.readyState === Socket.CONNECTING) this.dispatchEvent(new Event('error'));
    this.finish();
  }

  make(url) {
    const socket = this.protocols ? new Socket(url, this.protocols) : new Socket(url);
    socket.binaryType = 'arraybuffer';
    return socket;
  }

  use(socket) {
    this.socket = socket;
    socket.addEventListener('message', message => this.receive(message.data));
    socket.addEventListener('close', closed => {
      if (this.socket !== socket) return;
      this.socket = null;
      if (this.isOver || this.readyState !== Socket.OPEN) this.finish(closed);
      else this.resume();
    });
  }

  finish({ code = 1006, reason = '', wasClean = false } = {}) {
    if (this.readyState === Socket.CLOSED) return;
    this.readyState = Socket.CLOSED;
    this.dispatchEvent(new CloseEvent('close', { code, reason, wasClean }));
  }

  // A node that ends says so, and that clients may connect again.
  receive(data) {
    this.isGreeted = true;
    const last = typeof data === 'string' && data.includes('"type":7') ? messages(data).find(one => one.type === 7) : null;
    if (last?.allowReconnect) {
      this.socket.close();
      return;
    }
    if (last) this.isOver = true;
    this.deliver(data);
  }

  deliver(data) {
    if (this.readyState === Socket.OPEN) this.dispatchEvent(new MessageEvent('message', { data }));
  }

  async resume() {
    const beat = setInterval(() => this.isGreeted && this.deliver(`{"type":6}${separator}`), beatMs);
    for (let tries = 0; !this.socket && this.readyState === Socket.OPEN; tries++) {
      await pause(tries);
      await this.connect().catch(() => {});
    }
    clearInterval(beat);
  }

  async negotiate() {
    const response = await window.fetch(`${hub}/negotiate?negotiateVersion=1`, { method: 'POST' });
    const url = new URL(this.url);
    url.searchParams.set('id', (await response.json()).connectionToken);
    return url;
  }

  async open(url) {
    const socket = this.make(url);
    await event(socket, 'open').catch(error => {
      socket.close();
      throw error;
    });
    return socket;
  }

  // The response, or null if Studio has not sent a greeting yet.
  async greet(socket) {
    if (this.greeting === null) return null;
    socket.send(this.greeting);
    const { data } = await event(socket, 'message');
    if (messages(data)[0].error) throw new Error(data);
    return data;
  }

  async connect() {
    const socket = await this.open(await this.negotiate());
    const response = await this.greet(socket).catch(error => {
      socket.close();
      throw error;
    });
    if (this.readyState !== Socket.OPEN) {
      socket.close();
      return;
    }
    this.use(socket);
    if (response !== null && !this.isGreeted) this.receive(response); // the node before could not
    for (const text of this.asked) socket.send(text);
  }

  send(data) {
    const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
    this.greeting ??= text;
    if (text.includes('"ObserveInstanceAsync"')) this.asked.push(text);
    if (text.includes('"type":7')) this.isOver = true;
    this.socket?.send(text); // a ping that is not sent is not missed; what was asked for is sent again
  }

  close(code, reason) {
    if (this.readyState >= Socket.CLOSING) return;
    this.readyState = Socket.CLOSING;
    if (this.socket) this.socket.close(code, reason);
    else queueMicrotask(() => this.finish({ code, reason, wasClean: true }));
  }

  get bufferedAmount() {
    return this.socket?.bufferedAmount ?? 0;
  }
}

export function keepLive() {
  window.WebSocket = new Proxy(Socket, {
    construct(target, [url, protocols]) {
      const { pathname, host } = new URL(url, document.baseURI);
      if (pathname === hub && host === location.host) return new LiveSocket(url, protocols);
      return protocols === undefined ? new target(url) : new target(url, protocols);
    },
  });
}
