"""One simulation."""
from __future__ import annotations

import ctypes
import os
import struct
import weakref
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Callable, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from . import _arrays, _errors, _library
from ._arrays import Floats
from ._scene import Scene


class Item(NamedTuple):
    """A signal, a command or a value of a model that can be named."""

    name: str
    unit: str  # SI; "1" for counts, flags and ratios
    robot: str  # that it belongs to; "" for the arena's and the world's
    lower: float  # of a command or value, in `unit`: values outside are refused; ±inf for signals
    upper: float


class Body(NamedTuple):
    """A body. The arrays are the simulation's own memory: read-only, and always those of the last step."""

    name: str
    parent: int  # index; 0 is the world
    mass: float  # kg, of this body alone
    position: Floats  # [3] m, of the body frame
    rotation: Floats  # [4] w x y z
    velocity: Floats  # [3] m/s
    spin: Floats  # [3] rad/s, world frame


class Joint(NamedTuple):
    """A joint. The arrays are the simulation's own memory: read-only, and always those of the last step."""

    name: str
    body: int  # that it moves
    position: Floats  # [axes] rad or m; hinge and slide have 1 axis, ball 3, free 0
    velocity: Floats  # [axes] rad/s or m/s
    torque: Floats  # [axes] N·m or N
    limits: tuple[float, float] | None  # rad or m; None: unlimited


CONTACT = np.dtype([("body_a", np.int32), ("body_b", np.int32), ("position", np.float64, 3), ("normal", np.float64, 3),
                    ("force", np.float64, 3), ("depth", np.float64)])
"""dtype of a contact: indices of bodies; m, world frame; unit vector from a to b; N on b, world frame; m, positive where they
overlap."""


_MOST_KNOWN = 1000  # lists of names; who has always other ones looks them up anew


class _Resolved(NamedTuple):
    """Names that were resolved, with memory of their own for values."""

    handles: Any  # tether_handle [count]
    values: Floats  # [count]
    address: int  # of `values`
    block: Any  # what `values` stands in
    pack: Callable[..., None]


def _interrupt(raised: list[BaseException]) -> Iterator[int]:
    """Answers whether a call is to end: yes once a signal's handler (that of Ctrl-C) raised something.

    Python runs such handlers before the first instruction of a function, where the function can't catch what they raise; in a
    generator that goes on, that instruction stands inside `try`.
    """
    while True:
        try:
            while True:
                yield len(raised)
        except GeneratorExit:
            return
        except BaseException as error:
            raised.append(error)


class Watch:
    """What the library asks during long calls whether they are to end."""

    def __init__(self) -> None:
        self._raised: list[BaseException] = []
        generator: Any = _interrupt(self._raised)
        next(generator)
        self.callback = _library.INTERRUPT(generator.send)

    def raise_what_came(self) -> None:
        """Raises what ended a call, if something did; without the frame of the generator, which goes on."""
        if self._raised:
            raise self._raised.pop().with_traceback(None)


class Recording:
    """The run of a simulation on its way into a file, as `Sim.record` begins it. It ends by `close()`, at the end of a `with` block,
    or with the simulation."""

    def __init__(self, sim: Sim, path: str) -> None:
        self._sim = weakref.ref(sim)  # which refers to this: who forgets the simulation ends both at once
        self._path = path

    @property
    def path(self) -> str:
        """The file."""
        return self._path

    def close(self) -> None:
        """Writes what is left; blocks until the disk has it.

        Raises:
            FailedError: not all of the run is in the file (the disk was full); the text says why, and what is kept.
            BusyError: another thread is using the simulation; it goes on being recorded.
        """
        sim = self._get()
        if sim is not None:
            sim._end_recording()

    def _get(self) -> Sim | None:
        """The simulation while it is being recorded."""
        sim = self._sim()
        return sim if sim is not None and sim._pointer is not None and sim._recording is self else None

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<tether.Recording to {self._path!r}{' closed' if self._get() is None else ''}>"


