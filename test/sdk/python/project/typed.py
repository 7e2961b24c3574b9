"""What an integrator might write, for a type checker that is strict."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from pathlib import Path

import integration_service as sdk
from integration_service import Changed, Gateway, SignOn, WebhookVerificationError, verify_webhook
from integration_service.events import (
    OrganizationUnitCreated,
    UnknownEvent,
    UserCreated,
    UserUpdated,
    WorkerOnboarded,
)
from integration_service.models import OrganizationStructure, TenantClient, User, UserStatus, WorkerV2


def names(gateway: Gateway, instance_integration_id: str) -> list[str]:
    clients: list[TenantClient] = gateway.list_clients(instance_integration_id)
    workers = gateway.workers(instance_integration_id, clients[0].id, page_size=50)
    found: list[str] = [worker.full_name for worker in workers]
    for page in workers.pages():
        first: WorkerV2 = page.items[0]
        unit = first.organization_unit
        found.append(unit.name if unit is not None else first.phone or "")
    return found


def sync(gateway: Gateway, instance_integration_id: str, etag: str | None) -> int:
    reading = gateway.list_clients(instance_integration_id, if_changed=etag, timeout_seconds=2)
    if isinstance(reading, Changed):
        return len(reading.data)
    return 0


def kept(reading: sdk.Reading[list[TenantClient]]) -> list[TenantClient]:
    return reading.data if isinstance(reading, Changed) else []


def catch_up(gateway: Gateway, instance_integration_id: str, cursor: str | None) -> str | None:
    changes: sdk.Changes = gateway.list_changes(instance_integration_id, after=cursor, wait_seconds=25)
    for change in changes.items:
        if isinstance(change.resource, WorkerV2):
            print(change.resource.full_name, change.json)
        elif change.removed:
            print(change.type, change.id)
    digest = gateway.get_changes_digest(instance_integration_id, changes.items[0].client_id)
    print(changes.has_more, sum(entities.count for entities in digest.entities))
    return changes.cursor


def mirror(gateway: Gateway, instance_integration_id: str, path: Path) -> sdk.Sync:
    store = sdk.SqliteStore(path)
    differing: list[str] = []
    options = sdk.SyncOptions(
        wait_seconds=10, on_difference=lambda found: differing.extend(each.client_id for each in found)
    )
    gateway.sync(instance_integration_id, store, options).catch_up()
    memory = sdk.MemoryStore()
    worker = memory.get("worker", "wrk_1")
    print(worker.resource if worker else None, [change.id for change in memory])
    return gateway.sync(instance_integration_id, memory)


def receive(body: bytes, headers: dict[str, str], secret: str) -> str:
    try:
        event = verify_webhook(body, headers, secret)
    except WebhookVerificationError as error:
        return error.reason
    if isinstance(event, (UserCreated, UserUpdated)):
        role = event.data.role
        return role.name if role and event.data.status == UserStatus.ACTIVE else event.data.links.self_path
    return event.data.full_name if isinstance(event, WorkerOnboarded) else event.type


def receive_plainly(request: BaseHTTPRequestHandler, secrets: list[str]) -> str:
    return verify_webhook(request.rfile.read(), request.headers, secrets).id


def present(gateway: Gateway, event: sdk.WebhookEvent) -> str:
    if isinstance(event, (UserCreated, UserUpdated)):
        user: User = gateway.follow(event, request_id="req-1")
        return user.user_id
    if isinstance(event, WorkerOnboarded):
        reading: sdk.Reading[WorkerV2] = gateway.follow(event, if_changed=None)
        return reading.data.full_name if reading.changed else ""
    if isinstance(event, OrganizationUnitCreated):
        structure: OrganizationStructure = gateway.follow(event)
        return structure.units[0].name
    if isinstance(event, UnknownEvent):
        sequence: int = event.sequence
        print(sequence, event.occurred_at, event.entity.id if event.entity else None)
        return str(gateway.follow(event.body["data"]["links"]["self"]))
    return event.id


def sign_in(sign_on: SignOn, callback_url: str, request: sdk.AuthorizationRequest) -> str:
    signed_in = sign_on.exchange_code(
        callback_url, state=request.state, nonce=request.nonce, code_verifier=request.code_verifier
    )
    return signed_in.claims.sub if signed_in.claims else signed_in.access_token
