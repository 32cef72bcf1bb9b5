# SPDX-License-Identifier: Apache-2.0
import builtin


def prepare(play):
    builtin.install(play)


def expected(play, case):
    if case["name"] == "characters: raw bytes of the name member":
        response = dict(case["response"])
        response["bodyPart"] = response.pop("bodyText")
        return response
    return None
