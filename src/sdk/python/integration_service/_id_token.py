"""ID tokens, verified with the published keys."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Literal

import jwt

from ._exchange import Answer
from .errors import IntegrationServiceError, OAuthError, SignInError

IdTokenAlgorithm = Literal["RS256", "ES256", "EdDSA"]

_CLOCK_TOLERANCE_SECONDS = 30
_KEYS_MAX_AGE_SECONDS = 300.0
_KEYS_COOLDOWN_SECONDS = 30.0
_REQUIRED_CLAIMS = ["iss", "sub", "aud", "exp", "iat"]


class IdTokenVerifier:
    """Caches the keys, and reads them again for an unknown one."""

    def __init__(self, issuer: str, client_id: str, algorithm: str, read_keys: Callable[[], Answer]) -> None:
        self._issuer = issuer
        self._client_id = client_id
        self._algorithm = algorithm
        self._read_keys = read_keys
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._read_at = float("-inf")
        # Of the last read, if that failed.
        self._failure: IntegrationServiceError | None = None
        # Held by the thread that reads.
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
            raise SignInError("id_token_invalid", f"The ID token is not valid: {cause}") from cause
        if not nonce or claims.get("nonce") != nonce:
            message = "The ID token is the answer to another authorization request."
            raise SignInError("nonce_mismatch", message)
        if max_age_seconds is not None and not _age_seconds(claims) <= max_age_seconds + _CLOCK_TOLERANCE_SECONDS:
            raise SignInError("id_token_invalid", "The person entered the password too long ago.")
        return claims

    def _key(self, kid: str) -> jwt.PyJWK:
        failure = self._failure
        if self._is_due(kid):
            # Sign-ins with a known key go on meanwhile. After an interrupted read, the next thread reads.
            with self._lock:
                if self._is_due(kid):
                    self._read(failure)
        key = self._keys.get(kid)
        if key is None:
            raise SignInError("id_token_invalid", "The ID token is signed with a key that is not published.")
        return key

    def _is_due(self, kid: str) -> bool:
        age_seconds = time.monotonic() - self._read_at
        is_missing = kid not in self._keys and age_seconds > _KEYS_COOLDOWN_SECONDS
        return is_missing or age_seconds > _KEYS_MAX_AGE_SECONDS

    def _read(self, last_failure: IntegrationServiceError | None) -> None:
        """Reads the keys. A read that failed while this thread waited for the lock fails for it too."""
        failure = self._failure
        if failure is not None and failure is not last_failure:
            raise copy(failure)
        try:
            self._keys = _keys_in(self._read_keys())
        except IntegrationServiceError as cause:
            # The copy has no cause and no frames: those hold the codes and tokens of this sign-in.
            self._failure = copy(cause)
            raise
        self._read_at, self._failure = time.monotonic(), None


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
