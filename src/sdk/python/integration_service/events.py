"""The events of webhooks. Attributes are in snake case: ``event.data.full_name``."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar, Union

from integration_gateway.models.address import Address
from integration_gateway.models.named_location import NamedLocation
from integration_gateway.models.named_unit import NamedUnit
from integration_gateway.models.user_manager import UserManager
from integration_gateway.models.user_role import UserRole
from integration_gateway.models.user_status import UserStatus
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from .models import OrganizationStructure, TenantClient, User, WorkerV2

R = TypeVar("R")


class _Received(BaseModel):
    """Newer members than this release are in ``model_extra``."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="allow", frozen=True
    )


class Entity(_Received):
    """The subject of the event."""

    type: str
    id: str


class Links(_Received):
    self_path: str = Field(alias="self")
    """The path of the current state at the gateway."""


class _Data(_Received):
    links: Links


class NamedUnitType(_Received):
    id: str
    name: str


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


class EmbeddedUnit(_Received):
    organization_unit_id: str
    name: str
    unit_code: str | None
    description: str | None
    parent_unit: NamedUnit | None


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


def _time_of(members: dict[str, Any]) -> int:
    occurred_at = members.get("occurred_at")
    return round(occurred_at.timestamp() * 1000) if occurred_at else 0


class Event(_Received, Generic[R]):
    """The common part of all events. ``R`` is the record at ``links.self``: see ``Gateway.follow``."""

    id: str
    """For deduplication: an event can arrive more than once."""
    spec_version: int
    data_version: int
    occurred_at: datetime
    sequence: int = Field(default_factory=_time_of)
    """Of two events of one entity, the newer has the greater. Earlier releases sent none: the time is in its place."""
    test: bool = False
    """A test event: nothing happened."""
    entity: Entity
    data: _Data


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


class UnknownEvent(BaseModel):
    """
    An event of a type or shape newer than this release. Answer 2xx to it. ``body`` is the whole event.
    """

    id: str
    type: str
    body: dict[str, Any]

    @property
    def test(self) -> bool:
        """A test event: nothing happened."""
        return self.body.get("test") is True


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
