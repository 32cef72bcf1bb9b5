# SPDX-License-Identifier: Apache-2.0
import builtin
from making import activity, line, save, sequence


def prepare(play):
    builtin.install(play)
    used = {"usableAsActivity": True}
    play.known["<id2>"] = save(play, "c", "The Child", sequence(line("w", "c")), options=used)
    play.known["<id3>"] = save(play, "p", "The Parent", sequence(activity(
        "k", "TheChild", workflowDefinitionId="c",
        workflowDefinitionVersionId=play.known["<id2>"])))
    save(play, "c", "The Child draft", sequence(line("w", "d")), False, options=used)


def before(play, case):
    if case["name"] == "import: the export, definition was deleted":
        for id_ in ("c", "p"):
            assert play.server.ask("DELETE", f"/elsa/api/workflow-definitions/{id_}").status == 204


def expected(play, case):
    response = builtin.expected(case["response"])
    if case["name"] == "all afterwards":
        # Three have no name: they are in the order of their ids, which are random.
        for item in response["body"]["items"][:3]:
            item["id"] = item["definitionId"] = "<varies>"
    return response
