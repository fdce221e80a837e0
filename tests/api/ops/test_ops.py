"""What the person who runs a server meets: health, metrics, access log, clock, faults, throughput.

Run it with tests/api/ops/run, or one test with `python3 tests/api/ops/test_ops.py Clock`.
DOLMEN_BIN names the binary (default build/dolmen). Each class starts its own server.
"""

import gzip
import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

BIN = os.environ.get("DOLMEN_BIN", "build/dolmen")
AUTH = (
    "AWS4-HMAC-SHA256 Credential=AKID/20261115/eu-west-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=00"
)
HEADERS = {
    "Authorization": AUTH,
    "X-Amz-Date": "20261115T000000Z",
    "Content-Type": "application/x-amz-json-1.0",
}
KEY = {"k": {"S": "a"}}


class Server:
    """A server process; in memory unless it is given a data directory."""

    def __init__(self, *options, data=None, before=None):
        where = ["--memory"] if data is None else ["--data", data]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [BIN, "serve", "--port", "0", *where, *options],
            stdout=subprocess.PIPE, stderr=self.errors, text=True, preexec_fn=before,
        )
        line = self.process.stdout.readline()
        found = re.search(r":(\d+)\n", line)
        if found is None:
            self.process.kill()
            raise AssertionError(f"no ready line: {line!r} {self.said()!r}")
        self.port = int(found[1])

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.output = self.process.stdout.read()
        code = self.process.wait(20)
        self.process.stdout.close()
        self.errors.close()
        return code

    def http(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            if isinstance(body, (dict, list)):
                body = json.dumps(body)
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.getheaders(), response.read()
        finally:
            connection.close()

    def json(self, method, path, body=None):
        status, _, text = self.http(method, path, body)
        return status, json.loads(text)

    def call(self, operation, **request):
        """(status, answer) of an operation."""
        headers = {**HEADERS, "X-Amz-Target": "DynamoDB_20120810." + operation}
        status, _, text = self.http("POST", "/", json.dumps(request), headers)
        return status, json.loads(text)

    def table(self, name, **more):
        request = {
            "TableName": name,
            "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST",
            **more,
        }
        status, answer = self.call("CreateTable", **request)
        assert status == 200, answer
        for _ in range(200):
            _, answer = self.call("DescribeTable", TableName=name)
            if answer["Table"]["TableStatus"] == "ACTIVE":
                return
            time.sleep(0.02)
        raise AssertionError("the table does not become active")

    def metrics(self):
        """{name{labels}: value} of a scrape, when what was just answered has been counted."""
        time.sleep(0.1)
        status, _, text = self.http("GET", "/metrics")
        assert status == 200
        lines = [l for l in text.decode().splitlines() if not l.startswith("#")]
        return {name: float(value) for name, value in (l.rsplit(" ", 1) for l in lines)}


class Base(unittest.TestCase):
    options = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.options)

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        assert code == 0, code

    def becomes(self, expected, ask):
        """A request is counted once its answer has been sent, so perhaps a moment later."""
        until = time.monotonic() + 5
        while ask() != expected and time.monotonic() < until:
            time.sleep(0.01)
        self.assertEqual(ask(), expected)

    def fails(self, name, answered):
        status, answer = answered
        self.assertEqual(answer.get("__type", "").split("#")[-1], name, answer)
        return status, answer


class Health(Base):
    def test_ok(self):
        self.server.table("healthy")
        status, answer = self.server.json("GET", "/health")
        self.assertEqual(status, 200)
        self.assertEqual((answer["status"], answer["writes"]), ("ok", {"accepted": True}))
        self.assertEqual(answer["tables"], 1)
        self.assertRegex(answer["version"], r"^\d+\.\d+\.\d+")
        self.assertGreaterEqual(answer["uptime_seconds"], 0)

    def test_head(self):
        status, headers, body = self.server.http("HEAD", "/health")
        self.assertEqual((status, body), (200, b""))
        self.assertEqual(dict(headers)["Content-Type"], "application/json")

    def test_root_is_still_the_services(self):
        status, _, body = self.server.http("GET", "/")
        self.assertEqual(status, 200)
        self.assertRegex(body.decode(), r"^healthy: 127\.0\.0\.1:\d+ $")

    def test_other_methods_and_paths(self):
        for method, path in (("POST", "/health"), ("GET", "/healthy"), ("DELETE", "/metrics"),
                             ("GET", "/admin/clock"), ("POST", "/admin/faults")):
            status, _, body = self.server.http(method, path)
            self.assertEqual((status, body), (404, b"<UnknownOperationException/>\n"), path)


class Degraded(unittest.TestCase):
    def test_no_room(self):
        # A limit on the size of files is a disk that is full, for this process.
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        with tempfile.TemporaryDirectory() as data:
            server = Server(data=data, before=limit)
            try:
                server.table("tab")
                self.assertEqual(server.call("PutItem", TableName="tab", Item=KEY)[0], 200)
                pid = server.process.pid
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
                status, answer = server.call("PutItem", TableName="tab", Item={"k": {"S": "lost"}})
                self.assertEqual(status, 500, answer)
                self.assertIn("InternalServerError", answer["__type"])
                status, answer = server.json("GET", "/health")
                self.assertEqual((status, answer["status"]), (503, "degraded"))
                self.assertFalse(answer["writes"]["accepted"])
                self.assertNotEqual(answer["writes"]["reason"], "")
                self.assertRegex(answer["writes"]["since"], r"^20\d\d-\d\d-\d\dT[\d:.]+Z$")
                self.assertEqual(server.call("GetItem", TableName="tab", Key=KEY),
                                 (200, {"Item": KEY}))
                seen = server.metrics()
                self.assertEqual(seen["dolmen_store_writable"], 0)
                self.assertGreaterEqual(seen["dolmen_store_commit_failures_total"], 1)
                self.assertEqual(
                    seen['dolmen_system_errors_total{operation="PutItem",table="tab"}'], 1)
                infinite = resource.RLIM_INFINITY
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (infinite, infinite))
                until = time.monotonic() + 15
                while server.json("GET", "/health")[0] != 200:
                    self.assertLess(time.monotonic(), until, server.said())
                    time.sleep(0.1)
                self.assertEqual(server.call("PutItem", TableName="tab", Item=KEY)[0], 200)
                self.assertEqual(server.call("GetItem", TableName="tab", Key={"k": {"S": "lost"}}),
                                 (200, {}))
            finally:
                self.assertEqual(server.stop(), 0)


