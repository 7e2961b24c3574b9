"""Where a copy of the sequence of changes is kept."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timezone
from typing import Protocol

from .changes import Change

_MODULUS = 2**52


@dataclass(frozen=True)
class Batch:
    """A part of the sequence of changes, to be stored as a whole."""

    changes: Sequence[Change]
    """Each replaces the stored entity; a removal deletes it."""
    after: str | None
    """The cursor from which the batch continues."""
    cursor: str | None
    """The cursor to store with the changes."""
    is_first: bool
    """The sequence begins anew. Keep the stored entities until the last batch."""
    is_last: bool
    """The sequence was read to its end: delete the entities that have not come since the first batch."""


@dataclass(frozen=True)
class StoredDigest:
    """What a store has of one type of a client's entities."""

    client_id: str
    type: str
    count: int
    digest: int
    """The sum of their versions, modulo 2^52."""


class Store(Protocol):
    """Keeps a copy of what one instance integration reads."""

    def cursor(self) -> str | None:
        """The cursor of the last batch; ``None`` before there is one."""

    def apply(self, batch: Batch) -> None:
        """
        One transaction: the whole batch with its cursor, or nothing. Ignores a batch that is not the first and
        continues from another cursor than the store has: another process has stored more meanwhile.
        """

    def digests(self) -> list[StoredDigest]:
        """Of all clients."""


class MemoryStore:
    """A copy in memory, which each start of the program loads again. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # With the number of the load in which each came.
        self._kept: dict[tuple[str, str], tuple[Change, int]] = {}
        self._cursor: str | None = None
        self._load = 0
        self._is_loading = False

    def get(self, type: str, id: str) -> Change | None:
        """The newest change of an entity, with its ``resource``."""
        with self._lock:
            kept = self._kept.get((type, id))
        return None if kept is None else kept[0]

    def __iter__(self) -> Iterator[Change]:
        """All entities that are not removed."""
        with self._lock:
            changes = [change for change, _ in self._kept.values()]
        return iter(changes)

    def cursor(self) -> str | None:
        return self._cursor

    def apply(self, batch: Batch) -> None:
        with self._lock:
            if not batch.is_first and self._cursor != batch.after:
                return
            self._load += 1 if batch.is_first else 0
            self._is_loading = self._is_loading or batch.is_first
            for change in batch.changes:
                if change.removed:
                    self._kept.pop((change.type, change.id), None)
                else:
                    self._kept[change.type, change.id] = change, self._load
            self._cursor = batch.cursor
            # Only after a load: later batches leave nothing old, and scanning a large copy takes long.
            if batch.is_last and self._is_loading:
                self._is_loading = False
                self._kept = {key: kept for key, kept in self._kept.items() if kept[1] == self._load}

    def digests(self) -> list[StoredDigest]:
        sums: dict[tuple[str, str], tuple[int, int]] = {}
        for change in self:
            count, total = sums.get((change.client_id, change.type), (0, 0))
            sums[change.client_id, change.type] = count + 1, total + change.version
        return [
            StoredDigest(client_id, type_, count, total % _MODULUS)
            for (client_id, type_), (count, total) in sums.items()
        ]


# The same in all languages of the SDK: a file that one has made, another can continue.
_SCHEMA = """
    create table if not exists entities (
      type text not null,
      id text not null,
      client_id text not null,
      version integer not null,
      changed_at text not null,
      resource text not null,
      load integer not null,
      primary key (type, id)
    );
    create index if not exists entities_of_client on entities (client_id, type, version);
    create table if not exists sync_state (
      only_row integer primary key check (only_row = 1),
      cursor text,
      load integer not null,
      is_loading integer not null
    );
    insert or ignore into sync_state (only_row, cursor, load, is_loading) values (1, null, 0, 0);
"""

_UPSERT = """
    insert into entities (type, id, client_id, version, changed_at, resource, load) values (?, ?, ?, ?, ?, ?, ?)
    on conflict (type, id) do update set client_id = excluded.client_id, version = excluded.version,
      changed_at = excluded.changed_at, resource = excluded.resource, load = excluded.load
"""

# In halves, because SQLite refuses sums of more than 63 bits.
_DIGESTS = """
    select client_id, type, count(*), sum(version >> 26), sum(version & 67108863)
    from entities group by client_id, type
"""


class SqliteStore:
    """
    A copy in a SQLite file: the table ``entities`` has a row for each, with its ``resource`` as JSON. Read it as you
    like, over a connection of your own; only the store writes it. Safe to share between threads. It makes a new file for
    its owner alone.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._lock = threading.Lock()
        _make_privately(path)
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        # So that a program that reads the file does not hold up the writes.
        self._connection.execute("pragma journal_mode = wal")
        # Otherwise removed records stay readable in unused parts of the file.
        self._connection.execute("pragma secure_delete = on")
        self._connection.executescript(_SCHEMA)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def cursor(self) -> str | None:
        with self._lock:
            return self._state()[0]

    def apply(self, batch: Batch) -> None:
        with self._lock, self._transaction():
            self._write(batch)

    def digests(self) -> list[StoredDigest]:
        with self._lock:
            rows = self._connection.execute(_DIGESTS).fetchall()
        return [
            StoredDigest(client_id, type_, count, ((high << 26) + low) % _MODULUS)
            for client_id, type_, count, high, low in rows
        ]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._connection.execute("begin immediate")
            yield
            self._connection.execute("commit")
        except BaseException:
            if self._connection.in_transaction:  # A full disk, for example, has ended it.
                self._connection.execute("rollback")
            raise

    def _write(self, batch: Batch) -> None:
        cursor, load, is_loading = self._state()
        if not batch.is_first and cursor != batch.after:
            return
        load += 1 if batch.is_first else 0
        is_loading = is_loading or batch.is_first
        for change in batch.changes:
            if change.json is None:
                self._connection.execute("delete from entities where type = ? and id = ?", (change.type, change.id))
            else:
                changed_at = change.changed_at.astimezone(timezone.utc).isoformat(timespec="milliseconds")
                moment = changed_at.replace("+00:00", "Z")
                row = (change.type, change.id, change.client_id, change.version, moment, change.json, load)
                self._connection.execute(_UPSERT, row)
        if batch.is_last and is_loading:
            self._connection.execute("delete from entities where load < ?", (load,))
        self._connection.execute(
            "update sync_state set cursor = ?, load = ?, is_loading = ?",
            (batch.cursor, load, is_loading and not batch.is_last),
        )

    def _state(self) -> tuple[str | None, int, bool]:
        cursor, load, is_loading = self._connection.execute("select cursor, load, is_loading from sync_state").fetchone()
        return cursor, load, is_loading == 1


def _make_privately(path: str | os.PathLike[str]) -> None:
    # SQLite would let the umask decide. The other names stand for databases in memory.
    if path not in ("", ":memory:"):
        # Only if there is none: to close a file takes away the locks that other stores of this process have on it.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL, 0o600))
