"""Receives webhooks with Flask, version 3.1 or newer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flask import Response, request

from ..errors import WebhookVerificationError
from ..events import WebhookEvent
from ..webhooks import DEFAULT_TOLERANCE_SECONDS, verify_webhook
from ._receiving import (
    DEFAULT_MAX_BYTES,
    TEXT_TYPE,
    already_read,
    call,
    check_receiver,
    refusal_of,
)

__all__ = ["receive_webhooks"]

_ADVICE = "With Flask, nothing may read request.stream before; request.get_data() and request.get_json() may be called."


def receive_webhooks(
    secrets: str | Sequence[str],
    handle: Callable[[WebhookEvent], object],
    *,
    tolerance_seconds: float = DEFAULT_TOLERANCE_SECONDS,
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Callable[[], Response]:
    """
    A view: ``app.add_url_rule("/events", view_func=receive_webhooks(secrets, store), methods=["POST"])``.

    :param secrets: ``whsec_…``; during a rotation, the old and the new one
    :param handle: stores an event, as a plain ``def``; after an exception the answer is 500, and the service sends the
        event again
    :param tolerance_seconds: the largest difference between timestamp and clock, past or future
    :param max_bytes: a longer body is answered 413
    :raises ValueError: if no request could be verified with these values
    """
    check_receiver(secrets, tolerance_seconds, max_bytes)

    def receive() -> Response:
        request.max_content_length = max_bytes
        body = request.get_data()
        if not body and request.content_length:
            raise already_read(_ADVICE)
        try:
            event = verify_webhook(body, request.headers, secrets, tolerance_seconds=tolerance_seconds)
        except WebhookVerificationError as error:
            return Response(refusal_of(error), 400, mimetype=TEXT_TYPE)
        call(handle, event)
        return Response(status=204)

    return receive
