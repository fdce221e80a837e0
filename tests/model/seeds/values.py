"""The types of promises: which values fit one, which do not, and which is the sample of the nth item.

A type is text, in the words of the documents:

    string  number  number(1..10)  integer(1..)  boolean  date  epoch  email  url  null  any  object
    timestamp (in one form: UTC, milliseconds)      moment (a time in the form it was written in)
    "a" | "b"      T | U      T?      T[]      map<T>      { name: T, other?: U }      Name

`fits` and `misfits` are small lists that mark out the type: the ends of a range, each literal, and beside each of them what
a wider type would take.
"""
import re

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\'[^\']*\'|-?\d+(?:\.\d+)?(?!\d*\.\.)|\d+(?=\.\.)|\.\.|\w+|[|?<>{}()\[\],:])')
SCALARS = {  # name: (what fits, what does not)
    'string': (['text', 'other text'], [7, True, ['text'], {}]),
    'number': ([7, 0.5, -3], ['7', True, {}]),
    'integer': ([7, 8], [0.5, '7', True]),
    'boolean': ([True, False], ['true', 1]),
    'timestamp': (['2026-02-03T04:05:06.789Z', '2027-03-04T05:06:07.890Z'], ['yesterday', 'text', 7, True]),
    'moment': (['2026-02-03T04:05:06.789Z', '2027-03-04T05:06:07Z', '2027-03-04T05:06+01:00'], ['yesterday', 'text', 7, True]),
    'date': (['2026-02-03', '2027-03-04'], ['yesterday', '2026-02', 7]),
    'epoch': ([1900000000, 2000000000], [0.5, '1900000000', 'text']),
    'email': (['ada@example.com', 'bob@example.com'], ['nobody', 7]),
    'url': (['https://example.com/a', 'https://example.com/b'], ['nowhere', 7]),
    'object': ([{}, {'a': 1}], ['text', 7, []]),
    'any': (['text', 7, {'a': [True]}], []),
    'null': ([None], ['text', 7]),
}


class Type:
    """What fits, what does not, and may it be missing? Of a map with fields, and of a list, also the types within."""

    def __init__(self, fits, misfits, optional=False, literals=None, within=None, name=None):
        self.fits, self.misfits, self.optional, self.literals, self.within = fits, misfits, optional, literals, within or {}
        self.name = name

    def maybe(self, optional=True):
        return Type(self.fits, self.misfits, self.optional or optional, self.literals, self.within, self.name)

    def sample(self, name, n):
        """A value of an attribute for the nth item: a text of its own where the type takes any."""
        first = self.fits[0]
        if first == 'text':
            return '%s-%d' % (name.lower(), n)
        if first == 'ada@example.com':
            return 'ada%d@example.com' % n
        return n if first == 7 else first

    def other(self, value):
        """A value that fits, and is not this one; None if there is no other."""
        return next((one for one in self.fits if one != value and one is not None), None)


def literal_type(values):
    wrong = 'not ' + values[0] if isinstance(values[0], str) else values[0] + 1000
    return Type(list(values), [wrong, 7 if isinstance(values[0], str) else str(values[0]), True], literals=list(values))


def ranged(name, low, high):
    fits = [n for n in (low, high) if n is not None]
    step = 1 if name == 'integer' else 0.001
    misfits = ([low - step] if low is not None else []) + ([high + step] if high is not None else [])
    return Type(fits + [n + 1 for n in fits[:1] if high is None], misfits + SCALARS[name][1])


def list_type(of):
    return Type([[good] for good in of.fits] + [[]], [[bad] for bad in of.misfits] + ['text', {}], within={'items': of})


def map_type(of):
    return Type([{'a': good} for good in of.fits] + [{}], [{'a': bad} for bad in of.misfits] + ['text', []], within={'additionalProperties': of})


def fields_type(fields):
    """A map with these fields: each of them bad in turn, or missing where it has to be there."""
    whole = {name: field.fits[0] for name, field in fields.items()}
    bare = {name: field.fits[0] for name, field in fields.items() if not field.optional}
    fits, misfits = [whole, bare], ['text', 7]
    for name, field in fields.items():
        fits += [{**whole, name: value} for value in field.fits[1:]]
        misfits += [{**whole, name: value} for value in field.misfits]
        nothing = {**whole, name: None}
        if field.optional:
            fits.append(nothing)
            continue
        misfits.append({other: value for other, value in whole.items() if other != name})
        if field.misfits and None not in field.fits:
            misfits.append(nothing)
    return Type(fits, misfits, within=fields)


def union_type(options):
    kinds = [{kind(value) for value in one.fits} for one in options]
    misfits = [value for i, one in enumerate(options) for value in one.misfits
               if not any(kind(value) in taken for j, taken in enumerate(kinds) if j != i)]
    return Type([value for one in options for value in one.fits], misfits)


def kind(value):
    return float if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value)


class Reader:
    """Reads one type; `names` are those that were declared before."""

    def __init__(self, text, names):
        self.tokens, self.names, self.at = TOKEN.findall(text), names, 0
        assert ''.join(self.tokens).replace(' ', '') == re.sub(r'\s', '', text).replace(' ', ''), text

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ''

    def take(self, expected=None):
        token = self.peek()
        assert expected is None or token == expected, (token, expected, self.tokens)
        self.at += 1
        return token

    def union(self):
        options = [self.option()]
        while self.peek() == '|':
            self.take()
            options.append(self.option())
        if all(isinstance(one, list) for one in options):
            return literal_type([value for one in options for value in one])
        return options[0] if len(options) == 1 else union_type([literal_type(o) if isinstance(o, list) else o for o in options])

    def option(self):
        one = self.base()
        while self.peek() in ('[', '?'):
            if self.take() == '[':
                self.take(']')
                one = list_type(literal_type(one) if isinstance(one, list) else one)
            else:
                one = (literal_type(one) if isinstance(one, list) else one).maybe()
        return one

    def base(self):
        token = self.take()
        if token[0] in '"\'':
            return [token[1:-1]]
        if re.match(r'-?\d', token):
            return [int(token)]
        if token == '(':
            inner = self.union()
            self.take(')')
            return inner
        if token == '{':
            return self.fields()
        if token == 'map':
            self.take('<')
            inner = self.union()
            self.take('>')
            return map_type(inner)
        if token in self.names:
            return self.names[token]
        if self.peek() == '(':
            return ranged(token, *self.range())
        return Type(*SCALARS[token], name=token)

    def range(self):
        self.take('(')
        low = int(self.take()) if self.peek() != '..' else None
        self.take('..')
        high = int(self.take()) if self.peek() != ')' else None
        self.take(')')
        return low, high

    def fields(self):
        fields = {}
        while self.peek() != '}':
            name = self.take()
            optional = self.peek() == '?' and self.take() == '?'
            self.take(':')
            fields[name] = self.union().maybe(optional)
            if self.peek() == ',':
                self.take()
        self.take('}')
        return fields_type(fields)


def read_type(text, names):
    reader = Reader(text, names)
    found = reader.union()
    assert reader.at == len(reader.tokens), text
    return found
