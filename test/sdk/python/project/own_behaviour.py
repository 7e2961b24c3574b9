"""What only Python has: threads that are interrupted, a stop that is no signal, and values of any type."""

from __future__ import annotations

import base64
import hmac
import itertools
import json
import os
import pickle
import socket
import sqlite3
import threading
import traceback
import unittest
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any
from unittest import mock

import integration_service as sdk
from integration_service import _exchange as module_of_requests
from integration_service._id_token import IdTokenVerifier

ISSUER = "http://127.0.0.1:1"
CALLBACK = "https://app.example.com/callback"


class Wanted(str):
    """The id of a key. Tells when a thread has looked for it."""

    def __init__(self, _: str) -> None:
        self.is_sought = threading.Event()

    def __hash__(self) -> int:
        self.is_sought.set()
        return super().__hash__()


class SharedKeys(unittest.TestCase):
    def errors_of_two(self, *ends: BaseException) -> list[Any]:
        """Of two threads, the second of which wants the key while the first reads it. The reads end one by one so."""
        left, wanted = list(ends), Wanted("key-1")
        second: list[Future[Any]] = []

        def read() -> Any:
            if not second:
                second.append(threads.submit(verifier._key, wanted))
                wanted.is_sought.wait()
            raise left.pop(0)

        verifier = IdTokenVerifier(ISSUER, "app_1", "RS256", read)
        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(verifier._key, "key-1").exception()
            return [first, second[0].exception()]

    def test_what_ends_the_thread_that_reads_ends_no_other(self) -> None:
        for own in (KeyboardInterrupt(), RuntimeError("The time of this task is over.")):
            failure = sdk.ConnectionError("of the second read")
            self.assertEqual(self.errors_of_two(own, failure), [own, failure])

    def test_who_waits_for_a_read_that_fails_has_an_equal_error(self) -> None:
        for failure in (sdk.OAuthError("slow_down", "Later.", status=429), sdk.TimeoutError("It is late.")):
            failure.__cause__ = ValueError("the cause")
            first, second = self.errors_of_two(failure)
            self.assertIs(first, failure)
            self.assertIsNot(second, failure)
            self.assertEqual(type(second), type(failure))
            self.assertEqual((str(second), vars(second)), (str(failure), vars(failure)))
            # Its frames would keep the codes and tokens of the first.
            self.assertIsNone(second.__cause__)


class Errors(unittest.TestCase):
    def test_of_another_process_are_the_same(self) -> None:
        field = sdk.FieldError("query", "limit", "must be <= 1000")
        for error in (
            sdk.ApiError("No.", status=400, code="invalid_request", fields=(field,), retry_after_seconds=5),
            sdk.OAuthError("invalid_grant", "Used.", status=400, request_id="req-1"),
            sdk.SignInError("state_mismatch", "Of another request."),
            sdk.WebhookVerificationError("header_missing", "There is none."),
            sdk.ConnectionError("It failed."),
            sdk.TimeoutError("It is late."),
        ):
            for same in (pickle.loads(pickle.dumps(error)), copy(error)):
                self.assertIs(type(same), type(error))
                self.assertEqual((str(same), same.args, vars(same)), (str(error), error.args, vars(error)))


class Stop(unittest.TestCase):
    def test_ends_a_run_whose_read_fails_and_no_other(self) -> None:
        asked: list[object] = []

        def list_changes(*_: object, **asked_for: object) -> sdk.Changes:
            asked.append(asked_for)
            sync.stop()
            raise sdk.ApiError("No.", status=401, code="api_key_unknown")

        gateway = sdk.Gateway(ISSUER, "key")
        sync = gateway.sync("iin_1", sdk.MemoryStore())
        with mock.patch.object(gateway, "list_changes", list_changes):
            sync.run()
            sync.run()
        self.assertEqual(len(asked), 2)


