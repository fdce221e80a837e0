"""Attribute values as the service sees them: canonical numbers, order, equality, size.

A value is DynamoDB JSON ({'N': '5'}), always in canonical form, so that equal values
are equal in Python once sets are frozen by `freeze`.
"""
import base64
from decimal import Decimal, localcontext


def number(value):
    """The canonical text of a number."""
    with localcontext() as context:
        context.prec = 200
        d = Decimal(value).normalize()
        return '0' if d == 0 else format(d, 'f')


def N(value):
    return {'N': number(value)}


def S(text):
    return {'S': text}


def B(raw):
    return {'B': base64.b64encode(raw).decode()}


def kind(value):
    return next(iter(value))


def freeze(value):
    """Something hashable in which equal values are equal."""
    (tag, body), = value.items()
    if tag in ('SS', 'NS', 'BS'):
        return tag, frozenset(body)
    if tag == 'L':
        return tag, tuple(freeze(v) for v in body)
    if tag == 'M':
        return tag, frozenset((k, freeze(v)) for k, v in body.items())
    return tag, body


def freeze_item(item):
    return frozenset((k, freeze(v)) for k, v in item.items())


def equal(a, b):
    return freeze(a) == freeze(b)


def order(value):
    """A sort key for values of one scalar type."""
    (tag, body), = value.items()
    if tag == 'S':
        return body.encode()
    if tag == 'N':
        return Decimal(body)
    return base64.b64decode(body)


def _number_size(text):
    if text == '0':
        return 1
    digits = text.lstrip('-')
    whole, _, fraction = digits.partition('.')
    whole = whole if len(whole) % 2 == 0 else '0' + whole
    fraction = fraction if len(fraction) % 2 == 0 else fraction + '0'
    pairs = whole + fraction
    while pairs.startswith('00'):
        pairs = pairs[2:]
    while pairs.endswith('00'):
        pairs = pairs[:-2]
    return 1 + len(pairs) // 2 + text.startswith('-')


def size(value):
    """Bytes by the service's formula."""
    (tag, body), = value.items()
    if tag == 'S':
        return len(body.encode())
    if tag == 'B':
        return len(base64.b64decode(body))
    if tag == 'N':
        return _number_size(body)
    if tag in ('BOOL', 'NULL'):
        return 1
    if tag in ('SS', 'NS', 'BS'):
        return sum(size({tag[0]: member}) for member in body)
    if tag == 'L':
        return 3 + sum(1 + size(v) for v in body)
    return 3 + sum(1 + len(k.encode()) + size(v) for k, v in body.items())


def item_size(item):
    return sum(len(k.encode()) + size(v) for k, v in item.items())


def function_size(value):
    """What size() answers, or None for the types it does not take."""
    (tag, body), = value.items()
    if tag == 'S':
        return len(body.encode('utf-16-le')) // 2
    if tag == 'B':
        return len(base64.b64decode(body))
    if tag in ('SS', 'NS', 'BS', 'L', 'M'):
        return len(body)
    return None
