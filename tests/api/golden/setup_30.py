# SPDX-License-Identifier: Apache-2.0
"""Instances that wait for an event or a task, and a workflow that an event starts."""
from flows import (activity, await_sub_status, definition, event, literal, publish, rows, script,
                   sequence, start, variable, write_line)

V1 = variable("v1", "V1")
RESULT = {"typeName": "Object", "memoryReference": {"id": "v1"}}


def prepare(play):
    publish(
        play,
        definition("w", sequence("s", event("e", "Go", result=RESULT), write_line("b")),
                   variables=[V1]),
        definition("trig", sequence("s", event("e", "Start", customProperties={
            "canStartWorkflow": True}), write_line("b"))),
        definition("url", sequence("s", activity(
            "SetOutput", "u", outputName=literal("Url"),
            outputValue=script('createEventTriggerUrl("Go2")')), event("e", "Go2")),
            outputs=[{"type": "String", "name": "Url", "displayName": "Url", "description": "",
                      "category": ""}]),
        definition("task", sequence("s", activity(
            "RunTask", "t", taskName=literal("Do"), payload=script("({a: 1})"), result=RESULT)),
            variables=[V1]))
    play.known["<id1>"] = start(play, "w")


FINISHED = {"instance after asynchronous trigger": "<id1>",
            "instance after synchronous trigger": "<id4>", "instance after event for it": "<id5>",
            "instance after public event": "<id8>", "instance after task": "<id14>",
            "instance after resume": "<id21>", "instance after POST resume": "<id22>",
            "instance after async resume": "<id23>"}


def before(play, case):
    name = case["name"]
    if name == "trigger: synchronous":
        play.known["<id4>"] = start(play, "w")
    if name == "trigger: event name in other case":
        play.known["<id5>"] = start(play, "w")
    if name == "instance waiting for a task":
        play.known["<id14>"] = start(play, "task")
    if name in FINISHED and FINISHED[name] in play.known:
        await_sub_status(play, play.known[FINISHED[name]], "Finished")
