# Made by `make generate` from the contracts. Do not edit.
"""The reads of the gateway."""

from __future__ import annotations

from functools import partial
from typing import overload

from integration_gateway import ChangesApi, ChangesDigest, ClientsApi, InstanceIntegration, InstanceIntegrationsApi, JobTitlesApi, OrganizationStructure, OrganizationStructureApi, TenantClient, User, UsersApi, Worker, WorkerV2, WorkersApi
from pydantic import TypeAdapter

from ._exchange import time_limit
from ._reader import DEFAULT_PAGE_SIZE, NOT_ASKED, GatewayClient, NotAsked, Paged, Reading

LIST_INSTANCE_INTEGRATIONS = TypeAdapter(list[InstanceIntegration])
LIST_CLIENTS = TypeAdapter(list[TenantClient])
GET_CLIENT = TypeAdapter(TenantClient)
LIST_WORKERS = TypeAdapter(list[Worker])
LIST_JOB_TITLES = TypeAdapter(list[str])
GET_ORGANIZATION_STRUCTURE = TypeAdapter(OrganizationStructure)
LIST_USERS = TypeAdapter(list[User])
GET_USER = TypeAdapter(User)
LIST_WORKERS_V2 = TypeAdapter(list[WorkerV2])
GET_WORKER_V2 = TypeAdapter(WorkerV2)
GET_CHANGES_DIGEST = TypeAdapter(ChangesDigest)


