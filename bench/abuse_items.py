"""Rows about items at the limits: very many attributes, long lists, texts and sets, deep nesting."""
import json
import random
import string

from abuse import checks, create, key, keys_of, missing_in, names, or_of, put_all, row, table
from abuse_client import head, request

X = {":x": {"S": "x"}}

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


@row("wide-batch-projection", "BatchGetItem: 40 items of 66,000 attributes, projection of 800 names", "wide", wide)
def wide_batch_projection(attack):
    attack.repeat(request("BatchGetItem", {"RequestItems": {"wide": {
        "Keys": keys_of(40), "ProjectionExpression": ",".join(names(WIDE, 4)[-800:])}}}), least=1)


@row("wide-batch-legacy", "BatchGetItem: 40 items of 66,000 attributes, legacy AttributesToGet of 255", "wide", wide)
def wide_batch_legacy(attack):
    attack.repeat(request("BatchGetItem", {"RequestItems": {"wide": {
        "Keys": keys_of(40), "AttributesToGet": names(WIDE, 4)[-255:]}}}), least=1)


@row("wide-transact-get", "TransactGetItems: 10 items of 66,000 attributes, projection of 800 names each", "wide", wide)
def wide_transact_get(attack):
    attack.repeat(request("TransactGetItems", {"TransactItems": [{"Get": {
        "TableName": "wide", "Key": key(n), "ProjectionExpression": ",".join(names(WIDE, 4)[-800:])}} for n in range(10)]}),
        least=1)


@row("wide-remove", "UpdateItem: REMOVE of 800 names that an item of 66,000 attributes does not have", "wide", wide)
def wide_remove(attack):
    absent = ",".join(name.upper() for name in names(800, 4))
    attack.repeat(request("UpdateItem", {"TableName": "wide", "Key": key(2), "UpdateExpression": "REMOVE " + absent}))


@row("wide-set", "UpdateItem: SET of 300 of 66,000 attributes", "wide", wide)
def wide_set(attack):
    attack.repeat(request("UpdateItem", {
        "TableName": "wide", "Key": key(2), "UpdateExpression": "SET " + ",".join(f"{name}=:v" for name in names(WIDE, 4)[-300:]),
        "ExpressionAttributeValues": {":v": {"N": "2"}}}))


@row("wide-expected", "DeleteItem: legacy Expected of 2,000 conditions, the last of which fails", "wide", wide)
def wide_expected(attack):
    absent = {f"Z{i}": {"Exists": False} for i in range(1999)} | {"pk": {"Exists": False}}
    attack.repeat(request("DeleteItem", {"TableName": "wide", "Key": key(3), "Expected": absent}))


@row("wide-all-new", "UpdateItem: ReturnValues ALL_NEW of 66,000 attributes, 100 connections", "wide", wide)
def wide_all_new(attack):
    attack.repeat(*[request("UpdateItem", {"TableName": "wide", "Key": key(n), "ReturnValues": "ALL_NEW",
                                           "UpdateExpression": "ADD aaaa :v", "ExpressionAttributeValues": {":v": {"N": "1"}}})
                    for n in range(100)], connections=100, least=0)


@row("wide-partiql", "ExecuteStatement: SELECT with 150 ORs over items of 66,000 attributes", "wide", wide)
def wide_partiql(attack):
    where = or_of(f"zz{i:03d}=1" for i in range(150))
    attack.repeat(request("ExecuteStatement", {"Statement": f'SELECT pk FROM "wide" WHERE {where}'}), least=1)


@row("wide-partiql-batch", "BatchExecuteStatement: 25 UPDATEs on 140 conditions, items of 66,000 attributes",
     "wide", wide)
def wide_partiql_batch(attack):
    where = or_of(f"zz{i:03d}=1" for i in range(140))
    attack.repeat(request("BatchExecuteStatement", {"Statements": [
        {"Statement": f"UPDATE \"wide\" SET aaaa=1 WHERE pk='{n:08d}' AND ({where})"} for n in range(25)]}), least=1)


@row("wide-put", "PutItem of 66,000 attributes, 4 connections", "wide", wide)
def wide_put(attack):
    items = [",".join('"%s":{"N":"%d"}' % (name, value) for name in names(WIDE, 4)) for value in (2, 3)]
    attack.repeat(*[request("PutItem", '{"TableName":"wide","Item":{"pk":{"S":"%08d"},%s}}' % (n, item))
                    for item in items for n in range(90, 94)], connections=4)


