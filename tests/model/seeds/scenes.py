"""Rules that act later than a story lasts, or elsewhere: each is played on a server of its own, and judged by what became of
the items, the archives and the files.

    rule Job goes 90d after created_at, archived
    rule Event goes 30d after ts, deleted, if {"status": "told"} not {"status": "new"}
    rule Version keeps 10 by version per asset_id, archived
    rule Event is delivered to events.jsonl and marked {"status": "told"}
    rule Step by idempotency_key is not done again for 72h
    rule Change stays as it is, after a Job
    rule project_id divides Job, Version, nobody has Event
    rule object …                  stands in the generated documentation
"""
import datetime
import gzip
import json
import os
import random
import re
import subprocess
import tempfile
import time

from probes import START, SECONDS, Unkept, call, expect, get, ok, plain_item, primary, put, typed_as
from server import BINARY, Server

GOES = re.compile(r'(\w+) goes (\d+)([smhd]) after (\w+), (archived|deleted)(?:, if (\{.*?\}) not (\{.*?\}))?')
KEEPS = re.compile(r'(\w+) keeps (\d+) by (\w+) per (\w+), (archived|deleted)')
DELIVERED = re.compile(r'(\w+) is delivered to (\S+) and marked (\{.*\})')
STAYS = re.compile(r'(\w+) stays as it is, after an? (\w+)')
REPEATED = re.compile(r'(\w+) by (\w+) is not done again for (\d+)([smhd])')
DIVIDES = re.compile(r'(\w+) divides ([\w, ]+?), nobody has ([\w, ]+)')
HOUR = datetime.timedelta(hours=1)
MINUTE = datetime.timedelta(minutes=1)
PATIENCE = 15  # seconds until an event has to be delivered


def written(moment):
    return moment.strftime('%Y-%m-%dT%H:%M:%S.000Z')


def bound(request, tenant):
    """The request, from a proxy that says whose it is."""
    return request.replace(b'\r\n', b'\r\nx-tenant: %s\r\n' % tenant.encode(), 1)


class Stage:
    """A server with everything that rules need, for one model."""

    def __init__(self, promises, model, directory):
        self.promises, self.directory, self.count = promises, directory, 0
        os.mkdir(os.path.join(directory, 'files'))
        self.server = Server(model, '--archive', os.path.join(directory, 'archive'), '--publish-files', os.path.join(directory, 'files'),
                             '--tenant-header', 'x-tenant')

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        self.server.__exit__(*arguments)

    def ask(self, request):
        return self.server.ask([request])[0]

    def item(self, name, **more):
        self.count += 1
        entity = self.promises.entities[name]
        return {**entity.item(900000 + self.count, bare=True), **more}

    def put(self, name, item, tenant=None):
        request = put(self.promises.entities[name].table, typed_as(self.promises.entities[name], item))
        ok(self.ask(bound(request, tenant) if tenant else request))
        return item

    def stored(self, name, item, tenant=None):
        """The item, or None."""
        request = get(self.promises.entities[name], item)
        found = ok(self.ask(bound(request, tenant) if tenant else request))
        return plain_item(found['Item']) if 'Item' in found else None

    def sweep(self, name):
        """Walks over the table until every rule has nothing left to do."""
        table = self.promises.entities[name].table.name
        done = subprocess.run([BINARY, 'sweep', table, '--endpoint', 'http://%s:%d' % self.server.socket.getpeername()[:2]],
                              capture_output=True, text=True, check=False)
        expect(done.returncode == 0, 'a sweep failed: %s' % (done.stderr or done.stdout)[-300:])

    def archived(self, name):
        """The primary keys of items in archives."""
        parts, found = self.promises.entities[name].table.key, set()
        for directory, _, files in os.walk(os.path.join(self.directory, 'archive')):
            for file in files:
                if file.endswith('.gz'):
                    with gzip.open(os.path.join(directory, file), 'rt', encoding='utf-8') as lines:
                        found |= {tuple(plain_item(json.loads(line)['Item'])[part] for part in parts) for line in lines}
        return found

    def is_archived(self, name, item):
        entity = self.promises.entities[name]
        keys = primary(entity, item)
        return tuple(keys[part] for part in entity.table.key) in self.archived(name)

    def hold(self, name):
        """Nothing is delivered from now on, if anything was."""
        self.ask(call('UpdateConsumer', {'TableName': self.promises.entities[name].table.name, 'ConsumerName': name, 'Action': 'PAUSE'}))


# ---- The rules --------------------------------------------------------------------------------------

