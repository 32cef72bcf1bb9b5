# SPDX-License-Identifier: Apache-2.0
"""The little T-SQL that clients of the double send: DECLARE, SET, IF, SELECT, EXEC, CREATE SEQUENCE.

run() is a coroutine that answers tokens as the server would send them.
"""
import re

import wire

TOKEN = re.compile(r"\s+|--[^\n]*|(?P<text>[Nn]?'(?:[^']|'')*')|(?P<number>-?\d+)"
                   r"|(?P<word>(?:@@|@|#)?[\w\[\]]+(?:\.[\w\[\]]+)*)|(?P<sign><>|>=|<=|!=|[=<>(),;*])")
WORDS = {"select", "exec", "execute", "if", "declare", "set", "use", "create", "begin", "end",
         "else", "waitfor", "return"}


class SqlError(Exception):
    """Number and text of an error that the server answers."""


class Sql:
    """One batch in one session."""

    def __init__(self, session, text):
        self.session, self.values, self.out = session, {}, b""
        self.tokens, self.at, end = [], 0, 0
        for match in TOKEN.finditer(text):
            if match.start() != end:
                break
            end = match.end()
            if match.lastgroup:
                self.tokens.append((match.lastgroup, match.group()))
        if end != len(text):
            raise SqlError(102, f"Incorrect syntax near '{text[end:end + 20]}'.")

    # ---- reading -------------------------------------------------------------------------------

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at][1].lower() if at < len(self.tokens) else ""

    def next(self):
        if self.at >= len(self.tokens):
            raise SqlError(102, "Incorrect syntax near the end.")
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, word):
        if self.peek() == word:
            self.at += 1
            return True
        return False

    def expect(self, word):
        if not self.accept(word):
            raise SqlError(102, f"Incorrect syntax near '{self.peek()}'.")

    def skip_statement(self):
        self.at += 1
        while self.peek() and self.peek() != ";" and self.peek() not in WORDS:
            self.at += 1

    # ---- expressions ---------------------------------------------------------------------------

    def primary(self):
        kind, text = self.next()
        word = text.lower()
        if kind == "text":
            return text[text.index("'") + 1:-1].replace("''", "'")
        if kind == "number":
            return int(text)
        if word == "next":
            self.expect("value")
            self.expect("for")
            return self.session.next_value(self.next()[1])
        if self.peek() == "(":
            return self.function(word)
        if word.startswith("@@"):
            return self.session.variable(word)
        if word.startswith("@"):
            return self.values.get(word)
        if word == "null":
            return None
        raise SqlError(207, f"Invalid column name '{text}'.")

    def function(self, word):
        arguments = []
        self.expect("(")
        while not self.accept(")"):
            # The type in CAST(x AS bigint), CONVERT(bigint, x): all numbers are bigint here.
            if self.peek() in ("bigint", "int", "nvarchar", "as", "nvarchar(2000)"):
                self.at += 1
                continue
            arguments.append(self.primary())
            self.accept(",")
        return self.session.function(word, arguments)

    def condition(self):
        left = self.primary()
        if self.accept("is"):
            negated = self.accept("not")
            self.expect("null")
            return (left is not None) if negated else (left is None)
        sign, right = self.next()[1], self.primary()
        return {"=": left == right, "<>": left != right, "!=": left != right,
                "<": left < right, ">": left > right,
                "<=": left <= right, ">=": left >= right}[sign]

    # ---- statements ----------------------------------------------------------------------------

    async def run(self):
        while self.peek():
            await self.statement(True)
        return self.out

    async def statement(self, wanted):
        word = self.peek()
        if word == ";":
            self.at += 1
        elif word == "select":
            self.select(wanted)
        elif word in ("exec", "execute"):
            await self.execute(wanted)
        elif word == "declare":
            self.declare()
        elif word == "if":
            self.at += 1
            holds = self.condition()
            await self.statement(wanted and holds)
            if self.accept("else"):
                await self.statement(wanted and not holds)
        elif word == "begin":
            self.at += 1
            while not self.accept("end"):
                await self.statement(wanted)
        elif word == "create":
            self.create(wanted)
        elif word in ("set", "use"):
            self.skip_statement()
        else:
            raise SqlError(2812, f"Could not find stored procedure '{self.next()[1]}'.")

    def declare(self):
        self.at += 1
        name = self.next()[1].lower()
        self.next()
        self.values[name] = self.primary() if self.accept("=") else None

    def create(self, wanted):
        self.at += 1
        self.expect("sequence")
        name = self.next()[1]
        while self.peek() and self.peek() != ";" and self.peek() not in WORDS:
            self.at += 1
        if wanted:
            self.session.create_sequence(name)

    def is_column(self):
        return (self.at < len(self.tokens) and self.tokens[self.at][0] == "word"
                and self.peek(1) in (",", "from")
                and not self.peek().startswith("@") and self.peek() != "null")

    def select(self, wanted):
        self.at += 1
        names, values = [], []
        if self.accept("top"):
            self.primary()
        while True:
            start = self.at
            if self.is_column():
                values.append(None)
                names.append(self.next()[1])
            else:
                value = self.primary() if wanted else self.skip_primary(start)
                values.append(value)
                names.append("")
            if self.accept("as"):
                names[-1] = self.next()[1]
            if not self.accept(","):
                break
        table, sample = [values], values
        if self.accept("from"):
            view = self.next()[1]
            while self.peek() and self.peek() != ";" and self.peek() not in WORDS:
                self.at += 1
            table, sample = self.session.view(view, names) if wanted else ([], values)
        if wanted:
            self.out += wire.rows(self.session.version, names, table, sample)
            self.out += wire.done(self.session.version, 0xFD, wire.DONE_MORE | wire.DONE_COUNT, 0xC1,
                                  len(table))

    def skip_primary(self, _start):
        depth = 0
        while self.peek() and (depth > 0 or self.peek() not in (",", ";", ")")):
            depth += {"(": 1, ")": -1}.get(self.peek(), 0)
            self.at += 1

    async def execute(self, wanted):
        self.at += 1
        into = None
        if self.peek().startswith("@") and self.peek(1) == "=":
            into = self.next()[1].lower()
            self.at += 1
        name, values = self.next()[1], {}
        while self.peek() and self.peek() != ";" and self.peek() not in WORDS:
            if self.peek().startswith("@") and self.peek(1) == "=":
                key = self.next()[1][1:].lower()
                self.at += 1
            else:
                key = str(len(values))
            values[key] = self.primary() if self.tokens[self.at][0] != "word" or self.peek()[0] == "@" \
                else self.next()[1]
            self.accept(",")
        if not wanted:
            return
        status, messages = await self.session.procedure(name, values)
        self.out += messages
        if into:
            self.values[into] = status
