"""Conditions of PartiQL as trees: their text, in one of the many ways to write it, and what they mean.

A tree is a tuple: ('and' | 'or', [tree…]), ('not', tree), ('cmp', sign, a, b), ('between', a, low, high), ('in', path, [constant…]),
('is', path, type), ('call', function, [operand…]), ('truth', call, sign, bool). An operand is ('path', (step…)), ('value', value) or
('size', path). What is wrong with a tree by the rules of the service is told by `faulty`.
"""
import re

from values import equal, function_size, kind, order

# A few of the words that must be quoted; the generator uses some of them as names.
WORDS = {'date', 'value', 'order', 'size', 'list', 'key', 'level', 'user', 'int4', 'and', 'is', 'missing', 'select'}
TYPES = {'NULL': ['NULL'], 'BOOL': ['BOOL'], 'BOOLEAN': ['BOOL'], 'STRING': ['S'], 'DECIMAL': ['N'], 'NUMERIC': ['N'], 'BLOB': ['B'],
         'LIST': ['L'], 'STRUCT': ['M'], 'TUPLE': ['M'], 'BAG': ['SS', 'NS', 'BS'], 'MISSING': [], 'INT4': None, 'TIMESTAMP': None}
SCALARS = ('S', 'N', 'B')
OR, AND, NOT, EQUALITY, COMPARISON, TERM = range(6)


class Text:
    """Writes a statement from left to right, and gathers its parameters."""

    def __init__(self, random):
        self.random = random
        self.parameters = []

    def chance(self, p):
        return self.random.random() < p

    def word(self, text):
        """A keyword in any case."""
        return ''.join(c.lower() if self.chance(0.3) else c for c in text) if self.chance(0.3) else text

    def space(self):
        return self.random.choice([' ', ' ', ' ', '  ', '\n', '\t', ' /* x */ ', ' -- x\n'])

    def join(self, *parts):
        text = ''
        for part in parts:
            text += part if not text else self.space() + part
        return text

    def name(self, name):
        if re.fullmatch('[a-zA-Z_][a-zA-Z0-9_]*', name) and name not in WORDS and self.chance(0.7):
            return name
        return '"' + name.replace('"', '""') + '"'

    def path(self, steps):
        text = self.name(steps[0])
        for step in steps[1:]:
            if isinstance(step, int):
                text += f'[{step}]'
            elif self.chance(0.2):
                text += "['" + step.replace("'", "''") + "']"
            else:
                text += '.' + self.name(step)
        return text

    def number(self, text):
        choices = [text, text, '+' + text if text[0] != '-' else '- ' + text[1:]]
        if '.' not in text:
            choices += [text + '.', text + '.0', text + 'e0', text + '0e-1']
        elif text.startswith('0.'):
            choices.append(text[1:])
        return self.random.choice(choices)

    def value(self, value, parameter=0.3):
        """A literal, or a question mark. Binary has no literals."""
        (tag, body), = value.items()
        if tag in ('B', 'BS') or self.chance(parameter):
            self.parameters.append(value)
            return '?'
        if tag == 'S':
            return "'" + body.replace("'", "''") + "'"
        if tag == 'N':
            return self.number(body)
        if tag == 'BOOL':
            return self.word('TRUE' if body else 'FALSE')
        if tag == 'NULL':
            return self.word('NULL')
        if tag == 'L':
            return '[' + ', '.join([self.value(v, 0.1) for v in body]) + ']'
        if tag == 'M':
            return '{' + ', '.join(["'" + k.replace("'", "''") + "': " + self.value(v, 0.1) for k, v in body.items()]) + '}'
        return '<<' + ', '.join([self.value({tag[0]: member}, 0.1) for member in body]) + '>>'

    def operand(self, operand):
        if operand[0] == 'path':
            return self.path(operand[1])
        if operand[0] == 'value':
            return self.value(operand[1])
        return self.word('size') + '(' + self.path(operand[1]) + ')'

    def condition(self, tree, least=OR):
        """The tree, in parentheses if it binds weaker than `least`, or just so."""
        level = level_of(tree)
        if level < least or self.chance(0.1):
            return '(' + self.bare(tree) + ')'
        return self.bare(tree)

    def bare(self, tree):
        what, first = tree[0], tree[1]
        if what in ('and', 'or'):
            parts = []
            for part in first:
                parts += [self.word(what.upper())] if parts else []
                parts.append(self.condition(part, level_of(tree)))
            return self.join(*parts)
        if what == 'not':
            return self.negated(first)
        if what == 'cmp':
            sign = '!=' if first == '<>' and self.chance(0.5) else first
            return self.operand(tree[2]) + self.random.choice(['', ' ']) + sign + self.random.choice([' ', '']) + self.operand(tree[3])
        if what == 'between':
            return self.join(self.operand(first), self.word('BETWEEN'), self.operand(tree[2]), self.word('AND'), self.operand(tree[3]))
        if what == 'in':
            return self.join(self.path(first), self.word('IN'), self.members(tree[2]))
        if what == 'is':
            return self.join(self.path(first), self.word('IS'), self.word(tree[2]))
        if what == 'call':
            return self.word(first) + '(' + ', '.join([self.operand(o) for o in tree[2]]) + ')'
        parts = [self.bare(first), tree[2], 'true' if tree[3] else 'false']
        return self.join(*(parts if self.chance(0.5) else reversed(parts)))

    def members(self, values):
        open, close = self.random.choice(['()', '[]', ('<<', '>>')])
        return open + ', '.join([self.value(v) for v in values]) + close

    def negated(self, tree):
        """NOT before it, or in it where that is possible."""
        inside = self.chance(0.5)
        if tree[0] == 'in' and inside:
            return self.join(self.path(tree[1]), self.word('NOT'), self.word('IN'), self.members(tree[2]))
        if tree[0] == 'between' and inside:
            return self.join(self.operand(tree[1]), self.word('NOT'), self.word('BETWEEN'), self.operand(tree[2]), self.word('AND'),
                             self.operand(tree[3]))
        if tree[0] == 'is' and inside:
            return self.join(self.path(tree[1]), self.word('IS'), self.word('NOT'), self.word(tree[2]))
        return self.join(self.word('NOT'), self.condition(tree, NOT))


