"""Sign-on: authorization code flow, always with PKCE, and OpenID Connect."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, TypeVar, cast
from urllib.parse import parse_qs, urlencode, urlsplit

import urllib3
from integration_sign_on.api.discovery_api import DiscoveryApi
from integration_sign_on.api.identity_api import IdentityApi
from integration_sign_on.api.tokens_api import TokensApi
from integration_sign_on.api_client import ApiClient
from integration_sign_on.configuration import Configuration
from integration_sign_on.models.id_token_claims import IdTokenClaims
from integration_sign_on.models.issued_tokens import IssuedTokens
from integration_sign_on.models.login_context import LoginContext
from integration_sign_on.models.login_user_type import LoginUserType
from integration_sign_on.models.revocation_request import RevocationRequest
from integration_sign_on.models.token_request import TokenRequest
from integration_sign_on.models.user_context import UserContext
from integration_sign_on.models.userinfo_claims import UserinfoClaims
from integration_sign_on.models.worker_context import WorkerContext
from pydantic import BaseModel, SecretStr, ValidationError

from ._exchange import Answer, Exchange, Sent, check_secret, server_url
from ._id_token import IdTokenAlgorithm, IdTokenVerifier
from ._retries import NO_RETRIES, Retry, with_retries
from .errors import ConnectionError, IntegrationServiceError, OAuthError, SignInError

__all__ = [
    "AuthorizationRequest",
    "IdTokenAlgorithm",
    "IdTokenClaims",
    "LoginContext",
    "LoginUserType",
    "SignIn",
    "SignOn",
    "Tokens",
    "UserContext",
    "UserinfoClaims",
    "WorkerContext",
]

_DEFAULT_TIMEOUT_SECONDS = 10.0
# Of an answer. Those of the service have a few kilobytes.
_MOST_BYTES = 1_048_576
# Many proxies take addresses of up to 8 KiB.
_LONGEST_HINT = 7_000
_DEFAULT_SCOPE = "openid profile email"
_RANDOM_BYTES = 32
# The server repeats its answer for a minute; later it would treat the old refresh token as stolen.
_REFRESH_ARRIVES_WITHIN_SECONDS = 55.0
# With any time limit, a refresh is retried at least this long after it began.
_REFRESH_AGAIN_AT_LEAST_SECONDS = 10.0
_REFRESH_AGAIN_AT_MOST_SECONDS = 45.0

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class AuthorizationRequest:
    """The URL for the browser; keep the rest in the person's session until it returns."""

    url: str
    state: str
    nonce: str
    code_verifier: str = field(repr=False)


@dataclass(frozen=True)
class Tokens:
    access_token: str = field(repr=False)
    expires_in_seconds: int
    expires_at: datetime
    """By your clock, in UTC."""
    refresh_token: str | None = field(repr=False)
    """Replaces the previous one, which is invalid now. ``None`` if your application has none."""
    scope: str
    """Granted scopes, separated by spaces."""


@dataclass(frozen=True)
class SignIn(Tokens):
    id_token: str | None = field(repr=False)
    """``None`` without the scope ``openid``, as are the claims."""
    claims: IdTokenClaims | None
    """The person who signed in, verified."""
    all_claims: dict[str, Any] | None = field(repr=False)
    """The raw claims, including those unknown to this release."""