class Metrics(Base):
    def value(self, name, operation, table="", **more):
        labels = {"operation": operation, "table": table, **more}
        text = ",".join(f'{k}="{v}"' for k, v in labels.items())
        return self.server.metrics().get(f"dolmen_{name}{{{text}}}")

    def test_requests_and_capacity(self):
        self.server.table("counted")
        for n in range(3):
            self.server.call("PutItem", TableName="counted",
                             Item={"k": {"S": str(n)}, "v": {"S": "x" * 1500}})
        self.server.call("GetItem", TableName="counted", Key={"k": {"S": "0"}})
        self.server.call("GetItem", TableName="counted", Key={"k": {"S": "0"}},
                         ConsistentRead=True)
        self.server.call("Scan", TableName="counted")
        self.becomes(3, lambda: self.value("requests_total", "PutItem", "counted"))
        written = "consumed_write_capacity_units_total"
        read = "consumed_read_capacity_units_total"
        self.becomes(6, lambda: self.value(written, "PutItem", "counted"))
        self.becomes(1.5, lambda: self.value(read, "GetItem", "counted"))
        self.becomes(3, lambda: self.value("returned_item_count_total", "Scan", "counted"))
        latency = "successful_request_latency_seconds"
        self.becomes(3, lambda: self.value(latency + "_count", "PutItem", "counted"))
        self.becomes(3, lambda: self.value(latency + "_bucket", "PutItem", "counted", le="+Inf"))
        self.assertGreater(self.value(latency + "_sum", "PutItem", "counted"), 0)
        self.becomes(1, lambda: self.value("requests_total", "CreateTable", "counted"))

    def test_batches_and_transactions(self):
        self.server.table("many")
        puts = [{"PutRequest": {"Item": {"k": {"S": str(n)}}}} for n in range(4)]
        self.server.call("BatchWriteItem", RequestItems={"many": puts})
        self.server.call("BatchGetItem", RequestItems={
            "many": {"Keys": [{"k": {"S": str(n)}} for n in range(6)]}})
        self.server.call("TransactWriteItems", TransactItems=[
            {"Put": {"TableName": "many", "Item": KEY}}])
        self.server.call("TransactGetItems", TransactItems=[
            {"Get": {"TableName": "many", "Key": KEY}}])
        written = "consumed_write_capacity_units_total"
        read = "consumed_read_capacity_units_total"
        self.becomes(4, lambda: self.value(written, "BatchWriteItem", "many"))
        self.becomes(3, lambda: self.value(read, "BatchGetItem", "many"))
        self.becomes(4, lambda: self.value("returned_item_count_total", "BatchGetItem", "many"))
        self.becomes(2, lambda: self.value(written, "TransactWriteItems", "many"))
        self.becomes(2, lambda: self.value(read, "TransactGetItems", "many"))

    def test_errors_by_kind(self):
        self.server.table("faulty")
        self.server.call("PutItem", TableName="faulty", Item=KEY)
        self.fails("ConditionalCheckFailedException", self.server.call(
            "PutItem", TableName="faulty", Item=KEY,
            ConditionExpression="attribute_not_exists(k)"))
        self.server.call("PutItem", TableName="faulty", Item={"other": {"S": "x"}})
        self.server.call("PutItem", TableName="missing", Item=KEY)
        failed = "conditional_check_failed_requests_total"
        self.becomes(1, lambda: self.value(failed, "PutItem", "faulty"))
        self.becomes(1, lambda: self.value("user_errors_total", "PutItem", "faulty"))
        self.becomes(3, lambda: self.value("requests_total", "PutItem", "faulty"))
        # Names of tables that do not exist make no labels.
        self.assertIsNone(self.value("requests_total", "PutItem", "missing"))
        self.becomes(1, lambda: self.value("user_errors_total", "PutItem", ""))

    def test_refused_before_any_operation(self):
        before = self.value("user_errors_total", "") or 0
        self.server.http("POST", "/", "{}", {"Content-Type": "application/x-amz-json-1.0"})
        self.becomes(before + 1, lambda: self.value("user_errors_total", ""))

    def test_format(self):
        self.server.table("formatted")
        _, headers, text = self.server.http("GET", "/metrics")
        self.assertEqual(dict(headers)["Content-Type"], "text/plain; version=0.0.4")
        declared = set()
        for line in text.decode().splitlines():
            if line.startswith("#"):
                self.assertRegex(line, r"^# (HELP|TYPE) dolmen_[a-z_]+ .")
                declared.add(line.split(" ")[2])
                continue
            found = re.fullmatch(r'(dolmen_[a-z_]+)(\{[^{}]*\})? [0-9.]+', line)
            self.assertIsNotNone(found, line)
            family = re.sub(r"_(bucket|sum|count)$", "", found[1])
            self.assertTrue(found[1] in declared or family in declared, line)
        for name in ("ConsumedReadCapacityUnits", "ThrottledRequests", "UserErrors",
                     "SystemErrors", "SuccessfulRequestLatency", "ReturnedItemCount",
                     "ConditionalCheckFailedRequests", "ConsumedWriteCapacityUnits"):
            self.assertIn(name, text.decode())

    def test_process_and_store(self):
        seen = self.server.metrics()
        self.assertGreaterEqual(seen["dolmen_connections"], 1)
        self.assertGreater(seen["dolmen_connections_opened_total"], 0)
        self.assertGreater(seen["dolmen_resident_memory_bytes"], 1 << 20)
        self.assertEqual(seen["dolmen_store_writable"], 1)
        self.assertEqual(seen["dolmen_store_queue_length"], 0)
        self.assertGreaterEqual(seen["dolmen_store_group_jobs_total"],
                                seen["dolmen_store_commits_total"])
        self.assertEqual(seen["dolmen_store_log_bytes"], 0)  # there is none in memory

    def test_store_on_disk(self):
        with tempfile.TemporaryDirectory() as data:
            server = Server("--cache", "32M", "--write-buffer", "8M", data=data)
            try:
                server.table("disk")
                before = server.metrics()
                self.assertEqual(before["dolmen_store_cache_limit_bytes"], 32 << 20)
                for n in range(20):
                    server.call("PutItem", TableName="disk",
                                Item={"k": {"S": str(n)}, "v": {"S": "x" * 10000}})
                after = server.metrics()
                grown = after["dolmen_store_log_active_bytes"] - before["dolmen_store_log_active_bytes"]
                self.assertGreater(grown, 200000)
                self.assertGreaterEqual(after["dolmen_store_log_bytes"],
                                        after["dolmen_store_log_active_bytes"])
                self.assertGreaterEqual(after["dolmen_store_log_segments"], 1)
                self.assertGreater(after["dolmen_store_memtable_bytes"], 200000)
            finally:
                self.assertEqual(server.stop(), 0)


