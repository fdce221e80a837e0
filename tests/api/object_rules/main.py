"""The rule `object`: links beside attributes, uploads that are bound to type and size, objects that go with their items."""
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import boto3

from dolmen import ROOT, Api, Server
from double import KEY, REGION, SECRET, Store

MODEL = '''
table shop {
  key   PK, SK
  type  EntityType
  index byImage(imageId)
}

entity Image {
  PK = "USER#{userId}"   SK = "IMAGE#{imageId}"
  byImage = imageId
  userId     string
  imageId    string
  createdAt  timestamp = "2026-11-18T01:02:03.000Z"
  title      string?
  variants   string[]?
  files      { path: string  size: integer? }[]?
  deletedAt  timestamp?
  softdelete deletedAt
}

entity Plain {
  PK = "PLAIN#{id}"   SK = "PLAIN"
  id         string
}

object Image.original = "users/{userId}/{createdAt:yyyy/mm/dd}/{imageId}.jpg" signed 10m {
  type "image/jpeg", "image/png"  at most 1KB  on delete delete
}
object Image.teaser = "public/teaser/{imageId}.jpg" signed 1m { in "s3://other-bucket/pre" }
object Image.titled = "titles/{title}" signed 1h { type "image/*" }
object Image.variants[] = "variants/{imageId}/{each()}" signed 10m { on delete delete }
object Image.files[].path = "files/{imageId}/{each()}" signed 10m

access images(userId) = Image where PK = "USER#{userId}"
access image(userId, imageId) = one Image
access byImage(imageId) = Image via byImage
retain Image for 1s after delete then delete
'''


def until(condition, limit=20):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise AssertionError('it did not happen in time')
        time.sleep(0.01)


def http(method, url, body=None, headers=None):
    """The status, the headers and the body; bodies that are not bytes are sent as JSON."""
    sent = dict(headers or {})
    if body is not None and not isinstance(body, bytes):
        body, sent = json.dumps(body).encode(), {'Content-Type': 'application/json'} | sent
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, sent, method=method)) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def form_body(fields, file):
    lines = b''.join(f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
                     for name, value in fields.items())
    return (lines + b'--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n' + file + b'\r\n--x--\r\n',
            {'Content-Type': 'multipart/form-data; boundary=x'})


class Objects(unittest.TestCase):
    bucket = 'the-bucket'

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.store = Store()
        cls.model = os.path.join(cls.directory.name, 'm.dolmen')
        with open(cls.model, 'w', encoding='utf-8') as file:
            file.write(MODEL)
        cls.server = Server(
            os.path.join(cls.directory.name, 'data'), '--model', cls.model, '--admin', '--retain-every', '1s',
            '--s3-endpoint', cls.store.url, '--s3-bucket', cls.bucket, '--s3-region', REGION,
            environment={'AWS_ACCESS_KEY_ID': KEY, 'AWS_SECRET_ACCESS_KEY': SECRET})

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.store.close()
        cls.directory.cleanup()

    def api(self, method, path, body=None, headers=None):
        status, head, text = http(method, f'{self.server.endpoint}/v1/shop/{path}', body, headers)
        return status, json.loads(text) if text else None, head

    def create(self, image, **more):
        status, item, _ = self.api('POST', 'Image', {'userId': 'ada', 'imageId': image, **more})
        self.assertEqual(status, 201, item)
        return item

    def upload(self, image, name='original', body=None, query=''):
        return self.api('POST', f'Image/$upload/{name}?userId=ada&imageId={image}{query}', body)[:2]


