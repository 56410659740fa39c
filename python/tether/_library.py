"""The shared library: where it is looked for, and its functions with their types (`tether/tether.h`)."""
from __future__ import annotations

import atexit
import ctypes
import logging
import os
import pathlib
from typing import Any

from . import _errors

SONAME = "libtether.so.0"
VERSION = "0.1"  # of the header that this package was written for: major and minor

_logger = logging.getLogger("tether")
_LEVELS = {0: logging.ERROR, 1: logging.WARNING, 2: logging.INFO}


class Handle(ctypes.Structure):
    """tether_handle."""

    _fields_ = [("kind", ctypes.c_uint32), ("index", ctypes.c_uint32), ("scale", ctypes.c_double)]


class Io(ctypes.Structure):
    """tether_io."""

    _fields_ = [("commands", ctypes.c_void_p), ("command_values", ctypes.c_void_p), ("command_count", ctypes.c_int),
                ("signal_count", ctypes.c_int), ("signals", ctypes.c_void_p), ("signal_values", ctypes.c_void_p)]


class Item(ctypes.Structure):
    """tether_item."""

    _fields_ = [("name", ctypes.c_char_p), ("unit", ctypes.c_char_p), ("robot", ctypes.c_char_p),
                ("lower", ctypes.c_double), ("upper", ctypes.c_double)]


class Setting(ctypes.Structure):
    """tether_setting."""

    _fields_ = [("path", ctypes.c_char_p), ("owner", ctypes.c_char_p), ("unit", ctypes.c_char_p), ("words", ctypes.c_char_p),
                ("initial", ctypes.c_char_p), ("value", ctypes.c_char_p), ("kind", ctypes.c_int), ("is_known", ctypes.c_int),
                ("lower", ctypes.c_double), ("upper", ctypes.c_double)]


class Body(ctypes.Structure):
    """tether_body."""

    _fields_ = [("name", ctypes.c_char_p), ("parent", ctypes.c_int), ("mass", ctypes.c_double),
                ("position", ctypes.c_void_p), ("rotation", ctypes.c_void_p), ("velocity", ctypes.c_void_p),
                ("spin", ctypes.c_void_p)]


class Joint(ctypes.Structure):
    """tether_joint."""

    _fields_ = [("name", ctypes.c_char_p), ("body", ctypes.c_int), ("axis_count", ctypes.c_int),
                ("position", ctypes.c_void_p), ("velocity", ctypes.c_void_p), ("torque", ctypes.c_void_p),
                ("is_limited", ctypes.c_int), ("lower", ctypes.c_double), ("upper", ctypes.c_double)]


class Contact(ctypes.Structure):
    """tether_contact."""

    _fields_ = [("body_a", ctypes.c_int), ("body_b", ctypes.c_int), ("position", ctypes.c_double * 3),
                ("normal", ctypes.c_double * 3), ("force", ctypes.c_double * 3), ("depth", ctypes.c_double)]


class RecordOptions(ctypes.Structure):
    """tether_record_options."""

    _fields_ = [("size", ctypes.c_size_t), ("period", ctypes.c_double), ("most_bytes", ctypes.c_uint64), ("never_wait", ctypes.c_int)]


class ErrorText(ctypes.Structure):
    """tether_error."""

    _fields_ = [("text", ctypes.c_char * 1024)]

    def string(self) -> str:
        return bytes(self.text).decode("utf-8", "replace")


LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
INTERRUPT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)

_P, _I, _L, _D, _S, _Z = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_double, ctypes.c_char_p, ctypes.c_size_t)
_U = ctypes.c_uint64
_SIGNATURES: dict[str, tuple[Any, ...]] = {  # result, arguments…
    "tether_version": (_S,),
    "tether_set_log": (None, LOG, _P),
    "tether_set_data": (_I, _S),
    "tether_set_compiler": (_I, _S),
    "tether_scene_name": (_I, _I, _P, _Z),
    "tether_scene_title": (_I, _S, _P, _Z, _P),
    "tether_scene_setting": (_I, _P, _I, _P),
    "tether_scene_load": (_I, _S, _P, _I, _P, _P),
    "tether_scene_free": (None, _P),
    "tether_scene_description": (_S, _P),
    "tether_scene_timestep": (_D, _P),
    "tether_sim_new": (_I, _P, _P, _P),
    "tether_sim_clone": (_I, _P, _P, _P),
    "tether_sim_free": (None, _P),
    "tether_sim_reset": (_I, _P, _P, _P),
    "tether_sim_step": (_I, _P, _L, _P),
    "tether_sim_exchange": (_I, _P, _P, _I, _L, _P),
    "tether_sim_set_interrupt": (_I, _P, INTERRUPT, _P, _P),
    "tether_sim_time": (_D, _P),
    "tether_sim_steps": (_U, _P),
    "tether_sim_hash": (_U, _P),
    "tether_sim_state_size": (_Z, _P),
    "tether_sim_save": (_I, _P, _P, _Z, _P),
    "tether_sim_restore": (_I, _P, _P, _Z, _P),
    "tether_sim_signal_count": (_I, _P),
    "tether_sim_command_count": (_I, _P),
    "tether_sim_value_count": (_I, _P),
    "tether_sim_signal_item": (_I, _P, _I, _P),
    "tether_sim_command_item": (_I, _P, _I, _P),
    "tether_sim_value_item": (_I, _P, _I, _P),
    "tether_value_find": (_I, _P, _S, _S, _P, _P),
    "tether_sim_set_values": (_I, _P, _P, _P, _I, _P),
    "tether_sim_get_values": (_I, _P, _P, _P, _I, _P),
    "tether_signal_find": (_I, _P, _S, _S, _P, _P),
    "tether_command_find": (_I, _P, _S, _S, _P, _P),
    "tether_sim_apply": (_I, _P, _P, _P, _I, _P),
    "tether_sim_read": (_I, _P, _P, _P, _I, _P),
    "tether_sim_read_commands": (_I, _P, _P, _P, _I, _P),
    "tether_sim_body_count": (_I, _P),
    "tether_sim_joint_count": (_I, _P),
    "tether_sim_contact_count": (_I, _P),
    "tether_sim_body": (_I, _P, _I, _P),
    "tether_sim_joint": (_I, _P, _I, _P),
    "tether_sim_contact": (_I, _P, _I, _P),
    "tether_sim_record": (_I, _P, _S, _P, _P),
    "tether_sim_record_end": (_I, _P, _P),
    "tether_sim_recording": (_I, _P, _P),
    "tether_batch_new": (_I, _P, _I, _I, _P, _I, _P, _I, _P, _P),
    "tether_batch_set_units": (_I, _P, _P, _P, _P),
    "tether_batch_free": (None, _P),
    "tether_batch_step": (_I, _P, _P, _L, _P, _P),
    "tether_batch_reset": (_I, _P, _P, _P, _P, _P),
    "tether_batch_save": (_I, _P, _P, _Z, _P),
    "tether_batch_restore": (_I, _P, _P, _P, _Z, _P, _P),
    "tether_batch_set_interrupt": (_I, _P, INTERRUPT, _P, _P),
    "tether_batch_failed": (_P, _P),
    "tether_batch_failure": (_I, _P, _I, _P),
    "tether_batch_sim": (_P, _P, _I),
}

