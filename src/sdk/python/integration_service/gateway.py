"""The read API."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar, overload

import urllib3
from integration_gateway.api.changes_api import ChangesApi
from integration_gateway.api.clients_api import ClientsApi
from integration_gateway.api.instance_integrations_api import InstanceIntegrationsApi
from integration_gateway.api.job_titles_api import JobTitlesApi
from integration_gateway.api.organization_structure_api import OrganizationStructureApi
from integration_gateway.api.users_api import UsersApi
from integration_gateway.api.workers_api import WorkersApi
from pydantic import TypeAdapter

from ._exchange import Exchange, address_below, check_secret, server_url
from ._reader import NOT_ASKED, GatewayClient, NotAsked, Paged, Reading
from ._retries import Retry
from .changes import Changes, SentChange
from .events import Event
from .models import ChangesDigest, InstanceIntegration, OrganizationStructure, TenantClient, User, Worker, WorkerV2
from .stores import Store
from .sync import Sync, SyncOptions

_DEFAULT_TIMEOUT_SECONDS = 30.0
_DEFAULT_PAGE_SIZE = 200

_INSTANCE_INTEGRATIONS = TypeAdapter(list[InstanceIntegration])
_CLIENTS = TypeAdapter(list[TenantClient])
_CLIENT = TypeAdapter(TenantClient)
_WORKERS_V2 = TypeAdapter(list[WorkerV2])
_WORKERS = TypeAdapter(list[Worker])
_WORKER = TypeAdapter(WorkerV2)
_USERS = TypeAdapter(list[User])
_USER = TypeAdapter(User)
_TITLES = TypeAdapter(list[str])
_STRUCTURE = TypeAdapter(OrganizationStructure)
_CHANGES = TypeAdapter(list[SentChange])
_DIGEST = TypeAdapter(ChangesDigest)
_ANY: TypeAdapter[Any] = TypeAdapter(Any)
_LINKED: dict[str, TypeAdapter[Any]] = {
    "client": _CLIENT,
    "user": _USER,
    "worker": _WORKER,
    "organizationUnit": _STRUCTURE,
    "organizationUnitType": _STRUCTURE,
    "organizationLocation": _STRUCTURE,
}
"""The target of ``links.self``, by the kind of the event's subject."""

R = TypeVar("R")


