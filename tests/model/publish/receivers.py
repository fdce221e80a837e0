"""Those whom events are delivered to: a webhook that judges what it gets, and AWS's services."""
import hashlib
import hmac
import json
import socket
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials


class Receiver:
    """A web server; `answer(request)` says what it answers: a status, and perhaps headers and a body."""

    def __init__(self, answer, port=0):
        self.answer = answer
        self.connections = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                self.body = self.rfile.read(int(self.headers['content-length']))
                status, headers, body = (*owner.answer(self), {}, b'')[:3]
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header('content-length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Web(ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass

            def get_request(self):
                connection, address = super().get_request()
                owner.connections.append(connection)
                return connection, address

        self.server = Web(('127.0.0.1', port), Handler)
        self.port = self.server.server_address[1]
        self.url = f'http://127.0.0.1:{self.port}'
        threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Hook(Receiver):
    """Collects events: .events in the order of their arrival, .wrong what is wrong with requests."""

    def __init__(self, *secrets, port=0, judge=None):
        self.secrets = secrets
        self.judge = judge  # event -> status
        self.lock = threading.Lock()
        self.events = []
        self.tries = []  # (id, attempt, status)
        self.wrong = []
        super().__init__(self.take, port)

    def check(self, request):
        parts = [part.split('=', 1) for part in request.headers.get('x-dolmen-signature', '').split(',') if part]
        if not self.secrets:
            return not parts
        seconds = dict(parts).get('t', '')
        given = [value for name, value in parts if name == 'v1']
        wanted = [hmac.new(secret.encode(), seconds.encode() + b'.' + request.body, hashlib.sha256).hexdigest()
                  for secret in self.secrets]
        return given == wanted

    def take(self, request):
        with self.lock:
            if not self.check(request):
                self.wrong.append(('signature', dict(request.headers)))
                return (401,)
            document = json.loads(request.body)
            events = document if isinstance(document, list) else [document]
            if not isinstance(document, list) and request.headers['x-dolmen-event-id'] != document['id']:
                self.wrong.append(('id', dict(request.headers)))
            answer = 200
            for event in events:
                status = self.judge(event) if self.judge else 200
                answer = status if status != 200 else answer
            for event in events:
                self.tries.append((event['id'], request.headers.get('x-dolmen-attempt'), answer))
            if answer == 200:
                self.events.extend(events)
            return (answer,) if isinstance(answer, int) else answer

    def ids(self):
        with self.lock:
            return [event['id'] for event in self.events]


class Cloud(Receiver):
    """SQS, SNS and EventBridge: verifies each signature with botocore's own signer."""

    def __init__(self, key, secret):
        self.credentials = Credentials(key, secret)
        self.lock = threading.Lock()
        self.messages = {}  # queue, topic or bus -> [(body, group, deduplication)]
        self.wrong = []
        self.refuse = set()  # ids of messages that are refused once
        super().__init__(self.take)

    def signed(self, request):
        given = request.headers['authorization']
        scope = given.split('Credential=')[1].split(',')[0].split('/')
        names = given.split('SignedHeaders=')[1].split(',')[0].split(';')
        again = AWSRequest('POST', f'{self.url}{request.path}', data=request.body,
                           headers={name: request.headers[name] for name in names})
        again.context['timestamp'] = request.headers['x-amz-date']
        signer = SigV4Auth(self.credentials, scope[3], scope[2])
        canonical = signer.canonical_request(again)
        wanted = signer.signature(signer.string_to_sign(again, canonical), again)
        return wanted == given.split('Signature=')[1] and {'host', 'x-amz-date'} <= set(names)

    def take(self, request):
        with self.lock:
            if not self.signed(request):
                self.wrong.append(dict(request.headers))
                return (403,)
            target = request.headers.get('x-amz-target')
            if target == 'AmazonSQS.SendMessageBatch':
                return self.sqs(json.loads(request.body))
            if target == 'AWSEvents.PutEvents':
                return self.bridge(json.loads(request.body))
            return self.sns(dict(urllib.parse.parse_qsl(request.body.decode())))

    def keep(self, where, body, group=None, once=None):
        if json.loads(body)['item']['eventId'] in self.refuse:
            self.refuse.discard(json.loads(body)['item']['eventId'])
            return False
        self.messages.setdefault(where, []).append((body, group, once))
        return True

    def sqs(self, document):
        good, bad = [], []
        for entry in document['Entries']:
            fine = self.keep(document['QueueUrl'], entry['MessageBody'], entry.get('MessageGroupId'),
                             entry.get('MessageDeduplicationId'))
            (good if fine else bad).append({'Id': entry['Id'], 'MessageId': 'x'} if fine else
                                           {'Id': entry['Id'], 'SenderFault': False, 'Code': 'Busy'})
        return 200, {}, json.dumps({'Successful': good, 'Failed': bad}).encode()

    def bridge(self, document):
        entries = [{'EventId': 'x'} if self.keep(entry['EventBusName'], entry['Detail'], entry['DetailType'])
                   else {'ErrorCode': 'InternalFailure'} for entry in document['Entries']]
        return 200, {}, json.dumps({'FailedEntryCount': 0, 'Entries': entries}).encode()

    def sns(self, form):
        failed, number = '', 1
        while (name := f'PublishBatchRequestEntries.member.{number}.') + 'Id' in form:
            if not self.keep(form['TopicArn'], form[name + 'Message'], form.get(name + 'MessageGroupId')):
                failed += f'<member><Id>{form[name + "Id"]}</Id><Code>Busy</Code><SenderFault>false</SenderFault></member>'
            number += 1
        return 200, {}, ('<PublishBatchResponse><PublishBatchResult><Failed>' + failed +
                         '</Failed></PublishBatchResult></PublishBatchResponse>').encode()
