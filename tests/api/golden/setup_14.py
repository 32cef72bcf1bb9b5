# SPDX-License-Identifier: Apache-2.0
"""Executing definitions: one of each kind of end."""
from workflows import (VARIABLE, activity, definition, event, fault, flowchart, literal, script,
                       sequence, store, write)


def prepare(play):
    store(
        play.server,
        definition("hello", sequence("s", write("a", "hello"))),
        definition("io", sequence("s", activity(
            "o", "SetOutput", outputName=literal("Out1"),
            outputValue=script("getInput('In1') + '!'", "Object"))),
            inputs=[{"type": "Object", "name": "In1", "displayName": "In1"}],
            outputs=[{"type": "Object", "name": "Out1", "displayName": "Out1"}]),
        definition("wait", flowchart("f", write("a", "1"), event("e", "Go"), write("b", "2")),
                   variables=[VARIABLE]),
        definition("fault", sequence("s", write("a", "1"), fault("x"))),
        definition("jsfault", sequence("s", activity("w", "WriteLine", text=script("nope")))),
        definition("empty", sequence("s")),
        definition("names", sequence(
            "s", activity("n", "SetName", value=literal("Renamed")),
            activity("c", "Correlate", correlationId=literal("corr-2")))),
        drafts=[definition("draft", sequence("s", write("a", "draft")))])