class Links(Objects):
    def test_the_layout_of_the_bucket(self):
        links = self.create('i1', title='t')['$objects']
        paths = {name: urllib.parse.urlsplit(link).path for name, link in links.items()}
        self.assertEqual(paths, {'original': '/the-bucket/users/ada/2026/11/18/i1.jpg',
                                 'teaser': '/other-bucket/pre/public/teaser/i1.jpg', 'titled': '/the-bucket/titles/t'})

    def test_they_lead_to_the_object_for_as_long_as_the_rule_says(self):
        link = self.create('i2')['$objects']['original']
        self.store.objects['the-bucket', 'users/ada/2026/11/18/i2.jpg'] = (b'picture', 'image/jpeg')
        self.assertEqual(http('GET', link)[::2], (200, b'picture'))
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)
        self.assertEqual(query['X-Amz-Expires'], ['600'])
        for change in (link.replace('i2.jpg', 'i3.jpg'), link.replace('Expires=600', 'Expires=900'), link[:-1] + 'x'):
            self.assertEqual(http('GET', change)[0], 403, change)
        self.assertEqual(http('PUT', link, b'x')[0], 403)

    def test_keys_that_need_encoding(self):
        item = self.create('ü b+c&d=e%', title='a ~(b)!')
        self.store.objects['the-bucket', 'users/ada/2026/11/18/ü b+c&d=e%.jpg'] = (b'1', None)
        self.store.objects['the-bucket', 'titles/a ~(b)!'] = (b'2', None)
        self.assertEqual(http('GET', item['$objects']['original'])[::2], (200, b'1'))
        self.assertEqual(http('GET', item['$objects']['titled'])[::2], (200, b'2'))

    def test_attributes_lead_nowhere_else(self):
        for title in ('../users/eve/x', 'a/b', '..', '.'):
            self.assertNotIn('titled', self.create('t' + str(hash(title)), title=title)['$objects'], title)

    def test_lists_have_a_link_for_each_member(self):
        item = self.create('i4', variants=['small.png', 'deep/large.png', '../../x'], files=[{'path': 'a'}, {'path': 'b', 'size': 1}])
        variants, files = item['$objects']['variants'], item['$objects']['files']
        self.assertEqual([link and urllib.parse.urlsplit(link).path for link in variants],
                         ['/the-bucket/variants/i4/small.png', '/the-bucket/variants/i4/deep/large.png', None])
        self.assertEqual([urllib.parse.urlsplit(link).path for link in files],
                         ['/the-bucket/files/i4/a', '/the-bucket/files/i4/b'])

    def test_where_they_stand(self):
        self.create('i5')
        reads = ['Image?userId=ada&imageId=i5', 'image?userId=ada&imageId=i5', 'byImage?imageId=i5']
        for read in reads:
            item = self.api('GET', read)[1]
            item = item['items'][0] if 'items' in item else item
            self.assertIn('original', item['$objects'], read)
            plain = self.api('GET', read + '&objects=false')[1]
            plain = plain['items'][0] if 'items' in plain else plain
            self.assertNotIn('$objects', plain)
        results = self.api('POST', '$batch', [{'op': 'get', 'entity': 'Image', 'key': {'userId': 'ada', 'imageId': 'i5'}}])[1]
        self.assertIn('$objects', results['results'][0]['item'])
        self.api('POST', 'Plain', {'id': '1'})
        self.assertNotIn('$objects', self.api('GET', 'Plain?id=1')[1])
        stored = Api(self.server.endpoint).call('GetItem', {'TableName': 'shop', 'Key': {'PK': {'S': 'USER#ada'}, 'SK': {'S': 'IMAGE#i5'}}})
        self.assertNotIn('$objects', stored['Item'])

    def test_the_openapi_document_has_them(self):
        document = json.loads(http('GET', f'{self.server.endpoint}/v1/openapi.json')[2])
        links = document['components']['schemas']['Image']['properties']['$objects']['properties']
        self.assertEqual(sorted(links), ['files', 'original', 'teaser', 'titled', 'variants'])
        self.assertEqual((links['original']['type'], links['files']['type']), ('string', 'array'))
        self.assertIn('post', document['paths']['/v1/shop/Image/$upload/variants'])

    def test_what_was_read_can_be_written_back(self):
        item = self.create('i6')
        status, again, _ = self.api('PUT', 'Image?userId=ada&imageId=i6', item | {'title': 'new'})
        self.assertEqual((status, again['title']), (200, 'new'))
        status, again, _ = self.api('PATCH', 'Image?userId=ada&imageId=i6', {'title': 'newer', '$objects': None})
        self.assertEqual((status, again['title']), (200, 'newer'))


