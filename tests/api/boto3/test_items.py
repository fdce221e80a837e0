import re
from decimal import Decimal

from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary
from support import Case, client, create_table, real, resource

table = create_table(key=('pk', 'sk:N'), gsi={'by-color': ('color', 'sk:N')}, lsi={'by-weight': ('pk', 'weight:N')})


class Items(Case):
    def test_all_types(self):
        item = {
            'pk': 'types', 'sk': Decimal('1'), 's': 'text', 'empty': '', 'n': Decimal('-1.5'),
            'big': Decimal('12345678901234567890123456789012345678'), 'b': Binary(b'\x00\xff'), 'yes': True, 'no': False, 'none': None,
            'ss': {'a', 'b'}, 'ns': {Decimal(1), Decimal('2.5')}, 'bs': {Binary(b'x'), Binary(b'y')},
            'l': ['a', Decimal(1), [None], {'k': []}], 'm': {'a': {'b': Decimal(3)}},
        }
        table.put_item(Item=item)
        self.assertEqual(table.get_item(Key={'pk': 'types', 'sk': 1}, ConsistentRead=True)['Item'], item)

    def test_get_nothing(self):
        self.assertNotIn('Item', table.get_item(Key={'pk': 'nothing', 'sk': 1}))

    def test_put_returns_old(self):
        key = {'pk': 'old', 'sk': 1}
        self.assertNotIn('Attributes', table.put_item(Item={**key, 'v': 1}, ReturnValues='ALL_OLD'))
        self.assertEqual(table.put_item(Item={**key, 'v': 2}, ReturnValues='ALL_OLD')['Attributes'], {**key, 'v': 1})

    def test_conditions(self):
        key = {'pk': 'condition', 'sk': 1}
        table.put_item(Item={**key, 'v': 1}, ConditionExpression=Attr('pk').not_exists())
        self.assertFails('ConditionalCheckFailedException', 'The conditional request failed',
                         table.put_item, Item={**key, 'v': 2}, ConditionExpression=Attr('pk').not_exists())
        table.put_item(Item={**key, 'v': 3}, ConditionExpression=Attr('v').eq(1) & ~Attr('x').exists() | Attr('v').gt(100))
        self.assertEqual(table.get_item(Key=key)['Item']['v'], 3)

    def test_update(self):
        key = {'pk': 'update', 'sk': 1}
        answer = table.update_item(
            Key=key, UpdateExpression='SET #n = :n, tags = :t ADD hits :one', ReturnValues='ALL_NEW',
            ExpressionAttributeNames={'#n': 'name'}, ExpressionAttributeValues={':n': 'x', ':t': ['a'], ':one': 1})
        self.assertEqual(answer['Attributes'], {**key, 'name': 'x', 'tags': ['a'], 'hits': 1})
        answer = table.update_item(
            Key=key, UpdateExpression='SET tags = list_append(tags, :t), hits = hits - :one REMOVE #n', ReturnValues='UPDATED_NEW',
            ExpressionAttributeNames={'#n': 'name'}, ExpressionAttributeValues={':t': ['b'], ':one': 1})
        self.assertEqual(answer['Attributes'], {'tags': ['a', 'b'], 'hits': 0})
        self.assertEqual(table.get_item(Key=key)['Item'], {**key, 'tags': ['a', 'b'], 'hits': 0})

    def test_delete(self):
        key = {'pk': 'delete', 'sk': 1}
        table.put_item(Item={**key, 'v': 1})
        self.assertFails('ConditionalCheckFailedException', None, table.delete_item, Key=key, ConditionExpression=Attr('v').eq(2))
        self.assertEqual(table.delete_item(Key=key, ReturnValues='ALL_OLD')['Attributes'], {**key, 'v': 1})
        self.assertNotIn('Attributes', table.delete_item(Key=key, ReturnValues='ALL_OLD'))

    def test_projection(self):
        key = {'pk': 'projection', 'sk': 1}
        table.put_item(Item={**key, 'm': {'a': 1, 'b': [1, 2, 3]}, 'x': 1})
        answer = table.get_item(Key=key, ProjectionExpression='m.b[1], x')
        self.assertEqual(answer['Item'], {'m': {'b': [2]}, 'x': 1})

    def test_errors(self):
        key = {'pk': 'errors', 'sk': 1}
        invalid = 'One or more parameter values were invalid: '
        cases = [
            (invalid + 'Missing the key sk in the item', table.put_item, dict(Item={'pk': 'x'})),
            (invalid + 'Type mismatch for key pk expected: S actual: N', table.put_item, dict(Item={'pk': 1, 'sk': 1})),
            ('The provided key element does not match the schema', table.get_item, dict(Key={'pk': 'x'})),
            ('The provided key element does not match the schema', table.delete_item, dict(Key={'pk': 'x', 'sk': 'y'})),
            (invalid + 'Cannot update attribute sk. This attribute is part of the key', table.update_item,
             dict(Key=key, UpdateExpression='SET sk = :v', ExpressionAttributeValues={':v': 2})),
            ('1 validation error detected: Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: name', table.update_item,
             dict(Key=key, UpdateExpression='SET name = :v', ExpressionAttributeValues={':v': 2})),
            (re.compile('^1 validation error detected: Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "SET"$'), table.update_item,
             dict(Key=key, UpdateExpression='SET')),
            ('Item size has exceeded the maximum allowed size', table.put_item, dict(Item={**key, 'd': 'x' * 409600})),
        ]
        for message, call, arguments in cases:
            with self.subTest(message):
                self.assertFails('ValidationException', message, call, **arguments)
        self.assertFails('ResourceNotFoundException', 'Requested resource not found',
                         resource.Table('boto3-no-such-table').get_item, Key=key)


