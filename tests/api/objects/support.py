"""A server with an object store for all tests of a file, and clients of it."""
import os
import shutil
import tempfile
import unittest

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from dolmen import Server

PART = 5 << 20  # the least that a part has


class Store(unittest.TestCase):
    options = ()

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp()
        cls.directory = os.path.join(cls.root, 'objects')
        cls.server = Server(os.path.join(cls.root, 'data'), '--objects', cls.directory, *cls.options)
        cls.key, cls.secret = open(os.path.join(cls.directory, 'key')).read().split()
        cls.s3 = cls.client()
        cls.number = 0

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.root)

    @classmethod
    def client(cls, key=None, secret=None, endpoint=None, **config):
        return boto3.client('s3', endpoint_url=endpoint or cls.server.endpoint, region_name='us-east-1',
                            aws_access_key_id=key or cls.key, aws_secret_access_key=secret or cls.secret,
                            config=Config(**{'signature_version': 's3v4', 'retries': {'max_attempts': 0}, **config}))

    def bucket(self):
        type(self).number += 1
        name = f'bucket-{self.number}'
        self.s3.create_bucket(Bucket=name)
        return name

    def put(self, bucket, key, body=b'x', **more):
        return self.s3.put_object(Bucket=bucket, Key=key, Body=body, **more)

    def body(self, bucket, key, **more):
        return self.s3.get_object(Bucket=bucket, Key=key, **more)['Body'].read()

    def refused(self, code, call, *arguments, **named):
        with self.assertRaises(ClientError) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.response['Error']['Code'], code)
        return caught.exception.response

    def files(self):
        """How many files of bytes there are."""
        return sum(len(names) for _, _, names in os.walk(os.path.join(self.directory, 'data')))
