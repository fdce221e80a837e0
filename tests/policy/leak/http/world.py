"""Who may see what, decided naively: a random model with policies and tenants, its items, and random principals.

Every value that could leak is a word that occurs nowhere else (a canary). So one check serves every path: of the words of an answer, whatever its form, each
has to be one that the principal may see there.
"""
import reference

ARN = 'arn:aws:dynamodb:us-east-1:000000000000:table/'
TABLE = ARN + 'app'
ORGS, CUSTOMERS, STATUSES, ROLES = ['o1', 'o2', 'o3'], ['c1', 'c2', 'c3'], ['new', 'paid', 'sent'], ['admin', 'clerk']
SECRETS = ['margin', 'note', 'address']  # attributes that may be hidden
KEYS = ['PK', 'SK', 'GSI1PK', 'GSI1SK']


class Test:
    """A conjunction of comparisons, as text of the model and as a function."""

    FORMS = {
        'actor.customer = customer': lambda tags, item: 'customer' in tags and tags['customer'] == item.get('customer'),
        'actor.org = org': lambda tags, item: 'org' in tags and tags['org'] == item.get('org'),
        'actor.role = "admin"': lambda tags, item: tags.get('role') == 'admin',
        'actor.role = "clerk"': lambda tags, item: tags.get('role') == 'clerk',
        'status = "new"': lambda tags, item: item.get('status') == 'new',
        'status != "sent"': lambda tags, item: 'status' in item and item['status'] != 'sent',
        'actor.level >= level': lambda tags, item: 'level' in tags and 'level' in item and int(tags['level']) >= item['level'],
    }

    def __init__(self, chance):
        self.parts = chance.sample(sorted(self.FORMS), chance.choice([1, 1, 2]))
        self.text = ' and '.join(self.parts)

    def holds(self, tags, item):
        return all(self.FORMS[part](tags, item) for part in self.parts)


class Model:
    def __init__(self, chance):
        # Only orders are judged by all of their attributes; a document has no status and no level, so such tests never hold for it.
        self.allows = {'Order': [Test(chance) for _ in range(chance.randint(1, 3))], 'Doc': []}
        self.denies = {'Order': [], 'Doc': []}
        for entity, most in (('Order', 2), ('Doc', 1)):
            for _ in range(chance.randint(1, most)):
                test = Test(chance) if entity == 'Order' else chance.choice([None, 'actor.role = "admin"'])
                self.denies[entity].append((chance.sample(SECRETS, chance.randint(1, 2)), test))

    def text(self):
        lines = ['table app {', '  key   PK, SK', '  index GSI1 (GSI1PK, GSI1SK)', '  type  kind', '}', '']
        lines += ['entity Order {', '  PK = "ORG#{org}"  SK = "ORDER#{id}"', '  GSI1 = "STATUS#{status}", "{org}#{id}"', '  org string', '  id string',
                  '  status "new" | "paid" | "sent"', '  customer string', '  level number', *(f'  {name} string?' for name in SECRETS), '}', '']
        lines += ['entity Doc {', '  PK = "ORG#{org}"  SK = "DOC#{id}"', '  org string', '  id string', *(f'  {name} string?' for name in SECRETS), '}', '']
        lines += ['access byStatus(status) = Order via GSI1', '', 'tenant org', '']
        lines += [f'allow read, write Order to {test.text}' for test in self.allows['Order']]
        for entity, rules in self.denies.items():
            for names, test in rules:
                text = test.text if isinstance(test, Test) else test
                lines.append(f'deny read of {", ".join(names)} of {entity}' + (f' unless {text}' if text else ''))
        return '\n'.join(lines) + '\n'

    def sees(self, who, item):
        """The attributes that it may read of the item; None: there is no such item."""
        if who.tenant is not None and item['org'] != who.tenant:
            return None
        if who.bypasses():
            return set(item)
        allows = self.allows[item['kind']]
        if allows and not any(test.holds(who.tags, item) for test in allows):
            return None
        hidden = set()
        for names, test in self.denies[item['kind']]:
            if test is None or not (test.holds(who.tags, item) if isinstance(test, Test) else who.tags.get('role') == 'admin'):
                hidden |= set(names)
        return set(item) - hidden


def make_items(chance, count):
    items = []
    for number in range(count):
        kind, org, name = chance.choice(['Order', 'Order', 'Doc']), chance.choice(ORGS), f'zqi{number:04d}x'
        item = {'kind': kind, 'org': org, 'id': name, 'PK': f'ORG#{org}', 'SK': f'{kind.upper()}#{name}'}
        if kind == 'Order':
            item |= {'status': chance.choice(STATUSES), 'customer': chance.choice(CUSTOMERS), 'level': chance.randint(1, 3)}
            item |= {'GSI1PK': f'STATUS#{item["status"]}', 'GSI1SK': f'{org}#{name}'}
        item |= {secret: f'zq{secret}{number:04d}x' for secret in SECRETS if chance.random() < 0.8}
        items.append(item)
    return items


