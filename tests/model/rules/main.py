"""Rules that run, through every way to write: counts, sums, events, derived items, references, audits.

The cases come first. Then random writes go over a small model, by all ways, some of them in transactions; from time to
time all that follows from the items is computed anew, in a few naive lines, and must be what is stored.
"""
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse

from dolmen import AUTHORIZATION, ROOT, Api, ApiError, Server, verify_database

TABLE = 'rules'
MODEL = '''
table rules { key PK, SK  type kind
  index GSI1 (GSI1PK, GSI1SK) }

entity Album {
  PK = "ALBUM#{albumId}"  SK = "x"
  albumId    string
  title      string?
  mediaCount integer = count of Media
  bytes      number  = sum of Media.size where hidden = false
}
entity Media {
  PK = "MEDIA#{mediaId}"  SK = "x"
  GSI1 = "IN#{albumId}", "{mediaId}"
  mediaId string
  albumId string?
  size    number = 1
  hidden  boolean = false
  tags    set<string>?
}
entity TagIndex {
  PK = "TAG#{tag}"  SK = "{mediaId}"
  tag     string
  mediaId string
  size    number?
}
derive TagIndex from each Media.tags as tag when hidden = false

entity Job {
  PK = "JOB#{jobId}"  SK = "x"
  jobId     string
  status    "queued" | "running" | "done" = "queued"
  steps     integer = count of Step
  ownerId   string?
}
entity Step {
  PK = "STEP#{jobId}"  SK = "{n}"
  jobId  string  references Job on delete cascade
  n      string
  noteId string?  references Note on delete clear
  GSI1 = "NOTE#{noteId}", "{jobId}#{n}"
}
entity Note {
  PK = "NOTE#{noteId}"  SK = "x"
  noteId string
}
entity Owner {
  PK = "OWNER#{ownerId}"  SK = "x"
  ownerId string
}
entity Car {
  PK = "CARS#{ownerId}"  SK = "{carId}"
  ownerId string  references Owner on delete reject
  carId   string
}
entity Sheet {
  PK = "SHEET#{sheetId}"  SK = "x"
  sheetId string
  text    string
}
table events { key PK, SK  type kind }
entity Outbox {
  PK = "EVENT#{id}"  SK = "x"
  id      string = ulid()
  type    string
  jobId   string
  payload object
}
entity Order {
  PK = "ORDER#{orderId}"  SK = "x"
  orderId string = ulid()
  basket  string
  price   number = 0
}
idempotent Order by sha256(basket) for 1h
entity Log {
  PK = "LOG#{id}"  SK = "x"
  id        string = ulid()
  principal string = actor()
  what      string
  old       any?
}
entity Diary {
  PK = "DIARY#{id}"  SK = "x"
  id     string = ulid()
  before object?
  after  object?
}
audit Sheet with before, after into Diary
audit Note into Log { principal = actor()  what = "{operation()} {event()}"  old = old() }
emit "job.{status}" on insert, modify, remove of Job when status changed into Outbox
'''
WORDS = ['red', 'green', 'blue', 'black', 'white']


def encode(value):
    if isinstance(value, bool):
        return {'BOOL': value}
    if isinstance(value, (int, float)):
        return {'N': str(value)}
    if isinstance(value, set):
        return {'SS': sorted(value)}
    return {'S': value}


def item(kind, **attributes):
    return {'kind': {'S': kind}, **{n: encode(v) for n, v in attributes.items() if v is not None}}


def decode(value):
    (tag, inside), = value.items()
    if tag == 'N':
        return int(inside)
    if tag == 'SS':
        return set(inside)
    if tag == 'M':
        return {n: decode(v) for n, v in inside.items()}
    return inside


