# SPDX-License-Identifier: Apache-2.0
"""Workflows that are HTTP endpoints."""
import time

from workflows import activity, definition, fault, literal, script, sequence, store


def endpoint(name, path, *methods, starts=True, **members):
    listed = ",".join(f'"{method}"' for method in methods or ("GET",))
    return activity(
        name, "HttpEndpoint", path=literal(path),
        supportedMethods={"typeName": "String[]",
                          "expression": {"type": "Object", "value": f"[{listed}]"}},
        customProperties={"canStartWorkflow": starts}, **members)


def respond(name, text):
    return activity(name, "WriteHttpResponse", content=literal(text, "Object"),
                    contentType=literal("text/plain"))


def prepare(play):
    store(
        play.server,
        definition("h", sequence("s", endpoint("e", "hello"), respond("r", "Hello"))),
        definition("p", sequence(
            "s", endpoint("e", "items/{id}", "GET", "POST",
                          parsedContent={"typeName": "Object", "memoryReference": {"id": "v1"}}),
            activity("r", "WriteHttpResponse", statusCode=literal("Created", "HttpStatusCode"),
                     content=script("({r: getOutputFrom('e', 'RouteData'), b: getBody()})",
                                    "Object"),
                     contentType=literal("application/json"))),
            variables=[{"id": "v1", "name": "Body", "typeName": "Object", "isArray": False}]),
        definition("n", sequence("s", endpoint("e", "noresponse"))),
        definition("f", sequence("s", endpoint("e", "fault"), fault("x"))),
        definition("a", sequence(
            "s", endpoint("e", "secured", authorize=literal(True, "Boolean")),
            respond("r", "in"))),
        definition("mid", sequence(
            "s", endpoint("e1", "first"), respond("r1", "one"),
            endpoint("e2", "second", starts=False), respond("r2", "two"))))


def before(_play, _case):
    time.sleep(0.005)  # the list at the end is ordered by time, and the store's clock knows milliseconds
