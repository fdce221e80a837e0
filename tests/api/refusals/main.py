"""Every refusal of the gate, as a table: what is spoilt, and status, type and text of the answer. The cases of signatures are in signatures.py, those of policies in
denials.py, those of objects in objects.py; a case is (name, make, expected), and `make` gives the request, ready to be sent. Before that the correct request of each path
is sent, and has to be served."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import denials
import objects
import signatures
from dolmen import ROOT, Server
from wire import Request, send

BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
SCHEMA = {'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}],
          'AttributeDefinitions': [{'AttributeName': 'pk', 'AttributeType': 'S'}]}


class Place:
    """The server, and whoever may ask it."""

    def __init__(self, host, key):
        self.host, self.root = host, key

    def request(self, key, method, path, headers=(), body=b'', **more):
        made = Request(method, path, [('Host', self.host), *headers], body, **more)
        made.key, made.secret, made.token = (*key, None)[:3]
        return made

    def call(self, key, operation, body):
        """A request of DynamoDB's, not signed yet."""
        return self.request(key, 'POST', '/', [('Content-Type', 'application/x-amz-json-1.0'), ('X-Amz-Target', 'DynamoDB_20120810.' + operation)],
                            json.dumps(body).encode())

    def must(self, request):
        request.sign()
        status, _, body = send(self.host, request.bytes())
        if status >= 300:
            raise RuntimeError(f'{request.method} {request.path} {request.body[:200]}: {status} {body}')
        return body

    def do(self, operation, **body):
        return json.loads(self.must(self.call(self.root, operation, body)))

    def user(self, name, *policies, **more):
        """A new user with these policies; its key."""
        self.do('CreateUser', UserName=name, **more)
        for i, policy in enumerate(policies):
            self.do('PutUserPolicy', UserName=name, PolicyName=f'p{i}', PolicyDocument=json.dumps(policy))
        made = self.do('CreateAccessKey', UserName=name)['AccessKey']
        return made['AccessKeyId'], made['SecretAccessKey']

    def session(self, key, form):
        """Credentials by STS."""
        request = self.request(key, 'POST', '/', [('Content-Type', 'application/x-www-form-urlencoded')], form.encode(), service='sts')
        answer = self.must(request)
        return tuple(re.search(f'<{name}>(.*?)</{name}>', answer)[1] for name in ('AccessKeyId', 'SecretAccessKey', 'SessionToken'))


def shown(status, kind, body):
    """An answer as (status, type, text), whichever form its path has."""
    if body.startswith('<'):
        code, message = re.search('<Code>(.*?)</Code>', body), re.search('<Message>(.*?)</Message>', body, re.S)
        text = message[1] if message else ''
        for name, character in (('&lt;', '<'), ('&gt;', '>'), ('&quot;', '"'), ('&#34;', '"'), ('&#39;', "'"), ('&apos;', "'"), ('&amp;', '&')):
            text = text.replace(name, character)
        return status, code[1] if code else '', text
    if body.startswith('{'):
        document = json.loads(body)
        if '__type' in document:
            return status, document['__type'], document.get('message', document.get('Message'))
        return status, kind.split(';')[0], document.get('detail')
    return status, kind.split(';')[0], body


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--show', action='store_true')
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        made = json.loads(subprocess.run([BINARY, 'init', '--secure', os.path.join(scratch, 'db'), '--json'], capture_output=True, check=True).stdout)
        with Server(made['Data'], '--auth', 'enforce', '--master-key', f'file:{scratch}/db/secrets/master.key', '--lockout', 'off', '--admin',
                    '--objects', os.path.join(scratch, 'objects')) as server:
            place = Place(server.endpoint.split('//')[1], (made['AccessKeyId'], made['SecretAccessKey']))
            place.do('CreateTable', TableName='Orders', **SCHEMA)
            cases = [*signatures.cases(place), *denials.cases(place), *objects.cases(place)]
            for name, make, expected in cases:
                if options.names and not any(word in name for word in options.names):
                    continue
                request = make()
                expected = expected(request) if callable(expected) else expected
                got = shown(*send(place.host, request.bytes()))
                if options.show:
                    print(f'{name}: {got}')
                if got == expected:
                    passed += 1
                    continue
                failed += 1
                print(f'FAILED {name}\n  expected {expected}\n  got      {got}')
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
