# SPDX-License-Identifier: Apache-2.0
"""Instances of a flowchart that waits for an event, in two versions, and one that faulted."""
from flows import (activity, await_sub_status, definition, event, literal, publish, rows, sequence,
                   start, variable, write_line)
from harness import within


def flowchart(version):
    parts = [write_line("a"), event("e", "Go"), write_line("b", f"version {version}")]
    lines = [{"source": {"activity": "a", "port": "Done"}, "target": {"activity": "e", "port": "In"}},
             {"source": {"activity": "e", "port": "Done"}, "target": {"activity": "b", "port": "In"}}]
    return definition("w", activity("Flowchart", "f", activities=parts, connections=lines),
                      variables=[variable("v1", "V1", "String", "abc")])


def prepare(play):
    publish(play, flowchart(1), definition("fault", sequence("s", activity(
        "Fault", "x", code=literal("E1"), category=literal("Test"), faultType=literal("Business"),
        message=literal("deliberate")))))
    play.known["<id1>"] = start(play, "w", "--correlation-id", "c1")
    play.known["<id18>"] = start(play, "w")
    play.known["<id19>"] = start(play, "w")
    play.known["<id25>"] = start(play, "w", "--correlation-id", "c4")
    publish(play, flowchart(2))


def before(play, case):
    name = case["name"]
    if name == "instances before retry (incident)":
        play.server.ask("POST", "/elsa/api/alterations/dry-run", body={})
        play.known["<id32>"] = play.server.command("start", "fault", "--id", "faulted", "--detach",
                                                   "--json") and "faulted"
        await_sub_status(play, "faulted", "Faulted")
    if name.startswith("plan after:") or name == "variables after plan":
        plan = play.known.get(case["request"]["path"].split("/")[-1], "my-plan")
        if name != "variables after plan":
            within(lambda: rows(play, "select status from pawl_plans where id = ?", plan)
                   == [("Completed",)], f"plan {plan}")
