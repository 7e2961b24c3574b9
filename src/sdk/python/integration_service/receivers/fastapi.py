"""Receives webhooks with FastAPI or Starlette."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ..errors import WebhookVerificationError
from ..events import WebhookEvent
from ..webhooks import DEFAULT_TOLERANCE_SECONDS, verify_webhook
from ._receiving import (
    DEFAULT_MAX_BYTES,
    TOO_LARGE,
    already_read,
    check_receiver,
    check_result,
    refusal_of,
)

__all__ = ["receive_webhooks"]

_ADVICE = (
    "With FastAPI, nothing may read request.stream() or a form before; await request.body() "
    "and await request.json() may be called."
)


def receive_webhooks(
    secrets: str | Sequence[str],
    handle: Callable[[WebhookEvent], object],
    *,
    tolerance_seconds: float = DEFAULT_TOLERANCE_SECONDS,
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Callable[[Request], Awaitable[Response]]:
    """
    An endpoint: ``app.add_api_route("/events", receive_webhooks(secrets, store), methods=["POST"])``.

    :param secrets: ``whsec_…``; during a rotation, the old and the new one
    :param handle: stores an event, as ``async def`` or, in a thread, as ``def``; after an exception the answer is
        500, and the service sends the event again
    :param tolerance_seconds: the largest difference between timestamp and clock, past or future
    :param max_bytes: a longer body is answered 413
    :raises ValueError: if no request could be verified with these values
    """
    check_receiver(secrets, tolerance_seconds, max_bytes)

    async def receive(request: Request) -> Response:
        body = await _body_of(request, max_bytes)
        if body is None:
            return PlainTextResponse(TOO_LARGE, 413)
        try:
            event = verify_webhook(body, request.headers, secrets, tolerance_seconds=tolerance_seconds)
        except WebhookVerificationError as error:
            return PlainTextResponse(refusal_of(error), 400)
        if inspect.iscoroutinefunction(handle):
            await handle(event)
        else:
            result = await run_in_threadpool(handle, event)
            check_result(result)
            if inspect.isawaitable(result):  # Of a lambda, or of an object with an async __call__.
                await result
        return Response(status_code=204)

    return receive


async def _body_of(request: Request, max_bytes: int) -> bytes | None:
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > max_bytes:
                return None
    except RuntimeError as cause:
        raise already_read(_ADVICE) from cause
    if not body and int(request.headers.get("content-length") or 0) > 0:
        raise already_read(_ADVICE)
    return bytes(body)
