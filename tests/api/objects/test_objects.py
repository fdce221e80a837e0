"""Every operation with boto3: what it does, and each error it has."""
import base64
import datetime
import hashlib
import http.client
import json
import os
import time
import urllib.error
import urllib.request
import zlib

from support import PART, Store


class Buckets(Store):
    def test_life(self):
        bucket = self.bucket()
        self.assertIn(bucket, [b['Name'] for b in self.s3.list_buckets()['Buckets']])
        self.assertEqual(self.s3.head_bucket(Bucket=bucket)['ResponseMetadata']['HTTPStatusCode'], 200)
        self.assertIsNone(self.s3.get_bucket_location(Bucket=bucket)['LocationConstraint'])
        self.refused('BucketAlreadyOwnedByYou', self.s3.create_bucket, Bucket=bucket)
        self.put(bucket, 'a')
        self.refused('BucketNotEmpty', self.s3.delete_bucket, Bucket=bucket)
        self.s3.delete_object(Bucket=bucket, Key='a')
        upload = self.s3.create_multipart_upload(Bucket=bucket, Key='a')['UploadId']
        self.refused('BucketNotEmpty', self.s3.delete_bucket, Bucket=bucket)
        self.s3.abort_multipart_upload(Bucket=bucket, Key='a', UploadId=upload)
        self.s3.delete_bucket(Bucket=bucket)
        self.refused('404', self.s3.head_bucket, Bucket=bucket)
        for call in (self.s3.delete_bucket, self.s3.list_objects_v2, self.s3.get_bucket_location):
            self.refused('NoSuchBucket', call, Bucket=bucket)
        self.refused('NoSuchBucket', self.s3.put_object, Bucket=bucket, Key='a', Body=b'x')

    def test_names(self):
        for name in ('health', 'metrics', 'admin', 'UPPER', 'a..b', '-ab', 'ab-', '1.2.3.4', 'xn--abc'):
            connection = http.client.HTTPConnection(self.server.endpoint[7:])
            connection.request('PUT', '/' + name, headers=self.signed('PUT', '/' + name))
            answer = connection.getresponse()
            self.assertEqual(answer.status, 400, name)
            self.assertIn(b'<Code>InvalidBucketName</Code>', answer.read())

    def signed(self, method, path):
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials
        request = AWSRequest(method, self.server.endpoint + path)
        request.context['payload_signing_enabled'] = True
        S3SigV4Auth(Credentials(self.key, self.secret), 's3', 'us-east-1').add_auth(request)
        return dict(request.headers)

    def test_not_implemented(self):
        bucket = self.bucket()
        self.put(bucket, 'a')
        for call, more in ((self.s3.get_bucket_versioning, {}), (self.s3.get_bucket_policy, {}), (self.s3.get_bucket_acl, {}),
                           (self.s3.get_bucket_tagging, {}), (self.s3.list_object_versions, {}),
                           (self.s3.get_object_acl, {'Key': 'a'}), (self.s3.get_object_retention, {'Key': 'a'})):
            self.refused('NotImplemented', call, Bucket=bucket, **more)
        self.refused('NotImplemented', self.s3.put_object, Bucket=bucket, Key='a', Body=b'', ServerSideEncryption='AES256')
        self.refused('AccessControlListNotSupported', self.s3.put_object, Bucket=bucket, Key='a', Body=b'', ACL='public-read')
        self.refused('InvalidStorageClass', self.s3.put_object, Bucket=bucket, Key='a', Body=b'', StorageClass='GLACIER')
        self.refused('NoSuchVersion', self.s3.get_object, Bucket=bucket, Key='a', VersionId='abc')

    def test_cors(self):
        bucket = self.bucket()
        self.refused('NoSuchCORSConfiguration', self.s3.get_bucket_cors, Bucket=bucket)
        rules = [{'AllowedOrigins': ['https://*.example'], 'AllowedMethods': ['GET', 'PUT'], 'AllowedHeaders': ['x-amz-*', 'content-type'],
                  'ExposeHeaders': ['ETag'], 'MaxAgeSeconds': 60}]
        self.s3.put_bucket_cors(Bucket=bucket, CORSConfiguration={'CORSRules': rules})
        self.assertEqual(self.s3.get_bucket_cors(Bucket=bucket)['CORSRules'], rules)
        self.put(bucket, 'a', b'page')

        def ask(method, origin, **headers):
            connection = http.client.HTTPConnection(self.server.endpoint[7:])
            connection.request(method, f'/{bucket}/a', headers={'Origin': origin, **{k.replace('_', '-'): v for k, v in headers.items()}})
            answer = connection.getresponse()
            answer.read()
            return answer
        answer = ask('OPTIONS', 'https://app.example', Access_Control_Request_Method='PUT', Access_Control_Request_Headers='x-amz-date')
        self.assertEqual((answer.status, answer.headers['Access-Control-Allow-Origin'], answer.headers['Access-Control-Max-Age'],
                          answer.headers['Access-Control-Allow-Headers']), (200, 'https://app.example', '60', 'x-amz-date'))
        self.assertEqual(ask('OPTIONS', 'https://app.example', Access_Control_Request_Method='DELETE').status, 403)
        self.assertEqual(ask('OPTIONS', 'https://app.example', Access_Control_Request_Method='PUT', Access_Control_Request_Headers='x-other').status, 403)
        self.assertEqual(ask('OPTIONS', 'https://evil.test', Access_Control_Request_Method='GET').status, 403)
        self.assertEqual(ask('GET', 'https://app.example').headers['Access-Control-Expose-Headers'], 'ETag')
        self.assertEqual(ask('GET', 'https://evil.test').status, 403)  # unsigned, from a stranger's page
        url = self.s3.generate_presigned_url('get_object', {'Bucket': bucket, 'Key': 'a'})
        request = urllib.request.Request(url, headers={'Origin': 'https://evil.test'})
        with urllib.request.urlopen(request) as answer:  # signed: the page can ask, but not read
            self.assertIsNone(answer.headers['Access-Control-Allow-Origin'])
        self.refused('InvalidRequest', self.s3.put_bucket_cors, Bucket=bucket,
                     CORSConfiguration={'CORSRules': [{'AllowedOrigins': ['*'], 'AllowedMethods': ['PATCH']}]})
        self.s3.delete_bucket_cors(Bucket=bucket)
        self.refused('NoSuchCORSConfiguration', self.s3.get_bucket_cors, Bucket=bucket)