class Uploads(Objects):
    def test_a_put_is_bound_to_type_and_size(self):
        self.create('u1')
        status, offer = self.upload('u1', body={'type': 'image/png', 'size': 5})
        self.assertEqual((status, offer['method'], offer['key'], offer['bucket'], offer['expiresIn']),
                         (200, 'PUT', 'users/ada/2026/11/18/u1.jpg', 'the-bucket', 600))
        self.assertEqual(offer['headers'], {'content-type': 'image/png', 'content-length': '5'})
        send = {'Content-Type': 'image/png'}
        self.assertEqual(http('PUT', offer['url'], b'123456', send)[0], 403)
        self.assertEqual(http('PUT', offer['url'], b'12345', {'Content-Type': 'text/html'})[0], 403)
        self.assertEqual(http('PUT', offer['url'], b'12345', send)[0], 200)
        link = self.api('GET', 'Image?userId=ada&imageId=u1')[1]['$objects']['original']
        self.assertEqual(http('GET', link)[2], b'12345')

    def test_a_form_is_bound_to_type_and_size(self):
        self.create('u2')
        status, offer = self.upload('u2', body={'type': 'image/jpeg'}, query='&form')
        self.assertEqual((status, offer['method']), (200, 'POST'))
        self.assertEqual(http('POST', offer['url'], *form_body(offer['fields'], b'x' * 1025))[0], 403)
        self.assertEqual(http('POST', offer['url'], *form_body(offer['fields'] | {'Content-Type': 'text/html'}, b'x'))[0], 403)
        self.assertEqual(http('POST', offer['url'], *form_body(offer['fields'] | {'key': 'other'}, b'x'))[0], 403)
        self.assertEqual(http('POST', offer['url'], *form_body(offer['fields'], b'x' * 1024))[0], 204)
        self.assertEqual(len(self.store.objects['the-bucket', 'users/ada/2026/11/18/u2.jpg'][0]), 1024)

    def test_a_family_of_types(self):
        self.create('u3', title='u3')
        status, offer = self.upload('u3', 'titled', query='&form=true')
        self.assertEqual((status, 'Content-Type' in offer['fields']), (200, False))
        for kind, expected in (('image/webp', 204), ('text/html', 403)):
            body = form_body(offer['fields'] | {'Content-Type': kind}, b'x')
            self.assertEqual(http('POST', offer['url'], *body)[0], expected, kind)
        self.assertEqual(self.upload('u3', 'titled')[0], 400)
        self.assertEqual(self.upload('u3', 'titled', {'type': 'image/gif'})[0], 200)

    def test_members_of_lists(self):
        self.create('u4')
        status, offer = self.upload('u4', 'variants', {'each': 'small.png'})
        self.assertEqual((status, offer['key'], offer['headers']), (200, 'variants/u4/small.png', {}))
        self.assertEqual(http('PUT', offer['url'], b'v', {'Content-Type': 'x/y'})[0], 200)
        self.assertEqual(self.upload('u4', 'variants', {'each': '../../x'})[0], 400)

    def test_refusals(self):
        self.create('u5')
        cases = [
            ('original', {'type': 'text/html', 'size': 1}, 400, '/type: text/html is not one of image/jpeg, image/png'),
            ('original', {'size': 1}, 400, '/type: is missing: it is one of image/jpeg, image/png'),
            ('original', {'type': 'image/png'}, 400, '/size: is missing: say how many bytes will be sent, at most 1024'),
            ('original', {'type': 'image/png', 'size': 1025}, 400, '/size: 1025 bytes are more than the 1024 that are allowed'),
            ('original', {'type': 'image/png', 'size': -1}, 400,
             '/size: the body has type (text), size (bytes), and for lists each (text)'),
            ('original', {'kind': 1}, 400, '/kind: the body has type (text), size (bytes), and for lists each (text)'),
            ('original', {'type': 'image/png', 'size': 1, 'each': 'x'}, 400, '/each: original is not a list'),
            ('variants', {}, 400, '/each: is missing: which member of variants is uploaded'),
            ('titled', {'type': 'image/png'}, 400, 'This Image has no titled: a value that its path "titles/{title}" needs is '
             'missing, or has a slash in it'),
            ('other', {}, 404, 'Entity Image has no object other in its model'),
            ('original', [], 400, 'The body is not an object: {"type": …, "size": …}'),
        ]
        for name, body, status, detail in cases:
            answer = self.upload('u5', name, body)
            self.assertEqual((answer[0], answer[1]['detail']), (status, detail))
        self.assertEqual(self.upload('absent', body={'type': 'image/png', 'size': 1})[0], 404)
        self.assertEqual(self.api('GET', 'Image/$upload/original?userId=ada&imageId=u5')[0], 405)
        self.assertEqual(self.api('POST', 'Image/$upload?userId=ada&imageId=u5')[0], 404)
        self.assertEqual(self.api('POST', 'Nothing/$upload/x')[0], 404)


