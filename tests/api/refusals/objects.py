"""Objects: S3's codes and sentences. Many more kinds of bad signatures, without their words, are in tests/api/objects."""
from signatures import FOREIGN_TOKEN, add, at_query, drop, header, parts, put, raw, row_case, shift, steps, unsign, without_query
from wire import sha, stamp

DENIED = 403, 'AccessDenied', 'Access Denied'
THREE = (400, 'AuthorizationHeaderMalformed', 'The authorization header is malformed; the authorization header requires three components: Credential, SignedHeaders, and Signature.')
SIX = (400, 'AuthorizationQueryParametersError', 'Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, '
       'X-Amz-SignedHeaders, and X-Amz-Expires parameters.')
MISMATCH = 403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match the signature you provided. Check your key and signing method.'
UNSIGNED = 403, 'AccessDenied', 'There were headers present in the request which were not signed'
SKEWED = 403, 'RequestTimeTooSkewed', 'The difference between the request time and the current time is too large.'
NO_KEY = 403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.'
NO_DATE = 403, 'AccessDenied', 'AWS authentication requires a valid Date or x-amz-date header'
CHUNKS = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'
PAYLOADS = (400, 'InvalidArgument', 'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, '
            'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER or a valid sha256 value.')


def malformed(text):
    return 400, 'AuthorizationHeaderMalformed', 'The authorization header is malformed; ' + text


def query_error(text):
    return 400, 'AuthorizationQueryParametersError', text


def hashed(text):
    """Signed with what the header says."""
    return lambda r: (r.set('X-Amz-Content-Sha256', text), put(payload=text)(r))


def chunks(body):
    return steps(put(body=body), hashed(CHUNKS), header('x-amz-decoded-content-length', '4'))


def presigned(**more):
    return steps(drop('X-Amz-Content-Sha256'), put(presigned=True, payload='UNSIGNED-PAYLOAD', **more))


