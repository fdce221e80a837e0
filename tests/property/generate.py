"""Random keys, items, conditions and updates, each with what it means to the reference."""
import os

from values import B, N, S, equal, function_size, kind, number, order
from model import Failed, VALIDATION, clone

TEXTS = ['a', 'A', 'A#', '#B', 'ab', 'b', 'é', '\u0000', '\u0000\u0001', '\uffff', '\U0001f600', 'x' * 40, '10', '9']
NUMBERS = ['0', '1', '-1', '2', '10', '9', '-10', '0.5', '-0.5', '100', '1E20', '-1E20', '1E-10', '123456789.987654321',
           '99999999999999999999999999999999999999', '3.14']
if os.environ.get('DOLMEN_FOREIGN') == '1':
    NUMBERS.remove('1E-10')  # Others write it with an exponent.
BYTES = [b'\x00', b'\x00\x00', b'\x01', b'\x7f', b'\x80', b'\xff', b'\xff\x00', b'abc']

# What conditions may name.
NAMES = ['note', 'num', 'marks', 'free', 'doc', 'bulky', 'color', 'weight', 'label', 'serial']


class Generator:
    def __init__(self, random, table):
        self.random = random
        self.table = table

    def chance(self, probability):
        return self.random.random() < probability

    def scalar(self, wanted):
        if wanted == 'S':
            return S(self.random.choice(TEXTS))
        if wanted == 'N':
            return N(self.random.choice(NUMBERS) if self.chance(0.5) else self.random.randrange(-20, 20))
        return B(self.random.choice(BYTES))

    def key(self):
        return {name: self.wide(wanted) for name, wanted in self.table.key}

    def wide(self, wanted):
        """A scalar out of many, so that the table fills."""
        if self.chance(0.5):
            return self.scalar(wanted)
        n = self.random.randrange(60)
        return S(f'k{n}') if wanted == 'S' else N(n * 7 - 100) if wanted == 'N' else B(bytes([n, n * 3 % 7]))

    def any_value(self, depth=2):
        choice = self.random.randrange(11 if depth else 7)
        if choice < 2:
            return S(self.random.choice(TEXTS + ['']))
        if choice < 4:
            return self.scalar('N')
        if choice == 4:
            return B(self.random.choice(BYTES + [b'']))
        if choice == 5:
            return {'BOOL': self.chance(0.5)}
        if choice == 6:
            return {'NULL': True}
        if choice == 7:
            return self.string_set()
        if choice == 8:
            return {'NS': sorted({self.scalar('N')['N'] for _ in range(self.random.randrange(1, 4))})}
        if choice == 9:
            return {'L': [self.any_value(depth - 1) for _ in range(self.random.randrange(4))]}
        return {'M': {self.random.choice('klm'): self.any_value(depth - 1) for _ in range(self.random.randrange(4))}}

    def string_set(self):
        return {'SS': sorted({self.random.choice('stuvw') for _ in range(self.random.randrange(1, 4))})}

    def item(self, key=None):
        item = key or self.key()
        for index in self.table.indexes.values():
            for name, wanted in index.key:
                if name not in item and self.chance(0.6):
                    item[name] = self.any_value() if self.chance(0.01) else self.scalar(wanted)
        if self.chance(0.5):
            item['note'] = S('n' * self.random.randrange(1, 60))
        if self.chance(0.03):
            item['bulky'] = S('p' * self.random.randrange(1000, 9000))
        if self.chance(0.5):
            item['num'] = N(self.random.randrange(-5, 50))
        if self.chance(0.3):
            item['marks'] = self.string_set()
        if self.chance(0.3):
            item['doc'] = {'M': {'k': self.any_value(), 'l': {'L': [self.any_value(1)]}}}
        if self.chance(0.3):
            item['free'] = self.any_value()
        if self.chance(0.5):
            item['serial'] = N(self.random.randrange(5))
        return item

    # ---- Conditions: (expression, predicate) over placeholders collected in `names` ------------

    def condition(self, places, names=NAMES, depth=2):
        """Answers (text, function of an item); only attributes of `names` are named."""
        choice = self.random.randrange(13 if depth else 10)
        name = self.random.choice(names)
        needed = {2: 'num', 3: 'num', 5: 'num', 6: 'num', 7: 'note', 8: 'marks'}.get(choice)
        if choice == 0 or (needed and needed not in names):
            return f'attribute_exists({places.name(name)})', lambda i: name in i
        if choice == 1:
            return f'attribute_not_exists({places.name(name)})', lambda i: name not in i
        if choice in (2, 3):
            value = N(self.random.randrange(-5, 50))
            sign = self.random.choice(['=', '<>', '<', '<=', '>', '>='])
            place = places.value(value)
            return f'num {sign} {place}', lambda i: compare(sign, i.get('num'), value)
        if choice == 4:
            value = self.any_value()
            place = places.value(value)
            sign = self.random.choice(['=', '<>'])
            return f'{places.name(name)} {sign} {place}', lambda i: compare(sign, i.get(name), value)
        if choice == 5:
            low, high = sorted(self.random.randrange(-5, 50) for _ in range(2))
            a, b = N(low), N(high)
            text = f'num BETWEEN {places.value(a)} AND {places.value(b)}'
            return text, lambda i: compare('>=', i.get('num'), a) and compare('<=', i.get('num'), b)
        if choice == 6:
            options = [N(self.random.randrange(-5, 20)) for _ in range(3)]
            text = 'num IN (' + ', '.join(places.value(o) for o in options) + ')'
            return text, lambda i: 'num' in i and any(equal(i['num'], o) for o in options)
        if choice == 7:
            value = S('n' * self.random.randrange(1, 40))
            return f'begins_with(note, {places.value(value)})', lambda i: 'note' in i and kind(i['note']) == 'S' and i['note']['S'].startswith(value['S'])
        if choice == 8:
            member = S(self.random.choice('stuvw'))
            return f'contains(marks, {places.value(member)})', lambda i: contains(i.get('marks'), member)
        if choice == 9:
            value = N(self.random.randrange(0, 40))
            sign = self.random.choice(['<', '<=', '>', '>='])
            place = places.value(value)

            def by_size(i):
                length = function_size(i[name]) if name in i else None
                return length is not None and compare(sign, N(length), value)
            return f'size({places.name(name)}) {sign} {place}', by_size
        one, first = self.condition(places, names, depth - 1)
        if choice == 10:
            return f'NOT ({one})', lambda i: not first(i)
        two, second = self.condition(places, names, depth - 1)
        if choice == 11:
            return f'({one}) AND ({two})', lambda i: first(i) and second(i)
        return f'({one}) OR ({two})', lambda i: first(i) or second(i)

    # ---- Updates: (expression, change) -----------------------------------------------------------

    def update(self, places):
        """Answers (text, function of the old item or None and its key: the new one, or None; raises Failed)."""
        sections = {}
        changes = []
        used = set()
        for _ in range(self.random.randrange(1, 4)):
            made = self.action(places, used)
            if made:
                section, text, change = made
                sections.setdefault(section, []).append(text)
                changes.append(change)
        if not changes:
            place = places.value(N(1))
            sections, changes = {'SET': [f'num = {place}']}, [lambda old, new: new.update(num=N(1))]

        def apply(old, key):
            # What only removes makes no item.
            if old is None and not sections.keys() - {'REMOVE', 'DELETE'}:
                return None
            old = old if old is not None else dict(key)
            new = clone(old)
            for change in changes:
                change(old, new)
            return new
        return ' '.join(f'{section} ' + ', '.join(texts) for section, texts in sections.items()), apply

    def action(self, places, used):
        names = {name: wanted for index in self.table.indexes.values() for name, wanted in index.key}
        keys = {name for name, _ in self.table.key}
        choice = self.random.randrange(8)
        if choice in (0, 1):
            name = self.random.choice([n for n in names if n not in keys] + ['note', 'free'])
            if name in used:
                return None
            used.add(name)
            value = self.scalar(names.get(name, 'S')) if not self.chance(0.02) else self.any_value()
            return 'SET', f'{places.name(name)} = {places.value(value)}', lambda old, new: new.update({name: value})
        if choice == 2:
            name = self.random.choice([n for n in names if n not in keys] + ['note', 'free', 'doc', 'marks', 'num'])
            if name in used:
                return None
            used.add(name)
            return 'REMOVE', places.name(name), lambda old, new: new.pop(name, None)
        if choice == 3 and 'num' not in used:
            used.add('num')
            by = self.random.randrange(-3, 4)
            return 'ADD', f'num {places.value(N(by))}', lambda old, new: new.update(num=add(old.get('num', N(0)), by))
        if choice == 4 and 'num' not in used:
            used.add('num')
            by = self.random.randrange(-3, 4)
            if self.chance(0.5):
                text = f'num = if_not_exists(num, {places.value(N(0))}) + {places.value(N(by))}'
                return 'SET', text, lambda old, new: new.update(num=add(old.get('num', N(0)), by))

            def minus(old, new):
                if 'num' not in old:
                    raise Failed(VALIDATION)
                new['num'] = add(old['num'], -by)
            return 'SET', f'num = num - {places.value(N(by))}', minus
        if choice == 5 and 'marks' not in used:
            used.add('marks')
            members = self.string_set()
            if self.chance(0.5):
                return 'ADD', f'marks {places.value(members)}', lambda old, new: unite(old, new, members)
            return 'DELETE', f'marks {places.value(members)}', lambda old, new: subtract(old, new, members)
        if choice == 6 and 'doc' not in used:
            used.add('doc')
            value = self.any_value(1)

            def deep(old, new):
                if 'doc' not in old or kind(old['doc']) != 'M':
                    raise Failed(VALIDATION)
                new['doc']['M']['k'] = value
            return 'SET', f'doc.k = {places.value(value)}', deep
        if choice == 7 and 'list' not in used:
            used.add('list')
            value = {'L': [self.scalar('N')]}
            text = f'things = list_append(if_not_exists(things, {places.value({"L": []})}), {places.value(value)})'
            return 'SET', text, lambda old, new: new.update(things={'L': old.get('things', {'L': []})['L'] + value['L']})
        return None


