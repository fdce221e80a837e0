"""Rows about connections and bodies: what reaches the server before any operation does."""
import gzip
import socket
import time

from abuse import key, row
from abuse_client import get, head, request


def chunked(body, size):
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(body[at:at + size]), body[at:at + size]) for at in range(0, len(body), size))
    return head(operation="PutItem", headers=["Transfer-Encoding: chunked"]).encode() + b"\r\n" + chunks + b"0\r\n\r\n"


@row("http-slow", "2,000 connections that send their headers a byte at a time", "http")
def http_slow(attack):
    text = head(operation="GetItem").encode() + b"X-Slow: " + b"x" * 1000
    held = [attack.connect() for _ in range(2000)]
    attack.labels["never complete"] = len(held)
    for at in range(len(text)):
        for connection in held:
            connection.send(text[at:at + 1])
            if attack.over:
                return


@row("http-churn", "Connections opened and closed as fast as one process can", "http")
def http_churn(attack):
    where = ("127.0.0.1", attack.port)
    while not attack.over:
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # leaves no port behind
            one.connect(where)
        attack.labels["closed"] += 1


@row("http-garbage", "Bytes that are no HTTP, 8 connections, each again and again", "http")
def http_garbage(attack):
    noise = bytes(range(128, 256)) * 512

    def work(_):
        while not attack.over:
            connection = attack.connect()
            try:
                attack.noted(connection.ask(noise), time.monotonic())
            except OSError:
                attack.note("closed")
            connection.close()
    attack.on_threads(8, work)


@row("http-headers", "Headers of 64 KB", "http")
def http_headers(attack):
    ask = head(operation="GetItem", headers=[f"X-{n}: {'x' * 100}" for n in range(600)]).encode() + b"\r\n"

    def work(_):
        while not attack.over:
            connection = attack.connect()
            try:
                attack.noted(connection.ask(ask), time.monotonic())
            except OSError:
                attack.note("closed")
            connection.close()
    attack.on_threads(8, work)


@row("http-bomb", "Bodies of 16 KB that unpack to 16 MB", "http")
def http_bomb(attack):
    body = gzip.compress(b" " * ((16 << 20) - 2) + b"{}")
    attack.repeat(request("GetItem", body, ["Content-Encoding: gzip"]), connections=4)


@row("http-bomb-larger", "Bodies of 1 MB that would unpack to 1 GB", "http")
def http_bomb_larger(attack):
    body = gzip.compress(b"\0" * (1 << 20)) * 1000
    attack.repeat(request("GetItem", body, ["Content-Encoding: gzip"]), connections=4)


@row("http-chunks", "Bodies of 400 KB in chunks of one byte", "http")
def http_chunks(attack):
    body = b'{"TableName":"bystander","Item":{"pk":{"S":"x"},"s":{"S":"%b"}}}' % (b"x" * 390000)
    attack.repeat(chunked(body, 1), connections=4)


@row("http-spaces", "Bodies of 16 MB of white space", "http")
def http_spaces(attack):
    attack.repeat(request("GetItem", b" " * 16000000 + b"{}"), connections=4)


@row("http-brackets", "Bodies of 8 MB of nested brackets", "http")
def http_brackets(attack):
    attack.repeat(request("GetItem", b'{"TableName":' + b"[" * 8000000), connections=4)


@row("http-members", "Bodies with 1,000,000 unknown members", "http")
def http_members(attack):
    attack.repeat(request("GetItem", "{" + ",".join('"a%d":1' % n for n in range(1000000)) + "}"), connections=4)


@row("http-names", "Query with 100,000 ExpressionAttributeNames, none of which is used", "http")
def http_names(attack):
    unused = {f"#n{n}": f"name{n}" for n in range(100000)}
    attack.repeat(request("Query", {"TableName": "bystander", "KeyConditionExpression": "pk = :p",
                                    "ExpressionAttributeValues": {":p": {"S": "x"}}, "ExpressionAttributeNames": unused}), connections=4)


@row("http-pipelined", "20,000 pipelined requests for health, on each of 2 connections", "http")
def http_pipelined(attack):
    attack.pipeline(get("/health"), 20000, connections=2)


@row("http-hang-up", "Connections that ask and hang up before the answer", "http")
def http_hang_up(attack):
    ask = request("GetItem", {"TableName": "bystander", "Key": key(1)})
    while not attack.over:
        connection = attack.connect()
        connection.send(ask)
        connection.close()
        attack.labels["closed"] += 1


@row("http-idle", "8,000 connections that say nothing", "http")
def http_idle(attack):
    held = []
    try:
        for _ in range(8000):
            held.append(attack.connect())
    except OSError as error:
        attack.sample = str(error)
    attack.labels["idle"] = len(held)
    attack.wait()
