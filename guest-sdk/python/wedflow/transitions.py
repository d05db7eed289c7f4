"""Transitions: what they declare, and how one is performed."""

from __future__ import annotations

import dataclasses
import datetime
import inspect
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence

from . import values
from .outcome import Abort, Fail, sql
from .types import Kind
from .values import Mismatch

MESSAGE_CHARACTERS = 8_000
"""Characters of an unexpected exception's traceback that are kept, its end."""


@dataclasses.dataclass(frozen=True)
class Job:
    """What the transition was invoked for; a parameter annotated ``Job`` receives it."""

    flow: str
    """The flow's name."""
    wid: int
    """The instance."""
    trigger: str
    """The trigger that fired, by name; its number as text where it has none."""
    transition: str
    """The transition to perform."""
    attempt: int
    """1 for the first attempt."""
    deadline: datetime.datetime
    """When the time limit ends."""

    def remaining(self) -> datetime.timedelta:
        """The time that is left; negative when it is over."""
        from .host import now

        return self.deadline - now()


class Row(Mapping[str, object]):
    """The attributes that a transition reads, by name: ``row["n"]`` or ``row.n``.

    A parameter annotated ``Row``, without ``reads``, receives every attribute of the flow.
    """

    __slots__ = ("_values",)

    def __init__(self, values: dict[str, object]):
        self._values = values

    def __getitem__(self, name: str) -> object:
        try:
            return self._values[name]
        except KeyError:
            raise KeyError(f"the transition does not read `{name}`; it reads {', '.join(self._values) or 'nothing'}") from None

    def __getattr__(self, name: str) -> object:
        # The short way: this is what nearly every transition does.
        try:
            return self._values[name]
        except KeyError:
            pass
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Row({self._values!r})"


@dataclasses.dataclass
class Transition:
    """A decorated function with what it declares."""

    function: Callable[..., object]
    name: str
    description: str
    reads: dict[str, Kind] | None
    writes: dict[str, Kind] | None
    condition: str | None
    timeout: int | None
    fuel: int | None
    memory: int | None
    build: Callable[[dict[str, object]], object] | None
    """Makes the state's parameter of the values; None where the function takes no state."""
    state: str | None
    job: str | None
    # What each call would else compute anew.
    names: tuple[str, ...] = dataclasses.field(init=False)
    required: frozenset[str] = dataclasses.field(init=False)
    positions: dict[str, int] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        reads = self.reads or {}
        self.names = tuple(reads)
        self.required = frozenset(name for name, kind in reads.items() if not kind.nullable and kind.scalar != "any")
        self.positions = {name: at for at, name in enumerate(self.writes or {})}

    def __call__(self, *arguments: object, **keywords: object) -> object:
        """Calls the function itself."""
        return self.function(*arguments, **keywords)


_transitions: dict[str, Transition] = {}
_component = {"name": ""}


def component(name: str) -> None:
    """Says under which name the component wants to be stored; without it, the file's."""
    _component["name"] = name


def component_name() -> str:
    """The name that was asked for, or nothing."""
    return _component["name"]


def transitions() -> Mapping[str, Transition]:
    """What was decorated, by name."""
    return _transitions


def transition(
    function: Callable[..., object] | None = None,
    /,
    *,
    name: str | None = None,
    reads: Mapping[str, object] | None = None,
    writes: Mapping[str, object] | None = None,
    condition: str | None = None,
    timeout: float | datetime.timedelta | None = None,
    fuel: int | None = None,
    memory: int | None = None,
) -> typing.Any:
    """Makes a transition of a function.

    The function may take a state and a job. The state's attributes are those of the dataclass that
    annotates the parameter, or ``reads``; a parameter annotated ``Row`` without ``reads`` gets every
    attribute of the flow. ``writes`` names what may be set, with types; without it a SET clause over
    any attribute may be returned. Types are names (``"numeric"``, ``"text[]"``, with ``?`` where null
    is expected) or annotations (``Decimal``, ``list[str]``, ``int | None``).

    The function's name is the transition's, the first paragraph of its docstring the description.
    ``condition``, ``timeout`` (seconds or a ``timedelta``), ``fuel`` and ``memory`` (bytes) are
    suggestions for the flow's owner.

    It answers with a dict of attributes and new values, where a value may be a ``sql(…)``; with a
    ``sql`` or ``str`` that is a whole SET clause; or with nothing, which changes nothing.
    """

    def decorate(function: Callable[..., object]) -> Transition:
        called = name or function.__name__
        if called in _transitions and _transitions[called].function.__module__ == function.__module__ and \
                _transitions[called].function.__qualname__ != function.__qualname__:
            raise TypeError(f"there are two transitions `{called}`")
        made = _declare(function, called, reads, writes, condition, timeout, fuel, memory)
        _transitions[called] = made
        return made

    return decorate if function is None else decorate(function)


