"""Verifies the origin and age of webhook requests (Standard Webhooks, version 1)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Sequence
from typing import Annotated, Protocol

from pydantic import Field, TypeAdapter, ValidationError

from .errors import WebhookVerificationError
from .events import KnownEvent, UnknownEvent, WebhookEvent

__all__ = ["verify_webhook"]

DEFAULT_TOLERANCE_SECONDS = 300
_SECRET_PREFIX = "whsec_"
_SIGNATURE_PREFIX = "v1,"
_KNOWN_EVENTS: TypeAdapter[KnownEvent] = TypeAdapter(Annotated[KnownEvent, Field(discriminator="type")])


class Headers(Protocol):
    """A mapping, or the headers of a framework or of ``http.server``, which are none for a type checker."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify_webhook(
    body: bytes,
    headers: Headers,
    secrets: str | Sequence[str],
    *,
    tolerance_seconds: float = DEFAULT_TOLERANCE_SECONDS,
    now_seconds: float | None = None,
) -> WebhookEvent:
    """
    The event of a request that one of the secrets signed and that is recent; else raises ``WebhookVerificationError``.
    Deduplicate by ``event.id``.

    :param body: the exact bytes received, not parsed and serialized again
    :param headers: names in any case
    :param secrets: ``whsec_…``; during a rotation, the old and the new one
    :param tolerance_seconds: the largest difference between timestamp and clock, past or future
    :param now_seconds: replaces the clock in tests
    """
    if not isinstance(body, (bytes, bytearray, memoryview)):
        raise TypeError("body must be the bytes of the request as they came, not what was parsed from them.")
    content = bytes(body)
    keys = keys_in(secrets)
    check_tolerance(tolerance_seconds)
    message_id = _required(headers, "webhook-id")
    timestamp = _required(headers, "webhook-timestamp")
    signatures = _signatures_in(_required(headers, "webhook-signature"))
    _check_age(timestamp, tolerance_seconds, time.time() if now_seconds is None else now_seconds)
    # Some servers decode bytes that are not UTF-8 to surrogates.
    signed = f"{message_id}.{timestamp}.".encode(errors="surrogatepass") + content
    expected = [hmac.digest(key, signed, hashlib.sha256) for key in keys]
    # All of them, for constant time.
    matches = [hmac.compare_digest(one, other) for one in expected for other in signatures]
    if not any(matches):
        raise WebhookVerificationError("signature_mismatch", "No signature was made with one of these secrets.")
    return _event_in(content)


def keys_in(secrets: str | Sequence[str]) -> list[bytes]:
    """For this package: raises ``ValueError`` for a malformed secret, or none."""
    keys = [_key_in(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    if not keys:
        raise ValueError("At least one webhook secret is needed.")
    return keys


def check_tolerance(tolerance_seconds: float) -> None:
    """For this package: raises ``ValueError`` for a limit such as NaN, which no age exceeds."""
    if not tolerance_seconds >= 0:
        raise ValueError("tolerance_seconds must be a number of seconds, zero or more.")


def _key_in(secret: str) -> bytes:
    text = secret.strip()  # A file ends with a line end.
    key = _base64_bytes(text.removeprefix(_SECRET_PREFIX)) if text.startswith(_SECRET_PREFIX) else None
    if not key:
        raise ValueError("A webhook secret is whsec_ and base64.")
    return key


def _required(headers: Headers, name: str) -> str:
    for key, value in headers.items():
        if key.lower() == name and value:
            return value
    raise WebhookVerificationError("header_missing", f"The header {name} is missing.")


def _signatures_in(header: str) -> list[bytes]:
    """Signatures of version 1; others are for later releases."""
    parts = [part.removeprefix(_SIGNATURE_PREFIX) for part in header.split() if part.startswith(_SIGNATURE_PREFIX)]
    return [signature for signature in map(_base64_bytes, parts) if signature]


def _check_age(timestamp: str, tolerance_seconds: float, now_seconds: float) -> None:
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise WebhookVerificationError("timestamp_malformed", "webhook-timestamp is not a number of seconds.")
    age_seconds = int(now_seconds) - int(timestamp)
    if age_seconds > tolerance_seconds:
        raise WebhookVerificationError("timestamp_too_old", f"The request was signed {age_seconds} s ago.")
    if age_seconds < -tolerance_seconds:
        message = f"The request was signed {-age_seconds} s in the future; is your clock right?"
        raise WebhookVerificationError("timestamp_too_new", message)


def _event_in(content: bytes) -> WebhookEvent:
    try:
        return _KNOWN_EVENTS.validate_json(content)
    except ValidationError:
        pass  # Newer than this release, or not an event.
    try:
        body = json.loads(content)
        return UnknownEvent(id=body["id"], type=body["type"], body=body)
    except (ValueError, TypeError, KeyError) as cause:
        raise WebhookVerificationError("body_malformed", "The body is signed, and is no event.") from cause


def _base64_bytes(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None
