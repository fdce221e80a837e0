"""Probes out of promises: for each one, requests and a judge of their answers.

The requests are made once and do not depend on the server they are sent to, so that a thousand of them cost little
each time. Every probe has items of its own. `early` requests are sent first; then the clock goes on by an hour, and the
`late` ones follow: what is set again at each write differs by that hour.
"""
import datetime
import re
from urllib.parse import urlencode

from promises import dump, filled, item_of, names_in, plain_item, raw_in

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
LATER = START + datetime.timedelta(hours=1)
AUTHORIZATION = ('AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, '
                 'SignedHeaders=host;x-amz-date;x-amz-target, Signature=' + '0' * 64)
HEAD = ('POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.%s\r\nX-Amz-Date: 20260101T000000Z\r\n'
        'Content-Type: application/x-amz-json-1.0\r\nAuthorization: ' + AUTHORIZATION + '\r\nContent-Length: %d\r\n\r\n')
UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
SECONDS = {'s': 1, 'm': 60, 'h': 3600, 'd': 86400}


def call(operation, request):
    body = dump(request).encode()
    return (HEAD % (operation, len(body))).encode() + body


def http(method, target, body=None):
    data = b'' if body is None else dump(body).encode()
    return ('%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n'
            % (method, target, len(data))).encode() + data


def moment(value):
    """Seconds since 1970 of a timestamp or an epoch."""
    if isinstance(value, (int, float)):
        return value
    return datetime.datetime.fromisoformat(value.replace('Z', '+00:00')).timestamp()


class Probe:
    def __init__(self, about, title, early, judge, late=()):
        self.about, self.title, self.early, self.late, self.judge = about, title, list(early), list(late), judge

    def __repr__(self):
        return '%s: %s' % (self.about, self.title)


class Unkept(Exception):
    """A promise that was not kept."""


def expect(kept, what):
    if not kept:
        raise Unkept(what)


def ok(answer):
    status, _, body = answer
    expect(status in (200, 201), 'refused: %s' % body)
    return body


def refused(answer, name):
    status, _, body = answer
    expect(status == 400, 'accepted')
    expect(name in str(body), '%s is not named in: %s' % (name, body))


def same(stored, expected):
    if stored != expected:
        names = sorted(name for name in {**stored, **expected} if stored.get(name) != expected.get(name))
        raise Unkept('; '.join('%s is %r, not %r' % (name, stored.get(name), expected.get(name)) for name in names))


