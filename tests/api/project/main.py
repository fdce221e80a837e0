"""Projections, from the write to the row: PostgreSQL and SQLite, kills on either side, refused rows, schema changes,
two projectors, the command from outside. Rows are compared with the items of a Scan, by rules that are written here."""
import decimal
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import boto3
from botocore.config import Config

from dolmen import ROOT, Api, ApiError, Server
from postgres import Postgres, find_postgres

MODEL = '''
table shop {
  key   PK, SK
  type  EntityType
  stream new_and_old_images
}

type Step { title: string  minutes: integer? }

entity Job {
  PK = "JOB#{job_id}"   SK = "JOB"
  job_id   string
  name     string
  n        integer
  price    number?
  secret   binary?
  ready    boolean?
  made     timestamp?
  tags     set<string>?
  steps    Step[]?
  deep     object?
}

entity Version {
  PK = "ASSET#{asset_id}"   SK = "V#{version}"
  asset_id  string
  version   integer
  kind      string
  made      timestamp?
}

entity Note {
  PK = "NOTE#{note_id}"   SK = "NOTE"
  note_id  string
  text     string
}

access job(job_id) = one Job

'''
MAPPING = '''
  Job as "jobs" {
    id = job_id  name  n  price  secret  ready  made  tags  deep
    key (id)
    index (name)
    each steps as "job_steps" { title  minutes }
  }
  group Version by asset_id as "assets" { id = asset_id  latest = max(version)  kind = last(kind by version)  versions = count() }
'''
HUGE = decimal.Decimal('12345678901234567890123456789012345678')


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError('it did not happen in time')
        time.sleep(0.01)


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix='project.')
        cls.addClassCleanup(shutil.rmtree, cls.root, True)
        cls.postgres = Postgres(cls.root)
        cls.addClassCleanup(cls.postgres.stop)
        cls.postgres.start()

    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=self.root)
        os.mkdir(os.path.join(self.directory, 'files'))
        self.server = None
        self.addCleanup(self.end)
        self.processes = []
        if self.postgres.process.poll() is not None:
            self.postgres.start()
        self.postgres.ask('DROP SCHEMA public CASCADE; CREATE SCHEMA public')

    def begin(self, *options):
        self.server = Server(os.path.join(self.directory, 'data'), '--publish-files',
                             os.path.join(self.directory, 'files'), *options)
        self.api = Api(self.server.endpoint)
        session = boto3.session.Session('test', 'test', region_name='us-east-1')
        self.table = session.resource('dynamodb', endpoint_url=self.server.endpoint,
                                      config=Config(retries={'max_attempts': 0})).Table('shop')

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        if self.server is not None and self.server.process.poll() is None:
            self.server.stop()
        self.server = None

    def model(self, url=None, mapping=MAPPING, model=MODEL, entities='Job, Version, Note'):
        into = f' into "{url}"' if url else ''
        return model + f'project {entities}{into} {{{mapping}}}\n'

    def apply(self, url=None, mapping=MAPPING, model=MODEL, entities='Job, Version, Note'):
        self.api.call('ApplyModel', {'Model': self.model(url, mapping, model, entities), 'FileName': 'shop.dolmen'})

    def put_job(self, job, **more):
        self.table.put_item(Item={'EntityType': 'Job', 'job_id': job, 'name': f'name of {job}', 'n': 1, **more})

    def put_version(self, asset, version, kind='image'):
        self.table.put_item(Item={'EntityType': 'Version', 'asset_id': asset, 'version': version, 'kind': kind})

    def put_note(self, note, text):
        self.table.put_item(Item={'EntityType': 'Note', 'note_id': note, 'text': text})

    def consumer(self):
        return self.api.call('DescribeConsumer', {'TableName': 'shop', 'ConsumerName': 'project'})['Consumer']

    def act(self, action):
        self.api.call('UpdateConsumer', {'TableName': 'shop', 'ConsumerName': 'project', 'Action': action})

    def items(self):
        found, start = [], {}
        while start is not None:
            page = self.table.scan(**start)
            found += page['Items']
            start = {'ExclusiveStartKey': page['LastEvaluatedKey']} if 'LastEvaluatedKey' in page else None
        return found

    def wanted(self):
        """What the tables should have, by the items."""
        jobs, steps, notes, assets = [], [], [], {}
        for item in self.items():
            if item['EntityType'] == 'Job':
                made = item.get('made')
                jobs.append((item['job_id'], item['name'], number(item['n']), number(item.get('price')),
                             bytes(item['secret']).hex() if 'secret' in item else None, item.get('ready'),
                             made, sorted(item['tags']) if 'tags' in item else None, plain(item.get('deep'))))
                for place, step in enumerate(item.get('steps') or []):
                    steps.append((item['job_id'], str(place), step['title'], number(step.get('minutes'))))
            elif item['EntityType'] == 'Note':
                notes.append((item['note_id'], item['text']))
            else:
                assets.setdefault(item['asset_id'], []).append((int(item['version']), item['kind']))
        groups = [(asset, str(max(versions)[0]), max(versions)[1], str(len(versions))) for asset, versions in assets.items()]
        return sorted(jobs), sorted(steps), sorted(notes), sorted(groups)

    def same(self, have, seconds=30):
        """Waits until the tables are what they should be; then shows how they are not."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if have() == self.wanted():
                    return
            except (AssertionError, sqlite3.OperationalError):
                pass
            time.sleep(0.05)
        print(self.consumer() if self.server else '')
        self.maxDiff = 4000
        self.assertEqual(have(), self.wanted())


def number(value):
    """The one text of a number."""
    if value is None:
        return None
    value = decimal.Decimal(str(value))
    return format(value.normalize(), 'f') if value == value.to_integral_value() else format(value.normalize(), 'f')


def plain(value):
    if isinstance(value, decimal.Decimal):
        return number(value)
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value


def texts(value):
    """JSON as it was parsed, numbers in their one text."""
    if isinstance(value, dict):
        return {name: texts(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [texts(inner) for inner in value]
    if isinstance(value, decimal.Decimal) or (isinstance(value, int) and not isinstance(value, bool)):
        return number(value)
    return value


def parse(text):
    return None if text is None else texts(json.loads(text, parse_float=decimal.Decimal, parse_int=decimal.Decimal))


class Rows:
    """The tables of PostgreSQL, and of SQLite, in the same form as wanted()."""

    @staticmethod
    def postgres(server):
        def rows(query):
            text = server.ask(f'SELECT row_to_json(r) FROM ({query}) AS r').stdout
            return [list(parse(line).values()) for line in text.splitlines()]
        jobs = [(i, name, n, price, secret, ready, made, sorted(tags) if tags is not None else None, deep)
                for i, name, n, price, secret, ready, made, tags, deep in rows(
                    "SELECT id, name, n, price, encode(secret, 'hex') AS secret, ready, "
                    "to_char(made AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') AS made, tags, deep FROM jobs")]
        steps = [tuple(row) for row in rows('SELECT * FROM job_steps')]
        notes = [tuple(row) for row in rows('SELECT note_id, text FROM note')]
        groups = [tuple(row) for row in rows('SELECT id, latest, kind, versions FROM assets')]
        return sorted(jobs), sorted(steps), sorted(notes), sorted(groups)

    @staticmethod
    def sqlite(path):
        with sqlite3.connect(path) as db:
            jobs = [(i, name, number(n), number(price), None if secret is None else secret.hex(),
                     None if ready is None else bool(ready), made, None if tags is None else sorted(parse(tags)), parse(deep))
                    for i, name, n, price, secret, ready, made, tags, deep in db.execute(
                        'SELECT id, name, n, price, secret, ready, made, tags, deep FROM jobs')]
            steps = [(job, place, title, number(minutes)) for job, place, title, minutes in db.execute('SELECT * FROM job_steps')]
            notes = list(db.execute('SELECT note_id, text FROM note'))
            groups = [(asset, number(latest), kind, number(versions))
                      for asset, latest, kind, versions in db.execute('SELECT id, latest, kind, versions FROM assets')]
            return sorted(jobs), sorted((job, number(place), *rest) for job, place, *rest in steps), sorted(notes), sorted(groups)


class Sinks(Base):
    """What holds for both databases."""

    def both(self):
        return (('postgres', self.postgres.url, lambda: Rows.postgres(self.postgres)),
                ('sqlite', 'sqlite:shop.db', lambda: Rows.sqlite(os.path.join(self.directory, 'files', 'shop.db'))))

    def test_rows_are_items(self):
        for name, url, have in self.both():
            with self.subTest(name):
                self.setUp()
                self.begin()
                self.apply(url, MAPPING)
                self.put_job('a', price=HUGE, secret=b'\0\x01\xff', ready=True, made='2026-11-18T04:30:00.123Z',
                             tags={'x', 'y "quoted" \\', 'ü'}, deep={'list': [1, 'two', None, {'three': decimal.Decimal('3.5')}]},
                             steps=[{'title': 'one', 'minutes': 5}, {'title': 'two, "and" {more}\\'}])
                self.put_job('b', price=decimal.Decimal('0.000000000000000000000000000001'))
                self.put_job('c', n=-(2 ** 53) - 1, deep={'x': 'y' * 300000})
                for version in (1, 3, 2):
                    self.put_version('logo', version, f'kind {version}')
                self.put_note('n', 'NULL')
                self.put_note('m', '')
                self.same(have)
                self.table.delete_item(Key={'PK': 'JOB#b', 'SK': 'JOB'})
                self.table.delete_item(Key={'PK': 'ASSET#logo', 'SK': 'V#3'})
                self.put_job('a', steps=[{'title': 'three'}])
                self.same(have)
                for version in (1, 2):
                    self.table.delete_item(Key={'PK': 'ASSET#logo', 'SK': f'V#{version}'})
                self.same(have)
                self.end()

    def test_many_items_at_once(self):
        """A backfill of what is there, beside writes; then changes, and both sides are killed meanwhile."""
        for name, url, have in self.both():
            with self.subTest(name):
                self.setUp()
                self.begin()
                self.apply(None)
                with self.table.batch_writer() as batch:
                    for n in range(300):
                        batch.put_item(Item={'EntityType': 'Job', 'job_id': f'j{n}', 'name': 'x', 'n': n,
                                             'PK': f'JOB#j{n}', 'SK': 'JOB', 'steps': [{'title': str(n)}]})
                self.apply(url)
                for n in range(60):
                    self.put_job(f'j{n}', n=-n)
                    if n == 20:
                        self.server.kill()
                        self.begin()
                    if n == 40 and name == 'postgres':
                        self.postgres.kill()
                        self.postgres.start()
                self.same(have)
                self.server.kill()
                self.begin()
                self.put_job('after')
                self.same(have)
                self.end()

    def test_a_row_that_is_refused(self):
        """NULs are no text of PostgreSQL: a dead letter, and the others go on; a later image of the item mends it."""
        have = lambda: Rows.postgres(self.postgres)
        self.begin()
        self.apply(self.postgres.url)
        self.put_note('good', 'x')
        self.same(have)
        self.put_note('bad', 'a\0b')
        for n in range(20):
            self.put_note(f'n{n}', str(n))
        until(lambda: self.consumer()['DeadLetters'] == 1)
        until(lambda: len(have()[2]) == 21)
        letters = self.api.call('ListDeadLetters', {'TableName': 'shop', 'ConsumerName': 'project'})['DeadLetters']
        self.assertEqual(letters[0]['Keys'], {'PK': {'S': 'NOTE#bad'}, 'SK': {'S': 'NOTE'}})
        self.assertIn('text', letters[0]['Reason'])
        self.put_note('bad', 'ab')
        self.same(have)
        until(lambda: self.consumer()['DeadLetters'] == 0)
        self.put_note('bad', 'c\0d')
        until(lambda: self.consumer()['DeadLetters'] == 1)
        self.table.delete_item(Key={'PK': 'NOTE#bad', 'SK': 'NOTE'})
        self.same(have)

    def test_the_database_is_away(self):
        have = lambda: Rows.postgres(self.postgres)
        self.postgres.stop()
        self.begin()
        self.apply(self.postgres.url)
        self.put_note('a', 'x')
        until(lambda: self.consumer()['State'] == 'FAILED')
        self.postgres.start()
        self.same(have)
        binary = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
        text = subprocess.run([binary, 'project', '--status', '--endpoint', self.server.endpoint], capture_output=True,
                              text=True, check=True).stdout
        self.assertIn('project of shop into postgresql://***@/postgres', text)
        self.assertIn('RUNNING, position', text)
        metrics = urllib.request.urlopen(self.server.endpoint + '/metrics').read().decode()
        self.assertIn('dolmen_consumer_rows_total{table="shop",consumer="project"} 1\n', metrics)
        self.act('PAUSE')
        self.put_note('b', 'y')
        time.sleep(0.2)
        self.assertEqual(len(have()[2]), 1)
        self.act('RESUME')
        self.same(have)

    def test_rows_that_do_not_belong_there(self):
        """A backfill writes what differs and removes what is no item; --verify tells which, groups as well."""
        for name, url, have in self.both():
            with self.subTest(name):
                self.setUp()
                self.begin()
                self.apply(url)
                for n in range(10):
                    self.put_job(f'j{n}', steps=[{'title': 't'}])
                    self.put_version('a', n)
                    self.put_version('b', n)
                self.put_version('c', 1)
                self.same(have)
                for text in ("INSERT INTO jobs (id, name, n) VALUES ('other', 'x', 1)",
                             "INSERT INTO job_steps SELECT 'other', 0, 'x', 1", "DELETE FROM jobs WHERE id = 'j3'",
                             "UPDATE jobs SET name = 'changed' WHERE id = 'j4'", "UPDATE assets SET latest = 77 WHERE id = 'b'",
                             "DELETE FROM assets WHERE id = 'c'",
                             "INSERT INTO assets (id, latest, kind, versions) VALUES ('none', 1, 'x', 1)"):
                    self.change(name, text)
                to = url if name == 'postgres' else 'sqlite:' + os.path.join(self.directory, 'files', 'shop.db')
                text = self.command('--verify', '--to', to, check=False, into=url)
                for line in ('extra: jobs other', 'missing: jobs j3', 'different: jobs j4', 'extra: job_steps other, 0',
                             'different: assets b', 'missing: assets c', 'extra: assets none', '7 differ'):
                    self.assertIn(line + ('' if line == '7 differ' else '\n'), text)
                self.command('--verify', '--mend', '--to', to, into=url)
                self.same(have)
                self.assertIn('0 differ', self.command('--verify', '--to', to, into=url))
                self.end()

    def test_the_schema_changes(self):
        """A new attribute, another name, a new entity, one that goes: by applying the model, while rows are written."""
        for name, url, _ in self.both():
            with self.subTest(name):
                self.setUp()
                self.begin()
                self.apply(url, 'Job as "jobs" { id = job_id  name  n  key (id) }', entities='Job')
                for n in range(30):
                    self.put_job(f'j{n}', n=n)
                query = self.query(name)
                until(lambda: query('SELECT count(*) FROM jobs') == '30')
                self.put_job('before', price=7)
                self.apply(url, 'Job as "jobs" { id = job_id  title = name  n  price  key (id)  index (n) }', entities='Job')
                self.put_job('after', price=8)
                until(lambda: query("SELECT title FROM jobs WHERE id = 'after' AND price = 8") == 'name of after')
                until(lambda: query("SELECT count(*) FROM jobs WHERE title IS NOT NULL") == '32')
                until(lambda: query("SELECT price FROM jobs WHERE id = 'before'") == '7')
                self.put_note('n', 'x')
                self.apply(url, 'Job as "works" { id = job_id  title = name  n  key (id) }', entities='Job, Note')
                until(lambda: query('SELECT count(*) FROM works') == '32')
                until(lambda: query('SELECT text FROM note') == 'x')
                until(lambda: query('SELECT price FROM works', 'no such') == 'no such')
                self.apply(url, '', entities='Note')
                self.put_note('o', 'y')
                until(lambda: query('SELECT count(*) FROM note') == '2')
                until(lambda: query('SELECT 1 FROM works', 'no such') == 'no such')
                self.end()

    def query(self, name):
        """Asks one value of either database; what goes wrong is its text, or the one given."""
        def ask(text, otherwise=''):
            if name == 'postgres':
                result = self.postgres.ask(text, check=False)
                return result.stdout.strip() if result.returncode == 0 else otherwise
            try:
                with sqlite3.connect(os.path.join(self.directory, 'files', 'shop.db')) as db:
                    row = db.execute(text).fetchone()
                    return '' if row is None else str(row[0])
            except sqlite3.OperationalError:
                return otherwise
        return ask

    def test_both_ways(self):
        """Rows that are changed in SQL are changes of items, once, guard and all; what it refuses is put back."""
        for name, url, _ in self.both():
            with self.subTest(name):
                self.setUp()
                self.begin()
                self.apply(url, 'Job as "jobs" both { id = job_id  name  n  price  ready  key (id) }', entities='Job')
                query = self.query(name)
                for n in range(5):
                    self.put_job(f'j{n}', price=1)
                until(lambda: query('SELECT count(*) FROM jobs') == '5')
                self.change(name, "UPDATE jobs SET name = 'changed', price = 1234567890123456789 WHERE id = 'j1'")
                until(lambda: self.job('j1')['name'] == 'changed')
                self.assertEqual(self.job('j1')['price'], 1234567890123456789)
                self.change(name, "UPDATE jobs SET price = NULL WHERE id = 'j2'")
                until(lambda: 'price' not in self.job('j2'))
                self.change(name, "INSERT INTO jobs (id, name, n) VALUES ('new', 'made in SQL', 9)")
                until(lambda: self.job('new') or query('SELECT count(*) FROM dolmen_inbox WHERE refused IS NOT NULL') == '1')
                self.assertEqual((self.job('new') or {'n': query('SELECT refused FROM dolmen_inbox')})['n'], 9)
                self.change(name, "DELETE FROM jobs WHERE id = 'j3'")
                until(lambda: self.job('j3') is None)
                until(lambda: query('SELECT count(*) FROM dolmen_inbox') == '0')
                # No title has no letters: the guard refuses it, and the row is what the item is.
                self.apply(url, 'Job as "jobs" both { id = job_id  name  n  price  ready  key (id) }', entities='Job',
                           model=MODEL.replace('name     string\n', 'name     string(1..20)\n'))
                until(lambda: self.consumer()['State'] == 'RUNNING')
                self.change(name, "UPDATE jobs SET name = '' WHERE id = 'j4'")
                until(lambda: query('SELECT refused FROM dolmen_inbox') != '')
                until(lambda: query("SELECT name FROM jobs WHERE id = 'j4'") == 'name of j4')
                for n in range(20):
                    self.change(name, f"UPDATE jobs SET n = n + 1 WHERE id = 'j0'")
                    if n == 10:
                        self.server.kill()
                        self.begin()
                until(lambda: self.job('j0')['n'] == int(query("SELECT n FROM jobs WHERE id = 'j0'"))
                      and query('SELECT count(*) FROM dolmen_inbox WHERE refused IS NULL') == '0')
                self.end()

    def job(self, job):
        return self.table.get_item(Key={'PK': f'JOB#{job}', 'SK': 'JOB'}).get('Item')

    def change(self, name, text):
        if name == 'postgres':
            self.postgres.ask(text)
            return
        with sqlite3.connect(os.path.join(self.directory, 'files', 'shop.db'), timeout=30) as db:
            db.execute(text)

    def test_two_projectors(self):
        self.begin()
        self.apply(self.postgres.url)
        self.put_note('a', 'x')
        self.same(lambda: Rows.postgres(self.postgres))
        second = self.spawn('--to', self.postgres.url, '--once')
        self.assertIn('another projector is at work', second.stderr.readline())
        self.assertIsNone(second.poll())
        self.apply(None)
        second.wait(30)
        self.assertEqual(second.returncode, 0)

    # ---- The command -------------------------------------------------------------------------

    def arguments(self, options, into=None):
        path = os.path.join(self.directory, 'shop.dolmen')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(self.model(into))
        binary = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
        return [binary, 'project', path, '--endpoint', self.server.endpoint, '--quiet', *options]

    def command(self, *options, check=True, into=None):
        result = subprocess.run(self.arguments(options, into), capture_output=True, text=True, timeout=60, check=False)
        self.assertTrue(result.returncode == 0 or not check, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def spawn(self, *options):
        process = subprocess.Popen(self.arguments(options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def test_from_outside(self):
        path = os.path.join(self.directory, 'outside.db')
        for name, url, have in (('postgres', self.postgres.url, lambda: Rows.postgres(self.postgres)),
                                ('sqlite', f'sqlite:{path}', lambda: Rows.sqlite(path))):
            with self.subTest(name):
                self.setUp()
                self.begin()
                self.apply(None)
                for n in range(20):
                    self.put_job(f'j{n}')
                self.command('--to', url, '--once')
                self.assertEqual(have(), self.wanted())
                # The stream is read from its begin: j0 comes and goes in what is read.
                self.table.delete_item(Key={'PK': 'JOB#j0', 'SK': 'JOB'})
                self.command('--to', url, '--once')
                self.assertEqual(have(), self.wanted())
                running = self.spawn('--to', url)
                for n in range(20):
                    self.put_job(f'j{n}', n=n)
                    self.put_version('a', n)
                self.same(have)
                running.kill()
                running.wait()
                self.table.delete_item(Key={'PK': 'JOB#j1', 'SK': 'JOB'})
                self.put_note('later', 'x')
                self.command('--to', url, '--once')
                self.assertEqual(have(), self.wanted())
                self.assertIn('in step', self.command('--status', '--to', url))
                self.assertIn('0 differ', self.command('--verify', '--to', url))
                self.end()


if __name__ == '__main__':
    if find_postgres() is None:
        print('PostgreSQL is not here: nothing is projected\n0 passed, 0 failed')
        sys.exit(0)
    names = [name for name in sys.argv[1:] if name[0] != '-']
    loader = unittest.defaultTestLoader
    result = unittest.TextTestRunner(sys.stdout, verbosity=1, failfast='-f' in sys.argv).run(
        loader.loadTestsFromNames(names, sys.modules['__main__']) if names
        else loader.loadTestsFromModule(sys.modules['__main__']))
    bad = len(result.failures) + len(result.errors)
    print(f'{result.testsRun - bad - len(result.skipped)} passed, {bad} failed')
    sys.exit(bad > 0)
