"""Receives webhooks with Django."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.http.request import RawPostDataException
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from ..errors import WebhookVerificationError
from ..events import WebhookEvent
from ..webhooks import DEFAULT_TOLERANCE_SECONDS, verify_webhook
from ._receiving import (
    DEFAULT_MAX_BYTES,
    TEXT_TYPE,
    TOO_LARGE,
    already_read,
    call,
    check_receiver,
    refusal_of,
)

__all__ = ["receive_webhooks"]

_ADVICE = "With Django, no middleware may call request.read() before; request.body may be read."


def receive_webhooks(
    secrets: str | Sequence[str],
    handle: Callable[[WebhookEvent], object],
    *,
    tolerance_seconds: float = DEFAULT_TOLERANCE_SECONDS,
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Callable[[HttpRequest], HttpResponse]:
    """
    A view: ``path("events", receive_webhooks(secrets, store))``. The signature takes the place of a CSRF token.

    :param secrets: ``whsec_…``; during a rotation, the old and the new one
    :param handle: stores an event, as a plain ``def``; after an exception the answer is 500, and the service sends the
        event again
    :param tolerance_seconds: the largest difference between timestamp and clock, past or future
    :param max_bytes: a longer body is answered 413; a ``DATA_UPLOAD_MAX_MEMORY_SIZE`` below it holds too
    :raises ValueError: if no request could be verified with these values
    """
    check_receiver(secrets, tolerance_seconds, max_bytes)

    def receive(request: HttpRequest) -> HttpResponse:
        if int(request.META.get("CONTENT_LENGTH") or 0) > max_bytes:
            return _text(TOO_LARGE, 413)
        try:
            body = request.body
        except RawPostDataException as cause:
            raise already_read(_ADVICE) from cause
        except RequestDataTooBig:
            return _text(TOO_LARGE, 413)
        if len(body) > max_bytes:  # With ASGI, a body need not say its length.
            return _text(TOO_LARGE, 413)
        try:
            event = verify_webhook(body, request.headers, secrets, tolerance_seconds=tolerance_seconds)
        except WebhookVerificationError as error:
            return _text(refusal_of(error), 400)
        call(handle, event)
        return HttpResponse(status=204)

    view: Callable[[HttpRequest], HttpResponse] = csrf_exempt(require_POST(receive))
    return view


def _text(text: str, status: int) -> HttpResponse:
    return HttpResponse(text, status=status, content_type=TEXT_TYPE)
