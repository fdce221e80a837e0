"""`dolmen verify` and `dolmen repair` as a user has them: over directories and servers, healthy and damaged."""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback

from database import Writers, make, order
from dolmen import ROOT, Api, ApiError, Server

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))


def dolmen(*arguments):
    done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def verify(*arguments):
    code, out, err = dolmen('verify', *arguments, '--json')
    return code, json.loads(out) if out.strip() else None, err


def fingerprint(directory):
    """Every file with its contents and its time of change."""
    found = {}
    for where, _, files in os.walk(directory):
        for name in files:
            path = os.path.join(where, name)
            with open(path, 'rb') as file:
                found[os.path.relpath(path, directory)] = (os.stat(path).st_mtime_ns,
                                                           hashlib.sha256(file.read()).hexdigest())
    return found


def expect(truth, *what):
    if not truth:
        raise AssertionError(*what)


def expect_sound(outcome):
    code, report, errors = outcome
    expect(code == 0 and report['DifferenceCount'] == 0, code, report and report['Differences'], errors)
    return report


def filled(directory, kill=False):
    server = Server(directory)
    api = Api(server.endpoint)
    make(api)
    api.close()
    server.kill() if kill else server.stop()


# ---- verify -----------------------------------------------------------------------------------------------

def online(directory):
    """A server that is written to all the time has no differences, over and over."""
    with Server(directory) as server:
        api = Api(server.endpoint)
        make(api)
        writers = Writers(server.endpoint)
        reports = [expect_sound(verify('--endpoint', server.endpoint)) for _ in range(4)]
        written = writers.stop()
        expect(written > 100, written)
        checks = {(c['Check'], c.get('Table', ''), c.get('Index', '')) for c in reports[-1]['Checks']}
        for wanted in (('catalog', '', ''), ('records', '', ''), ('trees', '', ''), ('items', 'orders', ''),
                       ('index', 'orders', 'all'), ('index', 'orders', 'some'), ('index', 'orders', 'local'),
                       ('index', 'orders', 'later'), ('vectors', 'orders', 'near'), ('expiry times', 'orders', ''), ('collections', 'orders', ''),
                       ('counters', 'orders', ''), ('counters', 'orders', 'all'), ('change log', 'orders', ''),
                       ('unique values', 'people', '')):
            expect(wanted in checks, wanted, sorted(checks))
        one = expect_sound(verify('--endpoint', server.endpoint, '--table', 'people'))
        expect({c.get('Table') for c in one['Checks']} == {'people'}, one)
        code, _, errors = verify('--endpoint', server.endpoint, '--table', 'nobody')
        expect(code == 1 and 'ResourceNotFound' in errors, code, errors)


def one_run(directory):
    """There is one verification at a time, and it can be stopped and asked for."""
    with Server(directory) as server:
        api = Api(server.endpoint)
        make(api)
        run = api.call('VerifyDatabase', {})
        try:
            second = api.call('VerifyDatabase', {})
            expect(api.call('VerifyDatabase', {'RunId': second['RunId']})['Status'] in ('RUNNING', 'COMPLETE'))
        except ApiError as error:
            expect(error.name == 'LimitExceededException' and 'running already' in error.message, error)
            api.call('VerifyDatabase', {'RunId': run['RunId'], 'Stop': True})
            while api.call('VerifyDatabase', {'RunId': run['RunId']})['Status'] == 'RUNNING':
                time.sleep(0.01)
            again = api.call('VerifyDatabase', {'RunId': run['RunId']})
            expect(again['Status'] in ('STOPPED', 'COMPLETE') and again['DifferenceCount'] == 0, again)
        for request, name in (({'RunId': 'nobody'}, 'ResourceNotFoundException'),
                              ({'Limit': 0}, 'ValidationException'), ({'Limit': 10001}, 'ValidationException')):
            try:
                api.call('VerifyDatabase', request)
                expect(False, request)
            except ApiError as error:
                expect(error.name == name, request, error)


def offline_after_stop(directory):
    filled(directory)
    before = fingerprint(directory)
    report = expect_sound(verify(directory))
    expect(fingerprint(directory) == before, 'verify has changed the directory')
    expect(any(c['Check'] == 'files' for c in report['Checks']), report)
    code, out, errors = dolmen('verify', directory)
    expect(code == 0 and 'ok        index          orders.all: ' in out and errors == '', out, errors)


def offline_after_kill(directory):
    filled(directory, kill=True)
    before = fingerprint(directory)
    expect_sound(verify(directory))
    expect(fingerprint(directory) == before, 'verify has changed the directory')
    with Server(directory) as server:
        expect(Api(server.endpoint).call('DescribeTable', {'TableName': 'orders'})['Table']['ItemCount'] > 100)


def damaged_table(directory):
    """One flipped bit in a table file: its name is told."""
    filled(directory)
    tables = sorted(name for name in os.listdir(os.path.join(directory, 'db')) if name.endswith('.sst'))
    path = os.path.join(directory, 'db', tables[-1])
    with open(path, 'r+b') as file:
        file.seek(os.path.getsize(path) // 3)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 4]))
    code, report, _ = verify(directory)
    expect(code == 1, report)
    found = [d for d in report['Differences'] if d['Check'] == 'files' and d['File'] == tables[-1]]
    expect(found and 'checksum mismatch' in found[0]['What'], report['Differences'])
    code, out, _ = dolmen('verify', directory, '--limit', '1')
    expect(code == 1 and 'DIFFERENT' in out and 'difference' in out, out)


def usage(directory):
    for arguments in ((), (directory, '--endpoint', 'http://127.0.0.1:1'), (directory, 'more'),
                      (directory, '--limit', '0'), (directory, '--nothing')):
        code, out, errors = dolmen('verify', *arguments)
        expect(code == 2 and out == '' and 'verify --help' in errors, arguments, code, out, errors)
    for path, words in ((os.path.join(directory, 'nothing'), 'cannot open'), (directory, 'not a data directory')):
        code, out, errors = dolmen('verify', path)
        expect(code == 1 and words in errors, code, errors)
    expect(os.listdir(directory) == [], os.listdir(directory))
    code, _, errors = dolmen('verify', '--endpoint', 'http://127.0.0.1:1')
    expect(code == 1 and errors, errors)
    with Server(directory):
        code, _, errors = dolmen('verify', directory)
        expect(code == 1 and 'in use' in errors and '--endpoint' in errors, errors)


TESTS = [online, one_run, offline_after_stop, offline_after_kill, damaged_table, usage]


def main():
    wanted = sys.argv[1:]
    passed = failed = 0
    for test in TESTS:
        if wanted and test.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix='dolmen-verify-') as directory:
            try:
                test(directory)
                passed += 1
            except Exception:
                failed += 1
                print(f'{test.__name__} failed:')
                traceback.print_exc(file=sys.stdout)
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
