# SPDX-License-Identifier: Apache-2.0
"""The bytes of TDS 7.1 to 7.4 that a server needs: packets, what clients send, what it answers.

Written from the published protocol, [MS-TDS]. Nothing here knows what a lock is.
"""
import struct

BATCH, RPC, RESPONSE, ATTENTION, LOGIN, PRELOGIN = 1, 3, 4, 6, 16, 18
HEADER = 8
DONE_FINAL, DONE_MORE, DONE_ERROR, DONE_COUNT, DONE_ATTENTION = 0, 1, 2, 0x10, 0x20
ENCRYPT_OFF, ENCRYPT_ON, ENCRYPT_NONE, ENCRYPT_REQUIRED = 0, 1, 2, 3
COLLATION = bytes((0x09, 0x04, 0xD0, 0x00, 0x34))  # Latin1_General, as SQL Server's default


class Malformed(Exception):
    """What the client sent is not TDS, or not what this server reads of it."""


class Reader:
    """Reads little-endian values one behind the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def bytes(self, count):
        if count < 0 or self.at + count > len(self.data):
            raise Malformed("short")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, count, signed=False):
        return int.from_bytes(self.bytes(count), "little", signed=signed)

    def text(self, units):
        return self.bytes(2 * units).decode("utf-16-le", "surrogatepass")

    @property
    def left(self):
        return len(self.data) - self.at


def packets(kind, payload, spid, size):
    """A message in packets of at most `size` bytes."""
    room, out, at, number = size - HEADER, [], 0, 1
    while True:
        part = payload[at:at + room]
        at += len(part)
        last = at >= len(payload)
        out.append(struct.pack(">BBHHBB", kind, 1 if last else 0, HEADER + len(part), spid & 0xFFFF,
                               number & 0xFF, 0) + part)
        number += 1
        if last:
            return b"".join(out)


# ---- what clients send -------------------------------------------------------------------------

def read_prelogin(data):
    """The options by their number."""
    reader, options = Reader(data), {}
    while True:
        option = reader.number(1)
        if option == 0xFF:
            return options
        at, length = struct.unpack(">HH", reader.bytes(4))
        options[option] = data[at:at + length]


def prelogin(encryption):
    """The answer: a version of SQL Server 2019, and how it encrypts."""
    values = [(0, struct.pack(">BBHH", 15, 0, 2000, 0)), (1, bytes((encryption,))), (2, b"\0"),
              (3, b""), (4, b"\0")]
    at, head, body = 5 * len(values) + 1, b"", b""
    for option, value in values:
        head += struct.pack(">BHH", option, at + len(body), len(value))
        body += value
    return head + b"\xff" + body


def read_login(data):
    """Version, packet size and the texts by name."""
    reader = Reader(data)
    reader.number(4)
    version, size = reader.number(4), reader.number(4)
    reader.at = 36
    texts = {}
    for name in ("host", "user", "password", "app", "server", "extension", "library", "language",
                 "database"):
        at, units = reader.number(2), reader.number(2)
        value = data[at:at + 2 * units]
        if name == "password":
            value = bytes((((b ^ 0xA5) >> 4) | ((b ^ 0xA5) << 4)) & 0xFF for b in value)
        texts[name] = "" if name == "extension" else value.decode("utf-16-le", "replace")
    return version, size, texts


def skip_headers(reader, version):
    """Requests since TDS 7.2 begin with headers (for transactions) that do not matter here."""
    if version >= 0x72000000:
        length = reader.number(4)
        reader.bytes(length - 4)


def read_batch(data, version):
    reader = Reader(data)
    skip_headers(reader, version)
    return reader.text(reader.left // 2)


def read_value(reader):
    """A parameter's type and value."""
    kind = reader.number(1)
    if kind in (0x26, 0x68):  # int or bit of any size, or NULL
        reader.number(1)
        length = reader.number(1)
        return reader.number(length, True) if length else None
    if kind in (0x30, 0x34, 0x38, 0x7F, 0x32):
        return reader.number({0x30: 1, 0x32: 1, 0x34: 2, 0x38: 4, 0x7F: 8}[kind], True)
    if kind in (0xE7, 0xEF, 0xA7, 0xAF):  # nvarchar, nchar, varchar, char
        most = reader.number(2)
        reader.bytes(5)
        if most == 0xFFFF:
            return read_long(reader, kind)
        length = reader.number(2)
        if length == 0xFFFF:
            return None
        value = reader.bytes(length)
        return value.decode("utf-16-le" if kind in (0xE7, 0xEF) else "cp1252", "replace")
    raise Malformed(f"a parameter of type {kind:#x}")


