"""The API under concurrent load, made for the sanitizer builds: one server, and at the same time

    suites   the JavaScript and boto3 suites, again and again: they check every answer
    bench    `dolmen bench`, all workloads on two tables, many connections
    churn    tables and indexes that are made, filled, compared and deleted
    watch    scrapes, health, Scans in segments, ListTables
    rude     clients that hang up, or say half of what they have to say

What fails it: a report of a sanitizer, a crash, a status of 5xx, a failed case of a suite, an index
that is not its table. It lasts LOAD_SECONDS (10); what has begun by then is finished.
"""

import glob
import http.client
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from dolmen import ROOT, Api, ApiError, Server

SECONDS = float(os.environ.get("LOAD_SECONDS") or 10)
SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
API = os.path.join(ROOT, "tests", "api")
TOTALS = re.compile(r"(\d+) passed, (\d+) failed\s*$")
COMPLAINT = re.compile(r"Sanitizer|runtime error:|invariant|Assertion")


class Load:
    """What all parts share: the server, the end, and the account of what happened."""

    def __init__(self, server):
        self.server = server
        self.endpoint = server.endpoint
        self.end = time.monotonic() + SECONDS
        self.lock = threading.Lock()
        self.passed = 0
        self.failures = []
        self.done = {}

    def goes_on(self):
        return time.monotonic() < self.end and self.lives()

    def lives(self):
        return self.server.process.poll() is None

    def count(self, what, number=1):
        with self.lock:
            self.done[what] = self.done.get(what, 0) + number

    def fail(self, text):
        with self.lock:
            self.failures.append(text)
        print("FAIL " + text, flush=True)

    def environment(self):
        """For a suite: this server, which is no foreign one, so that texts are compared."""
        return {**os.environ, "DOLMEN_ENDPOINT": self.endpoint, "NODE_NO_WARNINGS": "1",
                "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
                "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1",
                "AWS_EC2_METADATA_DISABLED": "true", "PYTHONDONTWRITEBYTECODE": "1",
                "AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED": "true",
                "PYTHONPATH": os.path.join(ROOT, "tests", "lib")}


# ---- Suites ----------------------------------------------------------------------------------

