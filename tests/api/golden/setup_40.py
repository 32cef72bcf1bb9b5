# SPDX-License-Identifier: Apache-2.0
"""A definition that is usable as an activity, with an input, an output and outcomes."""
from flows import definition, publish, sequence, write_line


def prepare(play):
    publish(play, definition(
        "asact", sequence("s", write_line("a")), name="As Activity", description="Usable",
        inputs=[{"type": "String", "name": "In1", "displayName": "In 1", "description": "An input",
                 "category": "Primary", "uiHint": "singleline"}],
        outputs=[{"type": "Int32", "name": "Out1", "displayName": "Out 1",
                  "description": "An output", "category": "Primary"}],
        outcomes=["Yes", "No"],
        options={"usableAsActivity": True, "activityCategory": "Mine"}))


def adapt(play, case, expected, given, difference):
    """Of features: all that Pawl names are among those of the reference, in the same form."""
    if case["name"] != "features" or not difference.get("missing"):
        return expected, given
    names = [item["fullName"] for item in given["items"]]
    return ({"items": sorted((i for i in expected["items"] if i["fullName"] in names),
                             key=lambda i: i["fullName"]), "count": len(names)},
            {"items": sorted(given["items"], key=lambda i: i["fullName"]), "count": given["count"]})
