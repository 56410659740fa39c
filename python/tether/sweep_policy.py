"""A policy of `tether sweep`: a function in Python that drives a simulation, called by a sweep's worker.

    controller: {policy: "arm:control"}        # in the plan: control() of arm.py beside it

    def control(read, write):                  # arm.py
        write("swivel.velocity", read("gain") * (1.0 - read("swivel.position")))

The worker starts `python3 -m tether.sweep_policy SOCKET PARENT MODULE:FUNCTION` once, which imports the module once. Each run is a
child of it (fork), so that a run finds what the import left, and nothing of other runs. The worker's end, and the layout of
messages, is src/sweep/policy_message.h.
"""
from __future__ import annotations

import array
import ctypes
import gc
import importlib
import inspect
import math
import os
import random
import resource
import select
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

TICK, SIGNAL, NUMBER, TEXT, NOTHING, COMMAND, REFUSED = range(1, 8)
DONE, READ, WRITE, FAILED, FULL = range(1, 6)
MOST_NAMES = 4096
LONGEST_TEXT = 1000
_KIND = struct.Struct("=Q")
_PR_SET_PDEATHSIG = 1

Read = Callable[[str], Any]
Write = Callable[[str, float], None]
Policy = Callable[[Read, Write], object]


class NotFoundError(LookupError):
    """There is no such signal, axis or command."""


def _die_with(parent: int) -> None:
    """The kernel ends this process with `parent`, however that ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _text(kind: int, text: str) -> bytes:
    encoded = text.replace("\0", "?").encode("utf-8", "replace")[:LONGEST_TEXT]
    return _KIND.pack(kind) + (encoded or b"?")


def _reason(error: BaseException) -> str:
    """Its last line, with the file and line of the user's own code."""
    try:
        said = traceback.format_exception_only(type(error), error)[-1].strip()
    except Exception:  # its __str__ raises
        said = type(error).__name__
    if isinstance(error, SystemExit):
        said = f"it calls sys.exit({error.code!r})" if error.code is not None else "it calls sys.exit()"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename != __file__ and not frame.filename.startswith("<frozen")]
    here = [frame for frame in frames if frame.filename.startswith(os.getcwd() + os.sep)] or frames
    if isinstance(error, SyntaxError) and error.filename:
        return f"{os.path.basename(error.filename)}:{error.lineno}: {said}"
    return f"{os.path.basename(here[-1].filename)}:{here[-1].lineno}: {said}" if here else said


class _Link:
    """A run's end of the socket to its simulation."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.received = bytearray(8 * (1 + MOST_NAMES))
        self.values = memoryview(self.received).cast("d")
        self.signals: dict[str, int] = {}
        self.constants: dict[str, Any] = {}
        self.commands: dict[str, tuple[int, float, float, str]] = {}
        self.sent = array.array("d", [0.0] * (1 + MOST_NAMES))
        memoryview(self.sent).cast("B")[:8] = _KIND.pack(DONE)
        self.blank = memoryview(array.array("d", [math.nan] * MOST_NAMES))
        self.fit()

    def fit(self) -> None:
        """After another command was found."""
        count = len(self.commands)
        self.written: Any = memoryview(self.sent)[1:1 + count]  # of floats, which its type doesn't say
        self.unwritten = self.blank[:count]
        self.done = memoryview(self.sent)[:1 + count]
        self.written[:] = self.unwritten

    def ask(self, kind: int, name: str) -> tuple[int, bytes]:
        if not isinstance(name, str):
            raise TypeError(f"a name is a text, not {name!r}")
        self.connection.send(_text(kind, name))
        answer = self.connection.recv(1 << 16)
        if not answer:
            os._exit(0)  # the run is over
        kind = _KIND.unpack_from(answer)[0]
        if kind == REFUSED:
            raise NotFoundError(answer[8:].decode("utf-8", "replace"))
        return kind, answer[8:]

    def find_signal(self, name: str) -> Any:
        if name in self.constants:
            return self.constants[name]
        kind, answer = self.ask(READ, name)
        if kind == SIGNAL:
            self.signals[name] = place = 1 + len(self.signals)
            self.values[place] = struct.unpack("=d", answer)[0]
            return self.values[place]
        self.constants[name] = struct.unpack("=d", answer)[0] if kind == NUMBER else answer.decode() if kind == TEXT else None
        return self.constants[name]

    def find_command(self, name: str) -> tuple[int, float, float, str]:
        _, answer = self.ask(WRITE, name)
        lower, upper = struct.unpack_from("=dd", answer)
        kept = list(self.written)
        self.commands[name] = found = (len(self.commands), lower, upper, answer[16:].decode("utf-8", "replace"))
        self.fit()
        self.written[:len(kept)] = array.array("d", kept)
        return found

    def serve(self, policy: Policy) -> NoReturn:
        signals, values, commands = self.signals, self.values, self.commands
        receive, send, received = self.connection.recv_into, self.connection.send, self.received

        def read(name: str) -> Any:
            try:
                return values[signals[name]]
            except KeyError:
                return self.find_signal(name)

        def write(name: str, value: float) -> None:
            place, lower, upper, unit = commands.get(name) or self.find_command(name)
            try:
                if lower <= value <= upper:
                    self.written[place] = value
                    return
                number = float(value)
            except (TypeError, ValueError):
                raise TypeError(f"write: {name}: {value!r:.100} is no number; give one, {lower:g} to {upper:g}{unit}") from None
            raise ValueError(f"write: {name}: {number:g} is out of its range; give {lower:g} to {upper:g}{unit}")

        while receive(received):
            policy(read, write)
            send(self.done)
            self.written[:] = self.unwritten
        os._exit(0)


def _seed(seed: int) -> None:
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def _run(connection: socket.socket, policy: Policy, seed: int, memory: int) -> NoReturn:
    """In the child: one run, until the simulation closes its end."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory > 0:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        _seed(seed)
        _Link(connection).serve(policy)
    except MemoryError as error:
        answer = _text(FULL, _reason(error))
    except BaseException as error:
        answer = _text(FAILED, _reason(error))
    try:
        sys.stdout.flush()
        connection.send(answer)
        connection.recv(1)
    finally:
        os._exit(0)


