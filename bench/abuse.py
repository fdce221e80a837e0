"""The rows of bench/bystander, and what they are made with.

Rows are requests that are legal, and as hard on a server as the API's limits allow; abuse_items.py,
abuse_volume.py and abuse_connections.py add them. A row names the server it runs on (rows of one name share
one, in order), the data that must be there, and what its process sends. Data is loaded once for each
server. A loader gets the scene; what it returns is handed to the attacks that need it.
"""
import itertools
import multiprocessing
import string
import time

from abuse_client import Connection, request

ROWS = []
MILLION = 1000000
LETTERS = string.ascii_lowercase
fork = multiprocessing.get_context("fork")


class Row:
    def __init__(self, attack, name, title, server, needs, seconds, options, once):
        self.attack, self.name, self.title, self.server = attack, name, title, server
        self.needs, self.seconds, self.options, self.once = needs, seconds, options, once


def row(name, title, server, *needs, seconds=None, options=(), once=False):
    """`once`: another run would not find the same data. `options` are the server's, and those of its first row count."""
    def add(attack):
        ROWS.append(Row(attack, name, title, server, needs, seconds, options, once))
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


def until(attack, done, most=60):
    """Waits for work behind the requests; it counts as the attack's time."""
    started = time.monotonic()
    while not done() and time.monotonic() < started + most:
        time.sleep(0.1)
    attack.note("done" if time.monotonic() < started + most else "going on", time.monotonic() - started)
