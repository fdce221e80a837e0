"""The running server over raw sockets: what HTTP clients, good and bad, see.

Run it with tests/api/http/run, or one test with
`python3 tests/api/http/test_http.py Framing.test_chunked`. DOLMEN_BIN names the binary
(default build/dolmen). Each class starts its own server on a free port.
"""

import contextlib
import gzip
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import zlib

BIN = os.environ.get("DOLMEN_BIN", "build/dolmen")
AUTH = (
    "AWS4-HMAC-SHA256 Credential=AKID/20261115/eu-west-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=00"
)
TARGET = "DynamoDB_20120810."
CORAL = "com.amazon.coral.service#"


class Server:
    """A server process in a directory of its own."""

    def __init__(self, *options, data=None):
        self.data = data
        self.temporary = None
        if data is None and "--memory" not in options:
            self.temporary = tempfile.TemporaryDirectory()
            self.data = self.temporary.name
        where = [] if self.data is None else ["--data", self.data]
        self.process = subprocess.Popen(
            [BIN, "serve", "--port", "0", *where, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        line = self.process.stdout.readline()
        found = re.fullmatch(r"dolmen listening on http://127\.0\.0\.1:(\d+)\n", line)
        if found is None:
            self.process.kill()
            raise AssertionError(f"no ready line: {line!r} {self.process.stderr.read()!r}")
        self.port = int(found[1])

    def stop(self, timeout=20):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout)
        self.process.stdout.close()
        self.process.stderr.close()
        if self.temporary is not None:
            self.temporary.cleanup()
        return code


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)


class Connection:
    """A raw connection that can send anything and reads answers one by one."""

    def __init__(self, port, timeout=20):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def send(self, data):
        self.socket.sendall(data)

    def _more(self):
        piece = self.socket.recv(1 << 16)
        self.buffer += piece
        return len(piece) > 0

    def answer(self, head_only=False):
        while b"\r\n\r\n" not in self.buffer:
            if not self._more():
                return None
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, value in (l.split(": ", 1) for l in lines)}
        status = int(first.split(" ")[1])
        length = 0 if head_only or status == 100 else int(headers["content-length"])
        while len(self.buffer) < length:
            if not self._more():
                raise AssertionError("the answer is cut short")
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return Answer(status, headers, body)

    def at_end(self):
        return self.buffer == b"" and self.socket.recv(1) == b""

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def request(operation="ListTables", body=b"{}", method="POST", path="/", version="HTTP/1.1",
            drop=(), **headers):
    """The bytes of a request. Headers are given with _ for -; None removes one."""
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
    fields = {
        "Host": "localhost",
        "X-Amz-Target": TARGET + operation if operation else None,
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Date": "20261115T000000Z",
        "Authorization": AUTH,
        "Content-Length": str(len(body)),
    }
    fields.update({name.replace("_", "-"): value for name, value in headers.items()})
    lines = [f"{n}: {v}" for n, v in fields.items() if v is not None and n not in drop]
    return (f"{method} {path} {version}\r\n" + "\r\n".join(lines) + "\r\n\r\n").encode() + body


def call(connection, operation, body):
    connection.send(request(operation, body))
    return connection.answer()


def create_table(connection, name="table"):
    answer = call(connection, "CreateTable", {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    })
    assert answer.status == 200, answer.body


class Served(unittest.TestCase):
    options = ("--memory",)

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.options)

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        assert code == 0, f"the server ended with {code}"

    def connect(self, **options):
        connection = Connection(self.server.port, **options)
        self.addCleanup(connection.close)
        return connection

    def ask(self, *args, **kwargs):
        connection = self.connect()
        connection.send(request(*args, **kwargs))
        return connection.answer()


