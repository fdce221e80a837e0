import re
import time

from support import Case, client, create_table, real, resource, unique_name


class Tables(Case):
    def test_life_of_a_table(self):
        name = unique_name()
        answer = client.create_table(
            TableName=name,
            KeySchema=[{'AttributeName': 'pk', 'KeyType': 'HASH'}],
            AttributeDefinitions=[{'AttributeName': 'pk', 'AttributeType': 'S'}],
            ProvisionedThroughput={'ReadCapacityUnits': 5, 'WriteCapacityUnits': 6},
        )
        self.assertIn(answer['TableDescription']['TableStatus'], ('CREATING', 'ACTIVE'))
        client.get_waiter('table_exists').wait(TableName=name, WaiterConfig={'Delay': 1})
        table = resource.Table(name)
        table.load()
        self.assertEqual(table.table_status, 'ACTIVE')
        self.assertEqual(table.key_schema, [{'AttributeName': 'pk', 'KeyType': 'HASH'}])
        self.assertEqual(table.provisioned_throughput['WriteCapacityUnits'], 6)
        self.assertEqual(table.item_count, 0)
        self.assertTrue(table.table_arn.endswith(':table/' + name))
        self.assertIn(name, [t.name for t in resource.tables.all()])
        table.delete()
        client.get_waiter('table_not_exists').wait(TableName=name, WaiterConfig={'Delay': 1})
        self.assertFails('ResourceNotFoundException', f'Requested resource not found: Table: {name} not found',
                         client.describe_table, TableName=name)

    def test_wait_until_exists(self):
        table = create_table()
        table.wait_until_exists()
        self.assertEqual(table.table_status in ('CREATING', 'ACTIVE'), True)
        table.delete()

    def test_list_tables_paginator(self):
        names = {create_table().name for _ in range(3)}
        seen = []
        for page in client.get_paginator('list_tables').paginate(PaginationConfig={'PageSize': 2}):
            self.assertLessEqual(len(page['TableNames']), 2)
            seen += page['TableNames']
        self.assertEqual(seen, sorted(seen))
        self.assertLessEqual(names, set(seen))

    def test_update_table(self):
        table = create_table(BillingMode='PROVISIONED',
                             ProvisionedThroughput={'ReadCapacityUnits': 1, 'WriteCapacityUnits': 1})
        table.wait_until_exists()
        table = table.update(ProvisionedThroughput={'ReadCapacityUnits': 2, 'WriteCapacityUnits': 2})
        table.wait_until_exists()
        table.reload()
        self.assertEqual(table.provisioned_throughput['ReadCapacityUnits'], 2)

    @real
    def test_index_made_later(self):
        table = create_table()
        table.wait_until_exists()
        with table.batch_writer() as batch:
            for i in range(40):
                batch.put_item(Item={'pk': str(i), 'group': 'even' if i % 2 == 0 else 'odd'})
        client.update_table(
            TableName=table.name,
            AttributeDefinitions=[{'AttributeName': 'group', 'AttributeType': 'S'}],
            GlobalSecondaryIndexUpdates=[{'Create': {
                'IndexName': 'by-group', 'KeySchema': [{'AttributeName': 'group', 'KeyType': 'HASH'}],
                'Projection': {'ProjectionType': 'KEYS_ONLY'}}}])
        for _ in range(200):
            table.reload()
            if table.global_secondary_indexes[0]['IndexStatus'] == 'ACTIVE':
                break
            time.sleep(0.05)
        self.assertEqual(table.scan(IndexName='by-group')['Count'], 40)

    @real
    def test_exact_counts(self):
        table = create_table(key=('pk',), gsi={'by-a': ('a',)})
        table.put_item(Item={'pk': 'one', 'a': 'x'})
        table.put_item(Item={'pk': 'two'})
        table.reload()
        self.assertEqual(table.item_count, 2)
        self.assertEqual(table.table_size_bytes, 5 + 2 + 5)
        self.assertEqual(table.global_secondary_indexes[0]['ItemCount'], 1)

    @real
    def test_on_demand_since_creation(self):
        table = client.describe_table(TableName=create_table().name)['Table']
        self.assertEqual(table['BillingModeSummary']['LastUpdateToPayPerRequestDateTime'], table['CreationDateTime'])

    @real
    def test_errors(self):
        key = dict(KeySchema=[{'AttributeName': 'pk', 'KeyType': 'HASH'}],
                   AttributeDefinitions=[{'AttributeName': 'pk', 'AttributeType': 'S'}], BillingMode='PAY_PER_REQUEST')
        self.assertFails('ValidationException', "1 validation error detected: Value 'ab' at 'tableName' failed to "
                         'satisfy constraint: Member must have length greater than or equal to 3',
                         client.create_table, TableName='ab', **key)
        table = create_table()
        self.assertFails('ResourceInUseException', f'Table already exists: {table.name}',
                         client.create_table, TableName=table.name, **key)
        self.assertFails('ResourceNotFoundException', None, client.delete_table, TableName='boto3-no-such-table')
        self.assertFails('ValidationException', re.compile('At least one of'), client.update_table, TableName=table.name)