_loaded: ctypes.CDLL | None = None
_path: str | None = None


def _log(_context: int | None, level: int, line: bytes) -> None:
    _logger.log(_LEVELS.get(level, logging.INFO), "%s", line.decode("utf-8", "replace"))


_ON_LOG = LOG(_log)
_NO_LOG = ctypes.cast(0, LOG)


def _candidates(library: str | os.PathLike[str] | None) -> list[tuple[str, str]]:
    """(path, whose wish it is), in order. A wish that was uttered is not replaced by something else."""
    if library is not None:
        return [(os.fspath(library), "the argument `library`")]
    wished = os.environ.get("TETHER_LIBRARY")
    if wished:
        return [(wished, "$TETHER_LIBRARY")]
    beside = pathlib.Path(__file__).resolve().parent / SONAME
    return [(str(beside), "beside the package"), (SONAME, "the system's libraries")]


def _open(library: str | os.PathLike[str] | None) -> ctypes.CDLL:
    tried = []
    for path, whose in _candidates(library):
        if os.sep in path and os.path.isdir(path):
            path = os.path.join(path, SONAME)
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            tried.append(f"  {path} ({whose}): {error}")
    raise _errors.LibraryError(
        f"{SONAME} was not found:\n" + "\n".join(tried) + "\nInstall Tether's package (its library comes with it), or say where "
        "the library is: TETHER_LIBRARY=/path/to/libtether.so.0, or tether.load(\"/path/to/libtether.so.0\").")


def _declare(library: ctypes.CDLL) -> None:
    for name, (result, *arguments) in _SIGNATURES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise _errors.LibraryError(f"{library._name}: has no {name}(); this package wants version {VERSION} of "
                                       "the library: install both from one release") from None
        function.restype = result
        function.argtypes = arguments


def load(library: str | os.PathLike[str] | None = None) -> ctypes.CDLL:
    """Loads the shared library, once for the process; `Scene` does it where nobody did.

    Args:
        library: its file, or the folder that it is in. None: `$TETHER_LIBRARY`, else libtether.so.0 beside this package, else
            that of the system.

    Raises:
        LibraryError: it was not found, is of another version, or another one was loaded before.
    """
    global _loaded, _path
    if _loaded is not None:
        if library is not None and os.path.realpath(library) not in (_path, os.path.dirname(_path or "")):
            raise _errors.LibraryError(f"{os.fspath(library)}: {_path} is loaded already; a process has one library")
        return _loaded
    made = _open(library)
    _declare(made)
    version = made.tether_version().decode()
    if version.split(".")[:2] != VERSION.split("."):
        raise _errors.LibraryError(f"{made._name}: version {version}; this package wants {VERSION}: install both from one release")
    made.tether_set_log(_ON_LOG, None)
    atexit.register(made.tether_set_log, _NO_LOG, None)
    _loaded, _path = made, os.path.realpath(made._name) if os.sep in made._name else made._name
    return made


def check(status: int, error: ErrorText) -> None:
    """Raises the exception of a status other than 0."""
    if status:
        raise _errors.of_status(status, error.string())


class Owned(ctypes.c_void_p):
    """A pointer that this package frees when nothing refers to it any more: neither views nor a call that was given it, of
    another thread too. So calls are given this object, not its number."""

    def __init__(self, pointer: int, free: Any, keeps: object = None) -> None:
        super().__init__(pointer)
        self._free = free
        self._keeps = keeps  # what must outlive it

    def __del__(self) -> None:
        if self._free is not None:
            self._free(self.value)
