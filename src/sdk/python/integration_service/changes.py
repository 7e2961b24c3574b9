"""The sequence of changes: what the gateway shows of an instance, each entity at the place of its newest change."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Union

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from .models import OrganizationLocation, TenantClient, Unit, UnitType, User, WorkerV2

Resource = Union[TenantClient, list[str], OrganizationLocation, Unit, UnitType, User, WorkerV2, None, Any]

_RECORDS: dict[str, TypeAdapter[Any]] = {
    "client": TypeAdapter(TenantClient),
    "jobTitles": TypeAdapter(list[str]),
    "location": TypeAdapter(OrganizationLocation),
    "unit": TypeAdapter(Unit),
    "unitType": TypeAdapter(UnitType),
    "user": TypeAdapter(User),
    "worker": TypeAdapter(WorkerV2),
}


@dataclass(frozen=True)
class Change:
    """An entity at the place of its newest change."""

    cursor: str
    """Continue from here: the ``after`` of the next read, once the item is stored."""
    type: str
    """``client``, ``jobTitles``, ``location``, ``unit``, ``unitType``, ``user``, ``worker`` or a later one."""
    id: str
    """The public id of the entity; for ``jobTitles``, that of the client."""
    client_id: str
    removed: bool
    changed_at: datetime
    """For people; the order is that of the items."""
    version: int
    """Each change of the entity replaces it. Digests are sums of it."""
    json: str | None
    """The resource as the gateway sent it, with members that this release does not know; ``None`` if removed."""

    @cached_property
    def resource(self) -> Resource:
        """
        The record: ``isinstance(change.resource, WorkerV2)`` narrows it. ``None`` if the entity was removed, and
        plain JSON for types and shapes newer than this release.
        """
        if self.json is None:
            return None
        try:
            return _RECORDS[self.type].validate_json(self.json)
        except (KeyError, ValidationError):
            return json.loads(self.json)


@dataclass(frozen=True)
class Changes:
    """Items of the sequence of changes."""

    items: list[Change]
    cursor: str | None
    """Where to continue: the cursor of the last item, or your own if there are none."""
    has_more: bool
    """Whether more items follow already."""


class _Sent(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class _SentEntity(_Sent):
    type: str
    id: str


class SentChange(_Sent):
    """As the gateway writes one."""

    cursor: str
    entity: _SentEntity
    client_id: str
    removed: bool
    changed_at: datetime
    version: int
    resource: Any

    def change(self) -> Change:
        text = None if self.removed else json.dumps(self.resource, ensure_ascii=False, separators=(",", ":"))
        return Change(
            cursor=self.cursor,
            type=self.entity.type,
            id=self.entity.id,
            client_id=self.client_id,
            removed=self.removed,
            changed_at=self.changed_at,
            version=self.version,
            json=text,
        )
