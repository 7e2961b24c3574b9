"""The read API."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar, overload

import urllib3
from pydantic import TypeAdapter

from ._exchange import Exchange, address_below, check_secret, server_url, time_limit
from ._reader import NOT_ASKED, GatewayClient, NotAsked, Reading
from ._reads import GET_CLIENT, GET_ORGANIZATION_STRUCTURE, GET_USER, GET_WORKER_V2, Reads
from ._retries import Retry
from .changes import Changes, SentChange
from .events import Event, UnknownEvent
from .stores import Store
from .sync import Sync, SyncOptions

_DEFAULT_TIMEOUT_SECONDS = 30.0

_CHANGES = TypeAdapter(list[SentChange])
_ANY: TypeAdapter[Any] = TypeAdapter(Any)
_LINKED: dict[str, TypeAdapter[Any]] = {
    "client": GET_CLIENT,
    "user": GET_USER,
    "worker": GET_WORKER_V2,
    "organizationUnit": GET_ORGANIZATION_STRUCTURE,
    "organizationUnitType": GET_ORGANIZATION_STRUCTURE,
    "organizationLocation": GET_ORGANIZATION_STRUCTURE,
}
"""The target of ``links.self``, by the kind of the event's subject."""

R = TypeVar("R")


class Gateway(Reads):
    """
    Reads return the data or, with ``if_changed``, whether it changed since your ``etag`` (``None``: none yet). They are
    retried after 408, 429, 500, 502, 503, 504 and lost connections, and then raise ``ApiError``,
    ``ConnectionError`` or ``TimeoutError``. Safe to share between threads.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout_seconds: float = _DEFAULT_TIMEOUT_SECONDS,
        retry: Retry = Retry(),
        http: urllib3.PoolManager | None = None,
        allow_insecure_http: bool = False,
    ) -> None:
        """
        :param base_url: address of the gateway
        :param api_key: ``ik_live_…`` or ``ik_demo_…``
        :param timeout_seconds: for each attempt, including the body of the answer; while the header fields
            arrive, for each part of them
        :param http: replaces the default pool: for a proxy, or your own certificates
        :param allow_insecure_http: also send the API key to ``http://`` beyond this machine, where others can read it
        """
        check_secret(api_key, "api_key must be the API key: letters, digits and underscores, no spaces.")
        self._base_url = server_url("base_url", base_url, "the API key", allow_insecure_http)
        self._timeout_seconds = timeout_seconds
        self._retry = retry
        exchange = Exchange(self._base_url, timeout_seconds, http)
        super().__init__(GatewayClient(self._base_url, api_key, exchange, retry))

    list_workers_v1 = Reads.list_workers
    """The earlier name of ``list_workers``."""

    def list_changes(
        self,
        instance_integration_id: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        wait_seconds: int = 0,
        timeout_seconds: float | None = None,
        request_id: str | None = None,
    ) -> Changes:
        """
        What the gateway shows of the instance, as one sequence: each entity once, at the place of its newest change.
        An ``ApiError`` with the code ``cursor_expired`` (410) means: begin again without ``after``.

        :param after: the cursor of the last item that you stored; ``None`` begins with all that exists
        :param limit: how many items at most, 1 to 1000; the gateway sends 500 at most
        :param wait_seconds: how long to wait for a change if there is none, 0 to 25; added to the time limit
        """
        limit_seconds = self._timeout_seconds if timeout_seconds is None else time_limit(timeout_seconds)
        ask = partial(
            self._changes.list_changes_without_preload_content,
            instance_integration_id,
            after=after,
            limit=limit,
            wait=wait_seconds or None,
            x_request_id=request_id,
            _request_timeout=float(limit_seconds + wait_seconds),
        )
        page = self._client.page(_CHANGES, ask, request_id, None, None)
        items = [item.change() for item in page.items]
        return Changes(items, items[-1].cursor if items else after, page.next_url is not None)

    def sync(self, instance_integration_id: str, store: Store, options: SyncOptions = SyncOptions()) -> Sync:
        """Keeps a copy of the instance in a store: ``gateway.sync(id, store).run()``."""
        return Sync(self, instance_integration_id, store, options, self._retry)

    @overload
    def follow(self, event: Event[R], *, timeout_seconds: float | None = None, request_id: str | None = None) -> R: ...

    @overload
    def follow(
        self,
        event: Event[R],
        *,
        if_changed: str | None,
        timeout_seconds: float | None = None,
        request_id: str | None = None,
    ) -> Reading[R]: ...

    @overload
    def follow(self, event: str, *, timeout_seconds: float | None = None, request_id: str | None = None) -> Any: ...

    @overload
    def follow(
        self,
        event: str,
        *,
        if_changed: str | None,
        timeout_seconds: float | None = None,
        request_id: str | None = None,
    ) -> Reading[Any]: ...

    def follow(
        self,
        event: Event[Any] | str,
        *,
        if_changed: str | None | NotAsked = NOT_ASKED,
        timeout_seconds: float | None = None,
        request_id: str | None = None,
    ) -> Any:
        """
        Reads the present state of an event's subject, by its ``links.self``. For a link without its event it returns the
        raw JSON. Refuses links outside the gateway, so that the API key goes nowhere else.
        """
        if isinstance(event, UnknownEvent):
            raise TypeError("The type of this event is newer than this release: follow the link in event.body.")
        if isinstance(event, str):
            link, records = event, _ANY
        else:
            link, records = event.data.links.self_path, _LINKED.get(event.entity.type, _ANY)
        ask = partial(
            self._client.send_to,
            address_below(self._base_url, link),
            x_request_id=request_id,
            timeout_seconds=None if timeout_seconds is None else time_limit(timeout_seconds),
        )
        return self._client.read(records, ask, if_changed)
