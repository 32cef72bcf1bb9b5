# SPDX-License-Identifier: Apache-2.0
"""Definitions that the recorded servers had."""
import time

from harness import within


def activity(id_, type_, **more):
    return {"id": id_, "type": type_, "version": 1, "name": id_, **more}


def literal(value, type_="String"):
    return {"typeName": type_, "expression": {"type": "Literal", "value": value}}


def line(id_, text):
    return activity(id_, "Elsa.WriteLine", text=literal(text))


def sequence(*activities):
    return activity("s", "Elsa.Sequence", activities=list(activities))


def save(play, id_, name, root, publish=True, **more):
    """Returns the id of the version. No two are made in one millisecond, so that they have an order."""
    before = time.time_ns() // 1000000
    within(lambda: time.time_ns() // 1000000 > before, "the next millisecond")
    model = {"definitionId": id_, "name": name, "root": root, **more}
    body = {"model": model, "publish": publish}
    response = play.server.ask("POST", "/elsa/api/workflow-definitions", body=body)
    assert response.status == 200, response
    return response.json()["workflowDefinition"]["id"]
