"""NumPy arrays over C memory and back, and checks of those that callers give."""
from __future__ import annotations

import ctypes
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _errors

Floats = npt.NDArray[np.float64]


def own(*shape: int) -> tuple[Floats, int]:
    """Zeros that nobody can resize, and their address."""
    block: Any = (ctypes.c_double * int(np.prod(shape)))()
    return np.frombuffer(block, dtype=np.float64).reshape(shape), ctypes.addressof(block)


def view(address: int | None, count: int, owner: object) -> Floats:
    """The doubles at `address`, read-only, which keep `owner` alive."""
    block: Any = (ctypes.c_double * count).from_address(address) if address and count else (ctypes.c_double * 0)()
    block.owner = owner
    array = np.frombuffer(block, dtype=np.float64)
    array.flags.writeable = False
    return array


def check(name: str, array: object, shape: tuple[int, ...], *, writeable: bool = False) -> Floats:
    """`array` if the library can use its memory as it is; else an InvalidError that names the argument."""
    if not isinstance(array, np.ndarray):
        raise _errors.InvalidError(f"{name}: a {type(array).__name__}; give a numpy.ndarray of float64, shape {shape}")
    if array.dtype != np.float64:
        raise _errors.InvalidError(f"{name}: dtype {array.dtype}; give float64: {name}.astype(numpy.float64)")
    if array.shape != shape:
        raise _errors.InvalidError(f"{name}: shape {array.shape}; give {shape}")
    if not array.flags.c_contiguous or not array.flags.aligned:
        raise _errors.InvalidError(f"{name}: strides {array.strides}; give rows without gaps: numpy.ascontiguousarray({name})")
    if writeable and not array.flags.writeable:
        raise _errors.InvalidError(f"{name}: read-only; give an array that can be written")
    return array


def elements(argument: str, given: Any, what: str) -> tuple[Any, ...]:
    """Those of a list, or of whatever else gives one after the other."""
    if type(given) is not list and (isinstance(given, str) or not isinstance(given, Iterable)):  # a list is the usual, and told at once
        raise _errors.InvalidError(f"{argument}: {given!r}; give a list of {what}")
    return tuple(given)


def mapping(argument: str, given: Any) -> Mapping[str, Any]:
    """What has values by name."""
    if type(given) is not dict and not isinstance(given, Mapping):  # a dict is the usual, and told at once
        raise _errors.InvalidError(f"{argument}: {given!r}; give a dictionary: {{name: …}}")
    return given


def names(argument: str, given: object) -> tuple[str, ...]:
    """A sequence of texts as a tuple."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise _errors.InvalidError(f"{argument}: {given!r}; give a list of names")
    for i, name in enumerate(given):
        if not isinstance(name, str):
            raise _errors.InvalidError(f"{argument}[{i}]: {name!r}; give a name")
    return tuple(given)


def text(argument: str, given: object) -> bytes:
    """A text as the library takes it: in UTF-8, without a NUL, which would end it there."""
    if not isinstance(given, str) or "\0" in given:
        raise _errors.InvalidError(f"{argument}: {given!r}; give a text without NUL")
    try:
        return given.encode()
    except UnicodeEncodeError:
        raise _errors.InvalidError(f"{argument}: {given!r}; it can't be written in UTF-8") from None


def path(argument: str, given: Any) -> bytes:
    """The path of a file or folder."""
    try:
        made = os.fsencode(given)
    except (TypeError, UnicodeEncodeError):
        raise _errors.InvalidError(f"{argument}: {given!r}; give a path") from None
    if b"\0" in made:
        raise _errors.InvalidError(f"{argument}: {given!r}; a path has no NUL")
    return made


def units(argument: str, given: Sequence[str | None] | None, count: int) -> list[bytes | None]:
    """One for each of `count` names; None: SI."""
    if given is None:
        return [None] * count
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence) or len(given) != count:
        raise _errors.InvalidError(f"{argument}: {given!r}; give one for each of the {count} names, or None")
    return [None if unit is None else text(f"{argument}[{i}]", unit) for i, unit in enumerate(given)]


def texts(argument: str, given: Sequence[str]) -> Any:
    """char *[] of them; NULL if there are none."""
    return (ctypes.c_char_p * len(given))(*(text(f"{argument}[{i}]", one) for i, one in enumerate(given))) if given else None


def seed(argument: str, given: object) -> int:
    """A whole number from 0 to 2**64 - 1."""
    value = index(argument, given)
    if not 0 <= value < 1 << 64:
        raise _errors.InvalidError(f"{argument}: {value}; give 0 to 2**64 - 1")
    return value


def index(argument: str, given: Any, least: int | None = None) -> int:
    """A whole number of Python's or NumPy's that fits 64 bits, signed or not."""
    try:
        value = int(operator.index(given))
    except TypeError:
        raise _errors.InvalidError(f"{argument}: {given!r}; give a whole number") from None
    if least is not None and not least <= value < 1 << 63:
        raise _errors.InvalidError(f"{argument}: {value}; give at least {least}, below 2**63")
    return value