class Client:
    """Writes and reads entities, by one of the ways."""

    def __init__(self, way='put'):
        self.api = Api(os.environ['DOLMEN_ENDPOINT'])
        self.way = way

    def key(self, pk, sk='x'):
        return {'PK': {'S': pk}, 'SK': {'S': sk}}

    def put(self, kind, **attributes):
        made = item(kind, **attributes)
        if self.way == 'batch':
            return self.api.call('BatchWriteItem', {'RequestItems': {TABLE: [{'PutRequest': {'Item': made}}]}})
        if self.way == 'transact':
            return self.api.call('TransactWriteItems', {'TransactItems': [{'Put': {'TableName': TABLE, 'Item': made}}]})
        return self.api.call('PutItem', {'TableName': TABLE, 'Item': made})

    def update(self, pk, sk='x', **attributes):
        names = {f'#{i}': n for i, n in enumerate(attributes)}
        sets = [f'#{i} = :{i}' for i, n in enumerate(attributes) if attributes[n] is not None]
        removes = [f'#{i}' for i, n in enumerate(attributes) if attributes[n] is None]
        values = {f':{i}': encode(v) for i, v in enumerate(attributes.values()) if v is not None}
        text = (' SET ' + ', '.join(sets) if sets else '') + (' REMOVE ' + ', '.join(removes) if removes else '')
        request = {'TableName': TABLE, 'Key': self.key(pk, sk), 'UpdateExpression': text.strip(), 'ExpressionAttributeNames': names,
                   **({'ExpressionAttributeValues': values} if values else {})}
        if self.way == 'transact':
            return self.api.call('TransactWriteItems', {'TransactItems': [{'Update': request}]})
        return self.api.call('UpdateItem', request)

    def delete(self, pk, sk='x'):
        key = self.key(pk, sk)
        if self.way == 'batch':
            return self.api.call('BatchWriteItem', {'RequestItems': {TABLE: [{'DeleteRequest': {'Key': key}}]}})
        if self.way == 'transact':
            return self.api.call('TransactWriteItems', {'TransactItems': [{'Delete': {'TableName': TABLE, 'Key': key}}]})
        if self.way == 'statement':
            return self.api.call('ExecuteStatement', {
                'Statement': f"""DELETE FROM "{TABLE}" WHERE "PK" = '{pk}' AND "SK" = '{sk}'"""})
        return self.api.call('DeleteItem', {'TableName': TABLE, 'Key': key})

    def get(self, pk, sk='x'):
        found = self.api.call('GetItem', {'TableName': TABLE, 'Key': self.key(pk, sk), 'ConsistentRead': True}).get('Item')
        return {n: decode(v) for n, v in found.items()} if found else None

    def all(self, table=TABLE):
        return [{n: decode(v) for n, v in one.items()} for one in self.api.pages('Scan', {'TableName': table, 'ConsistentRead': True})]

    def kinds(self, kind):
        return [one for one in self.all('events' if kind == 'Outbox' else TABLE) if one.get('kind') == kind]


def refused(call, name, *words):
    try:
        call()
    except ApiError as error:
        assert error.name in (name, 'TransactionCanceledException'), error
        for word in words:
            assert word in str(error.document), (word, error.document)
        return
    raise AssertionError('it was not refused')


# ---- Cases ---------------------------------------------------------------------------------------

def counts_and_sums(c):
    c.put('Album', albumId='a')
    assert c.get('ALBUM#a')['mediaCount'] == 0 and c.get('ALBUM#a')['bytes'] == 0
    c.put('Media', mediaId='1', albumId='a', size=5)
    c.put('Media', mediaId='2', albumId='a', size=7, hidden=True)
    assert (c.get('ALBUM#a')['mediaCount'], c.get('ALBUM#a')['bytes']) == (2, 5)
    c.update('MEDIA#1', size=6)
    c.update('MEDIA#2', hidden=False)
    assert (c.get('ALBUM#a')['mediaCount'], c.get('ALBUM#a')['bytes']) == (2, 13)
    c.update('MEDIA#2', albumId='b')  # there is no b yet
    c.update('MEDIA#1', albumId=None)
    assert (c.get('ALBUM#a')['mediaCount'], c.get('ALBUM#a')['bytes']) == (0, 0)
    c.put('Album', albumId='b', title='late')
    assert (c.get('ALBUM#b')['mediaCount'], c.get('ALBUM#b')['bytes']) == (1, 7)
    c.put('Album', albumId='b', title='again')
    assert c.get('ALBUM#b')['mediaCount'] == 1 and c.get('ALBUM#b')['title'] == 'again'
    c.delete('ALBUM#b')
    c.delete('MEDIA#2')
    c.put('Album', albumId='b')
    assert (c.get('ALBUM#b')['mediaCount'], c.get('ALBUM#b')['bytes']) == (0, 0)


