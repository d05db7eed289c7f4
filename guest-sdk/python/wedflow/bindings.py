"""The component's side: what the bindings call. Imported only while a component is built."""

from __future__ import annotations

import linecache
import sys

import wit_world
from componentize_py_types import Err
from wit_world.imports import files, host, http, types, values

from . import host as asked
from . import log
from .files import FileError
from .http import FetchError, Response
from .outcome import Fail, sql
from .transitions import Job, Transition, Wire, component_name, perform, transition, transitions
from .values import READ
from .version import VERSION

_SEVERITIES = {
    "debug": host.Severity.DEBUG,
    "info": host.Severity.INFO,
    "warn": host.Severity.WARN,
    "error": host.Severity.ERROR,
}

_TAGS = {
    values.Scalar_Text: "text",
    values.Scalar_Integer: "integer",
    values.Scalar_Bigint: "bigint",
    values.Scalar_Numeric: "numeric",
    values.Scalar_Float: "float",
    values.Scalar_Boolean: "boolean",
    values.Scalar_Timestamptz: "timestamptz",
    values.Scalar_Date: "date",
    values.Scalar_Interval: "interval",
    values.Scalar_Uuid: "uuid",
    values.Scalar_Jsonb: "jsonb",
}
_SCALARS = {tag: scalar for scalar, tag in _TAGS.items()}
_READ = {scalar: READ[tag] for scalar, tag in _TAGS.items()}
_NULL = values.Scalar_Null()
_TRANSITIONS = transitions()

# The module `random`, where the transitions imported it: its numbers would else be those of the build.
_chance = None


def _asked(error, function, *arguments):
    try:
        return function(*arguments)
    except Err as refused:
        raise error(refused.value.kind.name.lower().replace("_", "-"), refused.value.message) from None


class _Server:
    """The functions that the server gives, as the SDK asks for them."""

    now = staticmethod(host.now)
    random = staticmethod(host.random)
    sleep = staticmethod(host.sleep)
    config = staticmethod(host.config)
    secret = staticmethod(host.secret)
    attributes = staticmethod(host.attributes)

    key = staticmethod(http.key)

    @staticmethod
    def file_read(name: str) -> bytes | None:
        return _asked(FileError, files.read, name)

    @staticmethod
    def file_write(name: str, content: bytes) -> None:
        _asked(FileError, files.write, name, content)

    @staticmethod
    def file_append(name: str, content: bytes) -> None:
        _asked(FileError, files.append, name, content)

    @staticmethod
    def file_remove(name: str) -> bool:
        return _asked(FileError, files.remove, name)

    @staticmethod
    def file_all() -> list[tuple[str, int]]:
        return [(file.name, file.size) for file in _asked(FileError, files.all)]

    @staticmethod
    def fetch(method: str, url: str, headers: list[tuple[str, str, str | None]], body: bytes) -> Response:
        request = http.Request(method, url, [http.Header(*header) for header in headers], body)
        response = _asked(FetchError, http.fetch, request)
        return Response(response.status, list(response.headers), response.body)

    @staticmethod
    def log(severity: str, message: str, fields: dict[str, str]) -> None:
        host.log(_SEVERITIES[severity], message, [host.Field(key, value) for key, value in fields.items()])


def _scalar(scalar: values.Scalar) -> object:
    reads = _READ.get(type(scalar))
    return None if reads is None else reads(scalar.value)


def _read(value: values.Value) -> object:
    """A Python value of one that the server sent."""
    inner = value.value
    kind = type(inner)
    if kind is values.Scalar_Text:
        return inner.value
    return [_scalar(one) for one in inner] if kind is list else _scalar(inner)


def _lower_scalar(wire: None | tuple[str, object]) -> values.Scalar:
    return _NULL if wire is None else _SCALARS[wire[0]](wire[1])


def _lower(wire: Wire) -> values.Value:
    if type(wire) is list:
        return values.Value_List([_lower_scalar(one) for one in wire])
    return values.Value_Scalar(_lower_scalar(wire))


