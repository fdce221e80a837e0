"""Random statements on a table with indexes: SELECT, INSERT, UPDATE in both forms, DELETE, alone, in batches and in transactions. Each is
written from a tree (grammar.py), and must do what the tree means."""
import os
import random
import sys
import traceback

from dolmen import Api, ApiError
from grammar import Text, compare, faulty, find, holds, names
from values import B, N, S, kind, order

STATEMENTS = int(os.environ.get('STATEMENTS', '6000'))
VALIDATION, CONDITION, DUPLICATE = 'ValidationException', 'ConditionalCheckFailedException', 'DuplicateItemException'
ATTRIBUTES = ['a', 'b', 'c', 'date', 'c d', 'm', 'l', 'ss', 'ns', 'n', 'size']
INDEXES = {'gsi': ('g', 'h', ['a', 'm']), 'lsi': ('pk', 'h', [])}


class Wrong(AssertionError):
    pass


class Refused(Exception):
    """The statement must fail so."""


class World:
    def __init__(self, api, seed, sort):
        self.random = random.Random(f'{seed} {sort}')
        self.api = api
        self.sort = sort
        self.name = f'statements-{sort}'
        self.items = {}
        self.speak_of = ATTRIBUTES  # what conditions are about
        self.keys = 0.2  # how often they are about keys
        api.call('CreateTable', {
            'TableName': self.name, 'BillingMode': 'PAY_PER_REQUEST',
            'AttributeDefinitions': [{'AttributeName': n, 'AttributeType': t} for n, t in [('pk', 'S'), ('sk', sort), ('g', 'S'), ('h', 'N')]],
            'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}, {'AttributeName': 'sk', 'KeyType': 'RANGE'}],
            'GlobalSecondaryIndexes': [{'IndexName': 'gsi', 'KeySchema': [{'AttributeName': 'g', 'KeyType': 'HASH'}, {'AttributeName': 'h', 'KeyType': 'RANGE'}],
                                        'Projection': {'ProjectionType': 'INCLUDE', 'NonKeyAttributes': INDEXES['gsi'][2]}}],
            'LocalSecondaryIndexes': [{'IndexName': 'lsi', 'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}, {'AttributeName': 'h', 'KeyType': 'RANGE'}],
                                       'Projection': {'ProjectionType': 'KEYS_ONLY'}}]})

    def chance(self, p):
        return self.random.random() < p

    def pick(self, *choices):
        return self.random.choice(choices)

    # ---- Values ----------------------------------------------------------------------------------

    def scalar(self, tag):
        if tag == 'N':
            return N(self.pick(0, 1, 2, 3, -1, 10, '0.5', '-2.25', '1234567890.125'))
        if tag == 'B':
            return B(self.pick(b'', b'a', b'ab', b'\xff'))
        return S(self.pick('', 'a', 'b', 'ab', "it's", 'x y', '\u00e9', '--', '/*', '?'))

    def value(self, depth=2):
        tag = self.pick('S', 'S', 'N', 'N', 'B', 'BOOL', 'NULL', 'SS', 'NS', 'L', 'M')
        if tag in ('S', 'N', 'B'):
            return self.scalar(tag)
        if tag == 'BOOL':
            return {'BOOL': self.chance(0.5)}
        if tag == 'NULL':
            return {'NULL': True}
        if tag in ('SS', 'NS'):
            return self.set_of(tag)
        if depth == 0:
            return {'L': []}
        if tag == 'L':
            return {'L': [self.value(depth - 1) for _ in range(self.random.randrange(4))]}
        return {'M': {self.pick('x', 'y', 'date', "o'k"): self.value(depth - 1) for _ in range(self.random.randrange(3))}}

    def set_of(self, tag):
        members = {next(iter(self.scalar(tag[0]).values())) for _ in range(self.random.randrange(1, 4))}
        return {tag: sorted(members - {''} or {'1'})}

    def key(self):
        sort = S(self.pick('a', 'b', 'ab', 'c', 'ba')) if self.sort == 'S' else N(self.pick(1, 2, 3, -1, '0.5', 10))
        return {'pk': S(self.pick('p', 'q', 'r')), 'sk': sort}

    def identity(self, key):
        return key['pk']['S'], next(iter(key['sk'].values()))

    def attribute(self, name):
        if name == 'g':
            return S(self.pick('g1', 'g2'))
        if name in ('h', 'n'):
            return N(self.pick(1, 2, 3, 5))
        if name in ('ss', 'ns'):
            return self.set_of(name.upper())
        if name == 'l':
            return {'L': [self.value(1) for _ in range(self.random.randrange(4))]}
        if name == 'm':
            return {'M': {n: self.value(1) for n in ('x', 'y', 'date') if self.chance(0.6)}}
        return self.value()

    def item(self):
        return {**self.key(), **{name: self.attribute(name) for name in ATTRIBUTES + ['g', 'h'] if self.chance(0.5)}}

    # ---- Conditions ------------------------------------------------------------------------------

    def steps(self):
        name = self.pick(*self.speak_of)
        if name == 'm' and self.chance(0.7):
            return ('m', self.pick('x', 'y', 'date', "o'k"))
        if name == 'l' and self.chance(0.7):
            return ('l', self.pick(0, 1, 2))
        return (name,)

    def operand(self, like=None):
        if self.chance(0.1):
            return ('path', self.steps())
        stored = [v for item in self.items.values() for v in [find(item, like)] if v is not None] if like and self.chance(0.7) else []
        return ('value', self.random.choice(stored) if stored else self.value(1))

    def ordered(self, like):
        """An operand of an order, which is of a type that has one, but for mistakes."""
        operand = self.operand(like)
        return operand if operand[0] == 'path' or kind(operand[1]) in ('S', 'N', 'B') or self.chance(0.03) else ('value', self.scalar(self.pick('S', 'N')))

    def on_key(self, name, tag):
        """A condition on a key attribute, always of its type."""
        constant = lambda: ('value', self.key()[name] if name in ('pk', 'sk') else self.attribute(name))
        path = ('path', (name,))
        choice = self.random.randrange(6)
        if choice == 0:
            low, high = sorted([constant(), constant()], key=lambda c: order(c[1]))
            return ('between', path, low, high)
        if choice == 1 and tag == 'S':
            return ('call', 'begins_with', [path, ('value', S(self.pick('a', 'b', 'p')))])
        if choice == 2:
            return ('in', (name,), [constant()[1] for _ in range(self.random.randrange(1, 3))])
        sign = self.pick('=', '=', '<>', '<', '<=', '>', '>=')
        return ('cmp', sign, constant(), path) if self.chance(0.2) else ('cmp', sign, path, constant())

    def leaf(self):
        choice = self.random.randrange(2, 10)
        steps = self.steps()
        path = ('path', steps)
        if self.chance(self.keys):
            return self.on_key(*self.pick(('pk', 'S'), ('sk', self.sort), ('g', 'S'), ('h', 'N')))
        if choice < 5:
            left = ('size', steps) if self.chance(0.15) else path
            sign = self.pick('=', '=', '<>', '<', '<=', '>', '>=')
            right = self.operand(steps) if sign in ('=', '<>') else self.ordered(steps)
            if left[0] == 'size':
                right = ('value', N(self.random.randrange(4)))
            return ('cmp', sign, *((left, right) if self.chance(0.8) else (right, left)))
        if choice == 5:
            low, high = self.ordered(steps), self.ordered(steps)
            if low[0] == high[0] == 'value' and kind(low[1]) != kind(high[1]) and self.chance(0.9):
                high = low
            if low[0] == high[0] == 'value' and kind(low[1]) == kind(high[1]) and not compare('<=', low[1], high[1]):
                low, high = high, low
            return ('between', path, low, high)
        if choice == 6:
            return ('in', steps, [self.value(1) for _ in range(self.random.randrange(1, 4))])
        if choice == 7:
            return ('is', steps, 'INT4' if self.chance(0.02) else
                    self.pick('NULL', 'MISSING', 'BOOL', 'STRING', 'DECIMAL', 'LIST', 'STRUCT', 'BAG', 'BLOB', 'TUPLE'))
        made = self.pick(('attribute_exists', [path]), ('attribute_not_exists', [path]),
                         ('attribute_type', [path, ('value', S(self.pick('S', 'N', 'SS', 'M', 'L', 'BOOL', 'NULL')))]),
                         ('begins_with', [path, ('value', self.scalar(self.pick('S', 'S', 'B', *(['N'] if self.chance(0.1) else []))))]),
                         ('contains', [path, self.operand()]))
        return ('call', *made) if choice == 8 else ('truth', ('call', *made), self.pick('=', '<>'), self.chance(0.5))

    def condition(self, depth=3):
        choice = self.random.randrange(6) if depth else 5
        if choice == 0:
            return ('not', self.condition(depth - 1))
        if choice in (1, 2):
            return ('and', [self.condition(depth - 1) for _ in range(self.random.randrange(2, 4))])
        if choice == 3:
            return ('or', [self.condition(depth - 1) for _ in range(self.random.randrange(2, 4))])
        return self.leaf()

    # ---- What a Query may not say ----------------------------------------------------------------

    def branch(self, tree, sort):
        """0 if the branch does not speak of the sort key, 2 if it could be a range of it, 1 otherwise."""
        if tree[0] in ('and', 'or'):
            return max(self.branch(part, sort) for part in tree[1])
        if tree[0] == 'not':
            return min(1, self.branch(tree[1], sort))
        if sort not in names(tree):
            return 0
        return 2 if self.constant_term(tree, sort, ('=', '<', '<=', '>', '>=')) else 1

    def constant_term(self, tree, name, signs):
        """The constant that the attribute is compared with, or True."""
        path = ('path', (name,))
        if tree[0] == 'cmp' and tree[1] in signs and path in tree[2:]:
            other = tree[3] if tree[2] == path else tree[2]
            return other[1] if other[0] == 'value' else None
        if signs == ('=',):
            return None
        if tree[0] == 'between' and tree[1] == path and tree[2][0] == tree[3][0] == 'value':
            return True
        return tree[0] == 'call' and tree[1] == 'begins_with' and tree[2][0] == path and tree[2][1][0] == 'value' or None

    def terms(self, tree):
        if tree is None:
            return []
        return [term for part in tree[1] for term in self.terms(part)] if tree[0] == 'and' else [tree]

    def interval(self, tree, sort):
        """The values that fit a term on the sort key: (from, without it, to, without it)."""
        if tree[0] == 'between':
            return order(tree[2][1]), False, order(tree[3][1]), False
        if tree[0] == 'call':
            prefix = order(tree[2][1][1])
            return prefix, False, prefix + b'\xff' * 8, False
        path = ('path', (sort,))
        sign = tree[1] if tree[2] == path else {'<': '>', '<=': '>=', '>': '<', '>=': '<='}.get(tree[1], tree[1])
        value = order((tree[3] if tree[2] == path else tree[2])[1])
        return (value if sign in ('=', '>', '>=') else None, sign == '>', value if sign in ('=', '<', '<=') else None, sign == '<')

    def meet(self, one, other, sort):
        """Whether two branches of one partition are refused."""
        kinds = {self.branch(one, sort), self.branch(other, sort)}
        if 1 in kinds or kinds == {0}:
            return False
        if kinds == {0, 2}:
            return True
        ranges = [[self.interval(t, sort) for t in self.terms(part) if t[0] in ('cmp', 'between', 'call') and
                   self.constant_term(t, sort, ('=', '<', '<=', '>', '>='))] for part in (one, other)]
        return bool(ranges[0] and ranges[1]) and not any(before(a, b) or before(b, a) for a in ranges[0] for b in ranges[1])

    def partitions(self, tree, hash_name):
        """The first OR each of whose branches names a partition, as (branch, partition); None if there is none, or it is given anyway."""
        terms = self.terms(tree)
        for term in terms if not self.queried(terms, hash_name) else []:
            if term[0] != 'or':
                continue
            found = [(part, [c for t in self.terms(part) for c in [self.constant_term(t, hash_name, ('=',))] if c is not None]) for part in flat(term)]
            if all(named for _, named in found):
                return term, [(part, repr(named[0])) for part, named in found]
        return None

    def overlaps(self, tree, hash_name, sort):
        terms = self.terms(tree)
        groups = {}
        chosen, named = self.partitions(tree, hash_name) or (None, [])
        if self.queried(terms, hash_name) or chosen:
            for i, term in enumerate(terms):
                groups[i] = flat(term) if term[0] == 'or' and term is not chosen else []
        for part, own in named:
            groups.setdefault(own, []).append(part)
        tied = any(self.constant_term(t, hash_name, ('=',)) is not None for t in terms)
        lists = [t[2] for t in terms if t[0] == 'in' and t[1] == (hash_name,)]
        if not tied and lists and len({repr(value) for value in lists[0]}) < len(lists[0]):
            return True
        return any(self.meet(one, other, sort) for group in groups.values() for i, one in enumerate(group) for other in group[:i])

    def queried(self, terms, hash_name):
        return any(self.constant_term(t, hash_name, ('=',)) is not None or (t[0] == 'in' and t[1] == (hash_name,)) for t in terms)

    def several_partitions(self, tree, hash_name):
        return not any(self.constant_term(t, hash_name, ('=',)) is not None for t in self.terms(tree))

    def branches(self, hash_name, sort):
        """An OR whose branches name their partitions, and often a range of the sort key."""
        parts = []
        for _ in range(self.random.randrange(2, 5)):
            own = [('cmp', '=', ('path', (hash_name,)), ('value', self.key()['pk'] if hash_name == 'pk' else self.attribute('g')))]
            for chance in (0.8, 0.2):
                if self.chance(chance):
                    own.append(self.on_key(sort, self.sort if sort == 'sk' else 'N'))
            parts.append(('and', own) if len(own) > 1 else own[0])
        return ('or', parts)

    # ---- Statements ------------------------------------------------------------------------------

    def source(self, text, index):
        name = text.name(self.name) if index is None else f'{text.name(self.name)}.{text.name(index)}'
        return name

    def select(self):
        text = Text(self.random)
        index = self.pick(None, None, None, 'gsi', 'lsi')
        hash_name, sort, projected = INDEXES.get(index, ('pk', 'sk', []))
        outputs = self.outputs() if self.chance(0.5) else None
        parts = [text.word('SELECT'), '*' if outputs is None else ', '.join([text.path(steps) for steps in outputs]), text.word('FROM'),
                 self.source(text, index)]
        tree = None
        # An index is asked for what it has, mostly, and a range of the sort key is rarely one branch of many.
        self.speak_of = ['a', 'a', 'm', 'm'] if index == 'gsi' and self.chance(0.8) else ATTRIBUTES
        self.keys = 1 if index == 'lsi' and self.chance(0.8) else self.pick(0, 0, 0.2)
        if self.chance(0.9):
            tree = self.condition(self.random.randrange(1, 4))
            if self.chance(0.6):
                tied = ('cmp', '=', ('path', (hash_name,)), ('value', self.key()['pk'] if hash_name == 'pk' else self.attribute('g')))
                if self.chance(0.2):
                    tied = ('in', (hash_name,), [tied[3][1], self.key()['pk'] if hash_name == 'pk' else self.attribute('g')])
                both = [tied, tree] if self.chance(0.7) else [tied, self.on_key(sort, self.sort if sort == 'sk' else 'N'), tree]
                self.random.shuffle(both)
                tree = ('and', both)
            elif self.chance(0.4):
                tree = self.branches(hash_name, sort) if self.chance(0.7) else ('and', [self.branches(hash_name, sort), tree])
            parts += [text.word('WHERE'), text.condition(tree)]
            tree = plain(tree)
        descending = None
        queried = tree is not None and (self.queried(self.terms(tree), hash_name) or self.partitions(tree, hash_name) is not None)
        if queried and self.chance(0.3):
            descending = {sort: self.chance(0.5)}
            if self.several_partitions(tree, hash_name) or self.chance(0.2):
                descending = {hash_name: self.chance(0.5), **descending}
            orders = [text.join(text.name(n), text.word('DESC')) if down else text.join(text.name(n), *self.pick([], [text.word('ASC')]))
                      for n, down in descending.items()]
            parts += [text.word('ORDER'), text.word('BY'), ', '.join(orders)]
        request = {'Statement': text.join(*[p for p in parts if p]), **({'Parameters': text.parameters} if text.parameters else {})}
        if self.chance(0.3):
            request['Limit'] = self.random.randrange(1, 20)

        def expected():
            if tree is not None and (faulty(tree) or self.overlaps(tree, hash_name, sort)):
                raise Refused(VALIDATION)
            has = {'pk', 'sk', hash_name, sort, *projected}
            if index and queried and not names(tree) <= has:
                raise Refused(VALIDATION)
            wanted = {steps[0] for steps in outputs or []}
            if index == 'gsi' and not wanted <= has:
                raise Refused(VALIDATION)
            # A local index that lacks an output reads the whole item, and filters that.
            whole = index is None or (index == 'lsi' and not wanted <= has)
            found = []
            for item in self.items.values():
                if index and not ({hash_name, sort} <= item.keys()):
                    continue
                view = item if whole else {n: v for n, v in item.items() if n in has}
                if tree is None or holds(tree, view):
                    found.append((shown(view, outputs), item))
            return found
        return request, expected, descending

    def outputs(self):
        """Paths of different attributes and ends."""
        made = {}
        for name in self.random.sample(ATTRIBUTES + ['pk', 'sk', 'g', 'h'], 3):
            steps = (name, self.pick('x', 'y', 'date')) if name == 'm' and self.chance(0.7) else (name, 1) if name == 'l' and self.chance(0.7) else (name,)
            made.setdefault(end(steps), steps)
        return list(made.values())

    def changes(self, text, key):
        """SET and REMOVE of distinct attributes: the texts, and what they make of an item."""
        parts, effects = [], []
        for name in self.random.sample([n for n in ATTRIBUTES if n not in ('size', 'date')], self.random.randrange(1, 4)):
            if self.chance(0.2):
                steps = ('m', 'x') if name == 'm' and self.chance(0.5) else ('l', self.pick(0, 1, 9)) if name == 'l' and self.chance(0.5) else (name,)
                parts.append(text.join(text.word('REMOVE'), text.path(steps)))
                effects.append(lambda old, new, steps=steps: remove(new, steps))
                continue
            written, effect = self.assigned(text, name)
            parts.append(text.join(text.word('SET'), written))
            effects.append(effect)

        def apply(old):
            new = dict(old)
            for effect in effects:
                effect(old, new)
            return new
        return parts, apply

    def assigned(self, text, name):
        target = text.path((name,))
        if name in ('ss', 'ns') and self.chance(0.7):
            remove, members = self.chance(0.5), self.set_of(name.upper())
            function = text.word('set_delete' if remove else 'set_add')
            written = f'{target} = {function}({text.path((name,))}, {text.value(members)})'
            return written, lambda old, new: change_set(old, new, name, members, remove)
        if name == 'n' and self.chance(0.7):
            return self.sum(text, target)
        if name == 'l' and self.chance(0.7):
            value = {'L': [self.value(1)]}
            front = self.chance(0.5)
            whole = f"{text.word('if_not_exists')}({text.path(('l',))}, [])"
            joined = (lambda a, b: f"{text.word('list_append')}({a}, {b})")
            first = text.value(value) if front else whole
            written = f'{target} = ' + joined(first, whole if front else text.value(value))
            return written, lambda old, new: append(old, new, value, front)
        if name in ('m', 'l') and self.chance(0.7):
            steps = ('m', self.pick('x', 'y', 'date')) if name == 'm' else ('l', self.pick(0, 1, 9))
            value = self.value(1)
            return f'{text.path(steps)} = {text.value(value)}', lambda old, new: put_inside(new, steps, value)
        if self.chance(0.3):
            other = self.pick(*ATTRIBUTES)
            return f'{target} = {text.path((other,))}', lambda old, new: copy(old, new, other, name)
        value = self.attribute(name)
        return f'{target} = {text.value(value)}', lambda old, new: new.update({name: value})

    def sum(self, text, target):
        """n = a + b - …, in one of the ways to put parentheses."""
        terms = [(self.pick(1, -1), self.pick('n', 'h', self.random.randrange(5))) for _ in range(self.random.randrange(2, 5))]
        written = ''
        for place, (sign, term) in enumerate(terms):
            one = text.path((term,)) if isinstance(term, str) else text.value(N(term))
            if self.chance(0.2):
                one = f'({one})'
            if place == 0:
                sign = 1
                terms[0] = (1, term)
                written = one
            else:
                written += self.pick(' + ', '+ ') + one if sign > 0 else self.pick(' - ', ' -') + one

        def apply(old, new):
            total = 0
            for sign, term in terms:
                value = old.get(term) if isinstance(term, str) else N(term)
                if value is None or kind(value) != 'N':
                    raise Refused(VALIDATION)
                total += sign * order(value)
            new['n'] = N(total)
        return f'{target} = {written}', apply

    def write(self, returning=True):
        """(request, key, run() -> the new item, what RETURNING asks for)."""
        text = Text(self.random)
        self.speak_of, self.keys = ATTRIBUTES, 0.2
        what = self.pick('INSERT', 'INSERT', 'UPDATE', 'UPDATE', 'FROM', 'DELETE')
        if what == 'INSERT':
            item = self.item()
            entries = ', '.join(["'" + n.replace("'", "''") + "'" + self.pick(':', ' : ') + text.value(v) for n, v in item.items()])
            parts = [text.word('INSERT'), text.word('INTO'), text.name(self.name), text.word('VALUE'), '{' + entries + '}']
            key, tree, asked = {n: item[n] for n in ('pk', 'sk')}, None, None

            def run(old):
                if old is not None:
                    raise Refused(DUPLICATE)
                return item
        else:
            key = self.key()
            # Equalities with the key are for the key alone.
            tree = self.condition(2) if self.chance(0.4) else None
            if tree is not None and any(self.constant_term(t, n, ('=',)) is not None for t in self.terms(plain(tree)) for n in ('pk', 'sk')):
                tree = None
            asked = self.pick(None, 'ALL OLD', *([] if what == 'DELETE' else ['ALL NEW'])) if returning else None
            where = lambda: [text.word('WHERE'), text.condition(('and', [('cmp', '=', ('path', (n,)), ('value', v)) for n, v in key.items()] +
                                                                 ([tree] if tree else [])))]
            if what == 'DELETE':
                apply = lambda old: None
                parts = [text.word('DELETE'), text.word('FROM'), text.name(self.name), *where()]
            elif what == 'UPDATE':
                head = [text.word('UPDATE'), text.name(self.name)]
                made, apply = self.changes(text, key)
                parts = head + made + where()
            else:
                head = [text.word('FROM'), text.name(self.name), *where()]
                made, apply = self.changes(text, key)
                parts = head + made

            def run(old):
                if tree is not None and faulty(tree):
                    raise Refused(VALIDATION)
                if (old is None and what != 'DELETE') or (old is not None and tree is not None and not holds(tree, old)):
                    raise Refused(CONDITION)
                return apply(old)
        if asked:
            parts += [text.word('RETURNING'), *[text.word(w) for w in asked.split()], '*']
        request = {'Statement': text.join(*parts), **({'Parameters': text.parameters} if text.parameters else {})}
        return request, key, lambda: run(self.items.get(self.identity(key))), asked

    # ---- Running ---------------------------------------------------------------------------------

    def ask(self, operation, request, run):
        """(answer, what the tree gives), or None if both refuse alike."""
        try:
            expected, refused = run(), None
        except Refused as error:
            expected, refused = None, str(error)
        try:
            answer = self.api.call(operation, request)
        except ApiError as error:
            if error.name != refused:
                raise Wrong(f'{error}, expected {refused or expected}\n    {request}') from None
            return None
        if refused is not None:
            raise Wrong(f'expected {refused}\n    {request}\n    {answer}')
        return answer, expected

    def store(self, key, item):
        self.items.pop(self.identity(key), None)
        if item is not None:
            self.items[self.identity(key)] = item

    def check_select(self):
        request, expected, descending = self.select()
        result = self.ask('ExecuteStatement', request, expected)
        if result is None:
            return
        answer, rows = result
        items = answer['Items']
        while 'NextToken' in answer:
            answer = self.api.call('ExecuteStatement', {**request, 'NextToken': answer['NextToken']})
            items += answer['Items']
        same(items, [row for row, _ in rows], request)
        if descending is None or not all(name in row for name in descending for row in items):
            return
        values = [[order(row[name]) for name in descending] for row in items]
        wanted = values
        for at, down in reversed(list(enumerate(descending.values()))):
            wanted = sorted(wanted, key=lambda row: row[at], reverse=down)
        if values != wanted:
            raise Wrong(f'not in order\n    {request}\n    {items}')

    def check_write(self):
        request, key, run, asked = self.write()
        old = self.items.get(self.identity(key))
        result = self.ask('ExecuteStatement', request, run)
        if result is None:
            return
        answer, new = result
        returned = {'ALL OLD': old, 'ALL NEW': new, None: None}[asked]
        same(answer['Items'], [returned] if returned else [], request)
        self.store(key, new)

    def several(self, count):
        writes = {}
        for _ in range(count):
            request, key, run, _ = self.write(returning=False)
            writes.setdefault(self.identity(key), (request, key, run))
        return list(writes.values())

    def check_batch(self):
        writes = self.several(self.random.randrange(1, 6))
        answer = self.api.call('BatchExecuteStatement', {'Statements': [request for request, _, _ in writes]})
        for (request, key, run), response in zip(writes, answer['Responses']):
            code = response.get('Error', {}).get('Code')
            try:
                new, wanted = run(), None
            except Refused as refused:
                new, wanted = None, {VALIDATION: 'ValidationError', CONDITION: 'ConditionalCheckFailed', DUPLICATE: 'DuplicateItem'}[str(refused)]
            if code != wanted:
                raise Wrong(f'{response}, expected {wanted}\n    {request}')
            if wanted is None:
                self.store(key, new)

    def check_transaction(self):
        writes = self.several(self.random.randrange(1, 4))
        news, codes = [], []
        for _, key, run in writes:
            try:
                news.append((key, run()))
                codes.append('None')
            except Refused as refused:
                codes.append({VALIDATION: 'ValidationError', CONDITION: 'ConditionalCheckFailed', DUPLICATE: 'DuplicateItem'}[str(refused)])
        try:
            self.api.call('ExecuteTransaction', {'TransactStatements': [request for request, _, _ in writes]})
        except ApiError as error:
            # What is wrong with the text of a statement is told before any item is looked at.
            if error.name == VALIDATION and 'ValidationError' in codes:
                return
            told = [reason['Code'] for reason in error.document.get('CancellationReasons', [])]
            if error.name != 'TransactionCanceledException' or told != codes:
                raise Wrong(f'{error}, expected {codes}\n    {[request for request, _, _ in writes]}') from None
            return
        if set(codes) != {'None'}:
            raise Wrong(f'expected {codes}\n    {[request for request, _, _ in writes]}')
        for key, new in news:
            self.store(key, new)

    def check_reads(self):
        """Several items by their keys, in a batch or as of one instant."""
        keys = list({self.identity(key): key for key in [self.key() for _ in range(self.random.randrange(1, 6))]}.values())
        outputs = self.outputs() if self.chance(0.5) else None
        requests = []
        for key in keys:
            text = Text(self.random)
            tree = ('and', [('cmp', '=', ('path', (n,)), ('value', v)) for n, v in self.random.sample(list(key.items()), 2)])
            parts = [text.word('SELECT'), '*' if outputs is None else ', '.join([text.path(steps) for steps in outputs]), text.word('FROM'),
                     text.name(self.name), text.word('WHERE'), text.condition(tree)]
            requests.append({'Statement': text.join(*parts), **({'Parameters': text.parameters} if text.parameters else {})})
        batch = self.chance(0.5)
        answer = self.api.call('BatchExecuteStatement', {'Statements': requests}) if batch else \
            self.api.call('ExecuteTransaction', {'TransactStatements': requests})
        for request, key, response in zip(requests, keys, answer['Responses']):
            item = self.items.get(self.identity(key))
            same([response['Item']] if 'Item' in response else [], [shown(item, outputs)] if item is not None else [], request)

    def check_malformed(self):
        """A statement with a mistake is refused, or happens to be none; the server goes on either way."""
        request = self.select()[0]
        text = request['Statement']
        for _ in range(self.random.randrange(1, 4)):
            at = self.random.randrange(len(text) + 1)
            end = at + self.random.randrange(4)
            text = text[:at] + self.pick('', '', '(', ')', "'", '"', ',', '.', '[', '*', ' NOT ', ' AND ', ' SELECT ', '<<', '1e9', ' IS ', ';', '\u00e9', '?') + text[end:]
        try:
            self.api.call('ExecuteStatement', {**request, 'Statement': text or ';'})
        except ApiError as error:
            if error.name not in (VALIDATION, 'ResourceNotFoundException'):
                raise Wrong(f'{error}\n    {text}') from None

    def run(self):
        for step in range(STATEMENTS):
            act = self.pick(self.check_select, self.check_select, self.check_select, self.check_write, self.check_write, self.check_write,
                            self.check_batch, self.check_transaction, self.check_reads, self.check_malformed)
            try:
                act()
            except Wrong as error:
                raise Wrong(f'step {step}: {error}') from None
        stored = self.api.pages('Scan', {'TableName': self.name})
        same(stored, list(self.items.values()), 'the end')