def counts_are_the_servers(c):
    c.put('Album', albumId='k')
    c.put('Media', mediaId='k1', albumId='k')
    c.put('Album', albumId='k', mediaCount=1, title='it may be repeated')
    refused(lambda: c.put('Album', albumId='k', mediaCount=7), 'ValidationException', '/mediaCount', 'the server counts it')
    refused(lambda: c.put('Album', albumId='k2', mediaCount=7), 'ValidationException', '/mediaCount')
    refused(lambda: c.update('ALBUM#k', mediaCount=7), 'ValidationException', '/mediaCount')
    c.update('ALBUM#k', mediaCount=None, title='neither can it be removed')
    assert c.get('ALBUM#k')['mediaCount'] == 1


def tags_are_items(c):
    c.put('Media', mediaId='t', tags={'red', 'blue'}, size=3)
    assert c.get('TAG#red', 't')['size'] == 3 and c.get('TAG#blue', 't')
    c.update('MEDIA#t', tags={'blue', 'green'})
    assert c.get('TAG#red', 't') is None and c.get('TAG#green', 't')
    c.update('MEDIA#t', size=4)
    assert c.get('TAG#blue', 't')['size'] == 4
    c.update('MEDIA#t', hidden=True)
    assert c.get('TAG#blue', 't') is None
    c.update('MEDIA#t', hidden=False)
    refused(lambda: c.put('TagIndex', tag='x', mediaId='y'), 'ValidationException', 'the server makes its items', 'Media')
    refused(lambda: c.delete('TAG#blue', 't'), 'ValidationException', 'TagIndex')
    c.delete('MEDIA#t')
    assert c.get('TAG#blue', 't') is None


def events_are_written(c):
    before = len(c.kinds('Outbox'))
    c.put('Job', jobId='e')
    c.update('JOB#e', ownerId='somebody')  # the status is not changed
    c.update('JOB#e', status='running')
    c.delete('JOB#e')
    events = [e for e in c.kinds('Outbox') if e['jobId'] == 'e']
    assert [e['type'] for e in sorted(events, key=lambda e: e['id'])] == ['job.queued', 'job.running', 'job.running'], events
    assert events[0]['payload']['jobId'] == 'e' and len(c.kinds('Outbox')) == before + 3
    # A write that is refused leaves none.
    refused(lambda: c.api.call('TransactWriteItems', {'TransactItems': [
        {'Put': {'TableName': TABLE, 'Item': item('Job', jobId='f')}},
        {'Put': {'TableName': TABLE, 'Item': item('Step', jobId='nothing', n='1')}}]}), 'TransactionCanceledException', 'a Job that exists')
    assert len(c.kinds('Outbox')) == before + 3 and c.get('JOB#f') is None


def references_hold(c):
    refused(lambda: c.put('Step', jobId='r', n='1'), 'ValidationException', 'Entity Step: /jobId: expected a Job that exists, got \\"r\\"'.replace('\\', ''))
    c.put('Job', jobId='r')
    c.put('Note', noteId='n')
    for n in range(30):
        c.put('Step', jobId='r', n=str(n), noteId='n')
    assert c.get('JOB#r')['steps'] == 30
    c.delete('NOTE#n')
    assert all('noteId' not in c.get('STEP#r', str(n)) for n in range(30))
    c.delete('JOB#r')
    assert not [s for s in c.kinds('Step') if s['jobId'] == 'r']
    c.put('Owner', ownerId='o')
    c.put('Car', ownerId='o', carId='1')
    refused(lambda: c.delete('OWNER#o'), 'ValidationException', 'Entity Owner', 'Car')
    refused(lambda: c.update('CARS#o', '1', ownerId='p'), 'ValidationException')
    # Both at once are fine, in whatever order.
    c.api.call('TransactWriteItems', {'TransactItems': [
        {'Delete': {'TableName': TABLE, 'Key': c.key('OWNER#o')}}, {'Delete': {'TableName': TABLE, 'Key': c.key('CARS#o', '1')}}]})
    c.api.call('TransactWriteItems', {'TransactItems': [
        {'Put': {'TableName': TABLE, 'Item': item('Car', ownerId='q', carId='1')}}, {'Put': {'TableName': TABLE, 'Item': item('Owner', ownerId='q')}}]})