def read_long(reader, kind):
    """A value of nvarchar(max), in pieces."""
    if reader.number(8) == 0xFFFFFFFFFFFFFFFF:
        return None
    value = b""
    while True:
        length = reader.number(4)
        if length == 0:
            return value.decode("utf-16-le" if kind == 0xE7 else "cp1252", "replace")
        value += reader.bytes(length)


def read_rpc(data, version):
    """The procedure's name and its parameters by name, in lower case and without '@'."""
    reader = Reader(data)
    skip_headers(reader, version)
    length = reader.number(2)
    name = f"#{reader.number(2)}" if length == 0xFFFF else reader.text(length)
    reader.number(2)
    values = {}
    while reader.left > 0:
        parameter = reader.text(reader.number(1)).lstrip("@").lower() or str(len(values))
        reader.number(1)
        values[parameter] = read_value(reader)
    return name, values


# ---- what a server answers ---------------------------------------------------------------------

def short_text(text):
    return bytes((len(text.encode("utf-16-le")) // 2,)) + text.encode("utf-16-le")


def long_text(text):
    data = text.encode("utf-16-le", "surrogatepass")
    return struct.pack("<H", len(data) // 2) + data


def token(kind, body):
    return struct.pack("<BH", kind, len(body)) + body


def environment(kind, new, old):
    return token(0xE3, bytes((kind,)) + short_text(new) + short_text(old))


def login_answer(version, database, size):
    return (environment(1, database, "master")
            + token(0xE3, b"\x07\x05" + COLLATION + b"\0")
            + environment(4, str(size), "4096")
            + token(0xAD, b"\x01" + struct.pack(">I", version)
                    + short_text("Microsoft SQL Server") + bytes((15, 0, 0x07, 0xD0)))
            + done(version, 0xFD, DONE_FINAL, 0, 0))


def message(number, state, severity, text, procedure=""):
    """An error, or information when its severity is 10 or less."""
    return token(0xAA if severity > 10 else 0xAB,
                 struct.pack("<IBB", number, state, severity) + long_text(text)
                 + short_text("double") + short_text(procedure) + struct.pack("<I", 1))


def done(version, kind, status, command, count):
    return struct.pack("<BHH", kind, status, command) + struct.pack(
        "<Q" if version >= 0x72000000 else "<I", count)


def return_status(value):
    return struct.pack("<Bi", 0x79, value)


def column(version, name, value):
    head = (struct.pack("<I", 0) if version >= 0x72000000 else struct.pack("<H", 0)) + b"\x09\0"
    if isinstance(value, int):
        return head + b"\x26\x08" + short_text(name)
    return head + b"\xe7\xa0\x0f" + COLLATION + short_text(name)  # nvarchar(2000)


def cell(value):
    if value is None:
        return b"\xff\xff"
    if isinstance(value, int):
        return b"\x08" + struct.pack("<q", value)
    data = value.encode("utf-16-le", "surrogatepass")
    return struct.pack("<H", len(data)) + data


def rows(version, names, table, sample):
    """Columns have the types that `sample`, a row, has."""
    out = struct.pack("<BH", 0x81, len(names))
    out += b"".join(column(version, name, value) for name, value in zip(names, sample))
    for row in table:
        out += b"\xd1" + b"".join(cell(value) for value in row)
    return out
