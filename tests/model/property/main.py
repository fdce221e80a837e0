"""Random models, random writes through every way there is: what a model promises must hold of every item.

Now and then the model changes under the data. After each batch of writes the table is read: each item's keys must be those derived afresh from its attributes (by
design.py, which shares nothing with the server), no unique value may be there twice, and no item may be wrong. Writes
are made good or bad on purpose, so that a good one that is refused, and a bad one that is not, is a failure, too. SEED
replays.
"""
import http.client
import json
import os
import random
import sys
import time
import traceback
from datetime import datetime, timezone
from urllib.parse import urlencode, urlsplit

from design import Model, shown
from dolmen import Api, ApiError
from kinds import normal, number, text
from writes import Write, plain

MODELS = int(os.environ.get('MODELS', '12'))
BATCHES = int(os.environ.get('BATCHES', '8'))
WRITES = 25


class Mismatch(AssertionError):
    pass


class Round:
    def __init__(self, api, seed, round_number):
        self.api = api
        self.r = random.Random(f'{seed}/{round_number}')
        self.model = Model(self.r, f'property-{round_number}')
        self.items = {}  # by primary key, as the server has them
        self.counts = {'good': 0, 'bad': 0}

    def require(self, condition, message, *details):
        if not condition:
            raise Mismatch('\n    '.join([message, *map(str, details)]))

    def attach(self):
        self.api.call('ApplyModel', {'Model': self.model.language()})
        for _ in range(200):
            if self.api.call('DescribeModel', {'TableName': self.model.table})['Status'] == 'ACTIVE':
                return
            time.sleep(0.05)
        raise Mismatch('the model does not become active')

    # ---- Drawing writes ------------------------------------------------------------------------

    def identity(self, item):
        return tuple(item[name]['S'] for name in self.model.key)

    def claims_of(self, entity, item):
        return {(entity.name, a.name, json.dumps(normal(item[a.name], a.forms)))
                for a in entity.attributes if a.unique and a.name in item and 'NULL' not in item[a.name]}

    def taken(self, entity, item, own):
        """Whether another item has a unique value of this one."""
        mine = self.claims_of(entity, item)
        return any(mine & self.claims_of(e, i) for k, i in self.items.items() if k != own and (e := self.model.entity_of(i)))

    def still(self, a, old):
        """Whether the attribute of a stored item cannot change any more: null stands for nothing."""
        return a.immutable and old is not None and a.name in old and not (a.takes_null() and 'NULL' in old[a.name])

    def full_item(self, entity):
        """All that a client must give, and some of what it may."""
        item = {}
        for a in entity.attributes:
            must = not a.optional and a.default is None
            if not a.version and (must or self.r.random() < 0.5):
                item[a.name] = a.good(self.r)
        return item

    def normal_item(self, entity, item):
        return {n: normal(v, entity.by_name[n].forms) if n in entity.by_name else v for n, v in item.items()}

    def keys_of(self, entity, item):
        if self.model.native:
            return {'id': normal(item['id'], entity.by_name['id'].forms)}
        return {n: t.value(self.normal_item(entity, item)) for n, t in entity.keys.items()}

    def known_old(self, entity, key):
        """The stored item, if it is of that entity."""
        old = self.items.get(tuple(v['S'] for v in key.values()))
        return old if old is not None and self.model.entity_of(old) is entity else None

    def put(self):
        entity = self.r.choice(self.model.entities)
        item = self.full_item(entity)
        key = self.keys_of(entity, item)
        own = tuple(v['S'] for v in key.values())
        old = self.known_old(entity, key)
        for a in entity.attributes:
            if self.still(a, old) and a.name in item:
                item[a.name] = old[a.name]
            if a.version and self.r.random() < 0.5:
                item[a.name] = old[a.name] if old is not None and a.name in old else number(1)
        if self.r.random() < 0.7:
            item.update(key)
        elif not self.model.typed:
            item.update(key)
        if self.model.typed and (self.r.random() < 0.6 or self.model.native or any(n not in item for n in self.model.key)):
            item['kind'] = text(entity.name)
        # Immutable defaults may be in the index keys, and an untyped put over another entity's item is still fine.
        complete = all(a.name in item and not a.version for a in entity.attributes)
        if complete and self.r.random() < 0.5:
            made = entity.derive(self.normal_item(entity, item))
            item.update({n: v for n, v in made.items() if v is not None and n not in item})
        if entity.unknown != 'reject' and self.r.random() < 0.2:
            item['extra'] = {'L': [number(1)]}
        claimed = dict(item)
        if not self.model.native and self.r.random() < 0.2 and all(n in item for n in self.model.key):
            for name in entity.fixed:  # they stand in the key
                item.pop(name, None)
        return entity, Write('Put', key, not self.taken(entity, claimed, own), item)

    def spoiled_put(self):
        entity, write = self.put()
        item, choice = write.item, self.r.randrange(6)
        write.good = False
        if choice == 0:
            a = self.r.choice(entity.attributes)
            if a.name in entity.fixed or a.version:
                return None
            item[a.name] = a.bad(self.r)
            write.why = f'{a.name} is of a wrong type'
        elif choice == 1:
            musts = [a.name for a in entity.attributes
                     if not a.optional and a.default is None and not a.version and a.name not in entity.fixed]
            if not musts or self.known_old(entity, write.key) or 'kind' not in item and not self.model.native and 'PK' not in item:
                return None
            name = self.r.choice(musts)
            item.pop(name, None)
            write.why = f'{name} is missing'
        elif choice == 2 and not self.model.native:
            if 'owner' not in item:
                return None
            item.update(write.key)
            item['PK'] = text(item['PK']['S'] + 'x')
            write.why = 'PK is wrong'
        elif choice == 3 and entity.made_entries():
            parts = self.r.choice(list(entity.made_entries().values()))
            item[self.r.choice(list(parts))] = text('\u0001wrong')
            write.why = 'an index key is wrong'
        elif choice == 4 and entity.unknown == 'reject':
            item['extra'] = number(1)
            write.why = 'extra is unknown'
        elif choice == 5 and (foreign := self.foreign(entity, self.items.get(self.identity(write.key), {}))):
            item[self.r.choice(foreign)] = text('foreign')
            write.why = 'an index key is foreign'
        else:
            return None
        return entity, write

    def foreign(self, entity, old):
        """Keys of indexes that the entity has no entry in, and the stored item does not have."""
        return [f'{i}{part}' for i in self.model.made if i not in entity.entries for part in ('PK', 'SK') if f'{i}{part}' not in old]

    def stored(self):
        return self.items[self.r.choice(list(self.items))]

    def update(self):
        if not self.items:
            return None
        old = self.stored()
        entity = self.model.entity_of(old)
        free = [a for a in entity.attributes if a.name not in entity.fixed and not a.version and not self.still(a, old)]
        self.r.shuffle(free)
        sets, removes = {}, []
        for a in free[:self.r.randrange(1, 5)]:
            if a.name in old and (a.optional or a.update) and not a.immutable and self.r.random() < 0.3:
                removes.append(a.name)
            else:
                sets[a.name] = a.good(self.r)
        new = {**{n: v for n, v in old.items() if n not in removes}, **sets}
        if sets and self.r.random() < 0.15:  # the client keeps the index keys itself
            made = entity.derive(self.normal_item(entity, new))
            changed = [n for n in removes if entity.by_name[n].default is not None]
            updates = [a.name for a in entity.attributes if a.update or a.version]
            if not changed and not updates:
                sets.update({n: v for n, v in made.items() if v is not None and n not in self.model.key})
        key = {n: old[n] for n in self.model.key}
        good = not self.taken(entity, new, self.identity(old))
        return (entity, Write('Update', key, good, sets=sets, removes=removes)) if sets or removes else None

    def upsert(self):
        """An update that makes the item."""
        entity, write = self.put()
        if self.identity(write.key) in self.items or self.model.native and self.model.typed and 'kind' not in write.item:
            return None
        sets = {n: v for n, v in write.item.items() if n not in self.model.key}
        return (entity, Write('Update', write.key, write.good, sets=sets)) if sets else None

    def spoiled_update(self):
        if not self.items:
            return None
        old = self.stored()
        entity = self.model.entity_of(old)
        key = {n: old[n] for n in self.model.key}
        choice, sets, removes = self.r.randrange(8), {}, []
        if choice == 0:
            a = self.r.choice(entity.attributes)
            if a.version or a.name in self.model.key:
                return None
            sets[a.name], why = a.bad(self.r), f'{a.name} is of a wrong type'
        elif choice == 1:
            musts = [a.name for a in entity.attributes if not a.optional and not a.update and not a.version
                     and a.name not in entity.fixed and a.name in old]
            if not musts:
                return None
            removes, why = [self.r.choice(musts)], 'a required attribute is removed'
        elif choice == 2 and entity.made_entries():
            parts = self.r.choice(list(entity.made_entries().values()))
            sets[self.r.choice(list(parts))], why = text('\u0001wrong'), 'an index key is wrong'
        elif choice == 3 and not self.model.native:
            if 'owner' in entity.keys['PK'].names():
                sets['owner'], why = text(old['owner']['S'] + 'x'), 'the primary key would change'
        elif choice == 4:
            still = [a for a in entity.attributes if self.still(a, old) and a.name not in self.model.key]
            if still:
                a = self.r.choice(still)
                sets[a.name], why = a.good(self.r), 'it is immutable'
                if normal(sets[a.name], a.forms) == old[a.name] or 'SS' in old[a.name] and set(sets[a.name].get('SS', ())) == set(old[a.name]['SS']):
                    return None
        elif choice == 5 and 'rev' in old:
            sets['rev'], why = number(1000), 'it is not the version'
        elif choice == 6 and (foreign := self.foreign(entity, old)):
            sets[self.r.choice(foreign)], why = text('foreign'), 'an index key is foreign'
        elif choice == 7 and self.model.typed and len(self.model.entities) > 1:
            sets['kind'] = text(self.r.choice([e.name for e in self.model.entities if e is not entity]))
            why = 'it would be of another entity'
        return (entity, Write('Update', key, False, sets=sets, removes=removes, why=why)) if sets or removes else None

    def delete(self):
        if not self.items:
            return None
        old = self.stored()
        return self.model.entity_of(old), Write('Delete', {n: old[n] for n in self.model.key}, True)

    def draw(self):
        ways = [self.put, self.put, self.put, self.update, self.update, self.update, self.upsert, self.spoiled_put, self.spoiled_put,
                self.spoiled_update, self.spoiled_update, self.delete]
        while True:
            drawn = self.r.choice(ways)()
            if drawn is not None:
                return drawn

    # ---- Writing -------------------------------------------------------------------------------

    def read_back(self, write):
        key = {n: write.key[n] for n in self.model.key}
        answer = self.api.call('GetItem', {'TableName': self.model.table, 'Key': key, 'ConsistentRead': True})
        identity = tuple(v['S'] for v in key.values())
        before = self.items.pop(identity, None)
        if 'Item' in answer:
            self.items[identity] = answer['Item']
        return before, answer.get('Item')

    def single(self, entity, write):
        """One write by one of the ways; answers the error, or None."""
        table, r = self.model.table, self.r
        statement = write.statement(table) if r.random() < 0.2 else None
        # INSERT is for new items, UPDATE for old ones.
        if statement is not None and write.kind != 'Delete' and (write.kind == 'Put') == (self.identity(write.key) in self.items):
            statement = None
        if statement is not None and all(n in (write.item or write.key) for n in self.model.key):
            operation, request = 'ExecuteStatement', {'Statement': statement}
        elif r.random() < 0.2 and write.kind != 'Update':
            body = {'PutRequest': {'Item': write.item}} if write.kind == 'Put' else {'DeleteRequest': {'Key': write.key}}
            operation, request = 'BatchWriteItem', {'RequestItems': {table: [body]}}
        elif r.random() < 0.2:
            operation, request = 'TransactWriteItems', {'TransactItems': [{write.kind: write.request(table)}]}
        elif self.data and r.random() < 0.4:
            return self.by_data_api(entity, write)
        else:
            operation, request = write.kind + 'Item', write.request(table)
        try:
            answer = self.api.call(operation, request)
        except ApiError as error:
            return operation, error
        self.require(not answer.get('UnprocessedItems'), 'BatchWriteItem left items', write)
        return operation, None

    def by_data_api(self, entity, write):
        """The same write through /v1, if it is one that JSON can say."""
        # JSON has fewer types, so that a value of a wrong type may be read as one that fits; and null removes.
        values = [*(write.item or {}).values(), *write.sets.values()]
        exists = self.identity(write.key) in self.items
        names = self.model.key if self.model.native else sorted(entity.fixed)
        old = self.items.get(self.identity(write.key), write.item or {})
        kept = [a for a in entity.attributes if a.immutable or a.kind_name == 'nullable']  # by a patch, which merges and puts
        unlike = [
            'type' in write.why, {'NULL': True} in values, 'kind' in write.sets, any(n not in old for n in names),
            write.kind != 'Put' and not exists, any(a.name in write.removes for a in kept), write.why and any('M' in v for v in values),
        ]
        if any(unlike):
            return self.fallback(write)
        query = urlencode({n: shown(old[n]) for n in names})
        path = f'/v1/{self.model.table}/{entity.name}'
        body = {n: plain(v) for n, v in {**(write.item or {}), **write.sets}.items() if n != 'kind'}
        body.update(dict.fromkeys(write.removes))
        if write.kind == 'Put':
            method, target = ('PUT', f'{path}?{query}') if exists or self.r.random() < 0.5 else ('POST', path)
        else:
            method, target = {'Update': 'PATCH', 'Delete': 'DELETE'}[write.kind], f'{path}?{query}'
        status, answer = self.http(method, target, None if method == 'DELETE' else body)
        if status < 300:
            return method, None
        conflict = 'urn:dolmen:problem:conflict' in answer
        name = 'ConditionalCheckFailedException' if conflict else 'ValidationException' if status in (400, 409, 422) else str(status)
        return method, ApiError(status, {'__type': name, 'message': answer})

    def fallback(self, write):
        try:
            self.api.call(write.kind + 'Item', write.request(self.model.table))
        except ApiError as error:
            return write.kind, error
        return write.kind, None

    def http(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.place.hostname, self.place.port, timeout=60)
        connection.request(method, path, None if body is None else json.dumps(body), {'Content-Type': 'application/json'})
        response = connection.getresponse()
        answer = response.status, response.read().decode()
        connection.close()
        return answer

    def judge_outcome(self, way, error, writes):
        good = all(write.good for write in writes)
        self.counts['good' if good else 'bad'] += 1
        if good:
            self.require(error is None, f'{way}: a good write was refused: {error}', *writes)
            return
        self.require(error is not None, f'{way}: a bad write was taken', *writes)
        allowed = {'ValidationException', 'TransactionCanceledException'}
        if any(write.why == 'it is not the version' for write in writes):
            allowed = {'ConditionalCheckFailedException', 'TransactionCanceledException'}
        self.require(error.name in allowed, f'{way}: {error}', *writes)

    def judge_change(self, write, before, after):
        """What must not change did not, and versions count."""
        if before is None or after is None or self.model.entity_of(before) is not self.model.entity_of(after):
            return
        for a in self.model.entity_of(after).attributes:
            if a.default and not a.update and a.name in before and a.name not in {**(write.item or {}), **write.sets}:
                kept = before[a.name] if not a.optional or a.immutable or write.kind == 'Update' and a.name not in write.removes else None
                self.require(after.get(a.name) == kept, f'{a.name} is for new items', write, before, after)
            if self.still(a, before):
                self.require(after.get(a.name) == before[a.name], f'{a.name} has changed', write, before, after)
            if a.update and a.kind_name == 'time' and write.kind == 'Update' and a.name not in write.sets:
                self.require(after[a.name]['S'] >= self.began, f'{a.name} was not set again', write, before, after)
            if a.version and before != after:
                self.require(int(after[a.name]['N']) == int(before[a.name]['N']) + 1, 'the version', write, before, after)

    def one(self):
        entity, write = self.draw()
        way, error = self.single(entity, write)
        self.judge_outcome(way, error, [write])
        before, after = self.read_back(write)
        if error is not None:
            self.require(before == after, f'{way}: a refused write changed the item', write, before, after)
        else:
            self.judge_change(write, before, after)

    def transaction(self):
        drawn, seen, claims = [], set(), set()
        for _ in range(self.r.randrange(2, 6)):
            entity, write = self.draw()
            identity = self.identity(write.key)
            mine = self.claims_of(entity, {**self.items.get(identity, {}), **(write.item or {}), **write.sets})
            if identity in seen or mine & claims:
                continue
            claims |= mine | self.claims_of(entity, self.items.get(identity, {}))
            seen.add(identity)
            drawn.append(write)
        error = None
        try:
            self.api.call('TransactWriteItems', {'TransactItems': [{w.kind: w.request(self.model.table)} for w in drawn]})
        except ApiError as refused:
            error = refused
        # A unique value may be given away by one action and taken by another: then either is right.
        if all(write.good for write in drawn) or any(write.why for write in drawn):
            self.judge_outcome('TransactWriteItems', error, drawn)
        for write in drawn:
            before, after = self.read_back(write)
            self.require(error is None or before == after, 'a canceled transaction changed an item', write, before, after)

    def batch(self):
        drawn, seen, claims = [], set(), set()
        for _ in range(self.r.randrange(2, 10)):
            entity, write = self.r.choice([self.put, self.put, self.delete])() or (None, None)
            if write is None or not write.good or self.identity(write.key) in seen:
                continue
            mine = self.claims_of(entity, {**self.items.get(self.identity(write.key), {}), **(write.item or {})})
            if mine & claims:
                continue
            claims |= mine
            seen.add(self.identity(write.key))
            drawn.append(write)
        if not drawn:
            return
        bodies = [{'PutRequest': {'Item': w.item}} if w.kind == 'Put' else {'DeleteRequest': {'Key': w.key}} for w in drawn]
        error = None
        try:
            self.api.call('BatchWriteItem', {'RequestItems': {self.model.table: bodies}})
        except ApiError as refused:
            error = refused
        self.judge_outcome('BatchWriteItem', error, drawn)
        for write in drawn:
            self.read_back(write)

    # ---- What must hold ------------------------------------------------------------------------

    def check(self):
        stored = self.api.pages('Scan', {'TableName': self.model.table, 'ConsistentRead': True})
        self.require({self.identity(i): i for i in stored} == self.items, 'the table is not what the writes made')
        claimed = {}
        for item in stored:
            wrong = self.model.wrong(item)
            self.require(not wrong, 'a stored item is wrong: ' + '; '.join(wrong), item)
            for claim in self.claims_of(self.model.entity_of(item), item):
                self.require(claim not in claimed, f'{claim} is there twice', item, claimed.get(claim))
                claimed[claim] = item
        for index in self.model.indexes:
            entries = self.api.pages('Scan', {'TableName': self.model.table, 'IndexName': index})
            expected = [self.identity(i) for i in stored if self.model.entity_of(i).is_in(index, i)]
            self.require(sorted(map(self.identity, entries)) == sorted(expected), f'{index} has {len(entries)} entries, not {len(expected)}')

    def evolve(self):
        """Another model of the same data: when it is active, it holds of everything."""
        self.model.evolve()
        self.attach()
        stored = self.api.pages('Scan', {'TableName': self.model.table, 'ConsistentRead': True})
        self.items = {self.identity(item): item for item in stored}
        self.check()

    def run(self, endpoint):
        self.place = urlsplit(endpoint)
        self.began = datetime.now(timezone.utc).strftime('%Y-%m-%dT%H:%M')
        self.attach()
        self.data = self.http('GET', '/v1/openapi.json')[0] == 200
        for batch in range(BATCHES):
            if batch > 0 and batch % 3 == 0:
                self.evolve()
            for _ in range(WRITES):
                self.r.choices([self.one, self.transaction, self.batch], [20, 3, 2])[0]()
            self.check()
        self.api.call('DeleteTable', {'TableName': self.model.table})


def main():
    seed = os.environ.get('SEED') or str(random.SystemRandom().randrange(10 ** 9))
    endpoint = os.environ['DOLMEN_ENDPOINT']
    chosen = [int(os.environ['MODEL'])] if 'MODEL' in os.environ else range(MODELS)
    passed = failed = 0
    totals = {'good': 0, 'bad': 0}
    for round_number in chosen:
        round_ = Round(Api(endpoint), seed, round_number)
        try:
            round_.run(endpoint)
            passed += 1
        except Exception as error:
            failed += 1
            print(f'model {round_number} failed; SEED={seed} MODEL={round_number} replays it\n{round_.model.language()}\n{error}')
            if not isinstance(error, Mismatch):
                traceback.print_exc(file=sys.stdout)
        for name in totals:
            totals[name] += round_.counts[name]
    print(f'seed {seed}: {len(chosen)} models, {totals["good"]} good writes, {totals["bad"]} bad ones')
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
