"""A PostgreSQL of one's own for a suite: in a directory, on a socket there, as an unprivileged user."""
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time


def find_postgres():
    """The directory that has all programs; None if PostgreSQL is not here, or cannot run as anybody."""
    places = [os.path.dirname(shutil.which('initdb') or '/')]
    places += ['/usr/lib/postgresql/%d/bin' % version for version in range(30, 14, -1)]
    found = next((place for place in places
                  if all(os.path.exists(os.path.join(place, name)) for name in ('initdb', 'postgres', 'psql'))), None)
    try:
        pwd.getpwnam('postgres')
    except KeyError:
        return found if os.getuid() != 0 else None
    return found


def children(parent):
    found = []
    for name in os.listdir('/proc'):
        try:
            with open(f'/proc/{name}/stat', encoding='utf-8', errors='replace') as file:
                if name.isdigit() and int(file.read().rpartition(')')[2].split()[1]) == parent:
                    found.append(int(name))
        except (OSError, ValueError, IndexError):
            pass
    return found


class Postgres:
    """It is stopped by its PID. `url` is what a projection goes to."""

    def __init__(self, directory, *settings, fsync=False):
        self.programs = find_postgres()
        self.directory = tempfile.mkdtemp(prefix='pg.', dir=directory)
        os.chmod(directory, 0o755)
        os.chmod(self.directory, 0o755)
        root = os.getuid() == 0  # which PostgreSQL refuses to be
        self.user = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] if root else []
        if root:
            shutil.chown(self.directory, 'postgres', 'postgres')
        self.data = os.path.join(self.directory, 'data')
        self.settings = [*settings, 'listen_addresses=', 'fsync=' + ('on' if fsync else 'off'), 'shared_buffers=64MB',
                         'unix_socket_directories=' + self.directory]
        subprocess.run([*self.user, self.programs + '/initdb', '-D', self.data, '-A', 'trust', '-U', 'postgres',
                        '--no-sync', '--encoding=UTF8', '--locale=C'], check=True, stdout=subprocess.DEVNULL, cwd='/')
        self.log = open(os.path.join(self.directory, 'log'), 'w')
        self.process = None
        self.url = f'postgresql://postgres@/postgres?host={self.directory}'

    def run(self):
        options = [word for setting in self.settings for word in ('-c', setting)]
        self.process = subprocess.Popen([*self.user, self.programs + '/postgres', '-D', self.data, *options],
                                        stdout=self.log, stderr=self.log, cwd='/', start_new_session=True)

    def start(self):
        self.run()
        end = time.monotonic() + 120
        while self.ask('SELECT 1', check=False).returncode != 0:
            if time.monotonic() > end:
                raise RuntimeError('PostgreSQL did not start')
            time.sleep(0.02)
            if self.process.poll() is not None:  # shared memory of a killed one can still be in use for a moment
                self.run()
        return self

    def kill(self):
        """kill -9 of all of its processes, each of which is in a session of its own."""
        self.process.send_signal(signal.SIGSTOP)  # no new ones
        for pid in [self.process.pid, *children(self.process.pid)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)  # fast: connections are cut
            self.process.wait(60)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
        self.log.close()

    def ask(self, text, check=True, database='postgres', user='postgres'):
        result = subprocess.run([self.programs + '/psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-h',
                                 self.directory, '-U', user, '-d', database, '-P', 'null=\\N', '-f', '-'],
                                input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert not check or result.returncode == 0, result.stderr
        return result

    def rows(self, table, order='1', database='postgres'):
        """The rows of a table or query as dictionaries, by way of JSON, numbers as texts."""
        import json
        text = self.ask(f'SELECT row_to_json(r) FROM (SELECT * FROM {table} ORDER BY {order}) AS r',
                        database=database).stdout
        return [json.loads(line, parse_float=str, parse_int=str) for line in text.splitlines()]

    def value(self, query):
        return self.ask(query).stdout.strip()
