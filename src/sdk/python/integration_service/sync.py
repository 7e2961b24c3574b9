"""Keeps a store equal to what the gateway shows of an instance."""

from __future__ import annotations

import inspect
import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from ._retries import LONGEST_WAIT_SECONDS, Retry
from .changes import Change, Changes
from .errors import ApiError, ConnectionError, TimeoutError
from .models import EntityDigest
from .stores import Batch, Store, StoredDigest

if TYPE_CHECKING:
    from .gateway import Gateway

T = TypeVar("T")

# Where something changes all the time, reads at once would use up the rate limit of the integration.
_LEAST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
_LONGEST_RETRY_AFTER_SECONDS = 3600.0
# A digest is a request for each client: those of all at once would use up the rate limit too.
_MOST_CLIENTS_IN_SLICE = 200
_SLICE_EVERY_SECONDS = 60.0
# The message of SQLite while another program reads or writes the file.
_LOCKED = "database is locked"
# How often a client that keeps changing is compared again.
_MOST_COMPARISONS = 5
# Pauses go on where those of a read's retries end.
_FIRST_DOUBLINGS = 3


@dataclass(frozen=True)
class Difference:
    """The entities of a client that a store and the gateway do not agree on."""

    client_id: str
    type: str
    count: int
    """What the gateway has."""
    digest: int
    stored_count: int
    stored_digest: int


@dataclass(frozen=True)
class SyncOptions:
    wait_seconds: int = 25
    """How long the gateway may hold a read until something changes, 0 to 25."""
    pause_seconds: float | None = None
    """
    The least time between two reads that find nothing. By default 1, or 60 if ``wait_seconds`` is 0. After a read that
    finds something, and after ``wake``, it is 1 at most.
    """
    compare_every_seconds: float = 3600
    """How long after a comparison with the gateway's digests the next one begins."""
    on_changes: Callable[[Sequence[Change]], None] | None = None
    """
    Called when changes are stored. Not a feed: it is told neither of removals that reading all again finds, nor, after an
    end of the program, of what was stored just before. The store has both.
    """
    on_difference: Callable[[Sequence[Difference]], None] | None = None
    """Called when the store differs from the gateway, before all is read again."""
    on_undecided: Callable[[Sequence[str]], None] | None = None
    """Called when a comparison proved nothing, because these clients kept changing."""
    on_error: Callable[[Exception], None] | None = None
    """Called when a read has failed in spite of its retries, before it is tried again."""


class _Stopped(Exception):
    """Ends ``run`` between two reads."""


