"""Publish rules, from the write to the receiver: signatures, order, duplicates, poison, breaker, restarts, each scheme."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

from brokers import Kafka, Nats
from dolmen import ROOT, Api, ApiError, Server
from receivers import Cloud, Hook, Receiver

MODEL = '''
table shop {
  key   PK, SK
  type  EntityType
}

entity Outbox {
  PK = "EVENT#{eventId}"   SK = "EVENT"
  eventId  string
  job      string
  n        integer
  large    boolean?
  status   "new" | "published" = "new"
}

entity Other {
  PK = "OTHER#{otherId}"   SK = "OTHER"
  otherId  string
}

access event(eventId) = one Outbox

'''


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError('it did not happen in time')
        time.sleep(0.01)


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as probe:
        return probe.getsockname()[1]


class Publishing(unittest.TestCase):
    options = ()
    environment = {'DOLMEN_HOOK': 'first secret'}

    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory, True)
        os.mkdir(os.path.join(self.directory, 'files'))
        os.mkdir(os.path.join(self.directory, 'secrets'))
        self.server = None
        self.addCleanup(self.end)

    def begin(self, *options):
        self.server = Server(os.path.join(self.directory, 'data'), '--publish-files',
                             os.path.join(self.directory, 'files'), '--secrets',
                             os.path.join(self.directory, 'secrets'), *self.options, *options,
                             environment=self.environment)
        self.api = Api(self.server.endpoint)

    def end(self):
        if self.server is not None and self.server.process.poll() is None:
            self.server.stop()
        self.server = None

    def apply(self, rules):
        self.api.call('ApplyModel', {'Model': MODEL + rules, 'FileName': 'shop.dolmen'})

    def put(self, event, job='a', n=0, **more):
        self.api.call('PutItem', {'TableName': 'shop', 'Item': {
            'EntityType': {'S': 'Outbox'}, 'eventId': {'S': event}, 'job': {'S': job}, 'n': {'N': str(n)}, **more}})

    def consumer(self, name='Outbox'):
        return self.api.call('DescribeConsumer', {'TableName': 'shop', 'ConsumerName': name})['Consumer']

    def item(self, event):
        return self.api.call('GetItem', {'TableName': 'shop', 'Key': {
            'PK': {'S': f'EVENT#{event}'}, 'SK': {'S': 'EVENT'}}})['Item']

    def hook(self, *secrets, **more):
        hook = Hook(*secrets, **more)
        self.addCleanup(hook.close)
        return hook

    # ---- Webhooks ------------------------------------------------------------------------

    def test_webhook(self):
        hook = self.hook('first secret')
        self.begin()
        self.apply(f'publish Outbox to "{hook.url}/in" {{ secret env "DOLMEN_HOOK"  mark status = "published" }}')
        self.put('e1', n=7)
        self.api.call('PutItem', {'TableName': 'shop', 'Item': {'EntityType': {'S': 'Other'}, 'otherId': {'S': 'x'}}})
        until(lambda: hook.ids())
        event = hook.events[0]
        self.assertEqual(event['item'], {'eventId': 'e1', 'job': 'a', 'n': 7, 'status': 'new'})
        self.assertEqual((event['type'], event['table'], event['entity'], event['keys']),
                         ('insert', 'shop', 'Outbox', {'PK': 'EVENT#e1', 'SK': 'EVENT'}))
        until(lambda: self.item('e1')['status'] == {'S': 'published'})
        time.sleep(0.2)
        self.assertEqual(len(hook.events), 1)  # neither the mark nor the other entity is an event
        self.assertEqual(hook.wrong, [])
        metrics = urllib.request.urlopen(self.server.endpoint + '/metrics').read().decode()
        self.assertIn('dolmen_consumer_delivered_total{table="shop",consumer="Outbox"} 1\n', metrics)
        self.assertIn('dolmen_consumer_lag_records{table="shop",consumer="Outbox"} 0\n', metrics)
        self.assertNotIn('first secret', json.dumps(self.api.call('DescribeModel', {'TableName': 'shop'})))

    def test_rotation(self):
        """Two secrets, two signatures; one in a file is read again when it has changed."""
        path = os.path.join(self.directory, 'secrets', 'hook')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('second secret\n')
        hook = self.hook('first secret', 'second secret')
        self.begin()
        self.apply(f'publish Outbox to "{hook.url}" {{ secret env "DOLMEN_HOOK"  secret file "hook" }}')
        self.put('e1')
        until(lambda: hook.ids())
        with open(path, 'w', encoding='utf-8') as file:
            file.write('third secret\n')
        hook.secrets = ('first secret', 'third secret')
        until(lambda: (self.put(f'f{time.monotonic()}'), time.sleep(0.2), len(hook.ids()) > 1)[2])

    def test_secrets_stay_where_they_are(self):
        hook = self.hook()
        self.begin()
        for option, reason in (('secret env "PATH"', 'DOLMEN_'), ('secret file "../data/x"', 'plain name'),
                               ('secret "open"', 'never itself'), ('secret env "DOLMEN_NONE"', 'DOLMEN_NONE')):
            self.apply(f'publish Outbox to "{hook.url}" {{ {option} }}')
            until(lambda: self.consumer()['State'] == 'FAILED' and reason in self.consumer().get('Reason', ''))

    def test_secrets_that_are_links(self):
        """As Kubernetes mounts them: links within the directory. Those that leave it are not followed."""
        secrets = os.path.join(self.directory, 'secrets')
        os.mkdir(os.path.join(secrets, '..2026_01_01'))
        with open(os.path.join(secrets, '..2026_01_01', 'hook'), 'w', encoding='utf-8') as file:
            file.write('first secret\n')
        os.symlink('..2026_01_01', os.path.join(secrets, '..data'))
        os.symlink('..data/hook', os.path.join(secrets, 'hook'))
        outside = os.path.join(self.directory, 'secrets-of-others')
        with open(outside, 'w', encoding='utf-8') as file:
            file.write('first secret\n')
        os.symlink(outside, os.path.join(secrets, 'absolute'))
        os.symlink('../secrets-of-others', os.path.join(secrets, 'relative'))
        os.symlink('relative', os.path.join(secrets, 'twice'))
        os.symlink('loop', os.path.join(secrets, 'loop'))
        os.mkfifo(os.path.join(secrets, 'pipe'))
        hook = self.hook('first secret')
        self.begin()
        for name, reason in (('absolute', 'leads out of'), ('relative', 'leads out of'), ('twice', 'leads out of'),
                             ('loop', 'cannot be read'), ('pipe', 'not a file'), ('none', 'cannot be read')):
            self.apply(f'publish Outbox to "{hook.url}" {{ secret file "{name}" }}')
            until(lambda: self.consumer()['State'] == 'FAILED' and reason in self.consumer().get('Reason', ''))
        self.apply(f'publish Outbox to "{hook.url}" {{ secret file "hook" }}')
        self.put('e1')
        until(lambda: hook.ids())
        self.assertEqual(hook.wrong, [])

    def test_forbidden_addresses(self):
        self.begin()
        for url in ('http://169.254.169.254/latest', 'http://[fe80::1]/', 'http://[::ffff:169.254.169.254]/x'):
            self.apply(f'publish Outbox to "{url}"')
            self.put(f'e{url}'.replace('#', ''))
            until(lambda: self.consumer()['Failed'] > 0)
            self.assertEqual(self.consumer()['Delivered'], 0)
            until(lambda: '--publish anywhere' in self.consumer().get('Reason', ''))
        for url, reason in (('file:../x', 'plain file name'), ('file:.x', 'plain file name'),
                            ('kafka://169.254.1.1/t', '--publish anywhere'), ('nats://169.254.1.1/t', '--publish anywhere'),
                            ('kafka://[fe80::1]:9092/t', '--publish anywhere'),
                            ('kafka://127.0.0.1:1,[::ffff:169.254.1.1]:9092/t', '--publish anywhere'),
                            ('nats://[fe80::1]:4222/t', '--publish anywhere'), ('kafka://fe80::1/t', 'brackets'),
                            ('kafka://a:99999/t', 'port'), ('kafka:x', 'kafka://'), ('nats://x', 'nats://'),
                            ('sns:arn:aws:sqs:x:y:z', 'ARN')):
            self.apply(f'publish Outbox to "{url}"')
            until(lambda: self.consumer()['State'] == 'FAILED' and self.consumer()['Target'] == url)
            self.assertIn(reason, self.consumer()['Reason'])
        for url in ('http://', 'http:/x', 'https://host:0/', 'http://[::1', 'sqs:x'):
            with self.assertRaisesRegex(ApiError, 'cannot be published to'):
                self.apply(f'publish Outbox to "{url}"')
        self.apply('publish Outbox to "kafka://[::1]:9/t"')  # an address, if nobody is there
        self.put('e')
        until(lambda: self.consumer()['State'] not in ('STARTING', 'FAILED'))

    def test_switched_off(self):
        hook = self.hook()
        self.begin('--publish', 'off')
        self.apply(f'publish Outbox to "{hook.url}"')
        self.put('e1')
        until(lambda: 'switched off' in self.consumer().get('Reason', ''))
        self.end()
        self.assertEqual(hook.events, [])
        self.begin()  # nothing was lost
        until(lambda: len(hook.events) == 1)

    def test_order_and_batches(self):
        hook = self.hook()
        self.begin()
        self.apply(f'publish Outbox to "{hook.url}" {{ order job  parallel 8 }}\n'
                   f'publish Outbox to "{hook.url}/many" {{ order job  batch 20 }}')
        for n in range(300):
            self.put(f'e{n}', job=f'j{n % 9}', n=n)
        until(lambda: len(hook.events) == 600)
        for name in range(9):
            for path in (0, 1):
                own = [event['item']['n'] for event in hook.events if event['item']['job'] == f'j{name}']
                seen, twice = [], []
                for n in own:
                    (twice if n in seen else seen).append(n)
                self.assertEqual(seen, sorted(seen))
                self.assertEqual(twice, sorted(twice))
        self.assertEqual(len(set(hook.ids())), 300)

    def test_when(self):
        hook = self.hook()
        self.begin()
        self.apply(f'publish Outbox to "{hook.url}" when n > 5')
        for n in range(10):
            self.put(f'e{n}', n=n)
        until(lambda: len(hook.events) == 4)
        self.assertEqual(sorted(event['item']['n'] for event in hook.events), [6, 7, 8, 9])

    def test_endless_answers(self):
        """Of an answer that does not end, the status is taken when enough of it has come."""
        posts = []

        def endless(request):
            posts.append(json.loads(request.body)['item']['eventId'])
            status = 422 if posts[-1] == 'bad' else 200
            request.wfile.write(b'HTTP/1.1 %d X\r\ncontent-length: 4000000000\r\n\r\n' % status)
            request.close_connection = True
            piece = bytes(1 << 16)
            while True:
                request.wfile.write(piece)  # until the other end has had enough

        receiver = Receiver(endless)
        self.addCleanup(receiver.close)
        self.begin()
        self.apply(f'publish Outbox to "{receiver.url}" {{ timeout 300  attempts 1 }}')
        self.put('good')
        self.put('bad')
        until(lambda: self.consumer()['Delivered'] == 1 and self.consumer()['DeadLetters'] == 1)
        self.assertEqual(sorted(posts), ['bad', 'good'])

    # ---- Failures ------------------------------------------------------------------------

    def test_poison(self):
        """It blocks its key, becomes a dead letter, and is sent again in its place."""
        bad = {'b0'}
        hook = self.hook(judge=lambda event: 400 if event['item']['eventId'] in bad else 200)
        self.begin()
        self.apply(f'publish Outbox to "{hook.url}" {{ order job  attempts 3 }}')
        self.put('b0', job='bad', n=1)
        self.put('b1', job='bad', n=2)
        for n in range(20):
            self.put(f'e{n}', job='good', n=n)
        until(lambda: len(hook.events) == 20 and self.consumer()['DeadLetters'] == 2)
        self.assertEqual([status for _, _, status in hook.tries if status == 400], [400] * 3)
        cli = [os.path.join(ROOT, 'build/dolmen'), 'consumer', 'dead-letters', 'shop', 'Outbox', '--endpoint',
               self.server.endpoint]
        said = subprocess.run(cli, capture_output=True, text=True, check=True).stdout
        self.assertIn('3 attempts: status 400', said)
        self.assertIn('behind a dead letter of the same key', said)
        letters = self.api.call('ListDeadLetters', {'TableName': 'shop', 'ConsumerName': 'Outbox', 'Limit': 1})
        self.assertEqual(json.loads(letters['DeadLetters'][0]['Body'])['item']['eventId'], 'b0')
        self.assertEqual(letters['LastSequence'], letters['DeadLetters'][0]['Sequence'])
        bad.clear()
        cli[2] = 'retry'
        self.assertIn('2 sent again', subprocess.run(cli, capture_output=True, text=True, check=True).stdout)
        until(lambda: len(hook.events) == 22 and self.consumer()['DeadLetters'] == 0)
        self.assertEqual([event['item']['eventId'] for event in hook.events[20:]], ['b0', 'b1'])

    def test_poison_in_a_batch(self):
        hook = self.hook(judge=lambda event: 422 if event['item']['n'] == 13 else 200)
        self.begin()
        self.apply(f'publish Outbox to "{hook.url}" {{ batch 50  attempts 2  parallel 1 }}')
        for n in range(60):
            self.put(f'e{n}', n=n)
        until(lambda: len(set(hook.ids())) == 59 and self.consumer()['DeadLetters'] == 1)

    def test_breaker(self):
        """A receiver that is away, or out of order, costs no event an attempt."""
        state = {'status': 503}
        hook = self.hook(judge=lambda event: state['status'])
        self.begin()
        self.apply(f'publish Outbox to "{hook.url}" {{ attempts 2 }}')
        for n in range(40):
            self.put(f'e{n}', n=n)
        until(lambda: self.consumer()['BreakerOpen'] and self.consumer()['State'] == 'RETRYING')
        state['status'] = 500
        time.sleep(0.5)
        tries = len(hook.tries)
        self.assertLess(tries, 80)
        self.assertGreater(self.consumer()['LagRecords'], 0)
        state['status'] = 200
        until(lambda: len(hook.events) == 40)
        self.assertEqual(self.consumer()['DeadLetters'], 0)
        until(lambda: self.consumer()['State'] == 'RUNNING')

    def test_gone(self):
        state = {'status': 410}
        hook = self.hook(judge=lambda event: state['status'])
        self.begin()
        self.apply(f'publish Outbox to "{hook.url}"')
        self.put('e1')
        until(lambda: self.consumer()['State'] == 'STOPPED')
        state['status'] = 200
        self.api.call('UpdateConsumer', {'TableName': 'shop', 'ConsumerName': 'Outbox', 'Action': 'RESUME'})
        until(lambda: len(hook.events) == 1)

    def test_receiver_killed(self):
        hook = Hook()
        port = hook.port
        self.begin()
        self.apply(f'publish Outbox to "{hook.url}"')
        self.put('e0')
        until(lambda: len(hook.events) == 1)
        hook.close()
        for n in range(1, 50):
            self.put(f'e{n}', n=n)
        until(lambda: self.consumer()['Failed'] > 0)
        again = self.hook(port=port)
        until(lambda: len(again.events) + len(hook.events) >= 50, 60)
        self.assertEqual(len(set(hook.ids() + again.ids())), 50)

    def test_server_killed(self):
        """kill -9 while events flow: none is lost, those that come twice have their ids, the order of each job holds."""
        hook = self.hook()
        self.begin()
        self.apply(f'publish Outbox to "{hook.url}" {{ order job  mark status = "published" }}')
        done = []
        for round_number in range(4):
            for n in range(60):
                number = round_number * 60 + n
                self.put(f'e{number}', job=f'j{n % 5}', n=number)
                done.append(f'e{number}')
            self.server.kill()
            self.begin()
        until(lambda: len(set(hook.ids())) == len(done), 40)
        by_id = {event['id']: event['item']['eventId'] for event in hook.events}
        self.assertEqual(sorted(by_id.values()), sorted(done))  # an event has one id
        for job in range(5):
            first = list(dict.fromkeys(event['item']['n'] for event in hook.events if event['item']['job'] == f'j{job}'))
            self.assertEqual(first, sorted(first))
        until(lambda: all(self.item(name)['status'] == {'S': 'published'} for name in done))

    # ---- Operations ----------------------------------------------------------------------

    def test_pause_replay_backfill(self):
        hook = self.hook()
        self.begin()
        for n in range(5):  # before the rule: only a backfill brings them
            pass
        self.apply('')
        for n in range(5):
            self.put(f'old{n}')
        self.apply(f'publish Outbox to "{hook.url}"')
        self.put('e0')
        until(lambda: len(hook.events) == 1)
        self.assertEqual(hook.events[0]['item']['eventId'], 'e0')
        order = {'TableName': 'shop', 'ConsumerName': 'Outbox'}
        self.assertEqual(self.api.call('UpdateConsumer', {**order, 'Action': 'PAUSE'})['Consumer']['State'], 'PAUSED')
        self.put('e1')
        time.sleep(0.2)
        self.assertEqual(len(hook.events), 1)
        self.api.call('UpdateConsumer', {**order, 'Action': 'RESUME'})
        until(lambda: len(hook.events) == 2)
        self.api.call('UpdateConsumer', {**order, 'Action': 'REPLAY', 'From': '2020-01-01T00:00:00Z'})
        until(lambda: len(hook.events) == 4)
        self.assertEqual(sorted(hook.ids()[:2]), sorted(hook.ids()[2:]))
        self.api.call('UpdateConsumer', {**order, 'Action': 'BACKFILL'})
        until(lambda: len(hook.events) == 11)
        self.assertEqual(len({event['item']['eventId'] for event in hook.events[4:]}), 7)
        for action, more in (('REPLAY', {}), ('REPLAY', {'From': 'noon'}), ('PAUSE', {'From': '2020-01-01T00:00:00Z'})):
            with self.assertRaises(ApiError):
                self.api.call('UpdateConsumer', {**order, 'Action': action, **more})
        with self.assertRaises(ApiError):
            self.api.call('DescribeConsumer', {**order, 'ConsumerName': 'Outbax'})

    def test_consumers_come_and_go(self):
        hook = self.hook()
        self.begin()
        self.apply(f'publish Outbox to "{hook.url}/1"\npublish Outbox to "{hook.url}/2"')
        self.assertEqual([one['ConsumerName'] for one in self.api.call('ListConsumers', {})['Consumers']],
                         ['Outbox', 'Outbox2'])
        self.apply(f'publish Outbox to "{hook.url}/3"')
        self.assertEqual([one['Target'] for one in self.api.call('ListConsumers', {'TableName': 'shop'})['Consumers']],
                         [hook.url + '/3'])
        self.put('e1')
        until(lambda: len(hook.events) == 1)
        self.api.call('DeleteTable', {'TableName': 'shop'})
        until(lambda: self.api.call('ListConsumers', {})['Consumers'] == [])

    # ---- From outside ----------------------------------------------------------------------

    def test_command(self):
        """`dolmen publish` reads the stream, goes on from its state, and gives up what is refused."""
        self.begin()
        path = os.path.join(self.directory, 'shop.dolmen')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(MODEL.replace('type  EntityType', 'type  EntityType\n  stream new_and_old_images'))
        self.api.call('ApplyModel', {'Model': open(path, encoding='utf-8').read(), 'FileName': 'shop.dolmen'})
        bad = set()
        hook = self.hook('first secret', judge=lambda event: 400 if event['item']['eventId'] in bad else 200)
        command = [os.path.join(ROOT, 'build/dolmen'), 'publish', path, 'Outbox', '--to', hook.url, '--once', '--state',
                   os.path.join(self.directory, 'state'), '--set', 'secret=env:DOLMEN_HOOK', '--set', 'batch=10',
                   '--order', 'job', '--attempts', '2', '--endpoint', self.server.endpoint]

        def run():
            return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **self.environment},
                                  check=False)

        for n in range(25):
            self.put(f'e{n}', job=f'j{n % 3}', n=n)
        self.assertEqual(run().returncode, 0)
        self.assertEqual(sorted(event['item']['n'] for event in hook.events), list(range(25)))
        self.assertEqual(run().stderr, 'dolmen publish: 0 events delivered.\n')
        bad.add('bad')
        self.put('bad')
        refused = run()
        self.assertEqual(refused.returncode, 1)
        self.assertIn('status 400', refused.stderr)
        bad.clear()
        self.assertIn('1 event delivered', run().stderr)
        self.assertEqual(hook.wrong, [])

    # ---- Other targets -------------------------------------------------------------------

    def lines(self, name):
        with open(os.path.join(self.directory, 'files', name), encoding='utf-8') as file:
            return [json.loads(line) for line in file.read().split('\n')[:-1]]

    def test_file(self):
        path = os.path.join(self.directory, 'files', 'events.jsonl')
        self.begin()
        self.apply('publish Outbox to "file:events.jsonl"')
        for n in range(50):
            self.put(f'e{n}', n=n)
        until(lambda: os.path.exists(path) and len(self.lines('events.jsonl')) == 50)
        self.server.kill()
        with open(path, 'a', encoding='utf-8') as file:
            file.write('{"half a li')
        self.begin()
        self.put('e50', n=50)
        until(lambda: self.lines('events.jsonl')[-1]['item']['n'] == 50)
        self.assertEqual(sorted({event['item']['n'] for event in self.lines('events.jsonl')}), list(range(51)))

    def test_one_file_for_several(self):
        """Two rules, and a server beside this one, write to one file: each line stands whole."""
        self.begin()
        path = os.path.join(self.directory, 'files', 'events.jsonl')
        rules = 'publish Outbox to "file:events.jsonl"\n' * 2
        self.apply(rules)
        beside = Server(os.path.join(self.directory, 'beside'), '--publish-files', os.path.join(self.directory, 'files'))
        self.addCleanup(beside.stop)
        other = Api(beside.endpoint)
        other.call('ApplyModel', {'Model': MODEL + rules, 'FileName': 'shop.dolmen'})
        text = {'S': 'x' * 5000}

        def write(api, name):
            for n in range(100):
                api.call('PutItem', {'TableName': 'shop', 'Item': {
                    'EntityType': {'S': 'Outbox'}, 'eventId': {'S': f'{name}{n}'}, 'job': text, 'n': {'N': str(n)}}})

        threads = [threading.Thread(target=write, args=one) for one in ((self.api, 'a'), (other, 'b'))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        until(lambda: os.path.exists(path) and open(path, 'rb').read().count(b'\n') == 400)
        found = [event['item']['eventId'] for event in self.lines('events.jsonl')]
        self.assertEqual(sorted(found), sorted(2 * [f'{name}{n}' for name in 'ab' for n in range(100)]))

    def test_clouds(self):
        cloud = Cloud('AKIDEXAMPLE', 'the secret key')
        self.addCleanup(cloud.close)
        self.environment = {'DOLMEN_AWS_ACCESS_KEY_ID': 'AKIDEXAMPLE', 'DOLMEN_AWS_SECRET_ACCESS_KEY': 'the secret key'}
        cloud.refuse = {'e3'}
        self.begin()
        topic = 'arn:aws:sns:eu-west-1:123456789012:events.fifo'
        self.apply(f'publish Outbox to "sqs:{cloud.url}/123/queue"\npublish Outbox to "sqs:{cloud.url}/123/q.fifo"\n'
                   f'publish Outbox to "eventbridge:{cloud.url}/bus" {{ region "eu-north-1" }}\n'
                   f'publish Outbox to "sns:{topic}" {{ endpoint "{cloud.url}" }}')
        for n in range(30):
            self.put(f'e{n}', n=n)
        wanted = {f'{cloud.url}/123/queue', f'{cloud.url}/123/q.fifo', 'bus', topic}
        until(lambda: set(cloud.messages) == wanted and
              all(len({body for body, _, _ in messages}) == 30 for messages in cloud.messages.values()))
        self.assertEqual(cloud.wrong, [])
        body, group, once = cloud.messages[f'{cloud.url}/123/q.fifo'][0]
        self.assertEqual(once, json.loads(body)['id'])
        self.assertEqual(len(group), 16)
        self.assertIsNone(cloud.messages[f'{cloud.url}/123/queue'][0][1])

    def test_wrong_signature(self):
        cloud = Cloud('AKIDEXAMPLE', 'another key')
        self.addCleanup(cloud.close)
        self.environment = {'DOLMEN_AWS_ACCESS_KEY_ID': 'AKIDEXAMPLE', 'DOLMEN_AWS_SECRET_ACCESS_KEY': 'the secret key'}
        self.begin()
        self.apply(f'publish Outbox to "sqs:{cloud.url}/123/queue"')
        self.put('e1')
        until(lambda: cloud.wrong and 'status 403' in self.consumer().get('Reason', ''))

    @unittest.skipUnless(os.path.exists(Nats.binary), 'nats-server is not installed')
    def test_nats(self):
        port = free_port()
        nats = Nats(self.directory, port)
        self.addCleanup(lambda: nats.close())
        nats.ask('$JS.API.STREAM.CREATE.events', {'name': 'events', 'subjects': ['shop.>'], 'storage': 'file'})
        self.begin()
        self.apply(f'publish Outbox to "nats://127.0.0.1:{port}/shop.outbox" {{ order job }}')
        for n in range(40):
            self.put(f'e{n}', job='j', n=n)
        until(lambda: len(nats.messages('events')) == 40)
        self.assertEqual([event['item']['n'] for event in nats.messages('events')], list(range(40)))
        nats.close()
        self.put('e40', job='j', n=40)
        until(lambda: self.consumer()['Failed'] > 0)
        nats = Nats(self.directory, port)
        until(lambda: len(nats.messages('events')) == 41, 40)
        self.api.call('UpdateConsumer', {'TableName': 'shop', 'ConsumerName': 'Outbox', 'Action': 'REPLAY',
                                         'From': '2020-01-01T00:00:00Z'})
        until(lambda: self.consumer()['Delivered'] >= 82, 40)
        self.assertEqual(len(nats.messages('events')), 41)  # Nats-Msg-Id: the stream knows them

    def test_kafka(self):
        kafka = Kafka()
        kafka.topic('outbox', 4)
        self.begin()
        self.apply(f'publish Outbox to "kafka://{kafka.brokers}/outbox" {{ order job }}')
        for n in range(60):
            self.put(f'e{n}', job=f'j{n % 6}', n=n)
        messages = kafka.messages('outbox', 4, 60)
        self.assertEqual(len(messages), 60)
        for job in range(6):
            own = [(partition, key, json.loads(value)['item']['n']) for partition, key, value in messages
                   if json.loads(value)['item']['job'] == f'j{job}']
            self.assertEqual(len({(partition, key) for partition, key, _ in own}), 1)
            self.assertEqual([n for _, _, n in own], list(range(job, 60, 6)))


if __name__ == '__main__':
    result = unittest.TextTestRunner(sys.stdout, verbosity=1, failfast='-f' in sys.argv).run(
        unittest.defaultTestLoader.loadTestsFromNames([f'Publishing.{name}' for name in sys.argv[1:] if name[0] != '-'],
                                                      sys.modules['__main__'])
        if [name for name in sys.argv[1:] if name[0] != '-'] else
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules['__main__']))
    bad = len(result.failures) + len(result.errors)
    print(f'{result.testsRun - bad - len(result.skipped)} passed, {bad} failed')
    sys.exit(bad > 0)