class Deletes(Objects):
    def put(self, key):
        self.store.objects['the-bucket', key] = (b'x', None)

    def test_an_object_goes_with_its_item_and_others_stay(self):
        self.create('d1', variants=['a', 'b', '../c'], files=[{'path': 'f'}])
        gone = ['users/ada/2026/11/18/d1.jpg', 'variants/d1/a', 'variants/d1/b']
        for key in gone + ['files/d1/f']:
            self.put(key)
        key = {'PK': {'S': 'USER#ada'}, 'SK': {'S': 'IMAGE#d1'}}
        client = Api(self.server.endpoint)
        # Softly first: the object stays. After a second the item goes for good.
        self.assertEqual(self.api('DELETE', 'Image?userId=ada&imageId=d1')[0], 204)
        self.assertIn('Item', client.call('GetItem', {'TableName': 'shop', 'Key': key}))
        until(lambda: not any(('the-bucket', one) in self.store.objects for one in gone))
        self.assertNotIn('Item', client.call('GetItem', {'TableName': 'shop', 'Key': key}))
        self.assertIn(('the-bucket', 'files/d1/f'), self.store.objects)

    def test_what_is_not_there_is_deleted_and_a_store_that_fails_is_asked_again(self):
        self.store.status = 500
        self.create('d2')
        self.create('d3')
        for image in ('d2', 'd3'):
            self.assertEqual(self.api('DELETE', f'Image?userId=ada&imageId={image}')[0], 204)
        self.put('users/ada/2026/11/18/d3.jpg')
        until(lambda: any(entry[0] == 'DELETE' and entry[2] == 500 for entry in list(self.store.log)))
        self.store.status = 0
        until(lambda: ('the-bucket', 'users/ada/2026/11/18/d3.jpg') not in self.store.objects)
        until(lambda: ('DELETE', 'users/ada/2026/11/18/d2.jpg', 404) in list(self.store.log))
        binary = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
        listed = subprocess.run([binary, 'consumers', '--endpoint', self.server.endpoint], capture_output=True, text=True, check=True)
        self.assertIn('Image.original', listed.stdout)


class OwnStore(unittest.TestCase):
    """The same with the server's own store: what it signs, it takes."""

    def test_upload_download_delete(self):
        with tempfile.TemporaryDirectory() as directory:
            model = os.path.join(directory, 'm.dolmen')
            with open(model, 'w', encoding='utf-8') as file:
                file.write(MODEL)
            options = ['--model', model, '--objects', os.path.join(directory, 'objects'), '--retain-every', '1s']
            with Server(os.path.join(directory, 'data'), *options) as server:
                url = f'{server.endpoint}/v1/shop/Image'
                item = json.loads(http('POST', url, {'userId': 'ada', 'imageId': 'ü 1', 'variants': ['a b.png']})[2])
                link = item['$objects']['original']
                self.assertTrue(link.startswith(server.endpoint + '/dolmen/users/ada/'), link)
                self.assertEqual(http('GET', link)[0], 404)
                self.assertEqual(http('GET', link[:-1] + 'x')[0], 403)
                where = '?' + urllib.parse.urlencode({'userId': 'ada', 'imageId': 'ü 1'})
                offer = json.loads(http('POST', url + '/$upload/original' + where, {'type': 'image/png', 'size': 5})[2])
                self.assertEqual(http('PUT', offer['url'], b'123456', {'Content-Type': 'image/png'})[0], 403)
                self.assertEqual(http('PUT', offer['url'], b'12345', {'Content-Type': 'image/jpeg'})[0], 403)
                self.assertEqual(http('PUT', offer['url'], b'12345', {'Content-Type': 'image/png'})[0], 200)
                self.assertEqual(http('GET', link)[::2], (200, b'12345'))
                form = json.loads(http('POST', url + '/$upload/original' + where + '&form', {'type': 'image/jpeg'})[2])
                self.assertEqual(http('POST', form['url'], *form_body(form['fields'], b'x' * 1025))[0], 400)
                self.assertEqual(http('POST', form['url'], *form_body(form['fields'] | {'key': 'x'}, b'x'))[0], 403)
                self.assertEqual(http('POST', form['url'], *form_body(form['fields'], b'x' * 1024))[0], 204)
                status, head, body = http('GET', link)
                self.assertEqual((status, head['Content-Type'], len(body)), (200, 'image/jpeg', 1024))
                self.assertEqual(http('DELETE', url + where)[0], 204)
                until(lambda: http('GET', link)[0] == 404)


