# SPDX-License-Identifier: Apache-2.0
"""What the tests of the API share: a server as a process, requests to it, cases as data, TAP.

Everything waits for a condition; a deadline is reached only by a hang.
"""
import base64
import hashlib
import hmac
import io
import json
import os
import re
import socket
import sqlite3
import subprocess
import tempfile
import time
import zipfile

HANG_S = 120
ADMIN = "8c1b9fc7-test-key-of-the-administrator"


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def report(self, name, problems):
        self.count += 1
        self.failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {self.count} - {name}", flush=True)
        for problem in problems:
            for line in str(problem).splitlines():
                print(f"# {line}", flush=True)

    def run(self, name, function, *arguments):
        problems = []
        try:
            problems = function(*arguments) or []
        except Exception as error:  # a test that dies is a test that fails
            problems = [f"{type(error).__name__}: {error}"]
        self.report(name, problems)

    def end(self):
        print(f"1..{self.count}", flush=True)


def within(condition, what):
    """Waits until the condition returns something true, and returns that."""
    give_up = time.monotonic() + HANG_S
    while time.monotonic() < give_up:
        result = condition()
        if result:
            return result
        time.sleep(0.02)
    raise TimeoutError(f"waited in vain for {what}")


class Response:
    def __init__(self, status, fields, body):
        self.status = status
        self.fields = fields  # a list of (name in lower case, value)
        self.body = body

    def field(self, name):
        for key, value in self.fields:
            if key == name.lower():
                return value
        return None

    def json(self):
        return json.loads(self.body)

    def text(self):
        return self.body.decode("utf-8")

    def __repr__(self):
        return f"{self.status} {self.fields} {self.body[:400]!r}"


def parse(data):
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    fields = []
    for line in lines[1:]:
        key, _, value = line.partition(":")
        fields.append((key.lower(), value.strip()))
    return Response(int(lines[0].split(" ")[1]), fields, body)


