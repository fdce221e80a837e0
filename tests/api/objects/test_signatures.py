"""Bad signatures, made systematically from good ones: none is accepted, nothing of them is stored or shown.

Each maker below makes a correct request; it is sent first and has to succeed. Then each way to spoil it is applied to a fresh one.
"""
import base64
import hashlib
import hmac
import json
import os
import socket
import tempfile
import time
import unittest
import urllib.parse
import zlib

from dolmen import Server

KEY, SECRET = 'TESTKEY', 'test-secret-of-some-length'
SECRET_BODY = b'the content that only signers may see'


def sha(data):
    return hashlib.sha256(data).hexdigest()


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def stamp(offset=0):
    return time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(time.time() + offset))


def signing_key(scope, secret=SECRET):
    key = ('AWS4' + secret).encode()
    for part in scope.split('/'):
        key = mac(key, part)
    return key


def quote(text):
    return urllib.parse.quote(text, safe='-._~')


class Request:
    """A request before it is sent: everything may still be spoilt."""

    def __init__(self, method, path, query=(), headers=(), body=b''):
        self.method, self.path, self.query, self.body = method, path, list(query), body
        self.headers = dict(headers)
        self.extra = []  # further header lines

    def canonical(self, signed, payload):
        query = '&'.join(f'{quote(k)}={quote(v)}' for k, v in sorted(self.query))
        lower = {k.lower(): ' '.join(v.split()) for k, v in self.headers.items()}
        lines = ''.join(f'{name}:{lower[name]}\n' for name in signed)
        return '\n'.join([self.method, self.path, query, lines, ';'.join(signed), payload])

    def bytes(self):
        query = '&'.join(f'{quote(k)}={quote(v)}' for k, v in self.query)
        target = self.path + ('?' + query if query else '')
        lines = [f'{self.method} {target} HTTP/1.1'] + [f'{k}: {v}' for k, v in self.headers.items() if v is not None] + self.extra
        if not any(k.lower() == 'content-length' for k in self.headers):
            lines.append(f'Content-Length: {len(self.body)}')
        return '\r\n'.join(lines + ['Connection: close', '', '']).encode('latin-1') + self.body


def sign(request, host, payload, date=None, region='us-east-1', service='s3', secret=SECRET, key=KEY, terminal='aws4_request', signed=None):
    date = date or stamp()
    request.headers.update({'Host': host, 'X-Amz-Date': date, 'X-Amz-Content-Sha256': payload})
    signed = signed or sorted(k.lower() for k in request.headers)
    scope = f'{date[:8]}/{region}/{service}/{terminal}'
    text = f'AWS4-HMAC-SHA256\n{date}\n{scope}\n{sha(request.canonical(signed, payload).encode())}'
    request.signature = mac(signing_key(scope, secret), text).hex()
    request.scope, request.date, request.signed = scope, date, signed
    authorize(request, key=key)
    return request


def authorize(request, algorithm='AWS4-HMAC-SHA256', key=KEY, scope=None, signed=None, signature=None):
    request.headers['Authorization'] = (f'{algorithm} Credential={key}/{scope or request.scope}, SignedHeaders={signed or ";".join(request.signed)}, '
                                        f'Signature={request.signature if signature is None else signature}')


def presign(request, host, expires='300', date=None, region='us-east-1', service='s3', secret=SECRET, key=KEY):
    date = date or stamp()
    request.headers['Host'] = host
    request.scope = f'{date[:8]}/{region}/{service}/aws4_request'
    signed = sorted(k.lower() for k in request.headers)
    request.query += [('X-Amz-Algorithm', 'AWS4-HMAC-SHA256'), ('X-Amz-Credential', f'{key}/{request.scope}'), ('X-Amz-Date', date),
                      ('X-Amz-Expires', str(expires)), ('X-Amz-SignedHeaders', ';'.join(signed))]
    text = f'AWS4-HMAC-SHA256\n{date}\n{request.scope}\n{sha(request.canonical(signed, "UNSIGNED-PAYLOAD").encode())}'
    request.query.append(('X-Amz-Signature', mac(signing_key(request.scope, secret), text).hex()))
    return request