class Buckets(unittest.TestCase):
    """Exports, imports and archives in s3://, which is the server's own store here."""

    def run_to_end(self, api, operation, request, describe, member):
        arn = api.call(operation, request)[member]
        arn = arn[{'ExportDescription': 'ExportArn', 'ImportTableDescription': 'ImportArn'}[member]]
        name = 'ExportArn' if 'Export' in member else 'ImportArn'
        status = lambda: api.call(describe, {name: arn})[member]
        key = 'ExportStatus' if 'Export' in member else 'ImportStatus'
        until(lambda: status()[key] != 'IN_PROGRESS')
        return status(), key

    def test_there_and_back(self):
        with tempfile.TemporaryDirectory() as directory:
            model = os.path.join(directory, 'm.dolmen')
            with open(model, 'w', encoding='utf-8') as file:
                file.write('table shop { key PK, SK }\nentity Job { PK = "JOB#{id}"  SK = "JOB"  id string  done timestamp?  text string? }\n'
                           'retain Job for 1d after done then archive\n')
            data = os.path.join(directory, 'data')
            options = ['--objects', os.path.join(directory, 'objects'), '--retain-every', '1s', '--archive', 's3://dolmen/old',
                       '--objects-key', 'env']
            keys = {'AWS_ACCESS_KEY_ID': KEY, 'AWS_SECRET_ACCESS_KEY': SECRET}
            with Server(data, *options, '--model', model, environment=keys) as server:
                api = Api(server.endpoint)
                s3 = boto3.client('s3', endpoint_url=server.endpoint, aws_access_key_id=KEY, aws_secret_access_key=SECRET,
                                  region_name='us-east-1')
                for number in range(20):
                    api.call('PutItem', {'TableName': 'shop', 'Item': {
                        'PK': {'S': f'JOB#{number}'}, 'SK': {'S': 'JOB'}, 'id': {'S': str(number)}}})
                api.call('UpdateContinuousBackups', {
                    'TableName': 'shop', 'PointInTimeRecoverySpecification': {'PointInTimeRecoveryEnabled': True}})
                table = api.call('DescribeTable', {'TableName': 'shop'})['Table']['TableArn']
                export = {'TableArn': table, 'S3Bucket': 'dolmen', 'S3Prefix': 'exports'}
                done, key = self.run_to_end(api, 'ExportTableToPointInTime', export, 'DescribeExport', 'ExportDescription')
                self.assertEqual((done[key], done.get('ItemCount')), ('COMPLETED', 20), done)
                names = [entry['Key'] for entry in s3.list_objects_v2(Bucket='dolmen', Prefix='exports/')['Contents']]
                summary = next(name for name in names if name.endswith('manifest-summary.json'))
                self.assertEqual(json.loads(s3.get_object(Bucket='dolmen', Key=summary)['Body'].read())['itemCount'], 20)
                self.assertEqual([name for name in os.listdir(os.path.join(data, 'buckets')) if name.startswith('.')], [])
                request = {'S3BucketSource': {'S3Bucket': 'dolmen', 'S3KeyPrefix': os.path.dirname(summary) + '/data'},
                           'InputFormat': 'DYNAMODB_JSON', 'InputCompressionType': 'GZIP', 'TableCreationParameters': {
                               'TableName': 'copy', 'BillingMode': 'PAY_PER_REQUEST',
                               'AttributeDefinitions': [{'AttributeName': 'PK', 'AttributeType': 'S'}, {'AttributeName': 'SK', 'AttributeType': 'S'}],
                               'KeySchema': [{'AttributeName': 'PK', 'KeyType': 'HASH'}, {'AttributeName': 'SK', 'KeyType': 'RANGE'}]}}
                done, key = self.run_to_end(api, 'ImportTable', request, 'DescribeImport', 'ImportTableDescription')
                self.assertEqual((done[key], done['ImportedItemCount']), ('COMPLETED', 20), done)
                self.assertEqual(api.call('Scan', {'TableName': 'copy', 'Select': 'COUNT'})['Count'], 20)
                done, key = self.run_to_end(api, 'ExportTableToPointInTime', export | {'S3Bucket': 'absent'}, 'DescribeExport', 'ExportDescription')
                self.assertEqual((done[key], done['FailureCode']), ('FAILED', 'S3NoSuchBucket'))
                api.call('PutItem', {'TableName': 'shop', 'Item': {
                    'PK': {'S': 'JOB#old'}, 'SK': {'S': 'JOB'}, 'id': {'S': 'old'}, 'done': {'S': '2020-01-01T00:00:00.000Z'}}})
                until(lambda: 'Item' not in api.call('GetItem', {'TableName': 'shop', 'Key': {'PK': {'S': 'JOB#old'}, 'SK': {'S': 'JOB'}}}))
                found = [entry['Key'] for entry in s3.list_objects_v2(Bucket='dolmen', Prefix='old/shop/').get('Contents', [])]
                files = [name for name in found if '/data/' in name]
                text = gzip.decompress(s3.get_object(Bucket='dolmen', Key=files[0])['Body'].read())
                self.assertIn(b'JOB#old', text)
                api.close()

    def test_a_large_file_goes_in_parts(self):
        with tempfile.TemporaryDirectory() as directory:
            options = ['--objects', os.path.join(directory, 'objects'), '--objects-key', 'env']
            with Server(os.path.join(directory, 'data'), *options,
                        environment={'AWS_ACCESS_KEY_ID': KEY, 'AWS_SECRET_ACCESS_KEY': SECRET}) as server:
                api = Api(server.endpoint)
                api.call('CreateTable', {'TableName': 'large', 'BillingMode': 'PAY_PER_REQUEST',
                                         'AttributeDefinitions': [{'AttributeName': 'k', 'AttributeType': 'S'}],
                                         'KeySchema': [{'AttributeName': 'k', 'KeyType': 'HASH'}]})
                for number in range(100):  # random text does not shrink below 18 MB
                    api.call('PutItem', {'TableName': 'large', 'Item': {'k': {'S': str(number)}, 'v': {'S': os.urandom(190000).hex()}}})
                api.call('UpdateContinuousBackups', {
                    'TableName': 'large', 'PointInTimeRecoverySpecification': {'PointInTimeRecoveryEnabled': True}})
                table = api.call('DescribeTable', {'TableName': 'large'})['Table']['TableArn']
                done, key = self.run_to_end(api, 'ExportTableToPointInTime', {'TableArn': table, 'S3Bucket': 'dolmen'},
                                            'DescribeExport', 'ExportDescription')
                self.assertEqual((done[key], done.get('ItemCount')), ('COMPLETED', 100), done)
                s3 = boto3.client('s3', endpoint_url=server.endpoint, aws_access_key_id=KEY, aws_secret_access_key=SECRET,
                                  region_name='us-east-1')
                large = [entry for entry in s3.list_objects_v2(Bucket='dolmen')['Contents'] if '/data/' in entry['Key']]
                self.assertEqual([entry['ETag'].endswith('-3"') for entry in large], [True], large)
                text = gzip.decompress(s3.get_object(Bucket='dolmen', Key=large[0]['Key'])['Body'].read())
                self.assertEqual(len(text.splitlines()), 100)
                api.close()


