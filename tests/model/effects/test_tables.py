"""Counts over two tables, one of which loses its model, goes, or comes back as another."""
import os

from support import Case, item, verify_database

MODEL = '''
table albums { key PK, SK  type kind }
entity Album of albums {
  PK = "ALBUM#{album}"  SK = "x"
  album string
  count integer = count of Photo
  bytes number  = sum of Photo.size
}
table photos { key PK, SK  type kind }
entity Photo of photos {
  PK = "PHOTO#{photo}"  SK = "x"
  photo string
  album string
  size  number = 1
}
'''


class Tables(Case):
    def setUp(self):
        for table in ('albums', 'photos', 'albums2', 'a_sizes'):
            if table in self.api.call('ListTables', {})['TableNames']:
                self.api.call('DeleteTable', {'TableName': table})
        self.until(lambda: not self.api.call('ListTables', {})['TableNames'], 'the end of the tables')
        self.apply(MODEL, 'albums', 'photos')
        self.put('albums', item('Album', album='a'))
        for n in range(300):
            self.put('photos', item('Photo', photo=str(n), album='a' if n % 2 else 'later', size=n))

    def album(self, name='a', table='albums'):
        found = self.get(table, f'ALBUM#{name}')
        return found['count'], found['bytes']

    def both(self):
        self.settle('albums')
        self.settle('photos')

    def backup(self, table):
        arn = self.api.call('CreateBackup', {'TableName': table, 'BackupName': 'one'})['BackupDetails']['BackupArn']
        self.until(lambda: self.api.call('DescribeBackup', {'BackupArn': arn})['BackupDescription']['BackupDetails']['BackupStatus'] == 'AVAILABLE', 'the backup')
        return arn

    def restore(self, arn, table):
        self.api.call('RestoreTableFromBackup', {'BackupArn': arn, 'TargetTableName': table})
        self.until(lambda: self.api.call('DescribeTable', {'TableName': table})['Table']['TableStatus'] == 'ACTIVE', table)

    def test_a_source_without_its_model_for_a_while(self):
        self.assertEqual(self.album(), (150, sum(range(1, 300, 2))))
        self.api.call('AbandonModel', {'TableName': 'photos'})
        for n in range(100):
            self.delete('photos', f'PHOTO#{n}')
        for name in 'xy':
            self.put('photos', {**item('Photo', photo=name, album='a', size=7), 'PK': {'S': f'PHOTO#{name}'}, 'SK': {'S': 'x'}})
        self.apply(MODEL, 'photos', 'albums')
        self.put('photos', item('Photo', photo='z', album='a', size=1))
        self.settle('albums')
        self.assertEqual(self.album(), (103, sum(range(101, 300, 2)) + 15))
        self.put('albums', item('Album', album='later'))
        self.assertEqual(self.album('later'), (100, sum(range(100, 300, 2))))
        verify_database(self.api)

    def test_a_source_that_is_gone_and_comes_back(self):
        arn = self.backup('photos')
        self.put('photos', item('Photo', photo='z', album='a'))
        self.assertEqual(self.album()[0], 151)
        self.api.call('DeleteTable', {'TableName': 'photos'})
        self.settle('albums')
        self.assertEqual(self.album(), (0, 0))
        self.restore(arn, 'photos')
        self.both()
        self.assertEqual(self.album()[0], 150)
        self.put('photos', item('Photo', photo='z', album='a'))
        self.assertEqual(self.album()[0], 151)
        verify_database(self.api)

    def test_a_target_that_comes_back(self):
        arn = self.backup('albums')
        self.api.call('DeleteTable', {'TableName': 'albums'})
        for n in range(100):
            self.delete('photos', f'PHOTO#{n}')
        self.restore(arn, 'albums')
        self.both()
        self.assertEqual(self.album()[0], 100)
        self.put('photos', item('Photo', photo='z', album='a'))
        self.assertEqual(self.album()[0], 101)
        verify_database(self.api)

    def test_a_target_under_another_name_keeps_what_it_had(self):
        arn = self.backup('albums')
        self.restore(arn, 'albums2')
        self.settle('albums2', patience=10)
        self.put('photos', item('Photo', photo='z', album='a'))
        self.assertEqual((self.album()[0], self.album(table='albums2')[0]), (151, 150))
        # It settles, too, if the sources get their model later.
        self.api.call('DeleteTable', {'TableName': 'albums2'})
        self.api.call('AbandonModel', {'TableName': 'photos'})
        self.restore(arn, 'albums2')
        self.apply(MODEL, 'photos', 'albums')
        self.settle('albums2', patience=10)
        self.assertEqual((self.album()[0], self.album(table='albums2')[0]), (151, 150))
        verify_database(self.api)

    def test_a_target_that_is_new(self):
        """`dolmen apply` waits until its counts are there."""
        path = os.path.join(self.directory, 'more.dolmen')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(MODEL + '''
table a_sizes { key PK, SK  type kind }
entity Size of a_sizes { PK = "SIZE#{size}"  SK = "x"  size number  photos integer = count of Photo where size = size }
''')
        self.api.call('CreateTable', {'TableName': 'a_sizes', 'BillingMode': 'PAY_PER_REQUEST', 'KeySchema': [
            {'AttributeName': 'PK', 'KeyType': 'HASH'}, {'AttributeName': 'SK', 'KeyType': 'RANGE'}], 'AttributeDefinitions': [
            {'AttributeName': 'PK', 'AttributeType': 'S'}, {'AttributeName': 'SK', 'AttributeType': 'S'}]})
        for n in range(20):
            self.put('a_sizes', {**item('Size', size=n, photos=0), 'PK': {'S': f'SIZE#{n}'}, 'SK': {'S': 'x'}})
        self.cli('apply', path)
        self.assertEqual([self.get('a_sizes', f'SIZE#{n}')['photos'] for n in range(20)], [1] * 20)
        verify_database(self.api)

    def test_through_a_crash(self):
        """What is to be counted anew is known after kill -9, however soon it comes."""
        self.api.call('AbandonModel', {'TableName': 'photos'})
        for n in range(100):
            self.delete('photos', f'PHOTO#{n}')
        self.api.call('ApplyModel', {'Model': MODEL, 'FileName': 'test.dolmen'})
        self.server.kill()
        type(self).start()
        self.apply(MODEL, 'photos', 'albums')
        self.assertEqual(self.album()[0], 100)
        verify_database(self.api)