class Objects(Store):
    def test_put_get(self):
        bucket = self.bucket()
        for size in (0, 1, 8191, 8192, 100000, 3 << 20):
            body = os.urandom(size)
            etag = self.put(bucket, 'a', body)['ETag']
            self.assertEqual(etag, f'"{hashlib.md5(body).hexdigest()}"')
            answer = self.s3.get_object(Bucket=bucket, Key='a')
            self.assertEqual((answer['Body'].read(), answer['ETag'], answer['ContentLength']), (body, etag, size))
            self.assertEqual(self.s3.head_object(Bucket=bucket, Key='a')['ContentLength'], size)
        self.assertEqual(answer['ContentType'], 'binary/octet-stream')
        for size in (0, 10, 0, 0, 10):  # one behind the other on a connection, each with Expect: 100-continue
            self.put(bucket, 'a', bytes(size))
        self.refused('NoSuchKey', self.s3.get_object, Bucket=bucket, Key='b')
        self.refused('404', self.s3.head_object, Bucket=bucket, Key='b')
        self.s3.delete_object(Bucket=bucket, Key='a')
        self.s3.delete_object(Bucket=bucket, Key='a')
        self.refused('NoSuchKey', self.s3.get_object, Bucket=bucket, Key='a')

    def test_keys(self):
        bucket = self.bucket()
        keys = ['a', 'a b', 'a+b', 'ä/ö', 'a//b', '../a', './a', 'a%20b', 'a?b=c&d', "a'(b)*!", '日本', 'a/', 'x' * 1024, '\x01', '<&>"']
        for key in keys:
            self.put(bucket, key, key.encode())
        for key in keys:
            self.assertEqual(self.body(bucket, key), key.encode(), key)
        listed = [o['Key'] for o in self.s3.list_objects_v2(Bucket=bucket)['Contents']]
        self.assertEqual(listed, sorted(keys, key=str.encode))
        self.refused('KeyTooLongError', self.s3.put_object, Bucket=bucket, Key='x' * 1025, Body=b'')
        deleted = self.s3.delete_objects(Bucket=bucket, Delete={'Objects': [{'Key': k} for k in keys if k != '\x01']})['Deleted']
        self.assertEqual(len(deleted), len(keys) - 1)

    def test_metadata(self):
        bucket = self.bucket()
        stored = {'ContentType': 'text/plain; charset=utf-8', 'CacheControl': 'max-age=1', 'ContentDisposition': 'attachment; filename="a"',
                  'ContentEncoding': 'gzip', 'ContentLanguage': 'de', 'Metadata': {'one': '1', 'two': 'b c'}}
        self.put(bucket, 'a', b'hello', Expires=datetime.datetime(2030, 1, 1), **stored)
        answer = self.s3.head_object(Bucket=bucket, Key='a')
        for name, value in stored.items():
            self.assertEqual(answer[name], value)
        self.assertEqual(answer['Expires'].year, 2030)
        other = self.s3.get_object(Bucket=bucket, Key='a', ResponseContentType='a/b', ResponseCacheControl='no-store',
                                   ResponseContentDisposition='inline')
        self.assertEqual((other['ContentType'], other['CacheControl'], other['ContentDisposition']), ('a/b', 'no-store', 'inline'))
        self.refused('InvalidArgument', self.s3.get_object, Bucket=bucket, Key='a', ResponseContentType='a\r\nX-Evil: b')
        self.refused('MetadataTooLarge', self.s3.put_object, Bucket=bucket, Key='a', Body=b'', Metadata={'a': 'x' * 2048})

    def test_ranges(self):
        bucket = self.bucket()
        body = os.urandom(1000)
        self.put(bucket, 'a', body)
        for text, wanted in (('bytes=0-9', body[:10]), ('bytes=990-', body[990:]), ('bytes=-5', body[-5:]), ('bytes=-2000', body),
                             ('bytes=5-5', body[5:6]), ('bytes=900-5000', body[900:])):
            answer = self.s3.get_object(Bucket=bucket, Key='a', Range=text)
            self.assertEqual(answer['Body'].read(), wanted, text)
            self.assertEqual(answer['ResponseMetadata']['HTTPStatusCode'], 206)
        self.assertEqual(self.s3.get_object(Bucket=bucket, Key='a', Range='bytes=5-9')['ContentRange'], 'bytes 5-9/1000')
        for text in ('bytes=5-1', 'bytes=a-b', 'lines=1-2', 'bytes=1-2,5-6'):
            self.assertEqual(self.body(bucket, 'a', Range=text), body, text)
        for text in ('bytes=1000-', 'bytes=-0', 'bytes=5000-6000'):
            self.refused('InvalidRange', self.s3.get_object, Bucket=bucket, Key='a', Range=text)
        self.assertEqual(self.s3.head_object(Bucket=bucket, Key='a', Range='bytes=0-4')['ContentLength'], 5)

    def test_conditions(self):
        bucket = self.bucket()
        etag = self.put(bucket, 'a', b'1')['ETag']
        modified = self.s3.head_object(Bucket=bucket, Key='a')['LastModified']
        before, after = modified - datetime.timedelta(seconds=5), modified + datetime.timedelta(seconds=5)
        get = self.s3.get_object
        for good in ({'IfMatch': etag}, {'IfMatch': '*'}, {'IfNoneMatch': '"other"'}, {'IfModifiedSince': before}, {'IfUnmodifiedSince': after},
                     {'IfUnmodifiedSince': modified}, {'IfMatch': etag, 'IfUnmodifiedSince': before}, {'IfNoneMatch': '"x"', 'IfModifiedSince': after}):
            self.assertEqual(get(Bucket=bucket, Key='a', **good)['Body'].read(), b'1', good)
        for bad in ({'IfMatch': '"other"'}, {'IfUnmodifiedSince': before}):
            self.refused('PreconditionFailed', get, Bucket=bucket, Key='a', **bad)
        for same in ({'IfNoneMatch': etag}, {'IfModifiedSince': modified}, {'IfModifiedSince': after}):
            self.refused('304', get, Bucket=bucket, Key='a', **same)

        def write(key, body, **headers):
            def add(request, **_):
                for name, value in headers.items():
                    request.headers[name.replace('_', '-')] = value
            client = self.client()
            client.meta.events.register('before-sign.s3.PutObject', add)
            return client.put_object(Bucket=bucket, Key=key, Body=body)
        self.refused('PreconditionFailed', write, 'a', b'2', If_None_Match='*')
        write('b', b'2', If_None_Match='*')
        self.refused('PreconditionFailed', write, 'a', b'2', If_Match='"other"')
        self.refused('NoSuchKey', write, 'c', b'2', If_Match=etag)
        self.refused('NotImplemented', write, 'c', b'2', If_None_Match='"x"')
        write('a', b'3', If_Match=etag)
        self.assertEqual(self.body(bucket, 'a'), b'3')

    def test_lists(self):
        bucket = self.bucket()
        keys = [f'd{d}/f{f}' for d in range(4) for f in range(5)] + ['a', 'b', 'z']
        for key in keys:
            self.put(bucket, key)
        keys.sort()
        for version in ('list_objects_v2', 'list_objects'):
            pages = self.s3.get_paginator(version)
            for size in (1, 3, 7, 1000):
                found = [o['Key'] for p in pages.paginate(Bucket=bucket, PaginationConfig={'PageSize': size}) for o in p.get('Contents', [])]
                self.assertEqual(found, keys, (version, size))
                names = []
                for page in pages.paginate(Bucket=bucket, Delimiter='/', PaginationConfig={'PageSize': size}):
                    names += [o['Key'] for o in page.get('Contents', [])] + [c['Prefix'] for c in page.get('CommonPrefixes', [])]
                self.assertEqual(sorted(names), ['a', 'b', 'd0/', 'd1/', 'd2/', 'd3/', 'z'], (version, size))
        under = self.s3.list_objects_v2(Bucket=bucket, Prefix='d1/f')
        self.assertEqual([o['Key'] for o in under['Contents']], [f'd1/f{f}' for f in range(5)])
        self.assertEqual([o['Key'] for o in self.s3.list_objects_v2(Bucket=bucket, StartAfter='d3/f3')['Contents']], ['d3/f4', 'z'])
        page = self.s3.list_objects_v2(Bucket=bucket, MaxKeys=0)
        self.assertEqual((page['KeyCount'], page['IsTruncated']), (0, False))
        self.refused('InvalidArgument', self.s3.list_objects_v2, Bucket=bucket, ContinuationToken='!')
        self.assertEqual(self.s3.list_objects_v2(Bucket=bucket, FetchOwner=True)['Contents'][0]['Owner']['ID'], 'dolmen')

    def test_delete_many(self):
        bucket = self.bucket()
        for i in range(20):
            self.put(bucket, f'k{i}')
        answer = self.s3.delete_objects(Bucket=bucket, Delete={'Objects': [{'Key': f'k{i}'} for i in range(15)] + [{'Key': 'none'}]})
        self.assertEqual(len(answer['Deleted']), 16)
        answer = self.s3.delete_objects(Bucket=bucket, Delete={'Objects': [{'Key': 'k16'}, {'Key': 'k17', 'VersionId': 'v'}], 'Quiet': True})
        self.assertNotIn('Deleted', answer)
        self.assertEqual(answer['Errors'][0]['Code'], 'NoSuchVersion')
        self.assertEqual(self.s3.list_objects_v2(Bucket=bucket)['KeyCount'], 4)
        self.refused('MalformedXML', self.s3.delete_objects, Bucket=bucket, Delete={'Objects': [{'Key': str(i)} for i in range(1001)]})

    def test_copy(self):
        bucket, other = self.bucket(), self.bucket()
        etag = self.put(bucket, 'a b', b'hello', Metadata={'m': '1'}, ContentType='text/plain', Tagging='t=1')['ETag']
        source = {'Bucket': bucket, 'Key': 'a b'}
        self.assertEqual(self.s3.copy_object(Bucket=other, Key='c', CopySource=source)['CopyObjectResult']['ETag'], etag)
        answer = self.s3.get_object(Bucket=other, Key='c')
        self.assertEqual((answer['Body'].read(), answer['Metadata'], answer['ContentType'], self.tags(other, 'c')), (b'hello', {'m': '1'}, 'text/plain', {'t': '1'}))
        self.s3.copy_object(Bucket=other, Key='c', CopySource=source, MetadataDirective='REPLACE', Metadata={'n': '2'}, ContentType='a/b',
                            TaggingDirective='REPLACE', Tagging='u=2')
        answer = self.s3.get_object(Bucket=other, Key='c')
        self.assertEqual((answer['Metadata'], answer['ContentType'], self.tags(other, 'c')), ({'n': '2'}, 'a/b', {'u': '2'}))
        self.refused('InvalidRequest', self.s3.copy_object, Bucket=bucket, Key='a b', CopySource=source)
        self.s3.copy_object(Bucket=bucket, Key='a b', CopySource=source, MetadataDirective='REPLACE', Metadata={'own': '1'})
        self.assertEqual(self.s3.head_object(Bucket=bucket, Key='a b')['Metadata'], {'own': '1'})
        self.refused('NoSuchKey', self.s3.copy_object, Bucket=bucket, Key='x', CopySource={'Bucket': bucket, 'Key': 'none'})
        self.refused('NoSuchBucket', self.s3.copy_object, Bucket=bucket, Key='x', CopySource={'Bucket': 'none-such', 'Key': 'none'})
        self.refused('PreconditionFailed', self.s3.copy_object, Bucket=bucket, Key='x', CopySource=source, CopySourceIfMatch='"x"')
        self.refused('PreconditionFailed', self.s3.copy_object, Bucket=bucket, Key='x', CopySource=source, CopySourceIfNoneMatch=etag)
        large = os.urandom(20 << 20)
        self.put(bucket, 'large', large)
        self.s3.copy_object(Bucket=other, Key='large', CopySource={'Bucket': bucket, 'Key': 'large'})
        self.assertEqual(self.body(other, 'large'), large)

    def tags(self, bucket, key):
        return {t['Key']: t['Value'] for t in self.s3.get_object_tagging(Bucket=bucket, Key=key)['TagSet']}

    def test_tags(self):
        bucket = self.bucket()
        self.put(bucket, 'a', Tagging='a=1&b=c%20d')
        self.assertEqual(self.tags(bucket, 'a'), {'a': '1', 'b': 'c d'})
        self.assertEqual(self.s3.get_object(Bucket=bucket, Key='a')['TagCount'], 2)
        self.s3.put_object_tagging(Bucket=bucket, Key='a', Tagging={'TagSet': [{'Key': 'x', 'Value': '<&>'}]})
        self.assertEqual(self.tags(bucket, 'a'), {'x': '<&>'})
        self.assertEqual(self.body(bucket, 'a'), b'x')
        self.s3.delete_object_tagging(Bucket=bucket, Key='a')
        self.assertEqual(self.tags(bucket, 'a'), {})
        eleven = [{'Key': str(i), 'Value': ''} for i in range(11)]
        self.refused('BadRequest', self.s3.put_object_tagging, Bucket=bucket, Key='a', Tagging={'TagSet': eleven})
        twice = [{'Key': 'a', 'Value': '1'}, {'Key': 'a', 'Value': '2'}]
        self.refused('InvalidTag', self.s3.put_object_tagging, Bucket=bucket, Key='a', Tagging={'TagSet': twice})
        self.refused('NoSuchKey', self.s3.put_object_tagging, Bucket=bucket, Key='none', Tagging={'TagSet': []})

    def test_checksums(self):
        bucket = self.bucket()
        body = b'hello world' * 1000
        sums = {'CRC32': zlib.crc32(body).to_bytes(4, 'big'), 'SHA1': hashlib.sha1(body).digest(), 'SHA256': hashlib.sha256(body).digest()}
        for name, value in sums.items():
            text = base64.b64encode(value).decode()
            for more in ({'ChecksumAlgorithm': name}, {'Checksum' + name: text}):
                self.assertEqual(self.put(bucket, 'a', body, **more)['Checksum' + name], text)
                self.assertEqual(self.s3.get_object(Bucket=bucket, Key='a', ChecksumMode='ENABLED')['Checksum' + name], text)
                self.assertEqual(self.s3.head_object(Bucket=bucket, Key='a', ChecksumMode='ENABLED')['Checksum' + name], text)
            self.assertNotIn('Checksum' + name, self.s3.head_object(Bucket=bucket, Key='a'))
            wrong = base64.b64encode(bytes([value[0] ^ 1]) + value[1:]).decode()
            self.refused('BadDigest', self.s3.put_object, Bucket=bucket, Key='b', Body=body, **{'Checksum' + name: wrong})
            self.refused('InvalidRequest', self.s3.put_object, Bucket=bucket, Key='b', Body=body, **{'Checksum' + name: 'abc'})
        md5 = base64.b64encode(hashlib.md5(body).digest()).decode()
        self.put(bucket, 'a', body, ContentMD5=md5)
        self.refused('BadDigest', self.s3.put_object, Bucket=bucket, Key='b', Body=body + b'x', ContentMD5=md5)
        self.refused('InvalidDigest', self.s3.put_object, Bucket=bucket, Key='b', Body=body, ContentMD5='abc')
        self.refused('NoSuchKey', self.s3.get_object, Bucket=bucket, Key='b')

    def test_nothing_left(self):
        bucket = self.bucket()
        before = self.files()
        for i in range(5):
            self.put(bucket, 'a', os.urandom(1000))
            self.refused('BadDigest', self.s3.put_object, Bucket=bucket, Key='a', Body=b'x', ContentMD5='AAAAAAAAAAAAAAAAAAAAAA==')
        self.wait_for_files(before + 1)
        self.s3.delete_object(Bucket=bucket, Key='a')
        self.wait_for_files(before)

    def wait_for_files(self, count):
        end = time.monotonic() + 30
        while self.files() != count and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(self.files(), count)

    def test_virtual_host(self):
        bucket = self.bucket()
        self.put(bucket, 'a/b', b'virtual')
        port = self.server.endpoint.rsplit(':', 1)[1]
        connection = http.client.HTTPConnection('127.0.0.1', int(port))
        connection.request('GET', '/a/b', headers={'Host': f'{bucket}.localhost:{port}'})
        self.assertEqual(connection.getresponse().read(), b'virtual')

    def test_presigned(self):
        bucket = self.bucket()
        url = self.s3.generate_presigned_url('put_object', {'Bucket': bucket, 'Key': 'a', 'ContentType': 'a/b'})
        urllib.request.urlopen(urllib.request.Request(url, b'presigned', {'Content-Type': 'a/b'}, method='PUT')).close()
        url = self.s3.generate_presigned_url('get_object', {'Bucket': bucket, 'Key': 'a'})
        with urllib.request.urlopen(url) as answer:
            self.assertEqual((answer.read(), answer.headers['Content-Type']), (b'presigned', 'a/b'))


