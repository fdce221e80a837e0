"""Writers, schema changes and kills of everything; at the end the rows of three projections are the items: those of the
server into PostgreSQL and into SQLite, and that of `dolmen project` into another SQLite. A trigger in each of them notes each
number that a row takes: one that comes twice, or goes back, was applied twice."""
import argparse
import contextlib
import http.client
import os
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from dolmen import ROOT, Api, ApiError, Server
from postgres import Postgres, find_postgres

MODEL = '''
table shop {
  key    PK, SK
  type   EntityType
  stream new_and_old_images
}
entity Job {
  PK = "JOB#{job_id}"  SK = "JOB"
  job_id  string
  n       integer
  name    string
  price   number?
  parts   string[]?
}
entity Note {
  PK = "NOTE#{note_id}"  SK = "NOTE"
  note_id  string
  n        integer
}
access job(job_id) = one Job
'''
# What the schema changes to and fro: a column more, another name, an index, a child table, an entity more.
SHAPES = (('Job', 'id = job_id  n  name  key (id)'),
          ('Job', 'id = job_id  n  name  price  key (id)'),
          ('Job', 'id = job_id  n  title = name  price  key (id)  index (price)'),
          ('Job, Note', 'id = job_id  n  title = name  key (id)  each parts as "job_parts" { part = each() }'),
          ('Job, Note', 'id = job_id  n  name  price  key (id)'))
AUDIT = '''
CREATE TABLE IF NOT EXISTS audit (place bigserial, id text, n bigint);
CREATE OR REPLACE FUNCTION note_it() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN INSERT INTO public.audit (id, n) VALUES (NEW.id, NEW.n); RETURN NULL; END';
CREATE OR REPLACE TRIGGER note_new AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION note_it();
CREATE OR REPLACE TRIGGER note_changed AFTER UPDATE ON jobs FOR EACH ROW WHEN (OLD.n IS DISTINCT FROM NEW.n) EXECUTE FUNCTION note_it();
'''
SQLITE_AUDIT = '''
CREATE TABLE IF NOT EXISTS audit (place INTEGER PRIMARY KEY, id TEXT, n INTEGER);
CREATE TRIGGER IF NOT EXISTS note_new AFTER INSERT ON jobs BEGIN INSERT INTO audit (id, n) VALUES (NEW.id, NEW.n); END;
CREATE TRIGGER IF NOT EXISTS note_changed AFTER UPDATE ON jobs WHEN OLD.n IS NOT NEW.n
BEGIN INSERT INTO audit (id, n) VALUES (NEW.id, NEW.n); END;
'''
TWICE = 'SELECT count(*) FROM (SELECT id, n FROM audit GROUP BY 1, 2 HAVING count(*) > 1) AS t'
BACK = 'SELECT count(*) FROM (SELECT n - lag(n) OVER (PARTITION BY id ORDER BY place) AS step FROM audit) AS t WHERE step <= 0'
APPLIED = 'SELECT count(*) FROM audit'
TROUBLE = (OSError, http.client.HTTPException, ValueError)