class Gateway:
    """
    Reads return the data or, with ``if_changed``, whether it changed since your ``etag`` (``None``: none yet). They are
    retried after 429, 500, 502, 503, 504 and lost connections, and then raise ``ApiError``, ``ConnectionError`` or
    ``TimeoutError``. Safe to share between threads.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout_seconds: float = _DEFAULT_TIMEOUT_SECONDS,
        retry: Retry = Retry(),
        http: urllib3.PoolManager | None = None,
    ) -> None:
        """
        :param base_url: address of the gateway
        :param api_key: ``ik_live_…`` or ``ik_demo_…``
        :param timeout_seconds: for each attempt, including the body of the answer
        :param http: replaces the default pool: for a proxy, or your own certificates
        """
        check_secret(api_key, "api_key must be the API key: letters, digits and underscores, no spaces.")
        self._base_url = server_url("base_url", base_url)
        self._timeout_seconds = timeout_seconds
        self._retry = retry
        exchange = Exchange(self._base_url, timeout_seconds, http)
        self._client = GatewayClient(self._base_url, api_key, exchange, retry)
        self._instance_integrations = InstanceIntegrationsApi(self._client)
        self._clients = ClientsApi(self._client)
        self._workers = WorkersApi(self._client)
        self._users = UsersApi(self._client)
        self._job_titles = JobTitlesApi(self._client)
        self._structure = OrganizationStructureApi(self._client)
        self._changes = ChangesApi(self._client)

    @overload
    def list_instance_integrations(self, *, request_id: str | None = None) -> list[InstanceIntegration]: ...

    @overload
    def list_instance_integrations(
        self, *, if_changed: str | None, request_id: str | None = None
    ) -> Reading[list[InstanceIntegration]]: ...

    def list_instance_integrations(
        self, *, if_changed: str | None | NotAsked = NOT_ASKED, request_id: str | None = None
    ) -> list[InstanceIntegration] | Reading[list[InstanceIntegration]]:
        """All connections between your integration and instances. Start here."""
        operation = self._instance_integrations.list_instance_integrations_without_preload_content
        ask = partial(operation, x_request_id=request_id)
        return self._client.read(_INSTANCE_INTEGRATIONS, ask, if_changed)

    @overload
    def list_clients(self, instance_integration_id: str, *, request_id: str | None = None) -> list[TenantClient]: ...

    @overload
    def list_clients(
        self, instance_integration_id: str, *, if_changed: str | None, request_id: str | None = None
    ) -> Reading[list[TenantClient]]: ...

    def list_clients(
        self, instance_integration_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, request_id: str | None = None
    ) -> list[TenantClient] | Reading[list[TenantClient]]:
        """All clients of the instance."""
        operation = self._clients.list_clients_without_preload_content
        ask = partial(operation, instance_integration_id, x_request_id=request_id)
        return self._client.read(_CLIENTS, ask, if_changed)

    @overload
    def get_client(self, instance_integration_id: str, client_id: str, *, request_id: str | None = None) -> TenantClient: ...

    @overload
    def get_client(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None, request_id: str | None = None
    ) -> Reading[TenantClient]: ...

    def get_client(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, request_id: str | None = None
    ) -> TenantClient | Reading[TenantClient]:
        """One client."""
        operation = self._clients.get_client_without_preload_content
        ask = partial(operation, instance_integration_id, client_id, x_request_id=request_id)
        return self._client.read(_CLIENT, ask, if_changed)

    @overload
    def list_workers_v2(self, instance_integration_id: str, client_id: str, *, request_id: str | None = None) -> list[WorkerV2]: ...

    @overload
    def list_workers_v2(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None, request_id: str | None = None
    ) -> Reading[list[WorkerV2]]: ...

    def list_workers_v2(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, request_id: str | None = None
    ) -> list[WorkerV2] | Reading[list[WorkerV2]]:
        """The workers of a client in one answer: with ``if_changed`` the cheapest way to stay in sync."""
        operation = self._workers.list_workers_v2_without_preload_content
        ask = partial(operation, instance_integration_id, client_id, x_request_id=request_id)
        return self._client.read(_WORKERS_V2, ask, if_changed)

    def workers(
        self, instance_integration_id: str, client_id: str, *, page_size: int = _DEFAULT_PAGE_SIZE, request_id: str | None = None
    ) -> Paged[WorkerV2]:
        """The workers of a client, read page by page: ``for worker in gateway.workers(…)``."""
        operation = self._workers.list_workers_v2_without_preload_content
        ask = partial(operation, instance_integration_id, client_id, limit=page_size, x_request_id=request_id)
        return Paged(lambda url: self._client.page(_WORKERS_V2, ask, request_id, url))

    @overload
    def list_workers(self, instance_integration_id: str, client_id: str, *, request_id: str | None = None) -> list[Worker]: ...

    @overload
    def list_workers(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None, request_id: str | None = None
    ) -> Reading[list[Worker]]: ...

    def list_workers(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, request_id: str | None = None
    ) -> list[Worker] | Reading[list[Worker]]:
        """The workers as in version 1, without their place in the organization structure."""
        operation = self._workers.list_workers_without_preload_content
        ask = partial(operation, instance_integration_id, client_id, x_request_id=request_id)
        return self._client.read(_WORKERS, ask, if_changed)

    list_workers_v1 = list_workers
    """The earlier name of ``list_workers``."""

    @overload
    def get_worker(self, instance_integration_id: str, client_id: str, worker_id: str, *, request_id: str | None = None) -> WorkerV2: ...

    @overload
    def get_worker(
        self, instance_integration_id: str, client_id: str, worker_id: str, *, if_changed: str | None, request_id: str | None = None
    ) -> Reading[WorkerV2]: ...

    def get_worker(
        self, instance_integration_id: str, client_id: str, worker_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, request_id: str | None = None
    ) -> WorkerV2 | Reading[WorkerV2]:
        """One worker, offboarded or not."""
        operation = self._workers.get_worker_v2_without_preload_content
        ask = partial(operation, instance_integration_id, client_id, worker_id, x_request_id=request_id)
        return self._client.read(_WORKER, ask, if_changed)

    @overload
    def list_users(self, instance_integration_id: str, client_id: str, *, request_id: str | None = None) -> list[User]: ...

    @overload
    def list_users(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None, request_id: str | None = None
    ) -> Reading[list[User]]: ...

    def list_users(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, request_id: str | None = None
    ) -> list[User] | Reading[list[User]]:
        """The users of a client in one answer."""
        operation = self._users.list_users_without_preload_content
        ask = partial(operation, instance_integration_id, client_id, x_request_id=request_id)
        return self._client.read(_USERS, ask, if_changed)

    def users(
        self, instance_integration_id: str, client_id: str, *, page_size: int = _DEFAULT_PAGE_SIZE, request_id: str | None = None
    ) -> Paged[User]:
        """The users of a client, read page by page: ``for user in gateway.users(…)``."""
        operation = self._users.list_users_without_preload_content
        ask = partial(operation, instance_integration_id, client_id, limit=page_size, x_request_id=request_id)
        return Paged(lambda url: self._client.page(_USERS, ask, request_id, url))

    @overload
    def get_user(self, instance_integration_id: str, client_id: str, user_id: str, *, request_id: str | None = None) -> User: ...

    @overload
    def get_user(
        self, instance_integration_id: str, client_id: str, user_id: str, *, if_changed: str | None, request_id: str | None = None
    ) -> Reading[User]: ...

    def get_user(
        self, instance_integration_id: str, client_id: str, user_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, request_id: str | None = None
    ) -> User | Reading[User]:
        """One user, in any status."""
        operation = self._users.get_user_without_preload_content
        ask = partial(operation, instance_integration_id, client_id, user_id, x_request_id=request_id)
        return self._client.read(_USER, ask, if_changed)

    @overload
    def job_titles(self, instance_integration_id: str, client_id: str, *, request_id: str | None = None) -> list[str]: ...

    @overload
    def job_titles(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None, request_id: str | None = None
    ) -> Reading[list[str]]: ...

    def job_titles(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, request_id: str | None = None
    ) -> list[str] | Reading[list[str]]:
        """The job titles that a client uses."""
        operation = self._job_titles.list_job_titles_without_preload_content
        ask = partial(operation, instance_integration_id, client_id, x_request_id=request_id)
        return self._client.read(_TITLES, ask, if_changed)

    @overload
    def organization_structure(self, instance_integration_id: str, client_id: str, *, request_id: str | None = None) -> OrganizationStructure: ...

    @overload
    def organization_structure(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None, request_id: str | None = None
    ) -> Reading[OrganizationStructure]: ...

    def organization_structure(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, request_id: str | None = None
    ) -> OrganizationStructure | Reading[OrganizationStructure]:
        """The layers, units and locations of a client."""
        operation = self._structure.get_organization_structure_without_preload_content
        ask = partial(operation, instance_integration_id, client_id, x_request_id=request_id)
        return self._client.read(_STRUCTURE, ask, if_changed)

    def list_changes(
        self,
        instance_integration_id: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        wait_seconds: int = 0,
        request_id: str | None = None,
    ) -> Changes:
        """
        What the gateway shows of the instance, as one sequence: each entity once, at the place of its newest change.
        An ``ApiError`` with the code ``cursor_expired`` (410) means: begin again without ``after``.

        :param after: the cursor of the last item that you stored; ``None`` begins with all that exists
        :param limit: how many items at most, 1 to 1000
        :param wait_seconds: how long to wait for a change if there is none, 0 to 25; added to the time limit
        """
        ask = partial(
            self._changes.list_changes_without_preload_content,
            instance_integration_id,
            after=after,
            limit=limit,
            wait=wait_seconds or None,
            x_request_id=request_id,
            _request_timeout=float(self._timeout_seconds + wait_seconds),
        )
        page = self._client.page(_CHANGES, ask, request_id, None)
        items = [item.change() for item in page.items]
        return Changes(items, items[-1].cursor if items else after, page.next_url is not None)

    @overload
    def get_changes_digest(self, instance_integration_id: str, client_id: str, *, request_id: str | None = None) -> ChangesDigest: ...

    @overload
    def get_changes_digest(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None, request_id: str | None = None
    ) -> Reading[ChangesDigest]: ...

    def get_changes_digest(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, request_id: str | None = None
    ) -> ChangesDigest | Reading[ChangesDigest]:
        """Counts and digests of a client's entities: a copy with the same ones is equal."""
        operation = self._changes.get_changes_digest_without_preload_content
        ask = partial(operation, client_id, instance_integration_id, x_request_id=request_id)
        return self._client.read(_DIGEST, ask, if_changed)

    def sync(self, instance_integration_id: str, store: Store, options: SyncOptions = SyncOptions()) -> Sync:
        """Keeps a copy of the instance in a store: ``gateway.sync(id, store).run()``."""
        return Sync(self, instance_integration_id, store, options, self._retry)

    @overload
    def follow(self, event: Event[R], *, request_id: str | None = None) -> R: ...

    @overload
    def follow(self, event: Event[R], *, if_changed: str | None, request_id: str | None = None) -> Reading[R]: ...

    @overload
    def follow(self, event: str, *, request_id: str | None = None) -> Any: ...

    @overload
    def follow(self, event: str, *, if_changed: str | None, request_id: str | None = None) -> Reading[Any]: ...

    def follow(
        self, event: Event[Any] | str, *, if_changed: str | None | NotAsked = NOT_ASKED, request_id: str | None = None
    ) -> Any:
        """
        Reads the present state of an event's subject, by its ``links.self``. For a link without its event it returns the
        raw JSON. Refuses links outside the gateway, so that the API key goes nowhere else.
        """
        if isinstance(event, str):
            link, records = event, _ANY
        else:
            link, records = event.data.links.self_path, _LINKED[event.entity.type]
        ask = partial(self._client.send_to, address_below(self._base_url, link), x_request_id=request_id)
        return self._client.read(records, ask, if_changed)
