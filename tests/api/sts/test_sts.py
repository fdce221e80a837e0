"""Sessions of users and roles, on a server that `dolmen init --secure` made; dolmen's own commands make the identities."""
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from dolmen import ROOT, Server

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
CLIENT = os.path.join(ROOT, os.environ.get('DOLMEN_CLIENT', BINARY))
PATIENCE = 120
IAM = 'arn:aws:iam::000000000000:'
TABLE = 'arn:aws:dynamodb:us-east-1:000000000000:table/'
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(('AWS_', 'DOLMEN_'))}


def policy(*statements):
    return json.dumps({'Version': '2012-10-17', 'Statement': list(statements)})


def allow(action, resource='*', effect='Allow'):
    return policy({'Effect': effect, 'Action': action, 'Resource': resource})


def trust(principal, **more):
    return policy({'Effect': 'Allow', 'Principal': principal, 'Action': 'sts:AssumeRole', **more})


def named(user):
    return {'AWS': IAM + 'user/' + user}


def environment(key):
    names = ('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN')
    return {**CLEAN, 'HOME': scratch, 'AWS_CA_BUNDLE': authority, 'AWS_REGION': 'us-east-1', 'AWS_DEFAULT_REGION': 'us-east-1', **dict(zip(names, key))}


def dolmen(*arguments):
    done = subprocess.run([CLIENT, *arguments, '--endpoint', server.endpoint, '--ca', authority, '--json'], capture_output=True, text=True,
                          timeout=PATIENCE, env=environment(root))
    if done.returncode != 0:
        raise RuntimeError(f'{arguments}: {done.stdout}{done.stderr}')
    return json.loads(done.stdout or 'null')


def document(text):
    handle, path = tempfile.mkstemp(dir=scratch)
    with open(handle, 'w') as file:
        file.write(text)
    return path


def user(name, *policies):
    """A new user; its key."""
    dolmen('user', 'create', name)
    for i, text in enumerate(policies):
        dolmen('user', 'allow', name, f'p{i}', document(text))
    made = dolmen('key', 'create', name)
    made = made.get('AccessKey', made)
    return made['AccessKeyId'], made['SecretAccessKey']


def role(name, trusts, *policies):
    dolmen('role', 'create', name, document(trusts))
    for i, text in enumerate(policies):
        dolmen('role', 'allow', name, f'p{i}', document(text))
    return IAM + 'role/' + name


def client(service, key):
    return boto3.client(service, endpoint_url=server.endpoint, verify=authority, region_name='us-east-1', aws_access_key_id=key[0],
                        aws_secret_access_key=key[1], aws_session_token=key[2] if len(key) > 2 else None,
                        config=Config(retries={'max_attempts': 1, 'mode': 'standard'}))


def key_of(answer):
    return tuple(answer['Credentials'][name] for name in ('AccessKeyId', 'SecretAccessKey', 'SessionToken'))


def signed(key, method, path, body=None, service='dynamodb', headers=None):
    """Status and text of a request that boto3's signer has signed."""
    request = AWSRequest(method, server.endpoint + path, data=body, headers=headers or {})
    SigV4Auth(Credentials(*key), service, 'us-east-1').add_auth(request)
    context = ssl.create_default_context(cafile=authority)
    try:
        with urllib.request.urlopen(urllib.request.Request(request.url, body, dict(request.headers), method=method), context=context) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def form(key, text, service='sts', headers=None):
    return signed(key, 'POST', '/', text.encode(), service, {'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8', **(headers or {})})


class Base(unittest.TestCase):
    def refused(self, code, words, call, *arguments, status=None, **members):
        with self.assertRaises(ClientError) as raised:
            call(*arguments, **members)
        answer = raised.exception.response
        self.assertEqual(answer['Error']['Code'], code, answer)
        self.assertIn(words, answer['Error']['Message'])
        if status is not None:
            self.assertEqual(answer['ResponseMetadata']['HTTPStatusCode'], status)

    def put(self, key, table='one'):
        return client('dynamodb', key).put_item(TableName=table, Item={'pk': {'S': 'a'}})

    def get(self, key, table='one'):
        return client('dynamodb', key).get_item(TableName=table, Key={'pk': {'S': 'a'}})


