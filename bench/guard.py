"""The load of bench/guard: guard.py ENDPOINT prepare|run TABLE ITEMS WORK COUNT

prepare makes the table (with or without the model) and warms it up; run writes COUNT items.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'lib'))
from dolmen import Api  # noqa: E402

INDEXES = [f'GSI{i}' for i in range(1, 9)]
MODEL = '''
table users {
  key PK, SK
''' + '\n'.join(f'  index {name} ({name}PK, {name}SK)' for name in INDEXES) + '''
  type EntityType
}
entity User {
  PK = "USER#{userId}"            SK = "METADATA"
  GSI1 = "USER_EMAIL"             , "{email}"
  GSI2 = "USER_GOOGLE"            , "{googleId}"
  GSI3 = "USER_NAME"              , "{username:lower}"
  GSI4 = "USER_PLAN#{plan}"       , "{planEndDate ?? '9999-12-31T00:00:00.000Z'}#{userId}"
  GSI5 = "USER_EARNED"            , "{earned:pad(23)}#{userId}"
  GSI6 = "USER_ROLE#{role}"       , "{createdAt}#{userId}"
  GSI7 = "COUNTRY#{country}"      , "{city}#{userId}"
  GSI8 = "ACTIVE#{isActive}"      , "{updatedAt}#{userId}"

  userId      uuid
  email       email     lower
  googleId    string?
  username    string(1..40)
  firstName   string?
  lastName    string?
  role        "user" | "admin" | "moderator"   = "user"
  plan        "free" | "basic" | "pro"         = "free"
  planEndDate timestamp?
  earned      number    = 0
  country     string(2..2)
  city        string
  isActive    boolean   = true
  createdAt   timestamp = now()
  updatedAt   timestamp = now() on update
}
'''

# The same with what is taken from the stored item: a version, what cannot change, unique values.
STRICT = MODEL.replace('lower\n', 'lower, unique\n').replace('= now()\n', '= now()  immutable\n').replace(
    '  updatedAt ', '  revision    integer   version\n  updatedAt ')
# Judged, but written in any case; "warned": with two things wrong with each item.
WARN = MODEL.replace('type EntityType\n', 'type EntityType\n  guard warn\n')
MODELS = {'model': MODEL, 'strict': STRICT, 'warn': WARN, 'warned': WARN}


def item_of(number, round_, full):
    user = f'00000000-0000-4000-8000-{number:012}'
    time_ = f'2026-11-16T03:40:{round_ % 60:02}.{number % 1000:03}Z'
    attributes = {
        'userId': user, 'email': f'person{number}@example.com', 'googleId': f'g{number:020}', 'username': f'Person{number}',
        'firstName': 'Ada', 'lastName': 'Lovelace', 'planEndDate': '2027-01-01T00:00:00.000Z', 'country': 'GB',
        'city': 'London',
    }
    more = {'role': 'user', 'plan': 'free', 'createdAt': '2026-01-01T00:00:00.000Z', 'updatedAt': time_}
    if full:
        attributes.update(more)
        attributes.update({
            'PK': f'USER#{user}', 'SK': 'METADATA', 'EntityType': 'User',
            'GSI1PK': 'USER_EMAIL', 'GSI1SK': attributes['email'], 'GSI2PK': 'USER_GOOGLE', 'GSI2SK': attributes['googleId'],
            'GSI3PK': 'USER_NAME', 'GSI3SK': attributes['username'].lower(), 'GSI4PK': 'USER_PLAN#free',
            'GSI4SK': f'2027-01-01T00:00:00.000Z#{user}', 'GSI5PK': 'USER_EARNED', 'GSI5SK': f'{number:023}#{user}',
            'GSI6PK': 'USER_ROLE#user', 'GSI6SK': f'2026-01-01T00:00:00.000Z#{user}', 'GSI7PK': 'COUNTRY#GB', 'GSI7SK': f'London#{user}',
            'GSI8PK': 'ACTIVE#true', 'GSI8SK': f'{time_}#{user}'})
    else:
        attributes['EntityType'] = 'User'
    item = {name: {'S': value} for name, value in attributes.items()}
    item['earned'] = {'N': str(number)}
    item['isActive'] = {'BOOL': True}
    return item


def make_table(api, table):
    if table != 'bare':
        api.call('ApplyModel', {'Model': MODELS[table]})
        while api.call('DescribeModel', {'TableName': 'users'})['Status'] != 'ACTIVE':
            time.sleep(0.1)
        return
    names = ['PK', 'SK'] + [name + part for name in INDEXES for part in ('PK', 'SK')]
    schema = lambda a, b: [{'AttributeName': a, 'KeyType': 'HASH'}, {'AttributeName': b, 'KeyType': 'RANGE'}]  # noqa: E731
    api.call('CreateTable', {
        'TableName': 'users', 'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': schema('PK', 'SK'),
        'AttributeDefinitions': [{'AttributeName': name, 'AttributeType': 'S'} for name in names],
        'GlobalSecondaryIndexes': [{'IndexName': name, 'KeySchema': schema(name + 'PK', name + 'SK'), 'Projection': {'ProjectionType': 'ALL'}}
                                   for name in INDEXES]})


def main(endpoint, phase, table, items, work, count):
    api = Api(endpoint)
    if phase == 'prepare':
        make_table(api, table)
    first = 0 if phase == 'prepare' or work == 'overwrite' else 10000
    for i in range(int(count)):
        number = first + (i if work == 'insert' or phase == 'prepare' else i % 100)
        round_ = 0 if phase == 'prepare' else 1 + i // 100
        item = item_of(number, round_, items == 'full')
        if table == 'warned':
            item.update({'country': {'S': 'Great Britain'}, 'firstName': {'N': str(number)}})
        api.call('PutItem', {'TableName': 'users', 'Item': item})


main(*sys.argv[1:])
