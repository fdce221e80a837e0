"""The rows of bench/bystander: requests that are legal, and as hard on a server as the API's limits allow.

A row names the server it runs on (rows of one name share one, in the order of this file), the data that
must be there, and what its process sends. Data is loaded once for each server. A loader gets the scene;
what it returns is handed to the attacks that need it.
"""
import gzip
import itertools
import json
import multiprocessing
import random
import string
import time

from abuse_client import Connection, get, head, post, readable, request

ROWS = []
LETTERS = string.ascii_lowercase
fork = multiprocessing.get_context("fork")


class Row:
    def __init__(self, attack, name, title, server, needs, seconds, options, before, once):
        self.attack, self.name, self.title, self.server = attack, name, title, server
        self.needs, self.seconds, self.options, self.before, self.once = needs, seconds, options, before, once


def row(name, title, server, *needs, seconds=None, options=(), before=None, once=False):
    """`before` prepares each run, untimed; `once`: another run would not find the same data."""
    def add(attack):
        ROWS.append(Row(attack, name, title, server, needs, seconds, options, before, once))
        return attack
    return add


# ---- Tables and items ------------------------------------------------------------------------------

def table(name, sort=None, indexes=0, **more):
    """pk is text; a sort key sk is a number or text; indexes 0, 1, … on g with everything in them."""
    keys = [("pk", "S", "HASH")] + ([("sk", sort, "RANGE")] if sort else [])
    attributes = [{"AttributeName": n, "AttributeType": t} for n, t, _ in keys]
    made = {"TableName": name, "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": n, "KeyType": k} for n, _, k in keys]}
    if indexes:
        attributes.append({"AttributeName": "g", "AttributeType": "S"})
        made["GlobalSecondaryIndexes"] = [
            {"IndexName": f"gsi{i}", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
             "Projection": {"ProjectionType": "ALL"}} for i in range(indexes)]
    return made | {"AttributeDefinitions": attributes} | more


def key(number):
    return {"pk": {"S": f"{number:08d}"}}


def create(scene, name, **settings):
    scene.connect().call("CreateTable", table(name, **settings))


def put_all(scene, name, count, attributes):
    """Puts `count` items with these attributes (JSON text without braces) under keys 0, 1, ….

    What is the same in all of them is made once: some are 3 MB of JSON.
    """
    client = scene.connect()
    for number in range(count):
        answer = client.ask(request("PutItem", '{"TableName":"%s","Item":{"pk":{"S":"%08d"},%s}}' % (name, number, attributes)))
        if answer.status != 200:
            raise RuntimeError(f"{name}: {answer.body[:300]}")


def load_batches(port, name, numbers, item, size=25):
    """BatchWriteItem of item(number), JSON text, for each number."""
    client = Connection(port)
    numbers = iter(numbers)
    while chunk := list(itertools.islice(numbers, size)):
        puts = ",".join('{"PutRequest":{"Item":%s}}' % item(number) for number in chunk)
        answer = client.ask(request("BatchWriteItem", '{"RequestItems":{"%s":[%s]}}' % (name, puts)))
        if answer.status != 200:
            raise RuntimeError(f"{name}: {answer.body[:300]}")


