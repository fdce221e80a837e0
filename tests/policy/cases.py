"""Random cases, made so that most things nearly match: few names, few values, and policies that speak of them."""
import random

A, B = '111111111111', '222222222222'
USERS = [f'arn:aws:iam::{A}:user/ann', f'arn:aws:iam::{A}:user/team/bob']
SESSIONS = [f'arn:aws:sts::{A}:assumed-role/Reader/one', f'arn:aws:sts::{A}:assumed-role/Writer/two']
FEDERATED, ROOT, SERVICE = f'arn:aws:sts::{A}:federated-user/fred', f'arn:aws:iam::{A}:root', 'lambda.amazonaws.com'
ROLES = [f'arn:aws:iam::{A}:role/Reader', f'arn:aws:iam::{A}:role/path/Writer']
TABLES = ['Orders', 'Order-Items', 'ann', 'O*', '$Users']
ITEM = ['dynamodb:LeadingKeys', 'dynamodb:Attributes']
ACTIONS = {  # and the keys of DynamoDB that come with it, by the service authorization reference
    'GetItem': ITEM + ['dynamodb:EnclosingOperation', 'dynamodb:ReturnConsumedCapacity', 'dynamodb:Select'],
    'PutItem': ITEM + ['dynamodb:EnclosingOperation', 'dynamodb:ReturnConsumedCapacity', 'dynamodb:ReturnValues'],
    'UpdateItem': ITEM + ['dynamodb:EnclosingOperation', 'dynamodb:ReturnConsumedCapacity', 'dynamodb:ReturnValues'],
    'Query': ITEM + ['dynamodb:ReturnConsumedCapacity', 'dynamodb:ReturnValues', 'dynamodb:Select'],
    'Scan': ['dynamodb:Attributes', 'dynamodb:ReturnConsumedCapacity', 'dynamodb:Select'],
    'PartiQLSelect': ITEM + ['dynamodb:EnclosingOperation', 'dynamodb:FullTableScan', 'dynamodb:Select'],
    'DescribeTable': [], 'ListTables': [], 'TagResource': ['aws:TagKeys', 'aws:RequestTag/team'],
}
TEXTS = ['a', 'b', 'ab', 'A', 'ann', 'Reader', 'a*', '?', '$', '', 'team/bob']
STRINGS = {'dynamodb:Select': ['COUNT', 'ALL_ATTRIBUTES'], 'dynamodb:ReturnValues': ['NONE', 'ALL_OLD'],
           'dynamodb:ReturnConsumedCapacity': ['TOTAL', 'NONE'], 'dynamodb:EnclosingOperation': ['TransactWriteItems', 'TransactGetItems'],
           'aws:PrincipalType': ['User', 'AssumedRole', 'Account'], 'aws:PrincipalAccount': [A, B], 'aws:ResourceAccount': [A, B]}
# Keys that come with all requests, by what their values are.
GLOBAL = {'string': ['aws:userid', 'aws:UserAgent', 'aws:PrincipalTag/team', 'aws:ResourceTag/team', 'aws:SourceVpce', 'aws:username', 'aws:PrincipalType', 'aws:PrincipalAccount',
                     'aws:ResourceAccount'],
          'number': ['aws:MultiFactorAuthAge'], 'date': ['aws:CurrentTime', 'aws:TokenIssueTime'], 'bool': ['aws:SecureTransport', 'aws:MultiFactorAuthPresent', 'aws:PrincipalIsAWSService'],
          'ip': ['aws:SourceIp'], 'arn': ['aws:PrincipalArn', 'aws:SourceArn'], 'many': ['aws:CalledVia', 'aws:PrincipalOrgPaths']}
IMPLIED = {'aws:username', 'aws:PrincipalType', 'aws:PrincipalAccount', 'aws:ResourceAccount', 'aws:PrincipalIsAWSService', 'aws:PrincipalArn'}
NUMBERS = ['0', '1', '1.0', '2', '10', '-1', '1.5', '0.10', '.1', '100000000000000', '+2']
DATES = ['2026-01-01', '2026-01', '2026-01-01T00:00:00Z', '2026-01-01T00:00Z', '2026-01-01T01:00:00+01:00', '2026-06-30T12:00:00.500Z', '2025-12-31T23:59:59Z', '2024-02-29',
         '1767225600']
