"""Does what each line of its input says, with the installed package, and answers with a line."""

from __future__ import annotations

import base64
import json
import re
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from types import SimpleNamespace
from typing import Any

import integration_service as sdk
from integration_service import _id_token as module_of_keys
from integration_service import sync as module_of_sync
from pydantic import BaseModel


def snake(name: str) -> str:
    # workersV1 is workers_v1.
    return re.sub(r"[A-Z]", lambda match: "_" + match[0].lower(), name)


def snake_keys(given: dict[str, Any]) -> dict[str, Any]:
    return {snake(key): value for key, value in given.items()}


def options_of(command: dict[str, Any]) -> dict[str, Any]:
    options = snake_keys(command["options"])
    return {**options, "retry": sdk.Retry(**snake_keys(options.get("retry", {})))}


def asked_of(command: dict[str, Any]) -> dict[str, Any]:
    return {snake(key): command[key] for key in ("ifChanged", "requestId") if key in command}


def gateway(command: dict[str, Any]) -> Any:
    options, more = options_of(command), asked_of(command)
    page_size = options.pop("page_size", None)
    if command["method"] in ("workers", "users") and page_size is not None:
        more["page_size"] = page_size
    if command["method"] == "listChanges":
        more.update(snake_keys(command.get("parameters", {})))
    answer = getattr(sdk.Gateway(**options), snake(command["method"]))(*command["args"], **more)
    return list(answer) if isinstance(answer, sdk.Paged) else answer


def links(command: dict[str, Any]) -> Any:
    return sdk.Gateway(**options_of(command)).follow(verified(command), **asked_of(command))


def sign_on(command: dict[str, Any]) -> Any:
    subject, parameters = sdk.SignOn(**options_of(command)), snake_keys(command["parameters"])
    if command["method"] == "exchangeTwice":
        return exchange_twice(subject, parameters.pop("seconds"), parameters)
    if command["method"] == "exchangeAtOnce":
        return exchange_at_once(subject, parameters.pop("count"), parameters)
    return getattr(subject, snake(command["method"]))(**parameters)


def exchange_at_once(subject: sdk.SignOn, count: int, exchange: dict[str, Any]) -> list[str | None]:
    with ThreadPoolExecutor(count) as threads:
        errors = [threads.submit(subject.exchange_code, **exchange).exception for _ in range(count)]
        return [error and type(error).__name__ for error in (wait() for wait in errors)]


def exchange_twice(subject: sdk.SignOn, seconds: float, exchange: dict[str, Any]) -> Any:
    """With the clock put forward between the two."""
    subject.exchange_code(**exchange)
    clock = module_of_keys.time
    module_of_keys.time = SimpleNamespace(monotonic=lambda: clock.monotonic() + seconds)
    try:
        return subject.exchange_code(**exchange)
    finally:
        module_of_keys.time = clock


def verified(command: dict[str, Any]) -> Any:
    parameters = snake_keys(command["parameters"])
    return sdk.verify_webhook(base64.b64decode(parameters.pop("body")), **parameters)


def webhooks(command: dict[str, Any]) -> Any:
    event = verified(command)
    if isinstance(event, sdk.UnknownEvent):
        read = {"occurredAt": event.occurred_at, "sequence": event.sequence, "entity": event.entity}
        return {"isKnown": False, "isTest": event.test, "event": {**event.body, **read}}
    unmapped = [*(event.model_extra or {}), *(event.data.model_extra or {})]
    return {"isKnown": True, "isTest": event.test, "event": event, "unmapped": unmapped}


class Course:
    """A sync, and what there is to tell when it has ended."""

    def __init__(self, command: dict[str, Any]) -> None:
        parameters = snake_keys(command["parameters"])
        name = parameters.pop("store")
        self.store: Any = sdk.MemoryStore() if name == "memory" else sdk.SqliteStore(name)
        self.differences: list[sdk.Difference] = []
        self.errors: list[str] = []
        self.failure: dict[str, Any] | None = None
        options = sdk.SyncOptions(
            on_difference=self.differ,
            on_undecided=lambda client_ids: self.errors.append(f"undecided: {','.join(client_ids)}"),
            on_error=lambda error: self.errors.append(type(error).__name__),
            **parameters,
        )
        self.sync = sdk.Gateway(**options_of(command)).sync(command["args"][0], self.store, options)

    def differ(self, differences: Any) -> None:
        say({"differences": plain(differences)})
        self.differences.extend(differences)

    def start(self, method: str) -> None:
        self.thread = threading.Thread(target=self.follow, args=(getattr(self.sync, method),), daemon=True)
        self.thread.start()

    def follow(self, method: Any) -> None:
        try:
            method()
        except Exception as error:  # Told to the test, which judges it.
            self.failure = told(error)
            say({"failure": plain(self.failure)})

    def report(self) -> dict[str, Any]:
        self.thread.join()
        entities = list(self.store) if isinstance(self.store, sdk.MemoryStore) else None
        kept = {"failure": self.failure, "differences": self.differences, "errors": self.errors}
        return {**kept, "entities": entities}


def sync(command: dict[str, Any]) -> Any:
    global course
    method = command["method"]
    if method == "wake":
        return course.sync.wake()
    if method == "pass":
        # Only for the sync: a request that waits would time out.
        now, seconds = module_of_sync.time.monotonic, command["parameters"]["seconds"]
        module_of_sync.time = SimpleNamespace(monotonic=lambda: now() + seconds)
        return None
    if method == "again":
        return course.start("run")
    if method in ("stop", "ended"):
        if method == "stop":
            course.sync.stop()
        return course.report()
    course = Course(command)
    course.start("run" if method == "start" else "catch_up")
    return course.report() if method == "catchUp" else None


def say(line: dict[str, Any]) -> None:
    """A line without an id is no answer: a test that kills the program has read it."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, BaseModel):
        return plain(value.model_dump(by_alias=True))
    if is_dataclass(value) and not isinstance(value, type):
        members = {name: getattr(value, name) for name in value.__dataclass_fields__}
        if isinstance(value, sdk.Change):
            members["resource"] = value.resource
        return {camel(name): plain(member) for name, member in members.items()}
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    return value.isoformat() if isinstance(value, datetime) else value


def camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def told(error: Exception) -> dict[str, Any]:
    members = {camel(name): value for name, value in vars(error).items()}
    if isinstance(error, sdk.ApiError):
        members["fields"] = [{"in": f.location, "path": f.path, "message": f.message} for f in error.fields]
    is_ours = isinstance(error, (sdk.IntegrationServiceError, ValueError))
    name = type(error).__name__ if is_ours else f"another {type(error).__name__}"
    shown = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {**members, "name": name, "message": str(error), "shown": shown}


ON = {"Gateway": gateway, "SignOn": sign_on, "webhooks": webhooks, "links": links, "Sync": sync}

for line in sys.stdin:
    command = json.loads(line)
    try:
        reply = {"value": plain(ON[command["on"]](command))}
    except Exception as error:  # Told to the test, which judges it.
        reply = {"error": told(error)}
    say({"id": command["id"], **reply})
