# SPDX-License-Identifier: Apache-2.0
"""A workflow that runs through, and an instance that waits for an event."""
from flows import await_sub_status, definition, event, publish, sequence, start, write_line


def prepare(play):
    publish(play, definition("hello", sequence("s", write_line("a"))),
            definition("w", sequence("s", event("e", "Go"))))
    play.known["<id5>"] = start(play, "w")


def before(play, case):
    if case["name"] == "instance after runtime resume":
        await_sub_status(play, play.known["<id5>"], "Finished")
