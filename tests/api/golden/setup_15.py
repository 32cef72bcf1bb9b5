# SPDX-License-Identifier: Apache-2.0
"""Dispatching: what was dispatched is looked at when it has ended."""
from harness import fill, within
from workflows import definition, fault, sequence, store, write


def prepare(play):
    store(play.server, definition("hello", sequence("s", write("a", "hello"))),
          definition("fault", sequence("s", fault("x"))),
          drafts=[definition("draft", sequence("s", write("a", "draft")))])


def before(play, case):
    request = fill(case["request"], play.known)
    if request["method"] == "GET":
        within(lambda: play.server.ask("GET", request["path"]).json()["status"] == "Finished",
               "the end of what was dispatched")