class _Host:
    """Imports the module, and makes a child for each run. The worker hears of each one's end."""

    def __init__(self, control: socket.socket, policy: Policy) -> None:
        self.control = control
        self.policy = policy
        self.child = 0
        self.ended = -1  # descriptor of the child

    def begin(self, message: bytes, connection: socket.socket) -> None:
        self.end()
        seed, memory = struct.unpack("=QQ", message[1:])
        parent = os.getpid()
        self.child = os.fork()
        if self.child == 0:
            self.control.close()
            os.setpgid(0, 0)
            _die_with(parent)
            _run(connection, self.policy, seed, memory)
        connection.close()
        self.ended = os.pidfd_open(self.child)
        self.control.send(b"F")

    def end(self) -> None:
        """Has the child be gone, with all that it started in its group, and says how it ended."""
        if not self.child:
            return
        for kill in (os.killpg, os.kill):
            try:
                kill(self.child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.reap()

    def reap(self) -> None:
        _, status = os.waitpid(self.child, 0)
        try:
            os.killpg(self.child, signal.SIGKILL)  # what it left behind
        except (ProcessLookupError, PermissionError):
            pass
        os.close(self.ended)
        self.child, self.ended = 0, -1
        self.control.send(b"X" + struct.pack("=q", os.waitstatus_to_exitcode(status)))

    def serve(self) -> NoReturn:
        while True:
            poll = select.poll()
            poll.register(self.control, select.POLLIN)
            if self.child:
                poll.register(self.ended, select.POLLIN)
            ready = [descriptor for descriptor, _ in poll.poll()]
            if self.control.fileno() in ready:
                message, descriptors, _, _ = socket.recv_fds(self.control, 64, 1)
                if not message:
                    self.end()
                    os._exit(0)
                if message[:1] == b"B":
                    self.begin(message, socket.socket(fileno=descriptors[0]))
                else:
                    self.end()
            elif self.ended in ready:
                self.reap()


def _import(name: str) -> Policy:
    module, _, function = name.partition(":")
    sys.path.insert(0, os.getcwd())
    found = getattr(importlib.import_module(module), function, None)
    if not callable(found):
        raise NotFoundError(f"{module} has no function {function}(read, write)")
    if inspect.iscoroutinefunction(found) or inspect.isgeneratorfunction(found) or inspect.isasyncgenfunction(found):
        raise TypeError(f"{function} is a generator or a coroutine: a call would do nothing; write a plain function")
    return found  # type: ignore[no-any-return]


def main() -> None:
    descriptor, parent, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    _die_with(parent)
    control = socket.socket(fileno=descriptor)
    try:
        policy = _import(name)
    except BaseException as error:
        control.send(b"E" + _text(FAILED, _reason(error))[8:])
        return
    gc.collect()
    gc.freeze()  # what is there already is not looked at again, and so not copied
    control.send(b"R")
    _Host(control, policy).serve()


if __name__ == "__main__":
    main()
