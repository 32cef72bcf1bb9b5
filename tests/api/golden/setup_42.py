# SPDX-License-Identifier: Apache-2.0
"""A sequence of activities of all kinds, none of which is run as a workflow."""
from flows import (activity, definition, event, literal, publish, rows, script, sequence, variable,
                   write_line)


def prepare(play):
    publish(play, definition("w", sequence(
        "s", write_line("a"), activity("WriteLine", "b", text=script("1 + 2", "String")),
        activity("Fault", "x", code=literal("E1"), category=literal("Test"),
                 faultType=literal("Business"), message=literal("deliberate")),
        activity("WriteLine", "bad", text=script("nope", "String")), event("e", "Go"),
        activity("SetVariable", "sv", variable={"id": "v1", "name": "V1", "typeName": "Object"},
                 value=literal("x", "Object")),
        activity("RunJavaScript", "rj", script=literal('setOutcome("Z"); return {a: 1}'))),
        variables=[variable("v1", "V1")]))
    play.known["<id1>"] = rows(play, "select id from pawl_definitions")[0][0]