def orders_are_repeated(c):
    first = c.api.call('PutItem', {'TableName': 'events', 'Item': item('Order', orderId='1', basket='b', price=5)})
    assert first == {}
    again = c.api.call('PutItem', {'TableName': 'events', 'Item': item('Order', orderId='2', basket='b', price=6), 'ReturnValues': 'ALL_OLD'})
    assert decode(again['Attributes']['orderId']) == '1' and decode(again['Attributes']['price']) == 5, again
    assert headers_of(c, 'PutItem', {'TableName': 'events', 'Item': item('Order', orderId='3', basket='b')}).get('x-dolmen-repeated') == 'true'
    assert headers_of(c, 'PutItem', {'TableName': 'events', 'Item': item('Order', orderId='3', basket='c')}).get('x-dolmen-repeated') is None
    # In a transaction nothing is done; in a batch, what is new.
    c.api.call('TransactWriteItems', {'TransactItems': [
        {'Put': {'TableName': 'events', 'Item': item('Order', orderId='4', basket='b')}}, {'Put': {'TableName': 'events', 'Item': item('Order', orderId='5', basket='new')}}]})
    c.api.call('BatchWriteItem', {'RequestItems': {'events': [
        {'PutRequest': {'Item': item('Order', orderId='6', basket='b')}}, {'PutRequest': {'Item': item('Order', orderId='7', basket='d')}}]}})
    assert sorted(o['orderId'] for o in c.all('events') if o['kind'] == 'Order') == ['1', '3', '7']
    # The item itself may be written again, and what is deleted is free.
    c.api.call('PutItem', {'TableName': 'events', 'Item': item('Order', orderId='1', basket='b', price=9)})
    c.api.call('DeleteItem', {'TableName': 'events', 'Key': c.key('ORDER#1')})
    assert headers_of(c, 'PutItem', {'TableName': 'events', 'Item': item('Order', orderId='8', basket='b')}).get('x-dolmen-repeated') is None


