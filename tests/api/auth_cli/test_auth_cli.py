"""Commands that ask a secured server, over HTTPS: they sign what they send, with the keys that AWS's programs would find."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

from dolmen import ROOT, Server

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
CLIENT = os.path.join(ROOT, os.environ.get('DOLMEN_CLIENT', BINARY))
PATIENCE = 120
MODEL = '''
table notes {
  key   PK, SK
  type  EntityType
}

entity Note {
  PK = "TEAM#{team}"   SK = "NOTE#{note}"
  team  string
  note  string
}

access byTeam(team) = Note
'''
NOTE = {'PK': {'S': 'TEAM#a b'}, 'SK': {'S': 'NOTE#1'}, 'EntityType': {'S': 'Note'}, 'team': {'S': 'a b'}, 'note': {'S': '1'}}
INVALID_TOKEN = 'The security token included in the request is invalid'
MISMATCH = 'The request signature we calculated does not match the signature you provided.'


class Secured(Server):
    """A server as `init --secure` prepares it, on a free port."""

    def __init__(self, directory):
        made = subprocess.run([BINARY, 'init', '--secure', directory, '--json'], capture_output=True, text=True, timeout=PATIENCE)
        if made.returncode != 0:
            raise RuntimeError(made.stderr)
        self.made = json.loads(made.stdout)
        super().__init__(self.made['Data'], '--config', self.made['Configuration'], '--lockout', 'off')
        self.key = {'AWS_ACCESS_KEY_ID': self.made['AccessKeyId'], 'AWS_SECRET_ACCESS_KEY': self.made['SecretAccessKey']}


def client(environment, *arguments):
    """A command with nothing of this environment that could be a key."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(('AWS_', 'DOLMEN_'))}
    return subprocess.run([CLIENT, *arguments], capture_output=True, text=True, timeout=PATIENCE, env={**clean, 'HOME': scratch, **environment})


class Base(unittest.TestCase):
    def run_fine(self, environment, *arguments):
        done = client(environment, *arguments)
        self.assertEqual(done.returncode, 0, f'{arguments}: {done.stdout}{done.stderr}')
        return done.stdout

    def run_refused(self, text, environment, *arguments):
        done = client(environment, *arguments)
        self.assertEqual(done.returncode, 1, f'{arguments}: {done.stdout}{done.stderr}')
        self.assertIn(text, done.stderr + done.stdout)

    def at(self, *arguments):
        return [*arguments, '--endpoint', server.endpoint, '--ca', server.made['Authority']]


