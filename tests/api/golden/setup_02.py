# SPDX-License-Identifier: Apache-2.0
"""The recorded server had a user "admin" who may do everything."""
import base64
import json

import builtin

LOGIN = {"username": "admin", "password": "password"}


def part(token, index):
    text = token.split(".")[index]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def sign_in(play):
    return play.server.ask("POST", "/elsa/api/identity/login", None, LOGIN).json()


def prepare(play):
    builtin.install(play)
    play.server.ask("POST", "/elsa/api/identity/roles",
                    body={"id": "admin", "name": "admin", "permissions": ["*"]})
    play.server.ask("POST", "/elsa/api/identity/users",
                    body={"name": "admin", "password": "password", "roles": ["admin"]})
    play.tokens = sign_in(play)


def before(play, case):
    request, name = case["request"], case["name"]
    if "<token>" in request["auth"]:
        use = "refreshToken" if "refresh" in name and "access token" not in name.split(":")[-1] \
            else "accessToken"
        token = play.tokens["refreshToken" if name == "bearer refresh token as access token" else use]
        if "broken" in name:
            token = token[:-4] + "AAAA"
        request["auth"] = request["auth"].replace("<token>", token)
    if name.startswith("decoded"):
        request["body"] = LOGIN
    elif name == "login: spaces around":
        request["body"]["password"] = " password "


def adapt(play, case, expected, given, difference):
    """Of a token that was decoded: its head and its claims."""
    if not case["name"].startswith("decoded"):
        return expected, given
    token = given["accessToken" if "access" in case["name"] else "refreshToken"]
    claims = part(token, 1)
    for key in ("exp", "iat", "nbf"):
        claims[key] = str(claims[key])
    return expected, {"header": part(token, 0), "claims": claims}