class SignOn:
    """Safe to share between threads."""

    def __init__(
        self,
        issuer: str,
        client_id: str,
        redirect_uri: str,
        *,
        client_secret: str | None = None,
        id_token_algorithm: IdTokenAlgorithm = "RS256",
        timeout_seconds: float = _DEFAULT_TIMEOUT_SECONDS,
        retry: Retry = Retry(),
        http: urllib3.PoolManager | None = None,
        allow_insecure_http: bool = False,
    ) -> None:
        """
        :param issuer: address of the sign-on server
        :param client_secret: for confidential applications; public ones have none
        :param id_token_algorithm: the one registered for your application; no other is accepted
        :param timeout_seconds: for each attempt, including the body of the answer; while the header fields
            arrive, for each part of them
        :param retry: for userinfo, refreshes, revocation and keys; a code is never exchanged twice
        :param http: replaces the default pool: for a proxy, or your own certificates
        :param allow_insecure_http: also send the client secret and tokens to ``http://`` beyond this machine, where
            others can read them
        """
        self._issuer = server_url("issuer", issuer, "the client secret and tokens", allow_insecure_http)
        if not client_id or not redirect_uri:
            raise ValueError("client_id and redirect_uri are needed.")
        self._client_id = client_id
        self._client_secret = SecretStr(client_secret) if client_secret else None
        self._redirect_uri = redirect_uri
        self._retry = retry
        exchange = Exchange(self._issuer, timeout_seconds, http, most_bytes=_MOST_BYTES)
        # A retry can take as long as its time limit to arrive.
        safe_seconds = max(_REFRESH_AGAIN_AT_LEAST_SECONDS, _REFRESH_ARRIVES_WITHIN_SECONDS - timeout_seconds)
        self._refresh_within_seconds = min(safe_seconds, _REFRESH_AGAIN_AT_MOST_SECONDS)
        once = _SignOnClient(self._issuer, exchange, NO_RETRIES)
        client = _SignOnClient(self._issuer, exchange, retry)
        self._token_endpoint = TokensApi(once)
        self._tokens = TokensApi(client)
        self._identity = IdentityApi(client)
        keys = DiscoveryApi(client)
        self._verifier = IdTokenVerifier(
            self._issuer,
            client_id,
            id_token_algorithm,
            lambda: cast(Answer, keys.jwks_without_preload_content()),
        )

    def authorization_url(
        self,
        scope: str = _DEFAULT_SCOPE,
        *,
        state: str | None = None,
        nonce: str | None = None,
        prompt: str | None = None,
        login_hint: str | None = None,
        max_age_seconds: int | None = None,
        ui_locales: str | None = None,
    ) -> AuthorizationRequest:
        """
        The address to which to send the browser to sign a person in. State and nonce are random by default.

        :param max_age_seconds: the longest time since the person entered the password; needs the scope ``openid``. Give
            ``exchange_code`` the same: the browser, which carries this request, can leave it out
        """
        code_verifier = _random_text()
        state = state or _random_text()
        nonce = nonce or _random_text()
        url = self._address(
            "/auth/authorize",
            response_type="code",
            client_id=self._client_id,
            redirect_uri=self._redirect_uri,
            scope=scope,
            state=state,
            nonce=nonce,
            code_challenge=_base64url(hashlib.sha256(code_verifier.encode()).digest()),
            code_challenge_method="S256",
            prompt=prompt,
            login_hint=login_hint,
            max_age=None if max_age_seconds is None else str(max_age_seconds),
            ui_locales=ui_locales,
        )
        return AuthorizationRequest(url, state, nonce, code_verifier)

    def exchange_code(
        self,
        callback_url: str,
        *,
        state: str,
        nonce: str,
        code_verifier: str,
        max_age_seconds: float | None = None,
        request_id: str | None = None,
    ) -> SignIn:
        """
        Checks the callback of the browser, exchanges the code, and verifies the ID token. Raises ``OAuthError`` if the
        server or the person refused, ``SignInError`` if the callback does not answer this request. Never retries: after
        an error begin with a new ``authorization_url``. If the ID token is not verified, it first revokes the tokens.

        :param callback_url: the whole address to which the browser returned, or its path and query
        :param max_age_seconds: if you asked for one: the sign-in is refused if the person entered the password longer ago
        """
        code = _code_in(callback_url, state, self._issuer)
        _check_text("code_verifier", code_verifier)
        grant = TokenRequest(
            grant_type="authorization_code",
            code=code,
            client_id=self._client_id,
            client_secret=self._client_secret,
            redirect_uri=self._redirect_uri,
            code_verifier=code_verifier,
        )
        answer = self._ask_for_tokens(grant, request_id)
        tokens = _tokens_in(answer)
        try:
            return self._verified(tokens, answer.id_token, nonce, max_age_seconds)
        except Exception:
            # The caller does not get these tokens, which would stay valid for weeks. Asked once: the caller waits.
            with suppress(IntegrationServiceError):
                self._revoke(self._token_endpoint, tokens.refresh_token or tokens.access_token, request_id)
            raise

    def _verified(
        self, tokens: Tokens, id_token: str | None, nonce: str, max_age_seconds: float | None
    ) -> SignIn:
        if id_token is None:
            if max_age_seconds is not None or "openid" in tokens.scope.split():
                message = "The answer has no ID token; the scope openid and a maximum age require one."
                raise SignInError("id_token_missing", message)
            return SignIn(**vars(tokens), id_token=None, claims=None, all_claims=None)
        claims = self._verifier.claims(id_token, nonce, max_age_seconds)
        try:
            known = IdTokenClaims.model_validate(claims)
        except ValidationError:
            # Its message repeats claims.
            raise SignInError("id_token_invalid", "The ID token is not what the contract describes.") from None
        return SignIn(**vars(tokens), id_token=id_token, claims=known, all_claims=claims)

    def refresh(self, refresh_token: str, *, request_id: str | None = None) -> Tokens:
        """New tokens for a refresh token. Store the new refresh token before you use the others."""
        _check_text("refresh_token", refresh_token)
        grant = TokenRequest(
            grant_type="refresh_token",
            refresh_token=refresh_token,
            client_id=self._client_id,
            client_secret=self._client_secret,
        )
        return with_retries(
            lambda: _tokens_in(self._ask_for_tokens(grant, request_id)), self._retry, self._refresh_within_seconds
        )

    def userinfo(self, access_token: str, *, request_id: str | None = None) -> UserinfoClaims:
        """The person of the access token, at present."""
        check_secret(access_token, "access_token must be an access token, without spaces and line ends.")
        bearer = {"Authorization": f"Bearer {access_token}"}
        answer = self._identity.userinfo_without_preload_content(x_request_id=request_id, _headers=bearer)
        return _model_in(cast(Answer, answer), UserinfoClaims)

    def revoke(self, token: str, *, request_id: str | None = None) -> None:
        """
        Ends a token and all others of the same sign-in. Send the refresh token: an access token that has
        expired may end nothing. Succeeds for tokens that have ended.
        """
        _check_text("token", token)
        self._revoke(self._tokens, token, request_id)

    def _revoke(self, endpoint: TokensApi, token: str, request_id: str | None) -> None:
        request = RevocationRequest(token=token, client_id=self._client_id, client_secret=self._client_secret)
        endpoint.revoke_without_preload_content(request, x_request_id=request_id)

    def logout_url(
        self,
        *,
        id_token: str | None = None,
        post_logout_redirect_uri: str | None = None,
        state: str | None = None,
    ) -> str:
        """
        The address that ends the browser's session at the server. Revoke the tokens as well.

        :param id_token: recommended: with it, the person is not asked to confirm the sign-out; that of a person with
            many clients is left out, because proxies refuse long addresses
        """
        return self._address(
            "/auth/logout",
            client_id=self._client_id,
            id_token_hint=id_token if id_token and len(id_token) <= _LONGEST_HINT else None,
            post_logout_redirect_uri=post_logout_redirect_uri,
            state=state,
        )

    def _ask_for_tokens(self, grant: TokenRequest, request_id: str | None) -> IssuedTokens:
        answer = self._token_endpoint.token_without_preload_content(grant, x_request_id=request_id)
        return _model_in(cast(Answer, answer), IssuedTokens)

    def _address(self, path: str, **parameters: str | None) -> str:
        given = {name: value for name, value in parameters.items() if value is not None}
        return f"{self._issuer}{path}?{urlencode(given)}"


