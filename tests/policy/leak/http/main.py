"""A hunt for leaks over HTTP: principals with random IAM policies, tags and tenants ask a server with --auth enforce and a random model by every path there is;
world.py says which words each answer may have. A word that is not among them is a leak, and none of them may be missing.

    tests/policy/leak/http/run [--requests N] [--seed N]
"""
import argparse
import collections
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from urllib.parse import quote

from dolmen import ROOT, Server
from wire import Request, send, sha
from world import KEYS, ORGS, SECRETS, STATUSES, TABLE, Model, Principal, canaries, make_items

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
WORDS = re.compile('zq[a-z]+[0-9]{4}x')
NEVER = 'attribute_exists(PK) AND attribute_not_exists(PK)'
PRINCIPALS, ITEMS, EXPORTS = 12, 60, 12  # of a round


def marshal(item):
    return {k: {'N': str(v)} if isinstance(v, int) else {'S': v} for k, v in item.items()}


class Hunt:
    def __init__(self, host, root, seed):
        self.host, self.root, self.chance = host, root, random.Random(seed)
        self.model, self.items = Model(self.chance), make_items(self.chance, ITEMS)
        self.people, self.keys = [], {}
        self.seen, self.asked = collections.Counter(), collections.Counter()
        self.stream = None

    # ---- Asking ------------------------------------------------------------------------------------

    def request(self, key, method, path, headers=(), body=b'', **more):
        made = Request(method, path, [('Host', self.host), *headers], body, **more)
        made.key, made.secret = key
        return made

    def dynamo(self, key, operation, body, tenant=None):
        headers = [('Content-Type', 'application/x-amz-json-1.0'), ('X-Amz-Target', 'DynamoDB_20120810.' + operation)] + ([('X-Tenant', tenant)] if tenant else [])
        return self.request(key, 'POST', '/', headers, json.dumps(body).encode())

    def must(self, request):
        request.sign()
        status, _, body = send(self.host, request.bytes())
        if status >= 300:
            raise RuntimeError(f'{request.method} {request.path} {request.body[:300]}: {status} {body}')
        return json.loads(body) if body.startswith('{') else body

    def do(self, operation, **body):
        return self.must(self.dynamo(self.root, operation, body))

    def object(self, key, method, path, body=b'', query=(), tenant=None):
        headers = [('X-Amz-Content-Sha256', sha(body))] + ([('X-Tenant', tenant)] if tenant else [])
        return self.request(key, method, path, headers, body, query=query, service='s3')

    # ---- The world ---------------------------------------------------------------------------------

    def set_up(self, scratch):
        path = os.path.join(scratch, 'app.dolmen')
        with open(path, 'w') as file:
            file.write(self.model.text())
        env = {**os.environ, 'AWS_ACCESS_KEY_ID': self.root[0], 'AWS_SECRET_ACCESS_KEY': self.root[1]}
        done = subprocess.run([BINARY, 'apply', path, '--endpoint', 'http://' + self.host], env=env, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f'{self.model.text()}\n{done.stdout}{done.stderr}')
        self.do('UpdateTable', TableName='app', StreamSpecification={'StreamEnabled': True, 'StreamViewType': 'NEW_AND_OLD_IMAGES'})
        self.do('UpdateContinuousBackups', TableName='app', PointInTimeRecoverySpecification={'PointInTimeRecoveryEnabled': True})
        for item in self.items:
            self.do('PutItem', TableName='app', Item=marshal({k: v for k, v in item.items() if k not in KEYS}))
        self.stream = self.do('DescribeTable', TableName='app')['Table']['LatestStreamArn']
        self.must(self.object(self.root, 'PUT', '/files'))
        self.must(self.object(self.root, 'PUT', '/exports'))
        for number, org in enumerate(ORGS):
            self.must(self.object(self.root, 'PUT', f'/files/{org}/zqobject{number:04d}x', f'zqbody{number:04d}x'.encode()))
        for number in range(PRINCIPALS):
            who = Principal(self.chance, f'p{number}')
            self.do('CreateUser', UserName=who.name, Tags=[{'Key': k, 'Value': v} for k, v in who.tags.items()])
            self.do('PutUserPolicy', UserName=who.name, PolicyName='p', PolicyDocument=json.dumps(who.policy))
            made = self.do('CreateAccessKey', UserName=who.name)['AccessKey']
            self.keys[who.name] = made['AccessKeyId'], made['SecretAccessKey']
            self.people.append(who)

    # ---- What may be seen --------------------------------------------------------------------------

    def of(self, who, items, names=None):
        """The words of these items, or of some of their attributes, that it may see."""
        found = set()
        for item in items:
            seen = self.model.sees(who, item)
            if seen is not None:
                found |= canaries(item, seen if names is None else seen & set(names))
        return found

    def some(self):
        return self.chance.choice(self.items)

    def names(self):
        """A projection, or none: its text, its names, what Select is."""
        if self.chance.random() < 0.5:
            return {}, None, 'ALL_ATTRIBUTES'
        names = self.chance.sample(SECRETS + ['id', 'org'], self.chance.randint(1, 3))
        return {'ProjectionExpression': ', '.join(names)}, names, 'SPECIFIC_ATTRIBUTES'

    # ---- Paths: (path, request, words that may come, whether all of them have to) ---------------------

    def get(self, who):
        item, (projection, names, select) = self.some(), self.names()
        may = who.may('GetItem', LeadingKeys=[item['PK']], Attributes=['PK', 'SK', *(names or [])], Select=select)
        key = marshal({k: item[k] for k in ('PK', 'SK')})
        return 'GetItem', {'TableName': 'app', 'Key': key, **projection}, self.of(who, [item], names) if may else set(), True

    def batch_get(self, who):
        items, (projection, names, select) = self.chance.sample(self.items, self.chance.randint(1, 6)), self.names()
        may = who.may('BatchGetItem', LeadingKeys=[i['PK'] for i in items], Attributes=['PK', 'SK', *(names or [])], Select=select)
        keys = [marshal({k: i[k] for k in ('PK', 'SK')}) for i in items]
        return 'BatchGetItem', {'RequestItems': {'app': {'Keys': keys, **projection}}}, self.of(who, items, names) if may else set(), True

    def transact_get(self, who):
        items, (projection, names, select) = self.chance.sample(self.items, self.chance.randint(1, 4)), self.names()
        may = all(who.may('GetItem', LeadingKeys=[i['PK']], Attributes=['PK', 'SK', *(names or [])], Select=select, EnclosingOperation='TransactGetItems') for i in items)
        gets = [{'Get': {'TableName': 'app', 'Key': marshal({k: i[k] for k in ('PK', 'SK')}), **projection}} for i in items]
        return 'TransactGetItems', {'TransactItems': gets}, self.of(who, items, names) if may else set(), True

    def query(self, who):
        """Of the table or the index; a filter on an attribute that is hidden finds nothing."""
        by_index, (request, names, select) = self.chance.random() < 0.4, self.names()
        key, value = ('GSI1PK', 'STATUS#' + self.chance.choice(STATUSES)) if by_index else ('PK', 'ORG#' + self.chance.choice(ORGS))
        items, used = [i for i in self.items if i.get(key) == value], {key, *(names or [])}
        request |= {'TableName': 'app', 'KeyConditionExpression': f'{key} = :k', 'ExpressionAttributeValues': {':k': {'S': value}}}
        if by_index:
            request['IndexName'] = 'GSI1'
            select = 'ALL_PROJECTED_ATTRIBUTES' if names is None else select
        if items and self.chance.random() < 0.4:
            secret, target = self.chance.choice(SECRETS), self.chance.choice(items)
            request |= {'FilterExpression': f'begins_with({secret}, :f)'}
            request['ExpressionAttributeValues'][':f'] = {'S': target.get(secret, 'zq')[:-2]}
            items = [i for i in items if secret in (self.model.sees(who, i) or ()) and i.get(secret, '').startswith(request['ExpressionAttributeValues'][':f']['S'])]
            used.add(secret)
        may = who.may('Query', TABLE + ('/index/GSI1' if by_index else ''), LeadingKeys=[value], Attributes=sorted(used), Select=select)
        return 'Query', request, self.of(who, items, names) if may else set(), True

    def scan(self, who):
        by_index, (request, names, select) = self.chance.random() < 0.4, self.names()
        request |= {'TableName': 'app', **({'IndexName': 'GSI1'} if by_index else {})}
        if by_index and names is None:
            select = 'ALL_PROJECTED_ATTRIBUTES'
        context = {'Select': select, **({'Attributes': names} if names else {})}
        items = [i for i in self.items if not by_index or 'GSI1PK' in i]
        may = who.may('Scan', TABLE + ('/index/GSI1' if by_index else ''), **context)
        return 'Scan', request, self.of(who, items, names) if may else set(), True

    def one_select(self, who, around, item):
        names = self.chance.sample(SECRETS, 2) if self.chance.random() < 0.5 else None
        may = who.may('PartiQLSelect', LeadingKeys=[item['PK']], Attributes=['PK', 'SK', *(names or [])], FullTableScan='false', EnclosingOperation=around,
                      Select='SPECIFIC_ATTRIBUTES' if names else 'ALL_ATTRIBUTES')
        text = f"SELECT {', '.join(names) if names else '*'} FROM app WHERE PK = '{item['PK']}' AND SK = '{item['SK']}'"
        return text, may, self.of(who, [item], names)

    def statement(self, who):
        text, may, words = self.one_select(who, 'ExecuteStatement', self.some())
        return 'ExecuteStatement', {'Statement': text}, words if may else set(), True

    def statement_scan(self, who):
        may = who.may('PartiQLSelect', FullTableScan='true', Select='ALL_ATTRIBUTES', EnclosingOperation='ExecuteStatement')
        return 'ExecuteStatement', {'Statement': 'SELECT * FROM app'}, self.of(who, self.items) if may else set(), True

    def statements(self, who):
        made = [self.one_select(who, 'BatchExecuteStatement', item) for item in self.chance.sample(self.items, 3)]
        return 'BatchExecuteStatement', {'Statements': [{'Statement': text} for text, _, _ in made]}, set().union(*(w for _, may, w in made if may)), True

    def statement_transaction(self, who):
        made = [self.one_select(who, 'ExecuteTransaction', item) for item in self.chance.sample(self.items, 3)]
        words = set().union(*(w for _, _, w in made)) if all(may for _, may, _ in made) else set()
        return 'ExecuteTransaction', {'TransactStatements': [{'Statement': text} for text, _, _ in made]}, words, True

    def failing_write(self, who):
        """A condition that never holds returns the item, if it may be seen; nothing is ever written."""
        item = self.some()
        one = {'TableName': 'app', 'Key': marshal({k: item[k] for k in ('PK', 'SK')}), 'ConditionExpression': NEVER, 'ReturnValuesOnConditionCheckFailure': 'ALL_OLD'}
        context = {'LeadingKeys': [item['PK']], 'Attributes': ['PK', 'SK'], 'ReturnValues': 'ALL_OLD'}
        kind = self.chance.choice(['DeleteItem', 'UpdateItem', 'ConditionCheckItem', 'TransactUpdate'])
        if kind in ('UpdateItem', 'TransactUpdate'):
            one |= {'UpdateExpression': 'SET org = :o', 'ExpressionAttributeValues': {':o': {'S': item['org']}}}
            context['Attributes'].append('org')
        action = 'UpdateItem' if kind == 'TransactUpdate' else kind
        words = self.of(who, [item]) if who.may(action, **context) else set()
        if kind in ('ConditionCheckItem', 'TransactUpdate'):
            return 'TransactWriteItems', {'TransactItems': [{'ConditionCheck' if kind == 'ConditionCheckItem' else 'Update': one}]}, words, True
        return kind, one, words, True

    def records(self, who):
        """A stream from its beginning: three requests, of which the last shows items."""
        key, words = self.keys[who.name], self.of(who, self.items)
        answers = self.send(self.streams(key, 'DescribeStream', {'StreamArn': self.stream}, who.tenant))
        # Whoever may not ask for iterators may still try one that somebody else was given.
        shards = self.must(self.streams(self.root, 'DescribeStream', {'StreamArn': self.stream}))['StreamDescription']['Shards']
        for shard in shards:
            start = {'StreamArn': self.stream, 'ShardId': shard['ShardId'], 'ShardIteratorType': 'TRIM_HORIZON'}
            answers += self.send(self.streams(key, 'GetShardIterator', start, who.tenant))
            iterator = self.must(self.streams(self.root, 'GetShardIterator', start))['ShardIterator']
            answers += self.send(self.streams(key, 'GetRecords', {'ShardIterator': iterator}, who.tenant))
        return answers, words if who.may('GetRecords', self.stream) else set(), set()

    def streams(self, key, operation, body, tenant=None):
        request = self.dynamo(key, operation, body, tenant)
        request.set('X-Amz-Target', 'DynamoDBStreams_20120810.' + operation)
        return request

    def send(self, request):
        request.sign()
        return send(self.host, request.bytes())[2]

    def page(self, who, path, query=(), accept=None):
        headers = ([('X-Tenant', who.tenant)] if who.tenant else []) + ([('Accept', accept)] if accept else [])
        return self.request(self.keys[who.name], 'GET', path, headers, query=query)

    def entity(self, who):
        item = self.some()
        may = who.may('GetItem', LeadingKeys=[item['PK']], Attributes=['PK', 'SK'], Select='ALL_ATTRIBUTES')
        request = self.page(who, f'/v1/app/{item["kind"]}', [('org', item['org']), ('id', item['id'])])
        return self.send(request), self.of(who, [item]) if may else set(), {item['id']}

    def pattern(self, who):
        status = self.chance.choice(STATUSES)
        may = who.may('Query', TABLE + '/index/GSI1', LeadingKeys=['STATUS#' + status], Attributes=['GSI1PK'], Select='ALL_ATTRIBUTES')
        words = self.of(who, [i for i in self.items if i.get('status') == status])
        return self.send(self.page(who, '/v1/app/byStatus', [('status', status)])), words if may else set(), set()

    def live(self, who):
        """Following a pattern is for those whom policies of the model do not bind."""
        status = self.chance.choice(STATUSES)
        may = who.bypasses() and who.may('Query', TABLE + '/index/GSI1', LeadingKeys=['STATUS#' + status], Attributes=['GSI1PK'], Select='ALL_ATTRIBUTES')
        request = self.page(who, '/v1/app/byStatus', [('status', status)], 'text/event-stream')
        request.sign()
        name, port = self.host.rsplit(':', 1)
        answer = b''
        with socket.create_connection((name, int(port)), 20) as connection:
            connection.sendall(request.bytes())
            while b'event: ready' not in answer and (piece := connection.recv(65536)):
                answer += piece
        return answer.decode(), self.of(who, [i for i in self.items if i.get('status') == status]) if may else set(), set()

    def file(self, who):
        key, number = self.keys[who.name], self.chance.randrange(len(ORGS))
        name = f'{ORGS[number]}/zqobject{number:04d}x'
        if self.chance.random() < 0.5:
            may = who.may('s3:GetObject', 'arn:aws:s3:::files/' + name) and who.tenant is None
            return self.send(self.object(key, 'GET', '/files/' + name, tenant=who.tenant)), {f'zqbody{number:04d}x'} if may else set(), {f'zqobject{number:04d}x'}
        may = who.may('s3:ListBucket', 'arn:aws:s3:::files') and who.tenant is None
        listed = {f'zqobject{i:04d}x' for i in range(len(ORGS))} if may else set()
        return self.send(self.object(key, 'GET', '/files', query=[('list-type', '2')], tenant=who.tenant)), listed, set()

    def export(self, who):
        """A copy of the whole table: a word of its own stands for what would be in it."""
        may = who.may('ExportTableToPointInTime') and who.may('s3:PutObject', f'arn:aws:s3:::exports/{who.name}/*') and who.bypasses() and who.tenant is None
        answer = self.send(self.dynamo(self.keys[who.name], 'ExportTableToPointInTime', {'TableArn': TABLE, 'S3Bucket': 'exports', 'S3Prefix': who.name + '/'}, who.tenant))
        return answer + ('zqexport0000x' if 'ExportDescription' in answer else ''), {'zqexport0000x'} if may else set(), set()

    # ---- Judging ---------------------------------------------------------------------------------------

    def ask(self):
        """One question; what is wrong, or None."""
        who = self.chance.choice(self.people)
        make = self.chance.choice([self.get, self.get, self.batch_get, self.transact_get, self.query, self.query, self.scan, self.statement, self.statement_scan, self.statements,
                                   self.statement_transaction, self.failing_write, self.failing_write, self.records, self.entity, self.pattern, self.live, self.file, self.export])
        path = make.__name__
        if path == 'export' and self.asked[path] == EXPORTS:
            make, path = self.get, 'get'
        self.asked[path] += 1
        if path in ('records', 'entity', 'pattern', 'live', 'file', 'export'):
            answer, words, own = make(who)
            got, words, exact, told = set(WORDS.findall(answer)) - own, words - own, True, path
        else:
            operation, body, words, exact = make(who)
            # What the client says itself tells it nothing.
            own = set(WORDS.findall(json.dumps(body)))
            answer = self.send(self.dynamo(self.keys[who.name], operation, body, who.tenant))
            got, words, told = set(WORDS.findall(answer)) - own, words - own, f'{operation} {json.dumps(body)}'
        self.seen[path] += len(got)
        if got <= words and (got == words or not exact):
            return None
        kind = 'LEAK' if got - words else 'MISSING'
        return (f'{kind} {path}: {sorted(got - words or words - got)[:6]}\n  {told}\n  tenant {who.tenant}, tags {who.tags}, bypasses {who.bypasses()}\n  policy {json.dumps(who.policy)}\n'
                f'  answer {answer[:600]}\n  ' + '\n  '.join(line for line in self.model.text().splitlines() if line.startswith(('allow', 'deny'))))


