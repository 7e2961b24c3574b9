"""The events of webhooks. Attributes are in snake case: ``event.data.full_name``."""

# Made by `make generate` from the contracts. Do not edit.

from __future__ import annotations

from datetime import datetime
from typing import Literal, Union

from ._event import Entity as Entity
from ._event import Event as Event
from ._event import Links as Links
from ._event import UnknownEvent as UnknownEvent
from ._event import _Data, _Received
from .models import Address, NamedLocation, NamedUnit, OrganizationStructure, TenantClient, User, UserManager, UserRole, UserStatus, WorkerV2


class NamedUnitType(_Received):
    id: str
    name: str


class EmbeddedUnit(_Received):
    organization_unit_id: str
    name: str
    unit_code: str | None
    description: str | None
    parent_unit: NamedUnit | None


class ClientCreatedData(_Data):
    client_id: str
    name: str
    address: Address


class UserData(_Data):
    user_id: str
    client_id: str
    email: str
    first_name: str | None
    last_name: str | None
    full_name: str | None
    status: UserStatus
    manager: UserManager | None
    role: UserRole | None
    created_at: datetime


class WorkerData(_Data):
    worker_id: str
    client_id: str
    first_name: str
    last_name: str
    full_name: str
    email: str
    phone: str | None
    job_titles: list[str]
    location: Address
    organization_units: list[NamedUnit]
    organization_unit: NamedUnit | None
    organization_location: NamedLocation | None
    offboarded_at: datetime | None = None
    created_at: datetime


class OrganizationUnitCreatedData(_Data):
    organization_unit_id: str
    client_id: str
    name: str
    unit_code: str | None
    description: str | None
    unit_type: NamedUnitType
    parent_unit: NamedUnit | None
    created_at: datetime


class OrganizationUnitTypeCreatedData(_Data):
    organization_unit_type_id: str
    client_id: str
    name: str
    units: list[EmbeddedUnit]
    created_at: datetime


class OrganizationLocationCreatedData(_Data):
    organization_location_id: str
    client_id: str
    name: str
    address: Address
    created_at: datetime


class OrganizationLocationDeletedData(OrganizationLocationCreatedData):
    deleted_at: datetime


class ClientCreated(Event[TenantClient]):
    type: Literal["client.created"]
    data: ClientCreatedData


class UserCreated(Event[User]):
    type: Literal["user.created"]
    data: UserData


class UserUpdated(Event[User]):
    type: Literal["user.updated"]
    data: UserData


class WorkerOnboarded(Event[WorkerV2]):
    type: Literal["worker.onboarded"]
    data: WorkerData


class WorkerUpdated(Event[WorkerV2]):
    type: Literal["worker.updated"]
    data: WorkerData


class OrganizationUnitCreated(Event[OrganizationStructure]):
    type: Literal["organization_unit.created"]
    data: OrganizationUnitCreatedData


class OrganizationUnitTypeCreated(Event[OrganizationStructure]):
    type: Literal["organization_unit_type.created"]
    data: OrganizationUnitTypeCreatedData


class OrganizationLocationCreated(Event[OrganizationStructure]):
    type: Literal["organization_location.created"]
    data: OrganizationLocationCreatedData


class OrganizationLocationDeleted(Event[OrganizationStructure]):
    type: Literal["organization_location.deleted"]
    data: OrganizationLocationDeletedData


KnownEvent = Union[
    ClientCreated,
    UserCreated,
    UserUpdated,
    WorkerOnboarded,
    WorkerUpdated,
    OrganizationUnitCreated,
    OrganizationUnitTypeCreated,
    OrganizationLocationCreated,
    OrganizationLocationDeleted,
]

WebhookEvent = Union[KnownEvent, UnknownEvent]
"""``isinstance`` narrows it."""
