"""Clients that are too many, too slow or not finished: the others are not disturbed.

Run it with tests/api/ops/run, or one test with `python3 tests/api/ops/test_crowd.py Descriptors`.
"""

import contextlib
import http.client
import json
import os
import resource
import socket
import tempfile
import time
import unittest

from test_ops import BIN, HEADERS, KEY, Server

PATIENCE = 5  # seconds that a request of an undisturbed client may take on a busy machine


def raw(operation, body, length=None):
    """The bytes of a request; `length` announces more than there is."""
    body = json.dumps(body).encode() if isinstance(body, dict) else body
    lines = {**HEADERS, "Host": "localhost", "X-Amz-Target": "DynamoDB_20120810." + operation,
             "Content-Length": len(body) if length is None else length}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST / HTTP/1.1\r\n{head}\r\n".encode() + body


def read_answer(client):
    """(status, bytes of the body) of an answer."""
    response = http.client.HTTPResponse(client)
    response.begin()
    return response.status, response.read()


def sanitized():
    with open(BIN, "rb") as file:
        return b"__tsan_init" in (text := file.read()) or b"__asan_init" in text


class Crowd(unittest.TestCase):
    def setUp(self):
        self.clients = contextlib.ExitStack()
        self.addCleanup(self.clients.close)
        # This process has both ends of thousands of connections.
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.descriptors = hard

    def serve(self, *options, **more):
        server = Server(*options, **more)

        def stop():
            self.assertEqual(server.stop(), 0)

        self.addCleanup(stop)
        server.table("tab")
        self.assertEqual(server.call("PutItem", TableName="tab", Item=KEY)[0], 200)
        return server

    def connect(self, server, receive=None):
        client = socket.socket()
        self.clients.callback(client.close)
        if receive is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        client.settimeout(60)
        client.connect(("127.0.0.1", server.port))
        return client

    def undisturbed(self, client, requests=20):
        """Reads and writes on a connection are answered, each in time."""
        for n in range(requests):
            put = raw("PutItem", {"TableName": "tab", "Item": {"k": {"S": str(n)}}})
            for data in (raw("GetItem", {"TableName": "tab", "Key": KEY}), put):
                begun = time.monotonic()
                client.sendall(data)
                status, body = read_answer(client)
                self.assertEqual(status, 200, body)
                self.assertLess(time.monotonic() - begun, PATIENCE)


class Idle(Crowd):
    def test_thousands(self):
        count = min(3000, self.descriptors - 500)
        server = self.serve()
        before = server.metrics()["dolmen_resident_memory_bytes"]
        ask = raw("GetItem", {"TableName": "tab", "Key": KEY})
        for n in range(count):
            client = self.connect(server)
            if n % 2 == 0:  # half of them have been busy once
                client.sendall(ask)
                self.assertEqual(read_answer(client)[0], 200)
        self.undisturbed(self.connect(server))
        seen = server.metrics()
        self.assertGreaterEqual(seen["dolmen_connections"], count)
        if not sanitized():
            grown = seen["dolmen_resident_memory_bytes"] - before
            self.assertLess(grown / count, 64 << 10)


class Descriptors(Crowd):
    def test_more_clients_than_descriptors(self):
        """Connections leave the store its files: writes go on into new tables."""
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

        with tempfile.TemporaryDirectory() as data:
            server = self.serve("--write-buffer", "4M", data=data, before=few)
            early = self.connect(server)
            self.undisturbed(early)
            for _ in range(400):
                self.connect(server)
            for n in range(200):
                early.sendall(raw("PutItem", {"TableName": "tab", "Item": {
                    "k": {"S": f"large{n}"}, "v": {"S": "x" * 60000}}}))
                status, body = read_answer(early)
                self.assertEqual(status, 200, body)
            self.undisturbed(early)
            self.clients.pop_all().close()
            until = time.monotonic() + 10
            while True:
                with contextlib.suppress(OSError, http.client.HTTPException):
                    seen = server.metrics()
                    break
                self.assertLess(time.monotonic(), until)
            self.assertEqual(seen["dolmen_store_commit_failures_total"], 0)
            self.assertGreater(seen["dolmen_store_table_files"], 0)
            self.undisturbed(self.connect(server))
            self.doCleanups()

    def test_none_left(self):
        """New clients wait until there are some again, without the server spinning."""
        server = self.serve()
        early = self.connect(server)
        self.undisturbed(early)
        pid = server.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        open_now = len(os.listdir(f"/proc/{pid}/fd"))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (open_now, before[1]))
        waiting = [self.connect(server) for _ in range(20)]
        for client in waiting:
            client.sendall(raw("GetItem", {"TableName": "tab", "Key": KEY}))
        self.undisturbed(early)
        spent = self.processor_seconds(pid)
        time.sleep(1)
        self.assertLess(self.processor_seconds(pid) - spent, 0.5)
        self.undisturbed(early)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        for client in waiting:
            self.assertEqual(read_answer(client)[0], 200)

    @staticmethod
    def processor_seconds(pid):
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Slow(Crowd):
    def test_readers_of_large_answers(self):
        """A page of 1 MB each that nobody takes; at the end everybody gets all of theirs."""
        server = self.serve()
        for n in range(10):
            server.call("PutItem", TableName="tab",
                        Item={"k": {"S": f"page{n}"}, "v": {"S": "x" * 100000}})
        slow = [self.connect(server, receive=4096) for _ in range(100)]
        for client in slow:
            client.sendall(raw("Scan", {"TableName": "tab"}))
        for client in slow:  # The pages are made, which takes its time, and now they are stuck.
            client.recv(1, socket.MSG_PEEK)
        self.undisturbed(self.connect(server))
        for client in slow[:50]:
            status, body = read_answer(client)
            self.assertEqual(status, 200)
            self.assertGreater(len(body), 1000000)
            self.assertEqual(sum("v" in item for item in json.loads(body)["Items"]), 10)
        for client in slow[50:]:  # and the others hang up in the middle
            client.close()
        self.undisturbed(self.connect(server))

    def test_half_a_request(self):
        server = self.serve()
        item = json.dumps({"TableName": "tab", "Item": {
            "k": {"S": "half"}, "v": {"S": "x" * 100000}}}).encode()
        whole = raw("PutItem", item)
        cuts = [20, 150, len(whole) - len(item), len(whole) - 50000, len(whole) - 1]
        half = [self.connect(server) for _ in range(300)]
        for n, client in enumerate(half):
            client.sendall(whole[:cuts[n % len(cuts)]])
        self.undisturbed(self.connect(server))
        for n, client in enumerate(half[:100]):
            client.sendall(whole[cuts[n % len(cuts)]:])
            self.assertEqual(read_answer(client)[0], 200)
        for client in half[100:]:
            client.close()
        self.undisturbed(self.connect(server))


if __name__ == "__main__":
    unittest.main()