class Signed(Base):
    """With the administrator's key in the environment."""

    def fine(self, *arguments):
        return self.run_fine(server.key, *self.at(*arguments))

    def test_call(self):
        self.assertTrue(server.endpoint.startswith('https://'), server.endpoint)
        self.assertIn('notes', self.fine('call', 'ListTables'))

    def test_bundle_of_environment(self):
        environment = {**server.key, 'AWS_CA_BUNDLE': server.made['Authority'], 'AWS_ENDPOINT_URL': server.endpoint}
        self.assertIn('notes', self.run_fine(environment, 'call', 'ListTables'))

    def test_region(self):
        self.run_refused("not 'eu-north-1'", server.key, *self.at('call', 'ListTables', '--region', 'eu-north-1'))

    def test_query(self):
        self.assertEqual(json.loads(self.fine('query', 'notes', 'byTeam', 'team=a b', '--json'))['note'], '1')

    def test_follow(self):
        """A GET of the data API, with a query string in which a blank is encoded."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(('AWS_', 'DOLMEN_'))}
        process = subprocess.Popen([CLIENT, *self.at('query', 'notes', 'byTeam', 'team=a b', '--follow')], text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**clean, 'HOME': scratch, **server.key})
        guard = threading.Timer(PATIENCE, process.kill)
        guard.start()
        line = process.stdout.readline()
        process.kill()
        errors = process.communicate()[1]
        guard.cancel()
        self.assertIn('"note":"1"', line, errors)

    def test_apply(self):
        self.fine('apply', model, '--yes')

    def test_export_import(self):
        place = os.path.join(scratch, 'notes.json')
        self.fine('export', 'notes', place, '--format', 'typed', '--quiet')
        with open(place) as file:
            self.assertIn('NOTE#1', file.read())
        self.fine('import', 'notes', place, '--format', 'typed', '--quiet')

    def test_copy(self):
        place = os.path.join(scratch, 'copied')
        self.run_fine(server.key, 'copy', server.endpoint, place, '--ca', server.made['Authority'], '--table', 'notes', '--verify', '--quiet',
                      '--state', os.path.join(scratch, 'copying'))

    def test_copy_between_accounts(self):
        """Two servers, each with a profile of its own."""
        with Secured(os.path.join(scratch, 'other')) as other:
            both = os.path.join(scratch, 'both.crt')
            with open(both, 'w') as out:
                for one in (server, other):
                    with open(one.made['Authority']) as file:
                        out.write(file.read())
            file = credentials_file('two', source=server.key, target=other.key)
            line = ['copy', server.endpoint, other.endpoint, '--ca', both, '--table', 'notes', '--quiet', '--state', os.path.join(scratch, 'copying2')]
            environment = {'AWS_SHARED_CREDENTIALS_FILE': file}
            self.run_refused(INVALID_TOKEN, environment, *line, '--profile', 'source')
            self.run_fine(environment, *line, '--source-profile', 'source', '--target-profile', 'target')

    def test_verify(self):
        self.fine('verify')

    def test_bench(self):
        self.fine('bench', '--items', '100', '--requests', '200', '--connections', '4', '--workload', 'get,put,query20')


def credentials_file(name, **profiles):
    path = os.path.join(scratch, name)
    with open(path, 'w') as file:
        for profile, key in profiles.items():
            file.write(f'[{profile}]\naws_access_key_id = {key["AWS_ACCESS_KEY_ID"]}\n'
                       f'aws_secret_access_key={key["AWS_SECRET_ACCESS_KEY"]}\n\n')
    return path


class Files(Base):
    """With a key of a credentials file."""

    def test_profiles(self):
        wrong = {**server.key, 'AWS_SECRET_ACCESS_KEY': 'wrong'}
        file = {'AWS_SHARED_CREDENTIALS_FILE': credentials_file('keys', default=wrong, admin=server.key)}
        line = self.at('call', 'ListTables')
        self.run_refused(MISMATCH, file, *line)
        self.assertIn('notes', self.run_fine({**file, 'AWS_PROFILE': 'admin'}, *line))
        self.assertIn('notes', self.run_fine(file, *line, '--profile', 'admin'))
        # The environment comes before AWS_PROFILE, and --profile before both.
        self.run_refused(MISMATCH, {**file, **wrong, 'AWS_PROFILE': 'admin'}, *line)
        self.assertIn('notes', self.run_fine({**file, **wrong}, *line, '--profile', 'admin'))

    def test_home(self):
        home = os.path.join(scratch, 'home')
        os.makedirs(os.path.join(home, '.aws'))
        shutil.copy(credentials_file('usual', default=server.key), os.path.join(home, '.aws', 'credentials'))
        self.assertIn('notes', self.run_fine({'HOME': home}, *self.at('call', 'ListTables')))

    def test_profile_that_is_not_there(self):
        file = {'AWS_SHARED_CREDENTIALS_FILE': credentials_file('some', default=server.key)}
        self.run_refused('below [nobody]', file, *self.at('call', 'ListTables', '--profile', 'nobody'))


class Refused(Base):
    """The sentence is the server's, the exit code 1."""

    def lines(self):
        place = os.path.join(scratch, 'never')
        yield self.at('call', 'ListTables')
        yield self.at('query', 'notes', 'byTeam', 'team=a')
        yield self.at('apply', model, '--yes')
        yield self.at('export', 'notes', place)
        yield self.at('verify')
        yield self.at('bench', '--items', '100', '--requests', '10', '--workload', 'get')
        yield ['copy', server.endpoint, place, '--ca', server.made['Authority'], '--state', os.path.join(scratch, 'uncopied')]

    def refused(self, text, environment):
        for line in self.lines():
            with self.subTest(line[0]):
                self.run_refused(text, environment, *line)

    def test_no_key(self):
        self.refused(INVALID_TOKEN, {})

    def test_unknown_key(self):
        self.refused(INVALID_TOKEN, {**server.key, 'AWS_ACCESS_KEY_ID': 'AKIAUNKNOWNUNKNOWN00'})

    def test_wrong_secret(self):
        self.refused(MISMATCH, {**server.key, 'AWS_SECRET_ACCESS_KEY': 'wrong'})

    def test_token_of_no_session(self):
        self.run_refused(INVALID_TOKEN, {**server.key, 'AWS_SESSION_TOKEN': 'none'}, *self.at('call', 'ListTables'))

    def test_follow(self):
        self.run_refused(MISMATCH, {**server.key, 'AWS_SECRET_ACCESS_KEY': 'wrong'},
                         *self.at('query', 'notes', 'byTeam', 'team=a', '--follow'))