def _declare(
    function: Callable[..., object],
    name: str,
    reads: Mapping[str, object] | None,
    writes: Mapping[str, object] | None,
    condition: str | None,
    timeout: float | datetime.timedelta | None,
    fuel: int | None,
    memory: int | None,
) -> Transition:
    annotations = inspect.get_annotations(function, eval_str=True)
    state = job = None
    annotation: object = None
    for parameter in inspect.signature(function).parameters.values():
        kind = annotations.get(parameter.name)
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"transition `{name}`: *{parameter.name} cannot be given; name the parameters")
        if kind is Job or (kind is None and parameter.name == "job"):
            job = parameter.name
        elif state is None:
            state, annotation = parameter.name, kind
        else:
            raise TypeError(
                f"transition `{name}` takes a state and a job, and `{parameter.name}` is a third; "
                "annotate the job with `Job`"
            )
    build, declared = _reading(name, state, annotation, reads)
    if timeout is not None and not isinstance(timeout, datetime.timedelta):
        timeout = datetime.timedelta(seconds=timeout)
    return Transition(
        function=function,
        name=name,
        description=_first_paragraph(function.__doc__),
        reads=declared,
        writes=None if writes is None else _kinds(name, "writes", writes),
        condition=condition,
        timeout=None if timeout is None else timeout // datetime.timedelta(milliseconds=1),
        fuel=fuel,
        memory=memory,
        build=build,
        state=state,
        job=job,
    )


def _reading(
    name: str, state: str | None, annotation: object, reads: Mapping[str, object] | None
) -> tuple[Callable[[dict[str, object]], object] | None, dict[str, Kind] | None]:
    if state is None:
        if reads:
            raise TypeError(f"transition `{name}` reads {', '.join(reads)}, but takes no state")
        return None, {}
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        if reads is not None:
            raise TypeError(f"transition `{name}`: what it reads is what {annotation.__name__} says; leave `reads` out")
        hints = typing.get_type_hints(annotation, include_extras=True)
        fields = {field.name: field for field in dataclasses.fields(annotation) if field.init}
        # A field may be called otherwise than its attribute: field(metadata={"name": "Odd Name"}).
        names = {field.metadata.get("name", key): key for key, field in fields.items()}
        kinds = _kinds(name, "reads", {attribute: hints[key] for attribute, key in names.items()})
        if list(names) == list(fields):
            return lambda values: annotation(**values), kinds
        return lambda values: annotation(**{names[key]: value for key, value in values.items()}), kinds
    if annotation not in (None, Row, inspect.Parameter.empty, typing.Any, Mapping, dict):
        raise TypeError(
            f"transition `{name}`: the state `{state}` is annotated {annotation!r}; annotate it with a "
            "dataclass, with Row, or not at all"
        )
    return Row, None if reads is None else _kinds(name, "reads", reads)


def _kinds(name: str, which: str, declared: Mapping[str, object]) -> dict[str, Kind]:
    kinds = {}
    for attribute, kind in declared.items():
        try:
            kinds[attribute] = Kind.of(kind)
        except TypeError as error:
            raise TypeError(f"transition `{name}` {which} `{attribute}`: {error}") from None
    return kinds


def _first_paragraph(text: str | None) -> str:
    paragraph = inspect.cleandoc(text or "").partition("\n\n")[0]
    return " ".join(paragraph.split()).removesuffix(".")


# ---- Performing -----------------------------------------------------------------------------------

Wire = None | tuple[str, object] | list[None | tuple[str, object]]
"""A value as it travels."""