class Multipart(Store):
    def test_whole(self):
        bucket = self.bucket()
        parts = [os.urandom(PART), os.urandom(PART + 1), b'end']
        upload = self.s3.create_multipart_upload(Bucket=bucket, Key='a', Metadata={'m': '1'}, ContentType='a/b', Tagging='t=1')['UploadId']
        self.refused('NoSuchKey', self.s3.get_object, Bucket=bucket, Key='a')
        named = []
        for number, part in enumerate(parts, 3):
            self.s3.upload_part(Bucket=bucket, Key='a', UploadId=upload, PartNumber=number, Body=b'old')
            etag = self.s3.upload_part(Bucket=bucket, Key='a', UploadId=upload, PartNumber=number, Body=part)['ETag']
            named.append({'PartNumber': number, 'ETag': etag})
        self.s3.upload_part(Bucket=bucket, Key='a', UploadId=upload, PartNumber=9, Body=b'unused')
        listed = self.s3.list_parts(Bucket=bucket, Key='a', UploadId=upload, MaxParts=2)
        self.assertEqual(([p['PartNumber'] for p in listed['Parts']], listed['IsTruncated'], listed['NextPartNumberMarker']), ([3, 4], True, 4))
        self.assertEqual(self.s3.list_multipart_uploads(Bucket=bucket)['Uploads'][0]['UploadId'], upload)
        answer = self.s3.complete_multipart_upload(Bucket=bucket, Key='a', UploadId=upload, MultipartUpload={'Parts': named})
        digest = hashlib.md5(b''.join(hashlib.md5(p).digest() for p in parts)).hexdigest()
        self.assertEqual(answer['ETag'], f'"{digest}-3"')
        whole = b''.join(parts)
        got = self.s3.get_object(Bucket=bucket, Key='a')
        self.assertEqual((got['Body'].read(), got['Metadata'], got['ContentType'], got['TagCount']), (whole, {'m': '1'}, 'a/b', 1))
        for begin, end in ((PART - 2, PART + 2), (2 * PART, 2 * PART + 3), (0, len(whole)), (PART, PART + 1)):
            self.assertEqual(self.body(bucket, 'a', Range=f'bytes={begin}-{end - 1}'), whole[begin:end])
        second = self.s3.get_object(Bucket=bucket, Key='a', PartNumber=2)
        self.assertEqual((second['Body'].read(), second['PartsCount']), (parts[1], 3))
        self.assertNotIn('Uploads', self.s3.list_multipart_uploads(Bucket=bucket))
        self.refused('NoSuchUpload', self.s3.list_parts, Bucket=bucket, Key='a', UploadId=upload)

    def test_refusals(self):
        bucket = self.bucket()
        upload = self.s3.create_multipart_upload(Bucket=bucket, Key='a')['UploadId']
        named = [{'PartNumber': n, 'ETag': self.s3.upload_part(Bucket=bucket, Key='a', UploadId=upload, PartNumber=n, Body=b'small')['ETag']} for n in (1, 2)]

        def complete(parts, **more):
            return self.s3.complete_multipart_upload(**{'Bucket': bucket, 'Key': 'a', 'UploadId': upload, **more}, MultipartUpload={'Parts': parts})
        self.refused('EntityTooSmall', complete, named)
        self.refused('InvalidPartOrder', complete, named[::-1])
        self.refused('InvalidPart', complete, [{**named[0], 'ETag': '"00000000000000000000000000000000"'}])
        self.refused('InvalidPart', complete, [{**named[0], 'PartNumber': 3}])
        self.refused('MalformedXML', complete, [])
        self.refused('NoSuchUpload', complete, named, UploadId='0' * 32)
        self.refused('NoSuchUpload', complete, named, Key='b')
        for number in (0, 10001):
            self.refused('InvalidArgument', self.s3.upload_part, Bucket=bucket, Key='a', UploadId=upload, PartNumber=number, Body=b'')
        self.refused('NoSuchUpload', self.s3.upload_part, Bucket=bucket, Key='a', UploadId='xyz', PartNumber=1, Body=b'')
        complete(named[:1])
        self.assertEqual(self.body(bucket, 'a'), b'small')
        upload = self.s3.create_multipart_upload(Bucket=bucket, Key='b')['UploadId']
        self.s3.abort_multipart_upload(Bucket=bucket, Key='b', UploadId=upload)
        self.refused('NoSuchUpload', self.s3.abort_multipart_upload, Bucket=bucket, Key='b', UploadId=upload)

    def test_copied_parts(self):
        bucket = self.bucket()
        body = os.urandom(PART + 1000)
        self.put(bucket, 'source', body)
        upload = self.s3.create_multipart_upload(Bucket=bucket, Key='a')['UploadId']
        named = []
        for number, text in ((1, f'bytes=0-{PART - 1}'), (2, f'bytes={PART}-{PART + 999}')):
            answer = self.s3.upload_part_copy(Bucket=bucket, Key='a', UploadId=upload, PartNumber=number, CopySourceRange=text,
                                              CopySource={'Bucket': bucket, 'Key': 'source'})
            named.append({'PartNumber': number, 'ETag': answer['CopyPartResult']['ETag']})
        self.refused('InvalidArgument', self.s3.upload_part_copy, Bucket=bucket, Key='a', UploadId=upload, PartNumber=3,
                     CopySourceRange='bytes=0-99999999', CopySource={'Bucket': bucket, 'Key': 'source'})
        self.s3.complete_multipart_upload(Bucket=bucket, Key='a', UploadId=upload, MultipartUpload={'Parts': named})
        self.assertEqual(self.body(bucket, 'a'), body)

    def test_checksums(self):
        bucket = self.bucket()
        parts = [os.urandom(PART), b'end']
        upload = self.s3.create_multipart_upload(Bucket=bucket, Key='a', ChecksumAlgorithm='SHA256')['UploadId']
        named = []
        for number, part in enumerate(parts, 1):
            answer = self.s3.upload_part(Bucket=bucket, Key='a', UploadId=upload, PartNumber=number, Body=part, ChecksumAlgorithm='SHA256')
            named.append({'PartNumber': number, 'ETag': answer['ETag'], 'ChecksumSHA256': answer['ChecksumSHA256']})
        answer = self.s3.complete_multipart_upload(Bucket=bucket, Key='a', UploadId=upload, MultipartUpload={'Parts': named})
        joined = hashlib.sha256(b''.join(hashlib.sha256(p).digest() for p in parts)).digest()
        self.assertEqual(answer['ChecksumSHA256'], base64.b64encode(joined).decode() + '-2')

    def test_lists(self):
        bucket = self.bucket()
        made = sorted((key, self.s3.create_multipart_upload(Bucket=bucket, Key=key)['UploadId']) for key in ('a', 'a', 'b/1', 'b/2', 'c'))
        found, markers = [], {}
        while True:
            page = self.s3.list_multipart_uploads(Bucket=bucket, MaxUploads=2, **markers)
            found += [(u['Key'], u['UploadId']) for u in page['Uploads']]
            if not page['IsTruncated']:
                break
            markers = {'KeyMarker': page['NextKeyMarker'], 'UploadIdMarker': page['NextUploadIdMarker']}
        self.assertEqual(found, made)
        page = self.s3.list_multipart_uploads(Bucket=bucket, Delimiter='/')
        self.assertEqual([p['Prefix'] for p in page['CommonPrefixes']], ['b/'])


