"""Kinds of attributes: how the language writes them, values that fit and values that do not.

Values are DynamoDB's typed JSON. What fits is said again here, on purpose, in other words than the server's.
"""
import re
import uuid
from datetime import datetime
from decimal import Decimal

WORDS = ['a', 'B', 'cd', 'Ef gh', 'x-1', 'é€', 'LOUD', 'q#r', ' pad ', 'zz']
PLAIN = ['a', 'B', 'cd', 'x-1', 'é€', 'LOUD', 'zz', '007']


def text(value):
    return {'S': value}


def number(value):
    return {'N': str(value)}


def some_number(r):
    return r.choice(['0', '7', '-3', '12.5', '100', '0.001', '99999', '-0.5'])


def some_time(r):
    return f'20{r.randrange(10, 40)}-{r.randrange(1, 13):02}-{r.randrange(1, 29):02}T{r.randrange(24):02}:{r.randrange(60):02}:00.{r.randrange(1000):03}Z'


def is_time(value):
    try:
        datetime.strptime(value, '%Y-%m-%dT%H:%M:%S.%fZ')
        return True
    except ValueError:
        return False


def is_date(value):
    try:
        return len(value) == 10 and bool(datetime.strptime(value, '%Y-%m-%d'))
    except ValueError:
        return False


def whole(value):
    return Decimal(value) == Decimal(value).to_integral_value()


class Kind:
    """A type: its text, a generator of good values, a list of bad ones, and a test."""

    def __init__(self, language, good, bad, test, scalar=True, strings=False, numbers=False, times=False):
        self.language, self.good, self.bad, self.test = language, good, bad, test
        self.scalar, self.strings, self.numbers, self.times = scalar, strings, numbers, times


def is_s(test=lambda s: True):
    return lambda v: 'S' in v and test(v['S'])


def is_n(test=lambda n: True):
    return lambda v: 'N' in v and test(Decimal(v['N']))


NOT_TEXT = [number(1), {'BOOL': True}, {'NULL': True}, {'L': []}, {'M': {}}, {'SS': ['a']}, {'B': 'YQ=='}]
NOT_NUMBER = [text('1'), {'BOOL': True}, {'NULL': True}, {'L': [number(1)]}, {'NS': ['1']}]

POINT = '{ x: number  label: string(1..4)?  tags: string[]? }'


def is_point(v):
    if 'M' not in v or not is_n()(v['M'].get('x', {})):
        return False
    label, tags = [None if f is None or 'NULL' in f else f for f in (v['M'].get('label'), v['M'].get('tags'))]
    return (label is None or is_s(lambda s: 1 <= len(s) <= 4)(label)) and \
        (tags is None or 'L' in tags and all('S' in t for t in tags['L']))


def some_point(r):
    point = {'x': number(some_number(r))}
    if r.random() < 0.5:
        point['label'] = text(r.choice(['a', 'éé', 'abcd']))
    if r.random() < 0.3:
        point['tags'] = {'L': [text('t')]}
    return {'M': point}


