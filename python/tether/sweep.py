"""Tables of `tether sweep`, as NumPy columns.

    import tether.sweep
    table = tether.sweep.read("gains.sqlite")
    print(table["final_y"].mean(), table.units["final_y"])

A file may be read while a sweep writes into it: what is read is one moment of it.
"""
from __future__ import annotations

import contextlib
import os
import pathlib
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import InvalidError, NotFoundError, OtherVersionError

__all__ = ["NoColumnError", "Table", "read"]

_FORMAT = 1  # of the tables, as src/sweep/results_table.c counts it


class NoColumnError(NotFoundError, KeyError):
    """A table has no such column."""

    __str__ = Exception.__str__


class Table(Mapping[str, NDArray[Any]]):
    """The columns of a sweep by their names, in the table's order: one element a run, in the plan's order.

    Numbers are SI, in arrays of float; where there is none, e.g. of a metric that was never reached, stands NaN. `run` and `seed` are
    arrays of int, texts are arrays of str.

    Attributes:
        units: the unit of each column, "" where it has none.
        roles: what each column is: "run", "axis" or "metric".
        plan: the plan's text, as it was when the table was written.
        runs: how many runs the plan has; those that are missing have no element.
        version: of Tether and the engine that made the runs.
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]], units: Mapping[str, str], roles: Mapping[str, str],
                 plan: str, runs: int, version: str) -> None:
        self._columns = dict(columns)
        self.units = dict(units)
        self.roles = dict(roles)
        self.plan = plan
        self.runs = runs
        self.version = version

    def __getitem__(self, name: str) -> NDArray[Any]:
        try:
            return self._columns[name]
        except KeyError:
            raise NoColumnError(f"no column {name!r}; there are: {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def axes(self) -> list[str]:
        """Names of what the plan varies."""
        return [name for name, role in self.roles.items() if role == "axis"]

    @property
    def metrics(self) -> list[str]:
        """Names of what it measures; `success` among them, where it has a condition."""
        return [name for name, role in self.roles.items() if role == "metric"]

    def where(self, rows: NDArray[Any]) -> Table:
        """The table of some rows: a mask, or indices. `table.where(table["status"] == "ok")`."""
        columns = {name: column[rows] for name, column in self._columns.items()}
        return Table(columns, self.units, self.roles, self.plan, self.runs, self.version)

    def __repr__(self) -> str:
        rows = len(next(iter(self._columns.values()), ()))
        return f"<Table of {rows} rows of {self.runs} runs: {', '.join(self._columns)}>"


def read(file: str | os.PathLike[str], *, all_rows: bool = False) -> Table:
    """Reads the table that `tether sweep` wrote into a file of SQLite.

    Args:
        file: its path. A table in PostgreSQL is read with a client of PostgreSQL.
        all_rows: also rows that the plan has no longer since it was changed (--extend); their `run` is -1.

    Raises:
        InvalidError: there is no such file, or it is no table of a sweep.
        OtherVersionError: a newer Tether made it.
    """
    path = pathlib.Path(file)
    if not path.is_file():
        raise InvalidError(f"{path}: there is no such file")
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("BEGIN")  # one moment for all that follows
            return _read(database, path, all_rows)
    except (sqlite3.Error, LookupError, ValueError, OverflowError) as error:  # a column or key is missing, or has what no sweep writes
        raise InvalidError(f"{path}: is no table of a sweep: {error}") from error


def _read(database: sqlite3.Connection, path: pathlib.Path, all_rows: bool) -> Table:
    keys = dict(database.execute("SELECT key, value FROM sweep"))
    if int(keys.get("format", 0)) > _FORMAT:
        raise OtherVersionError(f"{path}: a newer Tether made this table (format {keys['format']}, this one reads up to {_FORMAT})")
    described = database.execute("SELECT name, role, unit FROM run_column ORDER BY rowid").fetchall()
    kinds = {name: kind for _, name, kind, *_ in database.execute("PRAGMA table_info(run)")}
    order = f"FROM run {'' if all_rows else 'WHERE run IS NOT NULL'} ORDER BY run IS NULL, run, rowid"
    columns = {name: _column(database, name, kinds[name], order) for name, _, _ in described}
    return Table(columns, {name: unit for name, _, unit in described}, {name: role for name, role, _ in described},
                 keys["text"], int(keys["runs"]), keys["version"])


def _column(database: sqlite3.Connection, name: str, kind: str, order: str) -> NDArray[Any]:
    """One after the other, so that a million rows are never there as Python's objects."""
    quoted = '"' + name.replace('"', '""') + '"'
    if kind == "TEXT":
        return np.array([value for value, in database.execute(f"SELECT ifnull({quoted}, '') {order}")], dtype=np.str_)
    if kind == "INTEGER":
        return np.fromiter((value for value, in database.execute(f"SELECT ifnull({quoted}, -1) {order}")), dtype=np.int64)
    column = np.fromiter((value for value, in database.execute(f"SELECT ifnull({quoted}, 9e999) {order}")), dtype=np.float64)
    column[np.isinf(column)] = np.nan  # 9e999: SQLite has no NaN, and a table nothing infinite
    return column
