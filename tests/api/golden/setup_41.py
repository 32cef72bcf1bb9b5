# SPDX-License-Identifier: Apache-2.0
"""Types of activities: the recording is sorted; a difference names what is only here or only there."""


def types(items, without):
    return sorted((item for item in items if item["typeName"] not in without),
                  key=lambda item: item["typeName"])


def adapt(play, case, expected, given, difference):
    if case["name"] == "activities":
        left_out = difference.get("missing", []) + difference.get("more", [])
        return ({"items": types(expected["items"], left_out), "count": expected["count"]},
                {"items": types(given["items"], left_out), "count": given["count"]})
    if case["name"] == "Refresh=True: same list?":
        play.again = given
        return expected, {"count": given["count"], "sameSet": given["items"] == play.first}
    return expected, {"items": "<as above>" if given == play.again else given["items"],
                      "count": given["count"]}


def before(play, case):
    if case["name"] != "activities" and not hasattr(play, "first"):
        play.first = play.server.ask("GET", "/elsa/api/descriptors/activities").json()["items"]
