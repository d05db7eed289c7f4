"""WED-transitions in Python.

A transition is a function from a state to a state. Decorate an ordinary function, build it with
``python -m wedflow.build``, and hand the component to a server::

    from dataclasses import dataclass
    from wedflow import transition

    @dataclass
    class Person:
        name: str
        visits: int | None

    @transition(writes={"greeting": str, "visits": int})
    def greet(person: Person):
        return {"greeting": f"Hello, {person.name}!", "visits": (person.visits or 0) + 1}
"""

from . import files, http, log
from .host import config, now, random, random_below, secret, sleep
from .http import fetch
from .outcome import Abort, Fail, Retry, sql
from .transitions import Job, Row, component, transition
from .types import Any, Bigint, Enum, Json, Kind
from .values import INFINITY, NEGATIVE_INFINITY, Interval
from .version import VERSION as __version__

__all__ = [
    "Abort",
    "Any",
    "Bigint",
    "Enum",
    "Fail",
    "INFINITY",
    "Interval",
    "Job",
    "Json",
    "Kind",
    "NEGATIVE_INFINITY",
    "Retry",
    "Row",
    "component",
    "config",
    "fetch",
    "files",
    "http",
    "log",
    "now",
    "random",
    "random_below",
    "secret",
    "sleep",
    "sql",
    "transition",
]
