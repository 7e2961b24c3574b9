"""ID tokens, verified with the published keys."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Literal

import jwt

from ._exchange import Answer
from .errors import ConnectionError, OAuthError, SignInError

IdTokenAlgorithm = Literal["RS256", "ES256", "EdDSA"]

_CLOCK_TOLERANCE_SECONDS = 30
_KEYS_MAX_AGE_SECONDS = 300.0
_KEYS_COOLDOWN_SECONDS = 30.0
_REQUIRED_CLAIMS = ["iss", "sub", "aud", "exp", "iat"]


_Keys = Mapping[str, jwt.PyJWK]
_Reading = Future[_Keys]


class IdTokenVerifier:
    """Caches the keys, and reads them again for an unknown one."""

    def __init__(self, issuer: str, client_id: str, algorithm: str, read_keys: Callable[[], Answer]) -> None:
        self._issuer = issuer
        self._client_id = client_id
        self._algorithm = algorithm
        self._read_keys = read_keys
        self._keys: _Keys = {}
        self._read_at = float("-inf")
        # One read at a time, shared by all who need it.
        self._reading: _Reading | None = None
        self._lock = threading.Lock()

    def claims(self, id_token: str, nonce: str, max_age_seconds: float | None) -> dict[str, Any]:
        try:
            header = jwt.get_unverified_header(id_token)
            claims: dict[str, Any] = jwt.decode(
                id_token,
                self._key(str(header.get("kid", ""))),
                algorithms=[self._algorithm],
                audience=self._client_id,
                issuer=self._issuer,
                leeway=_CLOCK_TOLERANCE_SECONDS,
                options={"require": _REQUIRED_CLAIMS},
            )
        except jwt.PyJWTError as cause:
            raise SignInError("id_token_invalid", f"The ID token does not hold: {cause}") from cause
        if claims.get("nonce") != nonce:
            message = "The ID token is the answer to another authorization request."
            raise SignInError("nonce_mismatch", message)
        if max_age_seconds is not None and not _age_seconds(claims) <= max_age_seconds + _CLOCK_TOLERANCE_SECONDS:
            raise SignInError("id_token_invalid", "The person entered the password too long ago.")
        return claims

    def _key(self, kid: str) -> jwt.PyJWK:
        reading = _Reading()
        try:
            with self._lock:
                keys, shared = self._keys, self._reading
                age_seconds = time.monotonic() - self._read_at
                is_missing = kid not in keys and age_seconds > _KEYS_COOLDOWN_SECONDS
                is_due = is_missing or age_seconds > _KEYS_MAX_AGE_SECONDS
                if is_due and shared is None:
                    self._reading = reading
            if is_due:
                keys = self._read(reading) if shared is None else _result_of(shared)
        finally:
            # Where this thread was interrupted, the others do not wait for it.
            if self._reading is reading:
                self._fail(reading, ConnectionError("The read of the keys was interrupted."))
        if kid not in keys:
            raise SignInError("id_token_invalid", "The ID token is signed with a key that is not published.")
        return keys[kid]

    def _read(self, reading: _Reading) -> _Keys:
        """Without the lock: sign-ins with a known key go on, and the others share the result."""
        try:
            keys = _keys_in(self._read_keys())
        except Exception as cause:
            self._fail(reading, cause)
            raise
        reading.set_result(keys)
        with self._lock:
            self._keys, self._read_at, self._reading = keys, time.monotonic(), None
        return keys

    def _fail(self, reading: _Reading, cause: Exception) -> None:
        with self._lock:
            self._reading = None
        if not reading.done():
            reading.set_exception(cause)


def _result_of(reading: _Reading) -> _Keys:
    cause = reading.exception()
    if cause is None:
        return reading.result()
    # Raised itself, it would collect the frames of all threads.
    error = type(cause).__new__(type(cause), *cause.args)
    vars(error).update(vars(cause))
    raise error


def _age_seconds(claims: Mapping[str, Any]) -> float:
    """Since the person entered the password. NaN if the ID token does not say."""
    at = claims.get("auth_time")
    return time.time() - at if isinstance(at, (int, float)) else math.nan


def _keys_in(answer: Answer) -> dict[str, jwt.PyJWK]:
    key_set = answer.json()
    listed = key_set.get("keys") if isinstance(key_set, dict) else None
    if not isinstance(listed, list):
        message = "The answer is no key set."
        raise OAuthError("unexpected_response", message, status=answer.status, request_id=answer.request_id)
    keys: dict[str, jwt.PyJWK] = {}
    for each in listed:
        if not isinstance(each, dict) or not isinstance(each.get("kid"), str):
            continue
        try:
            keys[each["kid"]] = jwt.PyJWK.from_dict(each)
        except (jwt.PyJWTError, KeyError, TypeError, ValueError):
            continue  # Unknown kind.
    return keys