def end(steps):
    """What SELECT calls the attribute at the path."""
    return f'{steps[0]}[{steps[1]}]' if len(steps) > 1 and isinstance(steps[1], int) else steps[-1]


def shown(item, outputs):
    if outputs is None:
        return item
    return {end(steps): value for steps in outputs for value in [find(item, steps)] if value is not None}


def put_inside(new, steps, value):
    name, step = steps
    body = new.get(name, {}).get('L' if isinstance(step, int) else 'M')
    if body is None:
        raise Refused(VALIDATION)
    if isinstance(step, int):
        new[name] = {'L': body[:step] + [value] + body[step + 1:]}
    else:
        new[name] = {'M': {**body, step: value}}


def remove(new, steps):
    name = steps[0]
    if len(steps) == 1:
        new.pop(name, None)
        return
    body = new.get(name, {}).get('L' if isinstance(steps[1], int) else 'M')
    if body is None:
        raise Refused(VALIDATION)
    if isinstance(steps[1], int):
        new[name] = {'L': [v for i, v in enumerate(body) if i != steps[1]]}
    else:
        new[name] = {'M': {k: v for k, v in body.items() if k != steps[1]}}


def plain(tree):
    """NOT NOT a is a, wherever it stands."""
    if tree[0] in ('and', 'or'):
        return (tree[0], [plain(part) for part in tree[1]])
    if tree[0] != 'not':
        return tree
    inner = plain(tree[1])
    return inner[1] if inner[0] == 'not' else ('not', inner)


