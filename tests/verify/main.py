"""`dolmen verify` and `dolmen repair` as a user has them: over directories and servers, healthy and damaged."""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from database import Writers, make, number, text
from dolmen import ROOT, Api, ApiError, Server

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))


def dolmen(*arguments):
    done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=60)
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


# ---- repair -----------------------------------------------------------------------------------------------

def contents(directory):
    """All items of all tables of a directory, and of the indexes, by what identifies them."""
    with Server(directory) as server:
        api = Api(server.endpoint)
        found = {}
        for table in api.call('ListTables', {})['TableNames']:
            found[table] = {json.dumps(item, sort_keys=True) for item in api.pages('Scan', {'TableName': table})}
        for index in ('all', 'some', 'local', 'later') if 'orders' in found else ():
            found['orders.' + index] = {json.dumps(item, sort_keys=True) for item in api.pages(
                'Scan', {'TableName': 'orders', 'IndexName': index})}
        return found


def flip(path, place, bit=4):
    with open(path, 'r+b') as file:
        file.seek(place)
        byte = file.read(1)
        file.seek(place)
        file.write(bytes([byte[0] ^ bit]))


def repair(directory, *expected):
    """Repairs into a new directory, which must be sound; the report and the contents of the new one."""
    before = fingerprint(directory)
    target = directory + '-new'
    code, out, errors = dolmen('repair', directory, '--dry-run', '--json')
    expect(code in expected and not os.path.exists(target), 'dry run', code, out, errors)
    code, out, errors = dolmen('repair', directory, '--to', target, '--json')
    expect(code in expected and json.loads(out)['Lost'] == (code == 3), code, out, errors)
    expect(fingerprint(directory) == before, 'repair has changed the directory')
    expect_sound(verify(target))
    found = contents(target)
    expect_sound(verify(target))
    shutil.rmtree(target)
    expect([name for name in os.listdir(os.path.dirname(directory)) if name.startswith(os.path.basename(directory))]
           == [os.path.basename(directory)], 'something was left behind')
    return json.loads(out), found


def files_of(directory, part, end):
    where = os.path.join(directory, part)
    return [os.path.join(where, name) for name in sorted(os.listdir(where)) if name.endswith(end)]


def copy_of(directory):
    """What the directory holds, without touching it."""
    copy = directory + '-copy'
    shutil.copytree(directory, copy)
    found = contents(copy)
    shutil.rmtree(copy)
    return found


def repair_sound(directory):
    """A directory that lacks nothing comes out as it was."""
    for kill in (True, False):
        inner = os.path.join(directory, str(kill))
        filled(inner, kill)
        truth = copy_of(inner)
        report, found = repair(inner, 0)
        expect(report['DifferenceCount'] == 0 and not report['Lost'], report)
        expect(found == truth)


def repair_log(directory):
    """A damaged record of the log is lost whole; the report names it, and everything else is there."""
    inner = os.path.join(directory, 'data')
    server = Server(inner)
    api = Api(server.endpoint)
    make(api)
    # From here on each write is a record of its own.
    for i in range(200):
        api.call('TransactWriteItems', {'TransactItems': [
            {'Put': {'TableName': 'orders', 'Item': {'pk': text(f'lone{i}'), 'sk': number(n), 'g': text('g'),
                                                     'h': number(i)}}} for n in (1, 2)]})
    server.kill()
    truth = copy_of(inner)
    segment = files_of(inner, 'log', '.log')[-1]
    with open(segment, 'rb') as file:
        place = file.read().find(b'lone100')
    flip(segment, place)
    code, report, _ = verify(inner)
    expect(code == 1 and report['Differences'], report)
    report, found = repair(inner, 3)
    expect(report['MissingRecordCount'] == 1 and len(report['LogDamages']) == 1, report)
    expect(os.path.basename(segment) == report['LogDamages'][0]['File'], report)
    gone = truth['orders'] - found['orders']
    expect(len(gone) == 2 and all('lone100' in item for item in gone), gone)
    expect(found['people'] == truth['people'])
    expect(truth['orders.all'] - found['orders.all'] == gone)


