"""HTTPS with real clients, and a server under load whose certificates change."""
import hashlib
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from dolmen import AUTHORIZATION, ROOT, Server

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
PATIENCE = 120  # seconds until something that has to come is given up; nothing takes that long


def openssl(*words):
    subprocess.run(['openssl', *words], check=True, capture_output=True, timeout=PATIENCE)


class Files:
    """An authority, and what it signs."""

    def __init__(self, directory):
        self.directory = directory
        self.ca, self.ca_key = self.path('ca.pem'), self.path('ca.key')
        openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=authority',
                '-keyout', self.ca_key, '-out', self.ca)
        self.cert, self.key = self.make('server')

    def path(self, name):
        return os.path.join(self.directory, name)

    def make(self, name, *, client=False):
        key, request, cert, extra = (self.path(name + end) for end in ('.key', '.csr', '.pem', '.ext'))
        openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', f'/CN={name}', '-keyout', key, '-out', request)
        with open(extra, 'w', encoding='utf-8') as file:
            file.write('extendedKeyUsage=clientAuth\nsubjectAltName=URI:urn:user:' + name if client
                       else 'extendedKeyUsage=serverAuth\nsubjectAltName=DNS:localhost,IP:127.0.0.1')
        openssl('x509', '-req', '-in', request, '-CA', self.ca, '-CAkey', self.ca_key, '-CAcreateserial', '-days', '2', '-extfile', extra,
                '-out', cert)
        return cert, key

    def context(self, client=None):
        context = ssl.create_default_context(cafile=self.ca)
        if client is not None:
            context.load_cert_chain(*client)
        return context


def call(connection, operation, request):
    connection.request('POST', '/', json.dumps(request), {
        'X-Amz-Target': 'DynamoDB_20120810.' + operation, 'Content-Type': 'application/x-amz-json-1.0',
        'X-Amz-Date': '20260101T000000Z', 'Authorization': AUTHORIZATION})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


class Base(unittest.TestCase):
    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix='dolmen-tls.')
        cls.files = Files(cls.directory)
        options = [word.format(dir=cls.directory) for word in cls.OPTIONS]
        cls.server = Server(os.path.join(cls.directory, 'data'), '--tls-cert', cls.files.cert, '--tls-key', cls.files.key, *options)
        cls.endpoint = cls.server.endpoint
        cls.port = urlsplit(cls.endpoint).port

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.directory)

    def connect(self, context=None):
        return http.client.HTTPSConnection('127.0.0.1', self.port, context=context or self.files.context(), timeout=PATIENCE)

    def boto(self, service, **more):
        return boto3.client(service, endpoint_url=self.endpoint, verify=self.files.ca, region_name='us-east-1', **more)

    def dolmen(self, *words, code=0):
        done = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=PATIENCE, cwd=self.directory,
                              env={**os.environ, 'DOLMEN_ENDPOINT': self.endpoint})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr


