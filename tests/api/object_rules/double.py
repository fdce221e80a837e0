"""A small S3 for the tests. Signatures of headers, queries and forms are computed anew by botocore's own code."""
import base64
import email.parser
import email.policy
import http.server
import json
import threading
import time
import urllib.parse
from datetime import datetime, timezone
from hmac import compare_digest

from botocore.auth import S3SigV4Auth, S3SigV4PostAuth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

KEY, SECRET, REGION = 'AKIDEXAMPLE', 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', 'eu-west-1'


def seconds(date):
    return datetime.strptime(date, '%Y%m%dT%H%M%SZ').replace(tzinfo=timezone.utc).timestamp()


class Refused(Exception):
    pass


class Store(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port=0):
        super().__init__(('127.0.0.1', port), Handler)
        self.objects = {}
        self.log = []  # (method, key, status)
        self.status = 0  # of all requests, if it is set
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self):
        return f'http://127.0.0.1:{self.server_port}'

    def close(self):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get('Content-Length', 0)))
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        _, bucket, key = (path + '/').split('/', 2)
        key = key[:-1] if key.endswith('/') else key
        try:
            if self.server.status:
                status, answer = self.server.status, b''
            elif self.command == 'POST' and not key:
                status, answer = self.post(bucket, body)
            else:
                self.check()
                status, answer = self.act(bucket, key, body)
        except Refused as refusal:
            status, answer = 403, str(refusal).encode()
        self.server.log.append((self.command, key, status))
        self.send_response(status)
        self.send_header('Content-Length', str(len(answer)))
        self.end_headers()
        self.wfile.write(answer if self.command != 'HEAD' else b'')

    do_GET = do_PUT = do_DELETE = do_HEAD = do_POST = handle_any

    def act(self, bucket, key, body):
        objects = self.server.objects
        if self.command == 'PUT':
            objects[bucket, key] = (body, self.headers.get('Content-Type'))
            return 200, b''
        if (bucket, key) not in objects:
            return 404, b'<Error><Code>NoSuchKey</Code></Error>'
        if self.command == 'DELETE':
            del objects[bucket, key]
            return 204, b''
        return 200, objects[bucket, key][0]

    def check(self):
        parts = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(parts.query, keep_blank_values=True)
        if 'X-Amz-Signature' in query:
            given, date = query['X-Amz-Signature'][0], query['X-Amz-Date'][0]
            scope, names = query['X-Amz-Credential'][0], query['X-Amz-SignedHeaders'][0]
            rest = '&'.join(p for p in parts.query.split('&') if not p.startswith('X-Amz-Signature='))
            if time.time() > seconds(date) + int(query['X-Amz-Expires'][0]):
                raise Refused('expired')
            auth = S3SigV4QueryAuth(Credentials(KEY, SECRET), 's3', REGION, 1)
        else:
            words = dict(w.strip().split('=', 1) for w in self.headers.get('Authorization', ' =').split(' ', 1)[1].split(','))
            given, date = words.get('Signature', ''), self.headers.get('X-Amz-Date', '19700101T000000Z')
            scope, names, rest = words.get('Credential', ''), words.get('SignedHeaders', ''), parts.query
            if abs(time.time() - seconds(date)) > 900:
                raise Refused('skewed')
            auth = S3SigV4Auth(Credentials(KEY, SECRET), 's3', REGION)
        if scope != f'{KEY}/{date[:8]}/{REGION}/s3/aws4_request':
            raise Refused(f'scope {scope}')
        headers = {name: self.headers[name] for name in names.split(';') if name in self.headers}
        request = AWSRequest(self.command, f'http://{self.headers["Host"]}{parts.path}' + (f'?{rest}' if rest else ''),
                             headers=headers)
        request.context['timestamp'] = date
        if 'X-Amz-Signature' not in query:
            auth.payload = lambda r: self.headers['X-Amz-Content-SHA256']
        canonical = auth.canonical_request(request)
        own = auth.signature(auth.string_to_sign(request, canonical), request)
        if not compare_digest(own, given):
            raise Refused(f'signature of\n{canonical}')

    def post(self, bucket, body):
        """A form: its policy's signature, expiration and conditions."""
        text = b'Content-Type: ' + self.headers['Content-Type'].encode() + b'\r\n\r\n' + body
        message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(text)
        fields = {part.get_param('name', header='content-disposition'): part.get_payload(decode=True)
                  for part in message.iter_parts()}
        file = fields.pop('file')
        fields = {name: value.decode() for name, value in fields.items()}
        request = AWSRequest('POST', self.path)
        request.context['timestamp'] = fields['x-amz-date']
        auth = S3SigV4PostAuth(Credentials(KEY, SECRET), 's3', REGION)
        if not compare_digest(auth.signature(fields['policy'], request), fields['x-amz-signature']):
            raise Refused('signature')
        policy = json.loads(base64.b64decode(fields['policy']))
        end = datetime.strptime(policy['expiration'], '%Y-%m-%dT%H:%M:%S.%f%z').timestamp()
        values = {name.lower(): value for name, value in fields.items()} | {'bucket': bucket}
        if time.time() > end:
            raise Refused('expired')
        for condition in policy['conditions']:
            if isinstance(condition, dict):
                (name, wanted), = condition.items()
                fits = values.get(name.lower()) == wanted
            elif condition[0] == 'starts-with':
                fits = values.get(condition[1][1:].lower(), '').startswith(condition[2])
            else:
                fits = condition[1] <= len(file) <= condition[2]
            if not fits:
                raise Refused(f'condition {condition}')
        self.server.objects[bucket, fields['key']] = (file, fields.get('Content-Type'))
        return 204, b''
