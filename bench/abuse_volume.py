"""Rows about very many items, tables and indexes, and about the work behind the requests."""
import json
import random
import subprocess
import time

from abuse import MILLION, create, fork, key, keys_of, load_many, or_of, put_all, row, table, until
from abuse_client import Connection, get, post, request

# ---- Large items in many indexes -------------------------------------------------------------------

def indexed(scene):
    """75 items of 390 KB in a table with 20 indexes, in none of which they are yet."""
    create(scene, "indexed", indexes=20)
    put_all(scene, "indexed", 75, '"s":{"S":"%s"}' % ("0123456789abcdef" * 24375))


@row("indexed-updates", "TransactWriteItems: 75 small updates of 390 KB items in 20 indexes", "indexed", indexed)
def indexed_updates(attack):
    attack.repeat(*[request("TransactWriteItems", {"TransactItems": [{"Update": {
        "TableName": "indexed", "Key": key(number), "UpdateExpression": "SET g = :g",
        "ExpressionAttributeValues": {":g": {"S": value}}}} for number in range(75)]}) for value in "gh"], connections=1)


@row("indexed-batch", "BatchWriteItem: 25 × 390 KB in 20 indexes", "indexed", indexed)
def indexed_batch(attack):
    text = "0123456789abcdef" * 24375
    batches = [",".join('{"PutRequest":{"Item":{"pk":{"S":"b%d"},"g":{"S":"%s"},"s":{"S":"%s"}}}}' % (n, value, text) for n in range(25))
               for value in "gh"]
    attack.repeat(*[request("BatchWriteItem", '{"RequestItems":{"indexed":[%s]}}' % puts) for puts in batches], connections=1)


# ---- Very many small items -------------------------------------------------------------------------

def small(scene):
    """40,000 items of 24 bytes: a page of a Scan."""
    create(scene, "small")
    load_many(scene, "small", 40000, lambda n: '{"pk":{"S":"%08d"},"b":{"S":"%010d"}}' % (n, n))


def scan_filter(count, values, join="AND"):
    condition = '{"ComparisonOperator":"IN","AttributeValueList":[%s]}' % ",".join('{"S":"%07d"}' % n for n in range(values))
    filters = ",".join('"%s":%s' % ("b" if count == 1 else f"b{i}", condition) for i in range(count))
    return request("Scan", '{"TableName":"small","ConditionalOperator":"%s","ScanFilter":{%s}}' % (join, filters)
                   if count > 1 else '{"TableName":"small","ScanFilter":{%s}}' % filters)


@row("small-legacy-in", "Scan: legacy ScanFilter IN of 100,000 values, 40,000 items", "small", small)
def small_legacy_in(attack):
    attack.repeat(scan_filter(1, 100000), connections=1, least=1)


@row("small-legacy-or", "Scan: legacy ScanFilter of 2,000 OR conditions of IN(50), 40,000 items", "small", small)
def small_legacy_or(attack):
    attack.repeat(scan_filter(2000, 50, "OR"), connections=1, least=1)


@row("small-pipelined", "300 pipelined Scans of 1 MB on one connection", "small", small)
def small_pipelined(attack):
    attack.pipeline(request("Scan", {"TableName": "small"}), 300)


@row("small-filter", "Scan: a filter of 299 operators over 40,000 items", "small", small)
def small_filter(attack):
    attack.repeat(request("Scan", {"TableName": "small", "FilterExpression": or_of(["begins_with(b,:x)"] * 150),
                                   "ExpressionAttributeValues": {":x": {"S": "x"}}}))


@row("small-in", "Scan: a filter of 9 × `b IN (100 values)` over 40,000 items", "small", small)
def small_in(attack):
    values = {f":{chr(97 + n // 26)}{chr(97 + n % 26)}": {"S": f"x{n}"} for n in range(100)}
    operands = ",".join(values)
    attack.repeat(request("Scan", {"TableName": "small", "FilterExpression": or_of([f"b IN ({operands})"] * 9),
                                   "ExpressionAttributeValues": values}))


@row("small-partiql", "ExecuteStatement: SELECT with 149 ORs over 40,000 items", "small", small)
def small_partiql(attack):
    attack.repeat(request("ExecuteStatement", {"Statement": 'SELECT pk FROM "small" WHERE ' + or_of(f"b='{n:03d}'" for n in range(149))}),
                  least=1)


