"""Steers the fuzzer to things that there are, so that it meets more than missing ones.

The environment names a component to upload (FUZZ_COMPONENT). Of the flow `fuzz` the instances 1 to 4 are final: a stream of
their events ends by itself.
"""

import os
import random
import re

import schemathesis
from hypothesis import strategies
from schemathesis.generation.meta import TestPhase

LOCATION = schemathesis.core.parameters.ParameterLocation
if "WEDFLOW_FUZZ_API_SECONDS" not in os.environ:
    random.seed(1)

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


# Headers with a form, which the fuzzer's coverage phase fills with `0` when it tries other parts of a request.
FORMS = {
    "Content-Digest": r"sha-256=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:",
    "If-Match": r"\*|\"[0-9a-f]{1,64}\"",
    "If-None-Match": r"\*",
}


def drop_what_cannot_be_made_up(case):
    """Drops cursors, which are the server's own, and headers that miss their form and are not what is tried."""
    if case.query and is_good(case, LOCATION.QUERY):
        case.query.pop("cursor", None)
    phase = case.meta and case.meta.phase
    if not case.headers or not phase or phase.name is not TestPhase.COVERAGE:
        return
    for name, form in FORMS.items():
        is_tried = phase.data.parameter == name
        if name in case.headers and not is_tried and not re.fullmatch(form, str(case.headers[name])):
            del case.headers[name]


@schemathesis.hook
def filter_case(ctx, case):
    """Leaves out headers that HTTP itself mends: blanks around a value do not reach the server."""
    if not case.headers or is_good(case, LOCATION.HEADER):
        return True
    return all(str(value) == str(value).strip() for value in case.headers.values())


def shorten_wait(case):
    """Lets a request that may wait for minutes wait for a second: its instance never ends."""
    wait = (case.query or {}).get("wait")
    if wait is not None and is_good(case, LOCATION.QUERY) and str(wait).isdecimal() and int(wait) > 1:
        case.query["wait"] = 1


@schemathesis.hook
def before_call(ctx, case, kwargs):
    drop_what_cannot_be_made_up(case)
    shorten_wait(case)
    parameters = case.path_parameters
    if not parameters or not is_good(case, LOCATION.PATH):
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
