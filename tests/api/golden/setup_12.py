# SPDX-License-Identifier: Apache-2.0
import builtin
from making import activity, line, literal, save, sequence


def prepare(play):
    builtin.install(play)
    save(play, "a", "A", sequence(line("w", "1")), False)
    for name in "XYZ":
        save(play, name.lower(), name, sequence(), False)
    methods = {"typeName": "String[]", "expression": {"type": "Object", "value": '["GET"]'}}
    save(play, "h1", "H1", sequence(activity(
        "e", "Elsa.HttpEndpoint", path=literal("same"), supportedMethods=methods,
        customProperties={"canStartWorkflow": True})))


def before(play, case):
    if case["name"] == "draft beside the published version":
        save(play, "a", "A2", sequence(line("w", "2")), False)
    elif case["name"] == "revert to 1":
        play.known["<id6>"] = play.server.command("start", "a").split()[0]
    elif case["name"] == "publish validation: path in use (save)":
        # Elsa did not store it: it knows that another one has the path.
        play.server.ask("DELETE", "/elsa/api/workflow-definitions/h2")
    elif case["name"] == "bulk publish again":
        play.server.ask("POST", "/elsa/api/workflow-definitions/h2/retract", body={})


def expected(play, case):
    response = builtin.expected(case["response"])
    if case["name"] == "refresh all":
        response["body"]["refreshed"] = ["<varies>"] * 8  # in no order
    return response