class Server:
    """`pawl serve` on a store of its own, or on one that another server has."""

    def __init__(self, pawl, folder=None, store=None, admin=ADMIN, arguments=(), variables=None):
        self.pawl = pawl
        self.folder = folder or tempfile.mkdtemp()
        self.store = store or f"sqlite:{self.folder}/store.db"
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PAWL_", "OTEL_"))}
        environment["LC_ALL"] = "C"
        if admin:
            environment["PAWL_ADMIN_API_KEY"] = admin
        environment.update(variables or {})
        self.environment = environment
        number = len([f for f in os.listdir(self.folder) if f.endswith(".out")])
        self.out_path = f"{self.folder}/{number}.out"
        self.err_path = f"{self.folder}/{number}.err"
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.process = subprocess.Popen(
                [pawl, "serve", "--store", self.store, "--listen", "127.0.0.1:0", *arguments],
                stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, cwd=self.folder)
        within(self.is_up, "the server to be ready")
        self.port = int(re.search(r"ready at https?://127.0.0.1:(\d+)", self.out()).group(1))

    def is_up(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"the server ended: {self.err()}")
        return re.search(r"ready at https?://127.0.0.1:\d+\n", self.out())

    def out(self):
        with open(self.out_path, encoding="utf-8") as file:
            return file.read()

    def err(self):
        with open(self.err_path, encoding="utf-8") as file:
            return file.read()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(HANG_S)
        return self.process.returncode

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(HANG_S)

    def command(self, *arguments, stdin=""):
        """Another pawl on the same store; returns its standard output."""
        done = subprocess.run([self.pawl, *arguments, "--store", self.store], input=stdin,
                              capture_output=True, text=True, env=self.environment,
                              cwd=self.folder, timeout=HANG_S, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"pawl {' '.join(arguments)}: {done.returncode} {done.stderr}")
        return done.stdout

    def exchange(self, data):
        """Sends these bytes and reads until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=HANG_S) as connection:
            connection.sendall(data)
            parts = []
            while part := connection.recv(65536):
                parts.append(part)
        return parse(b"".join(parts))

    def head(self, method, target, authorization, fields, length):
        lines = [f"{method} {target} HTTP/1.1", "Host: x", "Connection: close"]
        if authorization:
            lines.append(f"Authorization: {authorization}")
        lines += [f"{key}: {value}" for key, value in fields]
        if length is not None:
            lines.append(f"Content-Length: {length}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def ask(self, method, target, auth="admin", body=None, text=None, fields=()):
        """`body` is sent as JSON, `text` as it is. `auth`: None, "admin", or the whole field."""
        data = json.dumps(body).encode() if body is not None else text or b""
        data = data.encode() if isinstance(data, str) else data
        fields = list(fields)
        if body is not None:
            fields.append(("Content-Type", "application/json"))
        length = len(data) if data or method in ("POST", "PUT") else None
        authorization = f"ApiKey {ADMIN}" if auth == "admin" else auth
        return self.exchange(self.head(method, target, authorization, fields, length) + data)


# ---- cases as data ------------------------------------------------------------------------------


def matches(expected, given, known, path="$"):
    """Placeholders: <idN>, <guidN>: the same everywhere; <secret>, <token>, <text>, <time>,
    <varies>: any. A problem per difference."""
    if isinstance(expected, str) and re.fullmatch(r"<[a-z]+\d*>", expected):
        kind = expected.strip("<>").rstrip("0123456789")
        if kind in ("id", "guid", "hash"):
            if known.setdefault(expected, given) != given:
                return [f"{path}: {given!r} is not {expected} {known[expected]!r}"]
            return []
        if kind != "varies" and not isinstance(given, str):
            return [f"{path}: {given!r} is no string"]
        return []
    if type(expected) is not type(given):
        return [f"{path}: {given!r}, expected {expected!r}"]
    if isinstance(expected, dict):
        problems = [f"{path}.{key} is missing" for key in expected if key not in given]
        problems += [f"{path}.{key} is too much" for key in given if key not in expected]
        if list(expected) != [key for key in given if key in expected] and not problems:
            problems.append(f"{path}: the order is {list(given)}, expected {list(expected)}")
        for key in expected:
            if key in given:
                problems += matches(expected[key], given[key], known, f"{path}.{key}")
        return problems
    if isinstance(expected, list):
        if len(expected) != len(given):
            return [f"{path}: {len(given)} items, expected {len(expected)}: {given!r}"]
        return [p for i, e in enumerate(expected)
                for p in matches(e, given[i], known, f"{path}[{i}]")]
    if isinstance(expected, str) and "<" in expected:
        pattern = re.sub(r"<[a-z]+\d*>", lambda _: "\0", expected)
        pattern = re.escape(pattern).replace("\0", ".*").replace("\\\x00", ".*")
        return [] if re.fullmatch(pattern, given) else [f"{path}: {given!r}, expected {expected!r}"]
    return [] if expected == given else [f"{path}: {given!r}, expected {expected!r}"]


def fill(value, known):
    if isinstance(value, str):
        return re.sub(r"<[a-z]+\d*>", lambda m: str(known.get(m.group(0), m.group(0))), value)
    if isinstance(value, dict):
        return {key: fill(one, known) for key, one in value.items()}
    if isinstance(value, list):
        return [fill(one, known) for one in value]
    return value


def play(server, case, known):
    """One exchange of a data file; see README.md."""
    request, wanted = fill(case["request"], known), case["response"]
    target = request["path"] + ("?" + request["query"] if "query" in request else "")
    auth = {"ApiKey": "admin", "none": None}.get(request["auth"], request["auth"])
    fields = list(request.get("headers", {}).items())
    text = request.get("bodyText")
    if "contentType" in request:
        fields.append(("Content-Type", request["contentType"]))
    elif text is not None:
        fields.append(("Content-Type", "application/json"))
    response = server.ask(request["method"], target, auth, request.get("body"), text, fields)
    problems = []
    if response.status != wanted["status"]:
        problems.append(f"status {response.status}, expected {wanted['status']}: {response!r}")
        return problems
    for name, value in wanted.get("headers", {}).items():
        given = response.field(name)
        if given is None:
            problems.append(f"no field {name}")
        else:
            problems += matches(value, given, known, name)
    if "body" in wanted:
        problems += matches(wanted["body"], response.json(), known)
        for key, name in case.get("keep", {}).items():
            known[name] = response.json()[key]
    return problems


# ---- files ----------------------------------------------------------------------------------------


def multipart(parts, boundary="----B"):
    """The content type and the body of a form; a part has `headers` and `json`, `text`, `base64` or
    `zip`, a dictionary of file names and their JSON."""
    out = []
    for part in parts:
        if "zip" in part:
            content = zipped(part["zip"])
        elif "base64" in part:
            content = base64.b64decode(part["base64"])
        else:
            content = (part["text"] if "text" in part else json.dumps(part["json"])).encode()
        out.append(f"--{boundary}\r\n{part['headers']}\r\n\r\n".encode() + content + b"\r\n")
    return f'multipart/form-data; boundary="{boundary}"', b"".join(out) + f"--{boundary}--\r\n".encode()


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, str) else json.dumps(content))
    return out.getvalue()


def unzip(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


# ---- tokens -------------------------------------------------------------------------------------


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def signing_key(server):
    with sqlite3.connect(server.store.removeprefix("sqlite:")) as store:
        key, data = store.execute(
            "select id, data from pawl_documents where kind = 'signing-key'").fetchone()
    return key, base64.b64decode(json.loads(data)["secret"])


def sign(claims, secret, header=None):
    head = header or {"alg": "HS256", "typ": "JWT"}
    text = b64(json.dumps(head).encode()) + "." + b64(json.dumps(claims).encode())
    return text + "." + b64(hmac.new(secret, text.encode(), hashlib.sha256).digest())
