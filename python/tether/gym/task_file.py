"""Tasks from YAML. `docs/gym.md` has the table of keys; every error names file, line, key and remedy."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, Mapping, NamedTuple, Sequence

import numpy as np
from numpy.typing import NDArray

import tether
from tether.gym import terms
from tether.gym.document import Item, Keys, TaskError, nearest, read
from tether.gym.task import Action, Flags, Floats, Frame, Observed, Start, Task
from tether.gym.terms import Quantity, Values

TASKS = os.path.join(os.path.dirname(__file__), "tasks")  #: of the ready ones

KEYS = ("description", "scene", "settings", "substeps", "max_steps", "actions", "held", "goals", "quantities", "observations",
        "rewards", "ends", "start", "randomize", "info")
OPERATIONS = ("join", "difference", "sum", "norm", "scale", "absolute", "take", "point", "into")
EVERYWHERE = ("time", "step", "match_time")  #: signals without a dot that every scene has
DEPTH = 20  #: of operations in each other: an alias that holds itself ends here
MOST = 10_000  #: values in a file: aliases of aliases say a lot in few bytes
REWARDS = ("value", "change", "square", "near", "end", "each_step")


class Range(NamedTuple):
    """Uniform between two vectors."""

    low: list[float]
    high: list[float]

    def draw(self, rng: np.random.Generator) -> list[float]:
        return [min(float(a + (b - a) * rng.random()), b) for a, b in zip(self.low, self.high)]


def read_range(item: Item) -> tuple[float, float]:
    low, high = item.numbers(2)
    if low >= high:
        raise item.fail(f"{low:g}, {high:g}: the lower bound comes first")
    return low, high


class Lazy(Dict[str, Floats]):
    """Signals, goals and actions; a quantity is computed once, when it is first asked for."""

    def __init__(self, quantities: Mapping[str, Quantity], needs: Mapping[str, list[str]]) -> None:
        super().__init__()
        self.quantities, self.needs = quantities, needs

    def __missing__(self, name: str) -> Floats:
        """After all that it needs, one by one: a chain of them may be longer than Python lets functions call each other."""
        waiting = [name]
        while waiting:
            missing = [need for need in self.needs[waiting[-1]] if need not in self]
            waiting += missing
            if not missing:
                last = waiting.pop()
                if last not in self:
                    self[last] = self.quantities[last](self)
        return self[name]


@dataclass
class Reward:
    weight: float
    value: Callable[[Values, Values, dict[str, Flags]], Floats]  #: of now, before and the ends: [K]


@dataclass
class End:
    name: str
    terminates: bool
    test: Callable[[Values], Flags]


class FileTask(Task):
    """A task that a file describes."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.file = os.fspath(file)
        keys = Keys(read(self.file), KEYS, required=("scene", "actions", "observations", "rewards"))
        self.name = os.path.splitext(os.path.basename(self.file))[0]
        self.description = keys.text("description")
        self.scene_item = keys["scene"]
        self.scene = self._scene(self.scene_item.text())
        self._setting_items = keys.mapping("settings")
        self.settings = {path: value.text() for path, value in self._setting_items.items()}
        self.substeps = keys.integer("substeps", 1, least=1)
        self.max_steps = keys.integer("max_steps", 1000, least=1)
        self._signals: dict[str, Item] = {}
        self._plain: frozenset[str] | None = None
        self._operations = 0
        self._commands: dict[str, Item] = {}
        self._read_actions(keys)
        self.goals = {name: self._goal(name, item) for name, item in keys.mapping("goals").items()}
        self.widths = {name: len(goal.low) for name, goal in self.goals.items()}
        self.widths.update(action=len(self.actions), action_before=len(self.actions))
        self.quantities: dict[str, Quantity] = {}
        self._needs: dict[str, list[str]] = {}  #: quantities that each uses itself
        self._used: list[str] = []  #: by what was read last
        for name, item in keys.mapping("quantities").items():
            self._define(name, item)
        self._read_observations(keys)
        self._read_ends(keys)
        self.rewards = [self._reward(item) for item in keys.items("rewards")]
        self.looks_back = any("change" in item.pairs() for item in keys.items("rewards"))
        self._read_start(keys)
        self.shown: dict[str, Quantity] = {}
        for item in keys.items("info"):
            if item.text() not in self.shown:
                self._take_info(item.text(), "a quantity", item)
                self.shown[item.text()] = self.quantity(item)[0]
        self.signals = list(self._signals)

    def __reduce__(self) -> tuple[type[FileTask], tuple[str]]:
        """Copies and pickles read the file again: a process that is started for an environment may be given the task."""
        return type(self), (os.path.abspath(self.file),)

    def _scene(self, text: str) -> str:
        """A path is relative to the file; a bare name that is no file beside it is a shipped scene's."""
        beside = os.path.join(os.path.dirname(os.path.abspath(self.file)), text)  # the current folder may be another one later
        return beside if os.sep in text or os.path.isfile(beside) else text

    # --- what the file says ---

    def _read_actions(self, keys: Keys) -> None:
        actions = []
        for item in keys.items("actions"):
            entry = Keys(item, ("command", "range"), required=("command", "range"))
            low, high = entry["range"].numbers(2)
            if low == high:
                raise entry["range"].fail(f"{low:g}, {high:g}: an action has to change something")
            for name in entry["command"].names():
                self._command(name, entry["command"])
            actions.append(Action(entry["command"].names(), low, high))
        if not actions:
            raise keys["actions"].fail("at least one action is expected")
        self.actions = actions
        self.held = {}
        for name, item in keys.mapping("held").items():
            self._command(name, item.key)
            self.held[name] = item.number()

    def _command(self, name: str, item: Item) -> None:
        if name in self._commands:
            raise item.fail(f"command '{name}' is driven twice")
        self._commands[name] = item

    def _goal(self, name: str, item: Item) -> Range:
        self._new_name(name, item.key)
        entry = Keys(item, ("low", "high"), required=("low", "high"))
        low = entry["low"].numbers()
        high = entry["high"].numbers(len(low))
        if not low:
            raise entry["low"].fail("at least one number is expected")
        for a, b in zip(low, high):
            if a > b:
                raise entry["high"].fail(f"{b:g} is below the lower bound, {a:g}")
        return Range(low, high)

    def _new_name(self, name: str, item: Item) -> None:
        if "." in name or name in ("action", "action_before", *getattr(self, "widths", {})):
            raise item.fail(f"'{name}' can't name anything new: "
                            + ("names with a dot are signals'" if "." in name else "it is taken"))

    def _define(self, name: str, item: Item) -> None:
        self._new_name(name, item.key)
        self._used.clear()
        self.quantities[name], self.widths[name] = self.quantity(item)
        self._needs[name] = [*self._used]

    def quantity(self, item: Item, width: int | None = None) -> tuple[Quantity, int]:
        """What computes a quantity, and how many numbers it has; exactly `width` if that is given."""
        made, found = self._any_quantity(item)
        if width is not None and found != width:
            raise item.fail(f"{width} number{'' if width == 1 else 's'} expected, {found} given"
                            + ("; its length is {norm: …}" if width == 1 else ""))
        return made, found

    def _any_quantity(self, item: Item) -> tuple[Quantity, int]:
        if item.path.count("[") + item.path.count(".") > DEPTH:
            raise item.fail(f"nested more than {DEPTH} deep")
        self._operations += 1
        if self._operations > MOST:
            raise item.fail(f"more than {MOST} values in one file, those of aliases counted each time")
        if item.is_text:
            return self._named(item)
        if item.is_list:
            return self._joined(item)
        keys = Keys(item, (*OPERATIONS, "by", "at", "body", "numbers"))
        operation = keys.only(OPERATIONS)
        extra = {"scale": ("by",), "into": ("body",), "take": ("numbers",)}.get(operation, ())
        for name in keys.pairs:
            if name != operation and name not in extra and not (operation == "point" and name == "at"):
                raise keys[name].key.fail(f"'{name}' does not belong to '{operation}'")
        for name in extra:
            if name not in keys:
                raise item.fail(f"'{operation}' needs '{name}', too")
        return self._operation(operation, keys)

    def _operation(self, operation: str, keys: Keys) -> tuple[Quantity, int]:
        operand = keys[operation]
        if operation == "join":
            return self._joined(operand)
        if operation in ("difference", "sum"):
            return self._added(operand, -1 if operation == "difference" else 1)
        if operation == "point":
            pose, at = self._pose(operand), keys["at"].numbers(3) if "at" in keys else [0.0, 0.0, 0.0]
            return lambda values: terms.point_of(pose(values), at), 3
        if operation == "into":
            vector, _ = self.quantity(operand, width=3)
            pose = self._pose(keys["body"])
            return lambda values: terms.into(pose(values), vector(values)), 3
        inner, width = self.quantity(operand)
        if operation == "norm":
            return lambda values: terms.norm(inner(values)), 1
        if operation == "absolute":
            return lambda values: np.abs(inner(values)), width
        if operation == "take":
            chosen = [number.integer(least=0) for number in keys["numbers"].items()]
            if not chosen or max(chosen) >= width:
                raise keys["numbers"].fail(f"numbers from 0 to {width - 1} are expected")
            return lambda values: terms.taken(inner(values), chosen), len(chosen)
        by: Floats = np.array(keys["by"].numbers(width) if keys["by"].is_list else [keys["by"].number()] * width)
        return lambda values: inner(values) * by, width

    def _named(self, item: Item) -> tuple[Quantity, int]:
        name = item.text()
        if name not in self.widths:
            if "." not in name and name not in EVERYWHERE:
                plain = self._plain_signals()
                if name not in plain:
                    raise item.fail(f"there is no quantity '{name}' up to here{nearest(name, [*self.widths, *plain])}")
            self._signals.setdefault(name, item)
        if name in self.quantities:
            self._used.append(name)
        return lambda values: values[name], self.widths.get(name, 1)

    def _plain_signals(self) -> frozenset[str]:
        """The scene's signals without a dot, sensors above all. The scene is loaded for them only where a file names one."""
        if self._plain is None:
            with self.load_scene() as scene, scene.sim() as sim:
                self._plain = frozenset(item.name for item in sim.signal_items if "." not in item.name)
        return self._plain

    def _joined(self, item: Item) -> tuple[Quantity, int]:
        parts = [self.quantity(part) for part in item.items()]
        if not parts:
            raise item.fail("at least one quantity is expected")
        made = [part for part, _ in parts]
        return lambda values: terms.join([part(values) for part in made]), sum(width for _, width in parts)

    def _added(self, item: Item, sign: float) -> tuple[Quantity, int]:
        entries = item.items()
        if len(entries) != 2:
            raise item.fail(f"two quantities are expected, not {len(entries)}")
        first, width = self.quantity(entries[0])
        second, _ = self.quantity(entries[1], width)
        return lambda values: first(values) + sign * second(values), width

    def _pose(self, item: Item) -> Quantity:
        names = [f"{item.text()}.{part}" for part in terms.POSE]
        for name in names:
            self._signals.setdefault(name, item)
        return lambda values: terms.join([values[name] for name in names])

    def _read_observations(self, keys: Keys) -> None:
        self.seen: list[Quantity] = []
        observed: list[Observed] = []
        for item in keys.items("observations"):
            entry = Keys(item, ("value", "range", "noise"), required=("value", "range"))
            made, width = self.quantity(entry["value"])
            low, high = read_range(entry["range"])
            sigma = entry.number("noise", 0.0)
            if sigma < 0:
                raise entry["noise"].fail(f"{sigma:g} is below 0")
            observed.extend(Observed(name, low, high, sigma) for name in self._labels(entry["value"], width))
            self.seen.append(made)
        if not observed:
            raise keys["observations"].fail("at least one observation is expected")
        self.observed = observed

    @staticmethod
    def _labels(item: Item, width: int) -> list[str]:
        """A name for each number: its own where every one has one."""
        leaves = [item]
        while any(leaf.is_list for leaf in leaves):
            leaves = [part for leaf in leaves for part in (leaf.items() if leaf.is_list else [leaf])]
        if len(leaves) == width and all(leaf.is_text for leaf in leaves):
            return [leaf.text() for leaf in leaves]
        name = item.text() if item.is_text else item.path
        return [f"{name}[{i}]" for i in range(width)]

    def _read_ends(self, keys: Keys) -> None:
        self.end_list: list[End] = []
        self._infos = {"failure": "why a simulation failed", "_failure": "whose that is"}
        for item in keys.items("ends"):
            entry = Keys(item, ("name", "value", "below", "above", "truncates"), required=("name", "value"))
            made, _ = self.quantity(entry["value"], width=1)
            name, side = entry["name"].text(), entry.only(("below", "above"))
            if name in (end.name for end in self.end_list):
                raise entry["name"].fail(f"'{name}' stands twice")
            self._take_info(name, "an end", entry["name"])
            test = self._test(made, side == "below", entry[side].number())
            self.end_list.append(End(name, not entry.flag("truncates", False), test))

    @staticmethod
    def _test(made: Quantity, below: bool, bound: float) -> Callable[[Values], Flags]:
        if below:
            return lambda values: made(values)[:, 0] < bound
        return lambda values: made(values)[:, 0] > bound

    def _reward(self, item: Item) -> Reward:
        entry = Keys(item, (*REWARDS, "weight", "within"))
        kind = entry.only(REWARDS)
        weight = entry.number("weight", 1.0)
        if ("within" in entry) != (kind == "near"):
            raise item.fail("'within' belongs to 'near', which needs it")
        if kind == "each_step":
            amount = entry[kind].number()
            return Reward(weight, lambda now, before, ends: np.full(len(now["action"]), amount))
        if kind == "end":
            name = entry[kind].choice(end.name for end in self.end_list)
            return Reward(weight, lambda now, before, ends: ends[name].astype(np.float64))
        made, _ = self.quantity(entry[kind], width=None if kind == "square" else 1)
        if kind == "square":
            return Reward(weight, lambda now, before, ends: terms.sum_of_squares(made(now))[:, 0])
        if kind == "change":
            return Reward(weight, lambda now, before, ends: (made(now) - made(before))[:, 0])
        if kind == "near":
            within = entry["within"].number()
            if within <= 0:
                raise entry["within"].fail(f"{within:g} is not above 0")
            return Reward(weight, lambda now, before, ends: terms.near(made(now), within)[:, 0])
        return Reward(weight, lambda now, before, ends: made(now)[:, 0])

    def _read_start(self, keys: Keys) -> None:
        self.start_steps, self.start_commands = 0, {}
        self._start_items: dict[str, Item] = {}
        item = keys.get("start")
        if item is not None:
            entry = Keys(item, ("steps", "commands"), required=("steps", "commands"))
            self.start_steps = entry.integer("steps", 0, least=1)
            for name, command in entry.mapping("commands").items():
                low, high = read_range(command)
                self.start_commands[name], self._start_items[name] = Range([low], [high]), command

        self.random_values: dict[str, Range] = {}
        self._paths: dict[str, Item] = {}
        for path, value in keys.mapping("randomize").items():
            low, high = read_range(value)
            self.random_values[path], self._paths[path] = Range([low], [high]), value

    def _take_info(self, name: str, what: str, item: Item) -> None:
        """Infos have a value under `name`, and whose it is under `_name`; no other may come there."""
        for key in (name, f"_{name}"):
            if key in self._infos:
                raise item.fail(f"'{name}' can't be in infos, which have {self._infos[key]} under '{key}'; give it another name")
        self._infos.update({name: what, f"_{name}": f"whose '{name}' it is"})

    # --- what a task does ---

    def load_scene(self) -> tether.Scene:
        try:
            scene = super().load_scene()
            scene.sim().close()  # which alone knows values of the models
            return scene
        except tether.Error as error:
            text = str(error)
            for path, item in self._setting_items.items():
                if text.startswith(f"--set {path}: "):  # as the command line has it
                    raise item.fail(text[len(f"--set {path}: "):]) from error
            raise self.scene_item.fail(text) from error

    def check(self, sim: tether.Sim) -> None:
        for name, item in self._signals.items():
            if name in self.widths:
                raise item.fail(f"'{name}' is a signal and a quantity")
            self._try(item, sim.read, [name])
        for action in self.actions:
            for name in action.commands:
                self._try(self._commands[name], sim.apply, {name: action.low})
                self._try(self._commands[name], sim.apply, {name: action.high})
        for name, value in self.held.items():
            self._try(self._commands[name], sim.apply, {name: value})
        driven = [name for action in self.actions for name in action.commands]
        for name, item in self._start_items.items():  # after the actions: a name that is wrong there is told there
            if name not in driven:
                raise item.key.fail(f"'{name}' is held; only commands of actions are expected" if name in self.held else
                                    f"'{name}' is no command of an action{nearest(name, driven)}")
            self._try_range(item, sim.apply, name, self.start_commands[name])
        for path, bounds in self.random_values.items():
            self._try_range(self._paths[path], sim.set_values, path, bounds)

    @staticmethod
    def _try(item: Item, call: Callable[[Any], Any], argument: Any) -> None:
        try:
            call(argument)
        except tether.Error as error:
            raise item.fail(str(error)) from None

    def _try_range(self, item: Item, call: Callable[[Any], Any], name: str, bounds: Range) -> None:
        """Both bounds, and what lies ever nearer to them: a value may be allowed alone, as -1 for what the model says."""
        low, high = bounds.low[0], bounds.high[0]
        parts = [0.5**i for i in range(1, 40)]
        for value in (low, high, *(low + (high - low) * part for part in parts), *(high - (high - low) * part for part in parts)):
            self._try(item, call, {name: value})

    def start(self, rng: np.random.Generator) -> Start:
        return Start(goals={name: goal.draw(rng) for name, goal in self.goals.items()},
                     values={path: value.draw(rng)[0] for path, value in self.random_values.items()},
                     commands={name: value.draw(rng)[0] for name, value in self.start_commands.items()},
                     steps=self.start_steps)

    def sense(self, frame: Frame) -> None:
        """What is known now and, for what is rewarded by its change, before; quantities are computed when they are asked for."""
        now = self._values(frame, frame.signals, frame.action, frame.action_before)
        memory = frame.memory
        memory["before"] = (self._values(frame, frame.before, frame.action_before, frame.action_two_before) if self.looks_back
                            else now)
        memory["now"] = now
        memory["ends"] = {end.name: end.test(now) for end in self.end_list}

    def _values(self, frame: Frame, signals: Floats, action: Floats, action_before: Floats) -> Values:
        values = Lazy(self.quantities, self._needs)
        values.update({name: signals[:, i:i + 1] for name, i in frame.columns.items()})
        values.update(frame.goals, action=action, action_before=action_before)
        return values

    def observe(self, frame: Frame) -> Floats:
        now = frame.memory["now"]
        return terms.join([made(now) for made in self.seen])

    def reward(self, frame: Frame) -> Floats:
        memory = frame.memory
        total = np.zeros(frame.count)
        for reward in self.rewards:
            total += reward.weight * reward.value(memory["now"], memory["before"], memory["ends"])
        return total

    def ends(self, frame: Frame) -> tuple[Flags, Flags]:
        flags: tuple[Flags, Flags] = (np.zeros(frame.count, np.bool_), np.zeros(frame.count, np.bool_))
        for end in self.end_list:
            flags[0 if end.terminates else 1][:] |= frame.memory["ends"][end.name]
        return flags

    def info(self, frame: Frame) -> dict[str, NDArray[Any]]:
        now = frame.memory["now"]
        found: dict[str, NDArray[Any]] = {}
        for name, made in self.shown.items():
            value = made(now)
            found[name] = np.array(value[:, 0] if value.shape[1] == 1 else value)
        for end in self.end_list:
            found[end.name] = frame.memory["ends"][end.name] & ~frame.fresh
        return found


def is_file(name: str | os.PathLike[str]) -> bool:
    """Whether it is the path of a task file; else it is a ready task's name."""
    return not isinstance(name, str) or os.sep in name or name.endswith((".yaml", ".yml"))


def load_task(name: str | os.PathLike[str]) -> FileTask:
    """The task of a file, or the ready one of that name: reach, drive, crawl. Raises TaskError."""
    if not is_file(name):
        name = os.fspath(name)
        known = sorted(file[:-5] for file in os.listdir(TASKS) if file.endswith(".yaml"))
        if name not in known:
            raise TaskError(f"there is no task '{name}'{nearest(name, known) or '; there are ' + ', '.join(known)}")
        name = os.path.join(TASKS, f"{name}.yaml")
    return FileTask(name)