# ---- Deep nesting ----------------------------------------------------------------------------------

def nested(scene):
    """20 items of 31 levels, each level a map in which the next comes after 1,000 others."""
    create(scene, "nested")
    value = '{"N":"1"}'
    for _ in range(31):
        value = '{"M":{%s,"z":%s}}' % (",".join('"%s":{"N":"1"}' % name for name in names(1000, 2)), value)
    put_all(scene, "nested", 20, '"z":' + value)


DEEP = ".".join(["z"] * 31)


@row("nested-filter", "Scan: a filter of 58 paths of 32 levels, each through maps of 1,000", "nested", nested)
def nested_filter(attack):
    attack.repeat(request("Scan", {"TableName": "nested", "FilterExpression": or_of([DEEP + "=:x"] * 58),
                                   "ExpressionAttributeValues": X}))


@row("nested-checks", "TransactWriteItems: 20 ConditionChecks of 57 paths of 32 levels", "nested", nested)
def nested_checks(attack):
    attack.repeat(checks("nested", f"NOT ({or_of([DEEP + '=:x'] * 57)})", X, count=20))


@row("nested-update", "UpdateItem: 55 paths of 32 levels", "nested", nested)
def nested_update(attack):
    paths = ",".join(f"{DEEP}.q{name}=:x" for name in names(55, 2))
    attack.repeat(request("UpdateItem", {"TableName": "nested", "Key": key(1), "UpdateExpression": "SET " + paths,
                                         "ExpressionAttributeValues": X}))


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


@row("lists-size", "TransactWriteItems: 100 ConditionChecks of 50 × size and attribute_type, lists of 195,000",
     "lists", lists)
def lists_size(attack):
    condition = "NOT (" + or_of(["size(l)<:n", "attribute_type(l,:s)"] * 50) + ")"
    attack.repeat(checks("lists", condition, {":n": {"N": "7"}, ":s": {"S": "S"}}))


@row("lists-equal", "Scan: a filter of 149 × `l = :l`, lists of 195,000", "lists", lists)
def lists_equal(attack):
    equal = json.dumps({"L": [{"NULL": True}] * 195000}, separators=(",", ":"))
    attack.repeat(request("Scan", '{"TableName":"lists","FilterExpression":"NOT (%s)","ExpressionAttributeValues":{":l":%s}}'
                          % (" AND ".join(["l=:l"] * 149), equal)))


@row("lists-remove", "UpdateItem: REMOVE of the first 300 elements of 195,000", "lists", lists)
def lists_remove(attack):
    attack.repeat(request("UpdateItem", {"TableName": "lists", "Key": key(99), "UpdateExpression":
                                         "REMOVE " + ",".join(f"l[{i}]" for i in range(300))}))


@row("lists-elements", "Scan: a projection of 400 elements at the end of lists of 195,000", "lists", lists)
def lists_elements(attack):
    attack.repeat(request("Scan", {"TableName": "lists", "ProjectionExpression": ",".join(f"l[{i}]" for i in range(190000, 190400))}))


@row("lists-batch-get", "BatchGetItem: 100 items with lists of 195,000", "lists", lists)
def lists_batch_get(attack):
    attack.repeat(request("BatchGetItem", {"RequestItems": {"lists": {"Keys": keys_of(100)}}}), least=1)


@row("lists-scan", "Scan: pages of lists of 195,000, which are 7 MB of JSON, 4 connections", "lists", lists)
def lists_scan(attack):
    attack.repeat(request("Scan", {"TableName": "lists"}), connections=4)


# ---- Long texts ------------------------------------------------------------------------------------

def texts(scene):
    """100 items, each a text of 390 KB, which does not compress well."""
    create(scene, "texts")
    random.seed(1)
    text = "".join(random.choices(string.ascii_letters + string.digits, k=390000))
    put_all(scene, "texts", 100, '"s":{"S":"%s"}' % text)
    return text


def batch_get(headers=(), count=100):
    return request("BatchGetItem", {"RequestItems": {"texts": {"Keys": keys_of(count)}}}, headers)


