# SPDX-License-Identifier: Apache-2.0
"""What the set-ups share: definitions in short, and instances of them, by the command line."""
import json
import os
import sqlite3

from harness import HANG_S, within


def literal(value, kind="String"):
    return {"typeName": kind, "expression": {"type": "Literal", "value": value}}


def script(value, kind="Object"):
    return {"typeName": kind, "expression": {"type": "JavaScript", "value": value}}


def activity(kind, name, **members):
    return {"id": name, "name": name, "type": f"Elsa.{kind}", "version": 1, **members}


def write_line(name, text="hi"):
    return activity("WriteLine", name, text=literal(text))


def event(name, event_name, **members):
    return activity("Event", name, eventName=literal(event_name), **members)


def sequence(name, *activities):
    return activity("Sequence", name, activities=list(activities))


def variable(name, title, kind="Object", value=None):
    return {"id": name, "name": title, "typeName": kind, "isArray": False, "value": value,
            "storageDriverTypeName": "WorkflowInstanceStorageDriver"}


def definition(definition_id, root, **members):
    return {"definitionId": definition_id, "name": definition_id, "root": root, **members}


def publish(play, *definitions):
    """Each in a file of its own, one after another."""
    for number, one in enumerate(definitions):
        path = os.path.join(play.server.folder, f"definition-{one['definitionId']}-{number}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(one, file)
        play.server.command("publish", path)


def start(play, name, *arguments):
    """A new instance's id; it runs in a process of its own until it waits or has ended."""
    return json.loads(play.server.command("start", name, "--json", *arguments))["id"]


def rows(play, query, *values):
    """Of a store that is SQLite."""
    with sqlite3.connect(play.server.store.removeprefix("sqlite:"), timeout=HANG_S) as store:
        return store.execute(query, values).fetchall()


def sub_status(play, instance):
    found = rows(play, "select sub_status from pawl_instances where id = ?", instance)
    return found[0][0] if found else None


def await_sub_status(play, instance, wanted):
    within(lambda: sub_status(play, instance) == wanted, f"{instance} to be {wanted}")