class Explained(Base):
    """What the policies of a running server decide."""

    TABLE = 'arn:aws:dynamodb:us-east-1:000000000000:table/notes'

    def call(self, operation, **request):
        return self.run_fine(server.key, *self.at('call', operation, json.dumps(request)))

    def explain(self, allowed, text, *arguments, principal='arn:aws:iam::000000000000:user/eve', environment=None, action='GetItem', resource=TABLE):
        done = client(environment or server.key, *self.at('policy', 'explain', '--principal', principal, '--action', 'dynamodb:' + action, '--resource', resource,
                                                          *arguments))
        self.assertEqual(done.returncode, 0 if allowed else 1, f'{done.stdout}{done.stderr}')
        self.assertIn(text, done.stdout + done.stderr)

    def test_policies_of_a_server(self):
        def statement(effect, action, **more):
            return json.dumps({'Version': '2012-10-17', 'Statement': [{'Sid': effect + 'It', 'Effect': effect, 'Action': 'dynamodb:' + action, 'Resource': '*', **more}]})
        role = 'arn:aws:sts::000000000000:assumed-role/nightly/tonight'
        self.call('CreateUser', UserName='eve', Tags=[{'Key': 'team', 'Value': 'a'}])
        self.explain(False, 'no identity policy allows it')
        self.call('PutUserPolicy', UserName='eve', PolicyName='own', PolicyDocument=statement('Allow', 'GetItem'))
        self.explain(True, 'allowed by statement 0 "AllowIt" of identity policy own of User eve')
        self.explain(True, 'allowed', resource=self.TABLE + '/index/x')
        self.explain(False, 'no identity policy allows it', action='Query')
        self.call('CreateGroup', GroupName='readers')
        self.call('PutGroupPolicy', GroupName='readers', PolicyName='shared', PolicyDocument=statement(
            'Allow', 'Query', Condition={'StringEquals': {'aws:PrincipalTag/team': 'a'}}))
        self.call('AddUserToGroup', GroupName='readers', UserName='eve')
        self.explain(True, 'shared of Group readers', action='Query')
        arn = json.loads(self.call('CreatePolicy', PolicyName='scans', PolicyDocument=statement('Allow', 'Scan')))['Policy']['Arn']
        self.call('AttachUserPolicy', UserName='eve', PolicyArn=arn)
        self.explain(True, 'identity policy scans', action='Scan')
        self.call('PutUserPermissionsBoundary', UserName='eve', PermissionsBoundary=arn)
        self.explain(False, 'boundary', action='GetItem')
        self.explain(True, 'allowed', action='Scan')
        self.call('PutResourcePolicy', ResourceArn=self.TABLE, Policy=json.dumps({'Version': '2012-10-17', 'Statement': [
            {'Effect': 'Deny', 'Principal': {'AWS': 'arn:aws:iam::000000000000:user/eve'}, 'Action': 'dynamodb:Scan', 'Resource': self.TABLE}]}))
        self.explain(False, 'resource policy', action='Scan')
        self.call('DeleteResourcePolicy', ResourceArn=self.TABLE)
        self.call('CreateRole', RoleName='nightly', AssumeRolePolicyDocument=json.dumps({'Version': '2012-10-17', 'Statement': [
            {'Effect': 'Allow', 'Principal': {'AWS': '*'}, 'Action': 'sts:AssumeRole'}]}))
        self.explain(False, 'no identity policy allows it', principal=role)
        self.call('PutRolePolicy', RoleName='nightly', PolicyName='night', PolicyDocument=statement('Allow', '*'))
        self.explain(True, 'night of Role nightly', principal=role)
        # Whoever may not read identities is not told.
        made = json.loads(self.call('CreateAccessKey', UserName='eve'))['AccessKey']
        key = {'AWS_ACCESS_KEY_ID': made['AccessKeyId'], 'AWS_SECRET_ACCESS_KEY': made['SecretAccessKey']}
        self.explain(False, 'is not authorized to perform: iam:GetUser', environment=key)
        self.explain(False, 'cannot be found', principal='arn:aws:iam::000000000000:user/nobody')