class Callers(Base):
    def test_user(self):
        key = user('cathy', allow('*', effect='Deny'))
        who = client('sts', key).get_caller_identity()
        shown = dolmen('user', 'show', 'cathy')
        self.assertEqual((who['Arn'], who['UserId'], who['Account']), (IAM + 'user/cathy', shown['User']['UserId'], '000000000000'))
        self.assertIn('RequestId', who['ResponseMetadata'])

    def test_refused(self):
        ask = lambda key: client('sts', key).get_caller_identity
        self.refused('InvalidClientTokenId', 'security token', ask(('AKIANOBODYHASTHISKEY', 'x')), status=403)
        self.refused('SignatureDoesNotMatch', 'signature', ask((root[0], 'x')), status=403)
        self.refused('InvalidClientTokenId', '', ask((*root, 'DOL1xxxx')), status=403)
        status, text = form(root, 'Action=GetCallerIdentity&Version=2011-06-15', 'dynamodb')
        self.assertEqual((status, "correct service: 'sts'" in text, '<Code>SignatureDoesNotMatch</Code>' in text), (403, True, True), text)
        request = urllib.request.Request(server.endpoint + '/', b'Action=GetCallerIdentity&Version=2011-06-15')
        with self.assertRaises(urllib.error.HTTPError) as raised:
            urllib.request.urlopen(request, context=ssl.create_default_context(cafile=authority))
        with raised.exception as answer:
            self.assertEqual(answer.code, 403)
            text = answer.read().decode()
        self.assertIn('<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>MissingAuthenticationToken<', text)

    def test_other_actions(self):
        sts = client('sts', root)
        self.refused('InvalidAction', 'AssumeRole', sts.get_federation_token, Name='some', status=400)
        self.refused('InvalidAction', '', sts.get_access_key_info, AccessKeyId=root[0])
        self.assertIn('InvalidAction', form(root, 'Version=2011-06-15')[1])
        status, text = form(root, 'Action=GetCallerIdentity&Version=2011-06-15&A%3Cb=1')
        self.assertEqual((status, 'A%3Cb is not supported' in text), (400, True), text)
        self.assertIn('ValidationError', form(root, 'Action=%zz&Version=2011-06-15')[1])
        self.assertIn('too large', form(root, 'Action=GetCallerIdentity&Version=2011-06-15&x=' + 'y' * 70000)[1])

    def test_aws_cli(self):
        done = subprocess.run(['aws', '--endpoint-url', server.endpoint, 'sts', 'get-caller-identity', '--output', 'json'], capture_output=True, text=True,
                              timeout=PATIENCE, env=environment(root))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)['Arn'], IAM + 'user/admin')


class Unverified(Base):
    """A server that verifies no signatures."""

    def test_open(self):
        with Server(os.path.join(scratch, 'open')) as other:
            sts = boto3.client('sts', endpoint_url=other.endpoint, region_name='us-east-1', aws_access_key_id='any', aws_secret_access_key='any')
            self.assertEqual(sts.get_caller_identity()['Arn'], IAM + 'root')
            self.refused('AccessDenied', '--auth enforce', sts.get_session_token)
            self.refused('AccessDenied', '--auth enforce', sts.assume_role, RoleArn=IAM + 'role/any', RoleSessionName='now')

    def test_warned(self):
        """Whoever would be refused is served, but gets no session."""
        made = json.loads(subprocess.run([BINARY, 'init', '--secure', os.path.join(scratch, 'warned'), '--json'], capture_output=True, text=True,
                                         check=True, timeout=PATIENCE).stdout)
        with Server(made['Data'], '--config', made['Configuration'], '--auth', 'warn') as other:
            def sts(key, secret):
                return boto3.client('sts', endpoint_url=other.endpoint, verify=made['Authority'], region_name='us-east-1', aws_access_key_id=key,
                                    aws_secret_access_key=secret)
            self.refused('AccessDenied', 'valid signature', sts(made['AccessKeyId'], 'wrong').get_session_token)
            sts(made['AccessKeyId'], made['SecretAccessKey']).get_session_token()
            self.refused('AccessDenied', 'not authorized', sts(made['AccessKeyId'], made['SecretAccessKey']).assume_role,
                         RoleArn=IAM + 'role/absent', RoleSessionName='now')


