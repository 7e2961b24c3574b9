"""What the views have in common."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence

from ..errors import WebhookVerificationError
from ..events import WebhookEvent
from ..webhooks import check_tolerance, keys_in

# More than the largest event.
DEFAULT_MAX_BYTES = 4 * 2**20
TEXT_TYPE = "text/plain"
TOO_LARGE = "The body is too large."

_log = logging.getLogger("integration_service")


def check_receiver(secrets: str | Sequence[str], tolerance_seconds: float, max_bytes: int) -> None:
    """Raises ``ValueError`` for what no request could be verified with."""
    keys_in(secrets)
    check_tolerance(tolerance_seconds)
    if not max_bytes >= 0:
        raise ValueError("max_bytes must be a number of bytes, zero or more.")


def call(handle: Callable[[WebhookEvent], object], event: WebhookEvent) -> None:
    """An awaitable that is not awaited stores nothing, so it must not be answered 204."""
    result = handle(event)
    check_result(result)
    if inspect.iscoroutine(result):
        result.close()
    if inspect.isawaitable(result):
        raise TypeError("The function for events is async, which this view does not await: give it a plain def.")


def check_result(result: object) -> None:
    if inspect.isgenerator(result) or inspect.isasyncgen(result):
        raise TypeError("The function for events is a generator, which stores nothing when it is called.")


def refusal_of(error: WebhookVerificationError) -> str:
    """The text of the answer 400, which is also logged."""
    text = f"{error.reason}: {error}"
    _log.warning("A webhook request was refused: %s", text)
    return text


def already_read(advice: str) -> RuntimeError:
    """A mistake of the program: what arrived is gone, and cannot be verified."""
    return RuntimeError(f"The body was read before receive_webhooks could verify its bytes. {advice}")