def canaries(item, names):
    """The words of these attributes. The key has the item's name in it."""
    return {item[name] for name in names if name in SECRETS and name in item} | ({item['id']} if names & {'id', 'PK', 'SK', 'GSI1SK'} else set())


class Principal:
    def __init__(self, chance, name):
        self.name, self.tags = name, {}
        self.arn = f'arn:aws:iam::000000000000:user/{name}'
        for tag, values in (('customer', CUSTOMERS), ('org', ORGS), ('role', ROLES), ('level', ['1', '2', '3'])):
            if chance.random() < 0.6:
                self.tags[tag] = chance.choice(values)
        self.tenant = chance.choice([None, None, *ORGS])
        self.policy = {'Version': '2012-10-17', 'Statement': statements(chance)}
        self.free = None

    def may(self, action, resource=TABLE, **context):
        context = {'aws:username': self.name, **{k if ':' in k else 'dynamodb:' + k: v for k, v in context.items()}}
        case = {'principal': self.arn, 'action': action if ':' in action else 'dynamodb:' + action, 'resource': resource, 'identity': [self.policy],
                'context': context, 'account': '000000000000'}
        return reference.decide(case)[0] == 'allow'

    def bypasses(self):
        if self.free is None:
            self.free = self.may('dolmen:BypassModelPolicies')
        return self.free


def statements(chance):
    orgs = [f'ORG#{org}' for org in chance.sample(ORGS, chance.randint(1, 2))] + [f'STATUS#{status}' for status in chance.sample(STATUSES, 1)]
    names = KEYS + ['kind', 'org', 'id', 'status', 'customer', 'level'] + chance.sample(SECRETS, chance.randint(0, 2))
    kinds = [
        {'Effect': 'Allow', 'Action': 'dynamodb:*', 'Resource': '*'},
        {'Effect': 'Allow', 'Action': ['dynamodb:*', 's3:*'], 'Resource': '*'},
        {'Effect': 'Allow', 'Action': ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:BatchGetItem', 'dynamodb:PartiQLSelect'], 'Resource': [TABLE, TABLE + '/index/*']},
        {'Effect': 'Allow', 'Action': ['dynamodb:Scan', 'dynamodb:UpdateItem', 'dynamodb:ConditionCheckItem', 'dynamodb:*Stream*', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
         'Resource': TABLE + '*'},
        {'Effect': 'Allow', 'Action': 'dynamodb:*', 'Resource': TABLE + '*', 'Condition': {
            'ForAllValues:StringEquals': {'dynamodb:LeadingKeys': orgs}, 'Null': {'dynamodb:LeadingKeys': 'false'}}},
        {'Effect': 'Allow', 'Action': 'dynamodb:*', 'Resource': TABLE + '*', 'Condition': {
            'ForAllValues:StringEquals': {'dynamodb:Attributes': names}, 'StringEquals': {'dynamodb:Select': 'SPECIFIC_ATTRIBUTES'}}},
        {'Effect': 'Allow', 'Action': 's3:GetObject', 'Resource': f'arn:aws:s3:::files/{chance.choice(ORGS)}/*'},
        {'Effect': 'Allow', 'Action': ['s3:ListBucket', 'dynamodb:ExportTableToPointInTime'], 'Resource': '*'},
        {'Effect': 'Allow', 'Action': ['dolmen:BypassModelPolicies', 'dynamodb:*', 's3:PutObject'], 'Resource': '*'},
        {'Effect': 'Allow', 'Action': 'dolmen:*', 'Resource': TABLE},
        {'Effect': 'Deny', 'Action': chance.choice(['dynamodb:Scan', 'dynamodb:Query', 'dynamodb:GetItem', 'dynamodb:PartiQL*', 'dynamodb:GetRecords', 'dynamodb:Batch*']), 'Resource': '*'},
        {'Effect': 'Deny', 'Action': '*', 'Resource': '*', 'Condition': {'ForAnyValue:StringEquals': {'dynamodb:LeadingKeys': orgs}}},
        {'Effect': 'Deny', 'Action': '*', 'Resource': '*', 'Condition': {'ForAnyValue:StringEquals': {'dynamodb:Attributes': chance.sample(SECRETS, 1)}}},
        {'Effect': 'Deny', 'Action': '*', 'Resource': [TABLE + '/index/*', f'arn:aws:s3:::files/{chance.choice(ORGS)}/*']},
    ]
    return chance.sample(kinds, chance.randint(1, 4))