ROWS = [
    ('no Authorization', None, drop('Authorization'), DENIED),
    ('Basic', None, raw('Basic dXNlcjpwYXNz'), (400, 'InvalidArgument', 'Unsupported Authorization Type')),
    ('version 2', None, raw('AWS AKID:c2ln'), (400, 'InvalidRequest', 'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.')),
    ('no Credential', None, parts(Credential=None), THREE), ('no Signature', None, parts(Signature=None), THREE), ('no SignedHeaders', None, parts(SignedHeaders=None), THREE),
    ('a credential of four parts', None, lambda r: r.authorize(Credential=f'{r.key}/{r.scope()}'.rsplit('/', 1)[0]),
     malformed('the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".')),
    ('another terminator', put(terminal='aws5_request'), None, malformed('incorrect terminal "aws5_request". This endpoint uses "aws4_request".')),
    ('another day', put(day='20200101'), None, lambda r: malformed(f'Invalid credential date "20200101". This date is not the same as X-Amz-Date: "{r.date[:8]}".')),
    ('no date', None, drop('X-Amz-Date'), NO_DATE), ('a date without a form', None, header('X-Amz-Date', 'now'), NO_DATE),
    ('the 31st of February', None, header('X-Amz-Date', '20260231T000000Z'), NO_DATE),
    ('16 minutes ago', lambda r: put(date=stamp(-960))(r), None, SKEWED), ('in 16 minutes', lambda r: put(date=stamp(960))(r), None, SKEWED),
    ('Host not signed', unsign('host'), None, UNSIGNED), ('an x-amz- header not signed', None, add('x-amz-acl', 'private'), UNSIGNED),
    ('no hash', None, drop('X-Amz-Content-Sha256'), (400, 'InvalidRequest', 'Missing required header for this request: x-amz-content-sha256')),
    ('a hash that is none', hashed('abc'), None, PAYLOADS),
    ('the hash of another body', hashed(sha(b'other')), None, (400, 'XAmzContentSHA256Mismatch', "The provided 'x-amz-content-sha256' header does not match what was computed.")),
    ('a key that nobody has', put(key='AKIANOBODYHASTHISKEY'), None, NO_KEY), ('another secret', put(secret='another'), None, MISMATCH),
    ('a digit of the signature', None, lambda r: r.authorize(Signature=shift(r.signature())), MISMATCH), ('another path', None, lambda r: put(path=r.path + 'x')(r), MISMATCH),
    ('a parameter more', None, lambda r: r.query.append(('a', 'b')), MISMATCH), ('another method', None, put(method='DELETE'), MISMATCH),
    ('a token that is none', put(token=FOREIGN_TOKEN), None, (400, 'InvalidToken', 'The provided token is malformed or otherwise invalid.')),
    ('chunks without their length', hashed(CHUNKS), None, (411, 'MissingContentLength', 'You must provide the Content-Length HTTP header.')),
    ('chunks that end in the first line', chunks(b'this body is not in chunks at all'), None, (
        400, 'IncompleteBody', 'You did not provide the number of bytes specified by the Content-Length HTTP header')),
    ('chunks that are none', chunks(b'this body\r\nis not in chunks\r\n'), None, (400, 'InvalidRequest', 'The body is not a well-formed aws-chunked stream.')),
    ('a chunk with another signature', chunks(b'4;chunk-signature=' + b'0' * 64 + b'\r\nbody\r\n'), None, (
        403, 'SignatureDoesNotMatch', 'The chunk signature we calculated does not match the signature you provided.')),
    ('query: no Signature', presigned(), without_query('X-Amz-Signature'), SIX), ('query: no Expires', presigned(), without_query('X-Amz-Expires'), SIX),
    ('query: another algorithm', presigned(), at_query('X-Amz-Algorithm', lambda v: 'AWS4-HMAC-SHA1'),
     query_error('X-Amz-Algorithm only supports "AWS4-HMAC-SHA256 and AWS4-ECDSA-P256-SHA256"')),
    ('query: a date without a form', presigned(), at_query('X-Amz-Date', lambda v: 'now'), query_error('X-Amz-Date must be in the ISO8601 Long Format "yyyyMMdd\'T\'HHmmss\'Z\'"')),
    ('query: for longer than a week', presigned(expires='604801'), None, query_error(
        'X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds')),
    ('query: for less than no time', presigned(expires='-1'), None, query_error('X-Amz-Expires must be non-negative')),
    ('query: for a while', presigned(expires='soon'), None, query_error('X-Amz-Expires should be a number')),
    ('query: expired', lambda r: (presigned()(r), put(date=stamp(-310))(r)), None, (403, 'AccessDenied', 'Request has expired')),
    ('query: not yet', lambda r: (presigned()(r), put(date=stamp(1200))(r)), None, (403, 'AccessDenied', 'Request is not yet valid')),
    ('query: a header, too', presigned(), raw('AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c'), (
        400, 'InvalidArgument', 'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified')),
    ('query: another secret', presigned(secret='another'), None, MISMATCH), ('query: longer than it was signed', presigned(), at_query('X-Amz-Expires', lambda v: '301'), MISMATCH),
]


def cases(place):
    def base(key=place.root, method='PUT', path='/bucket/object', body=b'body'):
        return place.request(key, method, path, [('X-Amz-Content-Sha256', sha(body))], body, service='s3')
    place.must(base(path='/bucket', body=b''))
    place.must(base())
    form = lambda *answer: answer
    yield from (row_case('objects: ' + row[0], base, *row[1:], form) for row in ROWS)
    nobody = place.user('stranger')

    def refused(method, path):
        def make():
            request = base(nobody, method, path, b'')
            request.sign()
            return request
        return make
    for method, path in [('GET', '/bucket/object'), ('PUT', '/bucket/more'), ('DELETE', '/bucket/object'), ('GET', '/bucket'), ('GET', '/nowhere/object')]:
        yield f'objects: nothing allowed: {method} {path}', refused(method, path), DENIED
