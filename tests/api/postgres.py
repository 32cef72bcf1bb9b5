# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of a test's own (tests/servers/private_postgres)."""
import contextlib
import os
import signal
import subprocess

from harness import HANG_S, within

STARTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../servers/private_postgres")


class Postgres:
    """It ends with end(), or with the test."""

    def __init__(self):
        self.starter = subprocess.Popen([STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        line = self.starter.stdout.readline().split()
        if not line:
            raise RuntimeError("PostgreSQL did not start")
        self.pid, self.uri, self.count = int(line[0]), line[1], 0

    def database(self):
        """The URI of a new one."""
        self.count += 1
        name = f"store{self.count}"
        subprocess.run(["psql", "-q", self.uri, "-c", f"create database {name}"], check=True)
        return f"{self.uri.rsplit('/', 1)[0]}/{name}"

    @staticmethod
    def lock(uri, table):
        """Nobody reads or writes the table until the standard input of what it returns is closed."""
        psql = subprocess.Popen(["psql", "-qAt", uri], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)
        psql.stdin.write(f"begin; lock table {table} in access exclusive mode; select 'locked';\n")
        psql.stdin.flush()
        if psql.stdout.readline() != "locked\n":
            raise RuntimeError(f"{table} cannot be locked")
        return psql

    @staticmethod
    def await_waiting(uri):
        """Until somebody waits for a lock on a table."""
        query = "select count(*) from pg_locks where locktype = 'relation' and not granted"
        within(lambda: subprocess.run(["psql", "-qAt", uri, "-c", query], capture_output=True,
                                      text=True, check=True).stdout.strip() != "0",
               "somebody to wait for a lock")

    def send(self, number):
        """To the server and all that it has started: it goes on listening, and does nothing."""
        os.kill(self.pid, number)
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.pid)],
                                  capture_output=True, text=True, check=False).stdout.split()
        for pid in map(int, children):
            with contextlib.suppress(ProcessLookupError):  # it may have ended meanwhile
                os.kill(pid, number)

    def end(self):
        self.send(signal.SIGCONT)
        self.starter.stdin.close()
        self.starter.wait(HANG_S)