def hunt(seed, requests, totals):
    failures = []
    with tempfile.TemporaryDirectory() as scratch:
        made = json.loads(subprocess.run([BINARY, 'init', '--secure', os.path.join(scratch, 'db'), '--json'], capture_output=True, check=True).stdout)
        with Server(made['Data'], '--auth', 'enforce', '--master-key', f'file:{scratch}/db/secrets/master.key', '--lockout', 'off', '--tenant-header', 'x-tenant',
                    '--objects', os.path.join(scratch, 'objects')) as server:
            world = Hunt(server.endpoint.split('//')[1], (made['AccessKeyId'], made['SecretAccessKey']), seed)
            world.set_up(scratch)
            for _ in range(requests):
                wrong = world.ask()
                if wrong is not None:
                    failures.append(f'seed {seed}: {wrong}')
            totals[0].update(world.asked)
            totals[1].update(world.seen)
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--requests', type=int, default=4000)
    parser.add_argument('--round', type=int, default=1000, help='requests to one world')
    parser.add_argument('--seed', type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    print(f'seed {options.seed}', flush=True)
    totals, failed, asked, begun = (collections.Counter(), collections.Counter()), 0, 0, time.monotonic()
    while asked < options.requests:
        count = min(options.round, options.requests - asked)
        failures = hunt(options.seed + asked // options.round, count, totals)
        for failure in failures[:max(0, 8 - failed)]:
            print(failure, flush=True)
        failed, asked = failed + len(failures), asked + count
    # A path on which nothing was ever seen proves nothing.
    for path, number in sorted(totals[0].items()):
        if number >= 100 and totals[1][path] == 0:
            failed += 1
            print(f'FAILED {path}: {number} requests, and nobody saw anything')
    print('words seen: ' + ', '.join(f'{path} {totals[1][path]} in {number}' for path, number in sorted(totals[0].items())))
    print(f'note: {asked} requests in {time.monotonic() - begun:.0f} s with seed {options.seed}')
    print(f'{asked - failed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
