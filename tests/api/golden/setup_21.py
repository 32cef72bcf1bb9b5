# SPDX-License-Identifier: Apache-2.0
"""Instances as files: what is imported is what this server exported, for times are not recorded."""
from workflows import VARIABLE, definition, event, sequence, store, write

EVERYTHING = "includeBookmarks=true&includeActivityExecutionLog=true&includeWorkflowExecutionLog=true"


def start(play, name):
    answer = play.server.ask("POST", f"/elsa/api/workflow-definitions/{name}/execute", body={})
    return answer.field("x-elsa-workflow-instance-id")


def prepare(play):
    store(play.server, definition("hello", sequence("s", write("a", "hello"))),
          definition("wait", sequence("s", event("e", "Go"), write("b", "2")),
                     variables=[VARIABLE]))
    play.known["<id1>"] = start(play, "wait")
    play.known["<id11>"] = start(play, "hello")


def before(play, case):
    path = f"/elsa/api/workflow-instances/{play.known['<id1>']}"
    if case["name"] == "import: existing instance":
        play.exported = play.server.ask("GET", f"{path}/export?{EVERYTHING}").json()
    for part in case["request"].get("multipart", ()):
        if "WorkflowState" in part.get("json", ()):
            part["json"] = play.exported
        if "workflowState" in part.get("json", ()):
            part["json"] = {key[0].lower() + key[1:]: value for key, value in play.exported.items()}
        if "zip" in part:
            part["zip"] = {"i.json": play.exported}
    # The recorded server replaces an instance that is there: here it is deleted before.
    if case["name"] in ("import: deleted instance", "import: zip"):
        play.server.ask("DELETE", path)