class Sim:
    """A simulation, as `Scene.sim` makes it. It belongs to one thread at a time: another one gets BusyError.

    Values are SI (m, rad, s, kg, N, N·m) unless a unit is given. Frames are right-handed, Z up; quaternions are w x y z. The same
    scene, seed and inputs give the same bits.

    `Ctrl-C` ends a long `step` after some of its steps; the simulation can go on from there.

    A simulation is freed by `close()`, at the end of a `with` block, or when nothing refers to it any more. Arrays that show its
    memory (`bodies`, `joints`) keep it alive.
    """

    def __init__(self, scene: Scene, seed: int | None = None) -> None:
        pointer = ctypes.c_void_p()
        error = _library.ErrorText()
        owner = scene._get()
        _library.check(scene._library.tether_sim_new(owner, ctypes.byref(pointer), ctypes.byref(error)), error)
        self._begin(scene, _library.Owned(pointer.value or 0, scene._library.tether_sim_free))
        if seed is not None:
            self.reset(seed)

    def _begin(self, scene: Scene, owned: _library.Owned) -> None:
        library = scene._library
        self._scene = scene
        self._library = library
        self._owned: _library.Owned | None = owned
        self._pointer: _library.Owned | None = owned
        self._error_text = _library.ErrorText()
        self._error = ctypes.pointer(self._error_text)
        self._watch = Watch()
        self._exchange = library.tether_sim_exchange
        self._ios: Any = None
        self._io_count = 0
        self._groups: list[tuple[bool, _Resolved]] = []
        self._known: dict[tuple[Any, ...], _Resolved] = {}
        self._bodies: tuple[Body, ...] | None = None
        self._joints: tuple[Joint, ...] | None = None
        self._recording: Recording | None = None
        self._check(library.tether_sim_set_interrupt(self._pointer, self._watch.callback, None, self._error))

    def _fail(self, status: int) -> NoReturn:
        if self._pointer is None:
            raise _errors.ClosedError("the simulation is closed")
        self._watch.raise_what_came()
        if status == _errors.BusyError.status:  # the text may be that of the thread that is in
            raise _errors.BusyError("another thread is using this simulation")
        raise _errors.of_status(status, self._error_text.string())

    def _check(self, status: int) -> None:
        if status:
            self._fail(status)

    def _get(self) -> _library.Owned:
        if self._owned is None:
            raise _errors.ClosedError("the simulation is closed")
        return self._owned

    # --- what it is ---

    @property
    def scene(self) -> Scene:
        """Of which it is one."""
        return self._scene

    @property
    def time(self) -> float:
        """Simulated since the last reset, s."""
        return float(self._library.tether_sim_time(self._get()))

    @property
    def steps(self) -> int:
        """Made since the last reset."""
        return int(self._library.tether_sim_steps(self._get()))

    @property
    def hash(self) -> int:
        """64 bits of what decides the future but the seed: equal states have equal hashes."""
        return int(self._library.tether_sim_hash(self._get()))

    def _items(self, what: str) -> tuple[Item, ...]:
        pointer = self._get()
        item = _library.Item()
        found = []
        one = getattr(self._library, f"tether_sim_{what}_item")
        for i in range(getattr(self._library, f"tether_sim_{what}_count")(pointer)):
            one(pointer, i, ctypes.byref(item))
            found.append(Item(item.name.decode(), item.unit.decode(), item.robot.decode(), item.lower, item.upper))
        return tuple(found)

    @property
    def signal_items(self) -> tuple[Item, ...]:
        """Every signal that can be read, in an order that is the same for all simulations of the scene."""
        return self._items("signal")

    @property
    def command_items(self) -> tuple[Item, ...]:
        """Every command that can be given, with its range, in an order that is the same for all simulations of the scene."""
        return self._items("command")

    @property
    def value_items(self) -> tuple[Item, ...]:
        """Every value of the models that can be set, with its range: masses, frictions, dampings, gears, noises."""
        return self._items("value")

    # --- what drives it ---

    def step(self, steps: int = 1) -> None:
        """Makes timesteps under the commands in force, then senses.

        Arrays of `commands` are applied before, those of `signals` are filled after.

        Args:
            steps: at least 1.

        Raises:
            DivergedError: the simulation stands before the step that diverged: reset or restore it.
            InvalidError: an array of commands has a value that is not finite or out of its range; nothing changed.
            BusyError: another thread is using it.
            KeyboardInterrupt: after some of the steps.
        """
        if type(steps) is not int or not 0 < steps < 1 << 63:  # ctypes would cut it to 64 bits
            steps = _arrays.index("steps", steps, 1)
        status = self._exchange(self._pointer, self._ios, self._io_count, steps, self._error)
        if status:
            self._fail(status)

    def reset(self, seed: int | None = None) -> None:
        """Back to the initial state; commands are forgotten.

        Args:
            seed: of all chance from here on, 0 to 2**64 - 1; None: the scene's own.
        """
        value = None if seed is None else ctypes.byref(ctypes.c_uint64(_arrays.seed("seed", seed)))
        self._check(self._library.tether_sim_reset(self._pointer, value, self._error))
        self._sense()

    def save(self) -> bytes:
        """The whole state; of the same size for all simulations of a scene. It can be kept, sent and pickled."""
        size = self._library.tether_sim_state_size(self._get())
        state = ctypes.create_string_buffer(size)
        self._check(self._library.tether_sim_save(self._pointer, state, size, self._error))
        return state.raw

    def restore(self, state: bytes | bytearray | memoryview) -> None:
        """Goes on from a saved state of the same scene, bit for bit: with the seed of the simulation that was saved.

        Raises:
            InvalidError, OtherVersionError: it is not one of this scene; nothing changed.
        """
        try:
            whole = bytes(memoryview(state))
        except TypeError:
            raise _errors.InvalidError(f"state: a {type(state).__name__}; give bytes, as save() returned them") from None
        self._check(self._library.tether_sim_restore(self._pointer, whole, len(whole), self._error))
        self._sense()

    def clone(self) -> Sim:
        """A second simulation in the same state with the same seed; what happens to one does not touch the other. Arrays of
        `commands` and `signals` stay with this one."""
        pointer = ctypes.c_void_p()
        self._check(self._library.tether_sim_clone(self._pointer, ctypes.byref(pointer), self._error))
        made = object.__new__(Sim)
        made._begin(self._scene, _library.Owned(pointer.value or 0, self._library.tether_sim_free))
        return made

    # --- commands and signals ---

    def _resolve(self, what: str, names: tuple[str, ...], units: Sequence[str | None] | None) -> _Resolved:
        given = _arrays.units("units", units, len(names))
        find = getattr(self._library, f"tether_{what}_find")
        handles = (_library.Handle * len(names))()
        pointer = self._get()
        for i, name in enumerate(names):
            self._check(find(pointer, _arrays.text(f"names[{i}]", name), given[i], ctypes.byref(handles[i]), self._error))
        values, address = _arrays.own(len(names))
        block = values.base if values.base is not None else values
        return _Resolved(handles, values, address, block, struct.Struct(f"{len(names)}d").pack_into)

    def _cached(self, what: str, names: tuple[str, ...], units: Sequence[str | None] | None) -> _Resolved:
        try:
            key = (what, names, None if units is None else tuple(units))
            known = self._known.get(key)
        except TypeError:  # nothing that could be a list of names
            raise _errors.InvalidError(f"names: {names!r}, units: {units!r}; give texts") from None
        if known is None:
            known = self._resolve(what, _arrays.names("names", names), units)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = known
        return known

    def _units_of(self, what: str, names: tuple[str, ...], units: Mapping[str, str] | None) -> list[str | None] | None:
        """One for each name, also where it is spelled otherwise. Of others only what there is: a mistyped name would leave its value in SI."""
        if units is None:
            return None
        others = {self._cached(what, (name,), (unit,)).handles[0].index: unit
                  for name, unit in _arrays.mapping("units", units).items() if name not in names}
        if not others:
            return [units.get(name) for name in names]
        handles = self._cached(what, names, None).handles
        return [units.get(name, others.get(handles[i].index)) for i, name in enumerate(names)]

    def apply(self, commands: Mapping[str, float], units: Mapping[str, str] | None = None) -> None:
        """Sets commands, all or none. They hold until changed, or until a reset.

        Args:
            commands: values by name; with one robot its name may be left out.
            units: of the values, by name; SI where there is none.

        Raises:
            NotFoundError: there is no such command or unit.
            InvalidError: a value is not finite or out of its range; nothing changed.
        """
        names = tuple(_arrays.mapping("commands", commands))
        resolved = self._cached("command", names, self._units_of("command", names, units))
        try:
            resolved.pack(resolved.block, 0, *commands.values())
        except struct.error:
            raise _errors.InvalidError(f"commands: {dict(commands)!r}; give numbers") from None
        self._check(self._library.tether_sim_apply(self._pointer, resolved.handles, resolved.address, len(names), self._error))

    def read(self, names: Sequence[str], units: Sequence[str | None] | None = None) -> Floats:
        """Signals as they were after the last step, reset or restore.

        Args:
            names: of the signals; with one robot its name may be left out.
            units: one for each, e.g. "deg"; None: SI.

        Returns:
            A new array [len(names)].
        """
        resolved = self._cached("signal", _arrays.elements("names", names, "names"), units)
        self._check(self._library.tether_sim_read(self._pointer, resolved.handles, resolved.address, len(resolved.values), self._error))
        return resolved.values.copy()

    def set_values(self, values: Mapping[str, float], units: Mapping[str, str] | None = None) -> None:
        """Sets values of the models, all or none, from the next step on. A reset leaves them; a saved state and a clone have them.

        Args:
            values: by name, e.g. "models.gripper.bodies.forearm.mass" (`value_items`).
            units: of the values, by name; SI where there is none.

        Raises:
            NotFoundError: there is no such value or unit.
            InvalidError: one is not finite or out of its range; nothing changed.
        """
        names = tuple(_arrays.mapping("values", values))
        resolved = self._cached("value", names, self._units_of("value", names, units))
        try:
            resolved.pack(resolved.block, 0, *values.values())
        except struct.error:
            raise _errors.InvalidError(f"values: {dict(values)!r}; give numbers") from None
        self._check(self._library.tether_sim_set_values(self._pointer, resolved.handles, resolved.address, len(names), self._error))

    def get_values(self, names: Sequence[str], units: Sequence[str | None] | None = None) -> Floats:
        """Values of the models as they are now.

        Returns:
            A new array [len(names)].
        """
        resolved = self._cached("value", _arrays.elements("names", names, "names"), units)
        self._check(self._library.tether_sim_get_values(self._pointer, resolved.handles, resolved.address, len(resolved.values), self._error))
        return resolved.values.copy()

    def commands(self, names: Sequence[str], units: Sequence[str | None] | None = None) -> Floats:
        """An array whose values are applied by each `step` from now on. It begins with the values in force.

        A command that stands in several arrays has the value of the last one made. `apply` changes what is in force, not the
        arrays, which win at the next step.

        Returns:
            An array [len(names)], yours to fill. `detach` ends it.
        """
        resolved = self._resolve("command", _arrays.names("names", names), units)
        self._check(self._library.tether_sim_read_commands(self._pointer, resolved.handles, resolved.address, len(names), self._error))
        self._attach(True, resolved)
        return resolved.values

    def signals(self, names: Sequence[str], units: Sequence[str | None] | None = None) -> Floats:
        """An array that each `step`, `reset` and `restore` fills from now on. It begins with the signals as they are.

        Returns:
            An array [len(names)], overwritten by the next step. `detach` ends it.
        """
        resolved = self._resolve("signal", _arrays.names("names", names), units)
        self._attach(False, resolved)
        self._sense()
        return resolved.values

    def detach(self, array: Floats) -> None:
        """An array of `commands` or `signals` is no longer applied or filled. It stays as it is."""
        kept = [(is_command, group) for is_command, group in self._groups if group.values is not array]
        if len(kept) == len(self._groups):
            raise _errors.InvalidError("array: not one that this simulation's commands() or signals() returned")
        self._groups = kept
        self._lay_out()

    def _attach(self, is_command: bool, resolved: _Resolved) -> None:
        self._groups.append((is_command, resolved))
        self._lay_out()

    def _lay_out(self) -> None:
        ios: Any = (_library.Io * max(1, len(self._groups)))()
        for io, (is_command, group) in zip(ios, self._groups):
            if is_command:
                io.commands, io.command_values = ctypes.addressof(group.handles), group.address
                io.command_count = len(group.values)
            else:
                io.signals, io.signal_values = ctypes.addressof(group.handles), group.address
                io.signal_count = len(group.values)
        ios.keeps = tuple(self._groups)  # a call of another thread may have them when an array is detached
        self._ios, self._io_count = ios, len(self._groups)

    def _sense(self) -> None:
        for is_command, group in self._groups:
            if not is_command:
                self._check(self._library.tether_sim_read(self._pointer, group.handles, group.address, len(group.values), self._error))

    # --- bodies, joints, contacts ---

    @property
    def bodies(self) -> tuple[Body, ...]:
        """All bodies; index 0 is the world. Their arrays follow the simulation without a call."""
        if self._bodies is None:
            owner = self._get()
            body = _library.Body()
            found = []
            for i in range(self._library.tether_sim_body_count(owner)):
                self._library.tether_sim_body(owner, i, ctypes.byref(body))
                found.append(Body(body.name.decode(), body.parent, body.mass, _arrays.view(body.position, 3, owner),
                                  _arrays.view(body.rotation, 4, owner), _arrays.view(body.velocity, 3, owner),
                                  _arrays.view(body.spin, 3, owner)))
            self._bodies = tuple(found)
        return self._bodies

    @property
    def joints(self) -> tuple[Joint, ...]:
        """All joints. Their arrays follow the simulation without a call."""
        if self._joints is None:
            owner = self._get()
            joint = _library.Joint()
            found = []
            for i in range(self._library.tether_sim_joint_count(owner)):
                self._library.tether_sim_joint(owner, i, ctypes.byref(joint))
                axes = joint.axis_count
                found.append(Joint(joint.name.decode(), joint.body, _arrays.view(joint.position, axes, owner),
                                   _arrays.view(joint.velocity, axes, owner), _arrays.view(joint.torque, axes, owner),
                                   (joint.lower, joint.upper) if joint.is_limited else None))
            self._joints = tuple(found)
        return self._joints

    def contacts(self) -> npt.NDArray[np.void]:
        """Those of the last step.

        Returns:
            A new array [contacts] of dtype `tether.CONTACT`.
        """
        pointer = self._get()
        count = self._library.tether_sim_contact_count(pointer)
        block = (_library.Contact * count)()
        for i in range(count):
            self._library.tether_sim_contact(pointer, i, ctypes.byref(block[i]))
        return np.frombuffer(block, dtype=CONTACT) if count else np.empty(0, dtype=CONTACT)

    # --- its recording ---

    def record(self, path: str | os.PathLike[str], *, period: float = 0.01, most_bytes: int = 0, wait: bool = True) -> Recording:
        """Keeps the run from here on in a new file: `tether verify` proves it, `replay`, `export` and `compare` take it.

        Args:
            path: of the file; it must not exist, or be empty.
            period: s; signals and poses are kept at most this often; 0: after every call. Inputs, resets, restored states and
                state hashes are kept always.
            most_bytes: of the file: from nine tenths of it on no more signals are kept, beyond it nothing; 0: no limit.
            wait: calls wait for a disk that is slow for long; False: that costs the rest of the recording, and never time.

        Returns:
            The recording; it goes on while the simulation lives, even if nothing refers to it.

        Raises:
            InvalidError: the simulation is being recorded already, or a file of the scene has changed since it was loaded.
            FailedError: the file can't be made, or is not empty.
        """
        try:
            seconds = float(period)
        except (TypeError, ValueError):
            raise _errors.InvalidError(f"period: {period!r}; give a number of seconds") from None
        options = _library.RecordOptions(ctypes.sizeof(_library.RecordOptions), seconds, _arrays.index("most_bytes", most_bytes, 0),
                                         not wait)
        self._check(self._library.tether_sim_record(self._pointer, _arrays.path("path", path), ctypes.byref(options), self._error))
        self._recording = Recording(self, os.fspath(path))
        return self._recording

    def _end_recording(self) -> None:
        status = self._library.tether_sim_record_end(self._pointer, self._error)
        if status != _errors.BusyError.status:
            self._recording = None
        if status != _errors.NotFoundError.status:  # in a child of fork(), whose recording is its parent's
            self._check(status)

    # --- its end ---

    def close(self) -> None:
        """Ends its recording, and frees the simulation, once no array shows its memory any more. Further calls raise ClosedError.

        Raises:
            FailedError: not all of the run is in the recording's file.
        """
        try:
            if self._recording is not None:
                self._recording.close()
        finally:
            self._owned = self._pointer = None
            self._bodies = self._joints = None

    def __enter__(self) -> Sim:
        self._get()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<tether.Sim of {self._scene.name!r} {'closed' if self._owned is None else f'at {self.time:g} s'}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a tether.Sim can't be pickled or copied: pickle sim.save(), and restore() that into a simulation of the same "
                        "scene; clone() makes a second one here")
