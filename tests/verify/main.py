"""`dolmen verify` and `dolmen repair` as a user has them: over directories and servers, healthy and damaged."""
import base64
import hashlib
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request

from database import Writers, make, number, text
from dolmen import ROOT, Api, ApiError, Server

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))


def dolmen(*arguments):
    """Runs a command, which leaves nothing in the directory for temporary files."""
    with tempfile.TemporaryDirectory() as temporary:
        done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=60,
                              env={**os.environ, 'TMPDIR': temporary})
        expect(os.listdir(temporary) == [], os.listdir(temporary))
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
    code, out, errors = dolmen('verify', directory, '--table', 'nobody')
    expect(code == 1 and out == '' and "has no table 'nobody'" in errors, code, out, errors)


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
    try:
        return contents(copy)
    finally:
        shutil.rmtree(copy)


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


def marked(directory, count=1500):
    """A table and an index in one file; in each item, and in each entry, bytes that stand nowhere else."""
    source = random.Random(5)
    unique = lambda: bytes(source.randrange(1, 255) for _ in range(16))
    marks = {f'{i:05}': (unique(), unique()) for i in range(count)}
    binary = lambda value: {'B': base64.b64encode(value).decode()}
    with Server(directory) as server:
        api = Api(server.endpoint)
        api.call('CreateTable', {
            'TableName': 'stones', 'BillingMode': 'PAY_PER_REQUEST',
            'AttributeDefinitions': [{'AttributeName': 'pk', 'AttributeType': 'S'}, {'AttributeName': 'g', 'AttributeType': 'B'}],
            'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}],
            'GlobalSecondaryIndexes': [{'IndexName': 'by-g', 'KeySchema': [{'AttributeName': 'g', 'KeyType': 'HASH'}],
                                        'Projection': {'ProjectionType': 'KEYS_ONLY'}}]})
        items = [{'pk': text(pk), 'g': binary(g), 'mark': binary(mark)} for pk, (mark, g) in marks.items()]
        for first in range(0, count, 25):
            api.call('BatchWriteItem', {'RequestItems': {
                'stones': [{'PutRequest': {'Item': item}} for item in items[first:first + 25]]}})
    return marks


def block_of(report):
    """Where the one damaged block stands, as the report says."""
    expect(report['LostRangeCount'] == 1 and len(report['DamagedFiles']) == 1, report)
    found = re.search(r'offset (\d+) size (\d+)$', report['DamagedFiles'][0]['What'])
    return range(int(found[1]), int(found[1]) + int(found[2]))


def repair_table(directory):
    """A damaged block of a table file: the items in it are gone and no others; entries of an index are made again.

    A block may as well hold nothing but deletions: so the damage is done where items stand. A few marks stand in the
    dictionary of the file, behind all blocks, and not where their items do."""
    inner = os.path.join(directory, 'data')
    marks = marked(inner)
    path, = files_of(inner, 'db', '.sst')
    with open(path, 'rb') as file:
        data = file.read()
    # At its ends a mark may have become one with what is beside it, by compression.
    items = {pk: data.find(mark[4:12]) for pk, (mark, _) in marks.items()}
    entries = {pk: data.rfind(g[4:12]) for pk, (_, g) in marks.items()}
    chosen = slice(100, 1200, 350)
    expect(min(items.values()) > 0 and sorted(items.values())[1200] < sorted(entries.values())[100],
           'the items stand before the entries')
    whole, _ = repair(inner, 0)
    for places, lost in ((items, True), (entries, False)):
        for place in sorted(places.values())[chosen]:
            flip(path, place)
            report, found = repair(inner, 3 if lost else 0)
            flip(path, place)
            inside = {pk for pk in marks if places[pk] in block_of(report)}
            fewer = whole['Keys'] - report['Keys']
            expect(inside and len(inside) <= fewer <= len(inside) * 3 / 2 + 1, whole['Keys'], report, inside)
            gone = set(marks) - {json.loads(item)['pk']['S'] for item in found['stones']}
            expect(len(gone) == fewer and inside <= gone if lost else not gone, inside, gone)
            affected = [(a['Kind'], a['Table'], a['Lost']) for r in report['LostRanges'] for a in r['Affects']]
            expect(affected == [('items' if lost else 'index', 'stones', lost)], report)
            mended = {c['Check']: c['Differences'] for c in report['Checks'] if c['Check'] in ('items', 'index')}
            expect(mended == {'items': 0, 'index': fewer}, mended, fewer)


