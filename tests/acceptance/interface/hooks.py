"""Steers the fuzzer to things that there are, so that it meets more than missing ones.

The environment names a component to upload (FUZZ_COMPONENT). Of the flow `fuzz` the instances 1 to 4 are final: a stream of
their events ends by itself.
"""

import os
import random
import re

import schemathesis
from hypothesis import strategies

with open(os.environ["FUZZ_COMPONENT"], "rb") as file:
    COMPONENT = file.read()

schemathesis.openapi.media_type("application/wasm", strategies.just(COMPONENT))
schemathesis.openapi.media_type(
    "application/toml", strategies.sampled_from([b'name = "fuzz"\n', b"name = fuzz", b"\xff"])
)


@schemathesis.serializer("application/wasm", "application/toml")
def raw(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode()


def is_good(case, part):
    """Whether the fuzzer means this part of a request to be right."""
    meta = case.meta
    if meta is None:
        return True
    component = meta.components.get(part)
    return component is None or component.mode.is_positive


# Headers whose form the fuzzer does not keep to when it means them to be right, and what they look like.
FORMS = {
    "Content-Digest": r"sha-256=:[A-Za-z0-9+/]{43}=:",
    "If-Match": r"\*|\"[0-9a-f]+\"",
    "If-None-Match": r"\*",
}


def drop_what_cannot_be_made_up(case):
    """Cursors are the server's own, and so are digests."""
    location = schemathesis.core.parameters.ParameterLocation
    if case.query and is_good(case, location.QUERY):
        case.query.pop("cursor", None)
    if case.headers:
        for name, form in FORMS.items():
            if name in case.headers and not re.fullmatch(form, str(case.headers[name])):
                del case.headers[name]


@schemathesis.hook
def before_call(ctx, case, kwargs):
    drop_what_cannot_be_made_up(case)
    parameters = case.path_parameters
    if not parameters or not is_good(case, schemathesis.core.parameters.ParameterLocation.PATH):
        return
    # What the other requests need stays.
    removes = case.method.upper() == "DELETE"
    if "flow" in parameters and not removes and random.random() < 0.7:
        parameters["flow"] = "fuzz"
    if "wid" in parameters and (case.path.endswith("/events") and case.method.upper() == "GET"):
        parameters["wid"] = random.randint(1, 4)
    elif "wid" in parameters and random.random() < 0.7:
        parameters["wid"] = random.randint(1, 12)
    if "component" in parameters and random.random() < 0.7:
        parameters["component"] = "fuzz"
