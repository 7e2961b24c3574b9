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
from .stores import Batch, MemoryStore, SqliteStore, Store, StoredDigest
from .sync import Difference, Sync, SyncOptions
from .webhooks import verify_webhook

__all__ = [
    "ApiError",
    "AuthorizationRequest",
    "Batch",
    "Change",
    "Changed",
    "Changes",
    "ConnectionError",
    "Difference",
    "FieldError",
    "Gateway",
    "IntegrationServiceError",
    "MemoryStore",
    "OAuthError",
    "Page",
    "Paged",
    "Reading",
    "Retry",
    "SignIn",
    "SignInError",
    "SignOn",
    "SqliteStore",
    "Store",
    "StoredDigest",
    "Sync",
    "SyncOptions",
    "TimeoutError",
    "Tokens",
    "Unchanged",
    "UnknownEvent",
    "WebhookEvent",
    "WebhookVerificationError",
    "__version__",
    "verify_webhook",
]
