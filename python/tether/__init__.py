"""Tether: robots with contact physics, simulated in this process.

    import tether
    scene = tether.Scene("gripper")
    sim = scene.sim(seed=0)
    sim.apply({"swivel.velocity": 1.0})
    sim.step(600)
    print(sim.read(["swivel.position"], units=["deg"]))

`Scene` loads what a simulation is made of, `Sim` is one, `Batch` are many. What goes wrong is an `Error`.
"""
from __future__ import annotations

import os

from . import _arrays, _library
from ._batch import Batch
from ._errors import (BusyError, ClosedError, DivergedError, Error, FailedError, InvalidError, LibraryError, NotFoundError,
                      OtherVersionError, OutOfMemoryError, StoppedError)
from ._library import load
from ._scene import Scene, Setting, scenes
from ._sim import CONTACT, Body, Item, Joint, Recording, Sim

__all__ = ["CONTACT", "Batch", "Body", "BusyError", "ClosedError", "DivergedError", "Error", "FailedError", "InvalidError", "Item",
           "Joint", "LibraryError", "NotFoundError", "OtherVersionError", "OutOfMemoryError", "Recording", "Scene", "Setting", "Sim",
           "StoppedError", "load", "scenes", "set_compiler", "set_data", "version"]

__version__ = "0.1.0"


def version() -> str:
    """Of the shared library, e.g. "0.1.0"."""
    text: bytes = _library.load().tether_version()
    return text.decode()


def set_data(folder: str | os.PathLike[str] | None) -> None:
    """A folder with scenes/, robots/ and arenas/, in which bare names are looked up before those that came with the library.
    For the whole process, before the first scene; None: none."""
    status = _library.load().tether_set_data(None if folder is None else _arrays.path("folder", folder))
    if status:
        raise InvalidError(f"folder: {folder!r}: the path is too long")


def set_compiler(program: str | os.PathLike[str] | None) -> None:
    """The program that compiles models, by its absolute path; None: the one that came with the library. For the whole process,
    before the first simulation."""
    status = _library.load().tether_set_compiler(None if program is None else _arrays.path("program", program))
    if status:
        raise InvalidError(f"program: {program!r}: not an absolute path, or too long")
