"""A client that is bound to a tenant, or not."""
import http.client
import json
from urllib.parse import urlsplit

from dolmen import AUTHORIZATION

TENANT_HEADER = ('--tenant-header', 'X-Tenant')
STREAMS = 'DynamoDBStreams_20120810.'


def S(text):
    return {'S': text}


def key(pk, sk):
    return {'PK': S(pk), 'SK': S(sk)}


class Client:
    """One keep-alive connection."""

    def __init__(self, endpoint, tenant=None):
        self.endpoint = endpoint
        parts = urlsplit(endpoint)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        self.tenant = tenant

    @staticmethod
    def other(client, tenant):
        """The same server for another tenant."""
        return Client(client.endpoint, tenant)

    def send(self, method, path, body, headers):
        """Status, headers and body; the headers may repeat."""
        self.connection.putrequest(method, path)
        if self.tenant is not None:
            self.connection.putheader('X-Tenant', self.tenant.encode())
        for name, value in headers:
            self.connection.putheader(name, value)
        self.connection.putheader('Content-Length', str(len(body)))
        self.connection.endheaders(body)
        response = self.connection.getresponse()
        return response.status, response.headers, response.read()

    def raw(self, operation, request, headers=(), service='DynamoDB_20120810.'):
        status, _, body = self.send('POST', '/', json.dumps(request).encode(), [
            ('X-Amz-Target', service + operation), ('Content-Type', 'application/x-amz-json-1.0'),
            ('X-Amz-Date', '20260101T000000Z'), ('Authorization', AUTHORIZATION), *headers])
        return status, json.loads(body)

    def call(self, operation, request):
        return self.raw(operation, request)

    def stream(self, operation, request):
        return self.raw(operation, request, service=STREAMS)[1]

    def get(self, path):
        return self.send('GET', path, b'', [])