def before(a, b):
    """Whether all values of one interval are smaller than those of the other."""
    return None not in (a[2], b[0]) and (a[2] < b[0] or (a[2] == b[0] and (a[3] or b[1])))


def flat(tree):
    """The branches of an OR: ORs in it are its own."""
    return [branch for part in tree[1] for branch in (flat(part) if part[0] == 'or' else [part])]


def change_set(old, new, name, members, remove):
    tag = kind(members)
    value = old.get(name)
    if value is not None and kind(value) != tag:
        raise Refused(VALIDATION)
    there = set(value[tag]) if value is not None else set()
    result = there - set(members[tag]) if remove else there | set(members[tag])
    new.pop(name, None)
    if result:
        new[name] = {tag: sorted(result)}


def append(old, new, value, front):
    there = old.get('l', {'L': []})
    if kind(there) != 'L':
        raise Refused(VALIDATION)
    new['l'] = {'L': value['L'] + there['L'] if front else there['L'] + value['L']}


def copy(old, new, other, name):
    if other not in old:
        raise Refused(VALIDATION)
    new[name] = old[other]


def same(actual, expected, request):
    a, b = [sorted(map(repr, map(canonical, rows))) for rows in (actual, expected)]
    if a != b:
        raise Wrong(f'{request}\n    only answered: {[x for x in a if x not in b][:3]}\n    only expected: {[x for x in b if x not in a][:3]}')


def canonical(item):
    return sorted((name, repr(sorted_value(value))) for name, value in item.items())


def sorted_value(value):
    (tag, body), = value.items()
    if tag in ('SS', 'NS', 'BS'):
        return tag, sorted(body)
    if tag == 'M':
        return tag, sorted((k, sorted_value(v)) for k, v in body.items())
    return (tag, [sorted_value(v) for v in body]) if tag == 'L' else (tag, body)


def main():
    seed = os.environ.get('SEED') or str(random.SystemRandom().randrange(10**9))
    print(f'SEED={seed}', flush=True)
    passed = failed = 0
    for sort in ('S', 'N'):
        world = World(Api(os.environ['DOLMEN_ENDPOINT']), seed, sort)
        try:
            world.run()
            passed += 1
        except Exception as error:
            failed += 1
            print(f'FAIL (SEED={seed}, sort key {sort})')
            print(f'    {error}' if isinstance(error, Wrong) else traceback.format_exc(), flush=True)
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed else 0)


main()