def check_now(value, type_, since):
    if type_.fits[0] == 1900000000:
        expect(isinstance(value, int), 'no epoch: %r' % value)
    else:
        expect(re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', str(value)), 'no time: %r' % value)
    expect(0 <= moment(value) - since.timestamp() < 1800, 'not the time of the write: %r' % value)


def check_default(attribute, item, since=START):
    """Is what the server filled in what was promised?"""
    text, value = attribute.default, item.get(attribute.name)
    sum_ = re.fullmatch(r'(\w+) \+ (\d+)([smhd])', text)
    made = re.fullmatch(r'(?:"(.*)" )?uuid', text)
    if text == 'now':
        check_now(value, attribute.type, since)
    elif made:
        expect(re.fullmatch((made[1] or '') + UUID, str(value)), '%s is no uuid: %r' % (attribute.name, value))
    elif text == 'ulid':
        expect(re.fullmatch('[0-9A-HJKMNP-TV-Z]{26}', str(value)), '%s is no ulid: %r' % (attribute.name, value))
    elif text.startswith('lower(trim('):
        wanted = item[text[11:-2]].strip().lower()
        expect(value == wanted, '%s is %r, not %r' % (attribute.name, value, wanted))
    elif sum_:
        wanted = int(moment(item[sum_[1]])) + int(sum_[2]) * SECONDS[sum_[3]]
        expect(value == wanted, '%s is %r, not %r' % (attribute.name, value, wanted))
    elif text in item and not text.startswith('"'):
        expect(value == item[text], '%s is %r, not %r' % (attribute.name, value, item[text]))
    else:
        expect(value == parse(text) and type(value) is type(parse(text)), '%s is %r, not %s' % (attribute.name, value, text))


def check_schema(place, type_, schema, schemas):
    """The values of enumerations, at any depth."""
    if '$ref' in schema:
        return check_schema(place, type_, schemas[schema['$ref'].split('/')[-1]], schemas)
    options = [one for one in schema.get('anyOf', []) if one != {'type': 'null'}]
    if len(options) == 1:  # an optional attribute may be null
        return check_schema(place, type_, options[0], schemas)
    if type_.literals:
        found = set(schema.get('enum', [schema.get('const')])) - {None}
        expect(found == set(type_.literals), '%s may be %s' % (place, sorted(map(str, found))))
    for name, inner in type_.within.items():
        deeper = schema.get(name) if name in ('items', 'additionalProperties') else schema.get('properties', {}).get(name)
        expect(deeper is not None, '%s/%s is not described' % (place, name))
        check_schema('%s/%s' % (place, name), inner, deeper, schemas)


def parse(text):
    import json
    return json.loads(text)


class Maker:
    """All probes of one file of promises."""

    def __init__(self, promises):
        self.promises, self.count, self.probes, self.before = promises, 0, [], []
        for table in promises.tables.values():
            self.of_table(table)
        for access in promises.accesses:
            self.of_access(access)
        for title, steps in promises.examples:
            Story(self, title, steps)
        for entity in promises.entities.values():
            self.of_entity(entity)
        for entity in promises.entities.values():
            self.of_references(entity)

    def of_references(self, entity):
        """What the items that were sent refer to is there before."""
        seen = set()
        for name, attributes in entity.references:
            target = self.promises.entities[name]
            for item in entity.sent:
                key = {other: item.get(own) for own, other in attributes.items()}
                if None in key.values() or str(key) in seen or any(not isinstance(value, str) for value in key.values()):
                    continue
                seen.add(str(key))
                self.count += 1
                # They come late in lists by time, so that what probes look for is still found.
                times = {name: '2098-01-01T00:00:00.000Z' for name, one in target.attributes.items()
                         if one.default == 'now' and one.type.name == 'timestamp'}
                self.before.append(put(target.table, typed_as(target, {**target.item(self.count, bare=True), **times, **key})))

    def add(self, *arguments, **more):
        self.probes.append(Probe(*arguments, **more))

    def item(self, entity, bare=False):
        """A new item: what tells it from others is its own, all else is the same each time."""
        self.count += 1
        own, item = entity.in_key(), entity.item(self.count, bare)
        return {name: value if name in own or entity.attributes[name].unique or entity.attributes[name].used or name == entity.softdelete else entity.attributes[name].type.fits[0]
                for name, value in item.items()}

    # ---- Tables ----

    def of_table(self, table):
        name = {'TableName': table.name}

        def judge(answers, _):
            described, ttl, backups, model = (ok(answer) for answer in answers)
            self.judge_table(table, described['Table'])
            status = ttl['TimeToLiveDescription']
            expect(status.get('AttributeName') == table.ttl, 'the ttl is %s' % status)
            recovery = backups['ContinuousBackupsDescription']['PointInTimeRecoveryDescription']['PointInTimeRecoveryStatus']
            expect(recovery == ('ENABLED' if table.recovery == 'on' else 'DISABLED'), 'recovery is ' + recovery)
            expect(set(model['Entities']) == {entity.name for entity in table.entities}, 'entities: %s' % model['Entities'])
            rules = model['Guard'], model['Unmatched'], model['Unknown']
            expect(rules == ('enforce', 'reject', table.unknown), 'the guard is %s, %s, %s' % rules)
        self.add(table.name, 'its settings', [call(operation, name) for operation in (
            'DescribeTable', 'DescribeTimeToLive', 'DescribeContinuousBackups', 'DescribeModel')], judge)
        stranger = {part: 'NOTHING#1' for part in table.key}
        if not all(part in entity.attributes for part in table.key for entity in table.entities):
            self.add(table.name, 'what is of no entity is refused', [put(table, stranger)],
                     lambda answers, _: refused(answers[0], 'No entity'))

    @staticmethod
    def judge_table(table, described):
        types = {one['AttributeName']: one['AttributeType'] for one in described['AttributeDefinitions']}

        def schema(keys):
            names = [one['AttributeName'] for one in keys]
            expect(all((types[name] == 'N') == (name in table.numbers) for name in names), 'the types are %s' % types)
            return names
        expect(schema(described['KeySchema']) == table.key, 'the key is %s' % described['KeySchema'])
        indexes = {one['IndexName']: one for one in described.get('GlobalSecondaryIndexes', [])}
        expect({name: schema(one['KeySchema']) for name, one in indexes.items()} == table.indexes, 'the indexes are %s' % indexes)
        expect(all(one['Projection'] == {'ProjectionType': 'ALL'} for one in indexes.values()), 'an index projects less')
        stream = described.get('StreamSpecification', {}).get('StreamViewType')
        expect(stream == table.stream, 'the stream is %s' % stream)
        mode = described.get('BillingModeSummary', {}).get('BillingMode')
        expect((mode == 'PAY_PER_REQUEST') == (table.billing == 'on_demand'), 'billing is %s' % mode)

    # ---- Access patterns ----

    def of_access(self, access):
        entities = [self.promises.entities[name] for name in access.entities]
        table = entities[0].table
        self.count += 1  # of one number, so that they are one item collection
        items = [{**entity.item(self.count), **access.given} for entity in entities]
        first = {name: value for item in reversed(items) for name, value in item.items()}
        for item in items:
            item.update({name: first[other] for name, other in access.linked.items() if name in item})
        arguments = access.arguments(first)
        target = '/v1/%s/%s?%s' % (table.name, access.name, urlencode({
            name: str(value).lower() if isinstance(value, bool) else value for name, value in arguments.items()}))
        if any(entity.made for entity in entities):
            items, entities = [], []
        requests = [put(table, typed_as(entity, item)) for entity, item in zip(entities, items)]
        requests += [http('GET', target + '&keys=true'), http('GET', target + '&explain=true')]

        def judge(answers, _):
            for answer in answers[:-2]:
                ok(answer)
            found = ok(answers[-2])['items']
            for item, entity in zip(items, entities):
                wanted = {name: value for name, value in entity.stored(item).items()
                          if name not in entity.attributes or not entity.attributes[name].counted}
                expect(any(all(one.get(name) == value for name, value in wanted.items()) for one in found),
                       '%s is not found, but %d others' % (entity.name, len(found)))
            self.judge_plan(access, first, ok(answers[-1]), self.hidden(access))
        self.add(access.name, 'an access pattern', requests, judge)

    def hidden(self, access):
        """The filter that leaves out what is deleted, where an index does not do it."""
        names = {entity.softdelete for entity in (self.promises.entities[name] for name in access.entities)
                 if entity.softdelete and access.index not in entity.conditions}
        return ' AND '.join('(attribute_not_exists(%s) OR %s = null)' % (name, name) for name in sorted(names)) \
            if names and access.operation == 'Query' else None

    @staticmethod
    def judge_plan(access, item, plan, hidden):
        request = plan['request']
        values = {name: value for name, value in item.items()}
        wanted = {'operation': access.operation, 'index': access.index, 'keys': sorted(filled(access.keys, values).split(' AND ')),
                  'filter': access.filter or hidden, 'descending': access.descending, 'limit': access.limit, 'consistent': access.consistent}
        found = {'operation': plan['operation'], 'index': plan.get('index'), 'keys': sorted(plan['keys'].split(' AND ')), 'filter': plan.get('filter'),
                 'descending': request.get('ScanIndexForward') is False, 'limit': request.get('Limit'),
                 'consistent': bool(request.get('ConsistentRead'))}
        same(found, wanted)

    # ---- Entities ----

    def of_entity(self, entity):
        if entity.made:
            self.described(entity)
            return
        self.wholes(entity)
        self.sparse(entity)
        self.made_keys(entity)
        self.foreign(entity)
        self.touch(entity)
        self.described(entity)
        self.shared(entity)
        self.softly(entity)
        self.appended(entity)
        for attribute in entity.attributes.values():
            if attribute.counted or attribute.told or attribute.name == entity.softdelete:
                continue
            self.values(entity, attribute)
            self.change(entity, attribute)
            self.removal(entity, attribute)
            self.uniqueness(entity, attribute)
            self.normal_form(entity, attribute)
            self.separator(entity, attribute)
            self.nulled(entity, attribute)

    def stores(self, entity, title, item, expected, **more):
        """Writes an item; what is stored has to be this, without a warning."""
        def judge(answers, _):
            expect('x-dolmen-warnings' not in answers[0][1], 'a warning: %s' % answers[0][1].get('x-dolmen-warnings'))
            ok(answers[0])
            same(plain_item(ok(answers[1]).get('Item', {})), expected)
        entity.sent.append(expected)
        self.add(entity.name, title, [put(entity.table, item), get(entity, expected)], judge, **more)

    def wholes(self, entity):
        item = self.item(entity)
        stored = entity.stored(item)
        self.stores(entity, 'an item with all attributes', typed_as(entity, item), stored)
        item = self.item(entity)
        self.stores(entity, 'an item that comes with its keys', entity.stored(item), entity.stored(item))
        if entity.keys and all(key in entity.keys for key in entity.table.key):
            item = self.item(entity)
            sent = {name: value for name, value in item.items() if name not in entity.in_key()}
            keys = {key: filled(entity.keys[key], item) for key in entity.table.key}
            self.stores(entity, 'an item that is known by its keys', {**sent, **keys}, entity.stored(item))
        self.bare(entity)
        for key in entity.keys:
            if key not in entity.table.key:
                item = typed_as(entity, self.item(entity))
                self.add(entity.name, 'a wrong ' + key, [put(entity.table, {**item, key: 'WRONG'})],
                         lambda answers, _, key=key: refused(answers[0], key))

    def bare(self, entity):
        item = self.item(entity, bare=True)

        def judge(answers, _):
            ok(answers[0])
            stored = plain_item(ok(answers[1]).get('Item', {}))
            defaults = {name: stored.get(name) for name, one in entity.attributes.items()
                        if one.default is not None and name not in item}
            same(stored, entity.stored({**item, **defaults}))
            for name in defaults:
                check_default(entity.attributes[name], stored)
        self.add(entity.name, 'an item with nothing but what it needs',
                 [put(entity.table, typed_as(entity, item)), get(entity, entity.stored(item))], judge)

    def sparse(self, entity):
        """Each attribute that an index key is made of and that may be missing, missing."""
        used = {name for key, template in entity.keys.items() if key not in entity.table.key for name in names_in(template)}
        used |= {part for parts in entity.table.indexes.values() for part in parts}
        for name in sorted(used & set(entity.attributes)):
            attribute = entity.attributes[name]
            if attribute.type.optional and attribute.default is None and name not in entity.in_key():
                item = self.item(entity)
                del item[name]
                self.stores(entity, 'without ' + name, typed_as(entity, item), entity.stored(item))

    def made_keys(self, entity):
        """Attributes of the key that the server makes: two items without them are two."""
        made = [name for name in sorted(entity.in_key()) if entity.attributes[name].default is not None]
        if not made or entity.attributes[made[0]].default.startswith('sha256'):
            return self.digests(entity, *made)
        items = [{name: value for name, value in self.item(entity).items() if name not in made} for _ in range(2)]
        for item in items:
            item.update({name: ' Two Words ' for name in item if any('trim(%s)' % name in entity.attributes[one].default for one in made)})

        def judge(answers, _):
            bodies = [ok(answer) for answer in answers]
            for body, item in zip(bodies, items):
                for name in made:
                    check_default(entity.attributes[name], body)
                same(body, entity.stored({**item, **{name: body.get(name) for name in made}}))
            if any(re.search('uuid|ulid', entity.attributes[name].default) for name in made):
                expect(any(bodies[0][name] != bodies[1][name] for name in made), 'the same twice: %s' % bodies)
        target = '/v1/%s/%s?keys=true' % (entity.table.name, entity.name)
        self.add(entity.name, 'the server makes ' + ', '.join(made), [http('POST', target, item) for item in items], judge)

    def digests(self, entity, name=None):
        """A key that is a digest: of the same always the same, and of anything else another."""
        if name is None:
            return
        parts = re.findall(r'\w+', entity.attributes[name].default)[1:]
        first = {one: value for one, value in self.item(entity).items() if one != name}
        others = [{**first, part: 'another'} for part in parts]
        without = [{one: value for one, value in first.items() if one != part} for part in parts]

        def judge(answers, _):
            made = [ok(answer)[name] for answer in answers[:1 + len(parts)]]
            expect(all(re.fullmatch('[0-9a-f]{64}', one) for one in made), 'no digests: %s' % made)
            expect(len(set(made)) == len(made), 'the same of different inputs: %s' % made)
            expect(answers[1 + len(parts)][0] == 409, 'of the same inputs another')
            for answer in answers[2 + len(parts):]:
                refused(answer, name)
        target = '/v1/%s/%s' % (entity.table.name, entity.name)
        self.add(entity.name, name + ' is a digest',
                 [http('POST', target, item) for item in [first, *others, first, *without]], judge)

    def shared(self, entity):
        """Each part of a key that has several: two items may have it in common."""
        own = sorted(entity.in_key())
        for name in own if len(own) > 1 else []:
            items = [self.item(entity), self.item(entity)]
            for other in own:
                if other != name and items[0][other] == items[1][other]:
                    items[1][other] = entity.attributes[other].type.other(items[0][other])
            if entity.attributes[name].unique:
                continue
            items[1][name] = items[0][name]
            self.add(entity.name, 'two with the same ' + name, [put(entity.table, typed_as(entity, item)) for item in items],
                     lambda answers, _: [ok(answer) for answer in answers])

    def softly(self, entity):
        """A delete marks, once, and takes the item out of indexes with a condition; without the mark all is as before."""
        name = entity.softdelete
        if name is None:
            return
        item, other = self.item(entity), self.item(entity)
        gone = {'TableName': entity.table.name, 'Key': key_of(entity, item)}

        def judge(early, late):
            for answer in early:
                ok(answer)
            stored = plain_item(ok(early[2])['Item'])
            check_now(stored.get(name), entity.attributes[name].type, START)
            same(stored, entity.stored({**item, name: stored.get(name)}))
            ok(late[0])
            same(plain_item(ok(late[1])['Item']), stored)
            same(plain_item(ok(late[2])['Attributes']), entity.stored(item))
        self.add(entity.name, 'a delete sets ' + name, [put(entity.table, typed_as(entity, item)), call('DeleteItem', gone), get(entity, item),
                                                       put(entity.table, typed_as(entity, other)),
                                                       call('DeleteItem', {**gone, 'Key': key_of(entity, other)})], judge,
                 late=[call('DeleteItem', gone), get(entity, item), update(entity, item, 'SET #a = :v', name)])

    def appended(self, entity):
        """What is append only stays."""
        if not entity.append_only:
            return
        item = self.item(entity)

        def judge(answers, _):
            ok(answers[0])
            refused(answers[1], 'append only')
            refused(answers[2], 'append only')
        self.add(entity.name, 'append only', [put(entity.table, typed_as(entity, item)), update(entity, item, 'SET #a = :v', 'seenBy', 'ada'),
                                              call('DeleteItem', {'TableName': entity.table.name, 'Key': key_of(entity, item)})], judge)

    def described(self, entity):
        """Enumerations have no other value, and what is deprecated is marked, in the description of the data API."""
        def judge(answers, _):
            schemas = ok(answers[0])['components']['schemas']
            fields = (schemas.get(entity.name) or schemas['%s.%s' % (entity.table.name, entity.name)])['properties']
            for name, attribute in entity.attributes.items():
                expect(name in fields, name + ' is not described')
                expect(bool(fields[name].get('deprecated')) == attribute.deprecated, name + ' is deprecated, or is not')
                check_schema(name, attribute.type, fields[name], schemas)
        self.add(entity.name, 'its description', [http('GET', '/v1/openapi.json')], judge)

    def values(self, entity, attribute):
        name, own = attribute.name, attribute.name in entity.in_key()
        for value in [] if own else attribute.type.fits[1:]:
            if not attribute.unique:
                item = {**self.item(entity), name: value}
                self.stores(entity, '%s may be %r' % (name, value), typed_as(entity, item), entity.stored(item))
        if attribute.type.optional and not own and None not in attribute.type.fits:
            item = {**self.item(entity), name: None}
            kept = dict(item)
            if any(name in parts for parts in entity.table.indexes.values()):
                del kept[name]  # the key of an index cannot be null
            self.stores(entity, name + ' may be null', typed_as(entity, item), entity.stored(kept))
        nothing = [] if not attribute.type.misfits or None in attribute.type.fits or attribute.type.optional or own and not entity.table.type else [None]
        for value in attribute.type.misfits + nothing:
            item = typed_as(entity, {**self.item(entity), name: value})
            told = '' if value is None and own else name
            self.add(entity.name, '%s cannot be %r' % (name, value), [put(entity.table, item)],
                     lambda answers, _, told=told: refused(answers[0], told))
        if attribute.required and (entity.table.type or not own):
            item = typed_as(entity, self.item(entity))
            del item[name]
            self.add(entity.name, name + ' cannot be missing', [put(entity.table, item)],
                     lambda answers, _: refused(answers[0], name))

    def change(self, entity, attribute):
        """An update of one attribute: index keys follow, what is touched is set again, all else stays."""
        name, item = attribute.name, self.item(entity)
        value = attribute.type.other(item[name])
        if attribute.unique:
            self.count += 1
            value = attribute.type.sample(name, self.count)
        if value is None:
            return
        fixed = attribute.fixed or name in entity.in_key()
        expected = {**item, name: value}

        def judge(early, late):
            ok(early[0])
            if fixed:
                return refused(late[0], '')
            stored = plain_item(ok(late[0])['Attributes'])
            again = {one.name for one in entity.attributes.values() if one.touched and one.name != name}
            same(stored, entity.stored({**expected, **{one: stored.get(one) for one in again}}))
            for one in again:
                check_default(entity.attributes[one], stored, LATER)
        self.add(entity.name, '%s %s' % (name, 'is fixed' if fixed else 'changes'), [put(entity.table, typed_as(entity, item))],
                 judge, late=[update(entity, item, 'SET #a = :v', name, value)])

    def touch(self, entity):
        """An update of what no entity declares: only what is touched at each write is set again."""
        if entity.append_only:
            return
        item = self.item(entity)

        def judge(early, late):
            ok(early[0])
            stored = plain_item(ok(late[0])['Attributes'])
            again = {one.name for one in entity.attributes.values() if one.touched}
            same(stored, entity.stored({**item, 'seenBy': 'ada', **{one: stored.get(one) for one in again}}))
            for one in again:
                check_default(entity.attributes[one], stored, LATER)
        self.add(entity.name, 'an update of something else', [put(entity.table, typed_as(entity, item))], judge,
                 late=[update(entity, item, 'SET #a = :v', 'seenBy', 'ada')])

    def removal(self, entity, attribute):
        """REMOVE, and a put that leaves it out: what is required stays, what is optional goes."""
        name = attribute.name
        if name in entity.in_key() or attribute.touched:
            return
        item, stays = self.item(entity), not attribute.type.optional or attribute.fixed
        rest = typed_as(entity, {one: value for one, value in item.items() if one != name})

        def judge(answers, _):
            ok(answers[0])
            if stays:
                refused(answers[1], name)
            else:
                expect(name not in plain_item(ok(answers[1])['Attributes']), name + ' is still there')
            if stays and attribute.default is not None or not stays:
                ok(answers[3])
                stored = plain_item(ok(answers[4])['Item'])
                expect(stored.get(name) == (item[name] if stays else None), '%s is %r after a put without it' % (name, stored.get(name)))
        whole = put(entity.table, typed_as(entity, item))
        self.add(entity.name, name + ' is left out', [whole, update(entity, item, 'REMOVE #a', name), whole,
                                                      put(entity.table, rest), get(entity, item)], judge)

    def foreign(self, entity):
        """Indexes that the entity has no entry in. Keys made for an index are refused. An ordinary attribute may be there, if the
        table can tell that the item is not of those in the index."""
        made = {key for one in entity.table.entities for key in one.keys}
        for index, parts in entity.table.indexes.items():
            if index not in entity.outside and any(part in entity.keys or part in entity.attributes for part in parts):
                continue
            item = self.item(entity)
            keys = {part: 1 if part in entity.table.numbers else entity.attributes[part].type.sample(part, 1) if part in entity.attributes
                    else 'foreign-%d' % self.count for part in parts}
            if parts[-1] in entity.attributes:
                keys[parts[-1]] = '2030-01-01T00:00:00.%03dZ' % (self.count % 1000)
            may = entity.table.type and not made & set(parts)
            self.add(entity.name, 'no entry in ' + index, [put(entity.table, typed_as(entity, {**item, **keys})), found(entity.table, index, keys)],
                     lambda answers, _, may=may: outside(answers, may))

    def uniqueness(self, entity, attribute):
        if not attribute.unique:
            return
        item, other = self.item(entity), self.item(entity)
        other[attribute.name] = item[attribute.name]
        self.add(entity.name, attribute.name + ' is unique', [put(entity.table, typed_as(entity, one)) for one in (item, other)],
                 lambda answers, _: (ok(answers[0]), refused(answers[1], attribute.name)))

    def normal_form(self, entity, attribute):
        if attribute.type.name == 'timestamp':
            item = {**self.item(entity), attribute.name: '2026-02-03T04:05:06.000Z'}
            sent = {**item, attribute.name: '2026-02-03T06:05:06+02:00'}
            self.stores(entity, '%s in its normal form' % attribute.name, typed_as(entity, sent), entity.stored(item))
        if not attribute.lower and not attribute.trim:
            return
        item = self.item(entity)
        typed_in = (' %s ' if attribute.trim else '%s') % (item[attribute.name].upper() if attribute.lower else item[attribute.name])
        self.stores(entity, '%s in its normal form' % attribute.name, typed_as(entity, {**item, attribute.name: typed_in}),
                    entity.stored(item))


    def nulled(self, entity, attribute):
        """An update to null of what is the key of an index: the attribute goes, and its entry."""
        name = attribute.name
        if not attribute.type.optional or not any(name in parts for parts in entity.table.indexes.values()):
            return
        item = self.item(entity)
        rest = {one: value for one, value in item.items() if one != name}

        def judge(answers, _):
            ok(answers[0])
            stored = plain_item(ok(answers[1])['Attributes'])
            again = {one.name: stored.get(one.name) for one in entity.attributes.values() if one.touched}
            same(stored, entity.stored({**rest, **again}))
        self.add(entity.name, name + ' may become null', [put(entity.table, typed_as(entity, item)), update(entity, item, 'SET #a = :v', name)], judge)

    def separator(self, entity, attribute):
        """A text that a key of several parts is made of, with what separates them."""
        name, using = attribute.name, [one for one in entity.keys.values() if attribute.name in names_in(one)]
        if not using or attribute.type.name not in ('string', 'email'):
            return
        item = self.item(entity)
        item[name] = 'a#b%d@example.com' % self.count
        if entity.table.forbidden and not all(name in raw_in(one) for one in using):
            self.add(entity.name, name + ' cannot have a #', [put(entity.table, typed_as(entity, item))],
                     lambda answers, _: refused(answers[0], '/' + name))
        else:
            self.stores(entity, name + ' may have a #', typed_as(entity, item), entity.stored(item))


def found(table, index, keys):
    """A query for an entry of an index."""
    return call('Query', {'TableName': table.name, 'IndexName': index, 'KeyConditionExpression': ' AND '.join('#%d = :%d' % (i, i) for i in range(len(keys))),
                          'ExpressionAttributeNames': {'#%d' % i: name for i, name in enumerate(keys)},
                          'ExpressionAttributeValues': item_of({':%d' % i: value for i, value in enumerate(keys.values())})})


def outside(answers, may):
    if may:
        ok(answers[0])
    else:
        refused(answers[0], 'expected nothing')
    expect(ok(answers[1])['Count'] == 0, 'it is in the index')


def typed_as(entity, item):
    if entity.references:
        entity.sent.append(item)
    return {**item, entity.table.type: entity.name} if entity.table.type else {**item, **primary(entity, item)}


def primary(entity, item):
    """The primary key of an item, which names its entity where no attribute does."""
    if not all(key in entity.keys for key in entity.table.key):
        return {}
    keys = {key: filled(entity.keys[key], item) for key in entity.table.key}
    return keys if all(value is not None for value in keys.values()) else {}


def put(table, item):
    return call('PutItem', {'TableName': table.name, 'Item': item_of(item)})


def key_of(entity, stored):
    full = {**stored, **entity.derived(stored)}
    return item_of({key: full[key] for key in entity.table.key})


def get(entity, stored):
    return call('GetItem', {'TableName': entity.table.name, 'Key': key_of(entity, stored), 'ConsistentRead': True})


def update(entity, item, expression, name, value=None):
    request = {'TableName': entity.table.name, 'Key': key_of(entity, item), 'UpdateExpression': expression,
               'ExpressionAttributeNames': {'#a': name}, 'ReturnValues': 'ALL_NEW'}
    if ':v' in expression:
        request['ExpressionAttributeValues'] = item_of({':v': value})
    return call('UpdateItem', request)


class Story:
    """An example: writes one after the other, each with what becomes of it.

        put ENTITY {"a": 1}                     is {"b": 2}    some attributes of what is stored
        put ENTITY {"a": 1}                     refused TEXT
        update ENTITY {"id": "x"} {"a": 2}      …              sets attributes of the item with these attributes of the key
        delete ENTITY {"id": "x"}               is {…}, or gone
        see ENTITY {"id": "x"}                  is {…}, or gone      reads the item
        find PATTERN {"a": 1}                   is {"a": 1}, or gone  the first that an access pattern finds, or none
        count ENTITY {"a": 1}                   is 2                  how many items have these attributes; "a.b" is within a
    `late` before a step sends it an hour later. Attributes of the key that the step does not name are the story's own.
    """
    STEP = re.compile(r'(late )?(put|update|delete|see|find|count) (\w+) (\{.*?\})(?: (\{.*?\}))? (is|refused|gone)(?: (.*))?')

    def __init__(self, maker, title, steps):
        self.maker, self.sent, self.judges = maker, ([], []), ([], [])
        maker.count += 1
        self.own, about = maker.count, None
        for line in steps:
            late, verb, name, first, second, outcome, text = self.STEP.fullmatch(line).groups()
            if verb == 'find':
                self.find(bool(late), name, parse(first), outcome, text)
                continue
            if verb == 'count':
                self.tally(bool(late), maker.promises.entities[name], parse(first), int(text))
                continue
            about = about or name
            self.step(bool(late), verb, maker.promises.entities[name], parse(first), parse(second or '{}'), outcome, text)

        def judge(early, late):
            for answers, judges in zip((early, late), self.judges):
                for answer, one in zip(answers, judges):
                    one(answer)
        maker.add(about, title, self.sent[0], judge, late=self.sent[1])

    def step(self, late, verb, entity, given, changes, outcome, text):
        whole = {name: one.type.sample(name, self.own) for name, one in entity.attributes.items() if name in entity.in_key()}
        sample = entity.item(self.own, bare=True) if verb == 'put' else whole
        item = {name: value for name, value in {**sample, **given}.items() if value != 'MISSING'}
        if verb == 'put':
            request = put(entity.table, typed_as(entity, item))
            if outcome == 'refused' and entity.references:
                entity.sent.pop()
        elif verb in ('delete', 'see'):
            request = call('DeleteItem' if verb == 'delete' else 'GetItem', {'TableName': entity.table.name, 'Key': key_of(entity, item)})
        else:
            names = list(changes)
            request = call('UpdateItem', {
                'TableName': entity.table.name, 'Key': key_of(entity, item), 'ReturnValues': 'ALL_NEW',
                'UpdateExpression': 'SET ' + ', '.join('#%d = :%d' % (i, i) for i in range(len(names))),
                'ExpressionAttributeNames': {'#%d' % i: name for i, name in enumerate(names)},
                'ExpressionAttributeValues': item_of({':%d' % i: changes[name] for i, name in enumerate(names)})})
        sent, judges = self.sent[late], self.judges[late]
        sent.append(request)
        if outcome == 'refused':
            judges.append(lambda answer: refused(answer, text))
            return
        judges.append(ok)
        sent.append(get(entity, item))
        if outcome == 'gone':
            judges.append(lambda answer: expect('Item' not in ok(answer), 'it is there: %s' % answer[2]))
            return
        judges.append(lambda answer: self.compare(plain_item(ok(answer).get('Item', {})), parse(text)))

    def find(self, late, name, arguments, outcome, text):
        access = next(one for one in self.maker.promises.accesses if one.name == name)
        table = self.maker.promises.entities[access.entities[0]].table
        self.sent[late].append(http('GET', '/v1/%s/%s?%s' % (table.name, name, urlencode(arguments))))

        def judge(answer):
            items = ok(answer)['items']
            expect(bool(items) == (outcome == 'is'), '%d items found' % len(items))
            if outcome == 'is':
                self.compare(items[0], parse(text))
        self.judges[late].append(judge)

    def tally(self, late, entity, given, wanted):
        paths = [name.split('.') for name in given]
        names = sorted({part for path in paths for part in path})
        self.sent[late].append(call('Scan', {
            'TableName': entity.table.name,
            'FilterExpression': ' AND '.join('%s = :%d' % ('.'.join('#%d' % names.index(part) for part in path), i) for i, path in enumerate(paths)),
            'ExpressionAttributeNames': {'#%d' % i: name for i, name in enumerate(names)},
            'ExpressionAttributeValues': item_of({':%d' % i: value for i, value in enumerate(given.values())})}))
        self.judges[late].append(lambda answer: expect(ok(answer)['Count'] == wanted, '%d items, not %d' % (answer[2]['Count'], wanted)))

    @staticmethod
    def compare(stored, wanted):
        same({name: stored.get(name) for name in wanted}, wanted)