@row("small-partiql-in", "ExecuteStatement: SELECT … IN [50 keys], 16 connections", "small", small)
def small_partiql_in(attack):
    keys = ",".join(f"'{n * 700:08d}'" for n in range(50))
    attack.repeat(request("ExecuteStatement", {"Statement": f'SELECT * FROM "small" WHERE pk IN [{keys}]'}), connections=16)


@row("small-segments", "Scan: segments of 1,000,000, 16 connections", "small", small)
def small_segments(attack):
    attack.repeat(*[request("Scan", {"TableName": "small", "TotalSegments": 1000000, "Segment": n * 997}) for n in range(1000)],
                  connections=16, least=0)


@row("small-parallel", "Scan: 64 segments on 64 connections", "small", small)
def small_parallel(attack):
    attack.repeat(*[request("Scan", {"TableName": "small", "TotalSegments": 64, "Segment": n}) for n in range(64)],
                  connections=64, least=0)


@row("small-count", "Scan: Select COUNT, 16 connections", "small", small)
def small_count(attack):
    attack.repeat(request("Scan", {"TableName": "small", "Select": "COUNT"}), connections=16, least=0)


@row("small-puts", "5,000 pipelined PutItems, on each of 2 connections", "small", small)
def small_puts(attack):
    attack.pipeline(request("PutItem", {"TableName": "small", "Item": {"pk": {"S": "x"}, "b": {"S": "y"}}}), 5000, connections=2)


@row("small-gets", "5,000 pipelined GetItems, on each of 2 connections", "small", small)
def small_gets(attack):
    attack.pipeline(request("GetItem", {"TableName": "small", "Key": key(1)}), 5000, connections=2)


@row("small-batch-get", "BatchGetItem: 100 keys, 32 connections", "small", small)
def small_batch_get(attack):
    attack.repeat(request("BatchGetItem", {"RequestItems": {"small": {"Keys": keys_of(100)}}}), connections=32, least=0)


@row("small-transact", "TransactWriteItems: 100 updates with a new ClientRequestToken each, 16 connections",
     "small", small)
def small_transact(attack):
    def work(number):
        connection = attack.connect()
        for count in range(1000000):
            if attack.over:
                return
            attack.ask(connection, request("TransactWriteItems", {
                "ClientRequestToken": f"{number}-{count}-{time.monotonic_ns()}", "TransactItems": updates[number]}))
    updates = [[{"Update": {"TableName": "small", "Key": key(number * 100 + n), "UpdateExpression": "ADD c :n",
                            "ExpressionAttributeValues": {":n": {"N": "1"}}}} for n in range(100)] for number in range(16)]
    attack.on_threads(16, work)


@row("small-conflicts", "TransactWriteItems: the same 100 updates from 32 connections", "small", small)
def small_conflicts(attack):
    attack.repeat(request("TransactWriteItems", {"TransactItems": [
        {"Update": {"TableName": "small", "Key": key(n), "UpdateExpression": "ADD c :n",
                    "ExpressionAttributeValues": {":n": {"N": "1"}}}} for n in range(100)]}), connections=32, least=0)


@row("small-insights", "Contributor Insights with random keys: BatchGetItem of 100, 16 connections", "small", small)
def small_insights(attack):
    attack.connect().ask(request("UpdateContributorInsights", {"TableName": "small", "ContributorInsightsAction": "ENABLE"}))
    keys = [[key(random.randrange(10**8)) for _ in range(100)] for _ in range(200)]
    attack.repeat(*[request("BatchGetItem", {"RequestItems": {"small": {"Keys": some}}}) for some in keys], connections=16, least=0)


# ---- A million items -------------------------------------------------------------------------------




def million(scene):
    """A million items in one partition, which expire in a day."""
    scene.connect().call("CreateTable", table("million", sort="N"))
    scene.connect().call("UpdateTimeToLive", {"TableName": "million", "TimeToLiveSpecification": {
        "Enabled": True, "AttributeName": "ttl"}})
    ttl = int(time.time()) + 86400
    load_many(scene, "million", MILLION, lambda n: '{"pk":{"S":"p"},"sk":{"N":"%d"},"ttl":{"N":"%d"},"g":{"S":"%d"}}'
              % (n, ttl, n % 1000))


def partition_query(**more):
    return {"TableName": "million", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "p"}}} | more


@row("million-reverse", "Query: backwards through a million items, with a filter that takes none, 8 connections",
     "million", million)
