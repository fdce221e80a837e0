"""Users, keys, groups, roles and policies on a server that `dolmen init --secure` made; boto3 signs as the users do."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from dolmen import ROOT, Api, ApiError, Server

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
TABLE = 'arn:aws:dynamodb:us-east-1:000000000000:table/'
IAM = 'arn:aws:iam::000000000000:'


def allow(action, resource, effect='Allow'):
    return json.dumps({'Version': '2012-10-17', 'Statement': [{'Effect': effect, 'Action': action, 'Resource': resource}]})


TRUST = json.dumps({'Version': '2012-10-17', 'Statement': [{'Effect': 'Allow', 'Principal': {'AWS': IAM + 'user/ada'}, 'Action': 'sts:AssumeRole'}]})


class Caller:
    """Whoever has the key: asks, signed."""

    def __init__(self, server, key, region='us-east-1'):
        self.server, self.credentials, self.region = server, Credentials(*key), region

    def call(self, operation, body=None):
        request = AWSRequest('POST', self.server.endpoint + '/', data=json.dumps(body or {}).encode(),
                             headers={'X-Amz-Target': 'DynamoDB_20120810.' + operation, 'Content-Type': 'application/x-amz-json-1.0'})
        return self.send(request)

    def send(self, request):
        SigV4Auth(self.credentials, 'dynamodb', self.region).add_auth(request)
        try:
            with urllib.request.urlopen(urllib.request.Request(request.url, request.data, dict(request.headers))) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise ApiError(error.code, json.loads(error.read())) from None


class Base(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix='dolmen-accounts-')
        self.addCleanup(shutil.rmtree, self.root)
        made = subprocess.run([BINARY, 'init', '--secure', os.path.join(self.root, 'db'), '--json'], capture_output=True, text=True, check=True)
        document = json.loads(made.stdout)
        self.key = [document[n] for n in document if 'ccess' in n and 'ecret' not in n][0], [document[n] for n in document if 'ecret' in n][0]

    def start(self, auth='enforce', *options, region='us-east-1'):
        server = Server(os.path.join(self.root, 'db', 'data'), '--auth', auth, '--master-key',
                        'file:' + os.path.join(self.root, 'db', 'secrets', 'master.key'), *options)
        self.server, self.admin = server, Caller(server, self.key, region)
        return server

    def user(self, name, *policies):
        """A new user with inline policies, as who asks with a key of its own."""
        self.admin.call('CreateUser', {'UserName': name})
        for i, policy in enumerate(policies):
            self.admin.call('PutUserPolicy', {'UserName': name, 'PolicyName': f'p{i}', 'PolicyDocument': policy})
        return self.with_key(name)

    def with_key(self, name):
        made = self.admin.call('CreateAccessKey', {'UserName': name})['AccessKey']
        caller = Caller(self.server, (made['AccessKeyId'], made['SecretAccessKey']))
        caller.id = made['AccessKeyId']
        return caller

    def table(self, name):
        self.admin.call('CreateTable', {'TableName': name, 'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}],
                                        'AttributeDefinitions': [{'AttributeName': 'pk', 'AttributeType': 'S'}]})

    def refused(self, name, words, caller, operation, body=None):
        with self.assertRaises(ApiError) as raised:
            caller.call(operation, body)
        self.assertEqual(raised.exception.name, name, raised.exception)
        self.assertIn(words, str(raised.exception.document))


class Users(Base):
    def test_a_user_of_one_table(self):
        with self.start():
            self.table('one')
            self.table('two')
            ada = self.user('ada')
            self.refused('AccessDeniedException', 'dynamodb:GetItem', ada, 'GetItem', {'TableName': 'one', 'Key': {'pk': {'S': 'a'}}})
            self.admin.call('PutUserPolicy', {'UserName': 'ada', 'PolicyName': 'one', 'PolicyDocument': allow('dynamodb:*', TABLE + 'one')})
            ada.call('PutItem', {'TableName': 'one', 'Item': {'pk': {'S': 'a'}}})
            self.assertIn('Item', ada.call('GetItem', {'TableName': 'one', 'Key': {'pk': {'S': 'a'}}}))
            self.refused('AccessDeniedException', 'table/two', ada, 'PutItem', {'TableName': 'two', 'Item': {'pk': {'S': 'a'}}})
            self.refused('AccessDeniedException', 'iam:CreateUser', ada, 'CreateUser', {'UserName': 'eve'})
            # The policy goes, and with it what it allowed.
            self.assertEqual(self.admin.call('ListUserPolicies', {'UserName': 'ada'})['PolicyNames'], ['one'])
            self.admin.call('DeleteUserPolicy', {'UserName': 'ada', 'PolicyName': 'one'})
            self.refused('AccessDeniedException', 'table/one', ada, 'GetItem', {'TableName': 'one', 'Key': {'pk': {'S': 'a'}}})

    def test_keys(self):
        with self.start():
            ada = self.user('ada', allow('dynamodb:ListTables', '*'))
            ada.call('ListTables')
            self.admin.call('UpdateAccessKey', {'UserName': 'ada', 'AccessKeyId': ada.id, 'Status': 'Inactive'})
            self.refused('UnrecognizedClientException', '', ada, 'ListTables')
            self.admin.call('UpdateAccessKey', {'UserName': 'ada', 'AccessKeyId': ada.id, 'Status': 'Active'})
            ada.call('ListTables')
            other = self.with_key('ada')
            self.refused('LimitExceededException', 'AccessKeysPerUser', self.admin, 'CreateAccessKey', {'UserName': 'ada'})
            listed = self.admin.call('ListAccessKeys', {'UserName': 'ada'})
            self.assertEqual({key['AccessKeyId'] for key in listed['AccessKeyMetadata']}, {ada.id, other.id})
            self.assertNotIn('ecret', json.dumps(listed))
            # A key is not found under the name of somebody else.
            self.refused('ResourceNotFoundException', ada.id, self.admin, 'DeleteAccessKey', {'UserName': 'admin', 'AccessKeyId': ada.id})
            self.refused('ResourceNotFoundException', ada.id, self.admin, 'UpdateAccessKey',
                         {'UserName': 'admin', 'AccessKeyId': ada.id, 'Status': 'Inactive'})
            self.admin.call('DeleteAccessKey', {'UserName': 'ada', 'AccessKeyId': ada.id})
            self.refused('UnrecognizedClientException', '', ada, 'ListTables')
            other.call('ListTables')
            self.refused('ResourceInUseException', 'its access keys', self.admin, 'DeleteUser', {'UserName': 'ada'})
            self.admin.call('DeleteAccessKey', {'UserName': 'ada', 'AccessKeyId': other.id})
            self.admin.call('DeleteUserPolicy', {'UserName': 'ada', 'PolicyName': 'p0'})
            self.admin.call('DeleteUser', {'UserName': 'ada'})
            self.refused('UnrecognizedClientException', '', other, 'ListTables')
            self.refused('ResourceNotFoundException', 'ada', self.admin, 'GetUser', {'UserName': 'ada'})

    def test_regions(self):
        """The region of a resource is the server's, whatever the client signs for."""
        get = {'TableName': 'one', 'Key': {'pk': {'S': 'a'}}}
        scoped = "Credential should be scoped to a valid region, not '%s'. "
        with self.start():
            self.table('one')
            both = json.dumps({'Version': '2012-10-17', 'Statement': [
                {'Effect': 'Allow', 'Action': 'dynamodb:*', 'Resource': '*'}, {'Effect': 'Deny', 'Action': 'dynamodb:GetItem', 'Resource': TABLE + 'one'}]})
            ada = self.user('ada', both)
            bob = self.user('bob', allow('dynamodb:GetItem', TABLE.replace('us-east-1', 'eu-west-1') + 'one'))
            for caller in ada, bob:
                self.refused('AccessDeniedException', 'us-east-1', caller, 'GetItem', get)
                caller.region = 'eu-west-1'
                self.refused('InvalidSignatureException', scoped % 'eu-west-1', caller, 'GetItem', get)
                self.refused('InvalidSignatureException', scoped % 'eu-west-1', caller, 'GetItem',
                             {**get, 'TableName': TABLE.replace('us-east-1', 'eu-west-1') + 'one'})
            # Also where the path is the data API's, on which a signature may be missing.
            with self.assertRaises(ApiError) as raised:
                ada.send(AWSRequest('GET', self.server.endpoint + '/v1'))
            self.assertIn(scoped % 'eu-west-1', raised.exception.document['detail'])
        with self.start('enforce', '--region', 'eu-west-1', region='eu-west-1'):
            bob.server = ada.server = self.server
            self.assertEqual(bob.call('GetItem', get), {})
            self.assertEqual(ada.call('GetItem', get), {})  # nothing is denied here: the table has another name
            self.assertIn(':eu-west-1:', self.admin.call('DescribeTable', {'TableName': 'one'})['Table']['TableArn'])
            self.refused('InvalidSignatureException', scoped % 'us-east-1', Caller(self.server, self.key), 'ListTables')
        with self.start('warn'):
            self.assertEqual(Caller(self.server, self.key, 'eu-west-1').call('GetItem', get), {})
        with self.start('off'):
            for region in 'us-east-1', 'eu-west-1', 'anywhere':
                caller = Caller(self.server, self.key, region)
                self.assertEqual(caller.call('DescribeTable', {'TableName': 'one'})['Table']['TableArn'], TABLE.replace('us-east-1', region) + 'one')

    def test_tags(self):
        with self.start():
            mine = json.dumps({'Version': '2012-10-17', 'Statement': [{
                'Effect': 'Allow', 'Action': 'dynamodb:ListTables', 'Resource': '*',
                'Condition': {'StringEquals': {'aws:PrincipalTag/team': 'blue'}}}]})
            ada = self.user('ada', mine)
            self.refused('AccessDeniedException', 'ListTables', ada, 'ListTables')
            self.admin.call('TagUser', {'UserName': 'ada', 'Tags': [{'Key': 'team', 'Value': 'red'}, {'Key': 'x', 'Value': ''}]})
            self.refused('AccessDeniedException', 'ListTables', ada, 'ListTables')
            self.admin.call('TagUser', {'UserName': 'ada', 'Tags': [{'Key': 'team', 'Value': 'blue'}]})
            ada.call('ListTables')
            self.assertEqual(self.admin.call('GetUser', {'UserName': 'ada'})['User']['Tags'],
                             [{'Key': 'team', 'Value': 'blue'}, {'Key': 'x', 'Value': ''}])
            self.admin.call('UntagUser', {'UserName': 'ada', 'TagKeys': ['team', 'team', 'none']})
            self.refused('AccessDeniedException', 'ListTables', ada, 'ListTables')
            many = [{'Key': f'k{i}', 'Value': 'v'} for i in range(50)]
            self.refused('LimitExceededException', '50 tags', self.admin, 'TagUser', {'UserName': 'ada', 'Tags': many})

    def test_lists_go_on(self):
        with self.start():
            for i in range(5):
                self.admin.call('CreateUser', {'UserName': f'u{i}'})
            names, marker = [], {}
            while marker is not None:
                answer = self.admin.call('ListUsers', {'MaxItems': 2, **marker})
                names += [user['UserName'] for user in answer['Users']]
                marker = {'Marker': answer['Marker']} if answer['IsTruncated'] else None
            self.assertEqual(names, ['admin', 'u0', 'u1', 'u2', 'u3', 'u4'])

    def test_kill(self):
        """What was answered is there after kill -9."""
        self.addCleanup(lambda: self.server.process.poll() is None and self.server.kill())
        self.start()
        ada = self.user('ada', allow('dynamodb:ListTables', '*'))
        self.server.kill()
        ada.server = self.start()
        ada.call('ListTables')
        self.admin.call('UpdateAccessKey', {'UserName': 'ada', 'AccessKeyId': ada.id, 'Status': 'Inactive'})
        self.server.kill()
        ada.server = self.start()
        self.refused('UnrecognizedClientException', '', ada, 'ListTables')
        self.server.stop()