def delivered(stage, name, file, mark):
    path = os.path.join(stage.directory, 'files', file)
    item = stage.put(name, stage.item(name))
    names = stage.promises.entities[name].in_key()
    end = time.monotonic() + PATIENCE
    while True:
        found = []
        if os.path.exists(path):
            with open(path, encoding='utf-8') as lines:
                found = [json.loads(line) for line in lines if line.endswith('\n')]
        mine = [event for event in found if all(event['item'].get(one) == item[one] for one in names)]
        stored = stage.stored(name, item) or {}
        if mine and all(stored.get(one) == value for one, value in mark.items()):
            break
        expect(time.monotonic() < end, 'not delivered' if not mine else 'not marked: %s' % stored)
        time.sleep(0.02)
    expect(len(mine) == 1 and all(mine[0]['item'].get(one) != value for one, value in mark.items()), 'delivered as %s' % mine)


class Goes:
    """Items of one rule: one that is due at its time, one that is two minutes younger, and one that never is."""

    def __init__(self, match):
        self.name, number, unit, self.after, self.end, if_, not_ = match.groups()
        self.age = datetime.timedelta(seconds=int(number) * SECONDS[unit])
        self.due, self.other = (json.loads(text) if text else {} for text in (if_, not_))

    def begin(self, stage):
        """An hour after the time that counts, so that another time does not."""
        stage.server.set_clock(START + HOUR)
        self.old = stage.put(self.name, stage.item(self.name, **{self.after: written(START)}, **self.due))
        self.young = stage.put(self.name, stage.item(self.name, **{self.after: written(START + 2 * MINUTE)}, **self.due))
        self.never = stage.put(self.name, stage.item(self.name, **{self.after: written(START)}, **self.other)) if self.other else None

    def before(self, stage):
        expect(stage.stored(self.name, self.old), '%s goes before its time' % self.name)

    def behind(self, stage):
        expect(not stage.stored(self.name, self.old), '%s is there after its time' % self.name)
        expect(stage.stored(self.name, self.young), '%s goes, by another time' % self.name)
        expect(not self.never or stage.stored(self.name, self.never), '%s goes that should not' % self.name)
        expect(stage.is_archived(self.name, self.old) == (self.end == 'archived'), '%s is not %s' % (self.name, self.end))
        expect(not stage.is_archived(self.name, self.young), 'a younger %s is archived' % self.name)


def keeps(stage, tenant, name, most, by, per, end):
    """Two more than are kept, in no order; those of another group, of another tenant's and of fewer count for themselves."""
    stage.server.set_clock(START + HOUR)
    shared = {'project_id': 'keeps', per: 'many'}

    def group(more, count):
        numbers = list(range(2, count + 2))  # beyond ten the order of the texts is another
        random.Random(4).shuffle(numbers)
        return {number: stage.put(name, {**stage.item(name), **more, by: number, 'created_at': written(START - number * MINUTE)}) for number in numbers}

    many, few = group(shared, most + 2), group({**shared, per: 'few'}, 3)
    others = group({**shared, tenant: 'other'}, most - 1) if tenant else {}
    stage.sweep(name)
    left = {number for number, item in many.items() if stage.stored(name, item)}
    expect(left == set(range(4, most + 4)), '%s keeps %s' % (name, sorted(left)))
    expect(all(stage.stored(name, item) for item in [*few.values(), *others.values()]), 'a group that is small loses some')
    for number, item in many.items():
        expect(stage.is_archived(name, item) == (number < 4 and end == 'archived'), '%s %d is not %s' % (name, number, end))


def stays(stage, name, cause):
    """What the server has made because of another item can neither be deleted nor changed."""
    stage.put(cause, stage.item(cause))
    entity = stage.promises.entities[name]
    key = entity.table.key
    begins = [entity.keys[part].partition('{')[0] for part in key]
    scanned = ok(stage.ask(call('Scan', {'TableName': entity.table.name})))['Items']
    made = [item for item in scanned if all(item[part].get('S', '').startswith(text) for part, text in zip(key, begins))]
    expect(made, 'there is no %s' % name)
    at = {'TableName': entity.table.name, 'Key': {part: made[0][part] for part in key}}
    for operation, more in (('DeleteItem', {}), ('UpdateItem', {'UpdateExpression': 'SET note = :n', 'ExpressionAttributeValues': {':n': {'S': 'x'}}})):
        status, _, body = stage.ask(call(operation, {**at, **more}))
        expect(status == 400 and name in str(body), '%s of %s: %s' % (operation, name, body))