def suite_pass(load, name, command, directory):
    done = subprocess.run(command, cwd=directory, env=load.environment(), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    found = TOTALS.search(done.stdout.rstrip())
    passed, failed = (int(found[1]), int(found[2])) if found else (0, 1)
    with load.lock:
        load.passed += passed
    load.count(name)
    if failed or done.returncode != 0:
        load.fail(f"{name}: {failed} failed, status {done.returncode}\n{done.stdout[-6000:]}")


def run_js(load):
    """Some files, and further ones while time is left; all of them in a long run."""
    directory = os.path.join(API, "js")
    files = sorted(os.path.basename(p) for p in glob.glob(os.path.join(directory, "*.test.mjs")))
    random.Random(SEED).shuffle(files)
    if not os.path.isdir(os.path.join(directory, "node_modules", "@aws-sdk", "client-dynamodb")):
        load.fail("js: the SDK is not installed; tests/api/js/run does that")
        return
    at, least = 0, len(files) if SECONDS >= 30 else 1
    while load.lives() and (at < least or load.goes_on()):
        group = files[at % len(files):][:6]
        suite_pass(load, "js", ["node", "--test", "--test-concurrency=2",
                                "--test-reporter=./reporter.mjs", *group], directory)
        at += len(group)


def run_boto3(load):
    while True:
        suite_pass(load, "boto3", ["/usr/bin/python3", "-W", "ignore", "main.py"],
                   os.path.join(API, "boto3"))
        if not load.goes_on():
            return


# ---- Load ------------------------------------------------------------------------------------

def run_bench(load, name, options, seconds):
    binary = os.path.join(ROOT, os.environ.get("DOLMEN_BIN", "build/dolmen"))
    turn = 0
    while turn == 0 or load.goes_on():
        command = [binary, "bench", "--endpoint", load.endpoint, "--table", f"{name}-{turn}",
                   "--seconds", str(seconds), *options]
        done = subprocess.run(command, capture_output=True, text=True)
        load.count(name)
        if done.returncode != 0:
            load.fail(f"{' '.join(command)}: status {done.returncode}\n"
                      f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
        turn += 1


def wait_active(api, table):
    for _ in range(6000):
        described = api.call("DescribeTable", {"TableName": table})["Table"]
        states = [described["TableStatus"]]
        states += [i["IndexStatus"] for i in described.get("GlobalSecondaryIndexes", [])]
        if set(states) == {"ACTIVE"}:
            return
        time.sleep(0.01)
    raise AssertionError(f"{table} does not become active")


def index_create(api, table, attribute):
    api.call("UpdateTable", {
        "TableName": table,
        "AttributeDefinitions": [{"AttributeName": attribute, "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": {
            "IndexName": "by-" + attribute, "Projection": {"ProjectionType": "ALL"},
            "KeySchema": [{"AttributeName": attribute, "KeyType": "HASH"}]}}]})


def churn_round(load, api, draw, table):
    """One table's life, with an index that is built while another client writes."""
    api.call("CreateTable", {
        "TableName": table, "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}]})
    wait_active(api, table)
    writer = threading.Thread(target=churn_write, args=(load, table, draw.randrange(1 << 30)))
    writer.start()
    try:
        index_create(api, table, "a")
        wait_active(api, table)
        index_create(api, table, "b")
        wait_active(api, table)
        api.call("UpdateTable", {"TableName": table, "GlobalSecondaryIndexUpdates": [
            {"Delete": {"IndexName": "by-a"}}]})
        wait_active(api, table)
    finally:
        writer.join()
    items = api.pages("Scan", {"TableName": table, "ConsistentRead": True})
    indexed = api.pages("Scan", {"TableName": table, "IndexName": "by-b"})
    key = lambda item: item["k"]["S"]  # noqa: E731
    if sorted((i for i in items if "b" in i), key=key) != sorted(indexed, key=key):
        load.fail(f"{table}: the index is not its table")
    api.call("DeleteTable", {"TableName": table})
    load.count("churn")


def churn_write(load, table, seed):
    draw = random.Random(seed)
    api = Api(load.endpoint)
    try:
        for _ in range(150):
            item = {"k": {"S": str(draw.randrange(80))}, "v": {"S": "v" * draw.randrange(300)}}
            for name in "ab":
                if draw.random() < 0.8:
                    item[name] = {"S": str(draw.randrange(5))}
            if draw.random() < 0.2:
                api.call("DeleteItem", {"TableName": table, "Key": {"k": item["k"]}})
            else:
                api.call("PutItem", {"TableName": table, "Item": item})
    except (ApiError, OSError, http.client.HTTPException) as error:
        load.fail(f"{table}, a writer: {error!r}")
    finally:
        api.close()


def run_churn(load, number):
    draw = random.Random(SEED + number)
    api = Api(load.endpoint, timeout=120)
    turn = 0
    while turn == 0 or load.goes_on():
        churn_round(load, api, draw, f"churn-{number}-{turn}")
        turn += 1
    api.close()


def run_watch(load, number):
    """Reads whatever is there. A table may go at any time, which is the only error allowed."""
    draw = random.Random(SEED + 100 + number)
    api = Api(load.endpoint)
    while load.goes_on():
        try:
            names = api.call("ListTables", {})["TableNames"]
            if names:
                name, segments = draw.choice(names), draw.randrange(1, 5)
                api.call("DescribeTable", {"TableName": name})
                for segment in range(segments):
                    api.call("Scan", {"TableName": name, "Segment": segment, "Limit": 200,
                                      "TotalSegments": segments})
        except ApiError as error:
            if error.name != "ResourceNotFoundException":
                load.fail(f"a reader: {error!r}")
        for path in ("/metrics", "/health"):
            api.connection.request("GET", path)
            response = api.connection.getresponse()
            response.read()
            if response.status != 200:
                load.fail(f"{path}: {response.status}")
        load.count("watch")
    api.close()


def run_rude(load, number):
    draw = random.Random(SEED + 200 + number)
    address = load.endpoint.split("//")[1].rsplit(":", 1)
    body = b'{"TableName":"nobody","Key":{"k":{"S":"1"}}}'
    whole = (b"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\n"
             b"Content-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n" % len(body)
             + body)
    while load.goes_on():
        clients = []
        for _ in range(20):
            client = socket.create_connection((address[0], int(address[1])), 20)
            client.sendall(whole * draw.randrange(3) + whole[:draw.randrange(len(whole))])
            if draw.random() < 0.5:  # a reset instead of a polite end
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            clients.append(client)
        time.sleep(draw.random() * 0.05)
        for client in clients:
            client.close()
        load.count("rude", len(clients))


# ---- The account -----------------------------------------------------------------------------

def judge_errors(load):
    """No answer of the whole run may have been a 5xx."""
    api = Api(load.endpoint)
    api.connection.request("GET", "/metrics")
    text = api.connection.getresponse().read().decode()
    api.close()
    requests = 0.0
    for line in text.splitlines():
        name, _, value = line.rpartition(" ")
        if name.startswith("dolmen_system_errors_total{") and float(value) > 0:
            load.fail("status 5xx: " + line)
        if name.startswith("dolmen_requests_total{"):
            requests += float(value)
        if name == "dolmen_store_commit_failures_total" and float(value) > 0:
            load.fail(line)
    load.count("requests", int(requests))


def judge_server(load, server):
    """It stops with status 0, and no sanitizer has said a word."""
    if server.process.poll() is None:
        try:
            server.stop()
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            load.fail(str(error))
    else:
        load.fail(f"the server ended with status {server.process.returncode}")
        print(server.error_text())
    said = server.error_text()
    for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
        found = re.search(r"log_path=([^:]+)", os.environ.get(name, ""))
        path = f"{found[1]}.{server.process.pid}" if found else ""
        if os.path.exists(path):
            with open(path, errors="replace") as report:
                said += report.read()
    if COMPLAINT.search(said):
        load.fail("the server complained:\n" + said[:12000])


def guarded(load, function, *arguments):
    def body():
        try:
            function(load, *arguments)
        except Exception as error:  # of whatever kind: it is a failure of the run
            load.fail(f"{function.__name__}: {error!r}")
    return threading.Thread(target=body)


def run():
    print(f"SEED={SEED} LOAD_SECONDS={SECONDS:g}", flush=True)
    directory = tempfile.mkdtemp(prefix="dolmen-load.")
    server = Server(os.path.join(directory, "data"), "--threads", "4", "--write-buffer", "4M",
                    "--access-log", os.path.join(directory, "access.log"))
    load = Load(server)
    seconds = max(1, int(SECONDS / 10))
    parts = [
        guarded(load, run_js),
        guarded(load, run_boto3),
        guarded(load, run_bench, "bench-many", ["--items", "2000", "--connections", "64"], seconds),
        guarded(load, run_bench, "bench-wide", ["--items", "500", "--connections", "16", "--gsis",
                                                "8", "--workload", "mix,update,transact4,put"],
                seconds),
        *[guarded(load, run_churn, n) for n in range(2)],
        *[guarded(load, run_watch, n) for n in range(2)],
        guarded(load, run_rude, 0),
    ]
    for part in parts:
        part.start()
    for part in parts:
        part.join()
    if server.process.poll() is None:
        judge_errors(load)
    judge_server(load, server)
    shutil.rmtree(directory, ignore_errors=True)
    print(", ".join(f"{number} {what}" for what, number in sorted(load.done.items())))
    print(f"{load.passed} passed, {len(load.failures)} failed")
    return 1 if load.failures else 0
