# SPDX-License-Identifier: Apache-2.0
"""Instances that wait for an event or a task, and a workflow that an event starts."""
from flows import (activity, await_sub_status, definition, event, literal, publish, rows, script,
                   sequence, start, variable, write_line)
from harness import within

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


def token(play, instance, **more):
    bookmark = rows(play, "select id from pawl_bookmarks where instance_id = ?", instance)[0][0]
    made = play.server.ask("POST", "/pawl/api/links", body={
        "bookmarkId": bookmark, "workflowInstanceId": instance, **more})
    return made.json()["token"]


# Before these exchanges a new instance waits, whose token they have.
NEW = {"resume: bad input": "<id21>", "resume: POST malformed": "<id22>",
       "resume: POST too large": "<id23>", "resume: expired token": None,
       "resume: POST no body": None}


def use_token(case, text):
    query = case["request"].get("query", "")
    for kind in ("ne", "tl"):
        query = query.replace(f"v1.{kind}.<token>", text)
    case["request"]["query"] = query


def before(play, case):
    name = case["name"]
    if name in NEW:
        instance = start(play, "w")
        play.token = token(play, instance, **({"lifeSeconds": 1} if "expired" in name else {}))
        if NEW[name]:
            play.known[NEW[name]] = instance
    if name == "resume: expired token":
        within(lambda: play.server.ask("GET", f"/elsa/api/bookmarks/resume?t={play.token}&in=%7B",
                                       None).text().find("Invalid token") > 0, "its end")
    if name.startswith("resume:") and "<token>" in case["request"].get("query", ""):
        use_token(case, play.token)
    if name == "resume: POST too large":
        del case["request"]["bodyText"]
        case["request"]["body"] = {"input": {"x": "y" * 1100000}}
    if name.startswith("public event url"):
        output = rows(play, "select id from pawl_instances where definition_id = 'url'")[0][0]
        shown = play.server.ask("GET", f"/elsa/api/workflow-instances/{output}").json()
        url = shown["workflowState"]["output"].get("Url", play.url if hasattr(play, "url") else "")
        play.url = url
        use_token(case, url.split("?t=")[-1])
    if name == "trigger: synchronous":
        play.known["<id4>"] = start(play, "w")
    if name == "trigger: event name in other case":
        play.known["<id5>"] = start(play, "w")
    if name == "instance waiting for a task":
        play.known["<id14>"] = start(play, "task")
    if name in FINISHED and FINISHED[name] in play.known:
        await_sub_status(play, play.known[FINISHED[name]], "Finished")