class Audited(Base):
    def test_log(self):
        """Who gives out credentials is told, also where what only reads is not."""
        made = json.loads(subprocess.run([BINARY, 'init', '--secure', os.path.join(scratch, 'audited'), '--json'], capture_output=True, text=True,
                                         check=True, timeout=PATIENCE).stdout)
        log = os.path.join(scratch, 'audit.log')
        with Server(made['Data'], '--config', made['Configuration'], '--audit-log', log, '--audit', 'writes') as other:
            sts = boto3.client('sts', endpoint_url=other.endpoint, verify=made['Authority'], region_name='us-east-1',
                               aws_access_key_id=made['AccessKeyId'], aws_secret_access_key=made['SecretAccessKey'])
            secret = sts.get_session_token()['Credentials']['SecretAccessKey']
            sts.get_caller_identity()
            self.refused('AccessDenied', '', sts.assume_role, RoleArn=IAM + 'role/absent', RoleSessionName='now')
        with open(log) as file:
            text = file.read()
        told = [(entry['operation'], entry['decision']) for entry in map(json.loads, text.splitlines()) if 'operation' in entry]
        self.assertEqual(told, [('GetSessionToken', 'allowed'), ('AssumeRole', 'denied')])
        self.assertNotIn(secret, text)


class Own(Base):
    """GetSessionToken."""

    def test_session(self):
        key = user('olga', allow('dynamodb:*', TABLE + 'one'))
        made = client('sts', key).get_session_token()
        session = key_of(made)
        self.assertTrue(session[0].startswith('ASIA'))
        left = made['Credentials']['Expiration'].timestamp() - clock()
        self.assertTrue(43100 < left <= 43200, left)
        self.assertEqual(client('sts', session).get_caller_identity()['Arn'], IAM + 'user/olga')
        self.put(session)
        self.assertIn('Item', self.get(session))
        self.assertEqual(signed(session, 'GET', '/v1/one')[0], signed(key, 'GET', '/v1/one')[0])
        self.refused('AccessDeniedException', 'table/two', self.put, session, 'two')
        self.refused('AccessDenied', 'session credentials', client('sts', session).get_session_token, status=403)
        # Not without the token, with another one, with one that was changed, or with another key.
        other = key_of(client('sts', key).get_session_token())
        middle = len(session[2]) // 2
        changed = session[2][:middle] + ('A' if session[2][middle] != 'A' else 'B') + session[2][middle + 1:]
        for wrong in (session[:2], (*session[:2], other[2]), (*session[:2], changed), (*key, session[2]), (*session[:2], session[2] + 'A')):
            self.refused('UnrecognizedClientException', 'security token', self.get, wrong)
        self.assertEqual(signed((*session[:2], changed), 'GET', '/v1/one')[0], 403)
        self.refused('InvalidSignatureException', '', self.get, (session[0], 'x', session[2]))

    def test_durations(self):
        sts = client('sts', root)
        left = sts.get_session_token(DurationSeconds=900)['Credentials']['Expiration'].timestamp() - clock()
        self.assertTrue(800 < left <= 900, left)
        sts.get_session_token(DurationSeconds=129600)
        for seconds in ('899', '129601', '-1', '', '9x', '99999999999999999999'):
            status, text = form(root, f'Action=GetSessionToken&Version=2011-06-15&DurationSeconds={seconds}')
            self.assertEqual((status, 'ValidationError' in text, '900 to 129600' in text), (400, True, True), text)
        self.refused('ValidationError', 'SerialNumber is not supported', sts.get_session_token, SerialNumber='arn:aws:iam::1:mfa/x', TokenCode='123456')

    def test_user_deleted(self):
        key = user('dora', allow('dynamodb:*'))
        session = key_of(client('sts', key).get_session_token())
        self.put(session)
        dolmen('key', 'delete', 'dora', key[0])
        dolmen('user', 'disallow', 'dora', 'p0')
        dolmen('user', 'delete', 'dora')
        self.refused('UnrecognizedClientException', 'security token', self.get, session)
        user('dora', allow('dynamodb:*'))
        self.refused('UnrecognizedClientException', 'security token', self.get, session)

    def test_expiry(self):
        key = user('ella', allow('dynamodb:*'))
        session = key_of(client('sts', key).get_session_token(DurationSeconds=900))
        self.put(session)
        try:
            move({'advance_seconds': 899 - 60})
            self.put(session)
            move({'advance_seconds': 61})
            self.refused('ExpiredTokenException', 'is expired', self.get, session)
            self.refused('ExpiredToken', 'is expired', client('sts', session).get_caller_identity, status=403)
            self.assertEqual(signed(session, 'GET', '/v1/one')[0], 403)
        finally:
            move({'reset': True})


