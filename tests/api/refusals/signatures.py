"""Signatures, at each path that has to be signed."""
import gzip
import json
import time

from wire import stamp

CORAL = 'com.amazon.coral.service#'
MISSING = 'Request is missing Authentication Token'
INVALID_TOKEN = 'The security token included in the request is invalid'
EXPIRED_TOKEN = 'The security token included in the request is expired'
UNSIGNED = "{} must be a 'SignedHeader' in the AWS Authorization."
ELEMENTS = "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '{}'"
MISMATCH = ('The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. '
            "Consult the service documentation for details.\n\nThe Canonical String for this request should have been\n'{}'\n\n"
            "The String-to-Sign should have been\n'{}'\n")
FOREIGN_TOKEN = 'DOL1' + 'x' * 60


def lacks(*names):
    """What the header does not have."""
    words = {'Date': "existence of either a 'X-Amz-Date' or a 'Date' header"}
    text = ''.join(f'Authorization header requires {words.get(n, f"{chr(39)}{n}{chr(39)} parameter")}. ' for n in names)
    return lambda r: ('IncompleteSignatureException', f'{text}Authorization={r.get("Authorization").strip()}')


def query_lacks(*names):
    text = ''.join(f"AWS query-string parameters must include '{n}'. " for n in names)
    return 'IncompleteSignatureException', text + 'Re-examine the query-string parameters.'


def pair(word):
    return lambda r: ('IncompleteSignatureException', f"'{word}' not a valid key=value pair (missing equal-sign) in Authorization header: '{r.get('Authorization')}'.")


def incomplete(text):
    return 'IncompleteSignatureException', text


def invalid(text):
    return 'InvalidSignatureException', text


def mismatch(r):
    """The server shows what it has signed, which is what came."""
    sent = [item for item in r.query if item[0] != 'X-Amz-Signature']
    r.query, kept = sent, r.query
    canonical, text = r.canonical(), r.to_sign()
    r.query = kept
    return 'InvalidSignatureException', MISMATCH.format(canonical, text)


def unrecognized(text):
    return 'UnrecognizedClientException', text


def steps(*all_steps):
    def run(r):
        for step in all_steps:
            step(r)
    return run


def put(**attributes):
    return lambda r: [setattr(r, name, value) for name, value in attributes.items()]


def header(name, value):
    return lambda r: r.set(name, value)


def add(name, value):
    return lambda r: r.headers.append([name, value])


def drop(name):
    return lambda r: r.drop(name)


def raw(value):
    """The whole header."""
    return lambda r: r.set('Authorization', value(r) if callable(value) else value)


def parts(**changed):
    return lambda r: r.authorize(**changed)


def unsign(*names):
    return lambda r: setattr(r, 'signed', [n for n in r.names() if n not in names])


def shift(text, at=0):
    return text[:at] + ('0' if text[at] != '0' else '1') + text[at + 1:]


def at_query(name, change):
    def after(r):
        r.query = [(k, change(v) if k == name else v) for k, v in r.query]
    return after


def without_query(*names):
    return lambda r: setattr(r, 'query', [(k, v) for k, v in r.query if k not in names])


PRE = put(presigned=True)

