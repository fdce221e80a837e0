"""Clients and tables for the tests of this directory.

The endpoint comes in by DOLMEN_ENDPOINT; with DOLMEN_FOREIGN=1 it may be another
implementation, and tests marked with `real` are skipped.
"""
import itertools
import os
import unittest

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT = os.environ['DOLMEN_ENDPOINT']
FOREIGN = os.environ.get('DOLMEN_FOREIGN') == '1'
real = unittest.skipIf(FOREIGN, 'real service only')

_config = Config(retries={'max_attempts': 0}, parameter_validation=False)
client = boto3.client('dynamodb', endpoint_url=ENDPOINT, config=_config)
resource = boto3.resource('dynamodb', endpoint_url=ENDPOINT, config=_config)
_counter = itertools.count(1)


def unique_name(hint='table'):
    return f'boto3-{hint}-{os.getpid()}-{next(_counter)}'


def create_table(key=('pk',), gsi=None, lsi=None, **rest):
    """Creates a table by short names ('sk:N' is a number) and answers the Table resource."""
    types = {}

    def schema(names):
        for name in names:
            types[name.split(':')[0]] = name.split(':')[1] if ':' in name else 'S'
        return [{'AttributeName': name.split(':')[0], 'KeyType': role} for name, role in zip(names, ('HASH', 'RANGE'))]

    def indexes(group):
        return [{'IndexName': name, 'KeySchema': schema(keys), 'Projection': {'ProjectionType': 'ALL'}}
                for name, keys in group.items()]

    request = dict(TableName=unique_name(), KeySchema=schema(key), BillingMode='PAY_PER_REQUEST')
    if gsi:
        request['GlobalSecondaryIndexes'] = indexes(gsi)
    if lsi:
        request['LocalSecondaryIndexes'] = indexes(lsi)
    request['AttributeDefinitions'] = [{'AttributeName': n, 'AttributeType': t} for n, t in types.items()]
    request.update(rest)
    return resource.create_table(**request)


class Case(unittest.TestCase):
    """A test case that can expect an error of the service."""

    def assertFails(self, code, message, call, **arguments):
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        error = caught.exception.response
        self.assertEqual(error['Error']['Code'], code, error['Error'])
        self.assertEqual(error['ResponseMetadata']['HTTPStatusCode'], 400)
        if message is not None and not FOREIGN:
            if hasattr(message, 'search'):
                self.assertRegex(error['Error']['Message'], message)
            else:
                self.assertEqual(error['Error']['Message'], message)
        return error
