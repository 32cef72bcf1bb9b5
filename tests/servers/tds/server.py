#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A double of SQL Server for tests of application locks, on loopback.

    server.py [--tls CERT KEY] [--tls-required] [--user NAME --password WORD]

Prints "ready PORT CONTROL_PORT" and serves until its standard input ends. It speaks TDS as far as
wire.py goes, keeps locks as applocks.py says, and misbehaves as told at the control port, where
each line is a command and is answered by one line:

    zero-999 on|off      a busy lock asked for with timeout 0 answers -999 and a message
    answer CODE|off      what the next sp_getapplock answers, without taking anything
    lose request|answer  the next sp_getapplock is cut off before or after it took effect
    delay MS             before every answer
    split N              answers leave in pieces of N bytes, each in a write of its own; 0: whole
    stall on|off         of every answer all but the last bytes is sent; off sends them
    mute on|off          requests are read and not looked at until it is off
    deaf on|off          an Attention is not acknowledged
    refuse on|off        logins fail with error 18456
    no-create on|off     CREATE SEQUENCE fails with error 262
    kill SPID|all        ends a session as KILL does
    hold NAME, free NAME, held NAME      a lock of the control port's own; who holds one
    sessions, waiting, attentions        counts
    await sessions|waiting|attentions N  answers once there are so many (at least, for attentions)
