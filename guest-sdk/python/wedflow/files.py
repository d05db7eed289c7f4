"""The files of the instance, where the operator and the flow grant them: a private folder, the same for all
transitions of the instance, gone when it is final. What an attempt writes stays only if its result is
committed."""

from __future__ import annotations

from .host import server
from .outcome import Fail


class FileError(Fail):
    """Why a file is not read or written. ``kind`` is ``denied``, ``name``, ``no-room`` or ``unavailable``."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind
        self.retry = kind == "unavailable"


def read(name: str) -> bytes | None:
    """The content of a file; None when there is no such file."""
    return server().file_read(name)


def write(name: str, content: bytes | str) -> None:
    """Makes a file, or replaces its content: at most 1 MiB. A text is written in UTF-8."""
    server().file_write(name, _bytes(content))


def append(name: str, content: bytes | str) -> None:
    """Puts more behind a file's content, or makes the file."""
    server().file_append(name, _bytes(content))


def remove(name: str) -> bool:
    """Removes a file; whether there was one."""
    return server().file_remove(name)


def all() -> dict[str, int]:
    """All files: their sizes in bytes, by name."""
    return dict(server().file_all())


def _bytes(content: bytes | str) -> bytes:
    return content.encode() if isinstance(content, str) else bytes(content)
