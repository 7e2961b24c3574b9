"""One request and its whole answer."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from math import ceil, inf
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from integration_gateway import __version__

from ._retries import LONGEST_WAIT_SECONDS
from .errors import ConnectionError, TimeoutError

_USER_AGENT = f"integration-service-sdk-python/{__version__}"

_CHUNK_BYTES = 65_536
# As many reads as the gateway takes at once; urllib3 closes the connections of further ones after each.
_POOL_CONNECTIONS = 64
_JSON_TYPE = re.compile(r"application/(?:[\w.+-]+\+)?json\s*(?:;|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """A whole answer, with any status."""

    url: str
    """The address of the request."""
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def etag(self) -> str | None:
        return self.headers.get("etag")

    @property
    def request_id(self) -> str | None:
        return self.headers.get("x-request-id")

    @property
    def is_json(self) -> bool:
        return _JSON_TYPE.match(self.headers.get("content-type", "")) is not None

    def json(self) -> Any:
        """``None`` if there is none."""
        try:
            return json.loads(self.body) if self.is_json else None
        except ValueError:
            return None

    def retry_after_seconds(self) -> int | None:
        """In seconds or as a date (RFC 9110)."""
        value = self.headers.get("retry-after", "").strip()
        if re.fullmatch(r"[0-9]+", value):
            # Ten digits are decades, longer than anyone waits. int() refuses texts of thousands of digits.
            return int(value.lstrip("0")[:10] or "0")
        try:
            at = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        if at.tzinfo is None:
            at = at.replace(tzinfo=timezone.utc)
        return max(0, ceil((at - datetime.now(timezone.utc)).total_seconds()))


@dataclass(frozen=True)
class Sent:
    """An answer in the shape that the generated operations expect."""

    response: Answer


class Exchange:
    """Sends requests. Follows no redirects, which could carry keys to another server."""

    def __init__(
        self,
        base_url: str,
        timeout_seconds: float,
        http: urllib3.PoolManager | None,
        *,
        most_bytes: float = inf,
    ) -> None:
        """There is no limit of bytes for lists, which are as long as what they list."""
        self._timeout_seconds = time_limit(timeout_seconds)
        self._most_bytes = most_bytes
        self._http = http or _pool_for(base_url)

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        timeout_seconds: float | None = None,
    ) -> Answer:
        given_seconds = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        limit_seconds = min(given_seconds, LONGEST_WAIT_SECONDS)
        deadline = time.monotonic() + limit_seconds
        host = urlsplit(url).netloc
        try:
            response = self._http.request(
                method,
                url,
                body=body,
                headers={"Accept-Encoding": "gzip", **headers, "User-Agent": _USER_AGENT},
                timeout=urllib3.Timeout(total=limit_seconds),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            body = _whole_body(response, deadline, self._most_bytes)
            return Answer(url, response.status, response.headers, body)
        except (urllib3.exceptions.HTTPError, OSError, _Overdue, _TooLong) as cause:
            if _is_overdue(cause):
                message = f"There was no whole answer from {host} within {limit_seconds:g} s."
                raise TimeoutError(message) from cause
            raise ConnectionError(f"The connection to {host} failed: {cause}") from cause


class _Overdue(Exception):
    pass


class _TooLong(Exception):
    pass


def _is_overdue(cause: Exception) -> bool:
    # urllib3 reports a refused connection as a time-out, for historical reasons.
    is_refused = isinstance(cause, urllib3.exceptions.NewConnectionError)
    return not is_refused and isinstance(cause, (urllib3.exceptions.TimeoutError, _Overdue))


def _whole_body(response: urllib3.BaseHTTPResponse, deadline: float, most_bytes: float) -> bytes:
    body = bytearray()
    try:
        _limit(response, deadline)
        # Reads only what has arrived: a larger read would wait for a server that sends byte by byte.
        while chunk := response.read1(_CHUNK_BYTES):
            body += chunk
            if len(body) > most_bytes:
                raise _TooLong(f"the answer has more than {most_bytes} bytes")
            _limit(response, deadline)
    except BaseException:
        response.close()
        # A pool may wait for its connections, the closed ones too.
        response.release_conn()
        raise
    response.release_conn()
    return bytes(body)


def _limit(response: urllib3.BaseHTTPResponse, deadline: float) -> None:
    """Limits the next read. The pool gives the connection a new limit for the next request."""
    left_seconds = deadline - time.monotonic()
    if left_seconds <= 0:
        raise _Overdue
    # There is none after the end of the answer, nor for one with `Connection: close`, which keeps the first limit.
    connected = getattr(response.connection, "sock", None)
    if connected is not None:
        connected.settimeout(left_seconds)


def _pool_for(base_url: str) -> urllib3.PoolManager:
    """Uses the proxy of the environment, if there is one for this address, but none for this machine."""
    address = urlsplit(base_url)
    proxy = getproxies().get(address.scheme)
    host = address.hostname or ""
    # An entry of NO_PROXY may have a port, also that of the scheme.
    default_port = 443 if address.scheme == "https" else 80
    place = address.netloc if address.port else f"{address.netloc}:{default_port}"
    if not proxy or _is_loopback(host) or proxy_bypass(host) or proxy_bypass(place):
        return urllib3.PoolManager(maxsize=_POOL_CONNECTIONS)
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    try:
        # urllib3 does not send the user name and password of the address by itself.
        credentials, is_given, _ = urlsplit(proxy).netloc.rpartition("@")
        headers = urllib3.make_headers(proxy_basic_auth=unquote(credentials)) if is_given else None
        return urllib3.ProxyManager(proxy, proxy_headers=headers, maxsize=_POOL_CONNECTIONS)
    except ValueError:
        # Its message can have a part of the password.
        raise ValueError("The address of the proxy in the environment cannot be read.") from None


def server_url(name: str, address: str, what: str, allow_insecure_http: bool) -> str:
    """Removes a trailing slash. Refuses an address beyond loopback where http:// would send ``what`` unencrypted."""
    parts = urlsplit(address)
    # Paths are appended to it. urlsplit would remove some of the white space.
    if parts.scheme not in ("http", "https") or not parts.netloc or re.search(r"[?#\s]", address):
        raise ValueError(f"{name} must be an address that begins with https:// or http://, without ? and #.")
    if "@" in parts.netloc:
        raise ValueError(f"{name} must have no user name and no password: they would be in messages.")
    if parts.scheme == "http" and not _is_loopback(parts.hostname or "") and not allow_insecure_http:
        message = f"{name} with http:// would send {what} unencrypted."
        raise ValueError(f"{message} Use https://, or allow it with allow_insecure_http.")
    return address.rstrip("/")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def time_limit(seconds: float | None) -> float:
    """As the generated operations take it. Raises ``ValueError`` for what is none."""
    if seconds is None or not seconds > 0:
        raise ValueError("timeout_seconds must be a number of seconds, more than zero.")
    return float(seconds)


def check_secret(secret: str, message: str) -> None:
    """For a header. Its errors would repeat the secret."""
    if not isinstance(secret, str) or not re.fullmatch("[!-~]+", secret):
        raise ValueError(message)


# Plain segments only: nothing that a program could take for another server, or for a way out of the base URL.
_PATH = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)+(?:\?[A-Za-z0-9_.~%&=+-]*)?")


def address_below(base_url: str, link: str) -> str:
    """Resolves a path, or an address below the base URL. No other gets the API key."""
    path = link.removeprefix(base_url) if link.startswith(f"{base_url}/") else link
    if not _PATH.fullmatch(path):
        raise ValueError("The link must be a path of the gateway, or an address below its base URL.")
    return base_url + path