class FunctionsOfASync(unittest.TestCase):
    def test_are_not_async(self) -> None:
        async def told(_: object) -> None: ...

        gateway = sdk.Gateway(ISSUER, "key")
        for name in ("on_changes", "on_difference", "on_undecided", "on_error"):
            given: Any = {name: told}
            options = sdk.SyncOptions(**given)
            with self.assertRaisesRegex(TypeError, "must not be async def"):
                gateway.sync("iin_1", sdk.MemoryStore(), options)


    def test_end_it_by_an_error_that_says_what_a_locked_store_says(self) -> None:
        change: Any = SimpleNamespace(type="shift", id="shf_1", client_id="cli_1", version=1, removed=False)
        changes = sdk.Changes([change], "a.1", False)
        told = mock.Mock(side_effect=sqlite3.OperationalError("database is locked"))
        goes_on = mock.Mock(side_effect=AssertionError("It goes on."))
        gateway = sdk.Gateway(ISSUER, "key")
        options = sdk.SyncOptions(on_changes=told, on_error=goes_on)
        with mock.patch.object(gateway, "list_changes", return_value=changes):
            self.assertRaises(sqlite3.OperationalError, gateway.sync("iin_1", sdk.MemoryStore(), options).run)


class MemoryStore(unittest.TestCase):
    def test_is_not_gone_over_again_for_what_follows_a_load(self) -> None:
        store = sdk.MemoryStore()
        store.apply(sdk.Batch([], None, "a.1", is_first=True, is_last=True))
        kept = store._kept
        store.apply(sdk.Batch([], "a.1", "a.2", is_first=False, is_last=True))
        self.assertIs(store._kept, kept)


class Proxy(unittest.TestCase):
    def test_is_not_used_for_a_host_of_no_proxy_with_or_without_its_port(self) -> None:
        for address, entry, is_used in (
            ("https://a.example:8443", "a.example:8443", False),
            ("https://a.example:8443", "a.example", False),
            ("https://a.example:8443", "a.example:1", True),
            ("https://a.example", "a.example:443", False),
            ("https://a.example", "a.example:80", True),
        ):
            environment = {"https_proxy": "http://proxy.example.com:3128", "no_proxy": entry}
            with mock.patch.dict(os.environ, environment, clear=True):
                pool = sdk.Gateway(address, "key")._client._exchange._http
            self.assertEqual(pool.proxy is not None, is_used, (address, entry))