def headers_of(c, operation, request):
    c.api.connection.request('POST', '/', json.dumps(request), {
        'X-Amz-Target': 'DynamoDB_20120810.' + operation, 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Date': '20260101T000000Z', 'Authorization': AUTHORIZATION})
    response = c.api.connection.getresponse()
    assert response.status == 200, response.read()
    response.read()
    return dict(response.getheaders())


def audits_say_who(c):
    c.put('Note', noteId='audited')
    c.delete('NOTE#audited')
    logs = sorted((o for o in c.all('events') if o['kind'] == 'Log'), key=lambda o: o['id'])[-2:]
    assert [(o['principal'], o['what']) for o in logs] == [('test', 'PutItem insert'), ('test', 'DeleteItem remove')], logs
    assert 'old' not in logs[0] and logs[1]['old']['noteId'] == 'audited', logs
    refused(lambda: c.api.call('DeleteItem', {'TableName': 'events', 'Key': c.key(logs[0]['PK'])}), 'ValidationException', 'Log')


def audits_have_images(c):
    """What is gone is nothing after; and it can go however large it is."""
    for text in ('one', 'two', 'x' * 190000):
        c.put('Sheet', sheetId='s', text=text)
    refused(lambda: c.put('Sheet', sheetId='s', text='y' * 300000), 'ValidationException', 'Diary follows from the write')
    c.delete('SHEET#s')
    c.put('Sheet', sheetId='s', text='y' * 390000)
    c.delete('SHEET#s')
    diary = sorted((o for o in c.all('events') if o['kind'] == 'Diary'), key=lambda o: o['id'])
    images = [tuple(o.get(name, {}).get('text', '')[:3] for name in ('before', 'after')) for o in diary]
    assert images == [('', 'one'), ('one', 'two'), ('two', 'xxx'), ('xxx', ''), ('', 'yyy'), ('yyy', '')], images


def data_api(method, path, body=None):
    parts = urllib.parse.urlsplit(os.environ['DOLMEN_ENDPOINT'])
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    connection.request(method, path, json.dumps(body) if body is not None else None, {'Content-Type': 'application/json'})
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response, json.loads(text) if text else None


def every_way(c):
    """One photo at a time, in and out by each way: the count follows."""
    c.put('Album', albumId='w')

    def count():
        return c.get('ALBUM#w')['mediaCount']
    c.api.call('ExecuteStatement', {'Statement': f"""INSERT INTO "{TABLE}" VALUE {{'kind': 'Media', 'PK': 'MEDIA#w1', 'SK': 'x', 'mediaId': 'w1', 'albumId': 'w'}}"""})
    assert count() == 1
    c.api.call('ExecuteStatement', {'Statement': f"""UPDATE "{TABLE}" SET albumId = 'elsewhere' WHERE PK = 'MEDIA#w1' AND SK = 'x'"""})
    assert count() == 0
    c.api.call('BatchExecuteStatement', {'Statements': [
        {'Statement': f"""UPDATE "{TABLE}" SET albumId = 'w' WHERE PK = 'MEDIA#w1' AND SK = 'x'"""},
        {'Statement': f"""INSERT INTO "{TABLE}" VALUE {{'kind': 'Media', 'PK': 'MEDIA#w2', 'SK': 'x', 'mediaId': 'w2', 'albumId': 'w'}}"""}]})
    assert count() == 2
    c.api.call('ExecuteTransaction', {'TransactStatements': [
        {'Statement': f"""DELETE FROM "{TABLE}" WHERE PK = 'MEDIA#w{n}' AND SK = 'x'"""} for n in (1, 2)]})
    assert count() == 0
    response, made = data_api('POST', f'/v1/{TABLE}/Media', {'mediaId': 'w3', 'albumId': 'w', 'tags': ['red']})
    assert response.status == 201 and count() == 1 and c.get('TAG#red', 'w3'), made
    response, _ = data_api('PATCH', f'/v1/{TABLE}/Media?mediaId=w3', {'size': 9})
    assert response.status == 200 and c.get('ALBUM#w')['bytes'] == 9
    response, problem = data_api('POST', f'/v1/{TABLE}/Step', {'jobId': 'nobody', 'n': '1'})
    assert response.status in (400, 422) and 'a Job that exists' in json.dumps(problem), problem
    assert data_api('DELETE', f'/v1/{TABLE}/Media?mediaId=w3')[0].status == 204 and count() == 0
    response, first = data_api('POST', '/v1/events/Order', {'basket': 'plain', 'price': 3})
    assert response.status == 201 and response.getheader('x-dolmen-repeated') is None
    response, again = data_api('POST', '/v1/events/Order', {'basket': 'plain', 'price': 4})
    assert response.status == 200 and response.getheader('x-dolmen-repeated') == 'true' and again == first, (again, first)
    with tempfile.NamedTemporaryFile('w', suffix='.json') as lines:
        for n in range(60):
            lines.write(json.dumps({'Item': item('Media', mediaId=f'i{n}', PK=f'MEDIA#i{n}', SK='x', albumId='w', tags={'red', 'blue'})}) + '\n')
        lines.flush()
        binary = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
        subprocess.run([binary, 'import', TABLE, lines.name, '--endpoint', os.environ['DOLMEN_ENDPOINT'], '--quiet'], check=True)
    assert count() == 60 and len([t for t in c.kinds('TagIndex') if t['mediaId'].startswith('i')]) == 120
    for n in range(60):
        c.delete(f'MEDIA#i{n}')
    assert count() == 0


def time_to_live(_):
    """What expires has consequences, too."""
    with tempfile.TemporaryDirectory() as directory, Server(directory, '--admin') as server:
        api = Api(server.endpoint)
        api.call('ApplyModel', {'Model': '''
table short { key PK, SK  type kind  ttl expires }
entity Log { PK = "LOG#{id}"  SK = "x"  id string = ulid()  who string  what string }
audit Guest into Log { who = actor()  what = event() }
entity Room { PK = "ROOM#{room}"  SK = "x"  room string  guests integer = count of Guest }
entity Guest { PK = "GUEST#{guest}"  SK = "x"  guest string  room string  expires epoch }
''', 'FileName': 'short.dolmen'})
        wait_until_applied(api, 'short')
        api.call('PutItem', {'TableName': 'short', 'Item': item('Room', room='1')})
        api.call('PutItem', {'TableName': 'short', 'Item': item('Guest', guest='a', room='1', expires=1000000000 + int(time.time()))})
        api.call('PutItem', {'TableName': 'short', 'Item': item('Guest', guest='b', room='1', expires=int(time.time()) - 100)})
        end = time.monotonic() + 20
        while time.monotonic() < end:
            parts = urllib.parse.urlsplit(server.endpoint)
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
            connection.request('POST', '/admin/ttl')
            connection.getresponse().read()
            connection.close()
            room = api.call('GetItem', {'TableName': 'short', 'Key': {'PK': {'S': 'ROOM#1'}, 'SK': {'S': 'x'}}, 'ConsistentRead': True})['Item']
            if decode(room['guests']) == 1:
                logs = [o for o in api.pages('Scan', {'TableName': 'short'}) if o['kind']['S'] == 'Log']
                assert ('server', 'remove') in [(o['who']['S'], o['what']['S']) for o in logs], logs
                return
            time.sleep(0.05)
        raise AssertionError(room)


# ---- Against a naive recomputation --------------------------------------------------------------

def expected(items):
    """What follows from the items that clients write."""
    albums, tags, steps = {}, set(), {}
    for one in items:
        if one['kind'] == 'Media':
            count, size = albums.get(one.get('albumId'), (0, 0))
            albums[one.get('albumId')] = (count + 1, size + (0 if one['hidden'] else one['size']))
            tags |= {(t, one['mediaId'], one['size']) for t in one.get('tags', ()) if not one['hidden']}
        elif one['kind'] == 'Step':
            steps[one['jobId']] = steps.get(one['jobId'], 0) + 1
    return albums, tags, steps


def compare(c):
    items = c.all()
    albums, tags, steps = expected(items)
    for one in items:
        if one['kind'] == 'Album':
            assert (one['mediaCount'], one['bytes']) == albums.get(one['albumId'], (0, 0)), (one, albums.get(one['albumId']))
        elif one['kind'] == 'Job':
            assert one['steps'] == steps.get(one['jobId'], 0), (one, steps)
    assert {(o['tag'], o['mediaId'], o['size']) for o in items if o['kind'] == 'TagIndex'} == tags
    jobs = {o['jobId'] for o in items if o['kind'] == 'Job'}
    assert all(o['jobId'] in jobs for o in items if o['kind'] == 'Step')
    notes = {o['noteId'] for o in items if o['kind'] == 'Note'}
    assert all(o.get('noteId') in notes | {None} for o in items if o['kind'] == 'Step')


def wander(seed, rounds, failures):
    try:
        dice = random.Random(seed)
        clients = [Client(way) for way in ('put', 'batch', 'transact', 'statement')]
        for _ in range(rounds):
            c = dice.choice(clients)
            media, album, job, n, note = (str(dice.randrange(k)) for k in (8, 3, 3, 4, 3))
            act = dice.randrange(12)
            try:
                if act < 4:
                    c.put('Media', mediaId=media, albumId=dice.choice([album, None]), size=dice.randrange(100), hidden=dice.random() < .3,
                          tags=set(dice.sample(WORDS, dice.randrange(1, 4))))
                elif act == 4:
                    c.update(f'MEDIA#{media}', kind='Media', mediaId=media, size=dice.randrange(100), albumId=dice.choice([album, None]))
                elif act == 5:
                    c.delete(f'MEDIA#{media}')
                elif act == 6:
                    c.put('Album', albumId=album)
                elif act == 7:
                    c.delete(f'ALBUM#{album}')
                elif act == 8:
                    c.put('Job', jobId=job, status=dice.choice(['queued', 'running']))
                elif act == 9:
                    c.put('Step', jobId=job, n=n, noteId=dice.choice([note, None]))
                elif act == 10:
                    dice.choice([lambda: c.delete(f'JOB#{job}'), lambda: c.delete(f'NOTE#{note}'), lambda: c.put('Note', noteId=note)])()
                else:
                    c.api.call('TransactWriteItems', {'TransactItems': [
                        {'Put': {'TableName': TABLE, 'Item': item('Album', albumId=album)}},
                        {'Put': {'TableName': TABLE, 'Item': item('Media', mediaId=media, albumId=album, size=1, tags={dice.choice(WORDS)})}},
                        {'Delete': {'TableName': TABLE, 'Key': c.key(f'STEP#{job}', n)}}]})
            except ApiError as error:
                if error.name not in ('ValidationException', 'TransactionCanceledException', 'TransactionConflictException'):
                    raise
    except BaseException:
        failures.append(f'seed {seed}: ' + traceback.format_exc())


def naive_recomputation(c):
    seed = int(os.environ.get('SEED', random.randrange(1 << 30)))
    print(f'note: seed {seed}')
    for turn in range(4):
        failures = []
        threads = [threading.Thread(target=wander, args=(seed + 10 * turn + i, int(os.environ.get('ROUNDS', 120)), failures)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures[0]
        compare(c)
    verify_database(c.api)


# ---- Rules that come later ----------------------------------------------------------------------


def without_rules(model):
    """The same model before somebody thought of counting."""
    model = model.replace('= count of Media', '= 0').replace('= sum of Media.size where hidden = false', '= 0').replace('= count of Step', '= 0')
    return '\n'.join(line for line in model.splitlines() if not line.startswith(('derive', 'idempotent')))


def wait_until_applied(api, table=TABLE, patience=60):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        described = api.call('DescribeModel', {'TableName': table})
        if described['Status'] == 'ACTIVE':
            return
        assert described['Status'] == 'APPLYING', described
        time.sleep(0.02)
    raise AssertionError('it is not applied')


def rules_that_come_later(_):
    """Counts of what was there before the rule, while others write, and through kill -9."""
    seed = int(os.environ.get('SEED', random.randrange(1 << 30)))
    print(f'note: seed {seed}')
    with tempfile.TemporaryDirectory() as directory:
        def start():
            server = Server(directory)
            os.environ['DOLMEN_ENDPOINT'] = server.endpoint
            return server, Client()
        server, c = start()
        try:
            c.api.call('ApplyModel', {'Model': without_rules(MODEL), 'FileName': 'rules.dolmen'})
            wait_until_applied(c.api)
            for n in range(0, 1500, 25):
                c.api.call('BatchWriteItem', {'RequestItems': {TABLE: [{'PutRequest': {'Item': item(
                    'Media', mediaId=f'm{i}', albumId=str(i % 7), size=i, hidden=i % 3 == 0, tags={'red'} if i % 5 == 0 else None)}} for i in range(n, n + 25)]}})
            for n in range(5):
                c.put('Album', albumId=str(n))
            # What no source implies: none is there, it has not got the tag, it is hidden. One is implied, and stale.
            for tag, media in [('red', 'none'), ('purple', 'm5'), ('red', 'm15'), ('red', 'm10')]:
                c.put('TagIndex', tag=tag, mediaId=media, size=-1)
            c.api.call('ApplyModel', {'Model': MODEL, 'FileName': 'rules.dolmen'})
            for turn in range(4):
                failures = []
                writer = threading.Thread(target=wander, args=(seed + turn, 40, failures))
                writer.start()
                writer.join()
                assert not failures, failures[0]
                if turn < 3:
                    server.kill()
                    server, c = start()
            wait_until_applied(c.api)
            compare(c)
            verify_database(c.api)
            assert len([m for m in c.kinds('Media')]) > 1000
            # Another rule of the same name is counted anew.
            c.api.call('ApplyModel', {'Model': MODEL.replace('count of Media', 'count of Media where hidden = true'), 'FileName': 'rules.dolmen'})
            wait_until_applied(c.api)
            for album in c.kinds('Album'):
                hidden = [m for m in c.kinds('Media') if m.get('albumId') == album['albumId'] and m['hidden']]
                assert album['mediaCount'] == len(hidden), (album, len(hidden))
        finally:
            if server.process.poll() is None:
                server.stop()


REFERRED = '''
table shelf { key PK }
entity Shelf { PK = "SHELF#{shelfId}"  shelfId string }
entity Book { PK = "BOOK#{bookId}"  bookId string  shelfId string?REFERENCE }
'''


def references_that_come_later(c):
    """Items that refer to nothing are told before the rule is applied; without consent it is not."""
    rule = REFERRED.replace('REFERENCE', ' references Shelf')
    c.api.call('ApplyModel', {'Model': REFERRED.replace('REFERENCE', ''), 'FileName': 'shelf.dolmen'})
    wait_until_applied(c.api, 'shelf')
    put = lambda **item: c.api.call('PutItem', {'TableName': 'shelf', 'Item': {k: {'S': v} for k, v in item.items()}})
    put(PK='SHELF#1', shelfId='1')
    for book, shelf in [('a', '1'), ('b', '2'), ('c', '3')]:
        put(PK='BOOK#' + book, bookId=book, shelfId=shelf)
    put(PK='BOOK#d', bookId='d')
    refused(lambda: c.api.call('ApplyModel', {'Model': rule, 'FileName': 'shelf.dolmen'}), 'ValidationException', '2 ')
    put(PK='SHELF#2', shelfId='2')
    put(PK='SHELF#3', shelfId='3')
    c.api.call('ApplyModel', {'Model': rule, 'FileName': 'shelf.dolmen'})
    wait_until_applied(c.api, 'shelf')
    # A rule without `on delete` lets references be: that is no reason to refuse another model.
    c.api.call('DeleteItem', {'TableName': 'shelf', 'Key': {'PK': {'S': 'SHELF#3'}}})
    c.api.call('ApplyModel', {'Model': rule + '\n// anew', 'FileName': 'shelf.dolmen'})
    wait_until_applied(c.api, 'shelf')
    verify_database(c.api)


CASES = [references_that_come_later, counts_and_sums, counts_are_the_servers, tags_are_items, events_are_written, references_hold, orders_are_repeated, audits_say_who, audits_have_images, every_way, time_to_live, naive_recomputation, rules_that_come_later]


def main():
    api = Api(os.environ['DOLMEN_ENDPOINT'])
    api.call('ApplyModel', {'Model': MODEL, 'FileName': 'rules.dolmen'})
    wait_until_applied(api)
    passed = failed = 0
    for case in CASES:
        ways = ['put', 'batch', 'transact'] if case is counts_and_sums or case is tags_are_items else ['put']
        for way in ways:
            try:
                case(Client(way))
                print(f'ok      {case.__name__} {way}')
                passed += 1
            except Exception:
                traceback.print_exc()
                print(f'FAILED  {case.__name__} {way}')
                failed += 1
            if len(ways) > 1:
                for one in Client().all():
                    if one['kind'] in ('Album', 'Media'):
                        Client().delete(one['PK'], one['SK'])
    print(f'{passed} passed, {failed} failed')
    return failed > 0


sys.exit(main())