def _declaration(made: Transition) -> types.Declaration:
    def attributes(kinds):
        return None if kinds is None else [types.Attribute(name, kind.name) for name, kind in kinds.items()]

    return types.Declaration(
        made.name,
        made.description,
        attributes(made.reads),
        attributes(made.writes),
        made.condition,
        made.timeout,
        made.fuel,
        made.memory,
    )


class WitWorld(wit_world.WitWorld):
    """The world `transition`."""

    def describe(self) -> types.Manifest:
        return types.Manifest(
            component_name(),
            f"python {VERSION}",
            [_declaration(made) for made in transitions().values()],
        )

    def run(self, payload: types.Payload) -> types.Outcome:
        made = _TRANSITIONS.get(payload.transition)
        if made is None:
            return types.Outcome_Fail(
                types.Failure(f"this component has no transition `{payload.transition}`", False)
            )
        if _chance is not None:
            _chance.seed(host.random())
        job = None
        if made.job is not None:
            deadline = READ["timestamptz"](min(payload.deadline, 253_402_300_799_999_999))
            job = Job(payload.flow, payload.wid, payload.trigger, payload.transition, payload.attempt, deadline)
        names = host.attributes() if made.reads is None else made.names
        tag, answer = perform(made, names, payload.state, _read, job)
        if tag == "clause":
            return types.Outcome_SetClause(answer)
        if tag == "assignments":
            return types.Outcome_Assignments([types.Assignment(at, _lower(wire)) for at, wire in answer])
        if tag == "abort":
            return types.Outcome_Abort(types.Postponement(*answer))
        return types.Outcome_Fail(types.Failure(*answer))


class _Nobody:
    """A server that nothing is asked of."""

    @staticmethod
    def log(severity: str, message: str, fields: dict[str, str]) -> None:
        pass


def _warm_up() -> None:
    """Performs transitions of no consequence: what the interpreter remembers of the code that it runs is
    then a part of what every call begins with."""
    scalars = [
        values.Scalar_Text("x"),
        values.Scalar_Integer(1),
        values.Scalar_Bigint(1),
        values.Scalar_Numeric("1.5"),
        values.Scalar_Float(1.5),
        values.Scalar_Boolean(True),
        values.Scalar_Timestamptz(1),
        values.Scalar_Date(1),
        values.Scalar_Interval("P1D"),
        values.Scalar_Uuid("00000000-0000-0000-0000-000000000000"),
        values.Scalar_Jsonb("{}"),
    ]
    kinds = {_TAGS[type(scalar)]: _TAGS[type(scalar)] + "?" for scalar in scalars} | {"list": "text[]"}
    state = [values.Value_Scalar(scalar) for scalar in scalars] + [values.Value_List([scalars[0], _NULL])]

    def same(row):
        log.info("x", x="x")
        return {name: getattr(row, name) for name in kinds}

    def beside(row):
        return same(row) | {"text": sql("x")}

    def clause(row):
        return "text = 'x'"

    def failing(row):
        raise Fail("x")

    known = dict(transitions())
    asked.use(_Nobody())
    world = WitWorld()
    for function in (same, beside, clause, failing):
        name = f"wedflow {function.__name__}"
        transition(name=name, reads=kinds, writes=kinds)(function)
        payload = types.Payload("x", 1, "x", name, 1, 1, state)
        for _ in range(20):
            world.run(payload)
    for name in set(transitions()) - set(known):
        del transitions()[name]  # type: ignore[attr-defined]


def ready() -> None:
    """Called at the end of the build: what it leaves in memory is what every call begins with."""
    import gc
    import traceback  # noqa: F401  (there are no files to import it from later)

    # Source lines for tracebacks, while the files are there; afterwards nobody looks for them.
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        name = getattr(module, "__name__", "")
        if file and file.endswith(".py") and not name.startswith(("wit_world", "wedflow", "encodings")):
            if not file.startswith((sys.prefix + "/lib", "/python")):
                linecache.getlines(file)
    linecache.checkcache = lambda filename=None: None
    _warm_up()
    asked.use(_Server())
    # Only now: there is no server to seed it from while a component is built.
    global _chance
    _chance = sys.modules.get("random")
    # Collecting touches every object and so copies every page of the image; a call is too short for
    # it, unless it makes very many objects.
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)