class Sync:
    """
    Only the store has state: however a sync ends, a new one with the same store continues. Made by
    ``gateway.sync(…)``. ``run`` and ``catch_up`` belong to one thread; other threads may call ``wake`` and ``stop``.
    """

    def __init__(
        self, gateway: Gateway, instance_integration_id: str, store: Store, options: SyncOptions, retry: Retry
    ) -> None:
        for told in (options.on_changes, options.on_difference, options.on_undecided, options.on_error):
            if inspect.iscoroutinefunction(told):
                raise TypeError("The functions of a sync must not be async def: the sync does not await them.")
        self._gateway = gateway
        self._id = instance_integration_id
        self._store = store
        self._options = options
        self._retry = retry
        # The next read begins anew, with the store as it is.
        self._is_anew = False
        # The store has all that there was at the last read.
        self._is_complete = False
        # When the last comparison ended.
        self._compared_at = float("-inf")
        # The clients that a comparison, which goes over them in slices, has not compared yet.
        self._to_compare: set[str] = set()
        self._next_slice_at = float("-inf")
        # When the last round began.
        self._began_at = float("-inf")
        # Whether a call of the store is under way, or the latest one failed.
        self._is_at_store = False
        self._woken = threading.Event()
        self._is_running = False
        self._stopped = threading.Event()

    def run(self) -> None:
        """
        Loads what the store lacks, then follows until ``stop``. Failures that may pass, and a file that another program
        has locked, are waited out without limit. Raises other failures, such as an unknown API key, and other errors of
        the store. After ``stop`` it raises none.
        """
        self._is_running = True
        try:
            self._follow()
        finally:
            self._is_running = False
        # The next run must not end by the stop of this one.
        self._stopped.clear()

    def _follow(self) -> None:
        failures = 0
        while not self._stopped.is_set():
            try:
                self._round()
                failures = 0
            except Exception as error:
                if self._stopped.is_set():
                    return
                # Only of the store: the changes given to a function of the program would be lost.
                is_locked = self._is_at_store and _LOCKED in str(error)
                if not is_locked and not _may_pass(error):
                    raise
                if self._options.on_error is not None:
                    self._options.on_error(error)
                # Not ended by a wake: webhooks arrive also while the gateway is overloaded.
                self._stopped.wait(self._pause_after_seconds(error, failures))
                failures += 1

    def catch_up(self) -> None:
        """
        Reads what the store lacks, compares if it is time to, and ends. With more than 200 clients it takes a minute
        for each further 200.
        """
        self._read_and_compare(0)
        while self._to_compare and not self._stopped.wait(max(0, self._next_slice_at - time.monotonic())):
            self._read_and_compare(0)

    def wake(self) -> None:
        """Ends a pause, so that the next read is within a second: call it when a webhook arrives."""
        self._woken.set()

    def stop(self) -> None:
        """
        Ends ``run``: a pause at once, a read when it has its answer, which can take the wait and the pauses of its
        retries. It need not have read all. If no ``run`` is active, the next one ends at once, and the one after it
        works as usual. Until that next ``run`` has ended, ``catch_up`` also ends, instead of the pause before it
        compares more clients.
        """
        self._stopped.set()
        self._woken.set()

    def _end_if_stopped(self) -> None:
        if self._is_running and self._stopped.is_set():
            raise _Stopped

    def _round(self) -> None:
        pause_seconds = self._options.pause_seconds
        if pause_seconds is None:
            pause_seconds = 1 if self._options.wait_seconds > 0 else 60
        least_seconds = min(_LEAST_PAUSE_SECONDS, pause_seconds)
        self._stopped.wait(max(0, self._began_at + least_seconds - time.monotonic()))
        self._began_at = time.monotonic()
        if not self._read_and_compare(self._options.wait_seconds):
            slice_at = self._next_slice_at if self._to_compare else float("inf")
            self._pause(min(self._began_at + pause_seconds, slice_at) - time.monotonic())

    def _read_and_compare(self, wait_seconds: int) -> set[str]:
        """Returns the clients of which something changed."""
        changed = self._read_to_end(wait_seconds)
        if self._is_to_compare():
            self._compare_slice()
        return changed

    def _read_to_end(self, wait_seconds: int) -> set[str]:
        """Returns the clients of which something changed."""
        changed: set[str] = set()
        has_more = True
        while has_more:
            changes, has_more = self._read_page(wait_seconds)
            changed.update(change.client_id for change in changes)
        return changed

    def _read_page(self, wait_seconds: int) -> tuple[Sequence[Change], bool]:
        after = None if self._is_anew else self._ask(self._store.cursor)
        page = self._changes_after(after, wait_seconds if self._is_complete else 0)
        if page is None:
            self._begin_anew()
            return (), True
        if page.items or not self._is_complete:
            batch = Batch(page.items, after, page.cursor, after is None, not page.has_more)
            self._ask(lambda: self._store.apply(batch))
        self._is_anew = False
        self._is_complete = not page.has_more
        if page.items and self._options.on_changes is not None:
            self._options.on_changes(page.items)
        return page.items, page.has_more

    def _ask(self, store: Callable[[], T]) -> T:
        self._is_at_store = True
        answer = store()
        self._is_at_store = False
        return answer

    def _changes_after(self, after: str | None, wait_seconds: int) -> Changes | None:
        """``None`` if the cursor has expired."""
        self._end_if_stopped()
        try:
            return self._gateway.list_changes(self._id, after=after, wait_seconds=wait_seconds)
        except ApiError as error:
            if after is not None and error.code == "cursor_expired":
                return None
            raise

    def _begin_anew(self) -> None:
        self._is_anew = True
        self._is_complete = False

    def _is_to_compare(self) -> bool:
        if self._to_compare:
            return time.monotonic() >= self._next_slice_at
        return time.monotonic() - self._compared_at >= self._options.compare_every_seconds

    def _compare_slice(self) -> None:
        """After a failure, the clients of the slice that were not equal yet are in the next slice."""
        self._next_slice_at = time.monotonic() + _SLICE_EVERY_SECONDS
        if not self._to_compare:
            self._to_compare = self._clients()
        clients = set(islice(self._to_compare, _MOST_CLIENTS_IN_SLICE))
        if self._report_differences(clients):
            self._begin_anew()
            self._read_to_end(0)
            # What differs even now is reported, and read again when it is time for the next comparison.
            self._report_differences(clients & self._to_compare)
        self._to_compare -= clients
        if not self._to_compare:
            self._compared_at = time.monotonic()

    def _report_differences(self, clients: set[str]) -> bool:
        differences = self._differences(clients)
        if differences and self._options.on_difference is not None:
            self._options.on_difference(differences)
        return len(differences) > 0

    def _differences(self, clients: set[str]) -> list[Difference]:
        """A difference is certain if two comparisons find the same, and no change of the client is read
        between them. One comparison proves nothing: what it counted may have changed since, and cannot
        always be read at once."""
        found = self._compare(clients)
        for _ in range(1, _MOST_COMPARISONS):
            if not found:
                break
            changed = self._read_to_end(self._options.wait_seconds)
            again = self._compare({difference.client_id for difference in found})
            certain = [one for one in again if one.client_id not in changed and one in found]
            if certain:
                return certain
            found = again
        if found and self._options.on_undecided is not None:
            self._options.on_undecided(sorted({difference.client_id for difference in found}))
        return []

    def _compare(self, clients: set[str]) -> list[Difference]:
        stored = self._ask(self._store.digests)
        differences: list[Difference] = []
        for client_id in clients:
            own = [digest for digest in stored if digest.client_id == client_id]
            found = _differences_of(client_id, self._digest_of(client_id), own)
            if not found:
                self._to_compare.discard(client_id)
            differences += found
        return differences

    def _clients(self) -> set[str]:
        present = self._gateway.list_clients(self._id)
        return {client.id for client in present} | {digest.client_id for digest in self._ask(self._store.digests)}

    def _digest_of(self, client_id: str) -> list[EntityDigest]:
        self._end_if_stopped()
        try:
            return self._gateway.get_changes_digest(self._id, client_id).entities
        except ApiError as error:
            if error.code == "client_not_found":
                return []
            raise

    def _pause_after_seconds(self, error: Exception, failures: int) -> float:
        doublings = min(failures + _FIRST_DOUBLINGS, 30)
        # Pauses also if retries are configured without a pause: a lasting failure would keep the processor busy.
        base_seconds = self._retry.base_delay_seconds or Retry.base_delay_seconds
        longest: float = min(_LONGEST_PAUSE_SECONDS, base_seconds * 2**doublings)
        asked = (error.retry_after_seconds or 0) if isinstance(error, ApiError) else 0
        after = min(_LONGEST_RETRY_AFTER_SECONDS, asked) * random.uniform(1, 1.1)
        return max(after, longest * random.uniform(0.5, 1))

    def _pause(self, seconds: float) -> None:
        if seconds > 0 and not self._stopped.is_set():
            self._woken.wait(min(seconds, LONGEST_WAIT_SECONDS))
        self._woken.clear()


def _may_pass(error: Exception) -> bool:
    if isinstance(error, ApiError):
        return error.status in (408, 429) or error.status >= 500 or error.code == "unexpected_response"
    return isinstance(error, (ConnectionError, TimeoutError))


def _differences_of(
    client_id: str, expected: Iterable[EntityDigest], stored: Iterable[StoredDigest]
) -> list[Difference]:
    there = {digest.type: (digest.count, digest.digest) for digest in expected}
    here = {digest.type: (digest.count, digest.digest) for digest in stored}
    pairs = [(type_, there.get(type_, (0, 0)), here.get(type_, (0, 0))) for type_ in {**there, **here}]
    return [Difference(client_id, type_, *own, *kept) for type_, own, kept in pairs if own != kept]
