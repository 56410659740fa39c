"""What can go wrong, as exceptions: one class for each status of the library, all of them `Error`."""
from __future__ import annotations

import re

_PLACE = re.compile(r"(?P<file>[^\n:]+):(?P<line>\d+): ")


class Error(Exception):
    """Something that the library refused or could not do. The text names the place, the reason and the remedy.

    Attributes:
        status: the library's number for it (`tether_status` in `tether/tether.h`); -1 if the library was not asked.
        file: the file that the text begins with, e.g. "scenes/gripper.yaml"; None if it begins with none.
        line: the line in that file, from 1; None as above.
    """

    status: int = -1

    def __init__(self, text: str) -> None:
        super().__init__(text)
        place = _PLACE.match(text)
        self.file: str | None = place["file"] if place else None
        self.line: int | None = int(place["line"]) if place else None


class InvalidError(Error, ValueError):
    """An argument, a file or a value in it is wrong. Nothing changed."""

    status = 1


class FailedError(Error, RuntimeError):
    """The engine or the machine failed."""

    status = 3


class OutOfMemoryError(Error, MemoryError):
    """The call changed nothing."""

    status = 4


class NotFoundError(Error, LookupError):
    """There is no such name or unit; the text has the nearest one."""

    status = 5


class DivergedError(Error, ArithmeticError):
    """A step diverged; the simulation stands before it. Reset or restore it, or close it."""

    status = 11


class OtherVersionError(Error):
    """A saved state of another version of Tether. Nothing changed."""

    status = 12


class BusyError(Error, RuntimeError):
    """Another thread is using this simulation or batch. Nothing changed."""

    status = 14


class StoppedError(Error):
    """A call ended early. `Ctrl-C` raises KeyboardInterrupt instead."""

    status = 15


class ClosedError(Error, ValueError):
    """The scene, simulation or batch was closed."""


class LibraryError(Error, ImportError):
    """The shared library was not found, or is of another version."""


_CLASSES: dict[int, type[Error]] = {kind.status: kind for kind in (
    InvalidError, FailedError, OutOfMemoryError, NotFoundError, DivergedError, OtherVersionError, BusyError, StoppedError)}


def of_status(status: int, text: str) -> Error:
    """The exception for a status other than 0."""
    kind = _CLASSES.get(status, Error)
    made = kind(text)
    made.status = status
    return made