ADDRESSES = ['10.0.0.1', '10.0.0.2', '10.255.0.1', '192.168.1.1', '2001:db8::1', '2001:db8:0:0:0:0:0:1', '2001:db8:1::1', '::1']
BLOCKS = ADDRESSES + ['10.0.0.0/8', '10.0.0.0/31', '10.0.0.3/30', '0.0.0.0/0', '128.0.0.0/1', '192.168.1.1/32', '2001:db8::/32', '2001:DB8::/48', '::/0', '::1/128']
ARNS = USERS + ROLES + [f'arn:aws:dynamodb:us-east-1:{A}:table/Orders', f'arn:aws:sns:us-east-1:{B}:topic:a:b', ROOT]
BINARY = ['YQ==', 'YWI=', 'YWJj', '']
STRING_OPERATORS = ['StringEquals', 'StringNotEquals', 'StringEqualsIgnoreCase', 'StringNotEqualsIgnoreCase', 'StringLike', 'StringNotLike']
OPERATORS = {'string': STRING_OPERATORS, 'many': STRING_OPERATORS,
             'number': ['Numeric' + o for o in ('Equals', 'NotEquals', 'LessThan', 'LessThanEquals', 'GreaterThan', 'GreaterThanEquals')],
             'date': ['Date' + o for o in ('Equals', 'NotEquals', 'LessThan', 'LessThanEquals', 'GreaterThan', 'GreaterThanEquals')],
             'bool': ['Bool'], 'ip': ['IpAddress', 'NotIpAddress'], 'arn': ['ArnEquals', 'ArnLike', 'ArnNotEquals', 'ArnNotLike', 'StringLike'], 'binary': ['BinaryEquals']}