class Forms(Store):
    def post(self, form, body, **more):
        boundary = 'b0undary'
        fields = {**form['fields'], **more}
        text = b''.join(f'--{boundary}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode() for k, v in fields.items())
        text += f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="C:\\dir\\f.txt"\r\nContent-Type: x/y\r\n\r\n'.encode()
        text += body + f'\r\n--{boundary}--\r\n'.encode()
        connection = http.client.HTTPConnection(self.server.endpoint[7:])
        connection.request('POST', form['url'].split(self.server.endpoint)[1], text, {'Content-Type': f'multipart/form-data; boundary={boundary}'})
        answer = connection.getresponse()
        return answer, answer.read()

    def test_forms(self):
        bucket = self.bucket()
        form = self.s3.generate_presigned_post(bucket, 'up/${filename}', {'Content-Type': 'a/b', 'success_action_status': '201', 'x-amz-meta-m': '1'},
                                               [{'Content-Type': 'a/b'}, {'success_action_status': '201'}, {'x-amz-meta-m': '1'},
                                                ['content-length-range', 10, 3 << 20]])
        body = os.urandom(2 << 20) + b'\r\n--b0undar'
        answer, text = self.post(form, body)
        self.assertEqual(answer.status, 201, text)
        self.assertIn(b'<Key>up/f.txt</Key>', text)
        got = self.s3.get_object(Bucket=bucket, Key='up/f.txt')
        self.assertEqual((got['Body'].read(), got['ContentType'], got['Metadata']), (body, 'a/b', {'m': '1'}))
        for body, code in ((b'short', b'EntityTooSmall'), (bytes(4 << 20), b'EntityTooLarge')):
            answer, text = self.post(form, body)
            self.assertEqual(answer.status, 400)
            self.assertIn(code, text)
        for more in ({'Content-Type': 'c/d'}, {'key': 'other'}, {'x-amz-meta-n': '2'}, {'x-amz-signature': '0' * 64}, {'acl': 'public-read'}):
            answer, text = self.post(form, b'0123456789', **more)
            self.assertEqual(answer.status, 403, more)
        self.assertEqual(self.s3.list_objects_v2(Bucket=bucket)['KeyCount'], 1)


class Lifecycle(Store):
    options = ('--objects-every', '1s', '--admin')

    def test_rules(self):
        bucket = self.bucket()
        self.refused('NoSuchLifecycleConfiguration', self.s3.get_bucket_lifecycle_configuration, Bucket=bucket)
        for key, tags in (('log/1', ''), ('log/2', 'keep=yes'), ('tmp/1', 'drop=yes'), ('tmp/2', ''), ('other', '')):
            self.put(bucket, key, Tagging=tags)
        upload = self.s3.create_multipart_upload(Bucket=bucket, Key='tmp/up')['UploadId']
        self.s3.upload_part(Bucket=bucket, Key='tmp/up', UploadId=upload, PartNumber=1, Body=b'part')
        rules = [{'ID': 'logs', 'Status': 'Enabled', 'Filter': {'Prefix': 'log/'}, 'Expiration': {'Days': 1}},
                 {'ID': 'tags', 'Status': 'Enabled', 'Filter': {'Tag': {'Key': 'drop', 'Value': 'yes'}}, 'Expiration': {'Days': 1}},
                 {'ID': 'off', 'Status': 'Disabled', 'Filter': {'Prefix': ''}, 'Expiration': {'Days': 1}},
                 {'ID': 'abort', 'Status': 'Enabled', 'Filter': {'Prefix': 'tmp/'}, 'AbortIncompleteMultipartUpload': {'DaysAfterInitiation': 1}}]
        self.s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={'Rules': rules})
        self.assertEqual(self.s3.get_bucket_lifecycle_configuration(Bucket=bucket)['Rules'], rules)
        self.refused('InvalidRequest', self.s3.put_bucket_lifecycle_configuration, Bucket=bucket, LifecycleConfiguration={
            'Rules': [{'ID': 'x', 'Status': 'Enabled', 'Filter': {'Prefix': ''}, 'Transitions': [{'Days': 1, 'StorageClass': 'GLACIER'}]}]})
        self.assertEqual(self.s3.list_objects_v2(Bucket=bucket)['KeyCount'], 5)
        request = urllib.request.Request(self.server.endpoint + '/admin/clock', json.dumps({'advance_seconds': 3 * 86400}).encode(),
                                         {'Content-Type': 'application/json'}, method='POST')
        urllib.request.urlopen(request).close()

        def keys():
            connection = http.client.HTTPConnection(self.server.endpoint[7:])
            connection.request('GET', f'/{bucket}?list-type=2')  # a signature would be of another day
            text = connection.getresponse().read().decode()
            connection.request('GET', f'/{bucket}?uploads')
            return [k.split('<')[0] for k in text.split('<Key>')[1:]], connection.getresponse().read().count(b'<Upload>')
        end = time.monotonic() + 60
        while keys() != (['other', 'tmp/2'], 0) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(keys(), (['other', 'tmp/2'], 0))
