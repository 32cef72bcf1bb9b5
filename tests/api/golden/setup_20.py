# SPDX-License-Identifier: Apache-2.0
"""Instances: five at first, others when the recording has them."""
import time

from harness import within
from workflows import VARIABLE, definition, event, fault, sequence, store, write

START = {
    "<id8>": ("hello", {"correlationId": "corr-A", "name": "Zed"}),
    "<id7>": ("wait", {"correlationId": "corr-B", "name": "abc"}),
    "<id5>": ("fault", {}),
    "<id3>": ("hello", {"name": "Mid"}),
    "<id1>": ("wait", {"correlationId": "corr-B"}),
}


def start(play, name, body):
    answer = play.server.ask("POST", f"/elsa/api/workflow-definitions/{name}/execute", body=body)
    return answer.field("x-elsa-workflow-instance-id")


def prepare(play):
    store(play.server, definition("hello", sequence("s", write("a", "hello"))),
          definition("wait", sequence("s", write("a", "1"), event("e", "Go"), write("b", "2")),
                     variables=[VARIABLE]),
          definition("fault", sequence("s", fault("x"))))
    for placeholder, (name, body) in START.items():
        play.known[placeholder] = start(play, name, body)
        time.sleep(0.005)  # lists are ordered by time, and the store's clock knows milliseconds


def ended(play, placeholder):
    path = f"/elsa/api/workflow-instances/{play.known[placeholder]}/execution-state"
    within(lambda: play.server.ask("GET", path).json()["status"] == "Finished", "its end")


def all_ended(play):
    """Cancellations that were asked for are carried out in the background."""
    within(lambda: play.server.ask("POST", "/elsa/api/workflow-instances", body={
        "status": "Running"}).json()["totalCount"] == 0, "the ends of what was cancelled")


def before(play, case):
    if case["name"] == "list: search by part of an instance id":
        # Ids made in the same moment begin alike here: their ends tell them apart.
        case["request"]["body"]["searchTerm"] = play.known["<id8>"][-12:]
    if case["name"] == "state after cancel":
        ended(play, "<id7>")
    if case["name"] in ("bulk cancel: ids", "bulk cancel: definition id with version options",
                        "bulk cancel: definition version id", "bulk cancel: as Studio",
                        "list: running ones after bulk cancel"):
        all_ended(play)
    if case["name"] == "bulk cancel: ids":
        play.known["<id17>"] = start(play, "wait", {})
        play.known["<id18>"] = start(play, "wait", {})
    if case["name"] == "bulk cancel: definition id with version options":
        start(play, "wait", {})
        start(play, "wait", {})
    if case["name"] == "bulk cancel: definition version id":
        start(play, "wait", {})
    if case["name"] == "delete a running one":
        play.known["<id19>"] = start(play, "wait", {})
