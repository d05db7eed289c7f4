"""Attribute types: as the flow names them, and as Python annotates them."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import types
import typing
import uuid

from .values import Interval

SCALARS = (
    "text",
    "integer",
    "bigint",
    "numeric",
    "float",
    "boolean",
    "timestamptz",
    "date",
    "interval",
    "uuid",
    "jsonb",
)


@dataclasses.dataclass(frozen=True)
class Kind:
    """The type of an attribute, as in ``wed_attr.atype``.

    As an annotation with ``typing.Annotated``: ``n: Annotated[int, Kind.of("bigint")]``.
    """

    scalar: str
    """The type itself, or that of the elements; ``any`` for whatever the flow has."""
    array: bool = False
    nullable: bool = False
    """Whether null is expected; without it, null is a failure that names the attribute."""
    labels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name that the server knows."""
        scalar = f"enum({','.join(self.labels)})" if self.scalar == "enum" else self.scalar
        return scalar + ("[]" if self.array else "")

    @staticmethod
    def of(declared: object) -> Kind:
        """Reads a type's name (``"integer"``, ``"text[]"``, ``"numeric?"`` where it may be null) or a
        Python annotation (``int``, ``list[str]``, ``Decimal | None``)."""
        if isinstance(declared, Kind):
            return declared
        if isinstance(declared, str):
            return _named(declared)
        return _annotated(declared)


class _Json:
    """Marks an attribute of type jsonb."""


class _Any:
    """Marks an attribute of whatever type the flow gives it."""


Bigint = typing.Annotated[int, Kind("bigint")]
"""A ``bigint``; a plain ``int`` is an ``integer``."""
Json = typing.Annotated[typing.Any, Kind("jsonb")]
"""A ``jsonb`` of any shape; ``dict`` is one that is an object."""
Any = typing.Annotated[typing.Any, Kind("any")]
"""Whatever type the flow has."""


def Enum(*labels: str) -> Kind:  # noqa: N802
    """An ``enum`` with these labels; its values are ``str``."""
    return Kind("enum", labels=labels)


_ANNOTATIONS = {
    str: "text",
    int: "integer",
    float: "float",
    bool: "boolean",
    decimal.Decimal: "numeric",
    datetime.datetime: "timestamptz",
    datetime.date: "date",
    datetime.timedelta: "interval",
    Interval: "interval",
    uuid.UUID: "uuid",
    dict: "jsonb",
    typing.Any: "any",
}


def _named(name: str) -> Kind:
    text = name.strip()
    nullable = text.endswith("?")
    text = text.removesuffix("?").rstrip()
    array = text.endswith("[]")
    text = text.removesuffix("[]").rstrip()
    if text.startswith("enum(") and text.endswith(")"):
        labels = tuple(label.strip() for label in text[5:-1].split(","))
        if all(labels):
            return Kind("enum", array, nullable, labels)
    elif text in SCALARS or (text == "any" and not array):
        return Kind(text, array, nullable)
    raise TypeError(
        f"unknown attribute type {name!r}; use {', '.join(SCALARS)}, enum(a,b,…), or one of these "
        "followed by [], and ? where it may be null"
    )


def _annotated(annotation: object) -> Kind:
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        for extra in typing.get_args(annotation)[1:]:
            if isinstance(extra, Kind):
                return extra
        return _annotated(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        members = [member for member in typing.get_args(annotation) if member is not type(None)]
        if len(members) == 1:
            return dataclasses.replace(_annotated(members[0]), nullable=True)
    elif origin is list:
        (element,) = typing.get_args(annotation)
        kind = _annotated(element)
        if not kind.array and kind.scalar != "any":
            return dataclasses.replace(kind, array=True, nullable=False)
    elif origin is dict:
        return Kind("jsonb")
    elif isinstance(annotation, type) and annotation in _ANNOTATIONS:
        return Kind(_ANNOTATIONS[annotation])
    elif annotation is typing.Any:
        return Kind("any")
    raise TypeError(
        f"{annotation!r} is no attribute type; use str, int, Bigint, Decimal, float, bool, datetime, "
        "date, Interval, UUID, Json, Any, a list[…] of one, `… | None` where it may be null, or "
        'Annotated[str, Kind.of("enum(a,b)")]'
    )
