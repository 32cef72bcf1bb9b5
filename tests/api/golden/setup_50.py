# SPDX-License-Identifier: Apache-2.0
"""The hub: an instance that waits, and conversations over a WebSocket."""
from harness import ADMIN, matches
from websocket import Hub, Refused, negotiate
from workflows import definition, event, sequence, store, write


def prepare(play):
    store(play.server, definition("wait", sequence("s", write("a", "1"), event("e", "Go"),
                                                   write("b", "2"))))
    answer = play.server.ask("POST", "/elsa/api/workflow-definitions/wait/execute", body={})
    play.known["<id1>"] = answer.field("x-elsa-workflow-instance-id")


def before(play, case):
    """What the recording's placeholders stand for."""
    play.known["<connection>"] = negotiate(play.server)["connectionToken"]
    if case["name"] == "websocket: unknown connection":
        play.known["<connection>"] = "nope"
    play.known["<token>"] = play.server.ask(
        "POST", "/elsa/api/identity/socket-tokens", body={}).json()["token"]


def resume(play, case):
    """What was done outside after the client had observed: the event that the instance waits for."""
    if case["name"] == "websocket: observe and resume":
        play.server.ask("POST", "/elsa/api/events/Go/trigger", body={})


def converse(play, case, messages):
    """Sends what the client sent, and compares what comes; returns problems."""
    request = case["request"]
    query = request["query"].replace("<connection>", play.known["<connection>"])
    query = query.replace("<token>", play.known["<token>"])
    auth = None if request["auth"] == "none" else f"ApiKey {ADMIN}"
    try:
        hub = Hub(play.server, auth, query)
    except Refused as refused:
        return refused.response.status, []
    problems, resumed = [], False
    for number, message in enumerate(messages):
        if "client" in message:
            text = message["client"]
            if text.get("arguments") == ["<id1>"]:
                text = {**text, "arguments": [play.known["<id1>"]]}
            hub.send(text)
            continue
        if message["server"].get("type") == 1 if isinstance(message["server"], dict) else False:
            if not resumed:
                resume(play, case)
            resumed = True
        problems += matches(message["server"], hub.receive(), play.known, f"$[{number}]")
    hub.close()
    return 101, problems


def exchange(play, case):
    """Of a WebSocket: its status and what differs; None: it is an ordinary request."""
    if case["request"].get("upgrade") != "websocket":
        return None
    return converse(play, case, case["response"]["messages"])
