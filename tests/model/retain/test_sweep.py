"""What is due goes, and nothing else: retain, keep, and others who write meanwhile."""
import os
import random
import subprocess
import threading
import time

from support import BINARY, DAY, Api, ApiError, Case, item, stamp

JOBS = '''
table jobs { key PK, SK  type kind  stream new_and_old_images }
entity Job {
  PK = "JOB#{id}"  SK = "JOB"
  id string
  status "open" | "done" = "open"
  created_at timestamp = now()
  day date?
  ends epoch?
  tries integer?
}
'''
VERSIONS = '''
table jobs { key PK, SK  type kind }
entity Version {
  PK = "ASSET#{asset}#{lang}"  SK = "V#{id}"
  asset string
  lang string
  id string
  version number?
  views integer?
}
'''


def records_of(endpoint):
    """All records of the only stream, in their order."""
    streams = Api(endpoint, service='DynamoDBStreams_20120810.')
    arn = streams.call('ListStreams', {})['Streams'][0]['StreamArn']
    records = []
    for shard in streams.call('DescribeStream', {'StreamArn': arn})['StreamDescription']['Shards']:
        place = streams.call('GetShardIterator', {'StreamArn': arn, 'ShardId': shard['ShardId'],
                                                  'ShardIteratorType': 'TRIM_HORIZON'})['ShardIterator']
        page = None
        while place is not None and (page is None or page):
            answer = streams.call('GetRecords', {'ShardIterator': place})
            page, place = answer['Records'], answer.get('NextShardIterator')
            records += page
    streams.close()
    return sorted(records, key=lambda one: one['dynamodb']['SequenceNumber'])


