"""Tenants over HTTP: the header that binds requests, the data API, streams, vectors; and the twins of unit_api_tenants.

Whoever may not see an item must not be able to tell whether there is one. So each tenant has a twin, a server that has only
what the tenant may see, and both must answer the same.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

import paths
import rules
from client import Client, S, TENANT_HEADER, key
from dolmen import ROOT, Server
from twins import run_twins

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, 'app.dolmen')


class Results:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, good, detail=''):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print(f'FAILED {name}: {detail}')

    def same(self, name, got, wanted):
        self.check(name, got == wanted, f'{got!r} instead of {wanted!r}')


def serve(directory, name, *options):
    return Server(os.path.join(directory, name), '--model', MODEL, *options)


def headers(results, directory):
    """Who may say which tenant a request is for."""
    read = {'TableName': 'app', 'Key': key('P#a', 'META')}
    with serve(directory, 'headers', TENANT_HEADER[0], TENANT_HEADER[1]) as server:
        free, a = Client(server.endpoint), Client(server.endpoint, 'a')
        results.same('an unbound put', free.call('PutItem', {'TableName': 'app', 'Item': {
            'kind': S('Project'), 'project_id': S('a')}})[0], 200)
        results.check('the owner reads', 'Item' in a.call('GetItem', read)[1])
        results.same('another does not', Client(server.endpoint, 'ab').call('GetItem', read), (200, {}))
        # One connection, bound and not, in turn: a binding is of one request.
        turns = Client(server.endpoint)
        for tenant, there in ((None, True), ('b', False), (None, True), ('a', True), ('', False), (None, True)):
            turns.tenant = tenant
            results.same(f'in turn: {tenant}', 'Item' in turns.call('GetItem', read)[1], there)
        for name, more in (('twice', [('X-Tenant', 'a'), ('x-tenant', 'a')]), ('two', [('X-Tenant', 'a'), ('X-TENANT', 'b')])):
            status, answer = turns.raw('GetItem', read, more)
            results.check(name, status == 403 and answer['__type'].endswith('#AccessDeniedException'), answer)
        results.same('a long name', Client(server.endpoint, 'a' * 20000).call('GetItem', read), (200, {}))
        results.same('another header', 'Item' in turns.raw('GetItem', read, [('X-Tenant-Id', 'b')])[1], True)
        for path, status in (('/metrics', 403), ('/admin/clock', 403), ('/health', 403), ('/v1', 200), ('/v1/openapi.json', 200)):
            results.same(f'bound {path}', a.get(path)[0], status)
        for path in ('/metrics', '/health', '/v1'):
            results.same(f'free {path}', free.get(path)[0], 200)
    with serve(directory, 'headers', *TENANT_HEADER, '--tenant-required') as server:
        free, a = Client(server.endpoint), Client(server.endpoint, 'a')
        results.same('required', free.call('GetItem', read)[0], 403)
        results.same('required, data API', free.get('/v1/app/project?project_id=a')[0], 403)
        results.check('required, and there', 'Item' in a.call('GetItem', read)[1])
        results.same('metrics need none', free.get('/metrics')[0], 200)
    with serve(directory, 'headers', *TENANT_HEADER, '--trusted-proxy', '10.9.8.0/24') as server:
        for name, client in (('a stranger', Client(server.endpoint)), ('a bound stranger', Client(server.endpoint, 'a'))):
            results.same(name, client.call('GetItem', read)[0], 403)
            results.same(f'{name} writes', client.call('DeleteItem', read)[0], 403)
            results.same(f'{name}, data API', client.get('/v1/app/project?project_id=a')[0], 403)
            results.same(f'{name}, metrics', client.get('/metrics')[0], 403)
        results.same('the server is there', Client(server.endpoint).get('/health')[0], 200)
    with serve(directory, 'headers') as server:
        results.check('nothing was done; without the option the header means nothing',
                      'Item' in Client(server.endpoint, 'b').call('GetItem', read)[1])


def misused(results):
    """Options that make no sense are refused with a sentence."""
    binary = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
    for options, words in ((['--tenant-header', 'x y'], 'letters'), (['--tenant-header', 'Host'], 'something else'),
                           (['--tenant-header', 'x', '--trusted-proxy', 'nobody'], 'IP address'),
                           (['--trusted-proxy', '10.0.0.1'], '--tenant-header'), (['--tenant-required'], '--tenant-header')):
        done = subprocess.run([binary, 'serve', '--memory', '--port', '0', *options], capture_output=True, text=True, check=False)
        results.check(f'options {options}', done.returncode != 0 and words in done.stderr, done.stderr)


def in_process(results, requests, seed):
    """The twins without HTTP: hundreds of thousands of requests."""
    build = os.path.dirname(os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen')))
    done = subprocess.run([os.path.join(build, 'unit_api_tenants')], capture_output=True, text=True, check=False,
                          env={**os.environ, 'REQUESTS': str(requests), 'SEED': str(seed)})
    results.same(f'{requests} requests and their twins, seed {seed}', done.returncode, 0)
    text = [line for line in (done.stdout + done.stderr).splitlines() if 'requests' in line or done.returncode != 0]
    print('\n'.join(text)[-6000:] if done.returncode else text[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--requests', type=int, default=20000)
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory() as directory:
        misused(results)
        headers(results, directory)
        with serve(directory, 'paths', *TENANT_HEADER) as server:
            paths.run(results, server)
            rules.run(results, server)
        run_twins(results, lambda name: serve(directory, name, *TENANT_HEADER), max(300, arguments.requests // 20),
                  random.Random(arguments.seed))
    in_process(results, arguments.requests, arguments.seed)
    print(f'{results.passed} passed, {results.failed} failed')
    return results.failed > 0


if __name__ == '__main__':
    sys.exit(main())