class ManyTables(Base):
    def test_bounded_tables(self):
        for n in range(1100):
            status, answer = self.server.call(
                "CreateTable", TableName=f"bound{n}", BillingMode="PAY_PER_REQUEST",
                KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}])
            self.assertEqual(status, 200, answer)
        seen = self.server.metrics()
        tables = {name for name in seen if name.startswith("dolmen_requests_total{")
                  and 'operation="CreateTable"' in name}
        self.assertLessEqual(len(tables), 1001)
        other = 'dolmen_requests_total{operation="CreateTable",table="other"}'
        self.assertEqual(seen[other], 100)


class AccessLog(unittest.TestCase):
    def test_file(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "access.log")
            server = Server("--access-log", path)
            try:
                server.table("logged")
                server.call("PutItem", TableName="logged", Item=KEY)
                server.call("GetItem", TableName="logged", Key=KEY, ConsistentRead=True)
                server.call("GetItem", TableName="nowhere", Key=KEY)
                server.http("POST", "/", "{}", {"Content-Type": "application/x-amz-json-1.0"})
                server.http("GET", "/health")
                time.sleep(1.5)
                with open(path) as file:
                    self.assertGreater(len(file.readlines()), 3, "not flushed in a second")
                server.call("DeleteItem", TableName="logged", Key=KEY)
            finally:
                self.assertEqual(server.stop(), 0)
            with open(path) as file:
                lines = [json.loads(line) for line in file]
        by = {(line["operation"], line["table"]): line for line in lines}
        put = by["PutItem", "logged"]
        self.assertEqual((put["status"], put["error"], put["write_units"]), (200, None, 1.0))
        self.assertEqual(put["bytes_out"], 2)
        self.assertGreater(put["bytes_in"], 10)
        self.assertGreater(put["latency_ms"], 0)
        self.assertRegex(put["request_id"], r"^[0-9A-V]{52}$")
        self.assertRegex(put["time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(put["remote_address"], "127.0.0.1")
        self.assertGreater(put["remote_port"], 0)
        get = by["GetItem", "logged"]
        self.assertEqual((get["read_units"], get["items"]), (1.0, 1))
        missing = by["GetItem", None]
        self.assertEqual((missing["status"], missing["error"]),
                         (400, "ResourceNotFoundException"))
        self.assertIn(("DeleteItem", "logged"), by, "lost at the stop")
        self.assertIn("UnknownOperationException", [line["error"] for line in lines])

    def test_standard_output(self):
        server = Server("--access-log", "-")
        server.call("ListTables")
        self.assertEqual(server.stop(), 0)
        self.assertEqual(json.loads(server.output)["operation"], "ListTables")

    def test_data_api(self):
        """The log and the metrics name table, entity or pattern and method, of what there is."""
        model = ('table shop {\n  key PK\n}\nentity Order {\n  PK = "{id}"\n  id string\n}\n'
                 "access orderById(id) = one Order\n")
        asked = [
            ("POST", "/v1/shop/Order", 201), ("POST", "/v1/shop/Order", 409), ("GET", "/v1/shop/Order?id=1", 200),
            ("GET", "/v1/shop/orderById?id=1", 200), ("GET", "/v1/shop/ordrs?id=1", 404), ("GET", "/v1/nowhere/Order", 404),
            ("PURGE", "/v1/shop/Order", 405), ("GET", "/v1/shop", 200), ("GET", "/v1", 200), ("GET", "/v1/openapi.json", 200),
        ]
        with tempfile.NamedTemporaryFile("w", suffix=".dolmen") as file:
            file.write(model)
            file.flush()
            server = Server("--access-log", "-", "--threads", "1", "--model", file.name)
        for method, path, expected in asked:
            body = {"id": "1"} if method == "POST" else None
            status, _, _ = server.http(method, path, body, {"Content-Type": "application/json"})
            self.assertEqual(status, expected, path)
        seen = server.metrics()

        def count(family, method, table, name):
            return seen.get(f'dolmen_data_{family}{{method="{method}",table="{table}",name="{name}"}}')

        self.assertEqual(count("requests_total", "POST", "shop", "Order"), 2)
        self.assertEqual(count("user_errors_total", "POST", "shop", "Order"), 1)
        self.assertEqual(count("request_latency_seconds_count", "POST", "shop", "Order"), 1)
        self.assertEqual(count("requests_total", "GET", "shop", "orderById"), 1)
        self.assertEqual(count("requests_total", "GET", "shop", ""), 2)  # the page, and what is not there
        self.assertEqual(count("requests_total", "GET", "", ""), 3)
        self.assertEqual(count("requests_total", "OTHER", "shop", "Order"), 1)
        self.assertFalse([name for name in seen if "ordrs" in name or "nowhere" in name or "PURGE" in name])
        self.assertEqual(seen['dolmen_requests_total{operation="GetItem",table="shop"}'], 2)
        self.assertEqual(server.stop(), 0)
        lines = [json.loads(line) for line in server.output.splitlines()]
        lines = [line for line in lines if line["operation"] not in (None, "")]
        self.assertEqual([(line["operation"], line["table"], line["status"]) for line in lines], [
            ("POST /v1/shop/Order", "shop", 201), ("POST /v1/shop/Order", "shop", 409), ("GET /v1/shop/Order", "shop", 200),
            ("GET /v1/shop/orderById", "shop", 200), ("GET /v1/shop", "shop", 404), ("GET /v1/", None, 404),
            ("OTHER /v1/shop/Order", "shop", 405), ("GET /v1/shop", "shop", 200), ("GET /v1/", None, 200), ("GET /v1/", None, 200),
        ])

    def test_remote_address(self):
        server = Server("--access-log", "-", "--host", "::1")
        client = http.client.HTTPConnection("::1", server.port, timeout=20)
        headers = {**HEADERS, "X-Amz-Target": "DynamoDB_20120810.ListTables"}
        client.request("POST", "/", "{}", headers)
        self.assertEqual(client.getresponse().status, 200)
        port = client.sock.getsockname()[1]
        client.close()
        self.assertEqual(server.stop(), 0)
        line = json.loads(server.output)
        self.assertEqual((line["remote_address"], line["remote_port"]), ("::1", port))

    def test_tenant(self):
        """The log names the tenant of a request, and only of that one."""
        model = ('table shop {\n  key PK\n}\nentity Order {\n  PK = "{org}#{id}"\n  org string\n  id string\n}\n'
                 "tenant org\n")
        with tempfile.NamedTemporaryFile("w", suffix=".dolmen") as file:
            file.write(model)
            file.flush()
            server = Server("--access-log", "-", "--threads", "1", "--tenant-header", "x-org", "--model", file.name)
        headers = {**HEADERS, "X-Amz-Target": "DynamoDB_20120810.Scan"}
        client = http.client.HTTPConnection("127.0.0.1", server.port)
        for more in ({"x-org": "acme"}, {"x-org": 'q"\u00fc'.encode()}, {"x-org": ""}, {}, {"x-org": "acme"}):
            client.request("POST", "/", '{"TableName": "shop"}', {**headers, **more})
            client.getresponse().read()
        client.request("GET", "/v1/shop/Order?org=acme&id=1", headers={"x-org": "acme"})
        client.getresponse().read()
        client.request("POST", "/", "{}", {**headers, "Host": "elsewhere.example"})  # refused before anybody is asked
        client.getresponse().read()
        client.putrequest("POST", "/")
        for name, value in {**headers, "Content-Length": "2"}.items():
            client.putheader(name, value)
        client.putheader("x-org", "acme")
        client.putheader("x-org", "other")
        client.endheaders(b"{}")
        self.assertEqual(client.getresponse().status, 403)
        client.close()
        self.assertEqual(server.stop(), 0)
        tenants = [json.loads(line)["tenant"] for line in server.output.splitlines()]
        self.assertEqual(tenants, ["acme", 'q"\u00fc', "", None, "acme", "acme", None, None])

    def test_request_id_is_the_answers(self):
        server = Server("--access-log", "-")
        headers = {**HEADERS, "X-Amz-Target": "DynamoDB_20120810.ListTables"}
        _, answered, _ = server.http("POST", "/", "{}", headers)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(json.loads(server.output)["request_id"],
                         dict(answered)["x-amzn-RequestId"])

    def test_every_line_is_whole(self):
        server = Server("--access-log", "-")
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(server.process.stdout))
        reader.start()
        threads = [threading.Thread(target=lambda: [server.call("ListTables") for _ in range(100)])
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        server.process.send_signal(signal.SIGTERM)
        reader.join()
        self.assertEqual(server.stop(), 0)
        self.assertEqual([json.loads(line)["status"] for line in lines], [200] * 800)

    def many(self, server, count):
        """That many requests on one connection; all must be answered."""
        body = b"{}"
        request = ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n"
                   "X-Amz-Target: DynamoDB_20120810.ListTables\r\n" % len(body) +
                   "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items()) +
                   "\r\n").encode() + body
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
            stream = client.makefile("rb")
            for _ in range(count // 50):
                client.sendall(request * 50)
                for _ in range(50):
                    self.assertIn(b"200", stream.readline())
                    length = 0
                    while (line := stream.readline()) != b"\r\n":
                        if line.lower().startswith(b"content-length:"):
                            length = int(line.split(b":")[1])
                    stream.read(length)
            stream.close()

    def test_nobody_reads_standard_output(self):
        server = Server("--access-log", "-", "--threads", "1")
        self.many(server, 1000)
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(20), 0)
        self.assertIn("the last lines of the access log are lost: ", server.said())
        self.assertEqual(server.stop(), 0)
        lines = server.output.splitlines()
        self.assertGreater(len(lines), 100)
        for line in lines[:-1]:
            json.loads(line)

    def test_reader_that_pauses(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "fifo")
            os.mkfifo(path)
            reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            server = Server("--access-log", path, "--threads", "1")
            self.many(server, 5000)
            for _ in range(200):
                if "its lines are lost: nobody takes them" in server.said():
                    break
                time.sleep(0.1)
            else:
                self.fail("not told")
            os.set_blocking(reader, True)
            text = []
            stream = os.fdopen(reader, encoding="utf-8")
            thread = threading.Thread(target=lambda: text.extend(stream))
            thread.start()
            for _ in range(200):
                if "is written again" in server.said():
                    break
                time.sleep(0.1)
            lost = int(re.search(r"again; (\d+) of its lines were lost", server.said())[1])
            self.many(server, 50)
            self.assertEqual(server.stop(), 0)
            thread.join(20)
            stream.close()
            self.assertEqual([json.loads(line)["status"] for line in text], [200] * len(text))
            self.assertEqual(len(text) + lost, 5050)

    def test_cannot_open(self):
        done = subprocess.run(
            [BIN, "serve", "--port", "0", "--memory", "--access-log", "/nowhere/at/all"],
            capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot open the access log '/nowhere/at/all'", done.stderr)


class Stopping(unittest.TestCase):
    def test_endpoint_that_never_answers(self):
        """It would be waited for for three seconds; a second is promised."""
        with socket.create_server(("127.0.0.1", 0)) as endpoint:
            server = Server("--kinesis-endpoint", "http://127.0.0.1:%d" % endpoint.getsockname()[1])
            server.table("stone")
            for operation, more in (
                    ("EnableKinesisStreamingDestination",
                     {"StreamArn": "arn:aws:kinesis:eu-west-1:000000000000:stream/stones"}),
                    ("PutItem", {"Item": KEY})):
                self.assertEqual(server.call(operation, TableName="stone", **more)[0], 200)
            endpoint.settimeout(30)
            client, _ = endpoint.accept()
            self.assertIn(b"Kinesis_20131202.PutRecord", client.recv(1 << 16))
            began = time.monotonic()
            self.assertEqual(server.stop(), 0)
            self.assertLess(time.monotonic() - began, 2.5)
            client.close()


class StoppingImports(unittest.TestCase):
    """A file of 26 MB that unpacks to 25 GB of white space has no record for minutes."""

    SOURCE = {"InputFormat": "DYNAMODB_JSON"}

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        box = os.path.join(self.directory.name, "buckets", "box")
        os.makedirs(box)
        blank = gzip.compress(b" " * (64 << 20))
        with open(os.path.join(box, "a.json.gz"), "wb") as file:
            file.write(blank * 400)
        self.data = os.path.join(self.directory.name, "data")
        self.server = self.start()

    def start(self):
        return Server("--bucket-root", os.path.join(self.directory.name, "buckets"), data=self.data)

    def begin(self, operation, **request):
        status, answer = self.server.call(operation, **request)
        self.assertEqual(status, 200, answer)
        time.sleep(0.5)
        return next(iter(answer.values()))

    def stop(self):
        self.server.process.send_signal(signal.SIGTERM)
        try:
            self.assertEqual(self.server.process.wait(20), 0)
        except subprocess.TimeoutExpired:
            self.server.process.kill()
            raise
        finally:
            self.server.stop()

    def test_import(self):
        arn = self.begin(
            "ImportTable", S3BucketSource={"S3Bucket": "box"}, InputCompressionType="GZIP", **self.SOURCE,
            TableCreationParameters={
                "TableName": "stone", "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}]})["ImportArn"]
        self.stop()
        # It is begun again by the next start.
        self.server = self.start()
        _, answer = self.server.call("DescribeImport", ImportArn=arn)
        self.assertEqual(answer["ImportTableDescription"]["ImportStatus"], "IN_PROGRESS")
        self.stop()

    def bulk(self):
        self.server.table("stone")
        return self.begin("StartBulkPutItems", TableName="stone", InputS3Configuration={
            "S3Bucket": "box", "S3KeyPrefix": "a", "InputCompressionType": "GZIP", **self.SOURCE},
            OutputS3Configuration={"S3Bucket": "out", "OutputType": ["ERROR"]})["BulkOperationArn"]

    def test_bulk(self):
        self.bulk()
        self.stop()

    def test_cancelled(self):
        arn = self.bulk()
        self.assertEqual(self.server.call("CancelBulkOperation", BulkOperationArn=arn)[0], 200)
        for _ in range(200):
            _, answer = self.server.call("DescribeBulkOperation", BulkOperationArn=arn)
            status = answer["BulkOperationDescription"]["BulkOperationStatus"]
            if status == "CANCELLED":
                break
            time.sleep(0.1)
        self.assertEqual(status, "CANCELLED")
        self.stop()


class LargestItems(unittest.TestCase):
    """Items of 400 KB that are many times that as JSON, or in our own bytes."""

    STREAM = "arn:aws:kinesis:eu-west-1:000000000000:stream/stones"

    def puts(self, server):
        """Two changes: together they are 58 MB as JSON, the second alone 38 MB."""
        server.table("stone")
        status, answer = server.call("EnableKinesisStreamingDestination", TableName="stone",
                                     StreamArn=self.STREAM)
        self.assertEqual(status, 200, answer)
        for count in (136400, 136399):
            item = {**KEY, "l": {"L": [{"N": "1e-130"}] * count}}
            status, answer = server.call("PutItem", TableName="stone", Item=item)
            self.assertEqual(status, 200, answer)

    def small(self, server):
        status, answer = server.call("PutItem", TableName="stone", Item={"k": {"S": "small"}})
        self.assertEqual(status, 200, answer)

    def lines(self, path, count):
        for _ in range(600):
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    text = file.read()  # at once: the end may be half a line, and grow
                lines = text.split("\n")[:-1]
                if len(lines) >= count:
                    return [json.loads(line) for line in lines]
            time.sleep(0.1)
        raise AssertionError("the changes are not delivered")

    def test_kinesis_file(self):
        with tempfile.TemporaryDirectory() as data:
            server = Server(data=data)
            self.puts(server)
            self.small(server)
            records = self.lines(os.path.join(data, "kinesis", "stones.jsonl"), 3)
            self.assertEqual(server.stop(), 0)
            second = records[1]["dynamodb"]
            self.assertEqual(len(second["OldImage"]["l"]["L"]), 136400)
            self.assertEqual(len(second["NewImage"]["l"]["L"]), 136399)
            self.assertEqual(records[2]["dynamodb"]["Keys"], {"k": {"S": "small"}})

    def test_kinesis_line_cut_off(self):
        """What a crash has left of a large record is found quickly, and goes."""
        with tempfile.TemporaryDirectory() as data:
            path = os.path.join(data, "stones.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                file.write('{"dynamodb":"whole"}\n' + "x" * (40 << 20))
            server = Server("--kinesis-root", data)
            self.puts(server)
            records = self.lines(path, 3)
            self.assertEqual(server.stop(), 0)
            self.assertEqual(records[0]["dynamodb"], "whole")
            self.assertEqual(len(records[2]["dynamodb"]["OldImage"]["l"]["L"]), 136400)

    def test_kinesis_endpoint(self):
        lengths = []
        with socket.create_server(("127.0.0.1", 0)) as endpoint:
            endpoint.settimeout(60)
            server = Server("--kinesis-endpoint", "http://127.0.0.1:%d" % endpoint.getsockname()[1])
            self.puts(server)
            self.small(server)
            client, _ = endpoint.accept()
            client.settimeout(60)
            stream = client.makefile("rb")
            while len(lengths) < 3:
                head = {}
                while (line := stream.readline().strip()) or not head:
                    name, _, value = line.partition(b":")
                    head[name.lower()] = value
                body = json.loads(stream.read(int(head[b"content-length"])))
                lengths.append(len(body["Data"]))
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            stream.close()
            client.close()
            self.assertEqual(server.stop(), 0)
        self.assertGreater(lengths[1], 50_000_000)
        self.assertLess(lengths[2], 1000)

    def test_kinesis_without_the_memory(self):
        """What can never be made is left out, and what comes behind it is delivered."""
        with tempfile.TemporaryDirectory() as data:
            server = Server("--memory-limit", "128M", data=data)
            self.puts(server)
            self.small(server)
            # The first change is half as large, and may be delivered.
            path = os.path.join(data, "kinesis", "stones.jsonl")
            records = self.lines(path, 1)
            while len(records) < 2 and "small" not in records[0]["dynamodb"]["Keys"]["k"]["S"]:
                records = self.lines(path, 2)
            self.assertIn("is not delivered to " + self.STREAM, server.said())
            self.assertEqual(records[-1]["dynamodb"]["Keys"], {"k": {"S": "small"}})
            self.assertEqual(server.stop(), 0)

    def test_projected(self):
        """A list of sets of one byte is four times as large as AWS counts it."""
        server = Server()
        server.table("stone", AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"} for name in ("k", "g")],
            GlobalSecondaryIndexes=[{
                "IndexName": "by_g", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["l"]}}])
        item = {**KEY, "g": {"S": "g"}, "l": {"L": [{"BS": ["AA=="]}] * 204700}}
        status, answer = server.call("PutItem", TableName="stone", Item=item)
        self.assertEqual(status, 200, answer)
        status, answer = server.call("Scan", TableName="stone", IndexName="by_g")
        self.assertEqual(status, 200)
        self.assertEqual(len(answer["Items"][0]["l"]["L"]), 204700)
        self.assertEqual(server.stop(), 0)


class Sizes(unittest.TestCase):
    def run_bin(self, *options):
        return subprocess.run([BIN, "serve", "--port", "0", *options], capture_output=True,
                              text=True, timeout=20)

    def test_refused(self):
        for size in ("", "M", "x", "-1G", "64", "7M", "12Q", "12MB", "1.5G", "1025G", "2T",
                     "99999999999999999999", "18446744073709551615T"):
            done = self.run_bin("--data", "/nowhere", "--cache", size)
            self.assertEqual(done.returncode, 2, size)
            self.assertIn("--cache must be a size from 8M to 1024G, such as 256M or 2G, "
                          f"not '{size}'", done.stderr)
        done = self.run_bin("--data", "/nowhere", "--write-buffer", "3M")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--write-buffer must be a size from 4M to 1024G", done.stderr)

    def test_not_in_memory(self):
        for option in ("--cache", "--write-buffer"):
            done = self.run_bin("--memory", option, "64M")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{option} and --memory exclude each other", done.stderr)

    def test_taken(self):
        for size, bytes_ in (("9000K", 9000 << 10), ("8m", 8 << 20), ("1G", 1 << 30),
                             ("33554432", 32 << 20)):
            with tempfile.TemporaryDirectory() as data:
                server = Server("--cache", size, data=data)
                self.assertEqual(server.metrics()["dolmen_store_cache_limit_bytes"], bytes_)
                self.assertEqual(server.stop(), 0)


class Clock(Base):
    options = ("--admin",)

    def tearDown(self):
        self.server.json("POST", "/admin/clock", {"reset": True})

    def test_set_and_reset(self):
        status, answer = self.server.json("POST", "/admin/clock", {"now": "2030-02-28T23:59:58Z"})
        self.assertEqual(status, 200)
        self.assertTrue(answer["now"].startswith("2030-02-28T23:59:5"), answer)
        status, answer = self.server.json("POST", "/admin/clock", {"advance_seconds": 3600})
        self.assertTrue(answer["now"].startswith("2030-03-01T00:59:5"), answer)
        self.server.table("future")
        _, answer = self.server.call("DescribeTable", TableName="future")
        self.assertEqual(int(answer["Table"]["CreationDateTime"]) // 86400,
                         1898553600 // 86400)
        status, answer = self.server.json("POST", "/admin/clock", {"reset": True})
        self.assertEqual(answer["offset_ms"], 0)
        self.assertEqual(self.server.json("GET", "/admin/clock")[1]["offset_ms"], 0)

    def test_tokens_expire(self):
        self.server.table("tokens")

        def transact(value):
            return self.server.call(
                "TransactWriteItems", ClientRequestToken="token", TransactItems=[
                    {"Put": {"TableName": "tokens", "Item": {**KEY, "v": {"S": value}}}}])

        self.assertEqual(transact("one")[0], 200)
        self.fails("IdempotentParameterMismatchException", transact("two"))
        self.server.json("POST", "/admin/clock", {"advance_seconds": 601})
        self.assertEqual(transact("two")[0], 200)

    def test_bad_bodies(self):
        for body in ("", "{}", "[]", '{"now":5}', '{"now":"yesterday"}', '{"reset":false}',
                     '{"advance_seconds":1.5}', '{"advance_seconds":"1"}', '{"later":1}',
                     '{"now":"2026-13-01T00:00:00Z"}', '{"reset":true} x',
                     '{"advance_seconds":-9999999999}', '{"reset":true,"advance_seconds":1}',
                     '{"advance_seconds":99999999999999999999}', '{"reset":true'):
            status, answer = self.server.json("POST", "/admin/clock", body)
            self.assertEqual(status, 400, body)
            self.assertIn("advance_seconds", answer["message"])
        self.assertEqual(self.server.json("GET", "/admin/clock")[1]["offset_ms"], 0)


class Faults(Base):
    options = ("--admin",)

    def setUp(self):
        self.server.json("DELETE", "/admin/faults")

    def rules(self, *rules):
        status, answer = self.server.json("POST", "/admin/faults", {"faults": list(rules)})
        self.assertEqual(status, 200, answer)
        return answer["faults"]

    def test_throttle(self):
        self.rules("ListTables:throttle")
        status, answer = self.fails("ProvisionedThroughputExceededException",
                                    self.server.call("ListTables"))
        self.assertEqual((status, answer["message"]), (
            400, "The level of configured provisioned throughput for the table was exceeded. "
                 "Consider increasing your provisioning level with the UpdateTable API."))
        self.assertEqual(self.server.call("DescribeLimits")[0], 200)
        seen = self.server.metrics()
        self.assertGreaterEqual(
            seen['dolmen_throttled_requests_total{operation="ListTables",table=""}'], 1)

    def test_internal(self):
        self.rules("*:internal:1")
        status, _ = self.fails("InternalServerError", self.server.call("DescribeLimits"))
        self.assertEqual(status, 500)
        self.assertEqual(self.server.json("GET", "/health")[0], 200)

    def test_conflict(self):
        self.server.table("conflicts")
        self.rules("*:conflict")
        self.fails("TransactionConflictException",
                   self.server.call("PutItem", TableName="conflicts", Item=KEY))
        _, answer = self.fails("TransactionCanceledException", self.server.call(
            "TransactWriteItems", TransactItems=[
                {"Put": {"TableName": "conflicts", "Item": {"k": {"S": k}}}} for k in "ab"]))
        self.assertEqual([r["Code"] for r in answer["CancellationReasons"]],
                         ["TransactionConflict", "None"])
        self.assertIn("[TransactionConflict, None]", answer["Message"])
        self.fails("TransactionCanceledException", self.server.call(
            "TransactGetItems", TransactItems=[{"Get": {"TableName": "conflicts", "Key": KEY}}]))
        # Nothing was done, and operations that cannot meet a conflict do not.
        self.assertEqual(self.server.call("Scan", TableName="conflicts")[1]["Count"], 0)

    def test_conflict_of_a_bad_request(self):
        self.rules("TransactWriteItems:conflict")
        self.fails("ValidationException", self.server.call("TransactWriteItems", TransactItems=[]))

    def test_latency(self):
        self.rules("ListTables:latency=300ms", "ListTables:latency=100ms:1")
        begun = time.monotonic()
        self.assertEqual(self.server.call("ListTables")[0], 200)
        took = time.monotonic() - begun
        self.assertGreaterEqual(took, 0.4)
        self.assertLess(took, 3)

    def test_latency_disturbs_nobody(self):
        self.rules("ListTables:latency=1500ms")
        threads = [threading.Thread(target=self.server.call, args=("ListTables",))
                   for _ in range(16)]
        begun = time.monotonic()
        for thread in threads:
            thread.start()
        for _ in range(20):
            self.assertEqual(self.server.call("DescribeLimits")[0], 200)
        self.assertLess(time.monotonic() - begun, 1.4)
        for thread in threads:
            thread.join()
        self.assertLess(time.monotonic() - begun, 5)

    def test_latency_then_failure(self):
        self.rules("ListTables:latency=200ms", "ListTables:internal", "ListTables:throttle")
        begun = time.monotonic()
        self.fails("InternalServerError", self.server.call("ListTables"))
        self.assertGreaterEqual(time.monotonic() - begun, 0.2)

    def test_rate(self):
        self.rules("ListTables:internal:0.5")
        failed = sum(self.server.call("ListTables")[0] == 500 for _ in range(200))
        self.assertTrue(50 < failed < 150, failed)
        self.rules("ListTables:internal:0")
        self.assertEqual(sum(self.server.call("ListTables")[0] == 500 for _ in range(50)), 0)

    def test_rules_can_be_read_and_removed(self):
        rules = ["PutItem:throttle:0.1", "Query:latency=200ms:0.5", "*:internal:0.01"]
        self.assertEqual(self.rules(*rules), rules)
        self.assertEqual(self.server.json("GET", "/admin/faults"), (200, {"faults": rules}))
        self.assertEqual(self.server.json("DELETE", "/admin/faults"), (200, {"faults": []}))
        self.rules(*rules)
        self.assertEqual(self.rules(), [])

    def test_bad_rules_change_nothing(self):
        self.rules("PutItem:throttle:0.1")
        for rule in ("", "PutItem", "PutItem:", "PutItem:explode", "Nothing:throttle",
                     "PutItem:throttle:2", "PutItem:throttle:-1", "PutItem:throttle:nan",
                     "PutItem:throttle:x", "PutItem:latency", "PutItem:latency=5",
                     "PutItem:latency=ms", "PutItem:latency=999999ms", "PutItem:throttle=5ms",
                     "PutItem:throttle:0.5:1", "PutItem:throttle:" + "0" * 100):
            if rule == "":
                continue  # An empty list of rules is one.
            status, answer = self.server.json("POST", "/admin/faults", {"faults": [rule]})
            self.assertEqual(status, 400, rule)
            self.assertIn(f"in the fault '{rule}'", answer["message"])
        for rule in ("é" * 10, "PutItem:throttle:" + "0" * 1000, "PutItem:" + "é" * 200):
            status, answer = self.server.json("POST", "/admin/faults", {"faults": [rule]})
            self.assertEqual(status, 400, rule)
            self.assertIn("in the fault '…'", answer["message"])
        for body in ("", "{}", "[]", '{"faults":1}', '{"faults":[1]}', '{"rules":[]}',
                     '{"faults":[]} x', '{"faults":[],"more":1}', '{"faults":["*:internal"'):
            status, _ = self.server.json("POST", "/admin/faults", body)
            self.assertEqual(status, 400, body)
        self.assertEqual(self.server.json("GET", "/admin/faults")[1],
                         {"faults": ["PutItem:throttle:0.1"]})

    def test_option(self):
        server = Server("--fault", "ListTables:internal,DescribeLimits:latency=50ms")
        self.assertEqual(server.call("ListTables")[0], 500)
        self.assertEqual(server.call("DescribeLimits")[0], 200)
        self.assertEqual(server.http("GET", "/admin/faults")[0], 404)
        self.assertEqual(server.stop(), 0)
        done = subprocess.run([BIN, "serve", "--port", "0", "--memory", "--fault", "X:y"],
                              capture_output=True, text=True, timeout=20)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("unknown operation in the fault 'X:y'", done.stderr)

    def test_service_texts(self):
        number = {"TableName": "none", "Item": {"n": {"N": "x"}}}
        for options, message in (((), "1 validation error detected: The parameter cannot be converted to a numeric value: x"),
                                 (("--service-texts", "2026-05"), "The parameter cannot be converted to a numeric value: x")):
            server = Server(*options)
            self.assertEqual(server.call("PutItem", **number)[1]["message"], message)
            self.assertEqual(server.stop(), 0)
        done = subprocess.run([BIN, "serve", "--port", "0", "--memory", "--service-texts", "1999-12"],
                              capture_output=True, text=True, timeout=20)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--service-texts: only 2026-05 is known", done.stderr)

    def test_a_stop_does_not_wait(self):
        server = Server("--fault", "ListTables:latency=30000ms")
        answers = []
        thread = threading.Thread(target=lambda: answers.append(server.call("ListTables")))
        thread.start()
        time.sleep(0.3)
        begun = time.monotonic()
        self.assertEqual(server.stop(), 0)
        thread.join()
        self.assertLess(time.monotonic() - begun, 5)
        self.assertEqual(answers[0][0], 200)


class Capacity(Base):
    options = ("--enforce-capacity", "--admin")
    PROVISIONED = {"BillingMode": "PROVISIONED",
                   "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}}

    def drain(self, limit, operation, **request):
        """Calls until it is refused: (how many went through, the refusal)."""
        for done in range(limit):
            status, answer = self.server.call(operation, **request)
            if status != 200:
                return done, (status, answer)
        self.fail(f"{operation} is never refused")

    def refused(self, answered, reason, resource_name):
        status, answer = self.fails("ProvisionedThroughputExceededException", answered)
        self.assertEqual(status, 400)
        arn = "arn:aws:dynamodb:eu-west-1:000000000000:table/" + resource_name
        self.assertEqual(answer["ThrottlingReasons"], [{"reason": reason, "resource": arn}])
        return answer

    def advance(self, seconds):
        self.server.json("POST", "/admin/clock", {"advance_seconds": seconds})

    def test_table(self):
        self.server.table("tab1", **self.PROVISIONED)
        done, answer = self.drain(200, "PutItem", TableName="tab1", Item=KEY)
        self.assertGreaterEqual(done, 5)
        answer = self.refused(answer, "TableWriteProvisionedThroughputExceeded", "tab1")
        self.assertEqual(
            answer["message"],
            "The level of configured provisioned throughput for the table was exceeded. "
            "Consider increasing your provisioning level with the UpdateTable API.")
        # Reading has a bucket of its own, and other tables have theirs.
        self.assertEqual(self.server.call("GetItem", TableName="tab1", Key=KEY)[0], 200)
        for operation in ("GetItem", "Scan"):
            request = {"Key": KEY} if operation == "GetItem" else {}
            _, answer = self.drain(300, operation, TableName="tab1", **request)
            self.refused(answer, "TableReadProvisionedThroughputExceeded", "tab1")
        self.fails("ProvisionedThroughputExceededException", self.server.call(
            "BatchGetItem", RequestItems={"tab1": {"Keys": [KEY]}}))
        self.advance(2)
        self.assertEqual(self.server.call("PutItem", TableName="tab1", Item=KEY)[0], 200)
        seen = self.server.metrics()
        self.assertGreaterEqual(
            seen['dolmen_throttled_requests_total{operation="PutItem",table="tab1"}'], 1)

    def test_burst(self):
        self.server.table("tab2", **self.PROVISIONED)
        self.server.call("PutItem", TableName="tab2", Item=KEY)
        self.advance(86400)
        big = {**KEY, "v": {"S": "x" * 200 * 1024}}  # 201 units
        done, _ = self.drain(50, "PutItem", TableName="tab2", Item=big)
        self.assertIn(done, (8, 9))  # 300 seconds of 5 units, and a little of real time

    def test_index(self):
        self.server.table("tab3", **{
            **self.PROVISIONED,
            "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in "kg"],
            "ProvisionedThroughput": {"ReadCapacityUnits": 1000, "WriteCapacityUnits": 1000},
            "GlobalSecondaryIndexes": [{
                "IndexName": "byg", "Projection": {"ProjectionType": "ALL"},
                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "ProvisionedThroughput": {"ReadCapacityUnits": 2, "WriteCapacityUnits": 2}}]})
        item = {**KEY, "g": {"S": "g"}, "v": {"S": "x" * 3000}}
        self.assertEqual(self.server.call("PutItem", TableName="tab3", Item=item)[0], 200)
        answered = self.server.call("PutItem", TableName="tab3", Item=KEY)
        answer = self.refused(answered, "IndexWriteProvisionedThroughputExceeded",
                              "tab3/index/byg")
        self.assertIn("one or more global secondary indexes of the table", answer["message"])
        query = {"TableName": "tab3", "IndexName": "byg", "KeyConditionExpression": "g = :g",
                 "ExpressionAttributeValues": {":g": {"S": "g"}}}
        _, answered = self.drain(100, "Query", **query)
        self.refused(answered, "IndexReadProvisionedThroughputExceeded", "tab3/index/byg")
        self.assertEqual(self.server.call("GetItem", TableName="tab3", Key=KEY)[0], 200)

    def test_transactions(self):
        self.server.table("tab4", **self.PROVISIONED)
        write = {"TransactItems": [{"Put": {"TableName": "tab4", "Item": KEY}}]}
        _, answered = self.drain(100, "TransactWriteItems", **write)
        _, answer = self.fails("TransactionCanceledException", answered)
        self.assertEqual(answer["CancellationReasons"][0]["Code"],
                         "ProvisionedThroughputExceeded")
        read = {"TransactItems": [{"Get": {"TableName": "tab4", "Key": KEY}}]}
        _, answered = self.drain(100, "TransactGetItems", **read)
        _, answer = self.fails("TransactionCanceledException", answered)
        self.assertEqual(answer["CancellationReasons"][0]["Code"],
                         "ProvisionedThroughputExceeded")

    def test_on_demand(self):
        self.server.table("tab5")
        for _ in range(50):
            self.assertEqual(self.server.call("PutItem", TableName="tab5", Item=KEY)[0], 200)
        self.server.table("tab6", OnDemandThroughput={"MaxReadRequestUnits": 3,
                                                    "MaxWriteRequestUnits": 3})
        _, answered = self.drain(200, "PutItem", TableName="tab6", Item=KEY)
        self.refused(answered, "TableWriteMaxOnDemandThroughputExceeded", "tab6")

    def test_off_by_default(self):
        server = Server()
        server.table("free", **self.PROVISIONED)
        for _ in range(50):
            self.assertEqual(server.call("PutItem", TableName="free", Item=KEY)[0], 200)
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
