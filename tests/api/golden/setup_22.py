# SPDX-License-Identifier: Apache-2.0
"""Journals: of one that waits, one that faulted, a parent with its child."""
from harness import within
from workflows import (VARIABLE, activity, definition, event, fault, flowchart, literal, sequence,
                       store, write)

NEW = {"typeName": "Object", "expression": {"type": "Literal", "value": "new"}}


def start(play, name):
    answer = play.server.ask("POST", f"/elsa/api/workflow-definitions/{name}/execute", body={})
    return answer.field("x-elsa-workflow-instance-id")


def prepare(play):
    inner = sequence("s", write("b", "2"), activity(
        "so", "SetVariable", variable={"id": "v1", "name": "V1", "typeName": "Object"}, value=NEW))
    branch = activity("if1", "If", condition=literal(True, "Boolean"), then=inner)
    store(play.server,
          definition("w", flowchart("f", write("a", "1"), branch, event("e", "Go"), write("c", "3")),
                     variables=[{**VARIABLE, "value": None}]),
          definition("fault", sequence("s", write("a", "1"), fault("x"))),
          definition("child", sequence("cs", write("cw", "c"))),
          definition("parent", sequence("ps", activity(
              "x", "ExecuteWorkflow", workflowDefinitionId=literal("child"),
              waitForCompletion=literal(True, "Boolean")))))
    play.known["<id1>"] = start(play, "w")
    play.known["<id24>"] = start(play, "fault")
    play.known["<id37>"] = start(play, "parent")
    path = f"/elsa/api/workflow-instances/{play.known['<id37>']}"
    within(lambda: play.server.ask("GET", path).json()["status"] == "Finished", "the parent's end")
    # Lists over all instances, by which the recording learned these, are refused here.
    learn(play, "<id37>", "<id38>", "<id39>", "<id41>")
    started = executions(play, "<id37>")[2]["outputs"]["Result"]["workflowInstanceId"]
    play.known["<id40>"] = started
    learn(play, "<id40>", "<id42>", "<id43>", "<id44>")


def executions(play, instance):
    query = f"workflowInstanceId={play.known[instance]}"
    return play.server.ask("GET", f"/elsa/api/activity-executions/list?{query}").json()["items"]


def learn(play, instance, *placeholders):
    for placeholder, execution in zip(placeholders, executions(play, instance)):
        play.known[placeholder] = execution["id"]