class Headers(Served):
    def test_of_a_good_answer(self):
        answer = self.ask()
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.json, {"TableNames": []})
        self.assertEqual(answer.headers["content-type"], "application/x-amz-json-1.0")
        self.assertEqual(answer.headers["x-amz-crc32"], str(zlib.crc32(answer.body)))
        self.assertRegex(answer.headers["x-amzn-requestid"], r"^[A-Z0-9]{52}$")
        self.assertEqual(answer.headers["server"], "Server")
        self.assertEqual(answer.headers["connection"], "keep-alive")
        self.assertRegex(answer.headers["date"], r"^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$")
        self.assertNotIn("access-control-allow-origin", answer.headers)

    def test_request_ids_differ(self):
        connection = self.connect()
        connection.send(request() * 100)
        ids = {connection.answer().headers["x-amzn-requestid"] for _ in range(100)}
        self.assertEqual(len(ids), 100)

    def test_content_type_is_mirrored(self):
        for sent in ("application/x-amz-json-1.0", "application/x-amz-json-1.1", "application/json"):
            answer = self.ask(Content_Type=sent)
            self.assertEqual((answer.status, answer.headers["content-type"]), (200, sent))
        answer = self.ask(Content_Type="application/x-amz-json-1.0; charset=utf-8")
        self.assertEqual(answer.headers["content-type"], "application/x-amz-json-1.0")

    def test_health(self):
        answer = self.ask(None, b"", method="GET", drop=("Authorization", "Content-Type"))
        self.assertEqual((answer.status, answer.body), (200, b"healthy: localhost "))
        self.assertEqual(answer.headers["x-amz-crc32"], str(zlib.crc32(answer.body)))
        connection = self.connect()
        connection.send(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n" + request())
        self.assertEqual(connection.answer(head_only=True).status, 200)
        self.assertEqual(connection.answer().json, {"TableNames": []})

    def test_what_is_no_operation(self):
        for kwargs in ({"method": "PUT"}, {"method": "DELETE"}, {"method": "OPTIONS"},
                       {"path": "/other"}, {"method": "GET", "path": "/other"},
                       {"Content_Type": "text/plain"}, {"Content_Type": None}):
            answer = self.ask(**kwargs)
            self.assertEqual((answer.status, answer.body), (404, b"<UnknownOperationException/>\n"))
            self.assertEqual(answer.headers["x-amz-crc32"], "3552371480")
            self.assertRegex(answer.headers["x-amzn-requestid"], r"^[A-Z0-9]{52}$")


PREFLIGHT = {"Access_Control_Request_Headers": "x-amz-target,authorization",
             "Access_Control_Request_Method": "POST"}


class Browsers(Served):
    """Pages in a browser are strangers, whatever path they ask for."""

    options = ("--memory", "--admin")
    paths = ("/", "/v1", "/v1/shop/User", "/health", "/metrics", "/admin/clock")

    def refused(self, answer, path):
        self.assertEqual(answer.status, 403, path)
        self.assertFalse([name for name in answer.headers if name.startswith("access-control-")])

    def test_pages_may_not_call(self):
        for path in self.paths:
            for method in ("GET", "POST", "PUT", "DELETE"):
                self.refused(self.ask(None, b"{}", method=method, path=path,
                                      Content_Type="application/json", Origin="http://app.example"), path)
            self.refused(self.ask(None, b"", method="OPTIONS", path=path,
                                  Origin="http://app.example", **PREFLIGHT), path)
        answer = self.ask(Origin="http://app.example")
        self.refused(answer, "/")
        self.assertEqual(answer.json["__type"], CORAL + "AccessDeniedException")
        self.assertIn("--cors", answer.json["message"])

    def test_a_text_post_of_a_page_moves_no_clock(self):
        before = self.ask(None, b"", method="GET", path="/admin/clock").json
        for origin in ("http://app.example", "null"):
            self.refused(self.ask(None, b'{"offset":"1h"}', path="/admin/clock", Origin=origin,
                                  Content_Type="text/plain"), "/admin/clock")
        after = self.ask(None, b"", method="GET", path="/admin/clock").json
        self.assertEqual(before["offset_ms"], after["offset_ms"])

    def test_names_that_point_here_are_not_served(self):
        for path in self.paths:
            answer = self.ask(None, b"", method="GET", path=path, Host=f"evil.example:{self.server.port}")
            self.refused(answer, path)
        answer = self.ask(Host="evil.example")
        self.assertEqual(answer.json["__type"], CORAL + "AccessDeniedException")
        self.assertIn("--allowed-host", answer.json["message"])

    def test_pages_of_the_server_may_call(self):
        host = f"localhost:{self.server.port}"
        answer = self.ask(Host=host, Origin=f"http://{host}")
        self.assertEqual(answer.status, 200)
        self.assertNotIn("access-control-allow-origin", answer.headers)


class Guests(Served):
    """What --cors and --allowed-host let in."""

    options = ("--memory", "--admin", "--cors", "http://app.example", "--cors", "http://b.example",
               "--allowed-host", "db.example")

    def test_cors(self):
        for origin in ("http://app.example", "http://b.example"):
            answer = self.ask(Origin=origin)
            self.assertEqual((answer.status, answer.headers["access-control-allow-origin"]), (200, origin))
            self.assertEqual(answer.headers["vary"], "Origin")
            answer = self.ask(None, b"", method="OPTIONS", Origin=origin, **PREFLIGHT)
            self.assertEqual((answer.status, answer.body), (200, b""))
            self.assertEqual(answer.headers["access-control-allow-origin"], origin)
            self.assertEqual(answer.headers["access-control-allow-headers"], "x-amz-target,authorization")
            self.assertEqual(answer.headers["access-control-allow-methods"], "POST")
            self.assertEqual(answer.headers["access-control-max-age"], "172800")

    def test_others_stay_out(self):
        for origin in ("https://app.example", "http://app.example:81", "http://c.example"):
            answer = self.ask(Origin=origin)
            self.assertEqual(answer.status, 403)
            self.assertNotIn("access-control-allow-origin", answer.headers)

    def test_admin_is_closed_to_guests(self):
        for method in ("GET", "POST", "OPTIONS"):
            answer = self.ask(None, b"", method=method, path="/admin/clock", Origin="http://app.example")
            self.assertEqual(answer.status, 403)
            self.assertNotIn("access-control-allow-origin", answer.headers)

    def test_allowed_host(self):
        self.assertEqual(self.ask(Host="db.example:8000").status, 200)
        self.assertEqual(self.ask(Host="db2.example").status, 403)


class Start(unittest.TestCase):
    def test_beyond_loopback_is_said_aloud(self):
        process = subprocess.Popen([BIN, "serve", "--port", "0", "--memory", "--host", "0.0.0.0", "--insecure"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=20)
        self.assertRegex(errors, "listening on 0.0.0.0 without authentication")

    def test_beyond_loopback_wants_protection(self):
        done = subprocess.run([BIN, "serve", "--port", "0", "--memory", "--host", "0.0.0.0"], capture_output=True,
                              text=True, timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--host 0.0.0.0 can be reached by others", done.stderr)
        self.assertIn("dolmen init --secure", done.stderr)
        self.assertIn("--insecure", done.stderr)

    def test_options_are_checked(self):
        for option, value in (("--cors", "app.example"), ("--allowed-host", "http://a")):
            done = subprocess.run([BIN, "serve", "--memory", option, value], capture_output=True, text=True,
                                  timeout=20)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{option} {value}: ", done.stderr)


class Authentication(Served):
    def fails(self, name, message=None, **kwargs):
        answer = self.ask(**kwargs)
        expected = {"__type": CORAL + name}
        if message is not None:
            expected["message"] = message
        self.assertEqual((answer.status, answer.json), (400, expected))
        self.assertEqual(answer.headers["x-amz-crc32"], str(zlib.crc32(answer.body)))

    def test_missing(self):
        text = "Request is missing Authentication Token"
        self.fails("MissingAuthenticationTokenException", text, drop=("Authorization",))
        self.fails("MissingAuthenticationTokenException", text, Authorization="Basic eA==")

    def test_incomplete(self):
        start = "Authorization header requires "
        self.fails(
            "IncompleteSignatureException",
            f"{start}'Credential' parameter. {start}'Signature' parameter. "
            f"{start}'SignedHeaders' parameter. {start}existence of either a 'X-Amz-Date' or a "
            "'Date' header. Authorization=AWS4-HMAC-SHA256",
            Authorization="AWS4-HMAC-SHA256", drop=("X-Amz-Date",))
        self.fails("IncompleteSignatureException",
                   f"{start}existence of either a 'X-Amz-Date' or a 'Date' header. "
                   f"Authorization={AUTH}", drop=("X-Amz-Date",))
        self.fails("IncompleteSignatureException",
                   "Credential must have exactly 5 slash-delimited elements, e.g. "
                   "keyid/date/region/service/term, got 'a\"b'",
                   Authorization='AWS4-HMAC-SHA256 Credential=a"b,SignedHeaders=h,Signature=s')

    def test_query(self):
        must = "AWS query-string parameters must include "
        self.fails("IncompleteSignatureException",
                   f"{must}'X-Amz-Credential'. {must}'X-Amz-Signature'. "
                   f"{must}'X-Amz-SignedHeaders'. {must}'X-Amz-Date'. "
                   "Re-examine the query-string parameters.",
                   path="/?X-Amz-Algorithm=AWS4-HMAC-SHA256", drop=("Authorization",))
        self.fails("InvalidSignatureException",
                   "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as "
                   "HTTP header.", path="/?X-Amz-Algorithm=AWS4-HMAC-SHA256")
        answer = self.ask(path="/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20261115T000000Z"
                          "&X-Amz-Credential=a%2F20261115%2Fus-west-2%2Fdynamodb%2Faws4_request"
                          "&X-Amz-SignedHeaders=host&X-Amz-Signature=00", drop=("Authorization",))
        self.assertEqual(answer.status, 200)

    def test_order_of_the_checks(self):
        none = ("Authorization",)
        self.fails("SerializationException", body=b"{", drop=none)
        self.fails("SerializationException", body=b"hello", operation="Nope", drop=none)
        self.fails("UnknownOperationException", operation="Nope", drop=none)
        self.fails("UnknownOperationException", operation="Nope")
        self.fails("UnknownOperationException", operation=None)
        self.fails("UnknownOperationException", X_Amz_Target="Other_20120810.ListTables")
        self.fails("UnknownOperationException",
                   X_Amz_Target="DynamoDBStreams_20120810.ListTables")
        self.fails("SerializationException", body=b"")

    def test_region_names_the_arns(self):
        with Connection(self.server.port) as connection:
            create_table(connection, "arn")
            answer = call(connection, "DescribeTable", {"TableName": "arn"})
            self.assertEqual(answer.json["Table"]["TableArn"],
                             "arn:aws:dynamodb:eu-west-1:000000000000:table/arn")


class Framing(Served):
    def test_keep_alive_and_close(self):
        connection = self.connect()
        for _ in range(3):
            connection.send(request())
            self.assertEqual(connection.answer().status, 200)
        connection.send(request(Connection="close"))
        answer = connection.answer()
        self.assertEqual(answer.headers["connection"], "close")
        self.assertTrue(connection.at_end())

    def test_http_1_0(self):
        connection = self.connect()
        connection.send(request(version="HTTP/1.0"))
        self.assertEqual(connection.answer().headers["connection"], "close")
        self.assertTrue(connection.at_end())
        connection = self.connect()
        connection.send(request(version="HTTP/1.0", Connection="keep-alive"))
        self.assertEqual(connection.answer().headers["connection"], "keep-alive")

    def test_pipelining_keeps_the_order(self):
        connection = self.connect()
        create_table(connection, "pipe")
        batch = b""
        for i in range(50):
            batch += request("PutItem", {"TableName": "pipe", "Item": {"pk": {"S": "a"},
                                                                       "n": {"N": str(i)}}})
            batch += request("GetItem", {"TableName": "pipe", "Key": {"pk": {"S": "a"}},
                                         "ConsistentRead": True})
        connection.send(batch)
        for i in range(50):
            self.assertEqual(connection.answer().json, {})
            self.assertEqual(connection.answer().json["Item"]["n"], {"N": str(i)})

    def test_every_split(self):
        whole = request("ListTables", {"Limit": 7})
        connection = self.connect()
        for cut in range(1, len(whole), 3):
            connection.send(whole[:cut])
            time.sleep(0.0005)
            connection.send(whole[cut:])
            self.assertEqual(connection.answer().status, 200)

    def test_chunked(self):
        connection = self.connect()
        head = request(body=b"", Content_Length=None, Transfer_Encoding="chunked")
        connection.send(head + b"1\r\n{\r\n1;name=value\r\n}\r\n0\r\nTrailer: x\r\n\r\n" + request())
        self.assertIn("TableNames", connection.answer().json)
        self.assertIn("TableNames", connection.answer().json)

    def test_expect_continue(self):
        connection = self.connect()
        whole = request(Expect="100-continue")
        connection.send(whole[:-2])
        self.assertEqual(connection.answer().status, 100)
        connection.send(whole[-2:])
        self.assertEqual(connection.answer().status, 200)

    def test_line_break_between_requests(self):
        connection = self.connect()
        connection.send(request() + b"\r\n" + request())
        self.assertEqual(connection.answer().status, 200)
        self.assertEqual(connection.answer().status, 200)

    def test_half_closed(self):
        connection = self.connect()
        create_table(connection, "half")
        item = {"TableName": "half", "Item": {"pk": {"S": "a"}}}
        connection.send(request("PutItem", item) + request("PutItem", item))
        connection.socket.shutdown(socket.SHUT_WR)
        self.assertEqual(connection.answer().status, 200)
        self.assertEqual(connection.answer().status, 200)
        self.assertTrue(connection.at_end())

    def test_client_gone_before_the_answer(self):
        connection = self.connect()
        create_table(connection, "gone")
        for i in range(50):
            gone = Connection(self.server.port)
            gone.send(request("PutItem", {"TableName": "gone", "Item": {"pk": {"S": str(i)}}}))
            if i % 2 == 0:
                gone.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            gone.close()
        self.assertEqual(call(connection, "ListTables", {}).status, 200)

    def test_many_connections(self):
        connections = [self.connect() for _ in range(300)]
        for connection in connections:
            connection.send(request())
        for connection in connections:
            self.assertEqual(connection.answer().status, 200)


class Refusals(Served):
    def test_bad_requests(self):
        head = b"POST / HTTP/1.1\r\nHost: h\r\n"
        rows = [
            (400, b"hello\r\n\r\n"),
            (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
            (400, b"GET / HTTP/1.1\n\n"),
            (400, b"GET / HTTP/1.1\r\n\r\n"),
            (505, b"GET / HTTP/2.0\r\nHost: h\r\n\r\n"),
            (400, head + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"),
            (400, head + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            (400, head + b"Content-Length: two\r\n\r\n"),
            (400, head + b"Folded: a\r\n b\r\n\r\n"),
            (400, head + b"Space : a\r\n\r\n"),
            (400, head + b"Nul: \0\r\n\r\n"),
            (501, head + b"Transfer-Encoding: gzip\r\n\r\n"),
            (400, head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
            (417, head + b"Expect: x\r\n\r\n"),
            (415, head + b"Content-Encoding: br\r\n\r\n"),
            (431, head + b"Large: " + b"x" * 40000 + b"\r\n\r\n"),
            (431, head + b"Many: x\r\n" * 200 + b"\r\n"),
        ]
        for status, data in rows:
            with self.subTest(data=data[:60]), Connection(self.server.port) as connection:
                connection.send(data)
                answer = connection.answer()
                self.assertEqual(answer.status, status)
                self.assertEqual(answer.headers["connection"], "close")
                self.assertRegex(answer.headers["x-amzn-requestid"], r"^[A-Z0-9]{52}$")
                self.assertTrue(connection.at_end())

    def test_oversize(self):
        limit = 16 << 20
        connection = self.connect()
        connection.send(request(body=b"", Content_Length=str(limit + 1)))
        self.assertEqual(connection.answer().status, 413)
        connection = self.connect()
        connection.send(request(body=b"", Content_Length=None, Transfer_Encoding="chunked"))
        connection.send(b"%x\r\n" % (limit + 1))
        self.assertEqual(connection.answer().status, 413)
        # The whole body is sent before anything is read: the answer must not be lost to a reset.
        connection = self.connect()
        connection.send(request(body=b" " * (limit + 1)))
        self.assertEqual(connection.answer().status, 413)

    def test_as_large_as_allowed(self):
        connection = self.connect()
        connection.send(request(body=b"{" + b" " * ((16 << 20) - 2) + b"}"))
        self.assertEqual(connection.answer().status, 200)

    def test_garbage_never_hurts(self):
        state = 12345
        for _ in range(200):
            data = bytearray(request())
            for _ in range(5):
                state = (state * 1103515245 + 12345) & 0x7FFFFFFF
                data[state % len(data)] = (state >> 16) & 0xFF
            with Connection(self.server.port) as connection, contextlib.suppress(OSError):
                connection.send(bytes(data))
                connection.socket.shutdown(socket.SHUT_WR)
                while connection.socket.recv(4096):
                    pass
        self.assertEqual(self.ask().status, 200)


class Compression(Served):
    def test_request(self):
        packed = gzip.compress(b'{"Limit": 5}')
        answer = self.ask(body=packed, Content_Encoding="gzip")
        self.assertEqual(answer.status, 200)
        self.assertIn("TableNames", answer.json)
        answer = self.ask(body=zlib.compress(b'{"Limit": 5}'), Content_Encoding="deflate")
        self.assertEqual(answer.status, 200)
        self.assertIn("TableNames", answer.json)

    def test_bad_request(self):
        for packed, coding in ((b"no deflate at all", "deflate"), (gzip.compress(b"{}"), "deflate"),
                               (zlib.compress(b"{}"), "gzip"), (zlib.compress(b"{}")[:-1], "deflate")):
            self.assertEqual(self.ask(body=packed, Content_Encoding=coding).status, 400)
        answer = self.ask(body=b"no gzip at all", Content_Encoding="gzip")
        self.assertEqual(answer.status, 400)
        answer = self.ask(body=gzip.compress(b"{}")[:-3], Content_Encoding="gzip")
        self.assertEqual(answer.status, 400)

    def test_in_slices(self):
        """15 MB out of 15 KB: others come in between."""
        before = metric(self.server.port, "long_call_slices_total")
        packed = gzip.compress(b" " * (15 << 20) + b"{}")
        self.assertEqual(self.ask("PutItem", packed, Content_Encoding="gzip").status, 400)
        self.assertGreater(metric(self.server.port, "long_call_slices_total") - before, 25)

    def test_bomb(self):
        packed = gzip.compress(b" " * (64 << 20))
        self.assertLess(len(packed), 100000)
        self.assertEqual(self.ask(body=packed, Content_Encoding="gzip").status, 413)

    def test_answer(self):
        connection = self.connect()
        create_table(connection, "zip")
        text = "".join(f"line {i} of a text that compresses well. " for i in range(200))
        item = {"pk": {"S": "a"}, "text": {"S": text}}
        self.assertEqual(call(connection, "PutItem", {"TableName": "zip", "Item": item}).status, 200)
        get = {"TableName": "zip", "Key": {"pk": {"S": "a"}}}
        plain = call(connection, "GetItem", get)
        self.assertNotIn("content-encoding", plain.headers)
        self.assertEqual(plain.json, {"Item": item})
        connection.send(request("GetItem", get, Accept_Encoding="deflate, gzip"))
        packed = connection.answer()
        self.assertEqual(packed.headers["content-encoding"], "gzip")
        self.assertEqual(packed.headers["x-amz-crc32"], str(zlib.crc32(packed.body)))
        self.assertLess(len(packed.body), len(plain.body) // 2)
        self.assertEqual(json.loads(gzip.decompress(packed.body)), {"Item": item})
        connection.send(request("GetItem", get, Accept_Encoding="deflate"))
        packed = connection.answer()
        self.assertEqual(packed.headers["content-encoding"], "deflate")
        self.assertEqual(packed.headers["x-amz-crc32"], str(zlib.crc32(packed.body)))
        self.assertEqual(json.loads(zlib.decompress(packed.body)), {"Item": item})
        connection.send(request("GetItem", get, Accept_Encoding="gzip;q=0"))
        self.assertNotIn("content-encoding", connection.answer().headers)
        connection.send(request(Accept_Encoding="gzip"))
        self.assertNotIn("content-encoding", connection.answer().headers)  # too small to matter
        # Answers are compressed from 4 KB on.
        for size, coding in ((4096 - 1, None), (4096, "gzip")):
            item["text"]["S"] = "x" * (size - len('{"Item":{"pk":{"S":"a"},"text":{"S":""}}}'))
            self.assertEqual(call(connection, "PutItem", {"TableName": "zip", "Item": item}).status, 200)
            connection.send(request("GetItem", get, Accept_Encoding="gzip"))
            self.assertEqual(connection.answer().headers.get("content-encoding"), coding)

    def test_no_answer(self):
        """TagResource says nothing, not even {}."""
        connection = self.connect()
        create_table(connection, "tagged")
        arn = "arn:aws:dynamodb:us-east-1:000000000000:table/tagged"
        for operation, more in (("TagResource", {"Tags": [{"Key": "a", "Value": "b"}]}), ("UntagResource", {"TagKeys": ["a"]})):
            connection.send(request(operation, {"ResourceArn": arn, **more}))
            answer = connection.answer()
            self.assertEqual((answer.status, answer.body), (200, b""))
            self.assertEqual((answer.headers["content-length"], answer.headers["x-amz-crc32"]), ("0", "0"))


LARGE = 380000  # bytes of an item that is nearly as large as items get


def metric(port, name):
    with Connection(port) as connection:
        connection.send(request(None, b"", "GET", "/metrics"))
        text = connection.answer().body.decode()
    return int(re.search(rf"^dolmen_{name} (\d+)$", text, re.MULTILINE)[1])


def fill(connection, name, count, size):
    create_table(connection, name)
    for i in range(count):
        item = {"pk": {"S": str(i)}, "text": {"S": f"{i} " + "x" * size}}
        answer = call(connection, "PutItem", {"TableName": name, "Item": item})
        assert answer.status == 200, answer.body


def batch(name, count):
    return {"RequestItems": {name: {"Keys": [{"pk": {"S": str(i)}} for i in range(count)]}}}


class Long(Served):
    """What is too long for an event loop is done in the pool, in slices: nobody sees a difference."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with Connection(cls.server.port) as connection:
            fill(connection, "large", 42, LARGE)
            fill(connection, "small", 700, 1000)

    def long_calls(self, ask):
        before = metric(self.server.port, "long_calls_total")
        answer = ask()
        # The scrape itself is one.
        return metric(self.server.port, "long_calls_total") - before - 1, answer

    def test_short_calls_stay(self):
        connection = self.connect()
        get = {"TableName": "small", "Key": {"pk": {"S": "1"}}}
        calls, answer = self.long_calls(lambda: call(connection, "GetItem", get))
        self.assertEqual((calls, answer.status), (0, 200))
        calls, answer = self.long_calls(
            lambda: call(connection, "Scan", {"TableName": "small", "Limit": 20}))
        self.assertEqual((calls, answer.json["Count"]), (0, 20))

    def test_pages(self):
        connection = self.connect()
        seen, start = set(), {}
        while start is not None:
            scan = {"TableName": "small", **({"ExclusiveStartKey": start} if start else {})}
            calls, answer = self.long_calls(lambda: call(connection, "Scan", scan))
            self.assertEqual(answer.status, 200)
            self.assertGreater(calls, 0)
            keys = [item["pk"]["S"] for item in answer.json["Items"]]
            self.assertEqual(len(keys), answer.json["Count"])
            self.assertTrue(seen.isdisjoint(keys))
            seen.update(keys)
            start = answer.json.get("LastEvaluatedKey")
        self.assertEqual(len(seen), 700)
        select = call(connection, "ExecuteStatement", {"Statement": 'SELECT pk FROM "small"'})
        self.assertEqual(select.json["Items"][:3],
                         [{"pk": item["pk"]} for item in
                          call(connection, "Scan", {"TableName": "small", "Limit": 3})
                          .json["Items"]])
        self.assertEqual(len(select.json["Items"]), 700)
        counted = call(connection, "Scan", {"TableName": "small", "Select": "COUNT",
                                            "FilterExpression": "begins_with(pk, :p)",
                                            "ExpressionAttributeValues": {":p": {"S": "6"}}})
        self.assertEqual((counted.json["Count"], counted.json["ScannedCount"]), (111, 700))

    def test_large_items(self):
        connection = self.connect()
        get = {"TableName": "large", "Key": {"pk": {"S": "7"}}}
        calls, answer = self.long_calls(lambda: call(connection, "GetItem", get))
        self.assertGreater(calls, 0)
        text = answer.json["Item"]["text"]["S"]
        self.assertEqual(len(text), LARGE + 2)
        gets = {"TransactItems": [{"Get": {"TableName": "large", "Key": {"pk": {"S": str(i)}}}}
                                  for i in range(10)]}
        answer = call(connection, "TransactGetItems", gets)
        self.assertEqual(answer.json["Responses"][7]["Item"]["text"]["S"], text)
        selects = [{"Statement": "SELECT * FROM large WHERE pk = ?", "Parameters": [{"S": str(i)}]}
                   for i in range(10)]
        for operation, name in (("BatchExecuteStatement", "Statements"),
                                ("ExecuteTransaction", "TransactStatements")):
            answer = call(connection, operation, {name: selects})
            self.assertEqual([each["Item"]["pk"]["S"] for each in answer.json["Responses"]],
                             [str(i) for i in range(10)])
            self.assertEqual(answer.json["Responses"][7]["Item"]["text"]["S"], text)
        update = {"TableName": "large", "Key": {"pk": {"S": "7"}}, "ReturnValues": "ALL_NEW",
                  "UpdateExpression": "SET n = :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}
        calls, answer = self.long_calls(lambda: call(connection, "UpdateItem", update))
        self.assertGreater(calls, 0)
        self.assertEqual(answer.json["Attributes"]["text"]["S"], text)

    def test_batch(self):
        connection = self.connect()
        plain = call(connection, "BatchGetItem", batch("large", 42))
        connection.send(request("BatchGetItem", batch("large", 42), Accept_Encoding="gzip"))
        packed = connection.answer()
        self.assertEqual(packed.headers["content-encoding"], "gzip")
        self.assertEqual(packed.headers["x-amz-crc32"], str(zlib.crc32(packed.body)))
        self.assertEqual(plain.headers["x-amz-crc32"], str(zlib.crc32(plain.body)))
        self.assertEqual(gzip.decompress(packed.body), plain.body)
        self.assertEqual(len(plain.json["Responses"]["large"]), 42)

    def test_large_bodies(self):
        connection = self.connect()
        put = {"TableName": "small", "Item": {"pk": {"S": "put"}, "text": {"S": "y" * LARGE}}}
        calls, answer = self.long_calls(lambda: call(connection, "PutItem", put))
        self.assertGreater(calls, 0)
        self.assertEqual(answer.status, 200)
        call(connection, "DeleteItem", {"TableName": "small", "Key": {"pk": {"S": "put"}}})
        put["Item"]["text"]["S"] = "y" * (15 << 20)
        calls, answer = self.long_calls(lambda: call(connection, "PutItem", put))
        self.assertGreater(calls, 0)
        self.assertEqual((answer.status, answer.json["message"]),
                         (400, "Item size has exceeded the maximum allowed size"))
        # Refused for its target, but only if it is JSON.
        for end, kind in (("]", "UnknownOperationException"), ("}", "SerializationException")):
            body = ("[" + "1," * 100000 + "1" + end).encode()
            calls, answer = self.long_calls(lambda: self.ask(body=body, X_Amz_Target="Other.Thing"))
            self.assertGreater(calls, 0)
            self.assertEqual(answer.json, {"__type": CORAL + kind})

    def test_hang_up_cancels(self):
        for _ in range(200):
            gone = [Connection(self.server.port) for _ in range(8)]
            for connection in gone:
                connection.send(request("BatchGetItem", batch("large", 42), Accept_Encoding="gzip"))
                connection.close()
            if metric(self.server.port, "canceled_calls_total") > 0:
                return
        self.fail("no call was canceled")

    def test_hang_up_does_not_cancel_a_write(self):
        connection = self.connect()
        for i in range(20):
            item = {"pk": {"S": f"gone{i}"}, "text": {"S": "z" * 1000}}
            with Connection(self.server.port) as gone:
                gone.send(request("PutItem", {"TableName": "small", "Item": item}))
                gone.socket.shutdown(socket.SHUT_WR)
                self.assertEqual(gone.answer().status, 200)
            key = {"TableName": "small", "Key": {"pk": {"S": f"gone{i}"}}}
            self.assertEqual(call(connection, "GetItem", key).json, {"Item": item})
            call(connection, "DeleteItem", key)


class Slowness(Served):
    options = ("--memory", "--request-timeout", "1")

    def test_slow_request(self):
        connection = self.connect()
        connection.send(request()[:50])
        answer = connection.answer()
        self.assertEqual(answer.status, 408)
        self.assertTrue(connection.at_end())

    def test_slow_body(self):
        connection = self.connect()
        connection.send(request(body=b"", Content_Length="100"))
        self.assertEqual(connection.answer().status, 408)

    def test_slow_clients_disturb_nobody(self):
        slow = [self.connect() for _ in range(50)]
        for connection in slow:
            connection.send(request()[:100])
        started = time.monotonic()
        self.assertEqual(self.ask().status, 200)
        self.assertLess(time.monotonic() - started, 0.5)

    def test_slow_reader(self):
        fast = self.connect()
        create_table(fast, "slow")
        item = {"pk": {"S": "a"}, "text": {"S": "x" * 100000}}
        self.assertEqual(call(fast, "PutItem", {"TableName": "slow", "Item": item}).status, 200)
        slow = Connection(self.server.port)
        self.addCleanup(slow.close)
        slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        get = request("GetItem", {"TableName": "slow", "Key": {"pk": {"S": "a"}}})
        slow.send(get * 100)  # 10 MB of answers that nobody reads
        self.assertEqual(call(fast, "ListTables", {}).status, 200)
        time.sleep(4)  # one second, and one for each 64 KB of the answer that is stuck
        with self.assertRaises((ConnectionError, AssertionError)):
            while slow.answer() is not None:
                pass
            raise ConnectionError("closed")
        self.assertEqual(call(fast, "ListTables", {}).status, 200)


class Stopping(unittest.TestCase):
    def test_long_calls_end(self):
        """Long calls that are going on are answered, or told to try again; none keeps the server."""
        server = Server("--memory")
        with Connection(server.port) as connection:
            fill(connection, "large", 42, LARGE)
        readers = [Connection(server.port) for _ in range(24)]
        for reader in readers:
            reader.send(request("BatchGetItem", batch("large", 42), Accept_Encoding="gzip"))
        self.assertEqual(server.stop(), 0)
        for reader in readers:
            try:
                answer = reader.answer()
            except (ConnectionError, AssertionError):
                answer = None  # it was cut: nobody took it
            self.assertIn(None if answer is None else answer.status, (None, 200, 503))
            reader.close()

    def test_bodies_are_not_unpacked_to_the_end(self):
        """15 MB out of 15 KB, a hundred times, would be seconds of work for nobody."""
        server = Server("--memory")
        packed = gzip.compress(b" " * (15 << 20) + b"{}")
        writers = [Connection(server.port) for _ in range(100)]
        for writer in writers:
            writer.send(request("PutItem", packed, Content_Encoding="gzip"))
        self.assertEqual(server.stop(), 0)
        statuses = []
        for writer in writers:
            try:
                statuses.append(writer.answer().status)
            except (ConnectionError, AssertionError):
                statuses.append(None)
            writer.close()
        self.assertIn(503, statuses)
        self.assertLessEqual(set(statuses), {None, 400, 503})

    def test_sigint(self):
        server = Server("--memory")
        server.process.send_signal(signal.SIGINT)
        server.process.send_signal(signal.SIGINT)  # an impatient user changes nothing
        self.assertEqual(server.process.wait(10), 0)
        self.assertEqual(server.stop(), 0)

    def test_idle_and_half_sent(self):
        server = Server("--memory")
        idle = Connection(server.port)
        half = Connection(server.port)
        half.send(request()[:40])
        started = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - started, 10)
        idle.close()
        half.close()

    def test_work_in_progress_is_finished(self):
        """Writers go on until the connection ends; every answered write is there afterwards."""
        with tempfile.TemporaryDirectory() as data:
            server = Server(data=data)
            with Connection(server.port) as connection:
                create_table(connection)
            answered, cut = [], []

            def write(worker):
                with Connection(server.port) as connection:
                    for i in range(100000):
                        key = f"{worker}-{i}"
                        try:
                            connection.send(request("PutItem", {"TableName": "table",
                                                                "Item": {"pk": {"S": key}}}))
                            answer = connection.answer()
                        except (ConnectionError, AssertionError) as error:
                            if isinstance(error, AssertionError):
                                cut.append(key)
                            return
                        if answer is None:
                            return
                        assert answer.status == 200, answer.body
                        answered.append(key)
                        if answer.headers["connection"] == "close":
                            return

            threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
            for thread in threads:
                thread.start()
            time.sleep(0.5)
            self.assertEqual(server.stop(), 0)
            for thread in threads:
                thread.join(10)
            self.assertEqual(cut, [])
            self.assertGreater(len(answered), 8)
            server = Server(data=data)
            with Connection(server.port) as connection:
                for key in answered:
                    answer = call(connection, "GetItem", {"TableName": "table",
                                                          "Key": {"pk": {"S": key}}})
                    self.assertIn("Item", answer.json, key)
            self.assertEqual(server.stop(), 0)


class CommandLine(unittest.TestCase):
    def run_bin(self, *args, stdin=""):
        return subprocess.run([BIN, *args], input=stdin, capture_output=True, text=True, timeout=30)

    def test_second_process_on_the_directory(self):
        server = Server()
        second = self.run_bin("serve", "--port", "0", "--data", server.data)
        self.assertEqual((second.returncode, second.stdout), (1, ""))
        self.assertIn("is in use by another process", second.stderr)
        self.assertEqual(server.stop(), 0)

    def test_port_in_use(self):
        server = Server("--memory")
        second = self.run_bin("serve", "--port", str(server.port), "--memory")
        self.assertEqual((second.returncode, second.stdout), (1, ""))
        self.assertIn(f"port {server.port} on 127.0.0.1 is already in use", second.stderr)
        with tempfile.TemporaryDirectory() as parent:
            data = os.path.join(parent, "new")
            second = self.run_bin("serve", "--port", str(server.port), "--data", data)
            self.assertEqual((second.returncode, os.listdir(parent)), (1, []))
        self.assertEqual(server.stop(), 0)

    def test_help(self):
        self.assertIn("serve", self.run_bin("help").stdout)
        for command in ("serve", "call", "version", "help"):
            shown = self.run_bin(command, "--help")
            self.assertEqual(shown.returncode, 0)
            self.assertIn("Example:", shown.stdout)
            self.assertEqual(self.run_bin("help", command).stdout, shown.stdout)
        self.assertIn("power cut", self.run_bin("serve", "--help").stdout)
        self.assertRegex(self.run_bin("--version").stdout, r"^dolmen \d+\.\d+\.\d+\n$")

    def test_usage_errors(self):
        rows = [
            (), ("nonsense",), ("serve", "--nonsense"), ("serve", "--port"),
            ("serve", "--port", "x"), ("serve", "--port", "70000"), ("serve", "extra"),
            ("serve", "--memory=1"), ("serve", "--memory", "--data", "d"),
            ("serve", "--memory", "--durability", "none"), ("call",),
            ("call", "ListTables", "{}", "extra"),
            ("call", "ListTables", "--memory", "--endpoint", "http://x"), ("help", "nonsense"),
        ]
        for row in rows:
            with self.subTest(row=row):
                self.assertEqual(self.run_bin(*row).returncode, 2)
        self.assertIn("there is no option '--nonsense'.", self.run_bin("serve", "--nonsense").stderr)

    def test_did_you_mean(self):
        rows = [
            (("qery", "shop"), "there is no command 'qery'; did you mean 'query'?"),
            (("help", "lnt"), "there is no command 'lnt'; did you mean 'lint'?"),
            (("serve", "--prot", "1"), "there is no option '--prot'; did you mean '--port'?"),
            (("export", "t", "--format", "dynamo-json"), "there is no format 'dynamo-json'; did you mean 'dynamodb-json'?"),
            (("infer", "--from", "onetabel", "x"), "there is no format 'onetabel'; did you mean 'onetable'?"),
            (("generate", "typescrip", "x"), "there is no generator 'typescrip'; did you mean 'typescript'?"),
            (("bench", "--endpoint", "http://x", "--workload", "gett"), "there is no workload 'gett'; did you mean 'get'?"),
            (("completely", "else"), "there is no command 'completely'."),
        ]
        for row, text in rows:
            with self.subTest(row=row):
                shown = self.run_bin(*row)
                self.assertEqual(shown.returncode, 2)
                self.assertIn(text, shown.stderr)
        shown = self.run_bin("call", "LisTables", "--memory")
        self.assertEqual(shown.returncode, 1)
        self.assertIn("there is no operation 'LisTables'; did you mean 'ListTables'?", shown.stderr)

    def test_did_you_mean_a_table(self):
        with tempfile.TemporaryDirectory() as directory:
            data, model = os.path.join(directory, "data"), os.path.join(directory, "m.dolmen")
            with open(model, "w") as file:
                file.write('table orders {\n  key PK\n}\nentity Order {\n  PK = "{id}"\n  id string\n}\n'
                           "access orderById(id) = one Order\n")
            self.assertEqual(self.run_bin("apply", model, "--data", data).returncode, 0)
            for row in (("export", "ordrs"), ("import", "ordrs"), ("infer", "ordrs"), ("query", "ordrs"), ("abandon", "ordrs")):
                with self.subTest(row=row):
                    shown = self.run_bin(*row, "--data", data)
                    self.assertEqual(shown.returncode, 1)
                    self.assertIn("there is no table 'ordrs'; did you mean 'orders'?", shown.stderr)
            shown = self.run_bin("query", "orders", "orderByID", "id=1", "--data", data)
            self.assertEqual(shown.returncode, 2)
            self.assertIn("there is no access pattern 'orderByID'; did you mean 'orderById'?", shown.stderr)
            shown = self.run_bin("query", "ordrs", "--model", model)
            self.assertIn("the model has no table 'ordrs'; did you mean 'orders'?", shown.stderr)
            shown = self.run_bin("generate", "docs", model, "--table", "ordrs")
            self.assertIn("has no table 'ordrs'; did you mean 'orders'?", shown.stderr)

    def test_endpoint_of_the_environment(self):
        server = Server("--memory")
        url, nobody = f"http://127.0.0.1:{server.port}", "http://127.0.0.1:1"

        def status(*args, **names):
            env = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "DOLMEN_E"))}
            return subprocess.run([BIN, *args], capture_output=True, text=True, timeout=60,
                                  env={**env, **names}).returncode

        self.assertEqual(status("call", "ListTables", DOLMEN_ENDPOINT=url), 0)
        self.assertEqual(status("call", "ListTables", AWS_ENDPOINT_URL=url), 0)
        self.assertEqual(status("call", "ListTables", DOLMEN_ENDPOINT=url, AWS_ENDPOINT_URL=nobody), 0)
        self.assertEqual(status("call", "ListTables", AWS_ENDPOINT_URL_DYNAMODB=url, AWS_ENDPOINT_URL=nobody), 0)
        self.assertEqual(status("call", "ListTables", DOLMEN_ENDPOINT="", AWS_ENDPOINT_URL=url), 0)
        self.assertEqual(status("call", "ListTables", "--endpoint", url, DOLMEN_ENDPOINT=nobody), 0)
        self.assertEqual(status("call", "ListTables", "--memory", DOLMEN_ENDPOINT=nobody), 0)
        self.assertEqual(status("call", "ListTables", DOLMEN_ENDPOINT=nobody), 1)
        self.assertEqual(status("verify", DOLMEN_ENDPOINT=url), 0)
        self.assertEqual(status("verify"), 2)
        self.assertEqual(status("bench", "--items", "100", "--requests", "10", "--workload", "get", DOLMEN_ENDPOINT=url), 0)
        self.assertEqual(server.stop(), 0)

    def test_call(self):
        shown = self.run_bin("call", "ListTables", "--memory")
        self.assertEqual((shown.returncode, shown.stdout), (0, '{"TableNames":[]}\n'))
        shown = self.run_bin("call", "ListTables", "-", "--memory", stdin='{"Limit":3}')
        self.assertEqual(shown.returncode, 0)
        shown = self.run_bin("call", "ListTables", '{"Limit":0}', "--memory")
        self.assertEqual((shown.returncode, shown.stdout), (1, ""))
        self.assertIn("ValidationException", shown.stderr)
        shown = self.run_bin("call", "Nope", "--memory")
        self.assertEqual(shown.returncode, 1)
        self.assertIn("UnknownOperationException", shown.stderr)

    def test_call_on_a_directory_and_a_server(self):
        with tempfile.TemporaryDirectory() as data:
            table = json.dumps({
                "TableName": "cli",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "BillingMode": "PAY_PER_REQUEST",
            })
            self.assertEqual(self.run_bin("call", "CreateTable", table, "--data", data).returncode, 0)
            shown = self.run_bin("call", "ListTables", "--data", data)
            self.assertEqual(json.loads(shown.stdout), {"TableNames": ["cli"]})
            server = Server(data=data)
            url = f"http://127.0.0.1:{server.port}"
            shown = self.run_bin("call", "ListTables", "--endpoint", url)
            self.assertEqual(json.loads(shown.stdout), {"TableNames": ["cli"]})
            shown = self.run_bin("call", "ListTables", "--data", data)
            self.assertEqual(shown.returncode, 1)
            self.assertIn("is in use by another process", shown.stderr)
            self.assertEqual(server.stop(), 0)
            shown = self.run_bin("call", "ListTables", "--endpoint", url)
            self.assertEqual(shown.returncode, 1)
            self.assertIn("no server answers", shown.stderr)
        shown = self.run_bin("call", "ListTables", "--endpoint", "ftp://x")
        self.assertEqual(shown.returncode, 1)


if __name__ == "__main__":
    unittest.main()
