# SPDX-License-Identifier: Apache-2.0
"""A client of WebSocket and, on it, of the JSON protocol of a SignalR hub: no more than tests need."""
import base64
import json
import os
import socket
import struct

from harness import HANG_S, parse

SEPARATOR = "\x1e"


class Refused(Exception):
    def __init__(self, response):
        super().__init__(repr(response))
        self.response = response


class WebSocket:
    def __init__(self, server, target, authorization=None, fields=(), room=None):
        """`room`: bytes that the system takes for a client that does not read."""
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {target} HTTP/1.1", "Host: x", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}"]
        if authorization:
            lines.append(f"Authorization: {authorization}")
        lines += [f"{name}: {value}" for name, value in fields]
        self.socket = socket.socket()
        self.socket.settimeout(HANG_S)
        if room:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.socket.connect(("127.0.0.1", server.port))
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.bytes = b""
        while b"\r\n\r\n" not in self.bytes:
            self.more()
        head, _, self.bytes = self.bytes.partition(b"\r\n\r\n")
        response = parse(head + b"\r\n\r\n")
        if response.status != 101:
            self.socket.close()
            raise Refused(response)

    def more(self):
        part = self.socket.recv(65536)
        if not part:
            raise ConnectionError("the server hung up")
        self.bytes += part

    def take(self, count):
        while len(self.bytes) < count:
            self.more()
        part, self.bytes = self.bytes[:count], self.bytes[count:]
        return part

    def send(self, data, opcode=1):
        data = data.encode() if isinstance(data, str) else data
        mask = os.urandom(4)
        if len(data) < 126:
            length = bytes([0x80 | len(data)])
        elif len(data) < 65536:
            length = bytes([0x80 | 126]) + struct.pack("!H", len(data))
        else:
            length = bytes([0x80 | 127]) + struct.pack("!Q", len(data))
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        self.socket.sendall(bytes([0x80 | opcode]) + length + mask + masked)

    def receive(self):
        """(opcode, payload) of the next frame that is no ping."""
        while True:
            first, second = self.take(2)
            length = second & 0x7F
            if length == 126:
                length = struct.unpack("!H", self.take(2))[0]
            elif length == 127:
                length = struct.unpack("!Q", self.take(8))[0]
            payload = self.take(length)
            if first & 0x0F == 9:
                self.send(payload, 10)
            else:
                return first & 0x0F, payload

    def close(self):
        self.socket.close()


class Hub:
    """A connection to the hub; messages that are no pings."""

    PATH = "/elsa/hubs/workflow-instance"

    def __init__(self, server, authorization=None, query="", room=None):
        self.socket = WebSocket(server, self.PATH + (f"?{query}" if query else ""), authorization,
                                room=room)
        self.waiting = []

    def send(self, *messages):
        self.socket.send("".join(json.dumps(message) + SEPARATOR for message in messages))

    def greet(self):
        self.send({"protocol": "json", "version": 1})
        answer = self.receive()
        if answer != {}:
            raise RuntimeError(f"the handshake failed: {answer}")
        return self

    def receive(self):
        """The next message; "op 8: …" of a close frame."""
        while True:
            while not self.waiting:
                opcode, payload = self.socket.receive()
                if opcode == 8:
                    return f"op 8: {payload[2:].decode()}"
                self.waiting += [json.loads(part) for part in payload.decode().split(SEPARATOR)
                                 if part]
            message = self.waiting.pop(0)
            if not isinstance(message, dict) or message.get("type") != 6:
                return message

    def observe(self, instance, number="1"):
        self.send({"type": 1, "invocationId": number, "target": "ObserveInstanceAsync",
                   "arguments": [instance]})
        return self.receive()

    def close(self):
        self.socket.close()


def negotiate(server, auth="admin"):
    return server.ask("POST", f"{Hub.PATH}/negotiate?negotiateVersion=1", auth).json()
