"""Every way to write: requests made of the forge's items and changes, sent over one connection, and requests sent again."""
import json
import socket
import time
from collections import Counter, deque
from urllib.parse import quote, urlsplit

from design import shown
from dolmen import AUTHORIZATION
from writes import literal, plain

RETRY = ('ProvisionedThroughputExceededException', 'ThrottlingException', 'TransactionInProgressException')


class Wire:
    """A keep-alive connection, without more of HTTP than the server's own answers need."""

    def __init__(self, endpoint):
        place = urlsplit(endpoint)
        self.socket = socket.create_connection((place.hostname, place.port), 300)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head = f'Host: {place.netloc}\r\nX-Amz-Date: 20260101T000000Z\r\nAuthorization: {AUTHORIZATION}\r\n'
        self.rest = b''

    def send(self, method, path, body, kind, more=''):
        head = f'{method} {path} HTTP/1.1\r\n{self.head}{more}Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n'
        self.socket.sendall(head.encode() + body)
        while (end := self.rest.find(b'\r\n\r\n')) < 0:
            self.receive()
        lines, self.rest = self.rest[:end].decode('latin-1').split('\r\n'), self.rest[end + 4:]
        length = next((int(line.split(':')[1]) for line in lines if line.lower().startswith('content-length:')), 0)
        while len(self.rest) < length:
            self.receive()
        body, self.rest = self.rest[:length], self.rest[length:]
        return int(lines[0].split()[1]), body

    def receive(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError('the server has hung up')
        self.rest += data

    def call(self, operation, body):
        return self.send('POST', '/', body, 'application/x-amz-json-1.0', f'X-Amz-Target: DynamoDB_20120810.{operation}\r\n')


class Writer:
    """One client: `run` writes that many items, in whatever ways, and gathers what was answered."""

    def __init__(self, endpoint, forge, table, typed):
        self.wire, self.forge, self.r, self.table, self.typed = Wire(endpoint), forge, forge.r, table, typed
        self.taken, self.refused, self.faults = Counter(), Counter(), Counter()
        self.samples, self.again, self.tokens, self.written = {}, deque(), 0, 0

    def fault(self, what, *details):
        self.faults[what] += 1
        self.samples.setdefault(what, ' '.join(map(str, details))[:4000])

    def answered(self, way, count, status, body):
        self.written += count
        (self.taken if status < 300 else self.refused)[way] += count
        if status >= 500:
            self.fault('errors of the server', way, status, body)
        return status < 300

    def call(self, way, request, count=1):
        status, body = self.wire.call(way, json.dumps(request).encode())
        return self.answered(way, count, status, body), body

    # ---- Requests ----------------------------------------------------------------------------

    def update(self, malice=0.6):
        """The members of an update of a key, or None."""
        key = self.forge.key()
        parts = self.forge.change(key, malice)
        if not parts or not key:
            return None
        names, values, words = {}, {}, {'SET': [], 'REMOVE': [], 'ADD': []}
        for i, (form, name, another, value) in enumerate(parts):
            names[f'#{i}'] = name
            if form == 'remove':
                words['REMOVE'].append(f'#{i}')
                continue
            if form == 'copy':
                names[f'#x{i}'] = another
                words['SET'].append(f'#{i} = #x{i}')
                continue
            values[f':{i}'] = value
            if form == 'add':
                words['ADD'].append(f'#{i} :{i}')
            elif form == 'inside':
                names[f'#x{i}'] = another
                words['SET'].append(f'#{i}.#x{i} = :{i}')
            else:
                words['SET'].append({'=': f'#{i} = :{i}', 'once': f'#{i} = if_not_exists(#{i}, :{i})', 'sum': f'#{i} = #{i} + :{i}'}[form])
        expression = ' '.join(f'{word} {", ".join(list_)}' for word, list_ in words.items() if list_)
        request = {'TableName': self.table, 'Key': key, 'UpdateExpression': expression, 'ExpressionAttributeNames': names}
        return {**request, **({'ExpressionAttributeValues': values} if values else {})}

    def delete(self):
        return {'TableName': self.table, 'Key': self.forge.key()}

    def action(self, malice):
        """One of a transaction."""
        choice = self.r.random()
        if choice < 0.5:
            return 'Put', {'TableName': self.table, 'Item': self.forge.put(malice)[1]}
        return ('Delete', self.delete()) if choice > 0.95 else ('Update', self.update(malice) or self.delete())

    def statement(self, malice=0.6):
        choice = self.r.random()
        if choice < 0.5:
            members = {n: literal(v) for n, v in self.forge.put(malice)[1].items()}
            words = ', '.join(f"'{n}': {v}" for n, v in members.items())
            return None if None in members.values() else f'INSERT INTO "{self.table}" VALUE {{{words}}}'
        key = self.forge.key()
        where = ' AND '.join(f'"{n}" = {literal(v)}' for n, v in key.items())
        if choice > 0.95:
            return f'DELETE FROM "{self.table}" WHERE {where}'
        parts = []
        for form, name, another, value in self.forge.change(key, malice):
            word = literal(value) if value else ''
            forms = {'remove': f'REMOVE "{name}"', 'copy': f'SET "{name}" = "{another}"', 'sum': f'SET "{name}" = "{name}" + {word}',
                     'inside': f'SET "{name}"."{another}" = {word}'}
            parts.append(forms.get(form, f'SET "{name}" = {word}'))
        return f'UPDATE "{self.table}" {" ".join(parts)} WHERE {where}' if parts and not any('None' in p for p in parts) else None

    # ---- Ways --------------------------------------------------------------------------------

    def put_item(self):
        entity, item = self.forge.put()
        ok, _ = self.call('PutItem', {'TableName': self.table, 'Item': item})
        if ok:
            self.forge.remember(entity, item)

    def update_item(self):
        request = self.update()
        if request is None:
            return
        request['ReturnValues'] = self.r.choice(['NONE', 'ALL_NEW', 'ALL_NEW', 'UPDATED_NEW'])
        self.call('UpdateItem', request)

    def update_as_before(self):
        """An update in the words of before expressions."""
        key = self.forge.key()
        updates = {name: {'Action': {'remove': 'DELETE', 'add': 'ADD'}.get(form, 'PUT'), **({'Value': value} if form != 'remove' else {})}
                   for form, name, _, value in self.forge.change(key)}
        if updates:
            self.answered('AttributeUpdates', 1, *self.wire.call(
                'UpdateItem', json.dumps({'TableName': self.table, 'Key': key, 'AttributeUpdates': updates}).encode()))

    def delete_item(self):
        self.call('DeleteItem', self.delete())

    def batch(self):
        count = self.r.choice([1, 1, 2, 4, 25])
        puts = [{'PutRequest': {'Item': self.forge.put(0.6 / count)[1]}} for _ in range(count)]
        if self.r.random() < 0.2:
            puts.append({'DeleteRequest': {'Key': self.forge.key()}})
        self.call('BatchWriteItem', {'RequestItems': {self.table: puts[:25]}}, len(puts[:25]))

    def transact(self):
        count = self.r.choice([1, 1, 2, 3, 6])
        actions = [dict([self.action(0.5 / count)]) for _ in range(count)]
        self.with_token('TransactWriteItems', {'TransactItems': actions}, len(actions))

    def execute(self):
        if statement := self.statement():
            self.call('ExecuteStatement', {'Statement': statement})

    def execute_batch(self):
        statements = [{'Statement': s} for _ in range(self.r.randrange(1, 6)) if (s := self.statement())]
        if statements:
            self.call('BatchExecuteStatement', {'Statements': statements}, len(statements))

    def execute_transaction(self):
        count = self.r.choice([1, 1, 2, 3])
        statements = [{'Statement': s} for _ in range(count) if (s := self.statement(0.5 / count))]
        if statements:
            self.with_token('ExecuteTransaction', {'TransactStatements': statements}, len(statements))

    def with_token(self, way, request, count):
        if self.r.random() < 0.5:
            self.tokens += 1
            request['ClientRequestToken'] = f'{self.forge.name}-{self.tokens}'
        body = json.dumps(request).encode()
        status, answer = self.wire.call(way, body)
        if self.answered(way, count, status, answer) and 'ClientRequestToken' in request:
            self.again.append((self.r.randrange(1, 40), way, request, body))

    def replay(self):
        """Sends an old request again: it was done, and is not done again."""
        _, way, request, body = self.again.popleft()
        other = self.r.random() < 0.1
        if other:
            kept = next(v for v in request.values() if isinstance(v, list))
            kept.append(kept[0])
            body = json.dumps(request).encode()
        end = time.monotonic() + 30
        while True:
            status, answer = self.wire.call(way, body)
            if status < 300 or time.monotonic() > end or not any(name.encode() in answer for name in RETRY):
                break
        self.taken['sent again'] += not other
        if status >= 300 and not other:
            self.fault('refused replays', way, answer, body)
        if status < 300 and other:
            self.fault('tokens that two requests had', way, body)

    # ---- The data API --------------------------------------------------------------------------

    def data(self):
        model = self.forge.model
        if self.r.random() < 0.5:
            entity, item = self.forge.put()
            body = {n: plain(v) for n, v in item.items() if n != 'kind' and n not in ('PK', 'SK') and 'B' not in v}
            method, key = self.r.choice([('POST', None), ('PUT', item)])
        else:
            entity, key = self.forge.known_item(model)
            changes = {name: value for form, name, _, value in self.forge.change(self.forge.key_of(model, entity, key))
                       if form not in ('remove', 'inside')}
            body = {n: plain(v) for n, v in changes.items() if 'B' not in v}
            method = self.r.choice(['PATCH'] * 8 + ['DELETE'])
        self.by_data_api(model, entity, method, key, body)

    def by_data_api(self, model, entity, method, key, body):
        names = model.key if model.native else sorted(entity.fixed)
        named = {} if key is None else {n: shown(key[n]) for n in names if n in key and set(key[n]) & {'S', 'N', 'BOOL'}}
        if key is not None and len(named) < len(names):
            return
        choice = self.r.random()
        if choice < 0.3:
            op = {'POST': 'create', 'PUT': 'replace', 'PATCH': 'patch', 'DELETE': 'delete'}[method]
            one = {'op': op, 'entity': entity.name, **({'key': {n: plain(key[n]) for n in named}} if key else {})}
            one.update({'item': body} if op != 'delete' else {})
            way = self.r.choice(['$batch', '$transaction'])
            status, answer = self.wire.send('POST', f'/v1/{self.table}/{way}', json.dumps([one]).encode(), 'application/json')
            self.answered('data ' + way, 1, status, answer)
            return
        query = '&'.join(f'{n}={quote(str(v), safe="")}' for n, v in named.items())
        path = f'/v1/{self.table}/{entity.name}' + (f'?{query}' if query else '')
        status, answer = self.wire.send(method, path, b'' if method == 'DELETE' else json.dumps(body).encode(), 'application/json')
        self.answered('data ' + method, 1, status, answer)

    # ---- All of them ---------------------------------------------------------------------------

    WAYS = [(put_item, 6), (update_item, 10), (update_as_before, 2), (delete_item, 1), (batch, 3), (transact, 4), (execute, 3), (execute_batch, 1),
            (execute_transaction, 2), (data, 4)]

    def run(self, writes):
        ways, weights = zip(*self.WAYS)
        while self.written < writes:
            self.r.choices(ways, weights)[0](self)
            if self.again and self.r.random() < 1 / self.again[0][0]:
                self.replay()
        while self.again:
            self.replay()
