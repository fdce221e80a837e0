"""Items that are 400 KB as they are stored and 19 MB as JSON, because numbers are written out in full. Answers that
show them are whole or a clean error, and keep to the memory limit also where a write has been done.

Run it with tests/api/memory/run.
"""

import collections
import json
import tempfile

from test_memory import LIMIT, Limited, hard_limit, raw
from test_ops import HEADERS, Server

MANY = 136_000
NUMBER = "0." + "0" * 129 + "1"
COUNT = 25


def key(n):
    return {"k": {"S": f"big{n}"}}


def big(n):
    """Written by hand: json.dumps takes a while."""
    return ('{"k":{"S":"big%d"},"c":{"N":"0"},"l":{"L":[%s]}}' % (n, ",".join(['{"N":"1e-130"}'] * MANY))).encode()


class Growth(Limited):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.server = Server("--memory-limit", f"{LIMIT}M", data=cls.directory.name, before=hard_limit)
        cls.server.table("tab")
        cls.server.call("PutItem", TableName="tab", Item={"k": {"S": "a"}})
        for n in range(COUNT):
            body = b'{"TableName":"tab","Item":%s}' % big(n)
            head = {**HEADERS, "X-Amz-Target": "DynamoDB_20120810.PutItem"}
            status, _, text = cls.server.http("POST", "/", body, head)
            assert status == 200, text
        cls.large = {"RequestItems": {"tab": {"Keys": [key(0)]}}}

    def call(self, operation, **request):
        """(status, answer): what is not JSON, or cut, fails here. The lists are looked at and left out."""
        head = {**HEADERS, "X-Amz-Target": "DynamoDB_20120810." + operation}
        status, headers, text = self.server.http("POST", "/", json.dumps(request), head)
        self.assertEqual(int(dict(headers)["Content-Length"]), len(text))
        whole = b'{"L":[' + b",".join([b'{"N":"%s"}' % NUMBER.encode()] * MANY) + b"]}"
        return status, json.loads(text.replace(whole, b'"whole"'))

    def counted(self):
        """The counters of the items."""
        got = []
        for n in range(COUNT):
            status, answer = self.server.call("GetItem", TableName="tab", Key=key(n), ProjectionExpression="c")
            self.assertEqual(status, 200, answer)
            got.append(int(answer["Item"]["c"]["N"]))
        return got

    def budget(self):
        seen = self.server.metrics()
        return seen["dolmen_memory_budget_limit_bytes"], seen['dolmen_memory_budget_bytes{kind="answers"}']

    # ---- One answer ----

    def test_transactions_read_them(self):
        status, answer = self.call("TransactGetItems", TransactItems=[
            {"Get": {"TableName": "tab", "Key": key(n)}} for n in range(5)])
        self.assertEqual(status, 200, answer)
        self.assertEqual([entry["Item"]["l"] for entry in answer["Responses"]], ["whole"] * 5)
        status, answer = self.call("ExecuteTransaction", TransactStatements=[
            {"Statement": f"SELECT * FROM tab WHERE k = 'big{n}'"} for n in range(5)])
        self.assertEqual(status, 200, answer)
        self.assertEqual([entry["Item"]["l"] for entry in answer["Responses"]], ["whole"] * 5)

    def test_what_the_server_can_never_answer(self):
        gets = [{"Get": {"TableName": "tab", "Key": key(n)}} for n in range(10)]
        status, answer = self.call("TransactGetItems", TransactItems=gets)
        self.assertEqual((status, answer["__type"].split("#")[-1]), (400, "ValidationException"))
        self.assertIn("The response would be larger than this server can return", answer["message"])

    def test_cancellation_is_whole(self):
        def checks(count):
            return [{"ConditionCheck": {"TableName": "tab", "Key": key(n),
                                        "ConditionExpression": "attribute_not_exists(k)",
                                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}} for n in range(count)]
        for count, shown in ((4, True), (10, False)):  # ten are more than the server has memory for
            status, answer = self.call("TransactWriteItems", TransactItems=checks(count))
            self.assertEqual((status, answer["__type"].split("#")[-1]), (400, "TransactionCanceledException"))
            self.assertEqual([reason["Code"] for reason in answer["CancellationReasons"]],
                             ["ConditionalCheckFailed"] * count)
            self.assertEqual(["Item" in reason for reason in answer["CancellationReasons"]], [shown] * count)

    def test_batches_answer_what_fits(self):
        status, answer = self.call("BatchExecuteStatement", Statements=[
            {"Statement": f"SELECT * FROM tab WHERE k = 'big{n}'"} for n in range(COUNT)])
        self.assertEqual((status, len(answer["Responses"])), (200, COUNT), answer)
        whole = [entry for entry in answer["Responses"] if entry.get("Item", {}).get("l") == "whole"]
        later = [entry for entry in answer["Responses"] if entry.get("Error", {}).get("Code") == "ThrottlingError"]
        self.assertGreater(len(whole), 0)
        self.assertEqual(len(whole) + len(later), COUNT)

    def test_batches_do_what_they_can_tell(self):
        before = self.counted()
        status, answer = self.call("BatchExecuteStatement", Statements=[
            {"Statement": f"UPDATE tab SET c = c + 1 WHERE k = 'big{n}' RETURNING ALL NEW *"} for n in range(COUNT)])
        self.assertEqual((status, len(answer["Responses"])), (200, COUNT), answer)
        told = [entry.get("Item", {}).get("l") == "whole" for entry in answer["Responses"]]
        refused = [entry.get("Error", {}).get("Code") == "ThrottlingError" for entry in answer["Responses"]]
        self.assertEqual([not yes for yes in told], refused)
        self.assertIn(True, told)
        self.assertEqual(self.counted(), [n + done for n, done in zip(before, told)])

    # ---- Answers that nobody takes ----

    def unread(self, operation, request, fine):
        """60 clients that ask and do not read: the status lines of their answers."""
        seen = collections.Counter()
        clients = [self.connect(receive=4096) for _ in range(60)]
        for n, client in enumerate(clients):
            client.sendall(raw(operation, request(n)))
        for client in clients:
            try:
                head = client.recv(2048)
            except OSError:
                head = b""
            throttled = b"ThrottlingException" in head
            seen["closed" if not head else "ThrottlingException" if throttled else head[9:12].decode()] += 1
        limit, answers = self.budget()
        self.assertLessEqual(answers, limit)
        self.assertGreater(seen[fine] + seen["closed"], 0)
        if fine != "200":
            seen["200"] += seen.pop(fine, 0)  # a clean error that shows the item
        return seen

    def test_unread_updates(self):
        before = sum(self.counted())
        seen = self.unread("UpdateItem", lambda n: {
            "TableName": "tab", "Key": key(n % 2), "UpdateExpression": "ADD c :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}}, "ReturnValues": "ALL_NEW"}, "200")
        done = sum(self.counted()) - before
        self.assertLessEqual(seen["200"], done)
        self.assertLessEqual(done, seen["200"] + seen["closed"])
        self.well(seen)

    def test_unread_failures(self):
        self.well(self.unread("DeleteItem", lambda n: {
            "TableName": "tab", "Key": key(n % 2), "ConditionExpression": "attribute_not_exists(k)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}, "400"))

    def test_unread_cancellations(self):
        self.well(self.unread("TransactWriteItems", lambda n: {"TransactItems": [
            {"ConditionCheck": {"TableName": "tab", "Key": key(n % 2),
                                "ConditionExpression": "attribute_not_exists(k)",
                                "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}]}, "400"))


MODEL = """
table shop {
  key PK, SK
}
entity Big {
  PK = "BIG#{id}" SK = "BIG"
  id string
  c  integer
  l  number[]
}
"""


class Entities(Limited):
    """The same by way of the data API."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.server = Server("--memory-limit", f"{LIMIT}M", data=cls.directory.name, before=hard_limit)
        cls.server.table("tab")
        cls.large = {"RequestItems": {"tab": {"Keys": [key(0)]}}}
        status, answer = cls.server.call("ApplyModel", Model=MODEL, FileName="shop.dolmen")
        assert status == 200, answer
        for n in range(5):
            body = '{"id":"%d","c":0,"l":[%s]}' % (n, ",".join(["1e-130"] * MANY))
            status, _, text = cls.server.http("POST", "/v1/shop/Big", body, {"Content-Type": "application/json"})
            assert status == 201, text

    def batch(self, operations):
        status, _, text = self.server.http("POST", "/v1/shop/$batch", json.dumps(operations),
                                           {"Content-Type": "application/json"})
        whole = b"[" + b",".join([NUMBER.encode()] * MANY) + b"]"
        self.assertEqual(status, 200, text[:500])
        return json.loads(text.replace(whole, b'"whole"'))["results"]

    def counters(self):
        got = []
        for n in range(5):
            status, answer = self.server.call("GetItem", TableName="shop", ProjectionExpression="c",
                                              Key={"PK": {"S": f"BIG#{n}"}, "SK": {"S": "BIG"}})
            self.assertEqual(status, 200, answer)
            got.append(answer["Item"]["c"]["N"])
        return got

    def test_batches_read_what_fits(self):
        results = self.batch([{"op": "get", "entity": "Big", "key": {"id": str(n % 5)}} for n in range(10)])
        whole = [one for one in results if one["status"] == 200 and one["item"]["l"] == "whole"]
        later = [one for one in results if one["status"] == 429]
        self.assertGreater(len(whole), 0)
        self.assertEqual(len(whole) + len(later), 10)

    def test_batches_tell_what_was_done(self):
        results = self.batch([{"op": "patch", "entity": "Big", "key": {"id": str(n)}, "item": {"c": 7 + n}}
                              for n in range(5)])
        self.assertEqual([one["status"] for one in results], [200] * 5)
        self.assertTrue(all("etag" in one for one in results))
        self.assertEqual(results[0]["item"]["l"], "whole")
        self.assertNotIn("item", results[4])  # the answer was full
        self.assertEqual(self.counters(), [str(7 + n) for n in range(5)])

    def test_unread_patches(self):
        seen = collections.Counter()
        clients = [self.connect(receive=4096) for _ in range(60)]
        for n, client in enumerate(clients):
            body = b'{"c":%d}' % n
            client.sendall(b"PATCH /v1/shop/Big?id=%d HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
                           b"\r\nContent-Length: %d\r\n\r\n" % (n % 5, len(body)) + body)
        for client in clients:
            try:
                head = client.recv(2048)
            except OSError:
                head = b""
            name = head[9:12].decode() if head else "closed"
            seen["ThrottlingException" if name in ("429", "409") else name] += 1
        limit, answers = Growth.budget(self)
        self.assertLessEqual(answers, limit)
        self.assertGreater(seen["200"] + seen["closed"], 0)
        self.well(seen)