def repair_table(directory):
    """A damaged block of a table file: its keys are gone and no others, and the report names their tables."""
    inner = os.path.join(directory, 'data')
    filled(inner)
    truth = copy_of(inner)
    path = max(files_of(inner, 'db', '.sst'), key=os.path.getsize)
    whole, _ = repair(inner, 0)
    codes, lost_items, mended = set(), 0, 0
    for part in range(1, 12):
        place = os.path.getsize(path) * part // 12
        flip(path, place)
        report, found = repair(inner, 0, 3)
        flip(path, place)
        expect(report['LostRangeCount'] == 1 and len(report['DamagedFiles']) == 1, report)
        # Some blocks of a compressed file hold no key that counts, and one has room for many that begin alike.
        expect(0 <= whole['Keys'] - report['Keys'] < 1000, whole['Keys'], report['Keys'])
        kinds = {(a['Kind'], a.get('Table')) for r in report['LostRanges'] for a in r['Affects']}
        for table in (name for name in truth if '.' not in name):
            gone = truth[table] - found.get(table, set())
            lost_items += len(gone)
            expect(not gone or ('items', table) in kinds, table, len(gone), kinds)
            expect(found.get(table, set()) <= truth[table], table, 'has items that were not there')
        mended += report['DifferenceCount']
        codes.add(report['Lost'])
    expect(lost_items > 0 and mended > 0 and codes == {True, False}, lost_items, mended, codes)


def repair_list(directory):
    """The list of tables is damaged, cut or missing, or a table file is."""
    inner = os.path.join(directory, 'data')
    filled(inner)
    truth = copy_of(inner)
    manifest = [p for p in files_of(inner, 'db', '') if os.path.basename(p).startswith('MANIFEST')][-1]
    for damage in ('flip', 'cut', 'manifest', 'CURRENT'):
        damaged = os.path.join(directory, damage)
        shutil.copytree(inner, damaged)
        path = os.path.join(damaged, 'db', damage if damage == 'CURRENT' else os.path.basename(manifest))
        if damage == 'flip':
            flip(path, os.path.getsize(path) // 2)
        elif damage == 'cut':
            os.truncate(path, os.path.getsize(path) // 2)
        else:
            os.remove(path)
        report, found = repair(damaged, 3)
        expect(report['TableListRebuilt'] and os.path.basename(path) in report['TableListRebuilt'], damage, report)
        expect(found == truth, damage)
    table = files_of(inner, 'db', '.sst')[-1]
    os.remove(table)
    report, found = repair(inner, 3)
    expect([file['File'] for file in report['DamagedFiles']] == [os.path.basename(table)], report)
    expect('No such file' in report['DamagedFiles'][0]['What'], report)
    expect(report['LostRangeCount'] == 1 and 'TableListRebuilt' not in report, report)


def repair_usage(directory):
    filled(directory)
    taken = os.path.join(directory, 'taken')
    os.mkdir(taken)
    for arguments, code, words in (((), 2, 'name the damaged'), ((directory,), 2, '--to'),
                                   ((directory, '--to', 'x', '--dry-run'), 2, '--to'),
                                   ((directory, '--to', taken), 1, 'exists'),
                                   ((taken, '--dry-run'), 1, 'not a data directory')):
        got, out, errors = dolmen('repair', *arguments)
        expect(got == code and words in errors and out == '', arguments, got, out, errors)
    with Server(os.path.join(directory, 'served')):
        code, _, errors = dolmen('repair', os.path.join(directory, 'served'), '--dry-run')
        expect(code == 1 and 'in use' in errors, errors)
    code, out, errors = dolmen('repair', directory, '--dry-run')
    expect(code == 0 and 'would take over' in out and 'nothing was lost' in out, code, out, errors)


TESTS = [online, one_run, offline_after_stop, offline_after_kill, damaged_table, usage, repair_sound, repair_log,
         repair_table, repair_list, repair_usage]


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