def load_many(scene, name, count, item, processes=4):
    """`count` items, from several processes: making JSON takes Python longer than the server needs for it."""
    each = -(-count // processes)
    workers = [fork.Process(target=load_batches, args=(scene.server.port, name, range(first, min(first + each, count)), item))
               for first in range(0, count, each)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        if worker.exitcode:
            raise RuntimeError(f"{name} could not be loaded")


def names(count, width):
    return ["".join(letters) for letters in itertools.islice(itertools.product(LETTERS, repeat=width), count)]


def or_of(parts):
    return " OR ".join(parts)


def missing_in(count, operands=100):
    """`:b IN (…)` so many times, over names that no item has: as much text as an expression may be."""
    return or_of(":b IN (" + ",".join(["z"] * operands) + ")" for _ in range(count))


def checks(table_name, condition, values, count=100):
    return request("TransactWriteItems", {"TransactItems": [{"ConditionCheck": {
        "TableName": table_name, "Key": key(number), "ConditionExpression": condition,
        "ExpressionAttributeValues": values}} for number in range(count)]})


def keys_of(count):
    return [key(number) for number in range(count)]


# ---- Items of very many attributes -----------------------------------------------------------------

WIDE = 66000


def wide(scene):
    """100 items of 400 KB, each with 66,000 attributes."""
    create(scene, "wide")
    put_all(scene, "wide", 100, ",".join('"%s":{"N":"1"}' % name for name in names(WIDE, 4)))


@row("wide-checks", "TransactWriteItems: 100 ConditionChecks of 18 × IN(100), items of 66,000 attributes", "wide", wide)
def wide_checks(attack):
    attack.repeat(checks("wide", f"NOT ({missing_in(18)})", {":b": {"S": "x"}}), connections=1, least=1)


@row("wide-filter", "Scan: FilterExpression of 18 × `:b IN (100 names)`, items of 66,000 attributes", "wide", wide)
def wide_filter(attack):
    attack.repeat(request("Scan", {"TableName": "wide", "FilterExpression": missing_in(18),
                                   "ExpressionAttributeValues": {":b": {"S": "x"}}}))


@row("wide-projection", "GetItem: projection of 800 names, an item of 66,000 attributes", "wide", wide)
def wide_projection(attack):
    attack.repeat(request("GetItem", {"TableName": "wide", "Key": key(1), "ProjectionExpression": ",".join(names(WIDE, 4)[-800:])}))


# ---- Long lists ------------------------------------------------------------------------------------

def lists(scene):
    """100 items, each a list of 195,000."""
    create(scene, "lists")
    put_all(scene, "lists", 100, '"l":{"L":[%s]}' % ",".join(['{"NULL":true}'] * 195000))


@row("lists-checks", "TransactWriteItems: 100 ConditionChecks of 150 × contains, lists of 195,000", "lists", lists)
def lists_checks(attack):
    condition = "NOT (" + or_of(["contains(l,:x)"] * 149) + ")"
    attack.repeat(checks("lists", condition, {":x": {"S": "x"}}), connections=1, least=1)


@row("lists-append", "UpdateItem: 150 × `list_append(l, l)`, a list of 195,000", "lists", lists)
def lists_append(attack):
    attack.repeat(request("UpdateItem", {"TableName": "lists", "Key": key(1), "UpdateExpression":
                                         "SET " + ",".join(f"a{i}=list_append(l,l)" for i in range(150))}))


# ---- Long texts ------------------------------------------------------------------------------------

def texts(scene):
    """100 items, each one text of 390 KB, which does not compress well."""
    create(scene, "texts")
    random.seed(1)
    text = "".join(random.choices(string.ascii_letters + string.digits, k=390000))
    put_all(scene, "texts", 100, '"s":{"S":"%s"}' % text)


def batch_get(headers=(), count=100):
    return request("BatchGetItem", {"RequestItems": {"texts": {"Keys": keys_of(count)}}}, headers)


@row("texts-contains", "TransactWriteItems: 100 ConditionChecks of 150 × contains, texts of 390 KB", "texts", texts)
def texts_contains(attack):
    condition = "NOT (" + or_of(["contains(s,:x)"] * 149) + ")"
    attack.repeat(checks("texts", condition, {":x": {"S": "aaaaaaaaaab"}}), connections=1, least=1)


@row("texts-gzip", "BatchGetItem of 16 MB, compressed", "texts", texts)
def texts_gzip(attack):
    attack.repeat(batch_get(["Accept-Encoding: gzip"]))


@row("texts-refused", "PutItem: bodies of 15 MB, refused in the end", "texts", texts)
def texts_refused(attack):
    numbers = ",".join(['{"N":"1"}'] * 1500000)
    attack.repeat(request("PutItem", '{"TableName":"texts","Item":{"pk":{"S":"x"},"l":{"L":[%s]}}}' % numbers),
                  request("PutItem", '{"TableName":"texts","Item":{"pk":{"S":"x"},"s":{"S":"%s"}}}' % ("x" * 15000000)))


@row("texts-unread", "BatchGetItem of 16 MB from 200 clients that never read", "texts", texts, seconds=6)
def texts_unread(attack):
    ask = batch_get()
    held = []
    for _ in range(200):
        connection = attack.connect(buffer=4096)
        connection.send(ask)
        held.append(connection)
        attack.note("not read")
    attack.wait()


@row("texts-half", "60 bodies of 15 MB, half sent", "texts", texts, seconds=6)
def texts_half(attack):
    half = head(operation="PutItem").encode() + b"Content-Length: 15000000\r\n\r\n" + b"x" * 14900000
    held = []

    def work(_):
        connection = attack.connect()
        held.append(connection)
        connection.send(half)
        attack.note("not ended")
    attack.on_threads(60, work)
    attack.wait()


# ---- Large items in many indexes -------------------------------------------------------------------

def indexed(scene):
    """75 items of 390 KB in a table with 20 indexes, in none of which they are yet."""
    create(scene, "indexed", indexes=20)
    put_all(scene, "indexed", 75, '"s":{"S":"%s"}' % ("0123456789abcdef" * 24375))


@row("indexed-updates", "TransactWriteItems: 75 small updates of 390 KB items in 20 indexes", "indexed", indexed)
def indexed_updates(attack):
    attack.repeat(request("TransactWriteItems", {"TransactItems": [{"Update": {
        "TableName": "indexed", "Key": key(number), "UpdateExpression": "SET g = :g",
        "ExpressionAttributeValues": {":g": {"S": "g"}}}} for number in range(75)]}), connections=1)


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


# ---- A million items -------------------------------------------------------------------------------

MILLION = 1000000


def million(scene):
    """A million items in one partition, which expire in a day."""
    scene.connect().call("CreateTable", table("million", sort="N"))
    scene.connect().call("UpdateTimeToLive", {"TableName": "million", "TimeToLiveSpecification": {
        "Enabled": True, "AttributeName": "ttl"}})
    ttl = int(time.time()) + 86400
    load_many(scene, "million", MILLION, lambda n: '{"pk":{"S":"p"},"sk":{"N":"%d"},"ttl":{"N":"%d"},"g":{"S":"%d"}}'
              % (n, ttl, n % 1000))


def until(attack, done, most=60):
    """Waits for work behind the requests; it counts as the attack's time."""
    started = time.monotonic()
    while not done() and time.monotonic() < started + most:
        time.sleep(0.1)
    attack.note("done" if time.monotonic() < started + most else "going on", time.monotonic() - started)


@row("million-restore", "RestoreTableFromBackup: a million items", "million", million)
def million_restore(attack):
    client = attack.connect()
    arn = client.call("CreateBackup", {"TableName": "million", "BackupName": "all"})["BackupDetails"]["BackupArn"]
    until(attack, lambda: client.call("DescribeBackup", {"BackupArn": arn})
          ["BackupDescription"]["BackupDetails"]["BackupStatus"] == "AVAILABLE")
    name = f"restored{random.randrange(10**9)}"
    attack.ask(client, request("RestoreTableFromBackup", {"BackupArn": arn, "TargetTableName": name}))
    until(attack, lambda: client.call("DescribeTable", {"TableName": name})["Table"]["TableStatus"] == "ACTIVE")


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
    while time.monotonic() < end and client.call("Query", expired_query(Select="COUNT"))["Count"]:
        client.ask(post("/admin/ttl", {}))
        time.sleep(0.5)


def expired_query(**more):
    return {"TableName": "million", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "p"}}} | more


@row("million-expired", "Query with Limit 1: a partition whose million items expired", "million", million, million_expire)
def million_expired(attack):
    attack.repeat(request("Query", expired_query(Limit=1)))


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
