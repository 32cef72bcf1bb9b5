# SPDX-License-Identifier: Apache-2.0
"""Application locks as SQL Server keeps them: who holds what, who waits, first come first served."""
import asyncio
import itertools

GRANTED, GRANTED_LATER, TIMED_OUT, CANCELLED, DEADLOCK, FAILED = 0, 1, -1, -2, -3, -999
MODES = ("Shared", "Update", "IntentShared", "IntentExclusive", "Exclusive")
# Each mode with those it can stand beside.
BESIDE = {
    "Shared": {"Shared", "Update", "IntentShared"},
    "Update": {"Shared", "IntentShared"},
    "IntentShared": {"Shared", "Update", "IntentShared", "IntentExclusive"},
    "IntentExclusive": {"IntentShared", "IntentExclusive"},
    "Exclusive": set(),
}


class Waiter:
    def __init__(self, session, mode):
        self.session, self.mode = session, mode
        self.answer = asyncio.get_running_loop().create_future()


class Locks:
    """Sessions are numbers. Nothing waits in here but acquire()."""

    def __init__(self):
        self.held = {}  # name -> {session: [mode, …]}
        self.waiting = {}  # name -> [Waiter, …], in the order they came
        self.sequences = {}
        self.counter = itertools.count(1)

    def is_free(self, name, session, mode):
        return all(other == session or all(have in BESIDE[mode] for have in modes)
                   for other, modes in self.held.get(name, {}).items())

    def mode_of(self, name, session):
        """What APPLOCK_MODE says: the strongest."""
        modes = self.held.get(name, {}).get(session, [])
        return max(modes, key=MODES.index) if modes else "NoLock"

    def take(self, name, session, mode):
        self.held.setdefault(name, {}).setdefault(session, []).append(mode)

    def test(self, name, session, mode):
        return self.is_free(name, session, mode)

    async def acquire(self, name, session, mode, timeout_ms):
        """The return code of sp_getapplock."""
        queue = self.waiting.setdefault(name, [])
        if self.is_free(name, session, mode) and not queue:
            self.take(name, session, mode)
            return GRANTED
        if timeout_ms == 0:
            return TIMED_OUT
        waiter = Waiter(session, mode)
        queue.append(waiter)
        try:
            return await asyncio.wait_for(asyncio.shield(waiter.answer),
                                          None if timeout_ms < 0 else timeout_ms / 1000)
        except asyncio.TimeoutError:
            return waiter.answer.result() if waiter.answer.done() else TIMED_OUT
        finally:
            if waiter in queue:
                queue.remove(waiter)
            self.grant(name)

    def grant(self, name):
        queue = self.waiting.get(name, [])
        while queue and self.is_free(name, queue[0].session, queue[0].mode):
            waiter = queue.pop(0)
            self.take(name, waiter.session, waiter.mode)
            waiter.answer.set_result(GRANTED_LATER)

    def release(self, name, session):
        """False: not held, error 1223."""
        modes = self.held.get(name, {}).get(session)
        if not modes:
            return False
        modes.pop()
        if not modes:
            del self.held[name][session]
        self.grant(name)
        return True

    def end(self, session):
        """The session is gone, and everything it held."""
        for name in list(self.held):
            if self.held[name].pop(session, None) is not None:
                self.grant(name)

    def next_value(self, sequence):
        self.sequences[sequence] += 1
        return self.sequences[sequence]

    def count_waiting(self):
        return sum(len(queue) for queue in self.waiting.values())
