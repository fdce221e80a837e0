"""Requests as bytes: signed by a straight reading of Signature Version 4, with every part open to be spoilt before and after that."""
import hashlib
import hmac
import socket
import time
import urllib.parse


def sha(data):
    return hashlib.sha256(data).hexdigest()


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def stamp(offset=0, now=None):
    return time.strftime('%Y%m%dT%H%M%SZ', time.gmtime((now or time.time()) + offset))


def quote(text):
    return urllib.parse.quote(text, safe='-._~')


class Request:
    """A request, and what it is signed with. `headers` are pairs, in the order of the wire."""

    def __init__(self, method, path, headers=(), body=b'', query=(), service='dynamodb'):
        self.method, self.path, self.body, self.query = method, path, body, list(query)
        self.headers = [list(pair) for pair in headers]
        self.service, self.region, self.terminal, self.algorithm = service, 'us-east-1', 'aws4_request', 'AWS4-HMAC-SHA256'
        self.date, self.day, self.key, self.secret, self.token = stamp(), None, None, None, None
        self.signed = None   # names; all headers if None
        self.payload = None  # what stands for the body in the canonical request; its hash if None
        self.presigned, self.expires = False, '300'

    # ---- Headers ---------------------------------------------------------------------------------

    def get(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def set(self, name, value):
        for pair in self.headers:
            if pair[0].lower() == name.lower():
                pair[1] = value
                return
        self.headers.append([name, value])

    def drop(self, name):
        self.headers = [pair for pair in self.headers if pair[0].lower() != name.lower()]

    def set_query(self, name, value):
        self.query = [(k, value if k == name else v) for k, v in self.query]

    # ---- Signing ---------------------------------------------------------------------------------

    def scope(self):
        return f'{self.day or self.date[:8]}/{self.region}/{self.service}/{self.terminal}'

    def canonical(self):
        query = '&'.join(f'{quote(k)}={quote(v)}' for k, v in sorted(self.query))
        names = self.names()
        lines = ''
        for name in names:
            values = [' '.join(value.split()) for key, value in self.headers if key.lower() == name]
            lines += f'{name}:{",".join(values)}\n'
        return '\n'.join([self.method, self.path, query, lines, ';'.join(names), self.payload or sha(self.body)])

    def names(self):
        return self.signed if self.signed is not None else sorted({key.lower() for key, _ in self.headers if key.lower() != 'authorization'})

    def to_sign(self):
        return f'AWS4-HMAC-SHA256\n{self.date}\n{self.scope()}\n{sha(self.canonical().encode())}'

    def signature(self):
        key = ('AWS4' + self.secret).encode()
        for part in self.scope().split('/'):
            key = mac(key, part)
        return mac(key, self.to_sign()).hex()

    def sign(self):
        if self.presigned:
            self.query += [('X-Amz-Algorithm', self.algorithm), ('X-Amz-Credential', f'{self.key}/{self.scope()}'), ('X-Amz-Date', self.date)]
            self.query += [('X-Amz-Expires', self.expires)] if self.expires is not None else []
            self.query += [('X-Amz-SignedHeaders', ';'.join(self.names()))] + ([('X-Amz-Security-Token', self.token)] if self.token else [])
            self.query.append(('X-Amz-Signature', self.signature()))
            return
        self.set('X-Amz-Date', self.date)
        if self.token:
            self.set('X-Amz-Security-Token', self.token)
        self.authorize()

    def authorize(self, **changed):
        """The header, from its parts; None leaves one out."""
        parts = {'Credential': f'{self.key}/{self.scope()}', 'SignedHeaders': ';'.join(self.names()), 'Signature': self.signature(), **changed}
        self.set('Authorization', f'{self.algorithm} ' + ', '.join(f'{k}={v}' for k, v in parts.items() if v is not None))

    # ---- The wire --------------------------------------------------------------------------------

    def bytes(self):
        query = '&'.join(f'{quote(k)}={quote(v)}' for k, v in self.query)
        lines = [f'{self.method} {self.path}{"?" + query if query else ""} HTTP/1.1'] + [f'{k}: {v}' for k, v in self.headers]
        if self.get('Content-Length') is None and self.get('Transfer-Encoding') is None:
            lines.append(f'Content-Length: {len(self.body)}')
        return '\r\n'.join(lines + ['Connection: close', '', '']).encode('latin-1') + self.body


def send(host, data):
    """Status, content type and body of the answer."""
    name, port = host.rsplit(':', 1)
    answer = b''
    with socket.create_connection((name, int(port)), 60) as connection:
        try:
            connection.sendall(data)
            while piece := connection.recv(65536):
                answer += piece
        except (ConnectionResetError, BrokenPipeError):
            pass  # what was not wanted was not read
    head, _, body = answer.partition(b'\r\n\r\n')
    kind = next((line.split(b':', 1)[1].strip() for line in head.split(b'\r\n') if line.lower().startswith(b'content-type:')), b'')
    return int(head[9:12] or 0), kind.decode(), body.decode()