class Repeated:
    """A write with the same words as one before: it is not done while these are remembered."""

    def __init__(self, match):
        self.name, self.by, number, unit = match.groups()
        self.age = datetime.timedelta(seconds=int(number) * SECONDS[unit])

    def write(self, stage):
        return stage.put(self.name, stage.item(self.name, **{self.by: 'once'}))

    def begin(self, stage):
        stage.server.set_clock(START)
        self.write(stage)

    def before(self, stage):
        expect(not stage.stored(self.name, self.write(stage)), 'done again within its time')

    def behind(self, stage):
        expect(stage.stored(self.name, self.write(stage)), 'not done after its time')


def divides(stage, attribute, names, nobodys):
    """What is a tenant's is there for it alone; what is nobody's is there for no tenant."""
    for name in names:
        item = stage.item(name, **{attribute: 'acme'})
        expect(item.get(attribute) == 'acme', '%s has no %s' % (name, attribute))
        stage.put(name, item, 'acme')
        expect(stage.stored(name, item, 'acme') and stage.stored(name, item), '%s is not seen by its own' % name)
        expect(stage.stored(name, item, 'other') is None, '%s is seen by others' % name)
        status, _, body = stage.ask(bound(put(stage.promises.entities[name].table, typed_as(stage.promises.entities[name], item)), 'other'))
        expect(status == 400, 'another writes %s: %s' % (name, body))
    for name in nobodys:
        item = stage.put(name, stage.item(name))
        expect(stage.stored(name, item) and stage.stored(name, item, 'acme') is None, '%s is a tenant\'s' % name)
    tables = {stage.promises.entities[name].table.name for name in names}
    for table in tables:
        seen = [ok(stage.ask(bound(call('Scan', {'TableName': table, 'Select': 'COUNT'}), tenant)))['Count'] for tenant in ('acme', 'nobody')]
        expect(seen[0] >= len(names) and seen[1] == 0, '%s and %s items are seen' % tuple(seen))


# ---- The whole ----------------------------------------------------------------------------------------

def documentation(model):
    """The rules of a file that nothing acts on."""
    text = subprocess.run([BINARY, 'generate', 'docs', model], stdout=subprocess.PIPE, check=True).stdout.decode()
    return {match.replace('\\|', '|') for match in re.findall(r'^- `(object .*?)`', text, re.MULTILINE)}


def play(stage, rules):
    """(rule, scene) in the order in which they are played: what is delivered, what is divided, and then time goes by."""
    read = {rule: [pattern.fullmatch(rule) for pattern in (DELIVERED, DIVIDES, KEEPS, GOES, REPEATED, STAYS)] for rule in rules}
    tenant = next((match[1][1] for match in read.values() if match[1]), None)
    for rule, match in read.items():
        if match[0]:
            yield rule, lambda match=match[0]: delivered(stage, match[1], match[2], json.loads(match[3]))
    for rule, match in read.items():
        if match[0]:
            stage.hold(match[0][1])
        if match[1]:
            yield rule, lambda match=match[1]: divides(stage, match[1], match[2].split(', '), match[3].split(', '))
        if match[5]:
            yield rule, lambda match=match[5]: stays(stage, match[1], match[2])
        if match[2]:
            yield rule, lambda match=match[2]: keeps(stage, tenant, match[1], int(match[2]), match[3], match[4], match[5])
    timed = {rule: Goes(match[3]) if match[3] else Repeated(match[4]) for rule, match in read.items() if match[3] or match[4]}
    for one in timed.values():
        one.begin(stage)
    for age in sorted({one.age for one in timed.values()}):
        those = [(rule, one) for rule, one in timed.items() if one.age == age]
        for moment, judge in ((age - MINUTE, 'before'), (age + MINUTE, 'behind')):
            stage.server.set_clock(START + moment)
            for name in {stage.promises.entities[one.name].table.name: one.name for _, one in those}.values():
                stage.sweep(name)
            for rule, one in those:
                yield rule, lambda one=one, judge=judge: getattr(one, judge)(stage)
    for rule, match in read.items():
        if not any(match):
            raise ValueError(rule)


def rule_failures(promises, model):
    """The rules that are not kept, each with the reason."""
    stated = {rule for rule in promises.rules if rule.startswith('object ')}
    for rule in sorted(documentation(model).symmetric_difference(stated)):
        yield 'rule', rule + (' is not stated' if rule in stated else ' was not promised')
    acting = [rule for rule in promises.rules if rule not in stated]
    if not acting:
        return
    with tempfile.TemporaryDirectory(prefix='dolmen-rules.') as directory, Stage(promises, model, directory) as stage:
        try:
            for rule, scene in play(stage, acting):
                try:
                    scene()
                except Unkept as reason:
                    yield rule, str(reason)
                except (KeyError, TypeError, ValueError) as reason:  # an answer of another shape
                    yield rule, repr(reason)
        except Unkept as reason:
            yield 'rules', str(reason)
