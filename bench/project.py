"""Projections into PostgreSQL: how far rows are behind at a steady rate of writes, and how fast a backfill is.

    bench/project [--seconds N] [--rate N] [--rows N]

Writes come in two ways, one after the other: in batches of ten, and one by one (PutItem) on 32 connections.

The PostgreSQL is one of its own, with fsync. A row's lag is from the moment before its request was sent to the commit
that has it, by PostgreSQL's own commit timestamps; both clocks are the machine's.
"""
import argparse
import json
import os
import selectors
import shutil
import socket
import sys
import tempfile
import threading
import time
from urllib.parse import urlsplit

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'lib'))
from dolmen import AUTHORIZATION, Api, Server  # noqa: E402
from postgres import Postgres, find_postgres  # noqa: E402

MODEL = '''
table shop {
  key  PK, SK
  type EntityType
}
entity Job {
  PK = "JOB#{job_id}"  SK = "JOB"
  job_id   string
  project  string
  status   "queued" | "running" | "done"
  sent     number
  details  object
}
access job(job_id) = one Job
'''


def item(key, sent):
    return {'PutRequest': {'Item': {
        'EntityType': {'S': 'Job'}, 'job_id': {'S': key}, 'PK': {'S': f'JOB#{key}'}, 'SK': {'S': 'JOB'},
        'project': {'S': f'project-{hash(key) % 50}'}, 'status': {'S': 'running'}, 'sent': {'N': repr(sent)},
        'details': {'M': {'width': {'N': '1024'}, 'name': {'S': 'a name of some length'}, 'tags': {'L': [{'S': 'x'}]}}}}}}


def write(endpoint, keys, rate, size):
    """Batches at a steady rate; a batch that is late is sent at once."""
    api = Api(endpoint)
    begin = time.monotonic()
    for n in range(0, len(keys), size):
        if rate:
            pause = begin + n / rate - time.monotonic()
            if pause > 0:
                time.sleep(pause)
        sent = time.time()
        api.call('BatchWriteItem', {'RequestItems': {'shop': [item(key, sent) for key in keys[n:n + size]]}})
    api.close()


def write_all(endpoint, keys, rate=0, size=25, threads=2):
    parts = [threading.Thread(target=write, args=(endpoint, keys[i::threads], rate / threads, size)) for i in range(threads)]
    for part in parts:
        part.start()
    for part in parts:
        part.join()


class Single:
    """PutItems at a steady rate on many connections, each sent when it is due: what is not answered yet waits in the server."""

    def __init__(self, endpoint, connections=32):
        address = urlsplit(endpoint)
        self.head = ('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\n'
                     f'X-Amz-Date: 20260101T000000Z\r\nAuthorization: {AUTHORIZATION}\r\nContent-Length: ')
        self.sockets = [socket.create_connection((address.hostname, address.port)) for _ in range(connections)]
        self.ready = selectors.DefaultSelector()
        for each in self.sockets:
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.ready.register(each, selectors.EVENT_READ)
        self.answered = 0

    def take(self, wait):
        """Counts the answers that are there; anything but a 200 is the end."""
        for key, _ in self.ready.select(wait):
            text = key.fileobj.recv(1 << 20)
            if not text or text.count(b'HTTP/1.1') != text.count(b'HTTP/1.1 200'):
                raise SystemExit('bench/project: a PutItem failed: ' + text[:500].decode(errors='replace'))
            self.answered += text.count(b'HTTP/1.1 200')

    def write(self, keys, rate):
        begin = time.monotonic()
        for n, key in enumerate(keys):
            pause = begin + n / rate - time.monotonic()
            while pause > 0:
                self.take(pause)
                pause = begin + n / rate - time.monotonic()
            body = json.dumps({'TableName': 'shop', 'Item': item(key, time.time())['PutRequest']['Item']})
            self.sockets[n % len(self.sockets)].sendall(f'{self.head}{len(body)}\r\n\r\n{body}'.encode())
            if n % 16 == 0:
                self.take(0)
        until(lambda: self.take(0.1) or self.answered == len(keys))
        for each in self.sockets:
            each.close()