def until(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except (AssertionError, sqlite3.Error, *TROUBLE):
            pass
        if time.monotonic() > end:
            raise AssertionError(f'{what} did not happen in time')
        time.sleep(0.05)


class Stage:
    """Everything that can be killed."""

    def __init__(self, directory, postgres):
        self.directory, self.postgres = directory, postgres
        self.files = os.path.join(directory, 'files')
        os.mkdir(self.files)
        with socket.create_server(('127.0.0.1', 0)) as probe:
            self.port = probe.getsockname()[1]
        self.endpoint = f'http://127.0.0.1:{self.port}'
        self.path = os.path.join(directory, 'shop.dolmen')
        self.shape(SHAPES[0])
        self.server = self.outside = None
        self.start_server()

    def start_server(self):
        self.server = Server(os.path.join(self.directory, 'data'), '--publish-files', self.files, '--port', str(self.port))

    def start_outside(self):
        binary = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
        self.outside = subprocess.Popen([binary, 'project', self.path, '--rule', 'project', '--to',
                                         'sqlite:' + os.path.join(self.directory, 'outside.db'), '--endpoint', self.endpoint,
                                         '--quiet'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def shape(self, shape):
        entities, columns = shape
        rule = 'project %s into "%s" { Job as "jobs" { %s } }\n'
        self.text = MODEL + rule % (entities, self.postgres.url, columns) + rule % (entities, 'sqlite:shop.db', columns)
        with open(self.path, 'w', encoding='utf-8') as file:
            file.write(self.text)

    def apply(self):
        Api(self.endpoint).call('ApplyModel', {'Model': self.text, 'FileName': 'shop.dolmen'})

    def trouble(self, choice):
        if choice == 0:
            self.server.kill()
            self.start_server()
        elif choice == 1:
            self.postgres.kill()
            self.postgres.start()
        elif choice == 2:
            self.postgres.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dolmen'", False)
        else:
            self.outside.kill()
            self.outside.wait()
            self.start_outside()

    def end(self):
        if self.outside is not None and self.outside.poll() is None:
            self.outside.kill()
            self.outside.wait()
        if self.server is not None and self.server.process.poll() is None:
            self.server.kill()


class Writer(threading.Thread):
    """Puts and deletes of its own keys. What may or may not have been done is done again."""

    def __init__(self, stage, number, writes, seed):
        super().__init__(daemon=True)
        self.stage, self.number, self.writes, self.random = stage, number, writes, random.Random(seed)
        self.done = 0

    def run(self):
        api = Api(self.stage.endpoint)
        while self.done < self.writes:
            requests = {}
            for _ in range(min(10, self.writes - self.done)):
                key = f'{self.number}-{self.random.randrange(200)}'
                self.done += 1
                if self.random.random() < 0.15:
                    requests[key + 'Job'] = {'DeleteRequest': {'Key': {'PK': {'S': f'JOB#{key}'}, 'SK': {'S': 'JOB'}}}}
                    continue
                entity = 'Job' if self.random.random() < 0.9 else 'Note'
                item = {'EntityType': {'S': entity}, 'n': {'N': str(self.done)}, 'SK': {'S': entity.upper()},
                        'PK': {'S': f'{entity.upper()}#{key}'}, f'{entity.lower()}_id': {'S': key}}
                if entity == 'Job':
                    item.update({'name': {'S': f'name {self.done}'}, 'price': {'N': f'{self.done}.5'},
                                 'parts': {'L': [{'S': str(part)} for part in range(self.done % 3)]}})
                requests[key + entity] = {'PutRequest': {'Item': item}}
            while True:
                try:
                    api.call('BatchWriteItem', {'RequestItems': {'shop': list(requests.values())}})
                    break
                except (ApiError, *TROUBLE):
                    time.sleep(0.05)
                    api.close()
                    api = Api(self.stage.endpoint)


def wanted(stage):
    items = Api(stage.endpoint).pages('Scan', {'TableName': 'shop'})
    jobs = sorted((i['job_id']['S'], int(i['n']['N']), i['name']['S'], float(i['price']['N'])) for i in items if 'job_id' in i)
    notes = sorted((i['note_id']['S'], int(i['n']['N'])) for i in items if 'note_id' in i)
    return jobs, notes


def of_postgres(stage):
    rows = lambda query: [line.split('|') for line in stage.postgres.ask(query).stdout.splitlines()]
    return (sorted((i, int(n), name, float(price)) for i, n, name, price in rows('SELECT id, n, name, price FROM jobs')),
            sorted((i, int(n)) for i, n in rows('SELECT note_id, n FROM note')))


def of_sqlite(path):
    with sqlite3.connect(path) as db:
        return (sorted((i, n, name, float(price)) for i, n, name, price in db.execute('SELECT id, n, name, price FROM jobs')),
                sorted(db.execute('SELECT note_id, n FROM note')))


def audit_sqlite(path):
    """In a file that is there: connect() would make one."""
    with contextlib.closing(sqlite3.connect(f'file:{path}?mode=rw', uri=True, timeout=30)) as db:
        db.executescript(SQLITE_AUDIT)
    return True


def ask_sqlite(path, query):
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as db:
        return str(db.execute(query).fetchone()[0])


def torture(options, stage):
    choose = random.Random(options.seed)
    inside, outside = os.path.join(stage.files, 'shop.db'), os.path.join(stage.directory, 'outside.db')
    until(lambda: stage.apply() is None, 'applying the model')
    stage.start_outside()
    until(lambda: stage.postgres.ask(AUDIT, False).returncode == 0, 'the first table')
    until(lambda: audit_sqlite(inside), 'the first table in SQLite')
    until(lambda: audit_sqlite(outside), 'the first table from outside')
    writers = [Writer(stage, i, options.writes // 2, options.seed + i) for i in range(2)]
    for writer in writers:
        writer.start()
    changes = troubles = 0
    while any(writer.is_alive() for writer in writers):
        time.sleep(0.02)
        if sum(w.done for w in writers) * options.troubles < options.writes * troubles:
            continue
        stage.trouble(troubles % 4 if troubles < 4 else choose.randrange(4))
        troubles += 1
        if changes < options.changes and sum(w.done for w in writers) * options.changes >= options.writes * changes:
            changes += 1
            stage.shape(SHAPES[changes % len(SHAPES)])
            until(lambda: stage.apply() is None, 'applying a model')
    while changes < options.changes or (changes + 1) % len(SHAPES) != 0:
        changes += 1
        stage.shape(SHAPES[changes % len(SHAPES)])
        until(lambda: stage.apply() is None, 'applying a model')
    stage.shape(SHAPES[-1])
    until(lambda: stage.apply() is None, 'applying the last model')
    stage.trouble(3)  # it has read an older model
    want = wanted(stage)
    places = (('PostgreSQL', lambda: of_postgres(stage), stage.postgres.value),
              ('SQLite', lambda: of_sqlite(inside), lambda query: ask_sqlite(inside, query)),
              ('SQLite from outside', lambda: of_sqlite(outside), lambda query: ask_sqlite(outside, query)))
    failed, applied = [], []
    for name, have, ask in places:
        try:
            until(lambda: have() == want, f'{name}: the rows of all items', 180)
        except AssertionError as error:
            failed.append(str(error))
        twice, back = ask(TWICE), ask(BACK)
        applied.append(ask(APPLIED))
        if twice != '0' or back != '0':
            failed.append(f'{name}: {twice} changes were applied twice, {back} went back')
    print(f'{sum(w.done for w in writers)} writes, {changes + 1} schemas, {troubles} kills and cuts, {", ".join(applied)} changes '
          f'of rows, {len(want[0])} + {len(want[1])} items; seed {options.seed}')
    return failed, 2 * len(places)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--writes', type=int, default=6000)
    parser.add_argument('--changes', type=int, default=4)
    parser.add_argument('--troubles', type=int, help='kills and cuts; by default one for each 500 writes, at most 200')
    parser.add_argument('--seed', type=int, default=int(os.environ.get('SEED') or time.time()))
    options = parser.parse_args()
    options.troubles = options.troubles or min(200, options.writes // 500)
    if find_postgres() is None:
        print('PostgreSQL is not here: nothing is projected\n0 passed, 0 failed')
        return 0
    directory = tempfile.mkdtemp(prefix='torture-project.')
    stage = None
    try:
        with Postgres(directory) as postgres:
            stage = Stage(directory, postgres)
            failed, count = torture(options, stage)
            for line in failed:
                print(line)
            if failed:
                sys.stdout.write(stage.server.error_text()[-3000:])
    finally:
        if stage is not None:
            stage.end()
        shutil.rmtree(directory, True)
    print(f'{count - len(failed)} passed, {len(failed)} failed')
    return len(failed) > 0


if __name__ == '__main__':
    sys.exit(main())
