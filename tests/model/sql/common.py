"""What the parts of the suite share: a server with a model, projections of it, and two databases that are asked alike."""
import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time

import dolmen

BIN = os.path.join(dolmen.ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))


def run(*command, check=True, **more):
    result = subprocess.run([BIN, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if check and result.returncode != 0:
        raise RuntimeError(f'dolmen {" ".join(command)} ended with {result.returncode}\n{result.stdout[-3000:]}{result.stderr[-3000:]}')
    return result.stdout


@contextlib.contextmanager
def serving(directory, model):
    """A server that has the model; the API, and where it is."""
    data = tempfile.mkdtemp(prefix='data.', dir=directory)
    with dolmen.Server(data, '--publish-files', directory) as server:
        run('apply', model, '--endpoint', server.endpoint)
        yield dolmen.Api(server.endpoint), server.endpoint
    shutil.rmtree(data)


def into(directory, model, url):
    """The model with an address in its `project` rule: the server itself projects it."""
    with open(model) as file:
        text = re.sub(r'^(project [\w, ]+) \{', lambda match: f'{match[1]} into "{url}" {{', file.read(), flags=re.M)
    path = os.path.join(tempfile.mkdtemp(dir=directory), os.path.basename(model))
    with open(path, 'w') as file:
        file.write(text)
    return path


def until(condition, seconds=60):
    """Waits for something that happens by itself; the last answer that was not true is the message."""
    end = time.monotonic() + seconds
    while True:
        try:
            found = condition()
        except (sqlite3.OperationalError, AssertionError) as error:  # there is no table yet
            found = False, error
        if found is True:
            return
        if time.monotonic() > end:
            raise AssertionError(f'it did not happen in time: {found}')
        time.sleep(0.02)


class Sqlite:
    """A file in the directory that the server may write into."""
    dialect = 'sqlite'
    count = 0

    def __init__(self, directory):
        Sqlite.count += 1
        self.path = os.path.join(directory, f'test{Sqlite.count}.db')
        self.url = 'sqlite:' + self.path
        self.served = f'sqlite:test{Sqlite.count}.db'

    def rows(self, query, *values):
        with contextlib.closing(sqlite3.connect(self.path)) as database:
            return [tuple(None if cell is None else str(cell) for cell in row) for row in database.execute(query, values)]

    def script(self, text):
        with contextlib.closing(sqlite3.connect(self.path)) as database:
            database.executescript(text)


class Database:
    """A database of a PostgreSQL server."""
    dialect = 'postgres'
    count = 0

    def __init__(self, server):
        Database.count += 1
        self.server = server
        self.name = f'test{Database.count}'
        server.ask(f'CREATE DATABASE "{self.name}"')
        self.url = self.served = f'postgresql://postgres@/{self.name}?host={server.directory}'

    def rows(self, query, user='postgres'):
        said = self.server.ask('\\pset fieldsep \'\\x1f\'\n\\pset recordsep \'\\x1e\'\n' + query, database=self.name, user=user).stdout
        lines = said.rstrip('\n').split('\x1e') if said.rstrip('\n') else []
        return [tuple(None if cell == '\\N' else cell for cell in line.rstrip('\n').split('\x1f')) for line in lines]

    def script(self, text):
        self.server.ask(text, database=self.name)


def databases(directory, server):
    return [Sqlite(directory)] + ([] if server is None else [Database(server)])


def marshal(value):
    if isinstance(value, bool):
        return {'BOOL': value}
    if isinstance(value, (int, float)):
        return {'N': str(value)}
    if isinstance(value, str):
        return {'S': value}
    if isinstance(value, list):
        return {'L': [marshal(one) for one in value]}
    if value is None:
        return {'NULL': True}
    return {'M': {name: marshal(one) for name, one in value.items()}}


def put(api, table, item):
    api.call('PutItem', {'TableName': table, 'Item': {name: marshal(value) for name, value in item.items()}})
