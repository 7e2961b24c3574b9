"""What the views have in common."""

from __future__ import annotations

import logging

from ..errors import WebhookVerificationError

DEFAULT_MAX_BYTES = 2**20
DEFAULT_TOLERANCE_SECONDS = 300
TEXT_TYPE = "text/plain"
TOO_LARGE = "The body is too large."

_log = logging.getLogger("integration_service")


def refusal_of(error: WebhookVerificationError) -> str:
    """The text of the answer 400, which is also logged."""
    text = f"{error.reason}: {error}"
    _log.warning("A webhook request was refused: %s", text)
    return text


def already_read(advice: str) -> RuntimeError:
    """A mistake of the program: what arrived is gone, and cannot be verified."""
    return RuntimeError(f"The body was read before receive_webhooks could verify its bytes. {advice}")