def at_rest(server):
    """Waits until a store has merged what it wants to merge."""
    while True:
        with urllib.request.urlopen(server.endpoint + '/metrics') as answer:
            if re.search(r'^dolmen_store_compaction_pending_bytes(?:\{\})? 0$', answer.read().decode(), re.MULTILINE):
                return
        time.sleep(0.05)


def several_tables(directory):
    """Items that do not compress, in several table files of one level, of which two begin with an item. Returns their sort keys.

    How much becomes a table, and when tables are merged, is the store's business: items are added until it is so, and stays so."""
    sorts, pad, before = [], random.Random(9), None
    while len(sorts) < 2000:
        with Server(directory, '--write-buffer', '24M') as server:
            api = Api(server.endpoint)
            if not sorts:
                api.call('CreateTable', {
                    'TableName': 'stones', 'BillingMode': 'PAY_PER_REQUEST',
                    'AttributeDefinitions': [{'AttributeName': n, 'AttributeType': 'S'} for n in ('pk', 'sk')],
                    'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}, {'AttributeName': 'sk', 'KeyType': 'RANGE'}]})
            for _ in range(0 if before else 230 if not sorts else 60):
                sorts.append(f's{len(sorts):04}')
                value = base64.b64encode(pad.randbytes(390000)).decode()
                api.call('PutItem', {'TableName': 'stones', 'Item': {'pk': text('p'), 'sk': text(sorts[-1]), 'v': {'B': value}}})
            at_rest(server)
        files = files_of(directory, 'db', '.sst')
        if files == before:
            return set(sorts)
        before = files if len(first_items(directory)) >= 2 else None
    raise AssertionError('tables do not come to rest')


def stones_of(directory):
    with Server(directory) as server:
        return {item['sk']['S'] for item in Api(server.endpoint).pages(
            'Scan', {'TableName': 'stones', 'ProjectionExpression': 'sk'})}


def first_items(directory):
    """The sort keys of the items that table files begin with, by path."""
    first = {}
    for path in files_of(directory, 'db', '.sst'):
        with open(path, 'rb') as file:
            found = re.search(rb's\d{4}', file.read(32))  # the store's own note, which a start reads, would stand before it
        if found:
            first[path] = found[0].decode()
    return first


def first_blocks(directory):
    """The first block of a table file is where readers come from the file before: damage there is seen, told, and costs
    no more than what stands in it."""
    target = os.path.join(directory, 'new')
    inner = os.path.join(directory, 'data')
    sorts = several_tables(inner)
    expect(stones_of(inner) == sorts)
    first = first_items(inner)
    expect(len(first) >= 2, 'few tables begin with an item', first)
    for path, sort in first.items():
        name = os.path.basename(path)
        flip(path, 1000)
        try:
            stones_of(inner)
            expect(False, 'a scan left out what it could not read', sort)
        except ApiError as error:
            expect(error.status == 500 and name in str(error), error)
        code, report, _ = verify(inner)
        told = [d.get('File', d['Check']) for d in report['Differences']]
        expect(code == 1 and name in told and 'items' in told, told)
        code, out, errors = dolmen('repair', inner, '--to', target, '--json')
        report = code == 3 and json.loads(out)
        expect(report and [f['File'] for f in report['DamagedFiles']] == [name], code, out, errors)
        expect(report['LostRangeCount'] == 1 and report['LostRanges'][0]['Affects'][0]['Table'] == 'stones', report)
        expect(stones_of(target) == sorts - {sort}, sort, sorts - stones_of(target))
        shutil.rmtree(target)
        flip(path, 1000)
    expect_sound(verify(inner))


def expect_refused(directory, words):
    """A server does not start, and names what is wrong."""
    try:
        Server(directory).kill()
        expect(False, 'a server starts on a damaged directory')
    except RuntimeError as error:
        expect(words in str(error), error)


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
    footer = os.path.getsize(table) - 12
    flip(table, footer)
    expect_refused(inner, f'db/{os.path.basename(table)} is damaged')
    flip(table, footer)
    os.remove(table)
    expect_refused(inner, f'db/{os.path.basename(table)} is missing')
    report, found = repair(inner, 3)
    expect([file['File'] for file in report['DamagedFiles']] == [os.path.basename(table)], report)
    expect('No such file' in report['DamagedFiles'][0]['What'] and '.ldb' not in report['DamagedFiles'][0]['What'], report)
    expect(report['LostRangeCount'] == 1 and 'TableListRebuilt' not in report, report)


def unpromised(directory):
    """The path of the list of tables, and the bytes of it behind what log/promise says is whole."""
    with open(os.path.join(directory, 'db', 'CURRENT'), encoding='ascii') as file:
        path = os.path.join(directory, 'db', file.read().strip())
    with open(os.path.join(directory, 'log', 'promise'), 'rb') as file:
        values = [value >> 16 for value in struct.unpack('<6Q', file.read(48))]
    return path, range(values[3], os.path.getsize(path))


def compacted(directory):
    """A killed server whose tables were merged since its list of them was promised."""
    server = Server(directory, '--write-buffer', '6M')
    api = Api(server.endpoint)
    api.call('CreateTable', {
        'TableName': 'stones', 'BillingMode': 'PAY_PER_REQUEST',
        'AttributeDefinitions': [{'AttributeName': 'pk', 'AttributeType': 'S'}],
        'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}]})
    source = random.Random(3)
    for i in range(20000):
        api.call('PutItem', {'TableName': 'stones', 'Item': {'pk': text(str(source.randrange(1000))),
                                                             'pad': text(source.randbytes(20000).hex())}})
        if i > 700 and len(unpromised(directory)[1]) > 200:
            break
    server.kill()
    path, tail = unpromised(directory)
    expect(len(tail) > 200, path, tail)
    return path, tail


def repair_list_tail(directory):
    """An edit that was never promised is damaged, not torn, if the tables that it removed are gone: the list is named, and
    made anew out of tables that are all there."""
    inner = os.path.join(directory, 'data')
    path, tail = compacted(inner)
    truth = copy_of(inner)
    refused = 0
    for place in (tail[0] + 6, tail[0] + 30, tail[len(tail) // 2], tail[-20]):
        damaged = os.path.join(directory, 'damaged')
        shutil.copytree(inner, damaged)
        flip(os.path.join(damaged, 'db', os.path.basename(path)), place)
        try:
            found = copy_of(damaged)
        except RuntimeError as error:
            refused += 1
            expect(re.search(r'db/MANIFEST-\d+ is damaged at byte \d+: ', str(error)), error)
            report, found = repair(damaged, 3)
            expect(report['TableListRebuilt'] and not report['LostRanges'], report)
        expect(found == truth, place, {name: len(items) for name, items in found.items()})
        shutil.rmtree(damaged)
    expect(refused > 0, 'the list was damaged where that does not matter')


def repair_doubled_list(directory):
    """A list that contradicts itself is refused before RocksDB reads it, and made anew."""
    inner = os.path.join(directory, 'data')
    path, _ = compacted(inner)
    truth = copy_of(inner)
    with open(path, 'rb') as file:
        whole = file.read()
    for doubled in (whole, whole[:len(whole) // 2]):
        with open(path, 'wb') as file:
            file.write(whole + doubled)
        try:
            copy_of(inner)
            expect(False, 'a server starts on a list that contradicts itself')
        except RuntimeError as error:
            expect(f'{os.path.basename(path)} is damaged at byte {len(whole)}: another list begins there' in str(error), error)
        code, report, errors = verify(inner)
        expect(code == 1 and 'another list begins' in report['Differences'][0]['What'], code, report, errors)
        report, found = repair(inner, 3)
        expect(report['TableListRebuilt'] and found == truth, report)


def repair_usage(directory):
    filled(directory)
    taken = os.path.join(directory, 'taken')
    os.mkdir(taken)
    for arguments, code, words in (((), 2, 'name the damaged'),
                                   ((directory, '--to', 'x', '--dry-run'), 2, '--to'),
                                   ((directory, '--to', taken), 1, 'exists'),
                                   ((directory, '--to', os.path.join(directory, 'db', 'new')), 1, 'is inside the damaged'),
                                   ((directory, '--to', os.path.join(directory, 'new')), 1, 'is inside the damaged'),
                                   ((taken, '--dry-run'), 1, 'not a data directory')):
        got, out, errors = dolmen('repair', *arguments)
        expect(got == code and words in errors and out == '', arguments, got, out, errors)
    with Server(os.path.join(directory, 'served')):
        code, _, errors = dolmen('repair', os.path.join(directory, 'served'), '--dry-run')
        expect(code == 1 and 'in use' in errors, errors)
    code, out, errors = dolmen('repair', directory, '--dry-run')
    expect(code == 0 and 'would take over' in out and 'nothing was lost' in out, code, out, errors)


def repair_beside(directory):
    """Without --to the new directory stands beside the damaged one; a second one is not written over it."""
    inner = os.path.join(directory, 'database')
    filled(inner)
    code, out, errors = dolmen('repair', inner + '//')
    expect(code == 0 and f'into {inner}-repaired;' in out, code, out, errors)
    code, out, errors = dolmen('verify', inner + '-repaired')
    expect(code == 0, code, out, errors)
    code, out, errors = dolmen('repair', inner)
    expect(code == 1 and 'exists' in errors and '--to' in errors, code, out, errors)


def beside(path):
    """What stands beside a path and begins with its name."""
    return sorted(name for name in os.listdir(os.path.dirname(path)) if name.startswith(os.path.basename(path)))


def repair_ended(directory):
    """A repair that is ended leaves nothing, and one that is killed nothing that a server takes for a database."""
    inner, target = os.path.join(directory, 'data'), os.path.join(directory, 'new')
    compacted(inner)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        process = subprocess.Popen([BINARY, 'repair', inner, '--to', target], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not any(os.path.exists(os.path.join(directory, name, 'new', 'FORMAT.unfinished'))
                                                 for name in beside(target)):
            pass
        process.send_signal(number)
        if process.wait(60) == -number:  # else it was done before
            expect(not os.path.exists(target), 'an unfinished directory has the name of a finished one')
            expect(number == signal.SIGKILL or beside(target) == [], number, beside(target))
        for name in beside(target):
            for place in (os.path.join(directory, name), os.path.join(directory, name, 'new')):
                if name != 'new' and os.path.isdir(place):
                    try:
                        Server(place).kill()
                        expect(False, 'a server starts on', place)
                    except RuntimeError:
                        pass
        if number == signal.SIGKILL and beside(target):
            code, out, errors = dolmen('repair', inner, '--to', target)
            expect(code in (0, 3) and f'{target}.unfinished-' in errors and 'interrupted' in errors, code, out, errors)
        for name in beside(target):
            shutil.rmtree(os.path.join(directory, name))


def repair_rest(directory):
    """What a database has beside its store is copied."""
    inner = os.path.join(directory, 'data')
    filled(inner)
    for place in ('buckets/one/two', 'kinesis'):
        os.makedirs(os.path.join(inner, place))
        with open(os.path.join(inner, place, 'file'), 'w', encoding='ascii') as file:
            file.write(place)
    before = fingerprint(inner)
    code, out, errors = dolmen('repair', inner)
    expect(code == 0, code, out, errors)
    for place in ('buckets/one/two', 'kinesis'):
        with open(os.path.join(inner + '-repaired', place, 'file'), encoding='ascii') as file:
            expect(file.read() == place)
    expect(fingerprint(inner) == before, 'repair has changed the directory')


def restored(server, source, instant):
    """What a table was at an instant, by key."""
    api = Api(server.endpoint)
    api.call('RestoreTableToPointInTime', {'SourceTableName': source, 'TargetTableName': 'restored', 'RestoreDateTime': instant})
    while api.call('DescribeTable', {'TableName': 'restored'})['Table']['TableStatus'] != 'ACTIVE':
        time.sleep(0.01)
    return {item['pk']['S']: item['mark'] for item in api.pages('Scan', {'TableName': 'restored'})}


def repair_change_log(directory):
    """Where entries of a change log are lost, recovery and streams begin behind them, and the report says so."""
    inner, target = os.path.join(directory, 'data'), os.path.join(directory, 'data-repaired')
    source = random.Random(7)
    unique = lambda: source.randbytes(400)
    binary = lambda value: {'B': base64.b64encode(value).decode()}
    marks = [{f'{i:03}': unique() for i in range(300)} for _ in range(3)]
    with Server(inner) as server:
        api = Api(server.endpoint)
        api.call('CreateTable', {
            'TableName': 'stones', 'BillingMode': 'PAY_PER_REQUEST',
            'AttributeDefinitions': [{'AttributeName': 'pk', 'AttributeType': 'S'}],
            'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}],
            'StreamSpecification': {'StreamEnabled': True, 'StreamViewType': 'OLD_IMAGE'}})
        api.call('UpdateContinuousBackups', {'TableName': 'stones', 'PointInTimeRecoverySpecification': {
            'PointInTimeRecoveryEnabled': True}})
        instants = []
        for version in marks:
            for pk, mark in version.items():
                api.call('PutItem', {'TableName': 'stones', 'Item': {'pk': text(pk), 'mark': binary(mark)}})
            instants.append(time.time() + 0.001)
            while time.time() < instants[-1] + 0.001:  # an instant that no other write has
                api.call('PutItem', {'TableName': 'stones', 'Item': {'pk': text('last'), 'mark': binary(unique())}})
    path, = files_of(inner, 'db', '.sst')
    with open(path, 'rb') as file:
        place = file.read().find(marks[1]['100'][100:108])  # what was overwritten is in the log alone
    expect(place > 0)
    flip(path, place)
    code, out, errors = dolmen('repair', inner)
    expect(code == 3 and 'lost: keys of change log stones' in out, code, out, errors)
    since = re.search(r'^cut: changes of stones before (\S+), .* point-in-time recovery begin there$', out, re.M)
    expect(since, out)
    with Server(target) as server:
        api = Api(server.endpoint)
        described = api.call('DescribeContinuousBackups', {'TableName': 'stones'})['ContinuousBackupsDescription']
        earliest = described['PointInTimeRecoveryDescription']['EarliestRestorableDateTime']
        expect(instants[0] < earliest < instants[2], instants, earliest)
        try:
            restored(server, 'stones', instants[0])
            expect(False, 'a table is restored to an instant that is lost')
        except ApiError as error:
            expect(error.name == 'InvalidRestoreTimeException', error)
        streams = Api(server.endpoint, service='DynamoDBStreams_20120810.')
        stream = streams.call('ListStreams', {'TableName': 'stones'})['Streams'][0]['StreamArn']
        shards = streams.call('DescribeStream', {'StreamArn': stream})['StreamDescription']['Shards']
        iterator = streams.call('GetShardIterator', {'StreamArn': stream, 'ShardId': shards[0]['ShardId'],
                                                     'ShardIteratorType': 'TRIM_HORIZON'})['ShardIterator']
        first = streams.call('GetRecords', {'ShardIterator': iterator})['Records'][0]['dynamodb']
        expect(first['ApproximateCreationDateTime'] >= int(earliest), first, earliest)
        try:
            streams.call('GetShardIterator', {
                'StreamArn': stream, 'ShardId': shards[0]['ShardId'], 'ShardIteratorType': 'AT_SEQUENCE_NUMBER',
                'SequenceNumber': shards[0]['SequenceNumberRange']['StartingSequenceNumber']})
            expect(False, 'a stream begins where it is lost')
        except ApiError as error:
            expect(error.name == 'TrimmedDataAccessException', error)
        last = restored(server, 'stones', earliest + 0.001)
        for pk, mark in last.items():
            expect(pk == 'last' or mark in (binary(marks[1][pk]), binary(marks[2][pk])), pk)
    expect_sound(verify(target))


TESTS = [online, one_run, offline_after_stop, offline_after_kill, damaged_table, usage, repair_sound, repair_log,
         repair_table, first_blocks, repair_list, repair_list_tail, repair_doubled_list, repair_usage, repair_beside, repair_ended,
         repair_rest, repair_change_log]


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