def flip(text, at):
    """Another digit in that place."""
    at %= len(text)
    return text[:at] + ('0' if text[at] != '0' else '1') + text[at + 1:]


class Signatures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.TemporaryDirectory()
        with open(cls.root.name + '/secret', 'w') as file:
            file.write(SECRET + '\n')
        cls.server = Server(cls.root.name + '/data', '--objects', cls.root.name + '/objects', '--objects-key', f'{KEY}:{cls.root.name}/secret')
        cls.host = cls.server.endpoint[7:]
        cls.kinds = cls.count = 0
        for request in (Request('PUT', '/bucket'), Request('PUT', '/bucket/secret', body=SECRET_BODY)):
            assert cls.send(sign(request, cls.host, sha(request.body)))[0] == 200

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.root.cleanup()
        print(f'note: {cls.kinds} kinds of bad signatures were refused')

    @classmethod
    def send(cls, request):
        host, port = cls.host.split(':')
        with socket.create_connection((host, int(port)), 30) as connection:
            answer = b''
            try:
                connection.sendall(request.bytes())
                while piece := connection.recv(65536):
                    answer += piece
            except (ConnectionResetError, BrokenPipeError):
                pass  # what was not wanted was not read
        return int(answer[9:12] or 0), answer

    def fresh(self):
        type(self).count += 1
        return f'/bucket/object-{self.count}'

    def exists(self, path):
        return self.send(sign(Request('GET', path), self.host, sha(b'')))[0] == 200

    def spoil(self, make, ways):
        """`make` with each way to spoil it."""
        path = self.fresh()
        good = make(path)
        status, answer = self.send(good)
        self.assertLess(status, 300, f'the correct request was refused: {answer[:600]}')
        for name, way in ways.items():
            with self.subTest(name):
                path = self.fresh()
                request = make(path)
                replaced = way(request)
                request = replaced if isinstance(replaced, Request) else request
                status, answer = self.send(request)
                self.assertGreaterEqual(status, 400, name)
                self.assertLess(status, 500, answer[:500])
                self.assertNotIn(SECRET_BODY, answer)
                self.assertFalse(self.exists(path), name)
                type(self).kinds += 1

    # ---- In a header ------------------------------------------------------------------------------

    def put(self, path, body=b'a body that is signed', **more):
        request = Request('PUT', path, [('x-id', 'PutObject')], {'Content-Type': 'text/plain', 'x-amz-meta-note': 'one two'}, body)
        return sign(request, self.host, more.pop('payload', sha(body)), **more)

    def test_header(self):
        def header(name, value):
            return lambda r: r.headers.__setitem__(name, value)

        def attribute(name, value):
            return lambda r: setattr(r, name, value(r) if callable(value) else value)
        ways = {f'signature digit {at}': (lambda at: lambda r: authorize(r, signature=flip(r.signature, at)))(at) for at in (0, 1, 7, 31, 32, 40, 62, 63)}
        ways |= {f'signature {name}': (lambda change: lambda r: authorize(r, signature=change(r.signature)))(change) for name, change in {
            'empty': lambda s: '', 'short': lambda s: s[:-1], 'long': lambda s: s + '0', 'large letters': lambda s: 'A' + s[1:].upper(), 'no digits': lambda s: 'g' * 64,
            'zeros': lambda s: '0' * 64, 'of nothing': lambda s: sha(b''), 'reversed': lambda s: s[::-1], 'in base64': lambda s: base64.b64encode(bytes.fromhex(s)).decode(),
            'with a blank': lambda s: s[:10] + ' ' + s[10:], 'twice': lambda s: s + s}.items()}
        ways |= {f'scope {name}': (lambda change: lambda r: authorize(r, scope=change(r.scope)))(change) for name, change in {
            'day': lambda s: flip(s, 7), 'day of 1970': lambda s: '19700101' + s[8:], 'region': lambda s: s.replace('us-east-1', 'eu-west-1'),
            'no region': lambda s: s.replace('us-east-1', ''), 'service': lambda s: s.replace('/s3/', '/s4/'), 'terminal': lambda s: s.replace('aws4', 'aws5'),
            'short': lambda s: s.rsplit('/', 1)[0], 'long': lambda s: s + '/x', 'empty': lambda s: '/', 'swapped': lambda s: '/'.join(s.split('/')[::-1])}.items()}
        ways |= {f'key {name}': (lambda key: lambda r: authorize(r, key=key))(key) for name, key in {
            'unknown': 'NOBODY', 'empty': '', 'longer': KEY + 'X', 'shorter': KEY[:-1], 'in small letters': KEY.lower(), 'with a slash': 'A/' + KEY}.items()}
        ways |= {f'algorithm {name}': (lambda a: lambda r: authorize(r, algorithm=a))(name) for name in ('AWS4-HMAC-SHA1', 'aws4-hmac-sha256', 'AWS', 'Bearer', 'AWS4-HMAC-SHA512')}
        ways |= {f'signed headers without {name}': (lambda n: lambda r: authorize(r, signed=';'.join(h for h in r.signed if h != n)))(name)
                 for name in ('host', 'x-amz-date', 'x-amz-content-sha256', 'x-amz-meta-note', 'content-type')}
        ways |= {f'signed headers {name}': (lambda change: lambda r: authorize(r, signed=change(r.signed)))(change) for name, change in {
            'reversed': lambda s: ';'.join(s[::-1]), 'with one that is not there': lambda s: ';'.join(sorted(s + ['x-none'])), 'in large letters': lambda s: ';'.join(s).upper(),
            'with commas': lambda s: ','.join(s), 'twice': lambda s: ';'.join(s + s), 'empty': lambda s: ';'}.items()}
        ways |= {f'header {name} {what}': header(name, value) for name, what, value in (
            ('Content-Type', 'changed', 'text/html'), ('Content-Type', 'removed', None), ('x-amz-meta-note', 'changed', 'one three'), ('x-amz-meta-note', 'removed', None),
            ('x-amz-meta-note', 'in large letters', 'One Two'), ('X-Amz-Date', 'removed', None), ('X-Amz-Date', 'empty', ''), ('X-Amz-Date', 'malformed', '2026-01-01'),
            ('X-Amz-Date', 'later', stamp(60)), ('X-Amz-Date', 'long ago', '19700101T000000Z'), ('X-Amz-Content-Sha256', 'removed', None), ('X-Amz-Content-Sha256', 'malformed', 'abc'),
            ('X-Amz-Content-Sha256', 'unsigned', 'UNSIGNED-PAYLOAD'), ('X-Amz-Content-Sha256', 'of nothing', sha(b'')), ('x-amz-tagging', 'added', 'a=b'),
            ('x-amz-copy-source', 'added', '/bucket/secret'), ('x-amz-acl', 'added', 'private'), ('x-amz-security-token', 'added', 'token'), ('Authorization', 'removed', None),
            ('Authorization', 'empty', ''), ('Authorization', 'cut', 'AWS4-HMAC-SHA256'), ('Authorization', 'of version 2', 'AWS TESTKEY:c2lnbmF0dXJl'))}
        ways |= {'another host': lambda r: r.headers.__setitem__('Host', self.host.replace('127.0.0.1', 'localhost')),
                 'a header twice': lambda r: r.extra.append('x-amz-meta-note: more'), 'two authorizations': lambda r: r.extra.append('Authorization: ' + r.headers['Authorization']),
                 'method': attribute('method', 'POST'), 'path': attribute('path', lambda r: r.path + 'x'), 'path encoded': attribute('path', lambda r: r.path + '%41'),
                 'path with a slash': attribute('path', lambda r: r.path + '/'), 'path with dots': attribute('path', lambda r: r.path + '/../y'), 'path doubled': attribute('path', lambda r: '/' + r.path),
                 'query gone': attribute('query', []), 'query changed': attribute('query', [('x-id', 'GetObject')]), 'query added': lambda r: r.query.append(('tagging', '')),
                 'query twice': lambda r: r.query.append(r.query[0]), 'query of an upload': lambda r: r.query.extend([('partNumber', '1'), ('uploadId', '0' * 32)]),
                 'body first byte': attribute('body', lambda r: b'A' + r.body[1:]), 'body last byte': attribute('body', lambda r: r.body[:-1] + b'D'),
                 'body shorter': attribute('body', lambda r: r.body[:-1]), 'body longer': attribute('body', lambda r: r.body + b'x'), 'body empty': attribute('body', b''),
                 'also in the query': lambda r: r.query.append(('X-Amz-Signature', r.signature)),
                 'also presigned': lambda r: r.query.append(('X-Amz-Algorithm', 'AWS4-HMAC-SHA256'))}
        remake = lambda **more: lambda r: self.put(r.path, **more)
        ways |= {'wrong secret': remake(secret='another secret of that length'), 'secret with a blank': remake(secret=SECRET + ' '), 'no secret': remake(secret=''),
                 '16 minutes ago': remake(date=stamp(-16 * 60)), 'in 16 minutes': remake(date=stamp(16 * 60)), 'a year ago': remake(date=stamp(-365 * 86400)),
                 'signed for another service': remake(service='dynamodb'), 'signed with another terminal': remake(terminal='aws5_request'),
                 'an unknown key, signed well': remake(key='NOBODY'), 'a payload that is not hashed': remake(payload=sha(b'other')),
                 'chunks that are none': remake(payload='STREAMING-AWS4-HMAC-SHA256-PAYLOAD')}
        self.spoil(self.put, ways)

    def test_reads(self):
        """What is refused shows nothing."""
        make = lambda path: sign(Request('GET', '/bucket/secret'), self.host, sha(b''))
        self.spoil(make, {'signature': lambda r: authorize(r, signature=flip(r.signature, 5)), 'none': lambda r: r.headers.__setitem__('Authorization', None),
                          'a list': lambda r: (setattr(r, 'path', '/bucket'), r.query.append(('list-type', '2'))), 'buckets': lambda r: setattr(r, 'path', '/'),
                          'a range': lambda r: authorize(r, signed='host;x-amz-date'), 'DELETE': lambda r: setattr(r, 'method', 'DELETE'),
                          'a body': lambda r: setattr(r, 'body', b'body')})
        self.assertTrue(self.exists('/bucket/secret'))

    # ---- In the query -----------------------------------------------------------------------------

    def test_query(self):
        def make(path, **more):
            return presign(Request('PUT', path, [('x-id', 'PutObject')], {'Content-Type': 'text/plain'}, b'body'), self.host, **more)

        def value(name, change):
            def way(r):
                r.query = [(k, change(v) if k == name else v) for k, v in r.query]
            return way
        names = ['X-Amz-Algorithm', 'X-Amz-Credential', 'X-Amz-Date', 'X-Amz-Expires', 'X-Amz-SignedHeaders', 'X-Amz-Signature']
        ways = {}
        for name in names:
            ways[f'{name} removed'] = (lambda n: lambda r: setattr(r, 'query', [(k, v) for k, v in r.query if k != n]))(name)
            ways[f'{name} empty'] = value(name, lambda v: '')
            ways[f'{name} twice'] = (lambda n: lambda r: r.query.append((n, dict(r.query)[n])))(name)
            ways[f'{name} longer'] = value(name, lambda v: v + '1')
            ways[f'{name} cut'] = value(name, lambda v: v[:-1])
            ways[f'{name} first'] = value(name, lambda v: 'z' + v[1:])
        ways |= {f'signature digit {at}': value('X-Amz-Signature', (lambda at: lambda v: flip(v, at))(at)) for at in (1, 16, 32, 48, 63)}
        ways |= {f'expires {text}': value('X-Amz-Expires', (lambda t: lambda v: t)(text)) for text in ('-1', '604801', 'abc', '301', '1e3', '99999999999999999999')}
        ways |= {'method': lambda r: setattr(r, 'method', 'DELETE'), 'path': lambda r: setattr(r, 'path', r.path + 'x'), 'a parameter more': lambda r: r.query.append(('tagging', '')),
                 'a parameter less': lambda r: r.query.pop(0), 'a header changed': lambda r: r.headers.__setitem__('Content-Type', 'text/html'),
                 'a header gone': lambda r: r.headers.__setitem__('Content-Type', None), 'host': lambda r: r.headers.__setitem__('Host', self.host.replace('127.0.0.1', 'localhost')),
                 'an x-amz header more': lambda r: r.headers.__setitem__('x-amz-meta-a', 'b'), 'a copy': lambda r: r.headers.__setitem__('x-amz-copy-source', '/bucket/secret'),
                 'a header, too': lambda r: r.headers.__setitem__('Authorization', 'AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature=' + '0' * 64),
                 'expired': lambda r: make(r.path, date=stamp(-301), expires='300'), 'not yet': lambda r: make(r.path, date=stamp(1200)),
                 'wrong secret': lambda r: make(r.path, secret='not the secret'), 'unknown key': lambda r: make(r.path, key='NOBODY'),
                 'another service': lambda r: make(r.path, service='sqs'), 'too long': lambda r: make(r.path, expires='604801'), 'no time at all': lambda r: make(r.path, expires='-5')}
        self.spoil(make, ways)

    # ---- Chunks -----------------------------------------------------------------------------------

    def chunked(self, path, trailer=False, signed=True, change=None, chunks=None, length=None, algorithm='crc32'):
        """A body in chunks; `change` may spoil the list of (size, signature, data) and of trailer lines."""
        data = chunks or [os.urandom(8192), os.urandom(9000), b'the end']
        payload = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' + ('-TRAILER' if trailer else '') if signed else 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
        total = sum(map(len, data))
        headers = {'Content-Encoding': 'aws-chunked', 'x-amz-decoded-content-length': str(total if length is None else length)}
        if trailer:
            headers['x-amz-trailer'] = f'x-amz-checksum-{algorithm}'
        request = sign(Request('PUT', path, headers=headers), self.host, payload)
        key, previous, pieces = signing_key(request.scope), request.signature, []
        for piece in data + [b'']:
            text = '\n'.join(['AWS4-HMAC-SHA256-PAYLOAD', request.date, request.scope, previous, sha(b''), sha(piece)])
            previous = mac(key, text).hex()
            pieces.append([f'{len(piece):x}', previous if signed else None, piece])
        lines = []
        if trailer:
            checksum = base64.b64encode(zlib.crc32(b''.join(data)).to_bytes(4, 'big')).decode()
            lines = [f'x-amz-checksum-{algorithm}:{checksum}']
            if signed:
                text = '\n'.join(['AWS4-HMAC-SHA256-TRAILER', request.date, request.scope, previous, sha((lines[0] + '\n').encode())])
                lines.append('x-amz-trailer-signature:' + mac(key, text).hex())
        if change:
            change(pieces, lines)
        body = b''
        for size, signature, piece in pieces:
            body += (size + (f';chunk-signature={signature}' if signature else '')).encode() + b'\r\n' + piece + (b'\r\n' if piece or size != '0' else b'')
        request.body = body + ''.join(line + '\r\n' for line in lines).encode() + b'\r\n'
        return request

    def chunk_ways(self, make, signed):
        def way(change):
            return lambda r: make(r.path, change=change)

        def setter(at, part, value):
            def change(pieces, lines):
                pieces[at][part] = value(pieces[at][part])
            return way(change)
        ways = {'last chunk gone': way(lambda p, l: p.pop()), 'a chunk gone': way(lambda p, l: p.pop(1)), 'a chunk twice': way(lambda p, l: p.insert(1, p[1])),
                'size is none': setter(0, 0, lambda s: 'xyz'), 'size negative': setter(0, 0, lambda s: '-1'), 'size huge': setter(0, 0, lambda s: 'f' * 20),
                'size larger': setter(0, 0, lambda s: f'{int(s, 16) + 1:x}'), 'size smaller': setter(1, 0, lambda s: f'{int(s, 16) - 1:x}'),
                'length larger': lambda r: make(r.path, length=20000), 'length smaller': lambda r: make(r.path, length=100),
                'not in chunks': lambda r: setattr(r, 'body', b'just bytes'), 'cut': lambda r: setattr(r, 'body', r.body[:5000]), 'empty': lambda r: setattr(r, 'body', b'')}
        if signed:
            for at in range(4):
                for digit in (0, 31, 63):
                    ways[f'signature {at}, digit {digit}'] = setter(at, 1, (lambda d: lambda s: flip(s, d))(digit))
                ways[f'signature {at} gone'] = setter(at, 1, lambda s: None)
                ways[f'signature {at} short'] = setter(at, 1, lambda s: s[:-1])
            for at in range(3):
                ways[f'data {at}, first byte'] = setter(at, 2, lambda d: bytes([d[0] ^ 1]) + d[1:])
                ways[f'data {at}, last byte'] = setter(at, 2, lambda d: d[:-1] + bytes([d[-1] ^ 1]))
            ways['swapped'] = way(lambda p, l: p.__setitem__(slice(0, 2), p[1::-1]))
            ways['of another request'] = lambda r: setattr(r, 'body', make(self.fresh()).body)
            ways['seed'] = lambda r: authorize(r, signature=flip(r.signature, 3))
        return ways

    def test_chunks(self):
        make = lambda path, **more: self.chunked(path, **more)
        self.spoil(make, self.chunk_ways(make, True))

    def trailer_ways(self, make, signed):
        def way(change):
            return lambda r: make(r.path, change=lambda pieces, lines: change(lines))
        ways = {'trailer gone': way(lambda l: l.pop(0)), 'trailer value': way(lambda l: l.__setitem__(0, l[0][:-8] + 'AAAAAA==')),
                'trailer name': way(lambda l: l.__setitem__(0, l[0].replace('crc32', 'crc32c'))), 'trailer malformed': way(lambda l: l.__setitem__(0, 'nonsense')),
                'another trailer': way(lambda l: l.insert(0, 'x-amz-meta-evil:1')), 'trailer not base64': way(lambda l: l.__setitem__(0, l[0].split(':')[0] + ':!!')),
                'too much trailer': way(lambda l: l.insert(0, 'x-amz-checksum-crc32:' + 'A' * 5000))}
        if signed:
            ways |= {'trailer signature gone': way(lambda l: l.pop()), 'trailer signature digit': way(lambda l: l.__setitem__(1, l[1][:-1] + ('0' if l[1][-1] != '0' else '1'))),
                     'trailer signature first': way(lambda l: l.__setitem__(1, l[1].replace(':', ':0', 1)[:-1]) if l[1].split(':')[1][0] != '0' else l.pop()),
                     'trailer signature empty': way(lambda l: l.__setitem__(1, l[1].split(':')[0] + ':')), 'trailers swapped': way(lambda l: l.reverse())}
        return ways

    def test_chunks_with_trailer(self):
        make = lambda path, **more: self.chunked(path, trailer=True, **more)
        ways = self.chunk_ways(make, True)
        self.spoil(make, {f'T {k}': v for k, v in ways.items()} | self.trailer_ways(make, True))

    def test_unsigned_chunks(self):
        make = lambda path, **more: self.chunked(path, trailer=True, signed=False, **more)
        ways = {f'U {k}': v for k, v in (self.chunk_ways(make, False) | self.trailer_ways(make, False)).items()}
        ways['U data'] = lambda r: make(r.path, change=lambda p, l: p[0].__setitem__(2, bytes(8192)))
        ways['U signature'] = lambda r: authorize(r, signature=flip(r.signature, 1))
        self.spoil(make, ways)

    # ---- Forms ------------------------------------------------------------------------------------

    def form(self, path, change=None, body=b'posted', expires=300, secret=SECRET, conditions=(), date=None, key=KEY, spoil_policy=None, sign_as=None):
        date = date or stamp()
        scope = f'{date[:8]}/us-east-1/{sign_as or "s3"}/aws4_request'
        fields = {'key': path[len('/bucket/'):], 'Content-Type': 'text/plain', 'x-amz-meta-m': '1', 'x-amz-algorithm': 'AWS4-HMAC-SHA256',
                  'x-amz-credential': f'{key}/{scope}', 'x-amz-date': date}
        policy = {'expiration': time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(time.time() + expires)),
                  'conditions': [{'bucket': 'bucket'}, ['starts-with', '$key', 'object-'], {'Content-Type': 'text/plain'}, {'x-amz-meta-m': '1'},
                                 ['content-length-range', 3, 100], {'x-amz-algorithm': 'AWS4-HMAC-SHA256'}, {'x-amz-credential': f'{key}/{scope}'},
                                 {'x-amz-date': date}, *conditions]}
        if spoil_policy:
            spoil_policy(policy)
        fields['policy'] = base64.b64encode(json.dumps(policy).encode()).decode()
        fields['x-amz-signature'] = mac(signing_key(scope, secret), fields['policy']).hex()
        if change:
            change(fields)
        text = b''.join(f'--xyz\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode() for k, v in
                        (fields.items() if isinstance(fields, dict) else fields))
        text += b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n' + body + b'\r\n--xyz--\r\n'
        return Request('POST', '/bucket', headers={'Host': self.host, 'Content-Type': 'multipart/form-data; boundary=xyz'}, body=text)

    def test_forms(self):
        # A request has no path of its own here: the name of the object is in the form.
        current = {}

        def make(path, **more):
            current['path'] = path
            return self.form(path, **more)

        def way(change):
            return lambda r: self.form(current['path'], change=change)

        def again(**more):
            return lambda r: self.form(current['path'], **more)
        ways = {}
        for name in ('policy', 'x-amz-signature', 'x-amz-credential', 'x-amz-date', 'x-amz-algorithm', 'Content-Type', 'x-amz-meta-m'):
            ways[f'{name} removed'] = way((lambda n: lambda f: f.pop(n))(name))
            ways[f'{name} changed'] = way((lambda n: lambda f: f.__setitem__(n, 'x' + f[n][1:]))(name))
            ways[f'{name} longer'] = way((lambda n: lambda f: f.__setitem__(n, f[n] + '1'))(name))
        ways |= {f'signature digit {at}': way((lambda at: lambda f: f.__setitem__('x-amz-signature', flip(f['x-amz-signature'], at)))(at)) for at in (0, 20, 40, 63)}
        ways |= {f'policy byte {at}': way((lambda at: lambda f: f.__setitem__('policy', f['policy'][:at] + ('A' if f['policy'][at] != 'A' else 'B') + f['policy'][at + 1:]))(at))
                 for at in (0, 10, 50, 100, 200)}
        ways |= {'key': way(lambda f: f.__setitem__('key', 'elsewhere')), 'a field more': way(lambda f: f.__setitem__('x-amz-meta-n', '2')),
                 'acl': way(lambda f: f.__setitem__('acl', 'private')), 'redirect': way(lambda f: f.__setitem__('success_action_redirect', 'http://evil.test')),
                 'status': way(lambda f: f.__setitem__('success_action_status', '201')), 'tagging': way(lambda f: f.__setitem__('tagging', '<Tagging/>')),
                 'no signature at all': way(lambda f: [f.pop(k) for k in list(f) if k.startswith('x-amz-') or k == 'policy']),
                 'token': way(lambda f: f.__setitem__('x-amz-security-token', 't')), 'too small': again(body=b'ab'), 'too large': again(body=b'x' * 101), 'expired': again(expires=-1),
                 'wrong secret': again(secret='another secret'), 'unknown key': again(key='NOBODY'), 'another service': again(sign_as='sqs'),
                 'condition fails': again(conditions=[{'x-amz-meta-z': '1'}]),
                 'bucket': again(spoil_policy=lambda p: p['conditions'].__setitem__(0, {'bucket': 'other'})),
                 'no expiration': again(spoil_policy=lambda p: p.pop('expiration')), 'no conditions': again(spoil_policy=lambda p: p.pop('conditions')),
                 'unknown operator': again(conditions=[['ends-with', '$key', '1']]), 'range reversed': again(conditions=[['content-length-range', 100, 3]]),
                 'conditions no list': again(spoil_policy=lambda p: p.__setitem__('conditions', 'x'))}
        self.spoil(make, {f'form {k}': v for k, v in ways.items()})