class Arguments(unittest.TestCase):
    """s3:// as an argument of `dolmen export` and `dolmen import`."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        keys = {'AWS_ACCESS_KEY_ID': KEY, 'AWS_SECRET_ACCESS_KEY': SECRET}
        cls.server = Server(os.path.join(cls.directory.name, 'data'), '--objects', os.path.join(cls.directory.name, 'objects'),
                            '--objects-key', 'env', environment=keys)
        cls.addClassCleanup(cls.server.stop)
        cls.scratch = os.path.join(cls.directory.name, 'tmp')
        os.mkdir(cls.scratch)
        cls.environment = {**os.environ, **keys, 'TMPDIR': cls.scratch, 'AWS_ENDPOINT_URL_S3': cls.server.endpoint}
        cls.environment.pop('AWS_ENDPOINT_URL', None)
        cls.s3 = boto3.client('s3', endpoint_url=cls.server.endpoint, aws_access_key_id=KEY, aws_secret_access_key=SECRET,
                              region_name='us-east-1')
        cls.s3.create_bucket(Bucket='backups')
        cls.api = Api(cls.server.endpoint)
        cls.addClassCleanup(cls.api.close)
        cls.table('movies')
        for number in range(30):
            cls.api.call('PutItem', {'TableName': 'movies', 'Item': {'k': {'S': f'm{number}'}, 'v': {'N': str(number)}}})

    @classmethod
    def table(cls, name):
        cls.api.call('CreateTable', {'TableName': name, 'BillingMode': 'PAY_PER_REQUEST',
                                     'AttributeDefinitions': [{'AttributeName': 'k', 'AttributeType': 'S'}],
                                     'KeySchema': [{'AttributeName': 'k', 'KeyType': 'HASH'}]})

    def dolmen(self, *arguments, code=0, **environment):
        binary = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
        result = subprocess.run([binary, *arguments, '--endpoint', self.server.endpoint], capture_output=True, text=True,
                                env={**self.environment, **environment}, timeout=120, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual(os.listdir(self.scratch), [])
        return result.stdout + result.stderr

    def names(self, prefix):
        return [entry['Key'] for entry in self.s3.list_objects_v2(Bucket='backups', Prefix=prefix).get('Contents', [])]

    def back(self, name, *arguments):
        self.table(name)
        self.assertIn('30 items imported, 0 bad records', self.dolmen('import', name, *arguments))
        items = lambda table: sorted(json.dumps(item, sort_keys=True) for item in self.api.pages('Scan', {'TableName': table}))
        self.assertEqual(items(name), items('movies'))

    def test_a_file(self):
        self.assertIn('30 items', self.dolmen('export', 'movies', 's3://backups/one/movies.jsonl', '--format', 'typed'))
        self.assertEqual(self.names('one'), ['one/movies.jsonl'])
        self.assertEqual(self.s3.get_object(Bucket='backups', Key='one/movies.jsonl')['Body'].read().count(b'\n'), 30)
        self.back('file', 's3://backups/one/movies.jsonl', '--format', 'typed')
        self.dolmen('export', 'movies', 's3://backups/top.jsonl.gz', '--format', 'typed', '--compress', 'gzip')
        self.back('top', 's3://backups/top.jsonl.gz', '--format', 'typed')

    def test_a_directory(self):
        self.dolmen('export', 'movies', 's3://backups/aws/')
        names = self.names('aws/')
        data = next(name for name in names if '/data/' in name)
        self.assertTrue(data.startswith('aws/AWSDynamoDB/'), names)
        self.assertTrue(any(name.endswith('/manifest-summary.json') for name in names), names)
        self.back('aws', 's3://backups/' + os.path.dirname(data))
        self.dolmen('export', 'movies', 's3://backups/dump', '--format', 'dynamodump')
        self.assertIn('dump/movies/schema.json', self.names('dump'))
        self.back('dumped', 's3://backups/dump/movies/', '--format', 'dynamodump')

    def test_another_store(self):
        """The option is stronger than the environment; a file has the keys."""
        keys = os.path.join(self.directory.name, 'keys')
        with open(keys, 'w', encoding='utf-8') as file:
            file.write(f'[default]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n')
        self.dolmen('export', 'movies', 's3://backups/option.jsonl', '--format', 'typed', '--s3-endpoint', self.server.endpoint,
                    '--s3-credentials', keys, '--s3-region', 'us-east-1', AWS_ENDPOINT_URL_S3='http://127.0.0.1:1',
                    AWS_ACCESS_KEY_ID='', AWS_SECRET_ACCESS_KEY='')
        self.assertEqual(self.names('option'), ['option.jsonl'])

    def test_wrong(self):
        for arguments, text in ((['export', 'movies', 's3://'], 'names no bucket'),
                                (['export', 'movies', 's3://absent/x.jsonl', '--format', 'typed'], 's3://absent/x.jsonl: '),
                                (['export', 'movies', 's3://BAD/x.jsonl'], 'is not the name of a bucket'),
                                (['export', 'movies', 's3://backups/..', '--format', 'typed'], 'cannot be the name of a file'),
                                (['import', 'movies', 's3://backups/nothing'], 'there is no object s3://backups/nothing, and none below it'),
                                (['import', 'movies', 's3://absent/x'], 's3://absent/x: ')):
            with self.subTest(arguments):
                self.assertIn(text, self.dolmen(*arguments, code=2 if 'names no' in text else 1))
        self.assertIn('s3://backups/x: ', self.dolmen('export', 'movies', 's3://backups/x', '--format', 'typed', code=1,
                                                      AWS_SECRET_ACCESS_KEY='wrong'))
        self.assertEqual(self.names('x'), [])


class Settings(unittest.TestCase):
    def test_without_a_store_there_are_no_links(self):
        with tempfile.TemporaryDirectory() as directory:
            model = os.path.join(directory, 'm.dolmen')
            with open(model, 'w', encoding='utf-8') as file:
                file.write(MODEL)
            with Server(os.path.join(directory, 'data'), '--model', model) as server:
                url = f'{server.endpoint}/v1/shop/Image'
                status, _, text = http('POST', url, {'userId': 'a', 'imageId': 'b'})
                self.assertEqual((status, '$objects' in json.loads(text)), (201, False))
                status, _, text = http('POST', url + '/$upload/original?userId=a&imageId=b')
                self.assertEqual(status, 404, text)

    def test_credentials_of_a_file(self):
        with tempfile.TemporaryDirectory() as directory:
            model, keys = os.path.join(directory, 'm.dolmen'), os.path.join(directory, 'keys')
            with open(model, 'w', encoding='utf-8') as file:
                file.write(MODEL)
            with open(keys, 'w', encoding='utf-8') as file:
                file.write(f'[other]\naws_access_key_id = no\n\n[default]\naws_access_key_id = {KEY}\n'
                           f'aws_secret_access_key={SECRET}\naws_session_token = the/token==\n')
            options = ['--model', model, '--s3-bucket', 'my-bucket', '--s3-region', 'eu-west-1', '--s3-credentials', keys]
            with Server(os.path.join(directory, 'data'), *options) as server:
                text = http('POST', f'{server.endpoint}/v1/shop/Image', {'userId': 'a', 'imageId': 'b'})[2]
                link = urllib.parse.urlsplit(json.loads(text)['$objects']['original'])
                self.assertEqual((link.scheme, link.netloc), ('https', 'my-bucket.s3.eu-west-1.amazonaws.com'))
                self.assertEqual(urllib.parse.parse_qs(link.query)['X-Amz-Security-Token'], ['the/token=='])

    def test_mistakes(self):
        for options, words in ((['--s3-endpoint', 'ftp://x'], 'the S3 endpoint "ftp://x" cannot be used'),
                               (['--s3-endpoint', 'http://x/path'], 'a scheme, a host and perhaps a port'),
                               (['--s3-bucket', 'No'], 'is not the name of a bucket'),
                               (['--s3-bucket', 'abc', '--s3-credentials', '/nothing'], 'cannot be read')):
            with tempfile.TemporaryDirectory() as directory, self.assertRaises(RuntimeError) as raised:
                Server(directory, *options, environment={'AWS_ACCESS_KEY_ID': 'a', 'AWS_SECRET_ACCESS_KEY': 'b'})
            self.assertIn(words, str(raised.exception))


if __name__ == '__main__':
    program = unittest.main(exit=False, warnings='ignore')
    failed = len(program.result.failures) + len(program.result.errors)
    print(f'{program.result.testsRun - failed} passed, {failed} failed')
    sys.exit(failed > 0)
