"""Retries and their pauses."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from .errors import ApiError, ConnectionError, OAuthError

T = TypeVar("T")

_PASSING_STATUSES = frozenset({408, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Retry:
    """Retries of repeatable requests. ``Retry(max_retries=0)`` disables them."""

    max_retries: int = 3
    """Excludes the first attempt."""
    base_delay_seconds: float = 0.25
    """Before the first retry; doubles for each further one, with jitter."""
    max_delay_seconds: float = 8.0
    """The longest pause, except for ``Retry-After``."""
    max_retry_after_seconds: float = 60.0
    """For a longer ``Retry-After`` the error is raised at once."""

    def delay_before_seconds(self, error: Exception, retries: int) -> float | None:
        """``None`` if another attempt would not help."""
        if isinstance(error, (ApiError, OAuthError)):
            if error.status not in _PASSING_STATUSES:
                return None
            asked = error.retry_after_seconds
            if asked is not None:
                # Slightly later than asked, so that clients with the same answer do not return together.
                is_too_long = asked > self.max_retry_after_seconds
                return None if is_too_long else asked * random.uniform(1, 1.1)
        elif not isinstance(error, ConnectionError):
            return None
        longest: float = min(self.max_delay_seconds, self.base_delay_seconds * 2 ** min(retries, 30))
        return longest * random.uniform(0.5, 1)


# No wait of a thread or a socket may be longer, on any platform.
LONGEST_WAIT_SECONDS = 2_147_483.0

NO_RETRIES = Retry(max_retries=0)


def with_retries(attempt: Callable[[], T], retry: Retry, within_seconds: float = math.inf) -> T:
    """For repeatable requests. No retry begins after ``within_seconds``. Raises the last error."""
    began = time.time()
    retries = 0
    while True:
        try:
            return attempt()
        except Exception as error:
            delay_seconds = retry.delay_before_seconds(error, retries) if retries < retry.max_retries else None
            if delay_seconds is None or time.time() - began + delay_seconds > within_seconds:
                raise
            time.sleep(min(delay_seconds, LONGEST_WAIT_SECONDS))
            # The machine may have slept.
            if time.time() - began > within_seconds:
                raise
        retries += 1