class Others(Base):
    def test_groups(self):
        with self.start():
            ada = self.user('ada')
            self.admin.call('CreateGroup', {'GroupName': 'readers'})
            self.admin.call('PutGroupPolicy', {'GroupName': 'readers', 'PolicyName': 'list', 'PolicyDocument': allow('dynamodb:ListTables', '*')})
            self.refused('AccessDeniedException', 'ListTables', ada, 'ListTables')
            self.admin.call('AddUserToGroup', {'GroupName': 'readers', 'UserName': 'ada'})
            ada.call('ListTables')
            self.assertEqual([g['GroupName'] for g in self.admin.call('ListGroupsForUser', {'UserName': 'ada'})['Groups']], ['readers'])
            self.refused('ResourceInUseException', 'its users', self.admin, 'DeleteGroup', {'GroupName': 'readers'})
            self.admin.call('RemoveUserFromGroup', {'GroupName': 'readers', 'UserName': 'ada'})
            self.refused('AccessDeniedException', 'ListTables', ada, 'ListTables')
            self.refused('ResourceNotFoundException', 'readers', self.admin, 'RemoveUserFromGroup', {'GroupName': 'readers', 'UserName': 'ada'})
            self.admin.call('DeleteGroupPolicy', {'GroupName': 'readers', 'PolicyName': 'list'})
            self.admin.call('DeleteGroup', {'GroupName': 'readers'})
            self.assertEqual(self.admin.call('ListGroups')['Groups'], [])

    def test_managed_policies_and_boundaries(self):
        with self.start():
            ada = self.user('ada')
            arn = self.admin.call('CreatePolicy', {'PolicyName': 'list', 'PolicyDocument': allow('dynamodb:*', '*')})['Policy']['Arn']
            self.assertEqual(arn, IAM + 'policy/list')
            self.admin.call('AttachUserPolicy', {'UserName': 'ada', 'PolicyArn': arn})
            ada.call('ListTables')
            self.admin.call('CreatePolicy', {'PolicyName': 'edge', 'PolicyDocument': allow('dynamodb:DescribeLimits', '*')})
            self.admin.call('PutUserPermissionsBoundary', {'UserName': 'ada', 'PermissionsBoundary': IAM + 'policy/edge'})
            self.refused('AccessDeniedException', 'ListTables', ada, 'ListTables')
            ada.call('DescribeLimits')
            self.refused('ResourceInUseException', 'attached', self.admin, 'DeletePolicy', {'PolicyArn': IAM + 'policy/edge'})
            self.admin.call('DeleteUserPermissionsBoundary', {'UserName': 'ada'})
            ada.call('ListTables')
            self.admin.call('DetachUserPolicy', {'UserName': 'ada', 'PolicyArn': arn})
            self.refused('AccessDeniedException', 'ListTables', ada, 'ListTables')
            self.admin.call('DeletePolicy', {'PolicyArn': arn})
            self.refused('ResourceNotFoundException', 'list', self.admin, 'AttachUserPolicy', {'UserName': 'ada', 'PolicyArn': arn})
            self.refused('ResourceNotFoundException', 'edge', self.admin, 'GetPolicy', {'PolicyArn': 'arn:aws:iam::aws:policy/edge'})

    def test_what_is_asked_is_what_is_done(self):
        """An administrator of one thing cannot name another one beside it."""
        with self.start():
            eve = self.user('eve', allow(['iam:DeletePolicy', 'iam:GetPolicy'], IAM + 'policy/mine'), allow('iam:*AccessKey*', IAM + 'user/eve'))
            for name in ('mine', 'other'):
                self.admin.call('CreatePolicy', {'PolicyName': name, 'PolicyDocument': allow('dynamodb:*', '*')})
            self.refused('AccessDeniedException', 'policy/other', eve, 'DeletePolicy', {'PolicyArn': IAM + 'policy/other', 'PolicyName': 'mine'})
            self.assertEqual(eve.call('GetPolicy', {'PolicyArn': IAM + 'policy/mine', 'PolicyName': 'other'})['Policy']['PolicyName'], 'mine')
            eve.call('DeletePolicy', {'PolicyArn': 'mine', 'PolicyName': 'other'})
            self.assertIn('other', [p['PolicyName'] for p in self.admin.call('ListPolicies')['Policies']])
            self.refused('AccessDeniedException', 'user/admin', eve, 'CreateAccessKey', {'UserName': 'admin'})
            self.refused('ResourceNotFoundException', self.key[0], eve, 'DeleteAccessKey', {'UserName': 'eve', 'AccessKeyId': self.key[0]})
            eve.call('CreateAccessKey', {'UserName': 'eve'})

    def test_roles(self):
        with self.start():
            role = self.admin.call('CreateRole', {'RoleName': 'job', 'AssumeRolePolicyDocument': TRUST, 'Description': 'nightly'})['Role']
            self.assertEqual((role['Arn'], role['Description'], role['AssumeRolePolicyDocument']), (IAM + 'role/job', 'nightly', TRUST))
            self.admin.call('PutRolePolicy', {'RoleName': 'job', 'PolicyName': 'p', 'PolicyDocument': allow('dynamodb:*', '*')})
            self.refused('ResourceInUseException', 'its policies', self.admin, 'DeleteRole', {'RoleName': 'job'})
            self.assertEqual([r['RoleName'] for r in self.admin.call('ListRoles')['Roles']], ['job'])
            self.admin.call('DeleteRolePolicy', {'RoleName': 'job', 'PolicyName': 'p'})
            self.admin.call('DeleteRole', {'RoleName': 'job'})
            self.refused('ValidationException', 'The policy is malformed: line', self.admin, 'CreateRole',
                         {'RoleName': 'job', 'AssumeRolePolicyDocument': allow('sts:AssumeRole', '*')})


