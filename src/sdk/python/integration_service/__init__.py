"""Sign people in, read the gateway and verify webhooks of the Integration Service."""

from integration_gateway import __version__

from ._reader import Changed, Page, Paged, Reading, Unchanged
from ._retries import Retry
from .changes import Change, Changes
from .errors import (
    ApiError,
    ConnectionError,
    FieldError,
    IntegrationServiceError,
    OAuthError,
    SignInError,
    TimeoutError,
    WebhookVerificationError,
)
from .events import UnknownEvent, WebhookEvent
from .gateway import Gateway
from .sign_on import AuthorizationRequest, SignIn, SignOn, Tokens
from .webhooks import verify_webhook

__all__ = [
    "ApiError",
    "AuthorizationRequest",
    "Change",
    "Changed",
    "Changes",
    "ConnectionError",
    "FieldError",
    "Gateway",
    "IntegrationServiceError",
    "OAuthError",
    "Page",
    "Paged",
    "Reading",
    "Retry",
    "SignIn",
    "SignInError",
    "SignOn",
    "TimeoutError",
    "Tokens",
    "Unchanged",
    "UnknownEvent",
    "WebhookEvent",
    "WebhookVerificationError",
    "__version__",
    "verify_webhook",
]