class Roles(Base):
    """AssumeRole."""

    def test_named(self):
        """A role that names the user: nothing else is needed, and the session may what the role may, not the user."""
        key = user('nina', allow('dynamodb:*', TABLE + 'two'))
        arn = role('reader', trust(named('nina')), allow('dynamodb:GetItem', TABLE + 'one'))
        made = client('sts', key).assume_role(RoleArn=arn, RoleSessionName='now@x')
        who = made['AssumedRoleUser']
        self.assertEqual(who['Arn'], 'arn:aws:sts::000000000000:assumed-role/reader/now@x')
        self.assertEqual(who['AssumedRoleId'], dolmen('role', 'show', 'reader')['Role']['RoleId'] + ':now@x')
        left = made['Credentials']['Expiration'].timestamp() - clock()
        self.assertTrue(3500 < left <= 3600, left)
        session = key_of(made)
        caller = client('sts', session).get_caller_identity()
        self.assertEqual((caller['Arn'], caller['UserId']), (who['Arn'], who['AssumedRoleId']))
        self.get(session)
        self.refused('AccessDeniedException', who['Arn'], self.put, session)
        self.refused('AccessDeniedException', '', self.get, session, 'two')
        self.refused('AccessDenied', 'session credentials', client('sts', session).get_session_token)
        # Nobody else is trusted, whatever policies allow.
        self.refused('AccessDenied', f'User: {IAM}user/admin is not authorized to perform: sts:AssumeRole on resource: {arn}',
                     client('sts', root).assume_role, RoleArn=arn, RoleSessionName='now', status=403)
        # The session of the user is the user.
        own = key_of(client('sts', key).get_session_token())
        client('sts', own).assume_role(RoleArn=arn, RoleSessionName='now')

    def test_account(self):
        """A role that trusts the account: policies of the user pass it on."""
        arn = role('shared', trust({'AWS': IAM + 'root'}), allow('dynamodb:*', TABLE + 'one'))
        without, wrong = user('without'), user('wrong', allow('sts:AssumeRole', IAM + 'role/other'))
        right, denied = user('right', allow('sts:AssumeRole', arn)), user('denied', allow('sts:*'), allow('sts:AssumeRole', arn, 'Deny'))
        for key in (without, wrong, denied):
            self.refused('AccessDenied', 'not authorized', client('sts', key).assume_role, RoleArn=arn, RoleSessionName='now')
        self.put(key_of(client('sts', right).assume_role(RoleArn=arn, RoleSessionName='now')))

    def test_denied(self):
        key = user('dean', allow('sts:*'))
        both = {'Principal': named('dean'), 'Action': 'sts:AssumeRole'}
        arn = role('closed', policy({'Effect': 'Allow', **both}, {'Effect': 'Deny', **both}))
        self.refused('AccessDenied', '', client('sts', key).assume_role, RoleArn=arn, RoleSessionName='now')
        absent = IAM + 'role/absent'
        self.refused('AccessDenied', 'on resource: ' + absent, client('sts', key).assume_role, RoleArn=absent, RoleSessionName='now')
        elsewhere = 'arn:aws:iam::111111111111:role/closed'
        self.refused('AccessDenied', elsewhere, client('sts', key).assume_role, RoleArn=elsewhere, RoleSessionName='now')

    def test_external_id(self):
        key = user('xena')
        arn = role('external', trust(named('xena'), Condition={'StringEquals': {'sts:ExternalId': 'secret-1'}}))
        ask = client('sts', key).assume_role
        self.refused('AccessDenied', '', ask, RoleArn=arn, RoleSessionName='now')
        self.refused('AccessDenied', '', ask, RoleArn=arn, RoleSessionName='now', ExternalId='secret-2')
        ask(RoleArn=arn, RoleSessionName='now', ExternalId='secret-1')

    def test_session_policy(self):
        key = user('paul')
        arn = role('wide', trust(named('paul')), allow('dynamodb:*', TABLE + 'one'))
        ask = client('sts', key).assume_role
        made = ask(RoleArn=arn, RoleSessionName='now', Policy=allow(['dynamodb:GetItem', 'dynamodb:PutItem'], [TABLE + 'two', TABLE + 'one']))
        self.assertTrue(0 < made['PackedPolicySize'] <= 100)
        self.put(key_of(made))
        self.refused('AccessDeniedException', '', client('dynamodb', key_of(made)).scan, TableName='one')
        self.refused('AccessDeniedException', '', self.put, key_of(made), 'two')
        long = allow('dynamodb:GetItem', [TABLE + 'one', TABLE + 'x'])
        long = long.replace('table/x', 'table/x' + 'x' * (2048 - len(long)))
        self.assertEqual(len(long), 2048)
        session = key_of(ask(RoleArn=arn, RoleSessionName='now', Policy=long))
        self.get(session)
        self.refused('AccessDeniedException', 'session policy', self.put, session)
        self.refused('ValidationError', '2048', ask, RoleArn=arn, RoleSessionName='now', Policy=long + ' ')
        self.refused('MalformedPolicyDocument', '', ask, RoleArn=arn, RoleSessionName='now', Policy='{"Statement":1}', status=400)
        start = f'Action=AssumeRole&Version=2011-06-15&RoleArn={arn}&RoleSessionName=now&Policy='
        for wrong in ('', '%zz', '%FF'):
            self.assertEqual(form(key, start + wrong)[0], 400)

    def test_parameters(self):
        key = user('vera')
        arn = role('checked', trust(named('vera')))
        sts = client('sts', key)
        for name in ('a/b', 'a b', 'a<b'):
            self.refused('ValidationError', 'RoleSessionName', sts.assume_role, RoleArn=arn, RoleSessionName=name, status=400)
        self.refused('ValidationError', 'RoleArn', sts.assume_role, RoleArn='x' * 30, RoleSessionName='now')
        self.refused('ValidationError', '900 to 43200', sts.assume_role, RoleArn=arn, RoleSessionName='now', DurationSeconds=43201)
        self.refused('ValidationError', 'MaxSessionDuration', sts.assume_role, RoleArn=arn, RoleSessionName='now', DurationSeconds=3601)
        sts.assume_role(RoleArn=arn, RoleSessionName='now', DurationSeconds=3600)
        for more in ({'Tags': [{'Key': 'a', 'Value': 'b'}]}, {'PolicyArns': [{'arn': IAM + 'policy/some-policy'}]}, {'SourceIdentity': 'vera'}):
            self.refused('ValidationError', 'is not supported', sts.assume_role, RoleArn=arn, RoleSessionName='now', **more)

    def test_chain(self):
        key = user('carl')
        first = role('first', trust(named('carl')))
        second = role('second', trust({'AWS': first}), allow('dynamodb:*', TABLE + 'one'))
        self.refused('AccessDenied', '', client('sts', key).assume_role, RoleArn=second, RoleSessionName='now')
        session = key_of(client('sts', key).assume_role(RoleArn=first, RoleSessionName='now'))
        self.put(key_of(client('sts', session).assume_role(RoleArn=second, RoleSessionName='then')))

    def test_tenant(self):
        """Who is bound to a tenant would be free of it in the session of a role that is not."""
        key = user('tina')
        text = 'Action=AssumeRole&Version=2011-06-15&RoleSessionName=now&RoleArn=' + role('free', trust(named('tina')))
        self.assertEqual(form(key, text)[0], 200)
        status, answer = form(key, text, headers={'X-Tenant': 'acme'})
        self.assertEqual((status, '<Code>AccessDenied</Code>' in answer), (403, True), answer)

    def test_deleted(self):
        key = user('rose')
        arn = role('short', trust(named('rose')), allow('dynamodb:*'))
        session = key_of(client('sts', key).assume_role(RoleArn=arn, RoleSessionName='now'))
        self.put(session)
        dolmen('role', 'disallow', 'short', 'p0')
        self.refused('AccessDeniedException', 'assumed-role/short/now', self.put, session)
        dolmen('role', 'delete', 'short')
        self.refused('UnrecognizedClientException', 'security token', self.get, session)
        role('short', trust(named('rose')), allow('dynamodb:*'))
        self.refused('UnrecognizedClientException', 'security token', self.get, session)

    def test_expiry(self):
        key = user('ewan')
        arn = role('timed', trust(named('ewan')), allow('dynamodb:*'))
        session = key_of(client('sts', key).assume_role(RoleArn=arn, RoleSessionName='now', DurationSeconds=900))
        self.put(session)
        try:
            move({'advance_seconds': 901})
            self.refused('ExpiredTokenException', 'is expired', self.put, session)
        finally:
            move({'reset': True})

    def test_aws_cli(self):
        key = user('alan')
        arn = role('cli', trust(named('alan')), allow('dynamodb:ListTables'))

        def aws(key, *arguments):
            done = subprocess.run(['aws', '--endpoint-url', server.endpoint, *arguments, '--output', 'json'], capture_output=True, text=True,
                                  timeout=PATIENCE, env=environment(key))
            return json.loads(done.stdout) if done.returncode == 0 else done.stderr
        made = aws(key, 'sts', 'assume-role', '--role-arn', arn, '--role-session-name', 'cli')
        self.assertIn('one', aws(key_of(made), 'dynamodb', 'list-tables')['TableNames'])
        self.assertIn('AccessDenied', aws(key, 'sts', 'assume-role', '--role-arn', arn + 'x', '--role-session-name', 'cli'))
        # dolmen's own commands sign with the session, too.
        done = subprocess.run([CLIENT, 'call', 'ListTables', '--endpoint', server.endpoint, '--ca', authority], capture_output=True, text=True,
                              timeout=PATIENCE, env=environment(key_of(made)))
        self.assertIn('one', done.stdout, done.stderr)


