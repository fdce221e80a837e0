"""A server with a memory limit, abused: every client gets an answer or a clean error, the server answers
normally afterwards, nothing stays counted, and the memory is given back.

The server has --memory-limit 512M. Its data segment (heap, mappings, stacks of threads) is limited to 768 MB by the
kernel, so that an allocation too many fails; resident memory is looked at, too.

Run it with tests/api/memory/run [--full].
"""

import collections
import concurrent.futures
import contextlib
import gzip
import http.client
import json
import os
import re
import resource
import socket
import subprocess
import tempfile
import time
import unittest

from test_ops import BIN, HEADERS, KEY, Server

FULL = os.environ.get("MEMORY_FULL") == "1"
MB = 1 << 20
LIMIT = 512
HARD = 768
CLEAN = {"200", "ThrottlingException", "ServiceUnavailable", "ProvisionedThroughputExceededException", "408", "closed"}


def sanitized():
    with open(BIN, "rb") as file:
        return b"__tsan_init" in (text := file.read()) or b"__asan_init" in text


def hard_limit():
    if not sanitized():
        resource.setrlimit(resource.RLIMIT_DATA, (HARD * MB, HARD * MB))


def raw(operation, body, length=None, more=None):
    """The bytes of a request; `length` announces more than there is."""
    body = json.dumps(body).encode() if isinstance(body, dict) else body
    lines = {**HEADERS, "Host": "localhost", "X-Amz-Target": "DynamoDB_20120810." + operation,
             "Content-Length": len(body) if length is None else length, **(more or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST / HTTP/1.1\r\n{head}\r\n".encode() + body


def outcome(answers):
    """Of the next answer in a file: "200", the name of the error, another status, or "closed"."""
    try:
        status = int(answers.readline().split(b" ")[1])
        head = http.client.parse_headers(answers)
        length = int(head["Content-Length"])
        body = answers.read(length)
    except (OSError, http.client.HTTPException, IndexError):
        return "closed"
    if len(body) < length:
        return "closed"
    with contextlib.suppress(ValueError, KeyError):
        name = json.loads(body)["__type"].split("#")[-1]
        return str(status) if name == "SerializationException" and status != 400 else name
    return str(status)


class Insights(unittest.TestCase):
    """Contributor Insights for everything: an empty place is small, and full ones are kept to their share."""

    TABLES = 12
    INDEXES = 20

    def data_size(self, server):
        with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as file:
            return int(re.search(r"VmData:\s+(\d+) kB", file.read())[1]) << 10

    def enable(self, server):
        for table in range(self.TABLES):
            for index in (None, *range(self.INDEXES)):
                more = {} if index is None else {"IndexName": f"index{index}"}
                status, answer = server.call("UpdateContributorInsights", TableName=f"tab{table}",
                                             ContributorInsightsAction="ENABLE", **more)
                self.assertEqual(status, 200, answer)

    def test_places_and_keys(self):
        server = Server("--memory-limit", "128M", "--admin")
        for table in range(self.TABLES):
            names = [f"g{n}" for n in range(self.INDEXES)]
            server.table(f"tab{table}", AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("k", *names)],
                GlobalSecondaryIndexes=[{
                    "IndexName": f"index{n}", "Projection": {"ProjectionType": "KEYS_ONLY"},
                    "KeySchema": [{"AttributeName": f"g{n}", "KeyType": "HASH"},
                                  {"AttributeName": "k", "KeyType": "RANGE"}]}
                    for n in range(self.INDEXES)])
        before = self.data_size(server)
        self.enable(server)
        if not sanitized():
            self.assertLess(self.data_size(server) - before, 20 * MB)
        seen = server.metrics()
        share = seen["dolmen_memory_budget_limit_bytes"] / 8
        used = 'dolmen_memory_budget_bytes{kind="insights"}'
        self.assertLess(seen[used], MB)
        # Twenty keys of 2 KB for each item, and each twice: three times the share.
        for n in range(60):
            table = f"tab{n % self.TABLES}"
            status, answer = server.call("BatchWriteItem", RequestItems={table: [
                {"PutRequest": {"Item": {"k": {"S": f"{n} {m} " + "x" * 900}, **{
                    f"g{i}": {"S": f"{n} {m} {i} " + "y" * 1900} for i in range(self.INDEXES)}}}}
                for m in range(10)]})
            self.assertEqual(status, 200, answer)
        seen = server.metrics()
        self.assertGreater(seen[used], share / 2)
        self.assertLessEqual(seen[used], share)
        status, answer = server.json("GET", "/admin/insights?table=tab3")
        self.assertEqual(status, 200)
        self.assertEqual(len(answer["insights"]), self.INDEXES + 1)
        self.assertEqual([place["accesses"] for place in answer["insights"]], [50] * (self.INDEXES + 1))
        # What is watched no more is given back, and so is what is gone.
        status, answer = server.call("UpdateContributorInsights", TableName="tab0",
                                     ContributorInsightsAction="DISABLE")
        self.assertEqual(status, 200, answer)
        for table in range(self.TABLES):
            self.assertEqual(server.call("DeleteTable", TableName=f"tab{table}")[0], 200)
        status, answer = server.json("GET", "/admin/insights")
        self.assertEqual(answer["insights"], [])
        self.assertEqual(server.metrics()[used], 0)
        self.assertEqual(server.stop(), 0)


class Limited(unittest.TestCase):
    """A server with limits, and clients of it."""

    @classmethod
    def setUpClass(cls):
        # Both ends of thousands of connections are here and in the server, which inherits this.
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        cls.directory = tempfile.TemporaryDirectory()
        cls.server = Server("--memory-limit", f"{LIMIT}M", data=cls.directory.name, before=hard_limit)
        cls.server.table("tab")
        cls.server.call("PutItem", TableName="tab", Item=KEY)
        for n in range(100):  # a BatchGetItem of all of them is 16 MB
            status, answer = cls.server.call("PutItem", TableName="tab", Item={
                "k": {"S": f"large{n}"}, "v": {"S": "x" * 165000}})
            assert status == 200, answer
        cls.large = {"RequestItems": {"tab": {"Keys": [{"k": {"S": f"large{n}"}} for n in range(100)]}}}

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        cls.directory.cleanup()
        assert code == 0, code

    def setUp(self):
        self.clients = contextlib.ExitStack()
        self.addCleanup(self.clients.close)

    # ---- Clients ----

    def connect(self, receive=None):
        client = socket.socket()
        self.clients.callback(client.close)
        if receive is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        client.settimeout(60)
        client.connect(("127.0.0.1", self.server.port))
        return client

    def ask(self, data):
        """One request on a connection of its own."""
        with socket.socket() as client:
            client.settimeout(60)
            try:
                client.connect(("127.0.0.1", self.server.port))
                client.sendall(data)
            except OSError:
                pass  # refused in the middle of it; the answer may be there
            with client.makefile("rb") as answers:
                return outcome(answers)

    def ask_all(self, requests, at_once):
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            return collections.Counter(pool.map(self.ask, requests))

    def status(self, field):
        with open(f"/proc/{self.server.process.pid}/status") as file:
            return int(re.search(rf"^{field}:\s+(\d+) kB", file.read(), re.MULTILINE)[1]) >> 10

    def used(self):
        """Bytes that are counted for requests, but for the page that tells it."""
        seen = self.server.metrics()
        used = {kind: seen[f'dolmen_memory_budget_bytes{{kind="{kind}"}}'] for kind in ("bodies", "calls", "answers")}
        used["answers"] -= min(used["answers"], 64 << 10)
        return used

    # ---- What must hold meanwhile, and afterwards ----

    def relieved(self, data):
        """Clients that hold memory and do not move are cut, so that a large request succeeds in the end."""
        until = time.monotonic() + 120
        while (seen := self.ask(data)) != "200":
            self.assertIn(seen, CLEAN)
            self.assertLess(time.monotonic(), until)

    def well(self, seen):
        """Only clean errors; small requests are served, nothing stays counted, memory is given back."""
        print(f"\n    {dict(seen)} resident {self.status('VmRSS')} MB, at most {self.status('VmHWM')} MB", end=" ")
        self.assertLessEqual(set(seen), CLEAN)
        self.assertIsNone(self.server.process.poll(), self.server.said())
        self.clients.close()
        self.assertEqual(self.ask(raw("GetItem", {"TableName": "tab", "Key": KEY})), "200")
        self.assertEqual(self.ask(raw("PutItem", {"TableName": "tab", "Item": KEY})), "200")
        until = time.monotonic() + 30
        while any(self.used().values()) or (self.status("VmRSS") > LIMIT and not sanitized()):
            self.assertLess(time.monotonic(), until, f"{self.used()}, resident {self.status('VmRSS')} MB")
            time.sleep(0.2)
        self.assertEqual(self.ask(raw("BatchGetItem", self.large)), "200")
        print(f"and then {self.status('VmRSS')} MB", end=" ")
        if not sanitized():
            self.assertLess(self.status("VmHWM"), HARD)


class Abuse(Limited):
    def test_clients_that_never_read(self):
        seen = collections.Counter()
        readers = [self.connect(receive=4096) for _ in range(200 if FULL else 60)]
        for client in readers:
            client.sendall(raw("BatchGetItem", self.large))
        for client in readers:
            try:
                head = client.recv(64)
            except OSError:
                head = b""
            seen["closed" if not head else "200" if b" 200 " in head else "ThrottlingException"] += 1
            self.assertTrue(not head or b" 200 " in head or b" 400 " in head, head)
        self.assertEqual(self.ask(raw("GetItem", {"TableName": "tab", "Key": KEY})), "200")
        self.assertGreater(seen["200"], 0)
        self.relieved(raw("BatchGetItem", self.large))
        self.well(seen)

    def test_half_sent_bodies(self):
        body = json.dumps({"TableName": "tab", "Item": {**KEY, "v": {"S": "x" * (15 * MB)}}}).encode()
        halves = [self.connect() for _ in range(60)]
        for client in halves:
            client.setblocking(False)
        left = {client: memoryview(raw("PutItem", body, len(body) + 1)) for client in halves}
        until = time.monotonic() + 20
        while any(left.values()) and time.monotonic() < until:
            moved = 0
            for client, rest in left.items():
                with contextlib.suppress(OSError):
                    sent = client.send(rest[:1 << 18]) if rest else 0
                    left[client] = rest[sent:]
                    moved += sent
            if not moved:
                time.sleep(0.05)
        self.assertEqual(self.ask(raw("GetItem", {"TableName": "tab", "Key": KEY})), "200")
        self.relieved(raw("BatchWriteItem", {"RequestItems": {"tab": [
            {"PutRequest": {"Item": {"k": {"S": f"b{i}"}, "v": {"S": "x" * 390000}}}} for i in range(25)]}}))
        seen = self.ask_all([raw("PutItem", {"TableName": "tab", "Item": {**KEY, "v": {"S": "y" * 300000}}})] * 4, 4)
        self.well(seen)

    def test_ten_thousand_connections(self):
        count = 9990 if FULL else 3000  # the server takes 10,000, and some are for the questions below
        ask = raw("PutItem", {"TableName": "tab", "Item": {**KEY, "v": {"S": "x" * 1000}}})
        crowd = [self.connect() for _ in range(count)]
        for client in crowd:
            client.sendall(ask)
        seen = collections.Counter(outcome(client.makefile("rb")) for client in crowd)
        self.assertEqual(seen, {"200": count})
        before = self.status("VmRSS")
        seen = self.server.metrics()
        self.assertGreaterEqual(seen["dolmen_connections"], count)
        print(f"\n    {count} connections: resident {before} MB", end="")
        self.well({"200": count})

    def test_large_transactions(self):
        def transaction(n):
            return raw("TransactWriteItems", {"TransactItems": [
                {"Put": {"TableName": "tab", "Item": {"k": {"S": f"t{n}-{i}"}, "v": {"S": "x" * 390000}}}}
                for i in range(10)]})
        self.well(self.ask_all(map(transaction, range(200 if FULL else 40)), 40))

    def test_queued_large_puts(self):
        put = [raw("PutItem", {"TableName": "tab", "Item": {"k": {"S": f"put{n % 200}"}, "v": {"S": "x" * 400000}}})
               for n in range(200)]
        self.well(self.ask_all(put * (10 if FULL else 2), 100))

    def test_batches_of_writes(self):
        def batch(n):
            return raw("BatchWriteItem", {"RequestItems": {"tab": [
                {"PutRequest": {"Item": {"k": {"S": f"b{n}-{i}"}, "v": {"S": "x" * 390000}}}} for i in range(25)]}})
        self.well(self.ask_all(map(batch, range(100 if FULL else 20)), 20))

    def test_pipelined_scans(self):
        client = self.connect()
        client.sendall(raw("Scan", {"TableName": "tab"}) * 300)
        seen = collections.Counter()
        answers = client.makefile("rb")
        for _ in range(300):
            seen[outcome(answers)] += 1
        self.assertEqual(seen, {"200": 300})
        self.well(seen)

    def test_deep_json(self):
        deep = b'{"TableName":"tab","Item":{"k":{"S":"deep"},"v":' + b'{"L":[' * 100000 + b"]}" * 100000 + b"}}"
        wide = b'{"TableName":"tab","Item":{"k":{"S":"wide"},"v":{"L":[' + b'{"NULL":true},' * 1100000
        wide += b'{"NULL":true}]}}}'
        seen = self.ask_all([raw("PutItem", deep), raw("PutItem", wide)] * (40 if FULL else 10), 20)
        for refused in ("SerializationException", "ValidationException", "InternalServerError"):
            seen.pop(refused, None)
        self.well(seen)

    def test_compressed(self):
        packed = gzip.compress(json.dumps({"TableName": "tab", "Item": {
            **KEY, "v": {"S": "x" * (15 * MB)}}}).encode(), 1)
        more = {"Accept-Encoding": "gzip"}
        requests = [raw("PutItem", packed, more={"Content-Encoding": "gzip"}), raw("BatchGetItem", self.large, more=more)]
        seen = self.ask_all(requests * (60 if FULL else 15), 30)
        seen.pop("ValidationException", None)  # the item is too large
        self.well(seen)


@unittest.skipIf(sanitized(), "a sanitizer wants terabytes of addresses")
class Start(unittest.TestCase):
    """A server whose address space is limited, as by 'ulimit -v'."""

    def limited(self, megabytes):
        return lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes * MB, megabytes * MB))

    def test_little_is_enough(self):
        for megabytes in (150, 300, 600):
            with tempfile.TemporaryDirectory() as data:
                server = Server(data=data, before=self.limited(megabytes))
                server.table("tab")
                self.assertEqual(server.call("PutItem", TableName="tab", Item=KEY)[0], 200)
                self.assertEqual(server.call("GetItem", TableName="tab", Key=KEY)[1], {"Item": KEY})
                self.assertIn(f"memory: at most {megabytes // 2} MB", server.said())
                self.assertEqual(server.stop(), 0)

    def test_objects_have_their_share(self):
        """The metadata of objects is a part of the limit: what requests have is less by that."""
        with tempfile.TemporaryDirectory() as data:
            said = []
            for options in ((), ("--objects", os.path.join(data, "objects"))):
                server = Server("--memory-limit", "64M", *options, data=os.path.join(data, "data"))
                said.append(server.said())
                self.assertEqual(server.stop(), 0)
        self.assertIn("write buffers 16 MB, requests 24 MB", said[0])
        self.assertIn("write buffers 16 MB, metadata of objects 4 MB, requests 20 MB", said[1])

    def test_too_little_is_said(self):
        with tempfile.TemporaryDirectory() as data:
            ended = subprocess.run([BIN, "serve", "--port", "0", "--data", data], capture_output=True, text=True,
                                   timeout=60, preexec_fn=self.limited(40))
        self.assertEqual(ended.returncode, 12, ended.stderr)
        self.assertIn("dolmen: out of memory", ended.stderr)


if __name__ == "__main__":
    unittest.main()