class Refusals(Base):
    def test_damaged_requests(self):
        with self.start():
            self.admin.call('CreateUser', {'UserName': 'ada'})
            for operation, body, name, words in [
                    ('CreateUser', {}, 'ValidationException', 'CreateUser needs UserName'),
                    ('CreateUser', {'UserName': 'a/b'}, 'ValidationException', 'letters, digits'),
                    ('CreateUser', {'UserName': 'é'}, 'ValidationException', 'letters, digits'),
                    ('CreateUser', {'UserName': 'a\0'}, 'ValidationException', 'letters, digits'),
                    ('CreateUser', {'UserName': 'a' * 65}, 'ValidationException', '1 to 64'),
                    ('CreateUser', {'UserName': 'a' * 129}, 'ValidationException', 'less than or equal to 128'),
                    ('CreateUser', {'UserName': 7}, 'SerializationException', ''),
                    ('CreateUser', {'UserName': 'ada'}, 'ResourceInUseException', 'already exists'),
                    ('CreateUser', {'UserName': 'eve', 'PermissionsBoundary': 'none'}, 'ResourceNotFoundException', 'none'),
                    ('PutUserPolicy', {'UserName': 'ada', 'PolicyName': 'p'}, 'ValidationException', 'needs PolicyDocument'),
                    ('PutUserPolicy', {'UserName': 'ada', 'PolicyName': 'p', 'PolicyDocument': '{'}, 'ValidationException', 'malformed: line 1'),
                    ('PutUserPolicy', {'UserName': 'ada', 'PolicyName': 'a b', 'PolicyDocument': allow('*', '*')}, 'ValidationException', 'PolicyName has'),
                    ('PutUserPolicy', {'UserName': 'no', 'PolicyName': 'p', 'PolicyDocument': allow('*', '*')}, 'ResourceNotFoundException', 'user'),
                    ('UpdateAccessKey', {'UserName': 'ada', 'AccessKeyId': 'A' * 20, 'Status': 'Gone'}, 'ValidationException', 'enum value set'),
                    ('UpdateAccessKey', {'UserName': 'ada', 'AccessKeyId': 'A' * 20, 'Status': 'Active'}, 'ResourceNotFoundException', 'key'),
                    ('ListAccessKeys', {'UserName': 'nobody'}, 'ResourceNotFoundException', 'nobody'),
                    ('ListUsers', {'MaxItems': 0}, 'ValidationException', 'greater than or equal to 1'),
                    ('DeleteUserPolicy', {'UserName': 'ada', 'PolicyName': 'none'}, 'ResourceNotFoundException', 'none'),
                    ('AddUserToGroup', {'UserName': 'ada', 'GroupName': 'none'}, 'ResourceNotFoundException', 'none')]:
                with self.subTest(operation=operation, body=body):
                    self.refused(name, words, self.admin, operation, body)
            for i in range(10):
                self.admin.call('PutUserPolicy', {'UserName': 'ada', 'PolicyName': f'p{i}', 'PolicyDocument': allow('*', '*', 'Deny')})
            self.refused('LimitExceededException', '10 inline', self.admin, 'PutUserPolicy',
                         {'UserName': 'ada', 'PolicyName': 'p', 'PolicyDocument': allow('*', '*')})

    def test_without_a_master_key(self):
        with Server(os.path.join(self.root, 'plain')) as server:
            for operation in re.findall(r'\((\w+), account, account,', open(os.path.join(ROOT, 'src/call/operation_list.h')).read()):
                with self.assertRaises(ApiError) as raised:
                    Api(server.endpoint).call(operation, {'UserName': 'ada'})
                self.assertEqual(raised.exception.name, 'ValidationException')
                self.assertIn('--master-key', str(raised.exception.document), operation)


