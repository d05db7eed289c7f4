"""Log lines, kept with the attempt: ``log.info("packed", qty=2)``."""

from __future__ import annotations

from .host import server


def debug(message: str, /, **fields: object) -> None:
    """Only of interest while writing the transition."""
    _log("debug", message, fields)


def info(message: str, /, **fields: object) -> None:
    """Normal operation."""
    _log("info", message, fields)


def warn(message: str, /, **fields: object) -> None:
    """Something odd that did not stop the transition."""
    _log("warn", message, fields)


def error(message: str, /, **fields: object) -> None:
    """Something that did."""
    _log("error", message, fields)


def _log(severity: str, message: str, fields: dict[str, object]) -> None:
    server().log(severity, _text(message), {key: _text(value) for key, value in fields.items()})


def _text(value: object) -> str:
    # Half a surrogate pair has no UTF-8.
    return str(value).encode(errors="replace").decode()