def million_reverse(attack):
    attack.repeat(*[request("Query", partition_query(ScanIndexForward=False, FilterExpression="attribute_exists(z)",
                                                     ExclusiveStartKey={"pk": {"S": "p"}, "sk": {"N": str(n * 1000)}}))
                    for n in range(1, 1000)], connections=8, least=0)


@row("million-random", "Query with Limit 1 at random places of a million items, 32 connections", "million", million)
def million_random(attack):
    random.seed(2)
    attack.repeat(*[request("Query", partition_query(Limit=1, ExclusiveStartKey={"pk": {"S": "p"}, "sk": {"N": str(random.randrange(MILLION))}}))
                    for _ in range(2000)], connections=32, least=0)


@row("million-export", "ExportTableToPointInTime: a million items", "million", million)
def million_export(attack):
    client = attack.connect()
    client.call("UpdateContinuousBackups", {"TableName": "million", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}})
    arn = client.call("DescribeTable", {"TableName": "million"})["Table"]["TableArn"]
    export = client.call("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "bucket"})["ExportDescription"]["ExportArn"]
    until(attack, lambda: client.call("DescribeExport", {"ExportArn": export})["ExportDescription"]["ExportStatus"] != "IN_PROGRESS")


@row("million-import", "ImportTable: a million items", "million", million)
def million_import(attack):
    client = attack.connect()
    made = table(f"imported{random.randrange(10**9)}", sort="N")
    arn = client.call("ImportTable", {"S3BucketSource": {"S3Bucket": "bucket"}, "InputFormat": "DYNAMODB_JSON", "InputCompressionType": "GZIP",
                                      "TableCreationParameters": made})["ImportTableDescription"]["ImportArn"]
    until(attack, lambda: client.call("DescribeImport", {"ImportArn": arn})["ImportTableDescription"]["ImportStatus"] != "IN_PROGRESS")


@row("million-restore", "RestoreTableFromBackup: a million items", "million", million)
def million_restore(attack):
    client = attack.connect()
    arn = client.call("CreateBackup", {"TableName": "million", "BackupName": "all"})["BackupDetails"]["BackupArn"]
    until(attack, lambda: client.call("DescribeBackup", {"BackupArn": arn})
          ["BackupDescription"]["BackupDetails"]["BackupStatus"] == "AVAILABLE")
    name = f"restored{random.randrange(10**9)}"
    attack.ask(client, request("RestoreTableFromBackup", {"BackupArn": arn, "TargetTableName": name}))
    until(attack, lambda: client.call("DescribeTable", {"TableName": name})["Table"]["TableStatus"] == "ACTIVE")


@row("million-index", "UpdateTable: an index for a million items", "million", million, once=True)
def million_index(attack):
    client = attack.connect()
    attack.ask(client, request("UpdateTable", {
        "TableName": "million", "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "by-g", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                                                    "Projection": {"ProjectionType": "ALL"}}}]}))
    until(attack, lambda: client.call("DescribeTable", {"TableName": "million"})["Table"]["GlobalSecondaryIndexes"][0]
          ["IndexStatus"] == "ACTIVE")


@row("million-delete", "DeleteTable: the restored million items", "million", million, once=True)
def million_delete(attack):
    client = attack.connect()
    for name in client.call("ListTables", {})["TableNames"]:
        if name.startswith(("restored", "imported")):
            attack.ask(client, request("DeleteTable", {"TableName": name}))
    attack.wait()


def clock_forward(client):
    client.ask(post("/admin/clock", {"advance_seconds": 2 * 86400}))
    client.ask(post("/admin/ttl", {}))


def expired_all(client):
    client.keep = True
    return client.ask(get("/admin/ttl")).json()["deleted"]


@row("million-expiry", "Time to live: a million items expire", "million", million, seconds=6, once=True)
def million_expiry(attack):
    client = attack.connect()
    clock_forward(client)
    attack.wait()
    attack.note(f"{expired_all(client):,} deleted")


def million_expire(scene):
    """Deletes the rest at full speed, which is not what is measured."""
    scene.reopen(["--ttl-rate", "1000000"])
    client = scene.connect()
    clock_forward(client)
    end = time.monotonic() + 120
    while time.monotonic() < end and client.call("Query", partition_query(Select="COUNT"))["Count"]:
        client.ask(post("/admin/ttl", {}))
        time.sleep(0.5)


@row("million-expired", "Query with Limit 1: a partition whose million items expired",
     "million", million, million_expire)
def million_expired(attack):
    attack.repeat(request("Query", partition_query(Limit=1)))


# ---- Backups that wait -----------------------------------------------------------------------------

def backed_up(scene):
    """100,000 items."""
    create(scene, "backedup")
    load_many(scene, "backedup", 100000, lambda n: '{"pk":{"S":"%08d"},"b":{"S":"%0100d"}}' % (n, n))


@row("backups-queued", "CreateBackup: 60 of 100,000 items, and their items written anew",
     "backups", backed_up, seconds=6, once=True)
def backups_queued(attack):
    client = attack.connect()
    for number in range(60):
        attack.ask(client, request("CreateBackup", {"TableName": "backedup", "BackupName": f"backup{number}"}))
    attack.repeat(*[request("BatchWriteItem", {"RequestItems": {"backedup": [
        {"PutRequest": {"Item": key(n) | {"b": {"S": "x" * 100}}}} for n in range(first, first + 25)]}})
        for first in range(0, 50000, 25)], least=0)


# ---- Very many tables ------------------------------------------------------------------------------

def tables(scene):
    """2,490 tables, each of which has been read once, so that it has metrics."""
    def make(first, last):
        client = Connection(scene.server.port)
        for number in range(first, last):
            client.call("CreateTable", table(f"t{number:05d}"))
            client.call("GetItem", {"TableName": f"t{number:05d}", "Key": key(1)})
    workers = [fork.Process(target=make, args=(first, min(first + 250, 2490))) for first in range(0, 2490, 250)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


@row("tables-metrics", "`/metrics` with 2,500 tables", "tables", tables)
def tables_metrics(attack):
    attack.repeat(get("/metrics"))


@row("tables-list", "ListTables with 2,500 tables, 32 connections", "tables", tables)
def tables_list(attack):
    attack.repeat(request("ListTables", {"Limit": 100}), connections=32, least=0)


@row("tables-describe", "DescribeTable of 2,500 tables, 32 connections", "tables", tables)
def tables_describe(attack):
    attack.repeat(*[request("DescribeTable", {"TableName": f"t{n:05d}"}) for n in range(0, 2490, 7)], connections=32, least=0)


@row("tables-batch", "BatchGetItem of 100 tables, 16 connections", "tables", tables)
def tables_batch(attack):
    attack.repeat(request("BatchGetItem", {"RequestItems": {f"t{n:05d}": {"Keys": keys_of(1)} for n in range(100)}}),
                  connections=16, least=0)


@row("tables-churn", "CreateTable with 20 indexes and DeleteTable in turn, 4 connections", "tables", tables)
def tables_churn(attack):
    def work(number):
        connection = attack.connect()
        while not attack.over:
            name = f"churn{number}-{time.monotonic_ns()}"
            attack.ask(connection, request("CreateTable", table(name, indexes=20)))
            attack.ask(connection, request("DeleteTable", {"TableName": name}))
    attack.on_threads(4, work)


# ---- Vectors ---------------------------------------------------------------------------------------

DIMENSIONS = 256


def vectors(scene):
    """10,000 vectors of 256 numbers."""
    scene.connect().call("CreateTable", table("vectors", VectorIndexes=[{
        "IndexName": "all", "VectorAttribute": {"AttributeName": "v"}, "Dimensions": DIMENSIONS, "DistanceFunction": "COSINE",
        "Projection": {"ProjectionType": "KEYS_ONLY"}, "SearchSchema": []}]))
    random.seed(3)
    some = [vector() for _ in range(100)]
    load_many(scene, "vectors", 10000, lambda n: '{"pk":{"S":"%08d"},"v":{"L":%s}}' % (n, some[n % 100]))


def vector():
    return json.dumps([{"N": f"{random.uniform(-1, 1):.6f}"} for _ in range(DIMENSIONS)])


@row("vectors-search", "SearchVectors over 10,000 vectors, 16 connections", "vectors", vectors)
def vectors_search(attack):
    attack.repeat(request("SearchVectors", '{"TableName":"vectors","IndexName":"all","TopK":100,"SearchVector":%s}' % vector()),
                  connections=16, least=0)


# ---- A model and the data API ----------------------------------------------------------------------

MODEL = """
table shop {
  key   PK, SK
  index GSI1 (GSI1PK, GSI1SK)
  type  EntityType
}
entity Order {
  PK = "USER#{userId}"     SK = "ORDER#{orderId:pad(8)}"
  %s
  userId   string
  orderId  integer(1..)
  total    number
}
access ordersOfUser(userId) = Order where SK begins "ORDER#" newest first
"""
ORDERS = 100000


def model_apply(port, binary, directory, index="", text=None):
    path = directory / "shop.dolmen"
    path.write_text(text or MODEL % index)
    subprocess.run([binary, "apply", path, "--endpoint", f"http://127.0.0.1:{port}", "--rate", "1000000"],
                   check=True, stdout=subprocess.DEVNULL)


def shop(scene):
    """100,000 entities of one model, 10,000 of each user."""
    model_apply(scene.server.port, scene.bench.dolmen_path, scene.bench.work)
    load_many(scene, "shop", ORDERS, lambda n: '{"PK":{"S":"USER#u%d"},"SK":{"S":"ORDER#%08d"},"EntityType":{"S":"Order"},'
              '"userId":{"S":"u%d"},"orderId":{"N":"%d"},"total":{"N":"%d"}}' % (n // 10000, n + 1, n // 10000, n + 1, n % 100))
    return scene.bench.dolmen_path, scene.bench.work


@row("data-list", "Data API: pages of 10,000 entities, 4 connections", "data", shop)
def data_list(attack, _):
    attack.repeat(get("/v1/shop/ordersOfUser?userId=u1&limit=10000"), connections=4)


@row("data-batch", "Data API: $batch of 100 gets and replaces, 8 connections", "data", shop)
def data_batch(attack, _):
    operations = [{"op": "replace", "entity": "Order", "key": {"userId": "u1", "orderId": n + 1},
                   "item": {"userId": "u1", "orderId": n + 1, "total": n}} for n in range(50)] + \
        [{"op": "get", "entity": "Order", "key": {"userId": "u1", "orderId": n + 10001}} for n in range(50)]
    attack.repeat(post("/v1/shop/$batch", operations), connections=8, least=0)


@row("data-openapi", "Data API: the OpenAPI document, 8 connections", "data", shop)
def data_openapi(attack, _):
    attack.repeat(get("/v1/openapi.json"), connections=8, least=0)


@row("data-apply", "A model with one more index applied to 100,000 entities, with its backfill",
     "data", shop, once=True)
def data_apply(attack, where):
    started = time.monotonic()
    model_apply(attack.port, *where, index='GSI1 = "ORDERS", "{orderId:pad(8)}"')
    attack.note("applied", time.monotonic() - started)


# ---- Models that are hard to judge -----------------------------------------------------------------

VALUES = 900
LEVELS = 17
HOLDERS = 200

UNIQUE_MODEL = "table uniq { key pk }\nentity E {\n pk string\n%s\n}\n" % \
    "\n".join(f" a{i} string? unique" for i in range(VALUES))
UNION_MODEL = "table union { key pk }\ntype A = B | C\ntype B { x: A  z: string }\ntype C { x: A? }\n" \
    "entity E {\n pk string\n n number?\n%s\n}\n" % "\n".join(f" a{i} A?" for i in range(HOLDERS))
JSON_MODEL = "table anything { key pk }\ntype Json = string | number | boolean | null | Json[] | Record<string, Json>\n" \
    "entity E { pk string  n number?  l Json? }\n"


def hard_apply(scene, text):
    model_apply(scene.server.port, scene.bench.dolmen_path, scene.bench.work, text=text)


def uniq(scene):
    """A table whose items have 900 values that no other item may have."""
    hard_apply(scene, UNIQUE_MODEL)


def put_uniq(turn, count):
    puts = ('{"Put":{"TableName":"uniq","Item":{"pk":{"S":"%08d"},%s}}}' % (
        n, ",".join('"a%d":{"S":"%d.%d"}' % (i, turn, n) for i in range(VALUES))) for n in range(count))
    return request("TransactWriteItems", '{"TransactItems":[%s]}' % ",".join(puts))


def delete_uniq(count):
    return request("TransactWriteItems", {"TransactItems": [{"Delete": {"TableName": "uniq", "Key": key(n)}} for n in range(count)]})


@row("unique-put", "TransactWriteItems: 5 Puts that give back 900 unique values each, and take as many others", "unique", uniq)
def unique_put(attack):
    attack.repeat(put_uniq(0, 5), put_uniq(1, 5), connections=1)


@row("unique-delete", "TransactWriteItems: 11 Puts of 900 unique values each, and 11 Deletes", "unique", uniq)
def unique_delete(attack):
    attack.repeat(delete_uniq(11), put_uniq(0, 11), connections=1)


@row("unique-most", "TransactWriteItems: 100 Puts of 900 unique values each, which are too many", "unique", uniq)
def unique_most(attack):
    attack.repeat(put_uniq(2, 100), connections=1)


# ---- Rules from which much follows -----------------------------------------------------------------

TAGS = 1000
RULES_MODEL = """
table rules { key PK, SK  type kind }
entity Photo { PK = "P#{photo}"  SK = "x"  photo string  tags set<string>? }
entity Tag   { PK = "T#{tag}"  SK = "{photo}"  tag string  photo string }
derive Tag from each Photo.tags as tag
"""


def rules(scene):
    """A model in which 1,000 items follow from one."""
    hard_apply(scene, RULES_MODEL)


def photo(name, turn):
    tags = ",".join('"%d.%d"' % (turn, n) for n in range(TAGS))
    return '{"kind":{"S":"Photo"},"PK":{"S":"P#%s"},"SK":{"S":"x"},"photo":{"S":"%s"},"tags":{"SS":[%s]}}' % (name, name, tags)


def bare(name):
    return '{"kind":{"S":"Photo"},"PK":{"S":"P#%s"},"SK":{"S":"x"},"photo":{"S":"%s"}}' % (name, name)


@row("rules-derive", "PutItem: 1,000 derived items come, and go again, as many as may; 2 connections", "rules", rules)
def rules_derive(attack):
    attack.repeat(*(request("PutItem", '{"TableName":"rules","Item":%s}' % one) for one in (photo("one", 1), bare("one"))),
                  connections=2)


@row("rules-most", "TransactWriteItems: 100 Puts with 1,000 derived items each, which are too many", "rules", rules)
def rules_most(attack):
    attack.repeat(request("TransactWriteItems", '{"TransactItems":[%s]}' % ",".join(
        '{"Put":{"TableName":"rules","Item":%s}}' % photo(f"m{n}", 1) for n in range(100))), connections=1)


@row("rules-batch", "BatchWriteItem: 25 Puts with 1,000 derived items each", "rules", rules)
def rules_batch(attack):
    attack.repeat(*(request("BatchWriteItem", '{"RequestItems":{"rules":[%s]}}' % ",".join(
        '{"PutRequest":{"Item":%s}}' % made(f"b{n}") for n in range(25)))
                    for made in (lambda name: photo(name, 1), bare)), connections=1)


def put_unions():
    value = '{"M":{}}'
    for _ in range(LEVELS):
        value = '{"M":{"x":%s}}' % value
    return request("PutItem", '{"TableName":"union","Item":{"pk":{"S":"00000000"},%s}}' % ",".join(
        '"a%d":%s' % (i, value) for i in range(HOLDERS)))


def unions(scene):
    """An item of 200 attributes, each of 17 levels of a union of two types that hold each other."""
    hard_apply(scene, UNION_MODEL)
    if scene.connect().ask(put_unions()).status != 200:
        raise RuntimeError("union")


@row("union-update", "UpdateItem of an item with 200 attributes of 17 levels of a recursive union", "union", unions)
def union_update(attack):
    attack.repeat(*[request("UpdateItem", {"TableName": "union", "Key": key(0), "UpdateExpression": "SET n = :n",
                                           "ExpressionAttributeValues": {":n": {"N": str(n)}}}) for n in range(2)])


@row("union-put", "PutItem of such an item", "union", unions)
def union_put(attack):
    attack.repeat(put_unions())


def anything(scene):
    """10 items, each a list of 190,000, of the type Json of the manual."""
    hard_apply(scene, JSON_MODEL)
    put_all(scene, "anything", 10, '"l":{"L":[%s]}' % ",".join(['{"NULL":true}'] * 190000))


@row("json-update", "TransactWriteItems: 10 updates of items with lists of 190,000, of the type Json", "anything", anything)
def json_update(attack):
    attack.repeat(*[request("TransactWriteItems", {"TransactItems": [
        {"Update": {"TableName": "anything", "Key": key(n), "UpdateExpression": "SET n = :n",
                    "ExpressionAttributeValues": {":n": {"N": str(value)}}}} for n in range(10)]})
        for value in range(2)], connections=1)
