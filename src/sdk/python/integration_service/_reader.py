"""Reads of the gateway, with retries and errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, Union, cast
from urllib.parse import urlsplit

from integration_gateway.api_client import ApiClient
from integration_gateway.configuration import Configuration
from pydantic import TypeAdapter, ValidationError

from ._exchange import Answer, Exchange, Sent
from ._retries import Retry, with_retries
from .errors import ApiError, FieldError

DEFAULT_PAGE_SIZE = 200

T = TypeVar("T")


@dataclass(frozen=True)
class Changed(Generic[T]):
    """The present data. Keep ``etag`` with it for the next read."""

    data: T
    etag: str | None
    changed: Literal[True] = True


@dataclass(frozen=True)
class Unchanged:
    """Your data is current."""

    etag: str | None
    changed: Literal[False] = False


Reading = Union[Changed[T], Unchanged]


class NotAsked:
    """The default of ``if_changed``; ``None`` means that you have no data yet."""


NOT_ASKED = NotAsked()


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list."""

    items: list[T]
    etag: str | None
    next_url: str | None
    """``None`` on the last page."""


class Paged(Generic[T]):
    """A list that is read page by page while you iterate: ``for item in paged``."""

    def __init__(self, read: Callable[[str | None], Page[T]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.items

    def pages(self) -> Iterator[Page[T]]:
        """The same, a page at a time."""
        page = self._read(None)
        yield page
        while page.next_url is not None:
            page = self._read(page.next_url)
            yield page


class GatewayClient(ApiClient):
    """Sends the requests that the generated operations make."""

    def __init__(self, base_url: str, api_key: str, exchange: Exchange, retry: Retry) -> None:
        # No proxy here: the exchange, which sends the requests, has it.
        super().__init__(Configuration(host=base_url, api_key={"apiKey": api_key}, proxy=""))
        self._exchange = exchange
        self._retry = retry
        self._api_key = api_key

    def call_api(  # type: ignore[override]
        self,
        method: str,
        url: str,
        header_params: dict[str, str],
        body: object = None,
        post_params: object = None,
        _request_timeout: float | None = None,
    ) -> Sent:
        return Sent(self.send(url, header_params, _request_timeout))

    def send(self, url: str, headers: dict[str, str], timeout_seconds: float | None = None) -> Answer:
        def attempt() -> Answer:
            answer = self._exchange.send("GET", url, headers, timeout_seconds=timeout_seconds)
            if answer.status == 200 or (answer.status == 304 and "If-None-Match" in headers):
                return answer
            raise _error_of(answer)

        return with_retries(attempt, self._retry)

    def send_to(
        self,
        url: str,
        *,
        x_request_id: str | None,
        if_none_match: str | None = None,
        timeout_seconds: float | None = None,
    ) -> Answer:
        """For addresses from answers and events; the generated operations make those of the contract."""
        asked = {"x-request-id": x_request_id, "If-None-Match": if_none_match}
        given = {name: value for name, value in asked.items() if value is not None}
        return self.send(url, {"Accept": "application/json", "x-api-key": self._api_key, **given}, timeout_seconds)

    def read(
        self, records: TypeAdapter[T], ask: Callable[..., object], if_changed: str | None | NotAsked
    ) -> T | Reading[T]:
        is_conditional = not isinstance(if_changed, NotAsked)
        held = None if isinstance(if_changed, NotAsked) else if_changed
        answer = cast(Answer, ask(if_none_match=held))
        if answer.status == 304:
            return Unchanged(answer.etag or held)
        data = _parsed(answer, records)
        return Changed(data, answer.etag) if is_conditional else data

    def page(
        self,
        records: TypeAdapter[list[T]],
        ask: Callable[[], object],
        request_id: str | None,
        timeout_seconds: float | None,
        url: str | None,
    ) -> Page[T]:
        if url is None:
            answer = cast(Answer, ask())
        else:
            answer = self.send_to(url, x_request_id=request_id, timeout_seconds=timeout_seconds)
        next_url = _next_url(answer)
        if next_url == answer.url:
            raise _unexpected(answer, "The next page is the page itself.")
        return Page(_parsed(answer, records), answer.etag, next_url)


def _parsed(answer: Answer, records: TypeAdapter[T]) -> T:
    if not answer.is_json:
        raise _unexpected(answer, "The answer is not JSON; it may come from something before the gateway.")
    try:
        return records.validate_json(answer.body)
    except ValidationError as cause:
        # The cause would repeat parts of the answer, such as names.
        first = cause.errors()[0]
        reason = " ".join(map(str, (*first["loc"], first["msg"])))
        raise _unexpected(answer, f"The answer is not what the contract describes: {reason}.") from None


_LINK = re.compile(r"<([^>]*)>((?:\s*;[^,<]*)*)")
_IS_NEXT = re.compile(r';\s*rel\s*=\s*(?:next\b|"[^"]*\bnext\b[^"]*")', re.IGNORECASE)


def _next_url(answer: Answer) -> str | None:
    """The next page by ``Link`` (RFC 8288)."""
    for target, parameters in _LINK.findall(answer.headers.get("link", "")):
        if _IS_NEXT.search(parameters):
            # Only its query: the key goes to the configured address, which the service may not know.
            _, _, query = target.partition("#")[0].partition("?")
            return urlsplit(answer.url)._replace(query=query).geturl()
    return None


def _error_of(answer: Answer) -> ApiError:
    """A problem of the gateway, or an answer from a proxy."""
    problem = answer.json()
    if not isinstance(problem, dict) or not isinstance(problem.get("code"), str):
        return _unexpected(answer, f"The answer is {answer.status}, and not one of the gateway's own.")
    request_id = problem.get("requestId")
    return ApiError(
        str(problem.get("message") or problem.get("title") or problem["code"]),
        status=answer.status,
        code=problem["code"],
        request_id=request_id if isinstance(request_id, str) else answer.request_id,
        fields=_fields_of(problem.get("errors")),
        retry_after_seconds=answer.retry_after_seconds(),
    )


def _fields_of(errors: Any) -> tuple[FieldError, ...]:
    listed = errors if isinstance(errors, list) else []
    return tuple(
        FieldError(str(error.get("in", "")), str(error.get("path", "")), str(error.get("message", "")))
        for error in listed
        if isinstance(error, dict)
    )


def _unexpected(answer: Answer, message: str) -> ApiError:
    return ApiError(
        message,
        status=answer.status,
        code="unexpected_response",
        request_id=answer.request_id,
        retry_after_seconds=answer.retry_after_seconds(),
    )