class _SignOnClient(ApiClient):
    """Sends the requests that the generated operations make."""

    def __init__(self, issuer: str, exchange: Exchange, retry: Retry) -> None:
        # No proxy here: the exchange, which sends the requests, has it.
        super().__init__(Configuration(host=issuer, proxy=""))
        self._exchange = exchange
        self._retry = retry

    def call_api(  # type: ignore[override]
        self,
        method: str,
        url: str,
        header_params: dict[str, str],
        body: object = None,
        post_params: object = None,
        _request_timeout: object = None,
    ) -> Sent:
        headers, content = dict(header_params), None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body).encode()

        def attempt() -> Sent:
            answer = self._exchange.send(method, url, headers, content)
            if answer.status != 200:
                raise _error_of(answer)
            return Sent(answer)

        return with_retries(attempt, self._retry)


def _code_in(callback_url: str, state: str, issuer: str) -> str:
    """The code of a callback, verified to answer our request."""
    try:
        parameters = parse_qs(urlsplit(callback_url).query, keep_blank_values=True)
    except ValueError as cause:
        message = "The address to which the browser came back cannot be read."
        raise SignInError("callback_malformed", message) from cause
    for name in ("code", "state", "iss", "error"):
        if len(parameters.get(name, [])) > 1:
            raise SignInError("callback_malformed", f"The parameter {name} came more than once.")
    given = {name: values[0] for name, values in parameters.items()}
    # Some servers decode bytes that are not UTF-8 to surrogates.
    returned = given.get("state", "").encode(errors="surrogatepass")
    if not state or not secrets.compare_digest(returned, state.encode(errors="surrogatepass")):
        raise SignInError("state_mismatch", "The browser came back with an answer to another request.")
    if given.get("iss") != issuer:
        raise SignInError("issuer_mismatch", f"The answer is not from {issuer}.")
    if "error" in given:
        raise OAuthError(given["error"], given.get("error_description"))
    if not given.get("code"):
        raise SignInError("callback_malformed", "The browser came back without a code.")
    return given["code"]


def _tokens_in(answer: IssuedTokens) -> Tokens:
    return Tokens(
        access_token=answer.access_token,
        expires_in_seconds=answer.expires_in,
        expires_at=datetime.now(timezone.utc) + timedelta(seconds=answer.expires_in),
        refresh_token=answer.refresh_token,
        scope=answer.scope,
    )


def _check_text(name: str, value: object) -> None:
    """The error of the model would repeat a part of it."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text.")


def _model_in(answer: Answer, model: type[Model]) -> Model:
    try:
        return model.model_validate(answer.json())
    except ValidationError:
        # Its message repeats parts of the answer, such as tokens.
        raise _unexpected(answer, "The answer is not what the contract describes.") from None


def _error_of(answer: Answer) -> OAuthError:
    said = answer.json()
    if not isinstance(said, dict) or not isinstance(said.get("error"), str):
        return _unexpected(answer, f"The answer is {answer.status}, and not the server's own.")
    description = said.get("error_description")
    return _oauth_error(answer, said["error"], description if isinstance(description, str) else None)


def _unexpected(answer: Answer, description: str) -> OAuthError:
    return _oauth_error(answer, "unexpected_response", description)


def _oauth_error(answer: Answer, error: str, description: str | None) -> OAuthError:
    return OAuthError(
        error,
        description,
        status=answer.status,
        request_id=answer.request_id,
        retry_after_seconds=answer.retry_after_seconds(),
    )


def _random_text() -> str:
    return secrets.token_urlsafe(_RANDOM_BYTES)


def _base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