"""
import argparse
import asyncio
import itertools
import os
import ssl
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import applocks  # noqa: E402
import wire  # noqa: E402
from tsql import Sql, SqlError  # noqa: E402

CONTROL_SESSION = 0
VERSION_TEXT = "Microsoft SQL Server 2019 (double)"


class Cut(Exception):
    """The connection ends here."""


class Server:
    def __init__(self, options):
        self.options, self.locks = options, applocks.Locks()
        self.numbers, self.sessions, self.attentions = itertools.count(51), {}, 0
        self.knobs = {"zero-999": False, "answer": None, "lose": None, "delay": 0, "split": 0,
                      "stall": False, "mute": False, "deaf": False, "refuse": False,
                      "no-create": False}
        self.changed = asyncio.Condition()
        self.tls = None
        if options.tls:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(*options.tls)
            # SQL Server before 2022 has no TLS 1.3, and none in this form of TDS.
            self.tls.maximum_version = ssl.TLSVersion.TLSv1_2

    async def tell(self):
        async with self.changed:
            self.changed.notify_all()

    async def until(self, holds):
        async with self.changed:
            await self.changed.wait_for(holds)


class Stream:
    """Messages over a socket, in TLS once it is there."""

    def __init__(self, server, reader, writer):
        self.server, self.reader, self.writer = server, reader, writer
        self.tls = self.incoming = self.outgoing = None
        self.plain, self.size, self.spid = b"", 4096, 0

    async def read_some(self):
        data = await self.reader.read(65536)
        if not data:
            raise Cut
        return data

    async def read(self, count):
        while len(self.plain) < count:
            if not self.tls:
                self.plain += await self.read_some()
                continue
            try:
                data = self.tls.read(65536)
                if not data:
                    raise Cut
                self.plain += data
            except ssl.SSLWantReadError:
                self.incoming.write(await self.read_some())
        out, self.plain = self.plain[:count], self.plain[count:]
        return out

    async def message(self):
        """Type and content of the next message."""
        content = b""
        while True:
            kind, status, length = struct.unpack(">BBH", (await self.read(wire.HEADER))[:4])
            if length < wire.HEADER:
                raise wire.Malformed("a packet's length")
            content += await self.read(length - wire.HEADER)
            if status & 1:
                return kind, content

    async def write(self, data):
        if self.tls:
            self.tls.write(data)
            data = self.outgoing.read()
        knobs, step = self.server.knobs, self.server.knobs["split"] or len(data)
        rest = data[-5:] if knobs["stall"] else b""
        data = data[:len(data) - len(rest)]
        for at in range(0, len(data), step):
            self.writer.write(data[at:at + step])
            await self.writer.drain()
            if knobs["split"]:
                await asyncio.sleep(0.001)
        if rest:
            await self.server.until(lambda: not knobs["stall"])
            self.writer.write(rest)
            await self.writer.drain()

    async def send(self, payload):
        await self.write(wire.packets(wire.RESPONSE, payload, self.spid, self.size))

    async def handshake(self):
        """TLS inside of PRELOGIN packets, as TDS 7 has it."""
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = self.server.tls.wrap_bio(self.incoming, self.outgoing, server_side=True)
        while True:
            try:
                tls.do_handshake()
                over = True
            except ssl.SSLWantReadError:
                over = False
            except ssl.SSLError as error:
                raise Cut from error
            data = self.outgoing.read()
            if data:
                self.writer.write(wire.packets(wire.PRELOGIN, data, 0, self.size))
                await self.writer.drain()
            if over:
                self.tls = tls
                return
            kind, data = await self.message()
            if kind != wire.PRELOGIN:
                raise wire.Malformed("no handshake")
            self.incoming.write(data)


class Session:
    def __init__(self, server, stream):
        self.server, self.stream, self.locks = server, stream, server.locks
        self.spid = stream.spid = next(server.numbers)
        self.version, self.task = 0x74000004, None

    # ---- what T-SQL sees -----------------------------------------------------------------------

    def variable(self, name):
        return {"@@spid": self.spid, "@@version": VERSION_TEXT}.get(name)

    def function(self, name, arguments):
        if name == "applock_test":
            return int(self.locks.test(arguments[1], self.spid, arguments[2]))
        if name == "applock_mode":
            return self.locks.mode_of(arguments[1], self.spid)
        if name == "object_id":
            return 1 if arguments[0] in self.locks.sequences else None
        if name in ("cast", "convert"):
            return arguments[0]
        if name == "db_id":
            return 5
        raise SqlError(195, f"'{name}' is not a recognized built-in function name.")

    def next_value(self, sequence):
        if sequence not in self.locks.sequences:
            raise SqlError(208, f"Invalid object name '{sequence}'.")
        return self.locks.next_value(sequence)

    def create_sequence(self, name):
        if self.server.knobs["no-create"]:
            raise SqlError(262, "CREATE SEQUENCE permission denied in database 'double'.")
        if name in self.locks.sequences:
            raise SqlError(2714, f"There is already an object named '{name}' in the database.")
        self.locks.sequences[name] = 0

    def view(self, name, columns):
        """sys.dm_tran_locks: what is granted, as far as the columns are known."""
        if name.lower() != "sys.dm_tran_locks":
            raise SqlError(208, f"Invalid object name '{name}'.")
        table = []
        for key, holders in self.locks.held.items():
            for spid in holders:
                row = {"request_session_id": spid,
                       "resource_description": f"0:[{key[:32]}]:(0badf00d)"}
                table.append([row.get(column.lower()) for column in columns])
        return table, [0 if column == "request_session_id" else "" for column in columns]

    async def procedure(self, name, values):
        """A stored procedure's return status and messages."""
        name = name.split(".")[-1].lower()
        resource = values.get("resource", values.get("0"))
        if name == "sp_getapplock":
            return await self.get_lock(resource, values)
        if name == "sp_releaseapplock":
            if self.locks.release(resource, self.spid):
                return 0, b""
            return -999, wire.message(1223, 1, 16, "Cannot release the application lock (Database "
                                      f"Principal: 'public', Resource: '{resource}') because it is "
                                      "not currently held.", "xp_userlock")
        raise SqlError(2812, f"Could not find stored procedure '{name}'.")

    async def get_lock(self, resource, values):
        knobs = self.server.knobs
        mode = values.get("lockmode", values.get("1", "Exclusive"))
        owner = values.get("lockowner", values.get("2", "Transaction"))
        timeout = values.get("locktimeout", values.get("3", -1))
        if knobs["answer"] is not None:
            code, knobs["answer"] = knobs["answer"], None
            return code, b""
        if knobs["lose"] == "request":
            knobs["lose"] = None
            raise Cut
        if not resource and resource != "" or mode not in applocks.MODES or owner != "Session":
            return -999, wire.message(1204, 1, 16, "Invalid parameter passed to sp_getapplock.")
        waiting = asyncio.ensure_future(self.locks.acquire(resource[:255], self.spid, mode, timeout))
        await asyncio.sleep(0)
        await self.server.tell()
        try:
            code = await waiting
        except asyncio.CancelledError:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            raise
        if knobs["lose"] == "answer":
            knobs["lose"] = None
            raise Cut
        if code == applocks.TIMED_OUT and timeout == 0 and knobs["zero-999"]:
            return -999, wire.message(50000, 1, 10, "the lock could not be had at once")
        return code, b""

    # ---- requests ------------------------------------------------------------------------------

    async def answer(self, kind, content):
        """The answer to a request, whole."""
        if self.server.knobs["mute"]:
            await self.server.until(lambda: not self.server.knobs["mute"])
        try:
            if kind == wire.RPC:
                name, values = wire.read_rpc(content, self.version)
                status, out = await self.procedure(name, values)
                out += wire.return_status(status) + wire.done(self.version, 0xFE, 0, 0xE0, 0)
            else:
                out = await Sql(self, wire.read_batch(content, self.version)).run()
                out += wire.done(self.version, 0xFD, wire.DONE_FINAL, 0, 0)
        except SqlError as error:
            number, text = error.args
            out = wire.message(number, 1, 16, text)
            out += wire.done(self.version, 0xFD, wire.DONE_ERROR, 0, 0)
        if self.server.knobs["delay"]:
            await asyncio.sleep(self.server.knobs["delay"] / 1000)
        return out

    async def login(self):
        stream, options = self.stream, self.server.options
        kind, content = await stream.message()
        if kind == wire.PRELOGIN:
            asked = wire.read_prelogin(content).get(1, b"\2")[:1] or b"\2"
            encryption = wire.ENCRYPT_NONE
            if self.server.tls and asked[0] != wire.ENCRYPT_NONE:
                encryption = wire.ENCRYPT_ON if asked[0] else wire.ENCRYPT_OFF
            if self.server.tls and options.tls_required:
                encryption = wire.ENCRYPT_REQUIRED
            await stream.send(wire.prelogin(encryption))
            if encryption != wire.ENCRYPT_NONE:
                await stream.handshake()
            kind, content = await stream.message()
            if encryption == wire.ENCRYPT_OFF:
                stream.tls = None  # only the login is encrypted
        if kind != wire.LOGIN:
            raise wire.Malformed("no login")
        version, size, texts = wire.read_login(content)
        self.version = version if version in (0x71000001, 0x72090002, 0x730A0003, 0x730B0003) \
            else 0x74000004
        if self.server.knobs["refuse"] or options.user not in (None, texts["user"]) \
                or options.password not in (None, texts["password"]):
            await stream.send(wire.message(18456, 1, 14, f"Login failed for user '{texts['user']}'.")
                              + wire.done(self.version, 0xFD, wire.DONE_ERROR, 0, 0))
            raise Cut
        if texts["database"] == "missing":
            await stream.send(wire.message(4060, 1, 11, 'Cannot open database "missing" requested by '
                                           "the login. The login failed.")
                              + wire.done(self.version, 0xFD, wire.DONE_ERROR, 0, 0))
            raise Cut
        await stream.send(wire.login_answer(self.version, texts["database"] or "master",
                                            max(512, min(size or 4096, 32767))))
        stream.size = max(512, min(size or 4096, 32767))

    async def attention(self):
        """Ends what is under way; the acknowledgement is a message of its own."""
        if self.task:
            self.task.cancel()
            (out,) = await asyncio.gather(self.task, return_exceptions=True)
            self.task = None
            if isinstance(out, bytes):
                await self.stream.send(out)
            else:
                await self.stream.send(wire.done(self.version, 0xFD, wire.DONE_ERROR, 0, 0))
        self.server.attentions += 1
        await self.server.tell()
        if self.server.knobs["deaf"]:
            await self.server.until(lambda: not self.server.knobs["deaf"])
        await self.stream.send(wire.done(self.version, 0xFD, wire.DONE_ATTENTION, 0, 0))

    async def serve(self):
        await self.login()
        self.server.sessions[self.spid] = self
        await self.server.tell()
        reading = None
        while True:
            reading = reading or asyncio.ensure_future(self.stream.message())
            busy = [self.task] if self.task else []
            await asyncio.wait([reading] + busy, return_when=asyncio.FIRST_COMPLETED)
            if self.task and self.task.done():
                out, self.task = self.task.result(), None
                await self.stream.send(out)
            elif reading.done():
                kind, content = reading.result()
                reading = None
                if kind == wire.ATTENTION:
                    await self.attention()
                elif kind in (wire.RPC, wire.BATCH) and not self.task:
                    self.task = asyncio.ensure_future(self.answer(kind, content))
                else:
                    raise wire.Malformed(f"a message of type {kind}")

    async def run(self):
        try:
            await self.serve()
        except (Cut, ConnectionError, wire.Malformed, asyncio.CancelledError) as error:
            if isinstance(error, wire.Malformed):
                print("malformed:", error, file=sys.stderr)
        finally:
            if self.task:
                self.task.cancel()
                await asyncio.gather(self.task, return_exceptions=True)
            self.locks.end(self.spid)
            self.server.sessions.pop(self.spid, None)
            self.stream.writer.close()
            await self.server.tell()