BAD_DATES = ['x', '2026-13-01', 'maybe']
BAD = ['x', '10.0.0.0/33', '1.2.3', 'arn:aws', 'YQ', '2026-13-01', 'maybe', 'true']


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, share):
        return self.random.random() < share

    def pick(self, values):
        return self.random.choice(values)

    def some(self, make, most=3):
        """A value, or a list of a few."""
        return make() if self.chance(0.4) else [make() for _ in range(self.random.randint(1, most))]

    # ---- Requests

    def value(self, key, kind):
        if kind in ('string', 'many'):
            return self.pick(STRINGS.get(key, TEXTS))
        return self.pick({'number': NUMBERS, 'date': DATES, 'bool': ['true', 'false'], 'ip': ADDRESSES, 'arn': ARNS}[kind]) if not self.chance(0.02) else self.pick(BAD_DATES if kind == 'date' else BAD)

    def context(self, action, principal):
        context = {}
        keys = [(key, 'many' if key in ('dynamodb:LeadingKeys', 'dynamodb:Attributes', 'aws:TagKeys') else 'bool' if key == 'dynamodb:FullTableScan' else 'string')
                for key in ACTIONS[action]]
        keys += [(key, kind) for kind, names in GLOBAL.items() for key in names if key not in IMPLIED]
        for key, kind in keys:
            if self.chance(0.45):
                context[key] = [self.value(key, kind) for _ in range(self.random.randint(1, 3))] if kind == 'many' else self.value(key, kind)
        if self.chance(0.1):
            context['aws:userid'] = self.pick(BINARY)
        return context

    def resource(self, action, account):
        if action == 'ListTables':
            return '*'
        table = f'arn:aws:dynamodb:{self.pick(["us-east-1", "eu-west-1"])}:{account}:table/{self.pick(TABLES[:3])}'
        return table + '/index/byDate' if action in ('Query', 'Scan') and self.chance(0.3) else table

    # ---- Policies

    def action(self):
        return self.pick(['*', 'dynamodb:*', 'dynamodb:Get*', 'dynamodb:*Item', 'dynamodb:?etItem', 'DynamoDB:getitem', 's3:*', 'dynamodb:Part*Select', 'dynamodb:G*t*m']
                         + ['dynamodb:' + name for name in ACTIONS])

    def pattern(self):
        """Text with wildcards and variables."""
        piece = lambda: self.pick(TEXTS + ['*', '?', 'a*', '${aws:username}', "${aws:PrincipalTag/team, 'a'}", '${aws:userid}', '${*}', '${?}', '${$}', '${aws:CalledVia}', '${aws:UserName}'])
        return piece() + (piece() if self.chance(0.3) else '')

    def resource_pattern(self):
        if self.chance(0.35):
            return '*'
        if self.chance(0.1):
            return self.pick(['arn:*', 'arn:aws:dynamodb:*', 'arn:aws:dynamodb:us-*', 'arn:aws:dynamodb:*:*', f'arn:aws:dynamodb:us-east-1:{A}*', 'arn:aws:s3:::x'])
        name = self.pick(TABLES[:3] + ['*', 'O*', 'Order?', 'Order-*s', '*/index/*', 'Orders/index/byDate', '${aws:username}', "${aws:PrincipalTag/team, 'Orders'}", '${aws:userid}*', '${*}', 'O${*}'])
        return f'arn:aws:dynamodb:{self.pick(["*", "us-east-1", "us-*", "??-west-1"])}:{self.pick(["*", A, B])}:table/{name}'

    def operand(self, key, kind, operator):
        if self.chance(0.02):
            return self.pick(BAD_DATES if kind == 'date' else BAD)
        if operator.startswith('String'):
            return self.pick(STRINGS[key]) if key in STRINGS and self.chance(0.7) else self.pattern()
        if kind == 'number':
            text = self.pick(NUMBERS)
            return int(text) if self.chance(0.2) and text.isdigit() else text
        if kind == 'bool':
            return self.pick(['true', 'false', True, False, 'True'])
        if kind == 'arn':
            return self.pick(ARNS + [f'arn:aws:iam::{A}:user/*', 'arn:*:*:*:*:*', 'arn:aws:iam::*:role/?*', f'arn:aws:sns:*:{B}:topic:*', 'arn:aws:iam::${aws:PrincipalAccount}:user/${aws:username}'])
        return self.pick({'date': DATES, 'ip': BLOCKS, 'binary': BINARY}[kind])

    def condition(self, action):
        own = [(key, 'many' if key in ('dynamodb:LeadingKeys', 'dynamodb:Attributes', 'aws:TagKeys') else 'bool' if key == 'dynamodb:FullTableScan' else 'string') for key in ACTIONS[action]]
        world = [(key, kind) for kind, names in GLOBAL.items() for key in names]
        key, kind = self.pick(own if own and self.chance(0.5) else world)
        if key == 'aws:userid' and self.chance(0.2):
            kind = 'binary'
        if self.chance(0.12):
            return 'Null', key, self.pick(['true', 'false', True, False, ['true', 'false']])
        operator = self.pick(OPERATORS[kind])
        operands = self.some(lambda: self.operand(key, kind, operator))
        if self.chance(0.01):
            operands = []
        if self.chance(0.25):
            operator += 'IfExists'
        if self.chance(0.9 if kind == 'many' else 0.1):
            operator = self.pick(['ForAllValues:', 'ForAnyValue:']) + operator
        return operator, key.upper() if self.chance(0.03) and '/' not in key else key, operands

    def principal(self):
        names = self.some(lambda: self.pick(['*', A, B, ROOT, FEDERATED] + USERS + SESSIONS + ROLES))
        if self.chance(0.2):
            return '*'
        return {'AWS': names, 'Service': SERVICE} if self.chance(0.15) else {'AWS': names}

    def statement(self, action, resource_policy):
        statement = {'Effect': 'Deny' if self.chance(0.25) else 'Allow'}
        statement['NotAction' if self.chance(0.1) else 'Action'] = self.some(lambda: 'dynamodb:' + action if self.chance(0.3) else self.action())
        statement['NotResource' if self.chance(0.12) else 'Resource'] = self.some(self.resource_pattern)
        if resource_policy:
            statement['NotPrincipal' if self.chance(0.12) else 'Principal'] = self.principal()
        condition = {}
        for _ in range(self.pick([0, 0, 1, 1, 2, 3])):
            operator, key, operands = self.condition(action)
            if key.lower() not in (known.lower() for known in condition.get(operator, {})):
                condition.setdefault(operator, {})[key] = operands
        if condition:
            statement['Condition'] = condition
        return statement

    def policy(self, action, resource_policy=False):
        if self.chance(0.15) and not resource_policy:
            return {'Version': '2012-10-17', 'Statement': {'Effect': 'Allow', 'Action': '*', 'Resource': '*'}}
        statements = [self.statement(action, resource_policy) for _ in range(self.pick([1, 1, 2, 3]))]
        policy = {'Version': '2012-10-17'} if not self.chance(0.05) else self.pick([{}, {'Version': '2008-10-17'}])
        policy['Statement'] = statements[0] if len(statements) == 1 and self.chance(0.3) else statements
        return policy

    def case(self):
        action = self.pick(list(ACTIONS))
        principal = self.pick(USERS * 3 + SESSIONS * 3 + [FEDERATED, ROOT, SERVICE, 'anonymous'])
        account = A if self.chance(0.7) else B
        case = {'principal': principal, 'action': 'dynamodb:' + action, 'resource': self.resource(action, account)}
        if case['resource'] == '*':
            case['account'] = account
        if principal not in (ROOT, SERVICE, 'anonymous'):
            case['identity'] = [self.policy(action) for _ in range(self.pick([0, 1, 1, 2]))]
            if self.chance(0.2):
                case['boundary'] = self.policy(action)
            if self.chance(0.2) and principal not in USERS:
                case['session'] = [self.policy(action)]
        if self.chance(0.5):
            case['resourcePolicy'] = self.policy(action, True)
        case['context'] = self.context(action, principal)
        return case