class TimeLimit(unittest.TestCase):
    def test_of_an_answer_that_begins_late_leaves_the_rest_of_it_for_its_end(self) -> None:
        limit_seconds, begun_after_seconds = 600.0, 599.8
        moments = itertools.chain([0.0], itertools.repeat(begun_after_seconds))
        clock = SimpleNamespace(monotonic=lambda: next(moments))
        with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as threads:
            answered = threads.submit(self.answer, server)
            gateway = sdk.Gateway(f"http://127.0.0.1:{server.getsockname()[1]}", "key", timeout_seconds=limit_seconds)
            with mock.patch.object(module_of_requests, "time", clock):
                self.assertRaises(sdk.TimeoutError, lambda: list(gateway.list_clients("iin_1")))
            answered.result()

    def answer(self, server: socket.socket) -> None:
        """Ends the answer only for a client that waits for longer than it may."""
        connection, _ = server.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[")
            connection.settimeout(10)
            with suppress(OSError):
                while connection.recv(65_536):
                    pass
            with suppress(OSError):
                connection.sendall(b"]")


class Clients(ThreadingHTTPServer):
    """A gateway whose lists of clients are answered when so many are asked for at once."""

    request_queue_size = 64

    def __init__(self, at_once: int) -> None:
        super().__init__(("127.0.0.1", 0), ListOfClients)
        self.all_are_here = threading.Barrier(at_once)


class ListOfClients(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Clients

    def do_GET(self) -> None:
        self.server.all_are_here.wait()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(server: Clients) -> Iterator[str]:
    with server, ThreadPoolExecutor(1) as threads:
        threads.submit(server.serve_forever)
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


class Reads(unittest.TestCase):
    def test_of_many_threads_keep_their_connections(self) -> None:
        count = 40
        with serving(Clients(count)) as url, ThreadPoolExecutor(count) as threads:
            gateway = sdk.Gateway(url, "key")
            with self.assertNoLogs("urllib3.connectionpool", "WARNING"):
                for answer in [threads.submit(gateway.list_clients, "iin_1") for _ in range(count)]:
                    self.assertEqual(answer.result(), [])
            # Else the server would wait for its threads, which wait for requests.
            gateway._client._exchange._http.clear()

    def test_have_a_time_limit_of_their_own(self) -> None:
        limits: list[float | None] = []

        def send(*_: object, timeout_seconds: float | None = None) -> Any:
            limits.append(timeout_seconds)
            raise sdk.TimeoutError("It is late.")

        gateway = sdk.Gateway(ISSUER, "key", timeout_seconds=30)
        with mock.patch.object(gateway._client._exchange, "send", send):
            for read in (
                lambda: gateway.list_clients("iin_1", timeout_seconds=2),
                lambda: gateway.list_clients("iin_1", if_changed=None, timeout_seconds=2.5),
                lambda: list(gateway.workers("iin_1", "cli_1", timeout_seconds=2)),
                lambda: gateway.follow("/v1/instance-integrations", timeout_seconds=2),
                lambda: gateway.list_changes("iin_1", wait_seconds=25, timeout_seconds=2),
                lambda: gateway.list_changes("iin_1", wait_seconds=25),
                lambda: gateway.list_clients("iin_1"),
            ):
                self.assertRaises(sdk.TimeoutError, read)
        self.assertEqual(limits, [2, 2.5, 2, 2, 27, 55, None])

    def test_have_their_time_limit_on_later_pages_too(self) -> None:
        limits: list[float | None] = []
        headers = {"content-type": "application/json"}

        def send(method: str, url: str, *_: object, timeout_seconds: float | None = None) -> Any:
            limits.append(timeout_seconds)
            more = {} if "cursor" in url else {"link": '<?cursor=a>; rel="next"'}
            return module_of_requests.Answer(url, 200, {**headers, **more}, b"[]")

        gateway = sdk.Gateway(ISSUER, "key")
        with mock.patch.object(gateway._client._exchange, "send", send):
            self.assertEqual(list(gateway.users("iin_1", "cli_1", timeout_seconds=2)), [])
        self.assertEqual(limits, [2, 2])

    def test_have_no_time_limit_that_is_none(self) -> None:
        gateway, none = sdk.Gateway(ISSUER, "key"), float("nan")
        untyped: Any = None
        for call in (
            lambda: sdk.Gateway(ISSUER, "key", timeout_seconds=0),
            lambda: sdk.Gateway(ISSUER, "key", timeout_seconds=untyped),
            lambda: sdk.SignOn(ISSUER, "app_1", CALLBACK, timeout_seconds=-1),
            lambda: sdk.SignOn(ISSUER, "app_1", CALLBACK, timeout_seconds=untyped),
            lambda: gateway.list_clients("iin_1", timeout_seconds=0),
            lambda: gateway.list_changes("iin_1", timeout_seconds=none),
            lambda: gateway.follow("/v1/instance-integrations", timeout_seconds=none),
        ):
            self.assertRaisesRegex(ValueError, "^timeout_seconds must be a number of seconds, more than zero.$", call)

    def test_of_a_subject_that_this_release_does_not_know_give_its_json(self) -> None:
        answer = module_of_requests.Answer(ISSUER, 200, {"content-type": "application/json"}, b'{"id":"lat_1"}')
        links = SimpleNamespace(self_path="/v1/later/lat_1")
        event: Any = SimpleNamespace(entity=SimpleNamespace(type="later"), data=SimpleNamespace(links=links))
        gateway = sdk.Gateway(ISSUER, "key")
        with mock.patch.object(gateway._client._exchange, "send", lambda *_, **__: answer):
            self.assertEqual(gateway.follow(event), {"id": "lat_1"})

    def test_of_an_unknown_event_are_a_mistake_of_the_program(self) -> None:
        given: Any = sdk.UnknownEvent(id="evt_1", type="worker.promoted", body={})
        self.assertRaisesRegex(TypeError, "follow the link in event.body", sdk.Gateway(ISSUER, "key").follow, given)


class SignOn(unittest.TestCase):
    def test_needs_a_client_id_and_a_redirect_uri(self) -> None:
        for given in (("", CALLBACK), ("app_1", "")):
            self.assertRaises(ValueError, sdk.SignOn, ISSUER, *given)

    def test_has_no_client_secret_where_that_is_empty(self) -> None:
        sign_on = sdk.SignOn(ISSUER, "app_1", CALLBACK, client_secret="")
        sent: list[Any] = []

        def send(method: str, url: str, headers: object, body: bytes) -> Any:
            sent.append(json.loads(body))
            return module_of_requests.Answer(url, 200, {}, b"")

        with mock.patch.object(module_of_requests.Exchange, "send", lambda _, *asked: send(*asked)):
            sign_on.revoke("refresh-1")
        self.assertEqual(sent, [{"token": "refresh-1", "client_id": "app_1"}])


    def test_refuses_a_callback_with_bytes_that_are_no_text(self) -> None:
        # As servers that decode with surrogateescape give them.
        callback = f"/callback?code=code-1&state=\udcff&iss={ISSUER}"
        with self.assertRaises(sdk.SignInError) as raised:
            sdk.SignOn(ISSUER, "app_1", CALLBACK).exchange_code(
                callback, state="state-1", nonce="nonce-1", code_verifier="verifier-1"
            )
        self.assertEqual(raised.exception.reason, "state_mismatch")


class Webhook(unittest.TestCase):
    def test_whose_headers_have_bytes_that_are_no_text_is_refused(self) -> None:
        headers = {"webhook-id": "\udcff", "webhook-timestamp": "1000", "webhook-signature": "v1,\udcff"}
        with self.assertRaises(sdk.WebhookVerificationError) as raised:
            sdk.verify_webhook(b"{}", headers, "whsec_c2VjcmV0", now_seconds=1000)
        self.assertEqual(raised.exception.reason, "signature_mismatch")


class WebhookSecret(unittest.TestCase):
    def test_may_have_the_end_of_the_line_of_its_file(self) -> None:
        body, secret = b'{"id":"evt_1","type":"worker.promoted"}', "whsec_c2VjcmV0"
        signature = base64.b64encode(hmac.digest(b"secret", b"msg_1.1000." + body, "sha256")).decode()
        headers = {"webhook-id": "msg_1", "webhook-timestamp": "1000", "webhook-signature": f"v1,{signature}"}
        for given in (secret, f"{secret}\n", f" {secret}\r\n"):
            event = sdk.verify_webhook(body, headers, given, now_seconds=1000)
            self.assertEqual(event.id, "evt_1")


class InterruptedConnection:
    """Interrupts the thread after a statement, which it may have waited for."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)

    def execute(self, statement: str, *values: Any) -> Any:
        self.connection.execute(statement, *values)
        if statement != "rollback":
            raise KeyboardInterrupt


class SqliteStore(unittest.TestCase):
    def test_can_be_written_after_an_interrupt(self) -> None:
        store = sdk.SqliteStore(":memory:")
        batch = sdk.Batch(changes=[], after=None, cursor="a.1", is_first=True, is_last=True)
        with mock.patch.object(store, "_connection", InterruptedConnection(store._connection)):
            self.assertRaises(KeyboardInterrupt, store.apply, batch)
        store.apply(batch)
        self.assertEqual(store.cursor(), "a.1")


class Secrets(unittest.TestCase):
    def test_of_another_type_are_in_no_message(self) -> None:
        sign_on = sdk.SignOn(ISSUER, "app_1", CALLBACK)
        callback = f"/callback?code=code-1&state=state-1&iss={ISSUER}"
        given: Any = b"secret-1"
        for call in (
            lambda: sdk.Gateway(ISSUER, given),
            lambda: sign_on.refresh(given),
            lambda: sign_on.userinfo(given),
            lambda: sign_on.revoke(given),
            lambda: sign_on.exchange_code(callback, state="state-1", nonce="nonce-1", code_verifier=given),
        ):
            self.assertNotIn("secret-1", self.shown(call))

    def test_of_a_proxy_that_is_no_address_are_in_no_message(self) -> None:
        for password in ("pass/word", "pass\u2100word"):
            proxy = f"http://ada:{password}@proxy.example.com:3128"
            with mock.patch.dict(os.environ, {"http_proxy": proxy}, clear=True):
                make = partial(sdk.Gateway, "http://gateway.example.com", "key", allow_insecure_http=True)
                self.assertNotIn("ada:pass", self.shown(make))

    def shown(self, call: Any) -> str:
        with self.assertRaises(ValueError) as raised:
            call()
        error = raised.exception
        # With its causes, and without frames, whose lines of source would have the secret.
        return "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=0))


unittest.main()