@row("texts-contains", "TransactWriteItems: 100 ConditionChecks of 150 × contains, texts of 390 KB", "texts", texts)
def texts_contains(attack, _):
    condition = "NOT (" + or_of(["contains(s,:x)"] * 149) + ")"
    attack.repeat(checks("texts", condition, {":x": {"S": "aaaaaaaaaab"}}), connections=1, least=1)


@row("texts-gzip", "BatchGetItem of 16 MB, compressed", "texts", texts)
def texts_gzip(attack, _):
    attack.repeat(batch_get(["Accept-Encoding: gzip"]))


@row("texts-refused", "PutItem: bodies of 15 MB, refused in the end", "texts", texts)
def texts_refused(attack, _):
    numbers = ",".join(['{"N":"1"}'] * 1500000)
    attack.repeat(request("PutItem", '{"TableName":"texts","Item":{"pk":{"S":"x"},"l":{"L":[%s]}}}' % numbers),
                  request("PutItem", '{"TableName":"texts","Item":{"pk":{"S":"x"},"s":{"S":"%s"}}}' % ("x" * 15000000)))


@row("texts-unread", "BatchGetItem of 16 MB from 200 clients that never read", "texts", texts, seconds=6)
def texts_unread(attack, _):
    ask = batch_get()
    held = []
    for _ in range(200):
        connection = attack.connect(buffer=4096)
        connection.send(ask)
        held.append(connection)
        attack.note("not read")
    attack.wait()


@row("texts-half", "60 bodies of 15 MB, half sent", "texts", texts, seconds=6)
def texts_half(attack, _):
    half = head(operation="PutItem").encode() + b"Content-Length: 15000000\r\n\r\n" + b"x" * 14900000
    held = []

    def work(_):
        connection = attack.connect()
        held.append(connection)
        connection.send(half)
        attack.note("not ended")
    attack.on_threads(60, work)
    attack.wait()


@row("texts-compare", "Scan: a filter of 45 × BETWEEN and begins_with, texts of 390 KB that agree", "texts", texts)
def texts_compare(attack, text):
    filters = or_of(["NOT s BETWEEN :t AND :t", "NOT begins_with(s,:t)"] * 45)
    attack.repeat(request("Scan", {"TableName": "texts", "FilterExpression": filters,
                                   "ExpressionAttributeValues": {":t": {"S": text}}}))


def periodic(scene):
    """10 items, each a text of 390 KB of one letter."""
    create(scene, "periodic")
    put_all(scene, "periodic", 10, '"s":{"S":"%s"}' % ("a" * 390000))


@row("texts-needle", "Scan: a filter of 149 × contains of 195 KB, texts of 390 KB that nearly have it",
     "texts", periodic)
def texts_needle(attack):
    attack.repeat(request("Scan", {"TableName": "periodic", "FilterExpression": or_of(["contains(s,:n)"] * 149),
                                   "ExpressionAttributeValues": {":n": {"S": "a" * 97000 + "b" + "a" * 97000}}}), least=1)


@row("texts-all-old", "UpdateItem: ReturnValues ALL_OLD of 390 KB, 100 connections", "texts", texts)
def texts_all_old(attack, _):
    attack.repeat(*[request("UpdateItem", {"TableName": "texts", "Key": key(n), "ReturnValues": "ALL_OLD",
                                           "UpdateExpression": "ADD c :v", "ExpressionAttributeValues": {":v": {"N": "1"}}})
                    for n in range(100)], connections=100, least=0)