class Reading(Case):
    @classmethod
    def setUpClass(cls):
        with table.batch_writer() as batch:
            for i in range(100):
                batch.put_item(Item={'pk': 'many', 'sk': i, 'color': ('red', 'green', 'blue')[i % 3], 'weight': (i * 37) % 100,
                                     'text': f'item {i:03}'})

    def test_query(self):
        def numbers(condition, **more):
            return [int(i['sk']) for i in table.query(KeyConditionExpression=condition, **more)['Items']]
        many = Key('pk').eq('many')
        self.assertEqual(numbers(many), list(range(100)))
        self.assertEqual(numbers(many & Key('sk').lt(3)), [0, 1, 2])
        self.assertEqual(numbers(many & Key('sk').between(5, 7), ScanIndexForward=False), [7, 6, 5])
        self.assertEqual(numbers(many & Key('sk').gte(98)), [98, 99])
        self.assertEqual(numbers(many, FilterExpression=Attr('color').eq('red') & Attr('weight').lt(10)),
                         [i for i in range(0, 100, 3) if i * 37 % 100 < 10])
        self.assertEqual(numbers(many, FilterExpression=Attr('text').begins_with('item 00') & ~Attr('color').is_in(['red', 'blue'])), [1, 4, 7])
        self.assertEqual(numbers(many, FilterExpression=Attr('text').contains('99') | Attr('weight').eq(37)), [1, 99])
        self.assertEqual(numbers(many, FilterExpression=Attr('text').size().gt(8) & Attr('sk2').not_exists(), Limit=10), [])

    def test_indexes(self):
        answer = table.query(IndexName='by-color', KeyConditionExpression=Key('color').eq('blue') & Key('sk').gt(90))
        self.assertEqual([int(i['sk']) for i in answer['Items']], [92, 95, 98])
        answer = table.query(IndexName='by-weight', KeyConditionExpression=Key('pk').eq('many'), ConsistentRead=True)
        self.assertEqual([int(i['weight']) for i in answer['Items']], list(range(100)))
        self.assertFails('ValidationException', 'Consistent reads are not supported on global secondary indexes',
                         table.query, IndexName='by-color', KeyConditionExpression=Key('color').eq('blue'), ConsistentRead=True)
        self.assertFails('ValidationException', 'The table does not have the specified index: none',
                         table.query, IndexName='none', KeyConditionExpression=Key('color').eq('blue'))

    def test_paginators(self):
        request = dict(TableName=table.name, KeyConditionExpression='pk = :p', ExpressionAttributeValues={':p': {'S': 'many'}})
        pages = list(client.get_paginator('query').paginate(**request, PaginationConfig={'PageSize': 7}))
        self.assertEqual(len(pages), 15)
        self.assertEqual([int(i['sk']['N']) for p in pages for i in p['Items']], list(range(100)))
        some = client.get_paginator('query').paginate(**request, PaginationConfig={'PageSize': 7, 'MaxItems': 10}).build_full_result()
        self.assertEqual(len(some['Items']), 10)
        rest = client.get_paginator('query').paginate(**request, PaginationConfig={'StartingToken': some['NextToken']}).build_full_result()
        self.assertEqual(len(rest['Items']), 90)
        scanned = client.get_paginator('scan').paginate(
            TableName=table.name, IndexName='by-color', PaginationConfig={'PageSize': 9}).build_full_result()
        self.assertEqual(len(scanned['Items']), 100)

    def test_parallel_scan(self):
        seen = []
        for segment in range(4):
            seen += [int(i['sk']) for i in table.scan(Segment=segment, TotalSegments=4, FilterExpression=Attr('pk').eq('many'))['Items']]
        self.assertEqual(sorted(seen), list(range(100)))

    def test_select_count(self):
        answer = table.query(KeyConditionExpression=Key('pk').eq('many'), Select='COUNT')
        self.assertEqual((answer['Count'], answer['ScannedCount']), (100, 100))
        self.assertNotIn('Items', answer)

    def test_last_evaluated_key(self):
        seen, start = [], {}
        while True:
            page = table.query(IndexName='by-color', KeyConditionExpression=Key('color').eq('red'), Limit=5, ScanIndexForward=False, **start)
            seen += [int(i['sk']) for i in page['Items']]
            if 'LastEvaluatedKey' not in page:
                break
            self.assertEqual(set(page['LastEvaluatedKey']), {'pk', 'sk', 'color'})
            start = {'ExclusiveStartKey': page['LastEvaluatedKey']}
        self.assertEqual(seen, list(range(99, -1, -3)))