class Control:
    """The control port."""

    def __init__(self, server):
        self.server = server

    def count(self, what):
        return {"sessions": len(self.server.sessions), "waiting": self.server.locks.count_waiting(),
                "attentions": self.server.attentions}[what]

    async def command(self, words):
        verb, rest, knobs, locks = words[0], words[1:], self.server.knobs, self.server.locks
        if verb == "answer":
            knobs[verb] = None if rest == ["off"] else int(rest[0])
        elif verb == "lose":
            knobs[verb] = None if rest == ["off"] else rest[0]
        elif verb in ("delay", "split"):
            knobs[verb] = int(rest[0])
        elif verb in knobs:
            knobs[verb] = rest == ["on"]
        elif verb == "kill":
            for spid, session in list(self.server.sessions.items()):
                if rest[0] in ("all", str(spid)):
                    session.stream.writer.transport.abort()
        elif verb == "hold":
            return str(await locks.acquire(" ".join(rest), CONTROL_SESSION, "Exclusive", 0))
        elif verb == "free":
            return "0" if locks.release(" ".join(rest), CONTROL_SESSION) else "-999"
        elif verb == "held":
            return " ".join(str(spid) for spid in locks.held.get(" ".join(rest), {})) or "nobody"
        elif verb == "await":
            wanted = int(rest[1])
            await self.server.until(
                lambda: self.count(rest[0]) == wanted
                or (rest[0] == "attentions" and self.count(rest[0]) > wanted))
        else:
            return str(self.count(verb))
        await self.server.tell()
        return "ok"

    async def run(self, reader, writer):
        while line := await reader.readline():
            try:
                out = await self.command(line.decode().rstrip("\n").split(" "))
            except (KeyError, ValueError, IndexError) as error:
                out = f"error {error!r}"
            writer.write(out.encode() + b"\n")
            await writer.drain()
        writer.close()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    parser.add_argument("--tls-required", action="store_true")
    parser.add_argument("--user")
    parser.add_argument("--password")
    server = Server(parser.parse_args())

    async def session(reader, writer):
        await Session(server, Stream(server, reader, writer)).run()

    listener = await asyncio.start_server(session, "127.0.0.1", 0)
    control = await asyncio.start_server(Control(server).run, "127.0.0.1", 0)
    print("ready", *(s.sockets[0].getsockname()[1] for s in (listener, control)), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
