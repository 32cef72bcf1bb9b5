# SPDX-License-Identifier: Apache-2.0
"""Definitions that recorded servers had, and a way to store them."""
import json


def literal(value, kind="String"):
    return {"typeName": kind, "expression": {"type": "Literal", "value": value}}


def script(text, kind="String"):
    return {"typeName": kind, "expression": {"type": "JavaScript", "value": text}}


def activity(name, kind, **members):
    return {"id": name, "name": name, "type": f"Elsa.{kind}", "version": 1, **members}


def write(name, text):
    return activity(name, "WriteLine", text=literal(text))


def event(name, event_name):
    return activity(name, "Event", eventName=literal(event_name))


def fault(name):
    return activity(name, "Fault", code=literal("E1"), category=literal("Test"),
                    faultType=literal("Business"), message=literal("deliberate"))


def sequence(name, *activities):
    return activity(name, "Sequence", activities=list(activities))


def flowchart(name, *activities):
    """Each activity is followed by the next one."""
    ends = [{"source": {"activity": one["id"], "port": "Done"},
             "target": {"activity": other["id"], "port": "In"}}
            for one, other in zip(activities, activities[1:])]
    return activity(name, "Flowchart", activities=list(activities), connections=ends)


VARIABLE = {"id": "v1", "name": "V1", "typeName": "Object", "isArray": False, "value": "abc",
            "storageDriverTypeName": "WorkflowInstanceStorageDriver"}


def definition(name, root, **members):
    return {"definitionId": name, "name": name, "root": root, **members}


def store(server, *definitions, drafts=()):
    """Publishes them, and stores drafts as they are."""
    for one in definitions:
        server.command("publish", "-", stdin=json.dumps(one))
    for one in drafts:
        server.command("import", "-", stdin=json.dumps(
            {**one, "id": f"{one['definitionId']}-1", "version": 1, "isLatest": True,
             "isPublished": False}))