# (name, before it is signed, after it, (type, text) or a function of the request)
ROWS = [
    # ---- Nothing, or something else ---------------------------------------------------------------
    ('no Authorization', None, drop('Authorization'), ('MissingAuthenticationTokenException', MISSING)),
    ('an empty Authorization', None, raw(''), ('MissingAuthenticationTokenException', MISSING)),
    ('blanks for Authorization', None, raw('   '), ('MissingAuthenticationTokenException', MISSING)),
    ('Basic', None, raw('Basic dXNlcjpwYXNz'), ('MissingAuthenticationTokenException', MISSING)),
    ('Bearer', None, raw('Bearer eyJhbGciOiJub25lIn0.e30.'), ('MissingAuthenticationTokenException', MISSING)),
    ('version 2', None, raw(lambda r: f'AWS {r.key}:c2lnbmF0dXJl'), ('MissingAuthenticationTokenException', MISSING)),
    ('version 3', None, raw(lambda r: f'AWS3 AWSAccessKeyId={r.key},Algorithm=HmacSHA256,Signature=c2lnbmF0dXJl'), ('MissingAuthenticationTokenException', MISSING)),
    ('the algorithm in small letters', None, raw(lambda r: r.get('Authorization').replace('AWS4-HMAC-SHA256', 'aws4-hmac-sha256')),
     ('MissingAuthenticationTokenException', MISSING)),
    ('nothing but a token', None, steps(drop('Authorization'), add('X-Amz-Security-Token', FOREIGN_TOKEN)), ('MissingAuthenticationTokenException', MISSING)),
    ('nothing but a signature in the query', None, steps(drop('Authorization'), lambda r: r.query.append(('X-Amz-Signature', '0' * 64))),
     ('MissingAuthenticationTokenException', MISSING)),
    # ---- Parts that are missing -------------------------------------------------------------------
    ('the algorithm alone', None, raw('AWS4-HMAC-SHA256'), lacks('Credential', 'Signature', 'SignedHeaders')),
    ('the algorithm alone, and no date', None, steps(raw('AWS4-HMAC-SHA256'), drop('X-Amz-Date')), lacks('Credential', 'Signature', 'SignedHeaders', 'Date')),
    ('no Credential', None, parts(Credential=None), lacks('Credential')),
    ('no Signature', None, parts(Signature=None), lacks('Signature')),
    ('no SignedHeaders', None, parts(SignedHeaders=None), lacks('SignedHeaders')),
    ('no date', None, drop('X-Amz-Date'), lacks('Date')),
    ('Credential alone', None, parts(Signature=None, SignedHeaders=None), lacks('Signature', 'SignedHeaders')),
    ('Signature alone', None, parts(Credential=None, SignedHeaders=None), lacks('Credential', 'SignedHeaders')),
    ('SignedHeaders alone', None, parts(Credential=None, Signature=None), lacks('Credential', 'Signature')),
    ('an empty Credential', None, parts(Credential=''), lacks('Credential')),
    ('an empty Signature', None, parts(Signature=''), lacks('Signature')),
    ('empty SignedHeaders', None, parts(SignedHeaders=''), lacks('SignedHeaders')),
    ('no Credential and no date', None, steps(parts(Credential=None), drop('X-Amz-Date')), lacks('Credential', 'Date')),
    ('credential in small letters', None, raw(lambda r: r.get('Authorization').replace('Credential=', 'credential=')), lacks('Credential')),
    ('SIGNATURE in large letters', None, raw(lambda r: r.get('Authorization').replace('Signature=', 'SIGNATURE=')), lacks('Signature')),
    ('signedheaders in small letters', None, raw(lambda r: r.get('Authorization').replace('SignedHeaders=', 'signedheaders=')), lacks('SignedHeaders')),
    ('a blank behind Credential=', None, raw(lambda r: r.get('Authorization').replace('Credential=', 'Credential= ')), lambda r: pair(f'{r.key}/{r.scope()}')(r)),
    ('a word without an equal sign', None, raw('AWS4-HMAC-SHA256 Credential'), pair('Credential')),
    ('a colon for the equal sign', None, raw(lambda r: r.get('Authorization').replace('Signature=', 'Signature:')), lambda r: pair(f'Signature:{r.signature()}')(r)),
    # ---- The date ---------------------------------------------------------------------------------
    ('a date with dashes', None, header('X-Amz-Date', '2026-11-18T00:00:00Z'), incomplete(
        "Date must be in ISO-8601 'basic format'. Got '2026-11-18T00:00:00Z'. See http://en.wikipedia.org/wiki/ISO_8601")),
    ('a day alone', None, header('X-Amz-Date', '20261118'), incomplete("Date must be in ISO-8601 'basic format'. Got '20261118'. See http://en.wikipedia.org/wiki/ISO_8601")),
    ('seconds since 1970', None, header('X-Amz-Date', '1763424000'), incomplete("Date must be in ISO-8601 'basic format'. Got '1763424000'. See http://en.wikipedia.org/wiki/ISO_8601")),
    ('the 31st of February', None, header('X-Amz-Date', '20260231T000000Z'), incomplete(
        "Date must be in ISO-8601 'basic format'. Got '20260231T000000Z'. See http://en.wikipedia.org/wiki/ISO_8601")),
    ('a date without its Z', None, lambda r: r.set('X-Amz-Date', r.date[:-1]), lambda r: incomplete(
        f"Date must be in ISO-8601 'basic format'. Got '{r.date[:-1]}'. See http://en.wikipedia.org/wiki/ISO_8601")),
    ('a date of HTTP without a form', None, steps(drop('X-Amz-Date'), header('Date', 'yesterday')), incomplete(
        "Date must be in ISO-8601 'basic format'. Got 'yesterday'. See http://en.wikipedia.org/wiki/ISO_8601")),
    # ---- Signed headers ---------------------------------------------------------------------------
    ('Host not signed', lambda r: put(signed=[n for n in r.names() if n != 'host'] or ['x-amz-date'])(r), None, invalid(UNSIGNED.format("'Host' or ':authority'"))),
    ('no header signed that is there', put(signed=['x-none']), None, invalid(UNSIGNED.format("'Host' or ':authority'"))),
    # ---- The algorithm ----------------------------------------------------------------------------
    *[(f'algorithm {name}', None, raw((lambda n: lambda r: r.get('Authorization').replace('AWS4-HMAC-SHA256', n))(name)),
       incomplete(f"Unsupported AWS 'algorithm': '{name}' (only AWS4-HMAC-SHA256 for now). "))
      for name in ('AWS4-HMAC-SHA1', 'AWS4-HMAC-SHA512', 'AWS4-HMAC-SHA2566', 'AWS4-ECDSA-P256-SHA256', 'AWS4-')],
    # ---- The scope --------------------------------------------------------------------------------
    *[(f'a credential of {len(text.split("/"))} parts: {text}', None, parts(Credential=text), incomplete(ELEMENTS.format(text)))
      for text in ('AKID', 'AKID/20261118', 'AKID/20261118/us-east-1', 'AKID/20261118/us-east-1/dynamodb', 'AKID/20261118/us-east-1/dynamodb/aws4_request/more')],
    ('a key with a slash', None, lambda r: r.authorize(Credential=f'a/{r.key}/{r.scope()}'), lambda r: incomplete(ELEMENTS.format(f'a/{r.key}/{r.scope()}'))),
    ('slashes alone', None, parts(Credential='////'), incomplete(ELEMENTS.format('////'))),
    ('another day', lambda r: put(day='20200101')(r), None, lambda r: invalid(
        f"Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20200101' != '{r.date[:8]}', from '{r.date}'.")),
    ('no day', None, lambda r: r.authorize(Credential=f'{r.key}//us-east-1/{r.service}/aws4_request'), lambda r: invalid(
        f"Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '' != '{r.date[:8]}', from '{r.date}'.")),
    ('no region', put(region=''), None, invalid("Credential should be scoped to a valid region, not ''. ")),
    ('another region', put(region='eu-west-1'), None, invalid("Credential should be scoped to a valid region, not 'eu-west-1'. ")),
    ("the region's beginning", put(region='us-east'), None, invalid("Credential should be scoped to a valid region, not 'us-east'. ")),
    ('the region and more', put(region='us-east-11'), None, invalid("Credential should be scoped to a valid region, not 'us-east-11'. ")),
    ('the region in large letters', put(region='US-EAST-1'), None, invalid("Credential should be scoped to a valid region, not 'US-EAST-1'. ")),
    ('a region with a quote', put(region="us'east"), None, invalid("Credential should be scoped to a valid region, not 'us'east'. ")),
    ('a region of 64 letters', put(region='r' * 64), None, invalid(f"Credential should be scoped to a valid region, not '{'r' * 64}'. ")),
    ('another service', put(service='sqs'), None, lambda r: invalid(f"Credential should be scoped to correct service: '{r.meant}'. ")),
    ('the service in large letters', put(service='DYNAMODB'), None, lambda r: invalid(f"Credential should be scoped to correct service: '{r.meant}'. ")),
    ('s3', put(service='s3'), None, lambda r: invalid(f"Credential should be scoped to correct service: '{r.meant}'. ")),
    ('another terminator', put(terminal='aws5_request'), None, invalid("Credential should be scoped with a valid terminator: 'aws4_request', not 'aws5_request'. ")),
    ('the terminator in large letters', put(terminal='AWS4_REQUEST'), None, invalid("Credential should be scoped with a valid terminator: 'aws4_request', not 'AWS4_REQUEST'. ")),
    ('all of the scope', put(day='20200101', region='*', service='none', terminal='end'), None, lambda r: invalid(
        f"Credential should be scoped to a valid region, not '*'. Credential should be scoped to correct service: '{r.meant}'. Credential should be scoped with a valid "
        "terminator: 'aws4_request', not 'end'. Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20200101' != "
        f"'{r.date[:8]}', from '{r.date}'.")),
    # ---- The key ----------------------------------------------------------------------------------
    ('a key that nobody has', put(key='AKIANOBODYHASTHISKEY'), None, unrecognized(INVALID_TOKEN + '.')),
    ('a key in small letters', lambda r: put(key=r.key.lower())(r), None, unrecognized(INVALID_TOKEN + '.')),
    ('a key that is longer', lambda r: put(key=r.key + 'A')(r), None, unrecognized(INVALID_TOKEN + '.')),
    ('a key that is shorter', lambda r: put(key=r.key[:-1])(r), None, unrecognized(INVALID_TOKEN + '.')),
    ('a key that nobody has, and a wrong signature', put(key='AKIANOBODYHASTHISKEY'), parts(Signature='0' * 64), unrecognized(INVALID_TOKEN + '.')),
    ('a token that is none', put(token=FOREIGN_TOKEN), None, unrecognized(INVALID_TOKEN)),
    # ---- The signature ----------------------------------------------------------------------------
    ('another secret', put(secret='another'), None, mismatch),
    ('the secret with a blank', lambda r: put(secret=r.secret + ' ')(r), None, mismatch),
    ('no secret', put(secret=''), None, mismatch),
    ('a digit of the signature, first', None, lambda r: r.authorize(Signature=shift(r.signature())), mismatch),
    ('a digit of the signature, last', None, lambda r: r.authorize(Signature=shift(r.signature(), 63)), mismatch),
    ('a signature that is shorter', None, lambda r: r.authorize(Signature=r.signature()[:-1]), mismatch),
    ('a signature that is longer', None, lambda r: r.authorize(Signature=r.signature() + '0'), mismatch),
    ('a signature in large letters', None, lambda r: r.authorize(Signature=r.signature().upper() + ''), mismatch),
    ('a signature of zeros', None, parts(Signature='0' * 64), mismatch),
    ('a parameter more', None, lambda r: r.query.append(('a', 'b')), mismatch),
    ('Host changed', None, lambda r: r.set('Host', r.get('Host').replace('127.0.0.1', 'localhost')), mismatch),
    ('a date a second later', None, lambda r: (put(date=stamp(-1))(r), r.set('X-Amz-Date', r.date)), mismatch),
    ('the date twice', None, lambda r: r.headers.append(['X-Amz-Date', r.date]), mismatch),
    ('a header that is signed but not there', put(signed=None), lambda r: (put(signed=[*r.names(), 'x-none'])(r), r.authorize(Signature='0' * 64)), mismatch),
    ('unsigned payload', put(payload='UNSIGNED-PAYLOAD'), lambda r: put(payload=None)(r), mismatch),
    ('chunks', put(payload='STREAMING-AWS4-HMAC-SHA256-PAYLOAD'), lambda r: put(payload=None)(r), mismatch),
    # ---- In the query -----------------------------------------------------------------------------
    ('query: the algorithm alone', None, steps(drop('Authorization'), lambda r: r.query.append(('X-Amz-Algorithm', 'AWS4-HMAC-SHA256'))),
     query_lacks('X-Amz-Credential', 'X-Amz-Signature', 'X-Amz-SignedHeaders', 'X-Amz-Date')),
    *[(f'query: no {name}', PRE, without_query(name), query_lacks(name)) for name in ('X-Amz-Credential', 'X-Amz-Signature', 'X-Amz-SignedHeaders', 'X-Amz-Date')],
    *[(f'query: {name} empty', PRE, at_query(name, lambda v: ''), query_lacks(name))
      for name in ('X-Amz-Algorithm', 'X-Amz-Credential', 'X-Amz-Signature', 'X-Amz-SignedHeaders', 'X-Amz-Date')],
    ('query: no algorithm', PRE, without_query('X-Amz-Algorithm'), ('MissingAuthenticationTokenException', MISSING)),
    ('query: the names in small letters', PRE, lambda r: put(query=[(k.lower(), v) for k, v in r.query])(r), ('MissingAuthenticationTokenException', MISSING)),
    ('query: a header, too', PRE, raw('AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c'), invalid(
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.")),
    ('query: another algorithm', PRE, at_query('X-Amz-Algorithm', lambda v: 'AWS4-HMAC-SHA1'), incomplete("Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA1' (only AWS4-HMAC-SHA256 for now). ")),
    ('query: a date without a form', PRE, at_query('X-Amz-Date', lambda v: 'now'), incomplete("Date must be in ISO-8601 'basic format'. Got 'now'. See http://en.wikipedia.org/wiki/ISO_8601")),
    ('query: for longer than a week', steps(PRE, put(expires='604801')), None, incomplete("X-Amz-Expires must be a number of seconds from 1 to 604800, not '604801'.")),
    ('query: for no time', steps(PRE, put(expires='0')), None, incomplete("X-Amz-Expires must be a number of seconds from 1 to 604800, not '0'.")),
    ('query: for less than no time', steps(PRE, put(expires='-1')), None, incomplete("X-Amz-Expires must be a number of seconds from 1 to 604800, not '-1'.")),
    ('query: for a while', steps(PRE, put(expires='soon')), None, incomplete("X-Amz-Expires must be a number of seconds from 1 to 604800, not 'soon'.")),
    ('query: for a number of 20 digits', steps(PRE, put(expires='9' * 20)), None, incomplete(f"X-Amz-Expires must be a number of seconds from 1 to 604800, not '{'9' * 20}'.")),
    ('query: longer than it was signed', PRE, at_query('X-Amz-Expires', lambda v: '301'), mismatch),
    ('query: Host not signed', steps(PRE, put(signed=['x-none'])), None, invalid(UNSIGNED.format("'Host' or ':authority'"))),
    ('query: a credential of four parts', PRE, at_query('X-Amz-Credential', lambda v: v.rsplit('/', 1)[0]), lambda r: incomplete(ELEMENTS.format(f'{r.key}/{r.scope()}'.rsplit('/', 1)[0]))),
    ('query: another region', steps(PRE, put(region='eu-west-1')), None, invalid("Credential should be scoped to a valid region, not 'eu-west-1'. ")),
    ('query: another service', steps(PRE, put(service='sqs')), None, lambda r: invalid(f"Credential should be scoped to correct service: '{r.meant}'. ")),
    ('query: a key that nobody has', steps(PRE, put(key='AKIANOBODYHASTHISKEY')), None, unrecognized(INVALID_TOKEN + '.')),
    ('query: another secret', steps(PRE, put(secret='another')), None, mismatch),
    ('query: a digit of the signature', PRE, at_query('X-Amz-Signature', shift), mismatch),
    ('query: a parameter more', PRE, lambda r: r.query.append(('a', 'b')), mismatch),
    ('query: a token that is none', steps(PRE, put(token=FOREIGN_TOKEN)), None, unrecognized(INVALID_TOKEN)),
]
# Rows for `/` alone: they need a body, or a target.
POSTS = [
    ('the target not signed', unsign('x-amz-target'), None, invalid(UNSIGNED.format("'X-Amz-Target'"))),
    ('query: the target not signed', steps(PRE, unsign('x-amz-target')), None, invalid(UNSIGNED.format("'X-Amz-Target'"))),
    ('the body changed', None, lambda r: put(body=r.body.replace(b'Orders', b'Others'))(r), mismatch),
    ('the body longer by a blank', None, lambda r: put(body=r.body + b' ')(r), mismatch),
    ('no body', None, put(body=b''), mismatch),
    ('query: the body changed', PRE, lambda r: put(body=r.body.replace(b'Orders', b'Others'))(r), mismatch),
    ('query: an unsigned payload', steps(PRE, put(payload='UNSIGNED-PAYLOAD')), put(payload=None), mismatch),
    ('the target changed', None, header('X-Amz-Target', 'DynamoDB_20120810.Scan'), mismatch),
    ('the target twice', None, add('X-Amz-Target', 'DynamoDB_20120810.Scan'), mismatch),
    ('the type changed', None, header('Content-Type', 'application/x-amz-json-1.1'), mismatch),
    ('X-Amz-Content-Sha256 of another body', lambda r: (r.set('X-Amz-Content-Sha256', '0' * 64), put(payload='0' * 64)(r)), put(payload=None), mismatch),
    ('X-Amz-Content-Sha256: UNSIGNED-PAYLOAD', lambda r: (r.set('X-Amz-Content-Sha256', 'UNSIGNED-PAYLOAD'), put(payload='UNSIGNED-PAYLOAD')(r)), put(payload=None), mismatch),
    ('X-Amz-Content-Sha256 changed', lambda r: r.set('X-Amz-Content-Sha256', '1' * 64), header('X-Amz-Content-Sha256', '2' * 64), mismatch),
]
# Rows that every other path is asked with, too.
COMMON = {'no Authorization', 'no Signature', 'no date', 'a date with dashes', 'Host not signed', 'algorithm AWS4-HMAC-SHA1', 'another day', 'another service', 'another terminator',
          'a key that nobody has', 'a token that is none', 'another secret', 'query: for longer than a week', 'query: a header, too', 'query: a digit of the signature',
          'query: a parameter more'}

REGIONS = {'another region', 'query: another region'}


def dynamo(kind, text):
    return 400, CORAL + kind, text


def times(request, seconds, sign):
    """The sentences that may come: the server's clock is that of a few seconds."""
    now = time.time()
    texts = []
    for second in range(-1, 4):
        at, edge = stamp(second, now), stamp(second + sign * seconds, now)
        unit = f'{seconds // 60} min' if seconds % 60 == 0 else f'{seconds} sec'
        texts.append(f'Signature expired: {request.date} is now earlier than {edge} ({at} - {unit}.)' if sign < 0 else
                     f'Signature not yet current: {request.date} is still later than {edge} ({at} + {unit}.)')
    return texts


class AnyOf:
    """Equal to one of several answers."""

    def __init__(self, answers):
        self.answers = answers

    def __eq__(self, other):
        return other in self.answers

    def __repr__(self):
        return f'one of {self.answers}'


def row_case(name, base, before, after, expected, form):
    def make():
        request = base()
        request.meant = request.service
        if before:
            before(request)
        request.sign()
        if after:
            after(request)
        return request
    return name, make, lambda r: form(*(expected(r) if callable(expected) else expected))


def cases(place):
    get = lambda: place.call(place.root, 'GetItem', {'TableName': 'Orders', 'Key': {'pk': {'S': 'a'}}})
    place.must(get())
    yield from (row_case('/: ' + row[0], get, *row[1:], dynamo) for row in ROWS + POSTS)
    yield from dates(place, get)
    yield from tokens(place)
    yield from others(place)
    yield from packed(place)


def packed(place):
    """Compressed bodies are signed as they come, and not unpacked before that is found right: what is no gzip at all is refused for its signature."""
    def ask(key, body, signed=None, path='/'):
        request = place.call(key, 'ListTables', {})
        request.path, request.body = path, signed or body
        request.set('Content-Encoding', 'gzip')
        if path != '/':
            request.drop('X-Amz-Target')
        request.sign()
        request.body = body
        return request
    stranger, plain, broken = ('AKIDNOBODY', 'x'), b'{"Limit": 5}', b'no gzip at all'
    answer = place.must(ask(place.root, gzip.compress(plain)))
    if 'TableNames' not in answer:
        raise RuntimeError(answer)
    yield '/: gzip, signed unpacked', lambda: ask(place.root, gzip.compress(plain, mtime=0), plain), lambda r: dynamo(*mismatch(r))
    yield '/: no gzip, of a stranger', lambda: ask(stranger, broken), dynamo('UnrecognizedClientException', INVALID_TOKEN + '.')
    yield '/: no gzip, well signed', lambda: ask(place.root, broken), (400, CORAL + 'SerializationException', 'The request body is not valid gzip.')
    yield '/: a bomb, well signed', lambda: ask(place.root, gzip.compress(b' ' * (64 << 20))), (413, CORAL + 'SerializationException', 'The request body is too large.')
    for path in ('/v1/Orders', '/metrics', '/admin/clock'):
        yield path + ': no gzip, of a stranger', lambda path=path: ask(stranger, broken, path=path), lambda r: (403, AnyKind(), INVALID_TOKEN + '.')
    yield '/health: no gzip, which is no page for POST', lambda: ask(stranger, broken, path='/health'), (404, '', '')

    def form():
        request = ask(place.root, gzip.compress(b'Action=ListMetrics&Version=2010-08-01'))
        request.drop('X-Amz-Target')
        request.set('Content-Type', 'application/x-www-form-urlencoded')
        return request
    yield '/: a form in gzip', form, (415, 'text/plain', 'Forms cannot be compressed.')


class AnyKind:
    def __eq__(self, other):
        return True


def dates(place, get):
    """Clocks that are ahead or behind, presigned requests whose time is over."""
    for name, offset, sign, span, more in [
            ('16 minutes ago', -960, -1, 900, None), ('15 minutes and some seconds ago', -905, -1, 900, None), ('a year ago', -31536000, -1, 900, None),
            ('in 16 minutes', 960, 1, 900, None), ('in a year', 31536000, 1, 900, None), ('of 1970', None, -1, 900, None),
            ('query: expired', -310, -1, 300, '300'), ('query: expired after a second', -30, -1, 1, '1'), ('query: a week and more ago', -604900, -1, 604800, '604800'),
            ('query: in 16 minutes', 960, 1, 900, '300'), ('query: without an end, 16 minutes ago', -960, -1, 900, '')]:
        def make(offset=offset, more=more):
            request = get()
            request.date = '19700101T000000Z' if offset is None else stamp(offset)
            request.presigned, request.expires = more is not None, more or None
            request.sign()
            return request
        yield '/: ' + name, make, lambda r, sign=sign, span=span: AnyOf([dynamo('InvalidSignatureException', text) for text in times(r, span, sign)])


def tokens(place):
    """Credentials for a while."""
    user, other = place.user('tom'), place.user('tess')
    session, second = (place.session(key, 'Action=GetSessionToken&Version=2011-06-15') for key in (user, other))
    ended = place.user('ended')
    gone = place.session(ended, 'Action=GetSessionToken&Version=2011-06-15')
    place.do('DeleteAccessKey', UserName='ended', AccessKeyId=ended[0])
    place.do('DeleteUser', UserName='ended')
    inactive = place.user('idle')
    place.do('UpdateAccessKey', UserName='idle', AccessKeyId=inactive[0], Status='Inactive')
    for name, key, text in [
            ('a session without its token', session[:2], INVALID_TOKEN + '.'), ("a session with another's token", (*session[:2], second[2]), INVALID_TOKEN + '.'),
            ('a token that was cut', (*session[:2], session[2][:-4]), INVALID_TOKEN + '.'), ('a token with a letter changed', (*session[:2], shift(session[2], 30)), INVALID_TOKEN + '.'),
            ("a key of one's own with a token", (*user, session[2]), INVALID_TOKEN), ('a session of a user who is gone', gone, INVALID_TOKEN + '.'),
            ('a key that was deleted', ended, INVALID_TOKEN + '.'), ('a key that is not active', inactive, INVALID_TOKEN + '.')]:
        def make(key=key):
            request = place.call(key, 'ListTables', {})
            request.sign()
            return request
        yield '/: ' + name, make, dynamo('UnrecognizedClientException', text)
    for name in ('', 'query: '):
        def late(presigned=bool(name)):
            place.must(place.request(place.root, 'POST', '/admin/clock', body=json.dumps({'advance_seconds': 50000}).encode()))
            request = place.call(session, 'ListTables', {})
            request.presigned = presigned
            request.sign()
            return request
        yield f'/: {name}a session whose time is over', late, dynamo('ExpiredTokenException', EXPIRED_TOKEN)
    yield '/: the clock is set back', lambda: reset(place), dynamo('MissingAuthenticationTokenException', MISSING)


def reset(place):
    place.must(place.request(place.root, 'POST', '/admin/clock', body=b'{"reset": true}'))
    return place.request(place.root, 'POST', '/', [('X-Amz-Target', 'DynamoDB_20120810.ListTables'), ('Content-Type', 'application/x-amz-json-1.0')], b'{}')


def others(place):
    """The other paths: the same sentences, in the form of each."""
    form_body = b'Action=GetCallerIdentity&Version=2011-06-15'
    sts_names = {'MissingAuthenticationTokenException': (403, 'MissingAuthenticationToken'), 'IncompleteSignatureException': (400, 'IncompleteSignature'),
                 'InvalidSignatureException': (403, 'SignatureDoesNotMatch'), 'UnrecognizedClientException': (403, 'InvalidClientTokenId')}
    paths = {
        '/v1': (lambda: place.request(place.root, 'GET', '/v1'), lambda kind, text: (403, 'application/problem+json', text)),
        '/metrics': (lambda: place.request(place.root, 'GET', '/metrics'), lambda kind, text: (403, 'text/plain', text)),
        '/admin': (lambda: place.request(place.root, 'POST', '/admin/clock', body=b'{"reset": true}'), lambda kind, text: (403, 'text/plain', text)),
        'sts': (lambda: place.request(place.root, 'POST', '/', [('Content-Type', 'application/x-www-form-urlencoded')], form_body, service='sts'),
                lambda kind, text: (*sts_names[kind], text)),
    }
    for name, (base, form) in paths.items():
        place.must(base())
        wanted = COMMON if name == 'sts' else COMMON | REGIONS  # STS is asked with those of its clients
        yield from (row_case(f'{name}: {row[0]}', base, *row[1:], form) for row in ROWS if row[0] in wanted)