class Reads:
    def __init__(self, client: GatewayClient) -> None:
        self._client = client
        self._changes = ChangesApi(client)
        self._clients = ClientsApi(client)
        self._instance_integrations = InstanceIntegrationsApi(client)
        self._job_titles = JobTitlesApi(client)
        self._organization_structure = OrganizationStructureApi(client)
        self._users = UsersApi(client)
        self._workers = WorkersApi(client)

    @overload
    def list_instance_integrations(self, *, timeout_seconds: float | None = None, request_id: str | None = None) -> list[InstanceIntegration]: ...

    @overload
    def list_instance_integrations(self, *, if_changed: str | None, timeout_seconds: float | None = None, request_id: str | None = None) -> Reading[list[InstanceIntegration]]: ...

    def list_instance_integrations(
        self, *, if_changed: str | None | NotAsked = NOT_ASKED, timeout_seconds: float | None = None, request_id: str | None = None
    ) -> list[InstanceIntegration] | Reading[list[InstanceIntegration]]:
        """All connections between your integration and instances. Start here."""
        ask = partial(self._instance_integrations.list_instance_integrations_without_preload_content, x_request_id=request_id, _request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds))
        return self._client.read(LIST_INSTANCE_INTEGRATIONS, ask, if_changed)

    @overload
    def list_clients(self, instance_integration_id: str, *, timeout_seconds: float | None = None, request_id: str | None = None) -> list[TenantClient]: ...

    @overload
    def list_clients(self, instance_integration_id: str, *, if_changed: str | None, timeout_seconds: float | None = None, request_id: str | None = None) -> Reading[list[TenantClient]]: ...

    def list_clients(
        self, instance_integration_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, timeout_seconds: float | None = None, request_id: str | None = None
    ) -> list[TenantClient] | Reading[list[TenantClient]]:
        """All clients of the instance."""
        ask = partial(self._clients.list_clients_without_preload_content, instance_integration_id=instance_integration_id, x_request_id=request_id, _request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds))
        return self._client.read(LIST_CLIENTS, ask, if_changed)

    @overload
    def get_client(self, instance_integration_id: str, client_id: str, *, timeout_seconds: float | None = None, request_id: str | None = None) -> TenantClient: ...

    @overload
    def get_client(self, instance_integration_id: str, client_id: str, *, if_changed: str | None, timeout_seconds: float | None = None, request_id: str | None = None) -> Reading[TenantClient]: ...

    def get_client(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, timeout_seconds: float | None = None, request_id: str | None = None
    ) -> TenantClient | Reading[TenantClient]:
        """One client of the instance."""
        ask = partial(self._clients.get_client_without_preload_content, instance_integration_id=instance_integration_id, client_id=client_id, x_request_id=request_id, _request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds))
        return self._client.read(GET_CLIENT, ask, if_changed)

    @overload
    def list_workers(self, instance_integration_id: str, client_id: str, *, timeout_seconds: float | None = None, request_id: str | None = None) -> list[Worker]: ...

    @overload
    def list_workers(self, instance_integration_id: str, client_id: str, *, if_changed: str | None, timeout_seconds: float | None = None, request_id: str | None = None) -> Reading[list[Worker]]: ...

    def list_workers(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, timeout_seconds: float | None = None, request_id: str | None = None
    ) -> list[Worker] | Reading[list[Worker]]:
        """The workers who are not offboarded, as in version 1: without their place in the organization structure."""
        ask = partial(self._workers.list_workers_without_preload_content, instance_integration_id=instance_integration_id, client_id=client_id, x_request_id=request_id, _request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds))
        return self._client.read(LIST_WORKERS, ask, if_changed)

    @overload
    def job_titles(self, instance_integration_id: str, client_id: str, *, timeout_seconds: float | None = None, request_id: str | None = None) -> list[str]: ...

    @overload
    def job_titles(self, instance_integration_id: str, client_id: str, *, if_changed: str | None, timeout_seconds: float | None = None, request_id: str | None = None) -> Reading[list[str]]: ...

    def job_titles(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, timeout_seconds: float | None = None, request_id: str | None = None
    ) -> list[str] | Reading[list[str]]:
        """The job titles of the client, each once, also those that no worker has now."""
        ask = partial(self._job_titles.list_job_titles_without_preload_content, instance_integration_id=instance_integration_id, client_id=client_id, x_request_id=request_id, _request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds))
        return self._client.read(LIST_JOB_TITLES, ask, if_changed)

    @overload
    def organization_structure(self, instance_integration_id: str, client_id: str, *, timeout_seconds: float | None = None, request_id: str | None = None) -> OrganizationStructure: ...

    @overload
    def organization_structure(self, instance_integration_id: str, client_id: str, *, if_changed: str | None, timeout_seconds: float | None = None, request_id: str | None = None) -> Reading[OrganizationStructure]: ...

    def organization_structure(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, timeout_seconds: float | None = None, request_id: str | None = None
    ) -> OrganizationStructure | Reading[OrganizationStructure]:
        """The layers, units and locations of the client in one object."""
        ask = partial(self._organization_structure.get_organization_structure_without_preload_content, instance_integration_id=instance_integration_id, client_id=client_id, x_request_id=request_id, _request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds))
        return self._client.read(GET_ORGANIZATION_STRUCTURE, ask, if_changed)

    @overload
    def list_users(self, instance_integration_id: str, client_id: str, *, timeout_seconds: float | None = None, request_id: str | None = None) -> list[User]: ...

    @overload
    def list_users(self, instance_integration_id: str, client_id: str, *, if_changed: str | None, timeout_seconds: float | None = None, request_id: str | None = None) -> Reading[list[User]]: ...

    def list_users(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, timeout_seconds: float | None = None, request_id: str | None = None
    ) -> list[User] | Reading[list[User]]:
        """All users of the client except deleted ones."""
        ask = partial(self._users.list_users_without_preload_content, instance_integration_id=instance_integration_id, client_id=client_id, x_request_id=request_id, _request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds))
        return self._client.read(LIST_USERS, ask, if_changed)

    def users(self, instance_integration_id: str, client_id: str, *, page_size: int = DEFAULT_PAGE_SIZE, timeout_seconds: float | None = None, request_id: str | None = None) -> Paged[User]:
        """The users of a client, read page by page: ``for user in gateway.users(…)``."""
        ask = partial(self._users.list_users_without_preload_content, instance_integration_id=instance_integration_id, client_id=client_id, x_request_id=request_id, _request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds), limit=page_size)
        return Paged(lambda url: self._client.page(LIST_USERS, ask, request_id, timeout_seconds, url))

    @overload
    def get_user(self, instance_integration_id: str, client_id: str, user_id: str, *, timeout_seconds: float | None = None, request_id: str | None = None) -> User: ...

    @overload
    def get_user(self, instance_integration_id: str, client_id: str, user_id: str, *, if_changed: str | None, timeout_seconds: float | None = None, request_id: str | None = None) -> Reading[User]: ...

    def get_user(
        self, instance_integration_id: str, client_id: str, user_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, timeout_seconds: float | None = None, request_id: str | None = None
    ) -> User | Reading[User]:
        """One user of the client, in any status."""
        ask = partial(self._users.get_user_without_preload_content, instance_integration_id=instance_integration_id, client_id=client_id, user_id=user_id, x_request_id=request_id, _request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds))
        return self._client.read(GET_USER, ask, if_changed)

    @overload
    def list_workers_v2(self, instance_integration_id: str, client_id: str, *, timeout_seconds: float | None = None, request_id: str | None = None) -> list[WorkerV2]: ...

    @overload
    def list_workers_v2(self, instance_integration_id: str, client_id: str, *, if_changed: str | None, timeout_seconds: float | None = None, request_id: str | None = None) -> Reading[list[WorkerV2]]: ...

    def list_workers_v2(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, timeout_seconds: float | None = None, request_id: str | None = None
    ) -> list[WorkerV2] | Reading[list[WorkerV2]]:
        """The workers of a client in one answer: with ``if_changed`` the cheapest way to stay in sync."""
        ask = partial(self._workers.list_workers_v2_without_preload_content, instance_integration_id=instance_integration_id, client_id=client_id, x_request_id=request_id, _request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds))
        return self._client.read(LIST_WORKERS_V2, ask, if_changed)

    def workers(self, instance_integration_id: str, client_id: str, *, page_size: int = DEFAULT_PAGE_SIZE, timeout_seconds: float | None = None, request_id: str | None = None) -> Paged[WorkerV2]:
        """The workers of a client, read page by page: ``for worker in gateway.workers(…)``."""
        ask = partial(self._workers.list_workers_v2_without_preload_content, instance_integration_id=instance_integration_id, client_id=client_id, x_request_id=request_id, _request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds), limit=page_size)
        return Paged(lambda url: self._client.page(LIST_WORKERS_V2, ask, request_id, timeout_seconds, url))

    @overload
    def get_worker(self, instance_integration_id: str, client_id: str, worker_id: str, *, timeout_seconds: float | None = None, request_id: str | None = None) -> WorkerV2: ...

    @overload
    def get_worker(self, instance_integration_id: str, client_id: str, worker_id: str, *, if_changed: str | None, timeout_seconds: float | None = None, request_id: str | None = None) -> Reading[WorkerV2]: ...

    def get_worker(
        self, instance_integration_id: str, client_id: str, worker_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, timeout_seconds: float | None = None, request_id: str | None = None
    ) -> WorkerV2 | Reading[WorkerV2]:
        """One worker of the client, offboarded or not."""
        ask = partial(self._workers.get_worker_v2_without_preload_content, instance_integration_id=instance_integration_id, client_id=client_id, worker_id=worker_id, x_request_id=request_id, _request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds))
        return self._client.read(GET_WORKER_V2, ask, if_changed)

    @overload
    def get_changes_digest(self, instance_integration_id: str, client_id: str, *, timeout_seconds: float | None = None, request_id: str | None = None) -> ChangesDigest: ...

    @overload
    def get_changes_digest(self, instance_integration_id: str, client_id: str, *, if_changed: str | None, timeout_seconds: float | None = None, request_id: str | None = None) -> Reading[ChangesDigest]: ...

    def get_changes_digest(
        self, instance_integration_id: str, client_id: str, *, if_changed: str | None | NotAsked = NOT_ASKED, timeout_seconds: float | None = None, request_id: str | None = None
    ) -> ChangesDigest | Reading[ChangesDigest]:
        """Counts and digests of the entities of a client: a copy with the same ones is equal."""
        ask = partial(self._changes.get_changes_digest_without_preload_content, instance_integration_id=instance_integration_id, client_id=client_id, x_request_id=request_id, _request_timeout=None if timeout_seconds is None else time_limit(timeout_seconds))
        return self._client.read(GET_CHANGES_DIGEST, ask, if_changed)