class Retain(Case):
    def old(self, count, status='done', days=100):
        return [item('Job', id=f'{status}{number:05}', status=status, created_at=stamp(time.time() - days * DAY - number))
                for number in range(count)]

    def test_due(self):
        """By time and test; the archive has the very images, and import brings them back."""
        self.serve()
        self.apply(JOBS)
        self.load(self.old(300))
        self.load(self.old(20, 'open'))
        self.load([item('Job', id='young', status='done')])
        before = self.scan()
        due = {key: one for key, one in before.items() if one['status']['S'] == 'done' and one['id']['S'] != 'young'}
        self.apply(JOBS + 'retain Job for 90d when status = "done" then archive', '--yes')
        rule = self.sweep()['retain-Job']
        self.assertEqual((rule['Status'], rule['TotalRemoved'], rule['TotalArchived']), ('IDLE', 300, 300))
        after = self.scan()
        self.assertEqual(set(before) - set(after), set(due))
        self.assertEqual({key: images[-1] for key, images in self.archives().items()}, due)
        self.assertEqual(self.metric('removed_items_total'), 300)
        self.assertEqual(self.metric('running'), 0)
        # Back again: by the command line, and by ImportTable into a table of its own.
        self.apply(JOBS)
        done = self.cli('import', 'jobs', os.path.join(self.archive, 'jobs'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.scan(), before)
        self.api.call('ImportTable', {
            'S3BucketSource': {'S3Bucket': 'archives', 'S3KeyPrefix': 'jobs/retain-Job'}, 'InputFormat': 'DYNAMODB_JSON',
            'InputCompressionType': 'GZIP', 'TableCreationParameters': {
                'TableName': 'back', 'BillingMode': 'PAY_PER_REQUEST',
                'KeySchema': [{'AttributeName': 'PK', 'KeyType': 'HASH'}, {'AttributeName': 'SK', 'KeyType': 'RANGE'}],
                'AttributeDefinitions': [{'AttributeName': name, 'AttributeType': 'S'} for name in ('PK', 'SK')]}})
        self.wait(lambda: self.api.call('ListImports', {})['ImportSummaryList'][0]['ImportStatus'] == 'COMPLETED', 'the import')
        self.assertEqual(self.scan('back'), due)

    def test_clock(self):
        """A walk begins when its time has come, by the clock of the server, and not before."""
        self.serve('--retain-every', '1d')
        self.apply(JOBS + 'retain Job for 90d then delete')
        self.load([item('Job', id=f'{number}') for number in range(10)])
        self.advance(89 * DAY)
        self.sweep()
        self.assertEqual(len(self.scan()), 10)
        self.load([item('Job', id='late')])
        self.advance(2 * DAY)  # nobody asks for it
        self.wait(lambda: len(self.scan()) == 1, 'the walk')
        self.assertEqual([one['id']['S'] for one in self.scan().values()], ['late'])
        self.assertFalse(os.path.exists(self.archive))

    def test_times(self):
        """Dates and epochs; what is no time is left alone."""
        now = time.time()
        for name, old, young in (('day', time.strftime('%Y-%m-%d', time.gmtime(now - 12 * DAY)),
                                  time.strftime('%Y-%m-%d', time.gmtime(now - 9 * DAY))),
                                 ('ends', int(now - 11 * DAY), int(now - 9 * DAY))):
            with self.subTest(name):
                self.data = os.path.join(self.directory, name)
                self.serve()
                self.apply(JOBS)
                self.load([item('Job', id='old', **{name: old}), item('Job', id='young', **{name: young}), item('Job', id='none')])
                self.apply(JOBS + f'retain Job for 10d after {name} then delete', '--yes')
                self.sweep()
                self.assertEqual({one['id']['S'] for one in self.scan().values()}, {'young', 'none'})
                self.end()

    def test_stream(self):
        """Streams say who it was, as of what has expired."""
        self.serve()
        self.apply(JOBS)
        self.load(self.old(1))
        self.apply(JOBS + 'retain Job for 90d then delete', '--yes')
        self.sweep()
        records = records_of(self.server.endpoint)
        self.assertEqual([one['eventName'] for one in records], ['INSERT', 'REMOVE'])
        self.assertNotIn('userIdentity', records[0])
        self.assertEqual(records[1]['userIdentity'], {'PrincipalId': 'dynamodb.amazonaws.com', 'Type': 'Service'})

    def test_soft_delete(self):
        """`after delete` removes what was deleted, for good; and nothing else."""
        model = JOBS.replace('  day date?', '  deleted_at timestamp?\n  softdelete deleted_at')
        self.serve()
        self.apply(model + 'retain Job for 30d after delete then archive')
        self.load([item('Job', id=f'{number}') for number in range(6)])
        for number in range(3):
            self.api.call('DeleteItem', {'TableName': 'jobs', 'Key': {'PK': {'S': f'JOB#{number}'}, 'SK': {'S': 'JOB'}}})
        self.assertEqual(len(self.scan()), 6)
        self.advance(29 * DAY)
        self.sweep()
        self.assertEqual(len(self.scan()), 6)
        self.advance(2 * DAY)
        self.sweep()
        self.assertEqual({one['id']['S'] for one in self.scan().values()}, {'3', '4', '5'})
        self.assertEqual(len(self.archives()), 3)

    def test_append_only(self):
        """Clients cannot delete; the server does."""
        model = JOBS.replace('  day date?', '  append only')
        self.serve()
        self.apply(model + 'retain Job for 30d then delete')
        self.load([item('Job', id='1')])
        with self.assertRaises(ApiError):
            self.api.call('DeleteItem', {'TableName': 'jobs', 'Key': {'PK': {'S': 'JOB#1'}, 'SK': {'S': 'JOB'}}})
        self.advance(31 * DAY)
        self.sweep()
        self.assertEqual(self.scan(), {})

    def test_rescue(self):
        """Whoever changes an item while it is swept keeps it, or hears that it is gone: never neither."""
        self.serve('--retain-rate', '1500')
        self.apply(JOBS)
        self.load(self.old(2000))
        model = JOBS + 'retain Job for 90d when tries missing then archive'
        rescued, refused = set(), set()

        def rescue(seed):
            api, chance = Api(self.server.endpoint), random.Random(seed)
            for position, number in enumerate(chance.sample(range(2000), 600)):
                if position == 300:  # the others while it deletes
                    self.wait(lambda: self.metric('removed_items_total') > 0, 'the first delete')
                try:
                    api.call('UpdateItem', {
                        'TableName': 'jobs', 'Key': {'PK': {'S': f'JOB#done{number:05}'}, 'SK': {'S': 'JOB'}},
                        'UpdateExpression': 'SET tries = :one', 'ConditionExpression': 'attribute_exists(PK)',
                        'ExpressionAttributeValues': {':one': {'N': '1'}}})
                    rescued.add(number)
                except ApiError as error:
                    self.assertEqual(error.name, 'ConditionalCheckFailedException')
                    refused.add(number)
            api.close()

        self.apply(model, '--yes')
        threads = [threading.Thread(target=rescue, args=(seed,)) for seed in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.sweep()
        there = {int(one['id']['S'][4:]) for one in self.scan().values()}
        self.assertEqual(there, rescued)
        archived = {int(key[0][8:]) for key in self.archives()}
        self.assertLessEqual(set(range(2000)) - there, archived)
        self.assertTrue(rescued)

    def test_rule_goes(self):
        """A walk ends when its rule is taken back."""
        self.serve('--retain-rate', '100')
        self.apply(JOBS)
        self.load(self.old(1000))
        self.apply(JOBS + 'retain Job for 90d then delete', '--yes')
        self.wait(lambda: len(self.scan()) < 1000, 'the first delete')
        self.apply(JOBS)
        left = len(self.scan())
        self.assertTrue(0 < left < 1000)
        self.wait(lambda: self.metric('running') == 0, 'the end of the walk')
        self.assertEqual(len(self.scan()), left)
        self.assertNotIn('Sweeps', self.api.call('DescribeModel', {'TableName': 'jobs'}))

    def test_same_rule(self):
        """Another model with the same rule: the walk goes on, and knows what it has done."""
        self.serve('--retain-rate', '200')
        self.apply(JOBS)
        self.load(self.old(300))
        self.apply(JOBS + 'retain Job for 90d then archive', '--yes')
        self.wait(lambda: len(self.scan()) < 300, 'the first delete')
        self.apply(JOBS + 'retain Job for 90d then archive\n// and a comment')
        self.wait(lambda: len(self.scan()) == 0, 'the end of the walk')
        self.wait(lambda: self.metric('running') == 0, 'the end of the walk')
        self.assertEqual(self.sweep()['retain-Job']['TotalRemoved'], 300)

    def test_warn(self):
        """Rules are kept where the guard enforces."""
        model = JOBS.replace('type kind', 'type kind  guard warn')
        self.serve()
        self.apply(model)
        self.load([{**one, 'PK': {'S': 'JOB#' + one['id']['S']}, 'SK': {'S': 'JOB'}} for one in self.old(3)])
        out = self.apply(model + 'retain Job for 90d then delete')
        self.assertNotIn('due', out)
        self.assertEqual(self.sweep()['retain-Job']['Status'], 'OFF')
        self.assertEqual(len(self.scan()), 3)

    def test_directory(self):
        """The command line opens a directory itself: listing sweeps nothing, `sweep` does."""
        self.serve()
        self.apply(JOBS + 'retain Job for 90d then archive')
        self.load(self.old(3))
        self.server.stop()
        listed = subprocess.run([BINARY, 'archives', '--data', self.data], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((listed.returncode, 'items' in listed.stdout), (0, False), listed.stderr)
        for _ in range(2):
            swept = subprocess.run([BINARY, 'sweep', 'jobs', '--data', self.data], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(swept.returncode, 0, swept.stderr)
            # It may take two walks: one that was due when the directory was opened, and the one that was asked for.
            self.assertRegex(swept.stdout, r'in all: \d+ walks?, 3 archived, 3 removed')
        self.assertEqual(len(self.archives()), 3)

    def test_answered(self):
        """Whoever asks knows when a walk that began after that has ended, whatever runs then."""
        def rule(operation):
            return self.api.call(operation, {'TableName': 'jobs'})['Sweeps'][0]
        self.serve('--retain-rate', '20')
        self.apply(JOBS)
        self.load(self.old(60))
        self.apply(JOBS + 'retain Job for 90d then delete', '--yes', '--no-wait')
        self.wait(lambda: rule('DescribeModel')['Status'] == 'RUNNING', 'the first walk')
        first, second = rule('SweepTable'), rule('SweepTable')
        self.assertEqual((first['Status'], first['Answered'] < first['Asked']), ('RUNNING', True))
        self.assertEqual(second['Asked'], first['Asked'] + 1)
        seen = set()
        def ended():
            now = rule('DescribeModel')
            seen.add((now['Walks'], now['Answered'] >= second['Asked']))
            return now['Answered'] >= second['Asked']
        self.wait(ended, 'the walk that was asked for')
        self.assertEqual(len(self.scan()), 0)
        self.assertNotIn((1, True), seen)  # the walk that ran when it was asked is not the answer

    def test_two_rules(self):
        self.serve()
        self.apply(JOBS)
        self.load(self.old(5) + self.old(5, 'open', 10))
        self.load([{**one, 'id': {'S': 'older ' + one['id']['S']}} for one in self.old(5, 'open', 40)])
        self.apply(JOBS + 'retain Job for 90d when status = "done" then archive\nretain Job for 30d when status = "open" then delete\n',
                   '--yes')
        rules = self.sweep()
        self.assertEqual([rules[name]['TotalRemoved'] for name in ('retain-Job', 'retain-Job-2')], [5, 5])
        self.assertEqual(len(self.archives()), 5)
        self.assertEqual(len(self.scan()), 5)

    def test_told(self):
        """The command line says what there is."""
        self.serve()
        self.apply(JOBS)
        self.load(self.old(3))
        self.apply(JOBS + 'retain Job for 90d then archive', '--yes')
        self.sweep()
        rules = self.cli('model', 'jobs', '--rules')
        self.assertIn('retain Job for 90d then archive', rules.stdout)
        self.assertIn('3 archived, 3 removed', rules.stdout)
        listed = self.cli('archives', 'jobs', '--verify')
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn('3 items', listed.stdout)
        path = next(os.path.join(directory, name) for directory, _, names in os.walk(self.archive)
                    for name in names if name.endswith('.gz'))
        with open(path, 'r+b') as file:
            file.seek(20)
            byte = file.read(1)
            file.seek(20)
            file.write(bytes([byte[0] ^ 1]))
        damaged = self.cli('archives', '--verify')
        self.assertEqual(damaged.returncode, 1)
        self.assertIn('DAMAGED', damaged.stdout)
        self.assertIn('another checksum', damaged.stdout)
        nothing = self.cli('sweep', 'none')
        self.assertEqual(nothing.returncode, 1)


def surplus(items, latest):
    """By keys, the naive way."""
    groups = {}
    for key, one in items.items():
        if 'N' in one.get('version', {}):
            groups.setdefault((one['asset']['S'], one['lang']['S']), []).append((float(one['version']['N']), key))
    return {key for group in groups.values() for _, key in sorted(group, reverse=True)[latest:]}


class Keep(Case):
    def test_property(self):
        """Against a naive recomputation, round by round."""
        seed = int(os.environ.get('SEED', random.randrange(1 << 30)))
        chance = random.Random(seed)
        for latest in (1, chance.randrange(2, 120)):
            self.data = os.path.join(self.directory, str(latest))
            self.serve('--retain-rate', '100000')
            self.apply(VERSIONS + f'keep Version latest {latest} by version per asset, lang then delete')
            for _ in range(2):
                assets = chance.randrange(1, 12)
                self.load([item('Version', asset=f'a{chance.randrange(assets)}', lang=chance.choice(['de', 'en']), id=f'{number:04}',
                                **({} if chance.random() < 0.1 else {'version': chance.choice([chance.randrange(-20, 20), chance.random() * 9])}))
                           for number in chance.sample(range(2000), 300)])
                before = self.scan()
                gone = surplus(before, latest)
                self.sweep()
                self.assertEqual(set(before) - set(self.scan()), gone, f'seed {seed}, latest {latest}')
            self.end()

    def test_archived(self):
        self.serve()
        self.apply(VERSIONS)
        self.load([item('Version', asset='a', lang='de', id=f'{number:03}', version=number) for number in range(50)])
        before = self.scan()
        self.apply(VERSIONS + 'keep Version latest 10 by version per asset then archive', '--yes')
        rule = self.sweep()['keep-Version']
        self.assertEqual((rule['TotalRemoved'], rule['TotalArchived']), (40, 40))
        after = self.scan()
        self.assertEqual({one['version']['N'] for one in after.values()}, {str(number) for number in range(40, 50)})
        self.assertEqual({key: images[0] for key, images in self.archives().items()},
                         {key: one for key, one in before.items() if key not in after})

    def test_concurrent_inserts(self):
        """Others insert and delete while it walks; in the end each group has its latest."""
        self.serve('--retain-rate', '100000')
        self.apply(VERSIONS + 'keep Version latest 5 by version per asset then delete')
        stop = threading.Event()
        written = [{} for _ in range(3)]

        def write(number):
            api, chance = Api(self.server.endpoint), random.Random(number)
            for version in range(400):
                asset = f'a{number}-{chance.randrange(4)}'
                api.call('PutItem', {'TableName': 'jobs', 'Item': item('Version', asset=asset, lang='de', id=f'{version:04}', version=version)})
                written[number].setdefault(asset, []).append(version)
            api.close()

        def sweep():
            api = Api(self.server.endpoint)
            while not stop.is_set():
                api.call('SweepTable', {'TableName': 'jobs'})
                time.sleep(0.01)
            api.close()

        threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        sweeper = threading.Thread(target=sweep)
        for thread in [*threads, sweeper]:
            thread.start()
        for thread in threads:
            thread.join()
        stop.set()
        sweeper.join()
        self.sweep()
        found = {}
        for one in self.scan().values():
            found.setdefault(one['asset']['S'], []).append(int(one['version']['N']))
        expected = {asset: versions[-5:] for one in written for asset, versions in one.items()}
        self.assertEqual({asset: sorted(versions) for asset, versions in found.items()}, expected)

    def test_successors_deleted(self):
        """Whatever a sweep deletes is surplus at that moment: the stream is replayed, with what others have deleted."""
        model = VERSIONS.replace('type kind', 'type kind  stream new_and_old_images')
        self.serve('--retain-rate', '100')
        self.apply(model)
        self.load([item('Version', asset=f'a{asset}', lang='de', id=f'{version}', version=version)
                   for asset in range(40) for version in range(8)])
        self.apply(model + 'keep Version latest 5 by version per asset then archive', '--yes', '--no-wait')
        self.wait(lambda: self.metric('removed_items_total') > 0, 'the first delete')
        for asset in random.sample(range(40), 40):
            for version in (7, 6, 5):
                self.api.call('DeleteItem', {'TableName': 'jobs', 'Key': {'PK': {'S': f'ASSET#a{asset}#de'}, 'SK': {'S': f'V#{version}'}}})
        self.sweep()
        there, swept = set(), 0
        for record in records_of(self.server.endpoint):
            image = record['dynamodb'].get('NewImage') or record['dynamodb']['OldImage']
            one = image['asset']['S'], int(image['version']['N'])
            if record['eventName'] == 'REMOVE':
                there.remove(one)
            else:
                there.add(one)
            if 'userIdentity' in record:
                swept += 1
                above = [version for asset, version in there if asset == one[0] and version > one[1]]
                self.assertGreaterEqual(len(above), 5, one)
        self.assertEqual(there, {(one['asset']['S'], int(one['version']['N'])) for one in self.scan().values()})
        self.assertGreater(swept, 0)

    def test_witness_changes(self):
        """Those that stay may change without end: the others go all the same."""
        self.serve()
        self.apply(VERSIONS)
        self.load([item('Version', asset='a', lang='de', id=f'{version:02}', version=version) for version in range(30)])
        stop = threading.Event()

        def touch():
            api = Api(self.server.endpoint)
            while not stop.is_set():
                api.call('UpdateItem', {'TableName': 'jobs', 'Key': {'PK': {'S': 'ASSET#a#de'}, 'SK': {'S': 'V#29'}},
                                        'UpdateExpression': 'ADD #v :one', 'ExpressionAttributeNames': {'#v': 'views'},
                                        'ExpressionAttributeValues': {':one': {'N': '1'}}})
            api.close()

        thread = threading.Thread(target=touch)
        thread.start()
        try:
            self.apply(VERSIONS + 'keep Version latest 3 by version per asset then delete', '--yes')
            self.wait(lambda: self.sweep() and len(self.scan()) == 3, 'the end')
        finally:
            stop.set()
            thread.join()


ALBUMS = '''
table jobs { key PK, SK  type kind }
entity Album {
  PK = "ALBUM#{albumId}"  SK = "ALBUM"
  albumId string
  madeAt timestamp = now()
  photos integer = count of Photo
}
entity Photo {
  PK = "ALBUM#{albumId}"  SK = "PHOTO#{photoId}"
  albumId string references Album on delete reject
  photoId string
  takenAt timestamp = now()
}
entity Event {
  PK = "EVENT#{id}"  SK = "EVENT"
  id string = ulid()
  type string
}
emit "photo.removed" on remove of Photo into Event
'''


class Consequences(Case):
    """Deletes of sweeps are deletes: what follows from one follows from the other."""

    def test_counts_and_events(self):
        old = stamp(time.time() - 40 * DAY)
        self.serve()
        self.apply(ALBUMS)
        self.load([item('Album', albumId='a'), item('Album', albumId='b')])
        self.load([item('Photo', albumId='ab'[number % 2], photoId=f'{number:02}', takenAt=old if number < 12 else stamp(time.time()))
                   for number in range(30)])
        self.apply(ALBUMS + 'retain Photo for 30d then archive', '--yes')
        self.sweep()
        there = self.scan()
        self.assertEqual([there[f'ALBUM#{album}', 'ALBUM']['photos']['N'] for album in 'ab'], ['9', '9'])
        self.assertEqual(len([one for one in there.values() if one['kind']['S'] == 'Event']), 12)

    def test_rejected(self):
        """What is referred to stays, and the rule says so; the others go."""
        old = stamp(time.time() - 40 * DAY)
        self.serve()
        self.apply(ALBUMS)
        self.load([item('Album', albumId=f'{number}', madeAt=old) for number in range(5)])
        self.load([item('Photo', albumId='3', photoId='x')])
        self.apply(ALBUMS + 'retain Album for 30d then delete', '--yes')
        rule = self.sweep()['retain-Album']
        self.assertEqual((rule['Status'], rule['TotalRemoved'], rule['Left']), ('IDLE', 4, 1))
        self.assertIn('an item cannot be deleted', rule['Failure'])
        self.assertEqual({key[0] for key in self.scan()}, {'ALBUM#3'})
