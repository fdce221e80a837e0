"""Tables that are restored or imported keep their model, and with it time to live and recovery, from the moment they can be used."""
import os
import random
import time
import unittest

from support import KEYS, ApiError, Case, item

MODEL = """
table shop {
  key PK, SK
  index GSI1 (GSI1PK, GSI1SK)
  type EntityType
  ttl expires
  pitr on
}
entity User of shop {
  PK = "USER#{userId}"  SK = "x"
  GSI1 = "MAIL", "{email}"
  userId string
  email string unique lower
  plan "free" | "paid" = "free"
  expires epoch?
}
access userByEmail(email) = one User via GSI1
"""


def user(number, **more):
    return item(**{'userId': str(number), 'email': f'user{number}@x', **more})


class Keeps(Case):
    def prepare(self, users=50, *options):
        self.serve(*options)
        self.assertEqual(self.cli('apply', self.file('shop.dolmen', MODEL)).code, 0)
        self.load(user(number) for number in range(users))

    def wait_for(self, table):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            found = self.api.call('DescribeTable', {'TableName': table})['Table']['TableStatus']
            if found == 'ACTIVE':
                return
            time.sleep(0.01)
        self.fail(f'{table} is {found}')

    def backup(self):
        made = self.api.call('CreateBackup', {'TableName': 'shop', 'BackupName': 'one'})['BackupDetails']['BackupArn']
        while self.api.call('DescribeBackup', {'BackupArn': made})['BackupDescription']['BackupDetails']['BackupStatus'] != 'AVAILABLE':
            time.sleep(0.02)
        return made

    def restore(self, arn, table):
        self.api.call('RestoreTableFromBackup', {'BackupArn': arn, 'TargetTableName': table})
        self.wait_for(table)

    def refuses(self, table, wrong, text):
        with self.assertRaises(ApiError) as caught:
            self.api.call('PutItem', {'TableName': table, 'Item': wrong})
        self.assertIn(text, str(caught.exception))

    def check_guarded(self, table, did):
        self.refuses(table, user('new', plan='gold'), '/plan: expected')
        self.refuses(table, user('new', email='USER7@x'), 'a value that no other item has')
        self.api.call('PutItem', {'TableName': table, 'Item': user('new')})
        stored = self.api.call('GetItem', {'TableName': table, 'Key': item(PK='USER#new', SK='x')})['Item']
        self.assertEqual((stored['GSI1SK'], stored['plan']), ({'S': 'usernew@x'}, {'S': 'free'}))
        found = self.cli('query', table, 'userByEmail', 'email=usernew@x')
        self.assertIn('"userId":"new"', found.out, found.err)
        ttl = self.api.call('DescribeTimeToLive', {'TableName': table})['TimeToLiveDescription']
        self.assertEqual(ttl, {'TimeToLiveStatus': 'ENABLED', 'AttributeName': 'expires'})
        past = self.api.call('DescribeContinuousBackups', {'TableName': table})['ContinuousBackupsDescription']
        self.assertEqual(past['PointInTimeRecoveryDescription']['PointInTimeRecoveryStatus'], 'ENABLED')
        self.assertEqual(self.settle(table)['Status'], 'ACTIVE')
        versions = self.api.call('ListModelVersions', {'TableName': table})['Versions']
        self.assertEqual([one['Action'] for one in versions], [did])
        verified = self.cli('verify')
        self.assertEqual(verified.code, 0, verified.out)

    def test_backup_under_another_name(self):
        self.prepare()
        self.restore(self.backup(), 'shop-2.copy')
        self.check_guarded('shop-2.copy', 'restore')
        self.assertEqual(self.describe('shop-2.copy')['Model'], MODEL.replace('table shop', 'table `shop-2.copy`')
                         .replace('of shop', 'of `shop-2.copy`'))
        # Each has its own items and values.
        self.assertEqual(len(self.scan()), 50)
        self.api.call('PutItem', {'TableName': 'shop', 'Item': user('new')})
        # The model belongs to the restored table, and outlives the server.
        self.server.stop()
        self.serve()
        self.refuses('shop-2.copy', user('other', email='user3@x'), 'a value that no other item has')
        self.assertEqual(self.cli('abandon', 'shop-2.copy').code, 0)

    def test_backup_under_its_own_name(self):
        self.prepare()
        arn = self.backup()
        self.api.call('DeleteTable', {'TableName': 'shop'})
        self.restore(arn, 'shop')
        self.check_guarded('shop', 'restore')
        self.assertEqual(self.describe()['Model'], MODEL)
        self.assertEqual(self.cli('apply', '--check', self.file('shop.dolmen', MODEL)).code, 0)

    def test_deleted_table(self):
        """DeleteTable of a table with recovery leaves a backup, which has the model, too."""
        self.prepare()
        self.api.call('DeleteTable', {'TableName': 'shop'})
        left = self.api.call('ListBackups', {'BackupType': 'SYSTEM'})['BackupSummaries'][0]['BackupArn']
        self.restore(left, 'shop')
        self.check_guarded('shop', 'restore')

    def test_point_in_time_has_the_model_of_then(self):
        self.prepare()
        time.sleep(0.05)
        then = time.time()
        time.sleep(0.05)
        self.assertEqual(self.cli('apply', self.file('shop2.dolmen', MODEL.replace('"paid"', '"paid" | "gold"'))).code, 0)
        self.api.call('PutItem', {'TableName': 'shop', 'Item': user('late', plan='gold')})
        self.api.call('RestoreTableToPointInTime', {'SourceTableName': 'shop', 'TargetTableName': 'then', 'RestoreDateTime': then})
        self.wait_for('then')
        self.check_guarded('then', 'restore')
        self.api.call('RestoreTableToPointInTime', {'SourceTableName': 'shop', 'TargetTableName': 'now', 'UseLatestRestorableTime': True})
        self.wait_for('now')
        self.api.call('PutItem', {'TableName': 'now', 'Item': user('more', plan='gold')})

    def test_survives_kills(self):
        seed = int(os.environ.get('SEED', random.randrange(1 << 30)))
        chance = random.Random(seed)
        self.prepare(4000, '--durability', 'relaxed')
        arn = self.backup()
        self.api.call('RestoreTableFromBackup', {'BackupArn': arn, 'TargetTableName': 'copy'})
        for _ in range(4):
            time.sleep(chance.uniform(0, 0.08))
            self.server.kill()
            self.serve('--durability', 'relaxed')
        self.wait_for('copy')
        self.assertEqual(len(self.scan('copy')), 4000, f'seed {seed}')
        self.check_guarded('copy', 'restore')

    def test_items_on_their_way_are_completed(self):
        self.serve()
        self.create()
        self.load(user(number, PK=f'USER#{number}', SK='x') for number in range(1000))
        self.assertEqual(self.cli('apply', '--no-wait', '--rate', '1000', self.file('shop.dolmen', MODEL)).code, 0)
        while self.describe()['Progress']['Phase'] != 'ITEMS':
            time.sleep(0.02)
        arn = self.backup()
        self.assertIn('ITEMS', self.describe()['Progress']['Phase'])
        self.restore(arn, 'copy')
        self.assertEqual(self.settle('copy')['Status'], 'ACTIVE')
        self.assertEqual({one['GSI1PK'] for one in self.scan('copy')}, {'MAIL'})

    def test_without_a_model_as_the_service_does(self):
        self.serve()
        self.create()
        self.api.call('UpdateTimeToLive', {'TableName': 'shop', 'TimeToLiveSpecification': {'Enabled': True, 'AttributeName': 'expires'}})
        self.load([user(1, PK='1', SK='x')])
        self.restore(self.backup(), 'copy')
        ttl = self.api.call('DescribeTimeToLive', {'TableName': 'copy'})['TimeToLiveDescription']
        self.assertEqual(ttl['TimeToLiveStatus'], 'DISABLED')
        with self.assertRaises(ApiError):
            self.describe('copy')

    def test_import(self):
        buckets = os.path.join(self.directory, 'buckets')
        os.makedirs(os.path.join(buckets, 'in'))
        self.prepare(1, '--bucket-root', buckets)
        self.api.call('DeleteTable', {'TableName': 'shop'})
        lines = [f'{{"Item":{{"userId":{{"S":"{number}"}},"email":{{"S":"user{number}@x"}}}}}}' for number in range(600)]
        lines[300] = lines[300].replace('user300@x', 'User7@x')       # another item has it
        lines[400] = lines[400].replace('}}}', '},"plan":{"S":"gold"}}}')  # the model does not know it
        with open(os.path.join(buckets, 'in', 'a.json'), 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines) + '\n')
        made = self.api.call('ImportTable', {
            'S3BucketSource': {'S3Bucket': 'in'}, 'InputFormat': 'DYNAMODB_JSON', 'TableCreationParameters': {
                'TableName': 'shop', 'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': KEYS,
                'AttributeDefinitions': [{'AttributeName': name, 'AttributeType': 'S'} for name in ('PK', 'SK', 'GSI1PK', 'GSI1SK')],
                'GlobalSecondaryIndexes': [{'IndexName': 'GSI1', 'Projection': {'ProjectionType': 'ALL'}, 'KeySchema': [
                    {'AttributeName': 'GSI1PK', 'KeyType': 'HASH'}, {'AttributeName': 'GSI1SK', 'KeyType': 'RANGE'}]}]}})
        self.wait_for('shop')
        arn = made['ImportTableDescription']['ImportArn']
        done = self.api.call('DescribeImport', {'ImportArn': arn})['ImportTableDescription']
        while done['ImportStatus'] == 'IN_PROGRESS':
            done = self.api.call('DescribeImport', {'ImportArn': arn})['ImportTableDescription']
        self.assertEqual((done['ProcessedItemCount'], done['ImportedItemCount'], done['ErrorCount']), (600, 598, 2), done)
        self.assertEqual({one['EntityType'] for one in self.scan()}, {'User'})
        self.check_guarded('shop', 'import')
        self.server.stop()
        log = self.server.error_text()
        self.assertIn('a.json line 301: ', log)
        self.assertIn('a value that no other item has', log)


if __name__ == '__main__':
    unittest.main()
