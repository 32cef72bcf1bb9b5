# SPDX-License-Identifier: Apache-2.0
"""Tokens were signed by the recording with the server's key; here users have the permissions."""
import time

import builtin
from harness import decode, sign, signing_key

API = "/elsa/api/identity"


def token_of(play, permissions):
    name = f"user-{len(play.tokens)}"
    play.server.ask("POST", f"{API}/roles", body={
        "id": name, "name": name, "permissions": [permissions] if permissions else []})
    play.server.ask("POST", f"{API}/users",
                    body={"name": name, "password": "secret-1", "roles": [name]})
    return play.server.ask("POST", f"{API}/login", None,
                           {"username": name, "password": "secret-1"}).json()["accessToken"]


def prepare(play):
    builtin.install(play)
    play.tokens = {}


def wanted_permissions(name):
    permissions = name.removeprefix("permissions ").rsplit(": ", 1)[0]
    return "" if permissions == "none" else permissions


def before(play, case):
    request, name = case["request"], case["name"]
    if name.startswith("permissions "):
        permissions = wanted_permissions(name)
        if permissions not in play.tokens:
            play.tokens[permissions] = token_of(play, permissions)
        request["auth"] = f"Bearer {play.tokens[permissions]}"
    elif name == "hub negotiate without read:workflow-instances":
        request["auth"] = f"Bearer {token_of(play, 'read:workflow-definitions')}"
    elif name in ("expired token", "token without token_use"):
        claims = decode(play.tokens["*"])
        if name == "expired token":
            claims["exp"] = int(time.time()) - 1
        else:
            del claims["token_use"]
        request["auth"] = f"Bearer {sign(claims, signing_key(play.server)[1])}"


def adapt(play, case, expected, given, difference):
    """A user without a name stands in a list where its id, which is made, happens to be."""
    if case["name"] == "users after":
        given["users"].sort(key=lambda user: user.get("name", ""))
    return expected, given