KINDS = {
    'word': Kind('string', lambda r: text(r.choice(WORDS)), NOT_TEXT, is_s(), strings=True),
    'empty': Kind('string', lambda r: text(r.choice(['', 'x', 'Y'])), NOT_TEXT, is_s(), strings=True),
    'short': Kind('string(1..4)', lambda r: text(r.choice(['a', 'bcd', 'éééé'])), NOT_TEXT + [text(''), text('abcde')],
                  is_s(lambda s: 1 <= len(s) <= 4), strings=True),
    'plain': Kind('string(1..)', lambda r: text(r.choice(PLAIN) + str(r.randrange(12))), NOT_TEXT + [text('')],
                  is_s(lambda s: s != ''), strings=True),
    'number': Kind('number', lambda r: number(some_number(r)), NOT_NUMBER, is_n(), numbers=True),
    'percent': Kind('number(0..100)', lambda r: number(r.choice(['0', '100', '33.3'])),
                    NOT_NUMBER + [number('-0.1'), number('100.1')], is_n(lambda n: 0 <= n <= 100), numbers=True),
    'count': Kind('integer(0..9999)', lambda r: number(r.randrange(30)), NOT_NUMBER + [number('1.5'), number(-1), number(10000)],
                  is_n(lambda n: 0 <= n <= 9999 and whole(n)), numbers=True),
    'flag': Kind('boolean', lambda r: {'BOOL': r.random() < 0.5}, [text('true'), number(0)], lambda v: 'BOOL' in v),
    'uuid': Kind('uuid', lambda r: text(str(uuid.UUID(int=r.getrandbits(128), version=4))), NOT_TEXT + [text('1-2'), text('g' * 36)],
                 is_s(lambda s: re.fullmatch(r'[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}', s))),
    'time': Kind('timestamp', lambda r: text(some_time(r)), NOT_TEXT + [text('2026-02-30T00:00:00.000Z'), text('2026-01-01'), text('now')],
                 is_s(is_time), times=True),
    'day': Kind('date', lambda r: text(some_time(r)[:10]), NOT_TEXT + [text('2025-02-29'), text('1.1.2025')], is_s(is_date), times=True),
    'epoch': Kind('epoch', lambda r: number(r.randrange(2000000000)), NOT_NUMBER + [number('1.5'), number(1700000000000)],
                  is_n(lambda n: whole(n) and n < 253402300800), numbers=True, times=True),
    'email': Kind('email', lambda r: text(f'{r.choice(["a", "B.c", "d+e"])}{r.randrange(25)}@Example.org'), NOT_TEXT + [text('a'), text('@b'), text('a b@c')],
                  is_s(lambda s: re.fullmatch(r'[^@\s]+@[^@\s]+', s)), strings=True),
    'url': Kind('url', lambda r: text(f'https://example.org/{r.randrange(99)}'), NOT_TEXT + [text('example.org'), text('http://')],
                is_s(lambda s: re.fullmatch(r'[A-Za-z]+://[^/\s]\S*', s))),
    'role': Kind('"user" | "admin" | "mod"', lambda r: text(r.choice(['user', 'admin', 'mod'])), NOT_TEXT + [text('root')],
                 is_s(lambda s: s in ('user', 'admin', 'mod'))),
    'length': Kind('5 | 8 | 10', lambda r: number(r.choice([5, 8, 10])), NOT_NUMBER + [number(6)], is_n(lambda n: n in (5, 8, 10)), numbers=True),
    'nullable': Kind('string | null', lambda r: r.choice([text('v'), {'NULL': True}]), [number(1), {'BOOL': False}],
                     lambda v: 'S' in v or v.get('NULL') is True, scalar=False),
    'either': Kind('number | string', lambda r: r.choice([text('v'), number(3)]), [{'BOOL': False}, {'NULL': True}],
                   lambda v: 'S' in v or 'N' in v, scalar=False),
    'list': Kind('string[]', lambda r: {'L': [text(r.choice(WORDS)) for _ in range(r.randrange(3))]},
                 [text('a'), {'SS': ['a']}, {'L': [text('a'), number(1)]}], lambda v: 'L' in v and all('S' in x for x in v['L']), scalar=False),
    'set': Kind('set<string>', lambda r: {'SS': r.sample(PLAIN, 2)}, [{'L': [text('a')]}, {'NS': ['1']}], lambda v: 'SS' in v, scalar=False),
    'record': Kind('Record<string, number>', lambda r: {'M': {r.choice(['k', 'l/m']): number(some_number(r))}},
                   [{'M': {'k': text('1')}}, {'L': []}], lambda v: 'M' in v and all('N' in x for x in v['M'].values()), scalar=False),
    'point': Kind(POINT, some_point, [{'M': {}}, {'M': {'x': text('1')}}, {'M': {'x': number(1), 'label': text('abcde')}}, {'L': []}],
                  is_point, scalar=False),
}


def normal(value, forms):
    """What lower, upper and trim make of a value."""
    if 'S' not in value:
        return value
    word = value['S']
    if 'trim' in forms:
        word = word.strip(' \t\n\r\v\f')
    for form, first, last, shift in (('lower', 'A', 'Z', 32), ('upper', 'a', 'z', -32)):
        if form in forms:
            word = ''.join(chr(ord(c) + shift) if first <= c <= last else c for c in word)
    return {'S': word}