class Clients(Base):
    OPTIONS = ('--objects', '{dir}/objects')

    def test_ready_line(self):
        self.assertTrue(self.endpoint.startswith('https://127.0.0.1:'))

    def test_boto3(self):
        table = self.boto('dynamodb')
        table.create_table(TableName='boto', BillingMode='PAY_PER_REQUEST', KeySchema=[{'AttributeName': 'pk', 'KeyType': 'HASH'}],
                           AttributeDefinitions=[{'AttributeName': 'pk', 'AttributeType': 'S'}])
        long = 'y' * 390000
        for i in range(60):
            table.put_item(TableName='boto', Item={'pk': {'S': str(i)}, 'long': {'S': long}})
        found = [item for page in table.get_paginator('scan').paginate(TableName='boto') for item in page['Items']]
        self.assertEqual(sorted(int(item['pk']['S']) for item in found), list(range(60)))
        self.assertTrue(all(item['long']['S'] == long for item in found))
        # 12 MB in a request, 15.6 MB in an answer.
        parts = {'boto': {'Keys': [{'pk': {'S': str(i)}} for i in range(40)]}}
        answer = table.batch_get_item(RequestItems=parts)
        self.assertGreater(len(answer['Responses']['boto']), 35)
        table.batch_write_item(RequestItems={'boto': [{'PutRequest': {'Item': {'pk': {'S': f'b{i}'}, 'long': {'S': long}}}} for i in range(25)]})
        with self.assertRaises(Exception) as wrong:
            boto3.client('dynamodb', endpoint_url=self.endpoint, region_name='us-east-1').list_tables()
        self.assertIn('CERTIFICATE_VERIFY_FAILED', str(wrong.exception))

    def test_objects_of_16_mb(self):
        with open(os.path.join(self.directory, 'objects', 'key'), encoding='utf-8') as file:
            text = file.read()
        key, secret = text.split()[:2]
        store = self.boto('s3', aws_access_key_id=key, aws_secret_access_key=secret, config=Config(signature_version='s3v4', s3={'addressing_style': 'path'}))
        store.create_bucket(Bucket='large')
        body = os.urandom(17 << 20)
        store.put_object(Bucket='large', Key='a', Body=body)
        self.assertEqual(store.get_object(Bucket='large', Key='a')['Body'].read(), body)
        part = store.get_object(Bucket='large', Key='a', Range='bytes=5000000-9000000')['Body'].read()
        self.assertEqual(part, body[5000000:9000001])
        # Readers that do not move: each holds a slice, not its answer.
        url = urlsplit(store.generate_presigned_url('get_object', Params={'Bucket': 'large', 'Key': 'a'}))
        self.assertEqual(url.scheme, 'https')
        before, held = self.resident(), []
        for _ in range(60):
            raw = socket.socket()
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 10)
            raw.connect(('127.0.0.1', self.port))
            wrapped = self.files.context().wrap_socket(raw, server_hostname='127.0.0.1')
            wrapped.sendall(f'GET {url.path}?{url.query} HTTP/1.1\r\nHost: {url.netloc}\r\n\r\n'.encode())
            self.assertIn(b'200', wrapped.recv(12))
            held.append(wrapped)
        grown = self.resident() - before
        for one in held:
            one.close()
        if 'asan' not in BINARY and 'tsan' not in BINARY:
            self.assertLess(grown, 40 << 20)  # 60 answers are 1 GB

    def resident(self):
        with open(f'/proc/{self.server.process.pid}/status', encoding='utf-8') as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith('VmRSS'))

    def test_javascript(self):
        done = subprocess.run(['node', 'sdk.mjs', self.endpoint], cwd=HERE, capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, 'NODE_EXTRA_CA_CERTS': self.files.ca})
        self.assertEqual(done.stdout.strip(), '40', done.stderr)

    def test_curl_and_aws(self):
        for version in ('--tlsv1.2 --tls-max 1.2', '--tlsv1.3', '--http2', '--http1.0'):
            done = subprocess.run(['curl', '-sS', '--cacert', self.files.ca, *version.split(), self.endpoint + '/health'], capture_output=True,
                                  text=True, timeout=PATIENCE)
            self.assertIn('"status":"ok"', done.stdout, version + done.stderr)
        done = subprocess.run(['curl', '-sS', '-i', self.endpoint.replace('https', 'http')], capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn('400 Bad Request', done.stdout)
        self.assertIn('This server speaks HTTPS', done.stdout)
        done = subprocess.run(['/usr/bin/aws', 'dynamodb', 'list-tables', '--endpoint-url', self.endpoint], capture_output=True, text=True,
                              timeout=PATIENCE, env={**os.environ, 'AWS_CA_BUNDLE': self.files.ca})
        self.assertIn('TableNames', done.stdout, done.stderr)

    def test_command_line(self):
        self.assertIn('TableNames', self.dolmen('call', 'ListTables', '--ca', self.files.ca))
        self.assertIn('cannot be trusted', self.dolmen('call', 'ListTables', code=1))
        self.assertIn('does not hold certificates', self.dolmen('call', 'ListTables', '--ca', '/dev/null', code=1))
        self.dolmen('bench', '--workload', 'get,put', '--items', '200', '--requests', '500', '--connections', '8', '--ca', self.files.ca)
        self.dolmen('verify', '--endpoint', self.endpoint, '--ca', self.files.ca)
        wrong = self.endpoint.replace('127.0.0.1', '127.0.0.2')
        self.dolmen('call', 'ListTables', '--ca', self.files.ca, '--endpoint', wrong, code=1)

    def test_export_to_its_own_objects(self):
        """The server calls itself, over HTTPS."""
        table = self.boto('dynamodb')
        table.create_table(TableName='exported', BillingMode='PAY_PER_REQUEST', KeySchema=[{'AttributeName': 'pk', 'KeyType': 'HASH'}],
                           AttributeDefinitions=[{'AttributeName': 'pk', 'AttributeType': 'S'}])
        table.update_continuous_backups(TableName='exported', PointInTimeRecoverySpecification={'PointInTimeRecoveryEnabled': True})
        table.put_item(TableName='exported', Item={'pk': {'S': 'a'}})
        arn = table.describe_table(TableName='exported')['Table']['TableArn']
        export = table.export_table_to_point_in_time(TableArn=arn, S3Bucket='dolmen')['ExportDescription']['ExportArn']
        for _ in range(PATIENCE * 5):
            state = table.describe_export(ExportArn=export)['ExportDescription']
            if state['ExportStatus'] != 'IN_PROGRESS':
                break
            time.sleep(0.2)
        self.assertEqual(state['ExportStatus'], 'COMPLETED', state)

    def test_live_pattern(self):
        model = os.path.join(ROOT, 'tests', 'api', 'live', 'board.dolmen')
        self.dolmen('apply', model, '--ca', self.files.ca)
        follower = subprocess.Popen([BINARY, 'query', 'board', 'notes', 'team=a', 'board=b', '--follow', '--ca', self.files.ca],
                                    stdout=subprocess.PIPE, text=True, env={**os.environ, 'DOLMEN_ENDPOINT': self.endpoint})
        try:
            self.assertNotEqual(follower.stdout.readline(), '')
            writer = self.connect()
            for i in range(50):
                note = {'team': 'a', 'board': 'b', 'noteId': f'n{i}', 'rank': i, 'text': 'z' * 2000}
                writer.request('POST', '/v1/board/Note', json.dumps(note), {'Content-Type': 'application/json'})
                answer = writer.getresponse()
                answer.read()
                self.assertEqual(answer.status, 201)
            seen = set()
            while len(seen) < 50:
                line = follower.stdout.readline()
                self.assertNotEqual(line, '')
                seen |= {f'n{i}' for i in range(50) if f'"n{i}"' in line}
        finally:
            follower.send_signal(signal.SIGTERM)
            follower.wait(PATIENCE)
            follower.stdout.close()

    def test_64_connections_resume(self):
        context = self.files.context()
        first = self.connect(context)
        self.assertEqual(call(first, 'ListTables', {})[0], 200)
        session, reused = first.sock.session, 0
        for _ in range(64):
            raw = socket.create_connection(('127.0.0.1', self.port), timeout=PATIENCE)
            with context.wrap_socket(raw, server_hostname='127.0.0.1', session=session) as one:
                one.sendall(b'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
                self.assertIn(b'200 OK', one.recv(4096))
                reused += one.session_reused
        self.assertEqual(reused, 64)

    def test_old_versions_are_refused(self):
        for version in ('-tls1', '-tls1_1'):
            done = subprocess.run(['openssl', 's_client', '-connect', f'127.0.0.1:{self.port}', version, '-cipher', 'ALL:@SECLEVEL=0'],
                                  input=b'', capture_output=True, timeout=PATIENCE)
            self.assertNotEqual(done.returncode, 0)

    def test_stop_ends_connections(self):
        with tempfile.TemporaryDirectory() as directory:
            server = Server(directory, '--tls-cert', self.files.cert, '--tls-key', self.files.key)
            context = self.files.context()
            raw = socket.create_connection(('127.0.0.1', urlsplit(server.endpoint).port), timeout=PATIENCE)
            idle = context.wrap_socket(raw, server_hostname='127.0.0.1', suppress_ragged_eofs=False)
            idle.sendall(b'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
            self.assertIn(b'200 OK', idle.recv(4096))
            server.stop()
            self.assertEqual(idle.recv(4096), b'')  # with a goodbye, or this would be an error
            idle.close()


class Certificates(Base):
    OPTIONS = ('--tls-client-ca', '{dir}/ca.pem', '--objects', '{dir}/objects')

    def test_required(self):
        with self.assertRaises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
            call(self.connect(), 'ListTables', {})
        alice = self.files.make('alice', client=True)
        self.assertEqual(call(self.connect(self.files.context(alice)), 'ListTables', {})[0], 200)
        self.assertIn('TableNames', self.dolmen('call', 'ListTables', '--ca', self.files.ca, '--client-cert', alice[0], '--client-key', alice[1]))
        self.dolmen('call', 'ListTables', '--ca', self.files.ca, code=1)
        # The server's own certificate is no client's for anyone who has not its key; its own calls are let in.
        table = self.boto('dynamodb', config=Config(client_cert=alice))
        table.create_table(TableName='own', BillingMode='PAY_PER_REQUEST', KeySchema=[{'AttributeName': 'pk', 'KeyType': 'HASH'}],
                           AttributeDefinitions=[{'AttributeName': 'pk', 'AttributeType': 'S'}])
        table.update_continuous_backups(TableName='own', PointInTimeRecoverySpecification={'PointInTimeRecoveryEnabled': True})
        arn = table.describe_table(TableName='own')['Table']['TableArn']
        export = table.export_table_to_point_in_time(TableArn=arn, S3Bucket='dolmen')['ExportDescription']['ExportArn']
        for _ in range(PATIENCE * 5):
            state = table.describe_export(ExportArn=export)['ExportDescription']
            if state['ExportStatus'] != 'IN_PROGRESS':
                break
            time.sleep(0.2)
        self.assertEqual(state['ExportStatus'], 'COMPLETED', state)


class Reload(Base):
    def test_reload_under_load(self):
        """50 new certificates while clients hammer: no request fails, and the new ones are seen."""
        stop, failures, counts = threading.Event(), [], [0] * 4
        call_table = self.connect()
        self.assertEqual(call(call_table, 'CreateTable', {
            'TableName': 'table', 'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': [{'AttributeName': 'pk', 'KeyType': 'HASH'}],
            'AttributeDefinitions': [{'AttributeName': 'pk', 'AttributeType': 'S'}]})[0], 200)
        seen = set()

        def hammer(number):
            context = self.files.context()
            connection = self.connect(context)
            while not stop.is_set():
                try:
                    if counts[number] % (5 if number % 2 else 100000) == 0:
                        connection.close()
                        connection = self.connect(context)
                        connection.connect()
                        seen.add(hashlib.sha256(connection.sock.getpeercert(binary_form=True)).hexdigest())
                    status, answer = call(connection, 'PutItem', {'TableName': 'table', 'Item': {'pk': {'S': str(counts[number])}}})
                    if status != 200:
                        failures.append(answer)
                    counts[number] += 1
                except Exception as error:  # noqa: BLE001
                    failures.append(repr(error))
                    connection = self.connect(context)

        threads = [threading.Thread(target=hammer, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        made = [self.files.make(f'next{i}') for i in range(5)]
        shown = set()
        try:
            for i in range(50):
                cert, key = made[i % 5]
                for source, target in ((key, self.files.key), (cert, self.files.cert)):
                    shutil.copy(source, target + '.new')
                    os.rename(target + '.new', target)
                self.server.process.send_signal(signal.SIGHUP)
                wanted = ssl.PEM_cert_to_DER_cert(open(cert, encoding='utf-8').read())
                for _ in range(PATIENCE * 20):
                    probe = self.connect()
                    probe.connect()
                    got = probe.sock.getpeercert(binary_form=True)
                    probe.close()
                    if got == wanted:
                        break
                    time.sleep(0.05)
                self.assertEqual(got, wanted)
                shown.add(got)
            # Without a signal, and with something that is not a certificate in between.
            with open(self.files.cert + '.new', 'w', encoding='utf-8') as file:
                file.write('no certificate')
            os.rename(self.files.cert + '.new', self.files.cert)
            for _ in range(PATIENCE * 20):
                if 'the certificate that was read before goes on' in self.server.error_text():
                    break
                time.sleep(0.05)
            self.assertIn('does not hold a certificate that can be used', self.server.error_text())
            self.assertEqual(call(self.connect(), 'ListTables', {})[0], 200)
            cert, key = made[0]
            shutil.copy(key, self.files.key)
            shutil.copy(cert, self.files.cert)
            wanted = ssl.PEM_cert_to_DER_cert(open(cert, encoding='utf-8').read())
            for _ in range(PATIENCE * 20):
                probe = self.connect()
                probe.connect()
                if probe.sock.getpeercert(binary_form=True) == wanted:
                    break
                time.sleep(0.05)
            self.assertEqual(probe.sock.getpeercert(binary_form=True), wanted)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(shown), 5)
        self.assertGreater(len(seen), 1)
        print(f'note: {sum(counts)} requests during 52 reloads, none failed')


class Options(unittest.TestCase):
    def refused(self, *words):
        done = subprocess.run([BINARY, 'serve', '--memory', '--port', '0', *words], capture_output=True, text=True, timeout=PATIENCE)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_refusals(self):
        with tempfile.TemporaryDirectory() as directory:
            files = Files(directory)
            self.assertIn('need each other', self.refused('--tls-cert', files.cert))
            self.assertIn('need each other', self.refused('--tls-key', files.key))
            self.assertIn('is for --tls-cert', self.refused('--tls-client-ca', files.ca))
            self.assertIn('is for --tls-client-ca', self.refused('--tls-cert', files.cert, '--tls-key', files.key, '--tls-client', 'optional'))
            self.assertIn('required or optional', self.refused('--tls-cert', files.cert, '--tls-key', files.key, '--tls-client-ca', files.ca,
                                                               '--tls-client', 'perhaps'))
            self.assertIn('does not hold the private key', self.refused('--tls-cert', files.cert, '--tls-key', files.ca_key))
            self.assertIn('does not hold a certificate', self.refused('--tls-cert', files.key, '--tls-key', files.key))