class Many(Case):
    def test_batch_writer(self):
        with table.batch_writer(overwrite_by_pkeys=['pk', 'sk']) as batch:
            for i in range(60):
                batch.put_item(Item={'pk': 'batch', 'sk': i % 50, 'v': i})
            batch.delete_item(Key={'pk': 'batch', 'sk': 20})
        answer = table.query(KeyConditionExpression=Key('pk').eq('batch'))
        self.assertEqual(answer['Count'], 49)
        self.assertEqual(answer['Items'][0]['v'], 50)

    def test_batch_get(self):
        table.put_item(Item={'pk': 'get', 'sk': 1})
        keys = [{'pk': 'get', 'sk': 1}, {'pk': 'get', 'sk': 2}]
        answer = resource.batch_get_item(RequestItems={table.name: {'Keys': keys}})
        self.assertEqual(answer['Responses'][table.name], [keys[0]])
        self.assertEqual(answer['UnprocessedKeys'], {})
        self.assertFails('ValidationException', 'Provided list of item keys contains duplicates',
                         resource.batch_get_item, RequestItems={table.name: {'Keys': [keys[0], keys[0]]}})

    @real
    def test_batch_errors(self):
        requests = [{'PutRequest': {'Item': {'pk': {'S': str(i)}, 'sk': {'N': '1'}}}} for i in range(26)]
        self.assertFails('ValidationException', re.compile('Member must have length less than or equal to 25'),
                         client.batch_write_item, RequestItems={table.name: requests})

    def test_transactions(self):
        name = table.name

        def key(n):
            return {'pk': {'S': 'tx'}, 'sk': {'N': str(n)}}
        client.transact_write_items(TransactItems=[
            {'Put': {'TableName': name, 'Item': {**key(1), 'v': {'N': '1'}}}},
            {'Update': {'TableName': name, 'Key': key(2), 'UpdateExpression': 'SET v = :v', 'ExpressionAttributeValues': {':v': {'N': '2'}}}},
        ])
        answer = client.transact_get_items(TransactItems=[{'Get': {'TableName': name, 'Key': key(n)}} for n in (1, 2, 3)])
        self.assertEqual([r.get('Item', {}).get('v') for r in answer['Responses']], [{'N': '1'}, {'N': '2'}, None])
        with self.assertRaises(client.exceptions.TransactionCanceledException) as caught:
            client.transact_write_items(TransactItems=[
                {'Delete': {'TableName': name, 'Key': key(1)}},
                {'ConditionCheck': {'TableName': name, 'Key': key(2), 'ConditionExpression': 'v = :v',
                                    'ExpressionAttributeValues': {':v': {'N': '9'}},
                                    'ReturnValuesOnConditionCheckFailure': 'ALL_OLD'}},
            ])
        reasons = caught.exception.response['CancellationReasons']
        self.assertEqual([r['Code'] for r in reasons], ['None', 'ConditionalCheckFailed'])
        self.assertEqual(reasons[1]['Item'], {**key(2), 'v': {'N': '2'}})
        self.assertIn('[None, ConditionalCheckFailed]', str(caught.exception))
        self.assertIn('Item', table.get_item(Key={'pk': 'tx', 'sk': 1}))

    def test_consumed_capacity(self):
        answer = table.put_item(Item={'pk': 'capacity', 'sk': 1, 'd': 'x' * 3000}, ReturnConsumedCapacity='TOTAL')
        self.assertEqual(answer['ConsumedCapacity'], {'TableName': table.name, 'CapacityUnits': 3.0})
        answer = table.get_item(Key={'pk': 'capacity', 'sk': 1}, ReturnConsumedCapacity='TOTAL', ConsistentRead=True)
        self.assertEqual(answer['ConsumedCapacity'], {'TableName': table.name, 'CapacityUnits': 1.0})

    def test_legacy_parameters(self):
        client.put_item(TableName=table.name, Item={'pk': {'S': 'legacy'}, 'sk': {'N': '1'}, 'v': {'N': '1'}})
        client.update_item(TableName=table.name, Key={'pk': {'S': 'legacy'}, 'sk': {'N': '1'}},
                           AttributeUpdates={'v': {'Action': 'ADD', 'Value': {'N': '4'}}}, Expected={'v': {'Value': {'N': '1'}, 'Exists': True}})
        answer = client.query(TableName=table.name, AttributesToGet=['v'],
                              KeyConditions={'pk': {'ComparisonOperator': 'EQ', 'AttributeValueList': [{'S': 'legacy'}]}})
        self.assertEqual(answer['Items'], [{'v': {'N': '5'}}])