def move(what):
    status, text = signed(root, 'POST', '/admin/clock', json.dumps(what).encode())
    if status != 200:
        raise RuntimeError(text)


def clock():
    """Seconds, by the clock of the machine, which is the server's."""
    return time.time()


if __name__ == '__main__':
    scratch = tempfile.mkdtemp(prefix='dolmen-sts-')
    try:
        made = json.loads(subprocess.run([BINARY, 'init', '--secure', os.path.join(scratch, 'db'), '--json'], capture_output=True, text=True, check=True,
                                         timeout=PATIENCE).stdout)
        authority, root = made['Authority'], (made['AccessKeyId'], made['SecretAccessKey'])
        with Server(made['Data'], '--config', made['Configuration'], '--lockout', 'off', '--admin', '--tenant-header', 'X-Tenant', '--trusted-proxy',
                    '127.0.0.1') as server:
            for name in ('one', 'two'):
                client('dynamodb', root).create_table(TableName=name, BillingMode='PAY_PER_REQUEST', KeySchema=[{'AttributeName': 'pk', 'KeyType': 'HASH'}],
                                                      AttributeDefinitions=[{'AttributeName': 'pk', 'AttributeType': 'S'}])
            result = unittest.main(exit=False, verbosity=1).result
    finally:
        shutil.rmtree(scratch)
    bad = len(result.failures) + len(result.errors)
    print(f'{result.testsRun - bad} passed, {bad} failed')
    sys.exit(1 if bad else 0)
