"""The exceptions. ``IntegrationServiceError`` catches them all."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any, Literal


class IntegrationServiceError(Exception):
    """The base class of all errors of this package."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickles and copies: the usual way calls __init__ with the message alone.
        return _made_without_init, (type(self), self.args), vars(self)


def _made_without_init(kind: type[Exception], args: tuple[Any, ...]) -> Exception:
    return kind.__new__(kind, *args)


@dataclass(frozen=True)
class FieldError:
    """An invalid part of the request."""

    location: str
    """``path``, ``query``, ``header``…"""
    path: str
    """Name of the parameter or header."""
    message: str


class ApiError(IntegrationServiceError):
    """An error answer of the gateway. Decide by ``status`` and ``code``; ``message`` is for people."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        request_id: str | None = None,
        fields: tuple[FieldError, ...] = (),
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        """The gateway's code, or ``unexpected_response`` for an answer that is not the gateway's."""
        self.request_id = request_id
        """For support requests. ``None`` if the answer is not the gateway's, for example from a proxy."""
        self.fields = fields
        """The invalid parts of the request, with ``invalid_request``."""
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        places = "; ".join(f"{field.location} {field.path} {field.message}" for field in self.fields)
        said = f"{self.message} ({self.status} {self.code}{_request_in(self.request_id)})"
        return f"{said}: {places}" if places else said


class OAuthError(IntegrationServiceError):
    """An error of the sign-on server, in an answer or by way of the browser (``status`` is ``None`` then)."""

    def __init__(
        self,
        error: str,
        description: str | None = None,
        *,
        status: int | None = None,
        request_id: str | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        said = f"{error}: {description}" if description else error
        super().__init__(said if status is None else f"{said} ({status}{_request_in(request_id)})")
        self.error = error
        """``invalid_grant``, ``access_denied``…, or ``unexpected_response``."""
        self.description = description
        self.status = status
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds


def _request_in(request_id: str | None) -> str:
    return f", request {request_id}" if request_id else ""


SignInErrorReason = Literal[
    "callback_malformed",
    "state_mismatch",
    "issuer_mismatch",
    "id_token_missing",
    "id_token_invalid",
    "nonce_mismatch",
]


class SignInError(IntegrationServiceError):
    """The callback is not a valid answer to the request. Do not sign the person in; begin again."""

    def __init__(self, reason: SignInErrorReason, message: str) -> None:
        super().__init__(message)
        self.reason: SignInErrorReason = reason


WebhookVerificationReason = Literal[
    "header_missing",
    "timestamp_malformed",
    "timestamp_too_old",
    "timestamp_too_new",
    "signature_mismatch",
    "body_malformed",
]


class WebhookVerificationError(IntegrationServiceError):
    """The request is not from the service, or too old. Answer 4xx and ignore it."""

    def __init__(self, reason: WebhookVerificationReason, message: str) -> None:
        super().__init__(message)
        self.reason: WebhookVerificationReason = reason


class ConnectionError(IntegrationServiceError, builtins.ConnectionError):  # noqa: A001
    """No connection, or one that broke before the end of the answer. See ``__cause__``, if it has one."""


class TimeoutError(IntegrationServiceError, builtins.TimeoutError):  # noqa: A001
    """The answer was not complete in time."""