def level_of(tree):
    if tree[0] == 'cmp':
        return EQUALITY if tree[1] in ('=', '<>') else COMPARISON
    return {'or': OR, 'and': AND, 'not': NOT, 'in': EQUALITY, 'is': EQUALITY, 'truth': EQUALITY, 'between': COMPARISON, 'call': TERM}[tree[0]]


# ---- What it means ---------------------------------------------------------------------------------


def find(item, steps):
    value = {'M': item}
    for step in steps:
        body = value.get('L' if isinstance(step, int) else 'M')
        if body is None or (isinstance(step, int) and step >= len(body)) or (not isinstance(step, int) and step not in body):
            return None
        value = body[step]
    return value


def evaluate(operand, item):
    if operand[0] == 'value':
        return operand[1]
    found = find(item, operand[1])
    if operand[0] == 'path' or found is None:
        return found
    size = function_size(found)
    return None if size is None else {'N': str(size)}


def compare(sign, a, b):
    same = a is not None and b is not None and equal(a, b)
    if sign in ('=', '<>'):
        return same == (sign == '=')
    if a is None or b is None or kind(a) != kind(b) or kind(a) not in SCALARS:
        return False
    x, y = order(a), order(b)
    return {'<': x < y, '<=': x <= y, '>': x > y, '>=': x >= y}[sign]


def contains(whole, part):
    if whole is None or part is None:
        return False
    (tag, body), (of, piece) = next(iter(whole.items())), next(iter(part.items()))
    if tag == 'L':
        return any(equal(member, part) for member in body)
    if tag in ('SS', 'NS', 'BS'):
        return of == tag[0] and piece in body
    return tag == of and tag in ('S', 'B') and order(part) in order(whole)


def call(function, values):
    first = values[0]
    if function == 'attribute_exists':
        return first is not None
    if function == 'attribute_not_exists':
        return first is None
    second = values[1]
    if function == 'attribute_type':
        return first is not None and kind(first) == second['S']
    if function == 'begins_with':
        return first is not None and second is not None and kind(first) == kind(second) and kind(first) in ('S', 'B') \
            and order(first).startswith(order(second))
    return contains(first, second)


def holds(tree, item):
    what = tree[0]
    if what == 'and':
        return all(holds(part, item) for part in tree[1])
    if what == 'or':
        return any(holds(part, item) for part in tree[1])
    if what == 'not':
        return not holds(tree[1], item)
    if what == 'cmp':
        return compare(tree[1], evaluate(tree[2], item), evaluate(tree[3], item))
    if what == 'between':
        value = evaluate(tree[1], item)
        return compare('>=', value, evaluate(tree[2], item)) and compare('<=', value, evaluate(tree[3], item))
    if what == 'in':
        value = find(item, tree[1])
        return value is not None and any(equal(value, member) for member in tree[2])
    if what == 'is':
        value = find(item, tree[1])
        return value is None if tree[2] == 'MISSING' else value is not None and kind(value) in TYPES[tree[2]]
    if what == 'call':
        return call(tree[1], [evaluate(operand, item) for operand in tree[2]])
    return (holds(tree[1], item) == tree[3]) == (tree[2] == '=')


# ---- What is wrong with it -------------------------------------------------------------------------


def parts_of(tree):
    return tree[1] if tree[0] in ('and', 'or') else [tree[1]] if tree[0] in ('not', 'truth') else []


def faulty(tree):
    """Whether the service refuses the condition, whatever the table."""
    what = tree[0]
    if what in ('and', 'or', 'not', 'truth'):
        return any(faulty(part) for part in parts_of(tree))
    if what == 'cmp':
        return repeats(tree[2:]) or (tree[1] not in ('=', '<>') and not all(scalar(operand) for operand in tree[2:]))
    if what == 'between':
        constants = [operand[1] for operand in tree[2:] if operand[0] == 'value']
        backwards = len(constants) == 2 and (kind(constants[0]) != kind(constants[1]) or not compare('<=', *constants))
        return repeats(tree[1:]) or not all(scalar(operand) for operand in tree[1:]) or backwards
    if what == 'is':
        return TYPES[tree[2]] is None
    if what == 'call' and tree[1] in ('begins_with', 'contains'):
        texts = all(operand[0] != 'value' or kind(operand[1]) in ('S', 'B') for operand in tree[2])
        return repeats(tree[2]) or (tree[1] == 'begins_with' and not texts)
    return False


def repeats(operands):
    return operands[0][0] == 'path' and operands[0] in operands[1:]


def scalar(operand):
    return operand[0] != 'value' or kind(operand[1]) in SCALARS


def names(tree):
    """The top-level attributes that the condition reads."""
    if tree[0] in ('and', 'or', 'not', 'truth'):
        return {name for part in parts_of(tree) for name in names(part)}
    operands = tree[2] if tree[0] == 'call' else [('path', tree[1])] if tree[0] in ('in', 'is') else tree[2:] if tree[0] == 'cmp' else tree[1:]
    return {operand[1][0] for operand in operands if operand[0] != 'value'}
