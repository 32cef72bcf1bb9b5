# SPDX-License-Identifier: Apache-2.0
import builtin
from making import activity, line, literal, save, sequence


def nested():
    inner = activity("f2", "Elsa.Flowchart", activities=[line("w1", "in")], connections=[])
    branch = activity("if1", "Elsa.If", condition=literal("True", "Boolean"), then=inner)
    return activity("f", "Elsa.Flowchart", activities=[branch, line("w2", "out")], connections=[
        {"source": {"activity": "if1", "port": "Done"},
         "target": {"activity": "w2", "port": "In"}}])


def prepare(play):
    builtin.install(play)
    names = ["Beta", "alpha", "Gamma", "delta", "\u00c9psilon"]
    for i, name in enumerate(names):
        save(play, f"d{i}", name, sequence(line("a", "x")), i % 2 == 0, description=f"text {i}")
    save(play, "d0", "Beta draft", sequence(), False)
    play.known["<id5>"] = save(play, "nested", "Nested", nested())
    save(play, "quux", "Omega", sequence())
    play.known["<id3>"] = save(play, "child", "Child", sequence(line("w", "c")),
                               options={"usableAsActivity": True})
    play.known["<id7>"] = save(play, "parent", "Parent", sequence(
        activity("c", "Child", workflowDefinitionId="child",
                 workflowDefinitionVersionId=play.known["<id3>"])))


def before(play, case):
    if case["name"] == "two workflows as activities: node ids":
        use = {"workflowDefinitionId": "child",
               "workflowDefinitionVersionId": play.known["<id3>"]}
        save(play, "two", "Two", sequence(activity("c1", "Child", **use),
                                          activity("c2", "Child", **use)))


def expected(play, case):
    response = builtin.expected(case["response"])
    if case["name"] == "list: order orderBy=Version":
        # Those of one number are in the order of their ids, which are random.
        response["body"]["items"][1:] = ["<varies>"] * 3
    return response
