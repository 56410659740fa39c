"""YAML with places: what a task file says, each value with its file and line, so that every error can name them."""
from __future__ import annotations

import difflib
import math
from typing import Iterable

import yaml  # type: ignore


class TaskError(ValueError):
    """A task file, or a value in it, is wrong. The text names file, line, key and remedy."""


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean '…'?` for the known name that is most like `name`; empty if none is."""
    close = difflib.get_close_matches(name, sorted(known), 1)
    return f"; did you mean '{close[0]}'?" if close else ""


class Item:
    """One value of a task file: where it stands, and ways to read it that check it.

    `path` is the way to it through the keys ("rewards[1].weight"), for errors.
    """

    def __init__(self, file: str, node: yaml.Node, path: str = "") -> None:
        self.file, self.node, self.path = file, node, path

    def fail(self, text: str) -> TaskError:
        """The error to raise: `file:line: path: text`."""
        where = f"{self.path}: " if self.path else ""
        return TaskError(f"{self.file}:{self.node.start_mark.line + 1}: {where}{text}")

    @property
    def is_list(self) -> bool:
        return isinstance(self.node, yaml.SequenceNode)

    @property
    def is_text(self) -> bool:
        return isinstance(self.node, yaml.ScalarNode)

    def text(self) -> str:
        """A scalar as it is written."""
        if not isinstance(self.node, yaml.ScalarNode) or self.node.value == "":
            raise self.fail("a text is expected")
        return str(self.node.value)

    def number(self) -> float:
        """A finite number, SI."""
        try:
            value = float(self.text())
        except ValueError:
            raise self.fail(f"'{self.text()}' is not a number; a task file's numbers are SI, "
                            "without a unit") from None
        if not math.isfinite(value):
            raise self.fail(f"'{self.text()}' is not finite")
        return value

    def integer(self, least: int) -> int:
        """A whole number, at least `least` and at most a billion."""
        value = self.number()
        if value != int(value) or not least <= value <= 1e9:
            raise self.fail(f"'{self.text()}' is not a whole number of at least {least}")
        return int(value)

    def flag(self) -> bool:
        if self.text() not in ("true", "false"):
            raise self.fail(f"'{self.text()}' is neither true nor false")
        return self.text() == "true"

    def choice(self, known: Iterable[str]) -> str:
        """One of the texts in `known`."""
        text, choices = self.text(), list(known)
        if text not in choices:
            raise self.fail(f"'{text}' is none of {', '.join(choices)}{nearest(text, choices)}")
        return text

    def items(self) -> list[Item]:
        """The entries of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.fail("a list is expected")
        return [Item(self.file, node, f"{self.path}[{i}]") for i, node in enumerate(self.node.value)]

    def numbers(self, count: int | None = None) -> list[float]:
        """A list of numbers, `count` of them."""
        values = [item.number() for item in self.items()]
        if count is not None and len(values) != count:
            raise self.fail(f"{count} numbers are expected, not {len(values)}")
        return values

    def names(self) -> list[str]:
        """A list of texts, or a single one."""
        return [self.text()] if self.is_text else [item.text() for item in self.items()]

    def pairs(self) -> dict[str, Item]:
        """Keys and values of a mapping, in their order; a key that stands twice is an error."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.fail("keys with values are expected")
        found: dict[str, Item] = {}
        for key_node, value in self.node.value:
            key = Item(self.file, key_node, self.path)
            name = key.text()
            if name in found:
                raise key.fail(f"key '{name}' stands twice")
            found[name] = Item(self.file, value, f"{self.path}.{name}" if self.path else name)
            found[name].key = key
        return found

    key: Item  #: of a value in a mapping: its key, for errors about that


class Keys:
    """The keys of a mapping, each read at most once. What nobody knows is refused by `done()`."""

    def __init__(self, item: Item, known: Iterable[str], required: Iterable[str] = ()) -> None:
        self.item, self.known, self.pairs = item, list(known), item.pairs()
        for name, value in self.pairs.items():
            if name not in self.known:
                raise value.key.fail(f"unknown key '{name}'{nearest(name, self.known)}")
        for name in required:
            if name not in self.pairs:
                raise item.fail(f"key '{name}' is missing")

    def __contains__(self, name: str) -> bool:
        return name in self.pairs

    def __getitem__(self, name: str) -> Item:
        return self.pairs[name]

    def get(self, name: str) -> Item | None:
        return self.pairs.get(name)

    def text(self, name: str, default: str = "") -> str:
        return self[name].text() if name in self else default

    def number(self, name: str, default: float) -> float:
        return self[name].number() if name in self else default

    def integer(self, name: str, default: int, least: int) -> int:
        return self[name].integer(least) if name in self else default

    def flag(self, name: str, default: bool) -> bool:
        return self[name].flag() if name in self else default

    def items(self, name: str) -> list[Item]:
        return self[name].items() if name in self else []

    def mapping(self, name: str) -> dict[str, Item]:
        return self[name].pairs() if name in self else {}

    def only(self, names: Iterable[str]) -> str:
        """Which one of `names` stands here; none or several are an error."""
        choices = list(names)
        there = [name for name in choices if name in self]
        if len(there) != 1:
            raise self.item.fail(f"one of the keys {', '.join(choices)} is expected, "
                                 f"{'not ' + ' and '.join(there) if there else 'none stands here'}")
        return there[0]


def read(file: str) -> Item:
    """The document of a file. Raises TaskError: there is none, or it is not YAML."""
    try:
        with open(file, encoding="utf-8") as stream:
            node = yaml.compose(stream, Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise TaskError(f"{file}: {reason}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise TaskError(f"{file}{line}: {getattr(error, 'problem', None) or 'not YAML'}") from None
    if node is None:
        raise TaskError(f"{file}: the file is empty")
    return Item(file, node)
