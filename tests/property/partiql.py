"""Expressions and items as PartiQL statements, so that both ways are held against the same reference."""
import re

from dolmen import ApiError
from generate import Places
from model import CONDITION, Failed, VALIDATION
from values import equal, order

DUPLICATE = 'DuplicateItemException'
CODES = {CONDITION: 'ConditionalCheckFailed', DUPLICATE: 'DuplicateItem', VALIDATION: 'ValidationError'}
TOKEN = re.compile(r'#\w+|:\w+')


def statement(text, places):
    """The text of an expression with its placeholders resolved: (PartiQL, parameters)."""
    parameters = []

    def resolve(match):
        token = match.group(0)
        if token[0] == '#':
            return '"' + places.names[token] + '"'
        parameters.append(places.values[token])
        return '?'
    return TOKEN.sub(resolve, text), parameters


def presence(text, random):
    """Writes some of the functions as IS [NOT] MISSING."""
    def replace(match):
        if random.random() < 0.5:
            return match.group(0)
        return match.group(2) + (' IS MISSING' if match.group(1) == 'not_' else ' IS NOT MISSING')
    return re.sub(r'attribute_(not_)?exists\(([#\w]+)\)', replace, text)


def split_list(text):
    """Splits at the commas that are in no parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == '(') - (c == ')')
        if c == ',' and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()]


def changes(text):
    """An UpdateExpression as SET and REMOVE clauses."""
    pieces = re.split(r'\b(SET|REMOVE|ADD|DELETE)\b', text)[1:]
    clauses = []
    for section, body in zip(pieces[::2], pieces[1::2]):
        for part in split_list(body):
            if section in ('SET', 'REMOVE'):
                clauses.append(f'{section} {part}')
                continue
            path, value = part.split()
            if path == 'num':
                # Only sets have an ADD of their own here.
                clauses.append(f'SET num = if_not_exists(num, 0) + {value}')
            else:
                clauses.append(f'SET {path} = set_{section.lower()}({path}, {value})')
    return ' '.join(clauses)


class Statements:
    """The steps of a round that go by PartiQL."""

    def statement_write(self):
        """An INSERT, UPDATE or DELETE: (statement, key, what it returns, run() -> (old, new))."""
        places = Places()
        key = self.some_key()
        kind = self.random.choice(['INSERT', 'INSERT', 'UPDATE', 'UPDATE', 'UPDATE', 'DELETE'])
        where = ' AND '.join(f'{places.name(name)} = {places.value(value)}' for name, value in key.items())
        returning, condition = None, None
        if kind == 'INSERT':
            item = self.make.item(dict(key))
            entries = ', '.join(f"'{name}': {places.value(value)}" for name, value in item.items())
            text, change = f'INSERT INTO "{self.table.name}" VALUE {{{entries}}}', lambda old: item
        else:
            if self.random.random() < 0.3:
                more, condition = self.make.condition(places)
                where += f' AND ({presence(more, self.random)})'
            if kind == 'UPDATE':
                update, apply = self.make.update(places)
                change = lambda old: apply(old, key)  # noqa: E731
                text = f'UPDATE "{self.table.name}" {changes(update)} WHERE {where}'
                returning = self.random.choice([None, 'ALL OLD', 'ALL NEW'])
            else:
                text, change = f'DELETE FROM "{self.table.name}" WHERE {where}', lambda old: None
                returning = self.random.choice([None, 'ALL OLD'])
        made, parameters = statement(text, places)
        request = {'Statement': made, **({'Parameters': parameters} if parameters else {})}

        def run():
            old = self.table.get(key)
            if kind == 'INSERT':
                refused = DUPLICATE if old is not None else None
            elif kind == 'UPDATE':
                refused = CONDITION if old is None or condition and not condition(old) else None
            else:
                refused = CONDITION if old is not None and condition and not condition(old) else None
            try:
                new = change(old)
                if new is not None:
                    self.table.check(new)
            except Failed:
                raise Failed(VALIDATION, also=refused) from None
            if refused:
                raise Failed(refused)
            return old, new
        return request, key, returning, run

    def partiql_write(self):
        request, key, returning, run = self.statement_write()
        if returning:
            request['Statement'] += f' RETURNING {returning} *'
        result = self.expect('ExecuteStatement', request, run)
        if result is None:
            return
        answer, (old, new) = result
        returned = {'ALL OLD': old, 'ALL NEW': new}.get(returning)
        self.same_items(answer['Items'], [returned] if returned is not None else [], f'ExecuteStatement: Items {request}')
        self.table.store(key, self.clone(new))

    def several(self, count):
        writes = {}
        for _ in range(count):
            request, key, _, run = self.statement_write()
            writes.setdefault(self.table.identity(key), (request, key, run))
        return list(writes.values())

    def partiql_batch(self):
        writes = self.several(self.random.randrange(1, 26))
        answer = self.api.call('BatchExecuteStatement', {'Statements': [request for request, _, _ in writes]})
        self.require(len(answer['Responses']) == len(writes), 'BatchExecuteStatement: responses')
        for (request, key, run), response in zip(writes, answer['Responses']):
            code = response.get('Error', {}).get('Code')
            try:
                new = run()[1]
            except Failed as failure:
                allowed = [CODES[name] for name in (failure.name, failure.also) if name]
                self.require(code in allowed, 'BatchExecuteStatement: expected an error', request, response, allowed)
                continue
            self.require(code is None, 'BatchExecuteStatement: unexpected error', request, response)
            self.table.store(key, self.clone(new))

    def partiql_transact(self):
        writes = self.several(self.random.randrange(1, 6))
        effects, codes = [], []
        for _, key, run in writes:
            try:
                effects.append((key, run()[1]))
                codes.append(['None'])
            except Failed as failure:
                codes.append([CODES[name] for name in (failure.name, failure.also) if name])
        request = {'TransactStatements': [request for request, _, _ in writes]}
        try:
            self.api.call('ExecuteTransaction', request)
        except ApiError as error:
            if error.name == VALIDATION and any('ValidationError' in c for c in codes):
                return
            self.require(error.name == 'TransactionCanceledException', f'ExecuteTransaction failed: {error}', request)
            actual = [reason['Code'] for reason in error.document['CancellationReasons']]
            early = 'ValidationError' in actual
            matches = [a in c or early and a == 'None' for a, c in zip(actual, codes)]
            self.require(len(actual) == len(codes) and all(matches), 'ExecuteTransaction: reasons', request, actual, codes)
            return
        self.require(all(c == ['None'] for c in codes), f'ExecuteTransaction should fail: {codes}', request)
        for key, new in effects:
            self.table.store(key, self.clone(new))

    # ---- Reads ----------------------------------------------------------------------------------

    def partiql_get(self):
        keys = list({self.table.identity(key): key for key in (self.some_key() for _ in range(10))}.values())
        statements = []
        for key in keys:
            places = Places()
            where = ' AND '.join(f'{places.name(name)} = {places.value(value)}' for name, value in key.items())
            text, parameters = statement(f'SELECT * FROM "{self.table.name}" WHERE {where}', places)
            statements.append({'Statement': text, 'Parameters': parameters})
        operation, member = self.random.choice([('BatchExecuteStatement', 'Statements'), ('ExecuteTransaction', 'TransactStatements')])
        answer = self.api.call(operation, {member: statements})
        self.require(len(answer['Responses']) == len(keys), f'{operation}: responses')
        for key, response in zip(keys, answer['Responses']):
            expected = self.table.get(key)
            self.same_items([response['Item']] if 'Item' in response else [], [expected] if expected else [], f'{operation} {key}')

    def partiql_select(self):
        """A Query, several by IN, or a Scan."""
        index_name = self.some_index()
        index = self.table.indexes.get(index_name)
        key = self.table.key if index is None else index.key
        rows = self.table.view(index_name)
        places = Places()
        hash_name, hash_type = key[0]
        terms, tail = [], ''
        how = self.random.choice(['=', '=', '=', 'IN', 'scan'])
        values = [self.random.choice(rows)[0][hash_name] if rows and self.random.random() < 0.9 else self.make.scalar(hash_type)
                  for _ in range(1 if how == '=' else 4)]
        values = [v for i, v in enumerate(values) if not any(equal(v, other) for other in values[:i])]  # IN refuses repeats
        if how != 'scan':
            place = places.name(hash_name)
            listed = ', '.join(places.value(v) for v in values)
            terms.append(f'{place} = {listed}' if how == '=' else f'{place} IN [{listed}]')
            rows = [row for row in rows if any(equal(row[0][hash_name], v) for v in values)]
        sort_name = key[1][0] if len(key) > 1 else None
        for _ in range(self.random.randrange(3) if sort_name and how != 'scan' else 0):
            condition, keep = self.sort_condition(places, *key[1])
            terms.append(condition)
            rows = [row for row in rows if keep(row[0][sort_name])]
        filter_text, predicate = self.filter_for(places, index_name, [name for name, _ in key])
        if filter_text:
            terms.append(f'({presence(filter_text, self.random)})')
            rows = [row for row in rows if predicate(row[1])]
        self.random.shuffle(terms)
        backward = self.random.random() < 0.4
        if sort_name and how != 'scan':
            first = f'"{hash_name}", ' if len(values) > 1 else ''
            tail = f' ORDER BY {first}"{sort_name}" ' + ('DESC' if backward else 'ASC')
        source = f'"{self.table.name}"' + (f'."{index_name}"' if index_name else '')
        text = f'SELECT * FROM {source}' + (' WHERE ' + ' AND '.join(terms) if terms else '') + tail
        made, parameters = statement(text, places)
        request = {'Statement': made, **({'Parameters': parameters} if parameters else {})}
        items = self.statement_pages(request)
        self.same_items(items, [row[1] for row in rows], f'ExecuteStatement {request}')
        if tail:
            self.check_partitions(items, hash_name, sort_name, backward, request)

    def statement_pages(self, request):
        limit = self.random.choice([None, None, 1, 3, 8, 50])
        if limit:
            request = {**request, 'Limit': limit}
        items, token, pages = [], None, 0
        while True:
            page = self.api.call('ExecuteStatement', {**request, **({'NextToken': token} if token else {})})
            self.require(not limit or len(page['Items']) <= limit, 'ExecuteStatement: more than Limit', request)
            items += page['Items']
            token = page.get('NextToken')
            pages += 1
            self.require(pages < 3000, 'ExecuteStatement: paging does not end', request)
            if token is None:
                return items

    def check_partitions(self, items, hash_name, sort_name, backward, request):
        """Partitions in ascending order, within each the sort key in the order asked for."""
        for one, two in zip(items, items[1:]):
            a, b = order(one[hash_name]), order(two[hash_name])
            self.require(a <= b, 'ExecuteStatement: order of partitions', request, one, two)
            x, y = order(one[sort_name]), order(two[sort_name])
            self.require(a != b or (x >= y if backward else x <= y), 'ExecuteStatement: order', request, one, two)
