"""Scenes: what simulations are made of."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Union

from . import _arrays, _errors, _library

if TYPE_CHECKING:
    from ._batch import Batch
    from ._sim import Sim

Settings = Union[Mapping[str, Union[str, bool, int, float]], Iterable[str]]


def _setting_texts(settings: Settings | None) -> list[str]:
    if settings is None:
        return []
    if isinstance(settings, str):
        raise _errors.InvalidError(f"settings: {settings!r}; give a dictionary, or a list of texts PATH=VALUE")
    if not isinstance(settings, Mapping):
        return list(_arrays.names("settings", _arrays.elements("settings", settings, "texts PATH=VALUE")))
    return [f"{path}={str(value).lower() if isinstance(value, bool) else value}" for path, value in settings.items()]


class Setting(NamedTuple):
    """A key of a scene that `settings` may set."""

    path: str  # "robots.gripper.x"
    owner: str  # "" the scene itself; "robots.gripper", "wires.float-udp", "web": what the key is of
    kind: str  # "text", "quantity" (a number with a unit: "10 ms"), "number", "count", "flag" (on or off), "word", "list"
    unit: str  # SI; "" where there is none, or only the model tells it
    lower: float  # values outside are refused; infinite where no bound is told
    upper: float
    words: tuple[str, ...]  # of a "word": one of these
    initial: str  # what holds where the key is left out; "" where nothing does, or it follows from others
    value: str  # what holds now; "" likewise
    known: bool  # False: of a section of a program (wires, web, telemetry, record, nt4, foxglove, game), which is kept, and not checked


_KINDS = ("text", "quantity", "number", "count", "flag", "word", "list")


def scenes(library: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """The scenes that `Scene` finds by their names: {name: its description, one line}. Loads each of them; one that can't be
    loaded has "".

    Args:
        library: the shared library; see `tether.load`.
    """
    loaded = _library.load(library)
    found: dict[str, str] = {}
    name, title = ctypes.create_string_buffer(4096), ctypes.create_string_buffer(4096)
    while loaded.tether_scene_name(len(found), name, len(name)) == 0:
        loaded.tether_scene_title(name.value, title, len(title), None)
        found[os.fsdecode(name.value)] = title.value.decode()
    return found


class Scene:
    """A scene that was loaded and checked. Any number of threads may use it at the same time.

    Args:
        name: a file (.yaml, or a model .xml or .urdf), or the name of a shipped scene, e.g. "gripper".
        settings: what `tether run --set` takes: {"timestep": "1/1000 s"}, or texts "timestep=1/1000 s".
        library: the shared library; see `tether.load`.

    Raises:
        InvalidError: with file, line and remedy.
        LibraryError: there is no libtether.

    A scene is freed by `close()`, at the end of a `with` block, or with its last simulation.
    """

    def __init__(self, name: str | os.PathLike[str], settings: Settings | None = None, *,
                 library: str | os.PathLike[str] | None = None) -> None:
        self._owned: _library.Owned | None = None
        self._library = _library.load(library)
        self._name = os.fsdecode(_arrays.path("name", name))
        error = _library.ErrorText()
        pointer = ctypes.c_void_p()
        texts = _setting_texts(settings)
        status = self._library.tether_scene_load(_arrays.path("name", self._name), _arrays.texts("settings", texts), len(texts), ctypes.byref(pointer),
                                                 ctypes.byref(error))
        _library.check(status, error)
        self._owned = _library.Owned(pointer.value or 0, self._library.tether_scene_free)

    def _get(self) -> _library.Owned:
        if self._owned is None:
            raise _errors.ClosedError(f"the scene {self._name} is closed")
        return self._owned

    @property
    def name(self) -> str:
        """As it was given."""
        return self._name

    @property
    def description(self) -> str:
        """One line; "" where the scene has none."""
        text: bytes = self._library.tether_scene_description(self._get())
        return text.decode()

    @property
    def timestep(self) -> float:
        """s."""
        return float(self._library.tether_scene_timestep(self._get()))

    @property
    def settings(self) -> tuple[Setting, ...]:
        """All keys that `settings` may set, as they are now: those of the scene and of its robots' files, and of sections of
        programs those that stand there. Values of the models are `Sim.value_items`."""
        found: list[Setting] = []
        item = _library.Setting()
        while (status := self._library.tether_scene_setting(self._get(), len(found), ctypes.byref(item))) == 0:
            found.append(Setting(item.path.decode(), item.owner.decode(), _KINDS[item.kind], item.unit.decode(), item.lower, item.upper,
                                 tuple(item.words.decode().split(", ")) if item.words else (), item.initial.decode(),
                                 item.value.decode(), bool(item.is_known)))
        if status != _errors.NotFoundError.status:
            raise _errors.of_status(status, "out of memory")
        return tuple(found)

    def sim(self, seed: int | None = None) -> Sim:
        """A simulation in its initial state. The first of a scene compiles its models, which takes up to seconds.

        Args:
            seed: of all chance (sensor noise), 0 to 2**64 - 1; None: the scene's own.
        """
        from ._sim import Sim
        return Sim(self, seed)

    def batch(self, count: int, commands: Sequence[str] = (), signals: Sequence[str] = (), threads: int = 0, *,
              command_units: Sequence[str | None] | None = None, signal_units: Sequence[str | None] | None = None) -> Batch:
        """Many simulations of this scene, stepped by one call; see `Batch`.

        Args:
            count: how many.
            commands, signals: what a step takes and gives.
            threads: of the batch's own; 0: as many as processors. They do not change what is computed.
            command_units, signal_units: one for each name, e.g. "deg/s"; None: SI. They cost nothing in a step.
        """
        from ._batch import Batch
        return Batch(self, count, commands, signals, threads, command_units=command_units, signal_units=signal_units)

    def close(self) -> None:
        """Lets go of the scene; its simulations keep it as long as they need it."""
        self._owned = None

    def __enter__(self) -> Scene:
        self._get()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<tether.Scene {self._name!r}{' closed' if self._owned is None else f', {self.timestep:g} s a step'}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a tether.Scene can't be pickled or copied: load it again from its name and settings")
