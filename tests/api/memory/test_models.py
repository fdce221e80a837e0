"""Models are compiled into many times the size of their text, and stay. They count towards the memory limit: what is
beyond it is refused before anything changes, and what was applied once holds also where the limit is smaller now.

Run it with tests/api/memory/run.
"""

import json
import tempfile
import unittest

from test_ops import HEADERS, Server

MB = 1 << 20


def model(table, size):
    """About that many bytes of entities with nested types."""
    attributes = "\n  ".join('a%d {a:{b:"x"|"y"}[]?}?' % n for n in range(36))
    text = "table %s {\n  key PK, SK\n}\n" % table
    count = 0
    while len(text) < size:
        text += 'entity E%d {\n  PK = "E%d#{id}" SK = "E"\n  id string\n  %s\n}\n' % (count, count, attributes)
        count += 1
    return text


class Models(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def serve(self, limit):
        self.server = Server("--memory-limit", f"{limit}M", data=self.directory.name)
        self.addCleanup(lambda server: server.process.poll() is None and server.stop(), self.server)

    def apply(self, table, size):
        head = {**HEADERS, "X-Amz-Target": "DynamoDB_20120810.ApplyModel"}
        request = {"Model": model(table, size), "FileName": table + ".dolmen"}
        status, _, text = self.server.http("POST", "/", json.dumps(request), head)
        return status, json.loads(text)

    def counted(self):
        seen = self.server.metrics()
        return seen['dolmen_memory_budget_bytes{kind="models"}'], seen["dolmen_memory_budget_limit_bytes"]

    def guarded(self, table):
        return self.server.call("PutItem", TableName=table, Item={
            "PK": {"S": "E0#1"}, "SK": {"S": "E"}, "id": {"N": "1"}})

    def test_sum_is_limited(self):
        self.serve(512)
        applied = 0
        while (answered := self.apply(f"tab{applied}", 930_000))[0] == 200:
            applied += 1
            self.assertLess(applied, 8)
        status, answer = answered
        self.assertEqual((status, answer["__type"].split("#")[-1]), (400, "LimitExceededException"))
        self.assertIn("There is no memory for this model: all models of this server may use 96 MB", answer["message"])
        self.assertGreater(applied, 0)
        used, limit = self.counted()
        self.assertGreater(used, 10 * MB)
        self.assertLessEqual(used, limit / 2)
        status, answer = self.server.call("DescribeTable", TableName=f"tab{applied}")
        self.assertEqual((status, answer["__type"].split("#")[-1]), (400, "ResourceNotFoundException"))
        # There is still room for a model as people write them, and for all else.
        self.assertEqual(self.apply("small", 3000)[0], 200)
        self.assertEqual(self.guarded("small")[1]["__type"].split("#")[-1], "ValidationException")
        # What a model had is given back with it.
        status, answer = self.server.call("DeleteTable", TableName="tab0")
        self.assertEqual(status, 200, answer)
        self.assertEqual(self.apply("next", 930_000)[0], 200)

    def test_start_with_less(self):
        self.serve(512)
        self.assertEqual(self.apply("tab", 930_000)[0], 200)
        self.assertEqual(self.server.stop(), 0)
        self.serve(128)
        self.assertIn("memory: the model of table tab is more than the 24 MB that all models may use. It is loaded all "
                      "the same; give the server a larger --memory-limit", self.server.said())
        self.assertEqual(self.guarded("tab")[1]["__type"].split("#")[-1], "ValidationException")
        self.assertEqual(self.server.call("GetItem", TableName="tab", Key={"PK": {"S": "a"}, "SK": {"S": "b"}}),
                         (200, {}))