def compare(sign, a, b):
    """A comparison as the service makes it: a missing side is different and not ordered."""
    if sign == '=':
        return a is not None and equal(a, b)
    if sign == '<>':
        return a is None or not equal(a, b)
    if a is None or kind(a) != kind(b):
        return False
    x, y = order(a), order(b)
    return {'<': x < y, '<=': x <= y, '>': x > y, '>=': x >= y}[sign]


def contains(container, member):
    if container is None:
        return False
    tag = kind(container)
    if tag == 'SS':
        return member['S'] in container['SS']
    return tag == 'S' and member['S'] in container['S']


def add(value, by):
    from decimal import Decimal, localcontext
    if kind(value) != 'N':
        raise Failed(VALIDATION)
    with localcontext() as context:
        context.prec = 60
        return {'N': number(Decimal(value['N']) + by)}


def unite(old, new, members):
    new['marks'] = {'SS': sorted(set(old.get('marks', {'SS': []})['SS']) | set(members['SS']))}


def subtract(old, new, members):
    if 'marks' not in old:
        return
    left = sorted(set(old['marks']['SS']) - set(members['SS']))
    if left:
        new['marks'] = {'SS': left}
    else:
        del new['marks']


class Places:
    """Collects the placeholders of one request."""

    def __init__(self):
        self.values = {}
        self.names = {}

    def value(self, value):
        for place, known in self.values.items():
            if known == value:
                return place
        place = f':v{len(self.values)}'
        self.values[place] = value
        return place

    def name(self, name):
        if len(name) % 2:
            return name
        place = '#' + name
        self.names[place] = name
        return place

    def request(self):
        request = {}
        if self.values:
            request['ExpressionAttributeValues'] = self.values
        if self.names:
            request['ExpressionAttributeNames'] = self.names
        return request