def until(condition, seconds=600):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit('bench/project: it did not happen in time')
        time.sleep(0.02)


def lag(postgres, name, count, way):
    """Each key is written twice, and shows its later write."""
    begin = time.monotonic()
    way([f'{name}-{n % (count // 2)}' for n in range(count)])
    took = time.monotonic() - begin
    until(lambda: int(postgres.value(f"SELECT count(*) FROM jobs WHERE job_id LIKE '{name}-%'")) == count // 2)
    lags = postgres.ask(f"""SELECT percentile_cont(ARRAY[0.5, 0.99, 1]) WITHIN GROUP (ORDER BY
        extract(epoch FROM pg_xact_commit_timestamp(xmin)) - sent) FROM jobs WHERE job_id LIKE '{name}-%'""").stdout.strip()
    p50, p99, most = (round(float(part) * 1000, 1) for part in lags.strip('{}').split(','))
    return {'writes_per_second': round(count / took), 'lag_ms_p50': p50, 'lag_ms_p99': p99, 'lag_ms_max': most}


def measure(options, directory, postgres):
    with Server(os.path.join(directory, 'data')) as server:
        api = Api(server.endpoint)
        api.call('ApplyModel', {'Model': MODEL, 'FileName': 'shop.dolmen'})
        write_all(server.endpoint, [f'old-{n}' for n in range(options.rows)])
        model = MODEL + f'project Job into "{postgres.url}" {{ Job as "jobs" {{ job_id  project  status  sent  details  ' \
                        'index (project, status) } }\n'
        begin = time.monotonic()
        api.call('ApplyModel', {'Model': model, 'FileName': 'shop.dolmen'})
        done = "SELECT count(*) FROM dolmen_projections WHERE source = 'shop' AND NOT backfill"
        until(lambda: postgres.ask(done, check=False).stdout.strip() == '1')
        fill = time.monotonic() - begin
        rows = int(postgres.value('SELECT count(*) FROM jobs'))
        count = options.seconds * options.rate
        batches = lambda keys: write_all(server.endpoint, keys, options.rate, 10)
        single = lambda keys: Single(server.endpoint).write(keys, options.rate)
        measured = [lag(postgres, name, count, way) for name, way in (('new', batches), ('one', single))]
        consumer = api.call('DescribeConsumer', {'TableName': 'shop', 'ConsumerName': 'project'})['Consumer']
        return {'backfill_rows': rows, 'backfill_seconds': round(fill, 2), 'backfill_rows_per_second': round(rows / fill),
                'batches': measured[0], 'single': measured[1], 'state': consumer['State']}


def main():
    parser = argparse.ArgumentParser(description='Lag and backfill of a projection into PostgreSQL')
    parser.add_argument('--seconds', type=int, default=20)
    parser.add_argument('--rate', type=int, default=3000)
    parser.add_argument('--rows', type=int, default=200000)
    options = parser.parse_args()
    if find_postgres() is None:
        print('PostgreSQL is not here: projections are not measured')
        return
    directory = tempfile.mkdtemp(prefix='bench-project.')
    try:
        with Postgres(directory, 'track_commit_timestamp=on', fsync=True) as postgres:
            result = measure(options, directory, postgres)
    finally:
        shutil.rmtree(directory, True)
    print(json.dumps(result))
    worst = max(result['batches']['lag_ms_p99'], result['single']['lag_ms_p99'])
    good = worst < 200 and result['backfill_rows_per_second'] >= 20000
    print(f"backfill {result['backfill_rows_per_second']} rows/s (at least 20000), lag p99 {result['batches']['lag_ms_p99']} ms at "
          f"{result['batches']['writes_per_second']} writes/s in batches, {result['single']['lag_ms_p99']} ms at "
          f"{result['single']['writes_per_second']} PutItems/s (below 200): {'met' if good else 'not met'}")


if __name__ == '__main__':
    main()
