"""The load of bench/pattern: pattern.py ENDPOINT prepare, or pattern.py ENDPOINT pattern|query PATTERN LIMIT COUNT

prepare makes a table with a model and fills it. pattern asks for a named pattern through the data API, COUNT times;
query makes the very request that the pattern explains itself with.
"""
import http.client
import json
import os
import sys
import time
from urllib.parse import urlsplit

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'lib'))
from dolmen import Api  # noqa: E402

MODEL = '''
table shop {
  key   PK, SK
  index GSI1 (GSI1PK, GSI1SK)
  type  EntityType
}
entity User {
  PK = "USER#{userId}"     SK = "METADATA"
  userId   string
  email    string
}
entity Order {
  PK = "USER#{userId}"     SK = "ORDER#{orderId:pad(8)}"
  GSI1 = "STATUS#{status}" , "{placedAt}#{orderId}"
  userId    string
  orderId   integer(1..)
  status    "open" | "paid" | "sent" = "open"
  total     number
  currency  string
  placedAt  timestamp
  updatedAt timestamp
  street    string
  city      string
  country   string
  note      string?
  gift      boolean = false
  lines     { sku: string  count: integer  price: number }[]?
  tags      set<string>?
}
access order(userId, orderId)             = one Order
access ordersOfUser(userId)               = Order where SK begins "ORDER#"
access ordersByStatus(status)             = Order via GSI1 newest first
access largeOrders(userId, least: number) = Order filter total >= least
access accountOf(userId)                  = User, Order
'''
ARGUMENTS = {'order': {'userId': 'ada', 'orderId': '7'}, 'ordersOfUser': {'userId': 'ada'}, 'ordersByStatus': {'status': 'paid'},
             'largeOrders': {'userId': 'ada', 'least': '0'}, 'accountOf': {'userId': 'ada'}}


def item_of(number):
    placed = f'2026-11-{1 + number % 28:02}T03:40:00.000Z'
    texts = {'PK': 'USER#ada', 'SK': f'ORDER#{number:08}', 'EntityType': 'Order', 'GSI1PK': 'STATUS#paid', 'GSI1SK': f'{placed}#{number}',
             'userId': 'ada', 'status': 'paid', 'currency': 'EUR', 'placedAt': placed, 'updatedAt': placed,
             'street': 'St James Square 12', 'city': 'London', 'country': 'GB', 'note': 'leave it at the door ' * 4}
    lines = [{'M': {'sku': {'S': f'sku-{number}-{line}'}, 'count': {'N': str(line)}, 'price': {'N': '12.50'}}} for line in range(1, 4)]
    return {**{name: {'S': text} for name, text in texts.items()}, 'orderId': {'N': str(number)}, 'total': {'N': str(number * 3)},
            'gift': {'BOOL': False}, 'lines': {'L': lines}, 'tags': {'SS': ['new', 'paid by card']}}


def prepare(endpoint):
    api = Api(endpoint)
    api.call('ApplyModel', {'Model': MODEL})
    while api.call('DescribeModel', {'TableName': 'shop'})['Status'] != 'ACTIVE':
        time.sleep(0.1)
    for number in range(1, 201):
        api.call('PutItem', {'TableName': 'shop', 'Item': item_of(number)})


def path_of(pattern, limit, **more):
    query = '&'.join(f'{name}={value}' for name, value in {**ARGUMENTS[pattern], **more}.items())
    return f'/v1/shop/{pattern}?{query}' + (f'&limit={limit}' if pattern != 'order' else '')


def get(connection, path):
    connection.request('GET', path)
    response = connection.getresponse()
    text = response.read()
    if response.status != 200:
        raise RuntimeError(f'{path}: {response.status} {text}')
    return text


def main(endpoint, phase, pattern=None, limit=None, count=None):
    if phase == 'prepare':
        return prepare(endpoint)
    connection = http.client.HTTPConnection(urlsplit(endpoint).hostname, urlsplit(endpoint).port)
    explained = json.loads(get(connection, path_of(pattern, limit, explain=1)))
    path, api = path_of(pattern, limit), Api(endpoint)
    for _ in range(int(count)):
        if phase == 'pattern':
            get(connection, path)
        else:
            api.call(explained['operation'], explained['request'])


main(*sys.argv[1:])
