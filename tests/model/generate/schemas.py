"""Terraform, CloudFormation and SQL: what was generated is given to the tools it is for."""
import json
import os
import pwd
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time

import yaml

# ---- Infrastructure --------------------------------------------------------------------------------


def terraform(directory):
    """The formatter finds nothing to do. It needs no provider, and no network."""
    tool = shutil.which('terraform') or shutil.which('tofu')
    if tool is None:
        print('terraform is not here: its formatter is not asked')
        return
    result = subprocess.run([tool, 'fmt', '-check', '-diff', directory], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    assert result.returncode == 0, result.stdout


PROPERTIES = {'TableName', 'BillingMode', 'AttributeDefinitions', 'KeySchema', 'GlobalSecondaryIndexes',
              'LocalSecondaryIndexes', 'StreamSpecification', 'TimeToLiveSpecification',
              'PointInTimeRecoverySpecification', 'ProvisionedThroughput'}


class Loader(yaml.SafeLoader):
    pass


Loader.add_constructor('!GetAtt', lambda loader, node: {'Fn::GetAtt': node.value.split('.')})


def cloudformation(api, path):
    """Makes the tables of a template, with '-plain' behind their names."""
    with open(path) as file:
        template = yaml.load(file, Loader)
    assert template['AWSTemplateFormatVersion'] == '2010-09-09'
    for name, resource in template['Resources'].items():
        assert name.isalnum() and resource['Type'] == 'AWS::DynamoDB::Table'
        assert template['Outputs'][name + 'Arn']['Value'] == {'Fn::GetAtt': [name, 'Arn']}
        properties = dict(resource['Properties'])
        assert set(properties) <= PROPERTIES, set(properties) - PROPERTIES
        table = properties['TableName'] + '-plain'
        ttl = properties.pop('TimeToLiveSpecification', None)
        recovery = properties.pop('PointInTimeRecoverySpecification', None)
        if 'StreamSpecification' in properties:
            properties['StreamSpecification'] = {'StreamEnabled': True, **properties['StreamSpecification']}
        api.call('CreateTable', {**properties, 'TableName': table})
        if ttl:
            api.call('UpdateTimeToLive', {'TableName': table, 'TimeToLiveSpecification': ttl})
        if recovery:
            api.call('UpdateContinuousBackups', {'TableName': table, 'PointInTimeRecoverySpecification': recovery})


def description(api, table):
    """What a table is like, apart from its name and what it holds."""
    about = api.call('DescribeTable', {'TableName': table})['Table']
    indexes = [{key: index[key] for key in ('IndexName', 'KeySchema', 'Projection')}
               for index in about.get('GlobalSecondaryIndexes', []) + about.get('LocalSecondaryIndexes', [])]
    return {
        'keys': about['KeySchema'],
        'attributes': sorted(about['AttributeDefinitions'], key=json.dumps),
        'indexes': sorted(indexes, key=lambda index: index['IndexName']),
        'stream': about.get('StreamSpecification'),
        'units': (about['ProvisionedThroughput']['ReadCapacityUnits'],
                  about['ProvisionedThroughput']['WriteCapacityUnits']),
        'ttl': api.call('DescribeTimeToLive', {'TableName': table})['TimeToLiveDescription'],
        'recovery': api.call('DescribeContinuousBackups', {'TableName': table})['ContinuousBackupsDescription']
        ['PointInTimeRecoveryDescription']['PointInTimeRecoveryStatus'],
    }


def same_tables(api, *tables):
    for table in tables:
        one, other = description(api, table), description(api, table + '-plain')
        assert one == other, f'{one}\n{other}'


# ---- SQL ---------------------------------------------------------------------------------------------

CUSTOMER = {'customer_id': '22f4c731-1b08-4da9-8ecf-124495405bd2', 'email': 'ann@example.org', 'name': 'Ann',
            'preferences': '{"news": true}', 'points': 42, 'created_at': '2026-01-02T03:04:05.678Z'}
ORDER = {'order_id': 'o1', 'customer_id': CUSTOMER['customer_id'], 'created_at': '2026-01-02T03:04:05.678Z',
         'total': '{"amount": 1, "currency": "CHF"}', 'month': '2026-01'}
LINE = {'order_id': 'o1', 'line': 7, 'product_id': 'p1', 'paid': '{"amount": 1, "currency": "CHF"}'}
GOOD = [('customer', CUSTOMER), ('order', ORDER), ('order_line', LINE), ('settings', {'motd': "it's"}),
        ('product', {'product_id': 'p1', 'name': 'Big Lamp', 'category': 'light', 'price': 19.9, 'slug': 's',
                     'digest': 'd', 'sizes': '[5, 8]'}),
        ('shipment', {'order_id': 'o1', 'region': 'VD', 'city': 'L', 'street': 'R', 'number': '5', 'odd_name': 'x'}),
        ('counter', {'counter_id': 7})]
OTHER = {**CUSTOMER, 'customer_id': '33f4c731-1b08-4da9-8ecf-124495405bd2', 'email': 'bob@example.org'}
BAD = [('customer', {**OTHER, **change}) for change in (
    {'email': 'Bob@example.org'}, {'email': 'nobody'}, {'email': 'ann@example.org'}, {'email': None},
    {'plan': 'gold'}, {'points': -1}, {'points': 100000000}, {'name': ''}, {'name': 'x' * 101},
    {'preferences': '[]'}, {'preferences': '{}'}, {'address': '{"street": "Quai"}'}, {'bonus': 'true'},
    {'birthday': '2026-02-30'}, {'referrer': 'nowhere'}, {'customer_id': CUSTOMER['customer_id'], 'email': 'c@d.e'})]
BAD += [('order_line', {**LINE, 'line': 0}), ('order_line', LINE), ('settings', {}),
        ('order', {**ORDER, 'order_id': 'o2', 'status': 'lost'}), ('product', {'product_id': 'p2'}),
        ('customer', {**OTHER, 'tags': '{"a": 1}'}), ('customer', {**OTHER, 'nickname': 'bob'})]
KEYS = [
    ('Customer', 'CUSTOMER#' + CUSTOMER['customer_id'], 'METADATA', 'EMAIL', 'ann@example.org', 'PLAN#free',
     '9999-12-31T00:00:00.000Z#00000042#' + CUSTOMER['customer_id'], 'RANKED', '42'),
    ('Order', 'CUSTOMER#' + CUSTOMER['customer_id'], 'ORDER#2026-01-02T03:04:05.678Z#o1', 'ORDER#o1', 'METADATA',
     'STATUS#open', '2026/01/02#o1', None, None),
    ('OrderLine', 'ORDER#o1', 'LINE#0007', 'BOUGHT#p1', 'o1', None, None, None, None),
    ('Product', 'PRODUCT#p1', 'METADATA', None, None, 'STOCK#true', 'big lamp#000000019.90#light#p1', None, None),
    ('Settings', 'SETTINGS', 'SETTINGS', None, None, None, None, None, None),
    ('Shipment', 'ORDER#o1', 'SHIPMENT', None, None, None, None, None, None),
]
KEYS_QUERY = 'SELECT entity, "PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", CAST("GSI3SK" AS TEXT) FROM shop_keys ORDER BY entity'


# Of tasks.dolmen: what rules say of rows, one after the other. True: it is taken.
TEAM = {'team_id': 't1', 'name': 'One', 'slug': 'one'}
TASK = {'team_id': 't1', 'task_id': 'a', 'title': 'Paint', 'starts': 100, 'ends': 200}
STEPS = [
    (True, 'team', TEAM),
    (False, 'team', {**TEAM, 'team_id': 't2'}),  # the slug
    (False, 'team', {'team_id': 't3', 'name': 'A  b', 'slug': 'three'}),  # two blanks
    (True, 'task', TASK),
    (False, 'task', {**TASK, 'task_id': 'b'}),  # the title
    (False, 'task', {**TASK, 'task_id': 'b', 'title': 'Ends', 'ends': 50}),
    (False, 'task', {**TASK, 'task_id': 'b', 'title': 'Points', 'points': 101}),
    (False, 'task', {**TASK, 'task_id': 'b', 'title': 'Team', 'team_id': 'nobody'}),
    (False, 'task', {**TASK, 'task_id': 'b', 'title': 'State', 'state': 'dropped'}),  # no item begins so
    (True, 'task', {'team_id': 't1', 'task_id': 'b', 'title': 'Other', 'starts': 5}),
    (False, 'UPDATE "task" SET "state" = \'done\' WHERE "task_id" = \'a\''),
    (True, 'UPDATE "task" SET "state" = \'doing\' WHERE "task_id" = \'a\''),
    (True, 'UPDATE "task" SET "points" = 4 WHERE "task_id" = \'a\''),
    (True, 'UPDATE "task" SET "gone" = 300 WHERE "task_id" = \'a\''),
    (True, 'task', {**TASK, 'task_id': 'c', 'starts': 150}),  # the title of one that is deleted
    (True, 'note', {'team_id': 't1', 'task_id': 'b', 'note_id': 'n', 'text': 'x'}),
    (False, 'note', {'team_id': 't1', 'task_id': 'z', 'note_id': 'n', 'text': 'x'}),
    (False, 'UPDATE "note" SET "text" = \'y\''),
    (False, 'DELETE FROM "note"'),
    (False, 'DELETE FROM "task" WHERE "task_id" = \'b\''),  # it has a note
    (True, 'task', {**TASK, 'task_id': 'd', 'title': 'Alone', 'starts': 100}),
    (True, 'DELETE FROM "task" WHERE "task_id" = \'d\''),
]
TASKS = ['a|10|paint (doing)|\\N', 'b|2.5|other (new)|STATE#t1#new', 'c|2.5|paint (new)|STATE#t1#new']
TASKS_QUERY = ('SELECT "task_id", CAST("total" AS TEXT), "label", "GSI1PK" FROM "task" JOIN "tasks_keys" ON "SK" = \'TASK#\' || "task_id" '
               'ORDER BY "task_id"')


def statements():
    """(whether it is taken, the statement)"""
    for taken, table, *row in STEPS:
        yield taken, insert(table, row[0], literal) if row else table + ';'


def insert(table, row, literal):
    columns = ', '.join(f'"{name}"' for name in row)
    return f'INSERT INTO "{table}" ({columns}) VALUES ({", ".join(literal(value) for value in row.values())});' \
        if row else f'INSERT INTO "{table}" DEFAULT VALUES;'


def literal(value):
    if value is None:
        return 'NULL'
    return str(value) if isinstance(value, (int, float)) else "'" + value.replace("'", "''") + "'"


def sqlite_rules(database):
    database.execute('PRAGMA foreign_keys = ON')
    for wanted, statement in statements():
        try:
            database.execute(statement)
            taken = True
        except sqlite3.IntegrityError:
            taken = False
        assert taken == wanted, statement
    rows = ['|'.join('\\N' if cell is None else re.sub(r'\.0$', '', cell) for cell in row) for row in database.execute(TASKS_QUERY)]
    assert rows == TASKS, rows
    assert database.execute('SELECT count(*) FROM "task_present"').fetchall() == [(2,)]


def postgres_rules(server):
    # As the bad rows of the shop: a block for each, which reports what became of it.
    blocks = [f"DO $x$ BEGIN {statement} RAISE NOTICE 'taken: {number};';\n"
              f'EXCEPTION WHEN integrity_constraint_violation OR raise_exception THEN NULL; END $x$;'
              for number, (_, statement) in enumerate(statements())]
    said = server.ask('\n'.join(blocks), database='tasks').stderr
    for number, (wanted, statement) in enumerate(statements()):
        assert (f'taken: {number};' in said) == wanted, statement
    rows = [re.sub(r'\.0(?=\|)', '', row) for row in server.ask(TASKS_QUERY, database='tasks').stdout.splitlines()]
    assert rows == TASKS, rows
    bad = server.ask(insert('team', {**TEAM, 'team_id': 't9', 'slug': 'no blanks'}, literal), database='tasks', check=False)
    assert 'slug_check' in bad.stderr, bad.stderr
    bad = server.ask(insert('task', {**TASK, 'task_id': 'e', 'title': 'E', 'ends': 1}, literal), database='tasks', check=False)
    assert 'ends before it starts' in bad.stderr, bad.stderr
    assert server.ask('SELECT count(*) FROM "task_present"', database='tasks').stdout.strip() == '2'


def sqlite(command, models):
    for model in models:
        text = subprocess.run([*command, model], stdout=subprocess.PIPE, check=True, text=True).stdout
        database = sqlite3.connect(':memory:')
        database.executescript(text)
        if model.endswith('/tasks.dolmen'):
            sqlite_rules(database)
        if not model.endswith('/shop.dolmen'):
            continue
        for table, row in GOOD:
            database.execute(insert(table, row, literal))
        for table, row in BAD:
            try:
                database.execute(insert(table, row, literal))
            except sqlite3.IntegrityError:
                continue
            raise AssertionError(f'{table} takes {row}')
        assert database.execute(KEYS_QUERY).fetchall() == KEYS, database.execute(KEYS_QUERY).fetchall()
        assert database.execute('SELECT "in_stock", "version" FROM "product", "customer"').fetchall() == [(1, 1)]


def snake(name):
    return re.sub('(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z0-9])(?=[A-Z][a-z])', '_', name).lower()


def plain(value):
    """DynamoDB JSON as JSON."""
    (kind, content), = value.items()
    if kind == 'N':
        return float(content) if '.' in content else int(content)
    if kind in ('L', 'M'):
        return [plain(one) for one in content] if kind == 'L' else {name: plain(one) for name, one in content.items()}
    return None if kind == 'NULL' else content


def sqlite_samples(api, command, model, table):
    """Every stored item goes into its entity's table, and the view gives its keys back."""
    database = sqlite3.connect(':memory:')
    database.row_factory = sqlite3.Row
    database.executescript(subprocess.run([*command, model], stdout=subprocess.PIPE, check=True, text=True).stdout)
    keys = [row['name'] for row in database.execute(f'PRAGMA table_info({table}_keys)')][1:]
    stored = []
    for item in api.pages('Scan', {'TableName': table}):
        into = snake(item['EntityType']['S'])
        columns = {row['name'] for row in database.execute(f'PRAGMA table_info("{into}")')}
        row = {snake(name): plain(value) for name, value in item.items() if snake(name) in columns}
        row = {name: json.dumps(value) if isinstance(value, (list, dict)) else value for name, value in row.items()}
        names = ', '.join(f'"{name}"' for name in row)
        database.execute(f'INSERT INTO "{into}" ({names}) VALUES ({", ".join("?" * len(row))})', list(row.values()))
        stored.append(tuple(str(plain(item[key])) if key in item else None for key in keys))
    made = [tuple(None if row[key] is None else str(row[key]) for key in keys)
            for row in database.execute(f'SELECT * FROM {table}_keys')]
    assert len(made) > 100
    for one, other in zip(sorted(stored, key=str), sorted(made, key=str)):
        assert one == other, f'{one}\n{other}'
    assert len(made) == len(stored)


class Postgres:
    """A server of its own, on a socket in a directory; it is stopped by its PID."""

    def __init__(self, directory, programs):
        self.directory = tempfile.mkdtemp(prefix='pg.', dir=directory)
        self.programs = programs
        root = os.getuid() == 0  # which PostgreSQL refuses to be
        self.user = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] if root else []
        if root:
            shutil.chown(self.directory, 'postgres', 'postgres')
        data = os.path.join(self.directory, 'data')
        subprocess.run([*self.user, programs + '/initdb', '-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync',
                        '--encoding=UTF8', '--locale=C'], check=True, stdout=subprocess.DEVNULL, cwd='/')
        self.log = open(os.path.join(self.directory, 'log'), 'w')
        self.process = subprocess.Popen([*self.user, programs + '/postgres', '-D', data, '-c', 'listen_addresses=',
                                         '-c', 'fsync=off', '-c', 'unix_socket_directories=' + self.directory],
                                        stdout=self.log, stderr=self.log, cwd='/')

    def __enter__(self):
        for _ in range(300):
            if self.ask('SELECT 1', check=False).returncode == 0:
                return self
            time.sleep(0.1)
        raise RuntimeError('PostgreSQL did not start')

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        self.log.close()

    def ask(self, text, check=True, database='postgres'):
        result = subprocess.run([self.programs + '/psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-h',
                                 self.directory, '-U', 'postgres', '-d', database, '-P', 'null=\\N', '-f', '-'],
                                input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert not check or result.returncode == 0, result.stderr
        return result


def find_postgres():
    """The directory that has all programs."""
    places = [os.path.dirname(shutil.which('initdb') or '/')]
    places += ['/usr/lib/postgresql/%d/bin' % version for version in range(30, 14, -1)]
    return next((place for place in places
                 if all(os.path.exists(os.path.join(place, name)) for name in ('initdb', 'postgres', 'psql'))), None)


def postgres(directory, files):
    programs = find_postgres()
    try:
        pwd.getpwnam('postgres')
    except KeyError:
        programs = programs if os.getuid() != 0 else None
    if programs is None:
        print('PostgreSQL is not here: the schema is not loaded')
        return
    with Postgres(directory, programs) as server:
        for path in files:
            name = os.path.basename(path)[:-4]
            server.ask(f'CREATE DATABASE "{name}"')
            with open(path) as file:
                server.ask(file.read(), database=name)
        server.ask('\n'.join(insert(table, row, literal) for table, row in GOOD), database='shop')
        # All bad rows in one session: a block that reports each row that was taken.
        blocks = [f"DO $x$ BEGIN {insert(table, row, literal)} RAISE NOTICE 'taken: {number}';\n"
                  f'EXCEPTION WHEN integrity_constraint_violation OR data_exception THEN NULL; END $x$;'
                  for number, (table, row) in enumerate(BAD)]
        taken = server.ask('\n'.join(blocks), database='shop').stderr
        assert 'taken' not in taken, taken
        rows = server.ask(KEYS_QUERY, database='shop').stdout.splitlines()
        expected = ['|'.join('\\N' if cell is None else cell for cell in row) for row in KEYS]
        assert rows == expected, rows
        postgres_rules(server)
        comment = server.ask("SELECT obj_description('customer'::regclass)", database='shop').stdout
        assert 'A customer.' in comment