class Certified(Base):
    """With a certificate and without keys nothing is signed."""

    def test_no_claim(self):
        pair = certificate('robot')
        home = os.path.dirname(server.made['Authority'])
        options = ('--tls-cert', home + '/server.crt', '--tls-key', home + '/secrets/server.key', '--tls-client-ca', pair[0], '--lockout', 'off')
        at = ('--ca', server.made['Authority'], '--client-cert', pair[0], '--client-key', pair[1])
        bench = ('bench', '--items', '100', '--requests', '20', '--workload', 'get')
        with tempfile.TemporaryDirectory() as place:
            made = json.loads(subprocess.run([BINARY, 'init', '--secure', place + '/db', '--json'], capture_output=True, check=True).stdout)
            # The user of a certificate is found only where nobody claims to sign.
            with Server(made['Data'], '--auth', 'enforce', '--master-key', f'file:{place}/db/secrets/master.key', *options) as there:
                key = {'AWS_ACCESS_KEY_ID': made['AccessKeyId'], 'AWS_SECRET_ACCESS_KEY': made['SecretAccessKey']}
                self.run_fine(key, 'call', 'ListTables', '--endpoint', there.endpoint, *at)
                for line in (('call', 'ListTables'), bench):
                    self.run_refused('Request is missing Authentication Token', {}, *line, '--endpoint', there.endpoint, *at)
            with Server(place + '/open', '--auth', 'off', *options) as there:
                for line in (('call', 'ListTables'), bench):
                    self.run_fine({}, *line, '--endpoint', there.endpoint, *at)


def certificate(name):
    """Of a client, its own authority; with its key."""
    cert, key = (os.path.join(scratch, name + end) for end in ('.pem', '.key'))
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=' + name,
                    '-keyout', key, '-out', cert], capture_output=True, check=True)
    return cert, key


class Open(Base):
    """A server that checks no signatures takes all of them."""

    def test_all(self):
        file = credentials_file('damaged')
        with Server(os.path.join(scratch, 'open'), '--auth', 'off') as there:
            for environment in ({}, server.key, {'AWS_ACCESS_KEY_ID': 'half'}, {'AWS_PROFILE': 'sso'}, {'AWS_SHARED_CREDENTIALS_FILE': file},
                                {'AWS_ACCESS_KEY_ID': 'a\r\nb: c', 'AWS_SECRET_ACCESS_KEY': 's'}):
                with self.subTest(environment):
                    self.assertIn('TableNames', self.run_fine(environment, 'call', 'ListTables', '--endpoint', there.endpoint))


def main():
    global scratch, server, model
    with tempfile.TemporaryDirectory() as scratch, Secured(os.path.join(scratch, 'db')) as server:
        model = os.path.join(scratch, 'notes.dolmen')
        with open(model, 'w') as file:
            file.write(MODEL)
        at = ['--endpoint', server.endpoint, '--ca', server.made['Authority']]
        for line in (['apply', model, '--yes'], ['call', 'PutItem', json.dumps({'TableName': 'notes', 'Item': NOTE})]):
            done = client(server.key, *line, *at)
            if done.returncode != 0:
                print(f'{line[0]}: {done.stderr}')
        suite = unittest.TestLoader()
        module = sys.modules[__name__]
        suite = suite.loadTestsFromNames(sys.argv[1:], module) if len(sys.argv) > 1 else suite.loadTestsFromModule(module)
        outcome = unittest.TestResult()
        suite.run(outcome)
        bad = outcome.failures + outcome.errors
        for test, text in bad:
            print(f'FAIL {test.id()}\n{text}')
        failed = len(bad)
    whole = {test.id().split(' ')[0] for test, _ in bad}
    print(f'{outcome.testsRun - len(whole)} passed, {failed} failed')
    sys.exit(1 if failed else 0)


main()