@row("texts-transact-get", "TransactGetItems: 100 × 390 KB", "texts", texts)
def texts_transact_get(attack, _):
    attack.repeat(request("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "texts", "Key": key(n)}} for n in range(100)]}))


@row("texts-scan", "Scan: pages of 1 MB, 64 connections", "texts", texts)
def texts_scan(attack, _):
    attack.repeat(request("Scan", {"TableName": "texts"}), connections=64, least=0)


@row("texts-batch-write", "BatchWriteItem: 25 × 390 KB, 4 connections", "texts", texts)
def texts_batch_write(attack, text):
    batches = [",".join('{"PutRequest":{"Item":{"pk":{"S":"b%d"},"%s":{"S":"%s"}}}}' % (n, name, text) for n in range(25))
               for name in "st"]
    attack.repeat(*[request("BatchWriteItem", '{"RequestItems":{"texts":[%s]}}' % puts) for puts in batches], connections=4)


@row("texts-pipelined", "300 pipelined Scans of 1 MB from a client that never reads", "texts", texts)
def texts_pipelined(attack, _):
    connection = attack.connect(buffer=4096)
    connection.send(request("Scan", {"TableName": "texts"}) * 300)
    attack.note("not read")
    attack.wait()


def stream(scene):
    """A table with a stream of both images, and 40 changes of items of 390 KB in it."""
    client = scene.connect()
    client.call("CreateTable", table("stream", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}))
    for change in "ab":
        put_all(scene, "stream", 20, '"s":{"S":"%s"}' % (change * 390000))
    arn = client.call("DescribeTable", {"TableName": "stream"})["Table"]["LatestStreamArn"]
    api = "DynamoDBStreams_20120810"
    shard = client.call("DescribeStream", {"StreamArn": arn}, api=api)["StreamDescription"]["Shards"][0]["ShardId"]
    return client.call("GetShardIterator", {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}, api=api)["ShardIterator"]


@row("stream-records", "GetRecords: both images of 390 KB, 4 connections", "texts", stream)
def stream_records(attack, iterator):
    attack.repeat(request("GetRecords", {"ShardIterator": iterator}, api="DynamoDBStreams_20120810"), connections=4)


# ---- Large sets ------------------------------------------------------------------------------------

def sets(scene):
    """100 items, each a set of 95,000 texts; and ten, each a set of 95,000 numbers."""
    create(scene, "sets")
    members = json.dumps(names(95000, 4), separators=(",", ":"))
    numbers = json.dumps([str(n) for n in range(10000, 105000)], separators=(",", ":"))
    put_all(scene, "sets", 100, '"s":{"SS":%s}' % members)
    create(scene, "numbers")
    put_all(scene, "numbers", 10, '"s":{"NS":%s}' % numbers)
    return members, numbers


@row("sets-equal", "Scan: a filter of 149 × `s = :s`, sets of 95,000 texts", "sets", sets)
def sets_equal(attack, members):
    attack.repeat(request("Scan", '{"TableName":"sets","FilterExpression":"NOT (%s)","ExpressionAttributeValues":{":s":{"SS":%s}}}'
                          % (" AND ".join(["s=:s"] * 149), members[0])))


@row("sets-checks", "TransactWriteItems: 100 ConditionChecks of 149 × contains, sets of 95,000 texts", "sets", sets)
def sets_checks(attack, _):
    attack.repeat(checks("sets", "NOT (" + or_of(["contains(s,:x)"] * 149) + ")", X), connections=1, least=1)


@row("sets-add", "UpdateItem: ADD of 95,000 texts to the same 95,000", "sets", sets)
def sets_add(attack, members):
    attack.repeat(request("UpdateItem", '{"TableName":"sets","Key":{"pk":{"S":"00000001"}},"UpdateExpression":"ADD s :s",'
                          '"ExpressionAttributeValues":{":s":{"SS":%s}}}' % members[0]))


@row("sets-delete", "UpdateItem: DELETE of 95,000 texts from 95,000, and ADD again", "sets", sets)
def sets_delete(attack, members):
    attack.repeat(*[request("UpdateItem", '{"TableName":"sets","Key":{"pk":{"S":"00000002"}},"UpdateExpression":"%s s :s",'
                            '"ExpressionAttributeValues":{":s":{"SS":%s}}}' % (verb, members[0])) for verb in ("DELETE", "ADD")])


@row("sets-numbers", "UpdateItem: ADD of 95,000 numbers to the same 95,000, on 140 conditions `s = :s`", "sets", sets)
def sets_numbers(attack, members):
    attack.repeat(request("UpdateItem", '{"TableName":"numbers","Key":{"pk":{"S":"00000001"}},"UpdateExpression":"ADD s :s",'
                          '"ConditionExpression":"%s","ExpressionAttributeValues":{":s":{"NS":%s}}}'
                          % (" AND ".join(["s=:s"] * 140), members[1])))


@row("sets-put-numbers", "PutItem: 20,000 numbers of 38 digits in a set", "sets", sets)
def sets_put_numbers(attack, _):
    numbers = json.dumps([str(10**37 + n * 7919) for n in range(19500)], separators=(",", ":"))
    attack.repeat(request("PutItem", '{"TableName":"numbers","Item":{"pk":{"S":"x"},"s":{"NS":%s}}}' % numbers))
