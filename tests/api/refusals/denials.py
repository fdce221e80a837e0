"""What policies refuse: the sentence names who, what, on which resource, and which kind of policy decided."""
import json

ARN = 'arn:aws:dynamodb:us-east-1:000000000000:table/'
IAM = 'arn:aws:iam::000000000000:'
CORAL = 'com.amazon.coral.service#AccessDeniedException'


def policy(*statements):
    return {'Version': '2012-10-17', 'Statement': [{'Effect': effect, 'Action': action, 'Resource': resource, **more} for effect, action, resource, more in statements]}


def allow(action, resource='*', **more):
    return 'Allow', action, resource, more


def deny(action, resource='*', **more):
    return 'Deny', action, resource, more


def sentence(who, action, resource, why):
    reasons = {'identity': f'because no identity-based policy allows the {action} action', 'deny': 'with an explicit deny in an identity-based policy',
               'boundary': f'because no permissions boundary allows the {action} action', 'boundary deny': 'with an explicit deny in a permissions boundary',
               'session': f'because no session policy allows the {action} action', 'session deny': 'with an explicit deny in a session policy',
               'resource deny': 'with an explicit deny in a resource-based policy'}
    return f'User: {who} is not authorized to perform: {action} on resource: {resource} {reasons[why]}'


KEY = {'pk': {'S': 'a'}}
GET = {'TableName': 'Orders', 'Key': KEY}
ITEM = {'TableName': 'Orders', 'Item': KEY}
UPDATE = {**GET, 'UpdateExpression': 'SET a = :v', 'ExpressionAttributeValues': {':v': {'N': '1'}}}
SCHEMA = {'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}], 'AttributeDefinitions': [{'AttributeName': 'pk', 'AttributeType': 'S'}]}
# What a user without a policy is told: (operation, request, action, resource)
NOTHING = [
    ('GetItem', GET, 'dynamodb:GetItem', ARN + 'Orders'), ('PutItem', ITEM, 'dynamodb:PutItem', ARN + 'Orders'),
    ('UpdateItem', UPDATE, 'dynamodb:UpdateItem', ARN + 'Orders'), ('DeleteItem', GET, 'dynamodb:DeleteItem', ARN + 'Orders'),
    ('Scan', {'TableName': 'Orders'}, 'dynamodb:Scan', ARN + 'Orders'),
    ('Query', {'TableName': 'Orders', 'KeyConditionExpression': 'pk = :v', 'ExpressionAttributeValues': {':v': {'S': 'a'}}}, 'dynamodb:Query', ARN + 'Orders'),
    ('Query', {'TableName': 'Orders', 'IndexName': 'by-day', 'KeyConditionExpression': 'pk = :v', 'ExpressionAttributeValues': {':v': {'S': 'a'}}}, 'dynamodb:Query', ARN + 'Orders/index/by-day'),
    ('BatchGetItem', {'RequestItems': {'Orders': {'Keys': [KEY]}}}, 'dynamodb:BatchGetItem', ARN + 'Orders'),
    ('BatchWriteItem', {'RequestItems': {'Orders': [{'PutRequest': {'Item': KEY}}]}}, 'dynamodb:BatchWriteItem', ARN + 'Orders'),
    ('TransactGetItems', {'TransactItems': [{'Get': GET}]}, 'dynamodb:GetItem', ARN + 'Orders'),
    ('TransactWriteItems', {'TransactItems': [{'Put': ITEM}]}, 'dynamodb:PutItem', ARN + 'Orders'),
    ('TransactWriteItems', {'TransactItems': [{'ConditionCheck': {**GET, 'ConditionExpression': 'attribute_exists(pk)'}}]}, 'dynamodb:ConditionCheckItem', ARN + 'Orders'),
    ('ExecuteStatement', {'Statement': "SELECT * FROM Orders WHERE pk = 'a'"}, 'dynamodb:PartiQLSelect', ARN + 'Orders'),
    ('ExecuteStatement', {'Statement': "INSERT INTO Orders VALUE {'pk': 'a'}"}, 'dynamodb:PartiQLInsert', ARN + 'Orders'),
    ('ExecuteStatement', {'Statement': "UPDATE Orders SET a = 1 WHERE pk = 'a'"}, 'dynamodb:PartiQLUpdate', ARN + 'Orders'),
    ('ExecuteStatement', {'Statement': "DELETE FROM Orders WHERE pk = 'a'"}, 'dynamodb:PartiQLDelete', ARN + 'Orders'),
    ('ListTables', {}, 'dynamodb:ListTables', '*'), ('DescribeTable', {'TableName': 'Orders'}, 'dynamodb:DescribeTable', ARN + 'Orders'),
    ('DescribeTable', {'TableName': 'Nowhere'}, 'dynamodb:DescribeTable', ARN + 'Nowhere'), ('GetItem', {**GET, 'TableName': 'Nowhere'}, 'dynamodb:GetItem', ARN + 'Nowhere'),
    ('CreateTable', {'TableName': 'More', **SCHEMA}, 'dynamodb:CreateTable', ARN + 'More'), ('DeleteTable', {'TableName': 'Orders'}, 'dynamodb:DeleteTable', ARN + 'Orders'),
    ('PutResourcePolicy', {'ResourceArn': ARN + 'Orders', 'Policy': '{}'}, 'dynamodb:PutResourcePolicy', ARN + 'Orders'),
    ('CreateUser', {'UserName': 'more'}, 'iam:CreateUser', IAM + 'user/more'), ('ListUsers', {}, 'iam:ListUsers', '*'),
    ('CreateAccessKey', {'UserName': 'tom'}, 'iam:CreateAccessKey', IAM + 'user/tom'), ('ListModels', {}, 'dolmen:ListModels', '*'),
]


def call(place, key, operation, body):
    def make():
        request = place.call(key, operation, body)
        request.sign()
        return request
    return make


def cases(place):
    nobody = place.user('nobody')
    for operation, body, action, resource in NOTHING:
        yield f'nothing allowed: {operation} {list(body.values())[:1]}', call(place, nobody, operation, body), (400, CORAL, sentence(IAM + 'user/nobody', action, resource, 'identity'))
    yield from kinds(place)
    yield from paths(place, nobody)


def kinds(place):
    place.do('CreateTable', TableName='Shared', **SCHEMA)
    place.do('PutResourcePolicy', ResourceArn=ARN + 'Shared', Policy=json.dumps({'Version': '2012-10-17', 'Statement': [
        {'Effect': 'Deny', 'Principal': {'AWS': IAM + 'user/open'}, 'Action': 'dynamodb:PutItem', 'Resource': ARN + 'Shared'}]}))
    place.do('CreatePolicy', PolicyName='limit', PolicyDocument=json.dumps(policy(allow('dynamodb:GetItem'), deny('dynamodb:DeleteItem'))))
    users = {
        'open': place.user('open', policy(allow('dynamodb:*'))),
        'denied': place.user('denied', policy(allow('dynamodb:*'), deny('dynamodb:GetItem', ARN + 'Orders'))),
        'own': place.user('own', policy(allow('dynamodb:GetItem', ARN + 'Orders', Condition={'ForAllValues:StringEquals': {'dynamodb:LeadingKeys': '${aws:username}'}}))),
        'away': place.user('away', policy(allow('dynamodb:*'), deny('*', Condition={'NotIpAddress': {'aws:SourceIp': '192.0.2.0/24'}}))),
        'plain': place.user('plain', policy(allow('dynamodb:*'), deny('*', Condition={'Bool': {'aws:SecureTransport': 'false'}}))),
        'far': place.user('far', policy(allow('dynamodb:*', 'arn:aws:dynamodb:eu-west-1:000000000000:table/*'))),
        'bound': place.user('bound', policy(allow('dynamodb:*'))),
    }
    place.do('PutUserPermissionsBoundary', UserName='bound', PermissionsBoundary=IAM + 'policy/limit')
    shared_get = {**GET, 'TableName': 'Shared'}
    for who, operation, body, action, table, why in [
            ('denied', 'GetItem', GET, 'GetItem', 'Orders', 'deny'), ('denied', 'TransactGetItems', {'TransactItems': [{'Get': shared_get}, {'Get': GET}]}, 'GetItem', 'Orders', 'deny'),
            ('own', 'GetItem', GET, 'GetItem', 'Orders', 'identity'), ('own', 'PutItem', ITEM, 'PutItem', 'Orders', 'identity'), ('away', 'GetItem', GET, 'GetItem', 'Orders', 'deny'),
            ('plain', 'GetItem', GET, 'GetItem', 'Orders', 'deny'), ('far', 'GetItem', GET, 'GetItem', 'Orders', 'identity'),
            ('bound', 'PutItem', ITEM, 'PutItem', 'Orders', 'boundary'), ('bound', 'DeleteItem', GET, 'DeleteItem', 'Orders', 'boundary deny'),
            ('open', 'PutItem', {**ITEM, 'TableName': 'Shared'}, 'PutItem', 'Shared', 'resource deny'),
            ('open', 'TransactWriteItems', {'TransactItems': [{'Put': ITEM}, {'Put': {**ITEM, 'TableName': 'Shared'}}]}, 'PutItem', 'Shared', 'resource deny')]:
        yield f'{who}: {operation}', call(place, users[who], operation, body), (400, CORAL, sentence(f'{IAM}user/{who}', f'dynamodb:{action}', ARN + table, why))
    yield 'open: another action', call(place, users['open'], 'ListModels', {}), (400, CORAL, sentence(IAM + 'user/open', 'dolmen:ListModels', '*', 'identity'))
    yield from roles(place)


def roles(place):
    asker = place.user('asker')
    place.do('CreateRole', RoleName='night', AssumeRolePolicyDocument=json.dumps({'Version': '2012-10-17', 'Statement': [
        {'Effect': 'Allow', 'Principal': {'AWS': IAM + 'user/asker'}, 'Action': 'sts:AssumeRole'}]}))
    place.do('PutRolePolicy', RoleName='night', PolicyName='p', PolicyDocument=json.dumps(policy(allow('dynamodb:*', ARN + 'Orders'))))
    narrow = json.dumps(policy(allow('dynamodb:GetItem'), deny('dynamodb:DeleteItem')), separators=(',', ':')).replace(':', '%3A').replace('*', '%2A')
    start = f'Action=AssumeRole&Version=2011-06-15&RoleArn={IAM}role/night&RoleSessionName=now'
    free, bound = place.session(asker, start), place.session(asker, start + '&Policy=' + narrow)
    who = 'arn:aws:sts::000000000000:assumed-role/night/now'
    for name, key, operation, body, table, why in [
            ('a role', free, 'GetItem', {**GET, 'TableName': 'Shared'}, 'Shared', 'identity'), ('a session policy', bound, 'PutItem', ITEM, 'Orders', 'session'),
            ('a session policy', bound, 'DeleteItem', GET, 'Orders', 'session deny'), ('a session policy is not enough', bound, 'GetItem', {**GET, 'TableName': 'Shared'}, 'Shared', 'identity')]:
        yield f'{name}: {operation}', call(place, key, operation, body), (400, CORAL, sentence(who, 'dynamodb:' + operation, ARN + table, why))
    other = place.user('other')

    def assume():
        request = place.request(other, 'POST', '/', [('Content-Type', 'application/x-www-form-urlencoded')], start.encode(), service='sts')
        request.sign()
        return request
    yield 'sts: a role that does not trust', assume, (403, 'AccessDenied', f'User: {IAM}user/other is not authorized to perform: sts:AssumeRole on resource: {IAM}role/night')


def paths(place, nobody):
    """Other paths: what is refused is not explained where that would tell what there is."""
    who = IAM + 'user/nobody'

    def ask(method, path, body=b''):
        def make():
            request = place.request(nobody, method, path, body=body)
            request.sign()
            return request
        return make
    yield '/metrics: nothing allowed', ask('GET', '/metrics'), (403, 'text/plain', sentence(who, 'dolmen:GetMetrics', '*', 'identity'))
    yield '/admin: nothing allowed', ask('POST', '/admin/clock', b'{"reset": true}'), (403, 'text/plain', sentence(who, 'dolmen:Admin', '*', 'identity'))
    yield '/v1: nothing allowed', ask('GET', '/v1'), (403, 'application/problem+json', f'User: {who} is not authorized to do this on resource: *')
    for table in ('Orders', 'Nowhere'):
        yield f'/v1/{table}: nothing allowed', ask('GET', '/v1/' + table), (403, 'application/problem+json', f'User: {who} is not authorized to do this on resource: {table}')
        yield f'/v1/{table}/things: nothing allowed', ask('GET', f'/v1/{table}/things'), (403, 'application/problem+json', f'User: {who} is not authorized to do this on resource: {table}')