class CommandLine(Base):
    def run_it(self, *arguments, code=0):
        done = subprocess.run([BINARY, *arguments, '--data', os.path.join(self.root, 'db', 'data'), '--master-key',
                               'file:' + os.path.join(self.root, 'db', 'secrets', 'master.key')], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def file(self, text):
        path = os.path.join(self.root, 'policy.json')
        with open(path, 'w') as file:
            file.write(text)
        return path

    def test_users_and_keys(self):
        self.assertIn('user/ada', self.run_it('user', 'create', 'ada'))
        self.run_it('user', 'allow', 'ada', 'list', self.file(allow('dynamodb:ListTables', '*')))
        self.assertEqual(self.run_it('user', 'policies', 'ada').split(), ['list'])
        made = json.loads(self.run_it('key', 'create', 'ada', '--json'))['AccessKey']
        shown = self.run_it('key', 'rotate', 'ada', made['AccessKeyId'])
        new = shown.split()[0], shown.split()[-1]
        self.assertEqual({line.split()[1] for line in self.run_it('key', 'list', 'ada').splitlines() if line.startswith(made['AccessKeyId'])}, {'Inactive'})
        with self.start() as server:
            Caller(server, new).call('ListTables')
            self.refused('UnrecognizedClientException', '', Caller(server, (made['AccessKeyId'], made['SecretAccessKey'])), 'ListTables')
        self.run_it('key', 'enable', 'ada', made['AccessKeyId'])
        with self.start() as server:
            Caller(server, (made['AccessKeyId'], made['SecretAccessKey'])).call('ListTables')
        self.assertIn('its access keys', self.run_it('user', 'delete', 'ada', code=1))
        for key in (made['AccessKeyId'], new[0]):
            self.run_it('key', 'delete', 'ada', key)
        self.run_it('user', 'disallow', 'ada', 'list')
        self.run_it('user', 'delete', 'ada')
        self.assertEqual(self.run_it('user', 'list').split(), [IAM + 'user/admin'])

    def test_groups_and_roles(self):
        self.run_it('group', 'create', 'readers')
        self.run_it('group', 'allow', 'readers', 'list', self.file(allow('dynamodb:ListTables', '*')))
        self.run_it('user', 'create', 'ada')
        self.run_it('group', 'add', 'readers', 'ada')
        self.assertIn('its users', self.run_it('group', 'delete', 'readers', code=1))
        self.run_it('role', 'create', 'job', self.file(TRUST))
        self.assertIn('role/job', self.run_it('role', 'show', 'job'))
        self.run_it('role', 'delete', 'job')
        self.assertEqual(self.run_it('role', 'list'), '')
        with self.start():
            self.with_key('ada').call('ListTables')

    def test_misused(self):
        self.assertIn('say what to do', self.run_it('user', code=2))
        self.assertIn("key has no 'make'", self.run_it('key', 'make', 'ada', code=2))
        self.assertIn('create takes 1 argument.', self.run_it('user', 'create', code=2))
        self.assertIn('disable takes 2 arguments.', self.run_it('key', 'disable', 'ada', code=2))
        self.assertIn('none.json', self.run_it('user', 'allow', 'admin', 'p', os.path.join(self.root, 'none.json'), code=1))
        self.assertIn('malformed: line 1', self.run_it('user', 'allow', 'admin', 'p', self.file('{'), code=1))
        self.assertIn('nobody', self.run_it('key', 'create', 'nobody', code=1))


if __name__ == '__main__':
    result = unittest.main(exit=False, verbosity=1, testRunner=unittest.TextTestRunner(stream=sys.stdout)).result
    failed = len(result.failures) + len(result.errors)
    print(f'{max(result.testsRun - failed, 0)} passed, {failed} failed')
    sys.exit(1 if failed else 0)