def perform(
    made: Transition, names: Sequence[str], state: Sequence[object], read: Callable[[typing.Any], object], job: Job | None
) -> tuple[str, object]:
    """Performs a transition: ``("clause", str)``, ``("assignments", [(position, Wire)])``,
    ``("abort", (reason, microseconds | None))`` or ``("fail", (message, retry))``.

    ``read`` makes a Python value of one in ``state``. A transition that takes no job needs none.
    """
    try:
        keywords: dict[str, object] = {}
        if made.build is not None and made.state is not None:
            keywords[made.state] = made.build(_row(made, names, state, read))
        if made.job is not None:
            keywords[made.job] = job
        return _answer(made, made.function(**keywords))
    except Abort as abort:
        return ("abort", (abort.reason, abort.microseconds()))
    except Fail as failure:
        return ("fail", (failure.message, failure.retry))
    except BaseException as error:  # Also SystemExit: it must not end as a bare trap.
        return ("fail", (_unexpected(error), True))


def _row(
    made: Transition, names: Sequence[str], state: Sequence[object], read: Callable[[typing.Any], object]
) -> dict[str, object]:
    required = made.required
    row: dict[str, object] = {}
    for name, one in zip(names, state):
        try:
            row[name] = value = read(one)
        except Mismatch as error:
            raise Fail(f"attribute `{name}` {error}") from None
        if value is None and name in required:
            kind = made.reads[name]  # type: ignore[index]
            raise Fail(f"attribute `{name}` is null, and the transition does not expect that; declare `{kind.name}?` or `… | None`")
    return row


def from_wire(wire: Wire) -> object:
    """The Python value of one that travels."""
    if wire is None:
        return None
    if type(wire) is list:
        return [from_wire(one) for one in wire]
    return values.READ[wire[0]](wire[1])  # type: ignore[index]


def _answer(made: Transition, answer: object) -> tuple[str, object]:
    if answer is None:
        answer = {}
    if isinstance(answer, sql):
        return ("clause", answer.text)
    if isinstance(answer, str):
        return ("clause", answer)
    if not isinstance(answer, Mapping):
        raise Fail(
            f"transition `{made.name}` answered with {type(answer).__name__}; it must answer with a dict of "
            "attributes and values, a SET clause, or None"
        )
    writes = made.writes
    if writes is not None:
        for name in answer:
            if name not in writes:
                declared = ", ".join(writes) or "nothing"
                raise Fail(f"transition `{made.name}` sets `{name}`, which it does not declare; `writes` names {declared}")
        if not any(isinstance(value, sql) for value in answer.values()):
            return ("assignments", [(made.positions[name], _write(writes[name], name, value)) for name, value in answer.items()])
    parts = []
    for name, value in answer.items():
        try:
            text = (
                value.text
                if isinstance(value, sql)
                else values.literal(value)
                if writes is None
                else values.literal_of(writes[name], value)
            )
        except (Mismatch, TypeError) as error:
            raise Fail(f"attribute `{name}` {error}") from None
        parts.append(f"{_identifier(name)} = {text}")
    return ("clause", ", ".join(parts)) if parts else ("assignments", [])


def _write(kind: Kind, name: str, value: object) -> Wire:
    try:
        return values.write(kind, value)  # type: ignore[return-value]
    except Mismatch as error:
        raise Fail(f"attribute `{name}` {error}") from None


def _identifier(name: str) -> str:
    # Quoted always where it could be a key word: every name of letters alone might be one.
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*[0-9_][a-z0-9_]*", name) else '"' + name.replace('"', '""') + '"'


def _unexpected(error: BaseException) -> str:
    """The exception and its traceback, without the SDK's own frames."""
    import traceback

    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_globals.get("__name__", "").startswith("wedflow."):
        frames = frames.tb_next
    text = "".join(traceback.format_exception(type(error), error, frames, limit=-40))
    first = "".join(traceback.format_exception_only(error)).strip().partition("\n")[0]
    if len(text) > MESSAGE_CHARACTERS:
        text = "…" + text[-MESSAGE_CHARACTERS:]
    return f"{first}\n{text.rstrip()}".encode(errors="replace").decode()
