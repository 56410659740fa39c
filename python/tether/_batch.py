"""Many simulations of one scene."""
from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, NoReturn, SupportsIndex

import numpy as np
import numpy.typing as npt

from . import _arrays, _errors, _library
from ._arrays import Floats
from ._scene import Scene
from ._sim import Sim, Watch


class Batch:
    """Simulations of one scene, stepped by threads of their own with one call, as `Scene.batch` makes them.

    Simulation i begins with the scene's seed + i. The bits of a simulation depend neither on how many there are nor on the
    threads. One that fails is told by `failed`; the rest go on. Values are SI, or in the units that it was made with.

    A batch belongs to one thread at a time, and does not survive a fork.
    """

    def __init__(self, scene: Scene, count: int, commands: Sequence[str] = (), signals: Sequence[str] = (), threads: int = 0, *,
                 command_units: Sequence[str | None] | None = None, signal_units: Sequence[str | None] | None = None) -> None:
        self._scene = scene
        self._library = scene._library
        self._commands = _arrays.names("commands", commands)
        self._signals = _arrays.names("signals", signals)
        self._error_text = _library.ErrorText()
        self._error = ctypes.pointer(self._error_text)
        self._owned: _library.Owned | None = None
        self._pointer: _library.Owned | None = None
        self._watch = Watch()
        pointer = ctypes.c_void_p()
        self._count = _arrays.index("count", count, 1)
        workers = _arrays.index("threads", threads, 0)
        if max(self._count, workers) >= 1 << 31:
            raise _errors.InvalidError(f"count: {self._count}, threads: {workers}; give less than 2**31")
        _library.check(self._library.tether_batch_new(
            scene._get(), self._count, workers, _arrays.texts("commands", self._commands), len(self._commands),
            _arrays.texts("signals", self._signals), len(self._signals), ctypes.byref(pointer), self._error), self._error_text)
        self._owned = _library.Owned(pointer.value or 0, self._library.tether_batch_free)
        self._pointer = self._owned
        if command_units is not None or signal_units is not None:
            units = (_arrays.units("command_units", command_units, len(self._commands)),
                     _arrays.units("signal_units", signal_units, len(self._signals)))
            self._check(self._library.tether_batch_set_units(
                self._pointer, *((ctypes.c_char_p * len(given))(*given) for given in units), self._error))
        self._check(self._library.tether_batch_set_interrupt(self._pointer, self._watch.callback, None, self._error))
        self._out, self._out_address = _arrays.own(self._count, len(self._signals))
        flags: Any = (ctypes.c_uint8 * self._count).from_address(self._library.tether_batch_failed(self._pointer))
        flags.owner = self._owned
        self._failed: npt.NDArray[np.bool_] = np.frombuffer(flags, dtype=np.bool_)
        self._failed.flags.writeable = False
        self._sims: tuple[Sim, ...] | None = None
        nobody = (ctypes.c_uint8 * self._count)()
        self._check(self._library.tether_batch_reset(self._pointer, nobody, None, self._out_address, self._error))

    def _check(self, status: int) -> None:
        if status:
            if self._pointer is None:
                raise _errors.ClosedError("the batch is closed")
            self._watch.raise_what_came()
            raise _errors.of_status(status, self._error_text.string())

    @property
    def scene(self) -> Scene:
        """Of which these are simulations."""
        return self._scene

    @property
    def command_names(self) -> tuple[str, ...]:
        """What a row of `step` takes."""
        return self._commands

    @property
    def signal_names(self) -> tuple[str, ...]:
        """What a row of `out` gives."""
        return self._signals

    @property
    def out(self) -> Floats:
        """[count, signals]: what the last step or reset read. The batch's own memory, overwritten by the next one."""
        return self._out

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        """[count]: true where a simulation has failed. The batch's own memory: read-only, and always as it is now."""
        return self._failed

    def failure(self, index: int) -> _errors.Error | None:
        """Why a simulation failed; None while it goes on."""
        index = _arrays.index("index", index)
        if not -self._count <= index < self._count:
            raise IndexError(f"index: {index}; there are {self._count} simulations")
        error = _library.ErrorText()
        status = self._library.tether_batch_failure(self._open(), index % self._count, ctypes.byref(error))
        return _errors.of_status(status, error.string()) if status else None

    @property
    def sims(self) -> tuple[Sim, ...]:
        """The simulations, to be looked at, saved, restored or stepped one by one between the batch's steps. They are the
        batch's: closing one here changes nothing there."""
        if self._sims is None:
            assert self._owned is not None or self._open()
            made = []
            for i in range(self._count):
                sim = object.__new__(Sim)
                sim._begin(self._scene, _library.Owned(self._library.tether_batch_sim(self._open(), i), None, self._owned))
                made.append(sim)
            self._sims = tuple(made)
        return self._sims

    def step(self, actions: Floats | None = None, steps: int = 1) -> Floats:
        """Sets commands, makes timesteps in every simulation that has not failed, and reads signals.

        Args:
            actions: [count, commands] float64, C order; None only if the batch has no commands. A row with a value that
                is not finite or out of its range fails its simulation alone.
            steps: at least 1.

        Returns:
            `out`: [count, signals], the batch's own memory, overwritten by the next step; copy what is to stay. A row of
            a simulation that failed has what it had before.

        Raises:
            KeyboardInterrupt: simulations that had not made all steps have failed then, until they are reset.
        """
        address = None
        if self._commands or actions is not None:
            address = _arrays.check("actions", actions, (self._count, len(self._commands))).ctypes.data
        if type(steps) is not int or not 0 < steps < 1 << 63:  # ctypes would cut it to 64 bits
            steps = _arrays.index("steps", steps, 1)
        self._check(self._library.tether_batch_step(self._pointer, address, steps, self._out_address, self._error))
        return self._out

    def reset(self, mask: npt.NDArray[np.bool_] | None = None, seeds: Iterable[SupportsIndex] | None = None) -> Floats:
        """Begins simulations anew, failed ones too.

        Args:
            mask: [count] of bool, true for those that are reset; None: all.
            seeds: [count] whole numbers, 0 to 2**64 - 1 (those of others are ignored); None: the scene's own + i.

        Returns:
            `out`, with the rows of all as they are now.
        """
        taken, seeds_address = self._mask(mask), None
        if seeds is not None:
            given = _arrays.elements("seeds", seeds, "whole numbers")
            numbers = np.array([_arrays.seed(f"seeds[{i}]", seed) for i, seed in enumerate(given)], dtype=np.uint64)
            if numbers.shape != (self._count,):
                raise _errors.InvalidError(f"seeds: shape {numbers.shape}; give ({self._count},)")
            seeds_address = numbers.ctypes.data
        self._check(self._library.tether_batch_reset(self._pointer, taken, seeds_address, self._out_address, self._error))
        return self._out

    def _mask(self, mask: npt.NDArray[np.bool_] | None) -> Any:
        if mask is None:
            return None
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self._count,):
            raise _errors.InvalidError(f"mask: {mask!r}; give a numpy.ndarray of bool, shape ({self._count},)")
        return (ctypes.c_uint8 * self._count).from_buffer_copy(mask.tobytes())

    def save(self) -> npt.NDArray[np.uint8]:
        """The states of all simulations.

        Returns:
            A new array [count, bytes of a state]; a row's `tobytes()` is what `Sim.restore` takes. The row of one that failed
            with FailedError is 0, and no state.
        """
        size = self._library.tether_sim_state_size(self._library.tether_batch_sim(self._open(), 0))
        states = np.empty((self._count, size), np.uint8)
        self._check(self._library.tether_batch_save(self._pointer, states.ctypes.data, states.nbytes, self._error))
        return states

    def restore(self, states: npt.NDArray[np.uint8], mask: npt.NDArray[np.bool_] | None = None) -> Floats:
        """Simulations go on from saved states, failed ones too.

        Args:
            states: [count, bytes of a state] of uint8; all may be copies of one. A row that is no state of this scene fails its
                simulation alone.
            mask: [count] of bool, true for those that are restored; None: all.

        Returns:
            `out`, with the rows of all as they are now.
        """
        if not isinstance(states, np.ndarray) or states.dtype != np.uint8 or states.ndim != 2 or len(states) != self._count:
            raise _errors.InvalidError(f"states: give a numpy.ndarray of uint8, shape ({self._count}, bytes of a state)")
        whole = np.ascontiguousarray(states)
        self._check(self._library.tether_batch_restore(self._pointer, self._mask(mask), whole.ctypes.data, whole.nbytes,
                                                       self._out_address, self._error))
        return self._out

    def _open(self) -> _library.Owned:
        if self._pointer is None:
            raise _errors.ClosedError("the batch is closed")
        return self._pointer

    def close(self) -> None:
        """Ends the threads and frees the simulations, once nothing shows their memory any more."""
        self._owned = self._pointer = self._sims = None
        self._failed = self._failed.copy()

    def __len__(self) -> int:
        return self._count

    def __enter__(self) -> Batch:
        self._open()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return (f"<tether.Batch of {self._count} {self._scene.name!r}"
                + (" closed>" if self._pointer is None else f", {int(self._failed.sum())} failed>"))

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a tether.Batch can't be pickled or copied: pickle [sim.save() for sim in batch.sims]")
