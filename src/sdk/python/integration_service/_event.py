"""What all events have in common, and those newer than this release."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

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


def _time_of(members: dict[str, Any]) -> int:
    occurred_at = members.get("occurred_at")
    return round(occurred_at.timestamp() * 1000) if occurred_at else 0


class Event(_Received, Generic[R]):
    """The common part of all events. ``R`` is the record at ``links.self``: see ``Gateway.follow``."""

    id: str
    """For deduplication: an event can arrive more than once."""
    spec_version: Literal[1]
    data_version: Literal[1]
    occurred_at: datetime
    sequence: int = Field(default_factory=_time_of)
    """Of two events of one entity, the newer has the greater. Earlier releases sent none: the time is in its place."""
    test: bool = False
    """A test event: nothing happened."""
    entity: Entity
    data: _Data


class _Envelope(_Received):
    """What an event newer than this release says of itself, if this release can read it."""

    occurred_at: datetime | None = None
    sequence: int = Field(default_factory=_time_of)
    entity: Entity | None = None


class UnknownEvent(BaseModel):
    """
    An event of a type, version or shape newer than this release. Answer 2xx to it. ``body`` is the whole event.
    """

    id: str
    type: str
    body: dict[str, Any]

    @property
    def occurred_at(self) -> datetime | None:
        """``None`` if this release cannot read it."""
        return self._envelope().occurred_at

    @property
    def sequence(self) -> int:
        """Of two events of one entity, the newer has the greater. 0 if this release cannot read it."""
        return self._envelope().sequence

    @property
    def entity(self) -> Entity | None:
        """The subject of the event. ``None`` if this release cannot read it."""
        return self._envelope().entity

    @property
    def test(self) -> bool:
        """A test event: nothing happened."""
        return self.body.get("test") is True

    def _envelope(self) -> _Envelope:
        try:
            return _Envelope.model_validate(self.body)
        except ValidationError:
            return _Envelope()
