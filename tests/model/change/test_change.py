"""diff, apply, abandon and serve --model on a real server: changes of every kind, backfills that kill -9 cuts off."""
import os
import random
import subprocess
import time
import unittest

from support import BINARY, ApiError, Case, Server, cli, item

V1 = '''
table shop {
  key PK, SK
  index GSI1 (GSI1PK, GSI1SK)
  index OLD (oldKey)
  type kind
  ttl expires
}
type Address { city: string }
entity User {
  PK = "USER#{userId}"  SK = "META"
  GSI1 = "EMAIL", "{email}"
  userId string
  email string unique lower
  name string?
  address Address?
  oldKey string?
  expires epoch?
}
entity Note {
  PK = "USER#{userId}"  SK = "NOTE#{noteId}"
  userId string
  noteId string
}
access userByEmail(email) = one User via GSI1
access notesOfUser(userId) = Note
'''

V2 = '''
table shop {
  key PK, SK
  index GSI1 (GSI1PK, GSI1SK) project keys
  index GSI2 (GSI2PK, GSI2SK)
  type kind
  stream new_image
  pitr on
  billing provisioned(7, 8)
  unknown reject
}
type Address { city: string  zip: string? }
entity User {
  PK = "USER#{userId}"  SK = "META"
  GSI1 = "MAIL", "{email}"
  GSI2 = "PLAN#{plan}", "{userId}"
  userId string
  email string unique lower
  name string(1..50)?
  address Address?
  plan "free" | "pro" = "free"
}
entity Order {
  PK = "USER#{userId}"  SK = "ORDER#{number:pad(6)}"
  userId string
  number integer
}
access userByEmail(email) = one User via GSI1
access usersByPlan(plan) = User via GSI2
'''


def user(number, **more):
    return item(PK=f'USER#{number}', SK='META', userId=str(number), email=f'u{number}@x.de', **more)


class Diff(Case):
    def test_every_kind_of_change(self):
        self.serve()
        v1, v2 = self.file('v1.dolmen', V1), self.file('v2.dolmen', V2)
        self.assertEqual(self.cli('apply', v1).code, 0)
        found = self.cli('diff', v2, '--json').json()['Tables'][0]
        kinds = {(change['Kind'], change.get('Subject')) for change in found['Changes']}
        for wanted in [('INDEX_RECREATED', 'GSI1'), ('INDEX_CREATED', 'GSI2'), ('INDEX_UNNAMED', 'OLD'), ('FEATURE_UNNAMED', 'ttl'),
                       ('STREAM', None), ('PITR', None), ('BILLING', None), ('MODE', 'unknown'),
                       ('ENTITY_ADDED', 'Order'), ('ENTITY_REMOVED', 'Note'), ('TEMPLATE_CHANGED', 'User.GSI1PK'),
                       ('TEMPLATE_ADDED', 'User.GSI2PK'), ('ATTRIBUTE_ADDED', 'User.plan'),
                       ('ATTRIBUTE_REMOVED', 'User.oldKey'), ('ATTRIBUTE_CHANGED', 'User.name'),
                       ('ATTRIBUTE_CHANGED', 'User.address'), ('PATTERN_ADDED', 'usersByPlan'),
                       ('PATTERN_REMOVED', 'notesOfUser'), ('PATTERN_CHANGED', 'userByEmail')]:
            self.assertIn(wanted, kinds)
        pruned = self.cli('diff', v2, '--prune', '--json').json()['Tables'][0]
        kinds = {(c['Kind'], c.get('Subject')) for c in pruned['Changes']}
        self.assertTrue({('INDEX_DELETED', 'OLD'), ('TTL', None)} <= kinds)
        words = self.cli('diff', v2).out
        self.assertIn('attribute User.plan is new: "free" | "pro" = "free"', words)
        self.assertIn('index GSI2 will be created: (GSI2PK, GSI2SK)', words)
        self.assertEqual(len(self.api.call('ListModelVersions', {'TableName': 'shop'})['Versions']), 1)

    def test_items(self):
        self.serve()
        self.create()
        self.load([user(1), user(2, name=5), user(3), item(PK='USER#4', SK='META', userId='4', email='u3@x.de'),
                   item(PK='else', SK='where'), item(PK='USER#1', SK='NOTE#7')])
        found = self.cli('diff', self.file('v1.dolmen', V1), '--json').json()['Tables'][0]
        items = found['Items']
        self.assertEqual((items['Examined'], items['Violations'], items['Unmatched'], items['Duplicates']), (6, 1, 1, 1))
        self.assertEqual(items['Backfill'], 4)
        self.assertEqual(found['Refused'], 3)
        self.assertEqual(items['ViolationSamples'][0]['Key'], item(PK='USER#2', SK='META'))
        self.assertEqual(items['ViolationSamples'][0]['Text'], 'User: /name: expected string, got 5')
        self.assertEqual(items['UnmatchedSamples'][0]['Key'], item(PK='else', SK='where'))
        self.assertEqual(items['DuplicateSamples'][0]['Text'], 'User.email is not unique')
        sampled = self.cli('diff', self.file('v1.dolmen', V1), '--sample', '2', '--json').json()['Tables'][0]['Items']
        self.assertEqual((sampled['Examined'], sampled['Sampled']), (2, True))

    def test_wrong_files(self):
        self.serve()
        broken = self.cli('diff', self.file('broken.dolmen', 'table shop {\n  key PK\n  indx GSI1 (A)\n}\n'))
        self.assertEqual(broken.code, 1)
        self.assertIn('broken.dolmen:3:3: error', broken.err)
        self.assertEqual(self.cli('diff', '/nowhere.dolmen').code, 1)
        self.assertEqual(cli('diff').code, 2)
        self.assertIn('has no table', self.cli('diff', self.file('empty.dolmen', '// nothing\n')).err)
        self.create()
        for operation in 'DescribeModel', 'AbandonModel':
            with self.assertRaises(ApiError) as caught:
                self.api.call(operation, {'TableName': 'shop'})
            self.assertEqual(str(caught.exception), 'ResourceNotFoundException: Table shop has no model.')
            with self.assertRaises(ApiError) as caught:
                self.api.call(operation, {'TableName': 'nowhere'})
            self.assertEqual(str(caught.exception),
                             'ResourceNotFoundException: Requested resource not found: Table: nowhere not found')
        with self.assertRaises(ApiError) as caught:
            self.api.call('ApplyModel', {'FileName': 'x', 'Rate': 0})
        self.assertIn('2 validation errors detected', caught.exception.message)


class Apply(Case):
    def test_creates_and_is_idempotent(self):
        self.serve()
        v1 = self.file('v1.dolmen', V1)
        self.assertEqual(self.cli('apply', '--check', v1).code, 1)
        self.assertEqual(self.cli('apply', v1).code, 0)
        again = self.cli('apply', v1)
        self.assertEqual((again.code, 'nothing to change' in again.out), (0, True))
        self.assertEqual(self.cli('apply', '--check', v1).code, 0)
        table = self.api.call('DescribeTable', {'TableName': 'shop'})['Table']
        self.assertEqual({i['IndexName'] for i in table['GlobalSecondaryIndexes']}, {'GSI1', 'OLD'})
        ttl = self.api.call('DescribeTimeToLive', {'TableName': 'shop'})['TimeToLiveDescription']
        self.assertEqual(ttl, {'TimeToLiveStatus': 'ENABLED', 'AttributeName': 'expires'})
        with self.assertRaises(ApiError) as caught:
            self.api.call('PutItem', {'TableName': 'shop', 'Item': user(1, name=True)})
        self.assertEqual(caught.exception.name, 'ValidationException')
        self.assertEqual(self.api.call('ListModels', {})['Models'][0]['TableName'], 'shop')
        self.assertEqual(self.describe()['Model'], V1)

    def test_backfill_and_structure(self):
        self.serve()
        self.create()
        self.load(user(number) for number in range(300))
        self.assertEqual(self.cli('apply', self.file('v1.dolmen', V1)).code, 0)
        applied = self.cli('apply', '--prune', self.file('v2.dolmen', V2))
        self.assertEqual(applied.code, 0, applied.err)
        self.assertIn('300 items looked at, 300 changed', applied.out)
        table = self.api.call('DescribeTable', {'TableName': 'shop'})['Table']
        indexes = {i['IndexName']: i for i in table['GlobalSecondaryIndexes']}
        self.assertEqual(set(indexes), {'GSI1', 'GSI2'})
        self.assertEqual(indexes['GSI1']['Projection']['ProjectionType'], 'KEYS_ONLY')
        self.assertEqual(table['StreamSpecification']['StreamViewType'], 'NEW_IMAGE')
        self.assertEqual(table['ProvisionedThroughput']['ReadCapacityUnits'], 7)
        self.assertEqual(self.api.call('DescribeTimeToLive', {'TableName': 'shop'})['TimeToLiveDescription'],
                         {'TimeToLiveStatus': 'DISABLED'})
        for one in self.scan():
            self.assertEqual((one['GSI1PK'], one['GSI1SK'], one['GSI2PK'], one['GSI2SK'], one['plan'], one['kind']),
                             ('MAIL', one['email'], 'PLAN#free', one['userId'], 'free', 'User'))
        found = self.api.pages('Query', {
            'TableName': 'shop', 'IndexName': 'GSI2', 'KeyConditionExpression': 'GSI2PK = :p',
            'ExpressionAttributeValues': {':p': {'S': 'PLAN#free'}}})
        self.assertEqual(len(found), 300)
        progress = self.describe()['Progress']
        self.assertEqual((progress['Phase'], progress['Done'], progress['Total'], progress['Violations']), ('DONE', 300, 300, 0))
        with self.assertRaises(ApiError) as caught:
            self.api.call('PutItem', {'TableName': 'shop', 'Item': {**user(1000), 'email': {'S': 'U7@x.de'}}})
        self.assertIn('a value that no other item has', caught.exception.message)

    def test_refuses_and_forces(self):
        self.serve()
        self.create()
        self.load([user(1), user(2, name=5), item(PK='else', SK='where')])
        v1 = self.file('v1.dolmen', V1)
        refused = self.cli('apply', v1)
        self.assertEqual(refused.code, 1)
        self.assertIn('User: /name: expected string, got 5', refused.err)
        self.assertIn('1 item matches no entity', refused.err)
        self.assertEqual(self.api.call('ListModels', {})['Models'], [])
        self.assertNotIn('kind', self.scan()[0])
        forced = self.cli('apply', '--force', v1)
        self.assertEqual(forced.code, 0, forced.err)
        self.assertIn('2 left as they are', forced.out)
        stored = {one['PK']: one for one in self.scan()}
        self.assertEqual(stored['USER#1']['kind'], 'User')
        self.assertNotIn('kind', stored['USER#2'])
        self.assertEqual(self.cli('apply', '--check', v1).code, 1)
        self.assertEqual(self.describe()['Progress']['Violations'], 2)

    def test_impossible(self):
        self.serve()
        self.create()
        other = self.cli('apply', '--force', self.file('v.dolmen', V1.replace('key PK, SK', 'key PK, number')
                                                       .replace('SK = "META"', 'number = "META"')
                                                       .replace('SK = "NOTE', 'number = "NOTE')))
        self.assertEqual(other.code, 1)
        self.assertIn('the keys of a table cannot be changed', other.err)
        local = self.cli('apply', self.file('l.dolmen', V1.replace('index OLD (oldKey)', 'local index OLD (oldKey) for all')))
        self.assertEqual(local.code, 1)
        self.assertIn('local index', local.err)

    def test_in_a_data_directory(self):
        v1, v2 = self.file('v1.dolmen', V1), self.file('v2.dolmen', V2)
        self.serve()
        self.create()
        self.load(user(number) for number in range(500))
        self.server.stop()
        for model in v1, v2:
            done = cli('apply', model, '--data', self.data, '--rate', '2000')
            self.assertEqual(done.code, 0, done.err)
        self.serve()
        self.assertEqual({one['GSI2PK'] for one in self.scan()}, {'PLAN#free'})
        self.assertEqual(self.describe()['Status'], 'ACTIVE')

    def test_progress_on_a_terminal(self):
        self.serve()
        self.create()
        self.load(user(number) for number in range(1500))
        master, slave = os.openpty()
        process = subprocess.Popen([BINARY, 'apply', self.file('v1.dolmen', V1), '--rate', '1500', '--endpoint',
                                    self.server.endpoint], stderr=slave, stdout=subprocess.DEVNULL)
        os.close(slave)
        shown = b''
        while True:
            try:
                shown += os.read(master, 4096)
            except OSError:  # the other end is closed
                break
        os.close(master)
        self.assertEqual(process.wait(), 0)
        self.assertRegex(shown.decode(), r'backfilling \[#*\.*\] +\d+%  \d+ items  \d+/s  \d+ s left')

    def test_no_claim_outlives_its_model(self):
        self.serve()
        v1 = self.file('v1.dolmen', V1)
        free = self.file('free.dolmen', V1.replace('email string unique lower', 'email string lower'))
        self.cli('apply', v1)
        self.load([user(1)])
        self.assertEqual(self.cli('apply', free).code, 0)
        self.load([{**user(1), 'email': {'S': 'other@x.de'}}])
        self.assertEqual(self.cli('apply', v1).code, 0)
        self.load([{**user(2), 'email': {'S': 'u1@x.de'}}])
        with self.assertRaises(ApiError):
            self.api.call('PutItem', {'TableName': 'shop', 'Item': {**user(3), 'email': {'S': 'other@x.de'}}})


class Crash(Case):
    def test_backfill_survives_kills(self):
        seed = int(os.environ.get('SEED', random.randrange(1 << 30)))
        chance = random.Random(seed)
        self.serve('--durability', 'relaxed')
        self.create()
        self.load(user(number) for number in range(3000))
        v2 = self.file('v2.dolmen', V2)
        self.assertEqual(self.cli('apply', '--no-wait', '--rate', '2000', v2).code, 0)
        kills, before = 0, (False, 0)
        while kills < 8:
            time.sleep(chance.uniform(0.05, 0.6))
            found = self.describe()
            if found['Status'] != 'APPLYING':
                break
            # First the unique values are gathered, then the items completed; each goes on where it was.
            done = (found['Progress']['Phase'] != 'CLAIMS', found['Progress']['Done'])
            self.assertGreaterEqual(done, before, f'seed {seed}')
            before = done
            self.server.kill()
            kills += 1
            self.serve('--durability', 'relaxed')
        self.settle()
        self.assertGreater(kills, 1, f'seed {seed}')
        stored = self.scan()
        self.assertEqual(len(stored), 3000)
        for one in stored:
            self.assertEqual((one['GSI1PK'], one['GSI1SK'], one['GSI2SK']), ('MAIL', one['email'], one['userId']), f'seed {seed}')
        # What was done before a kill is counted once, and not forgotten.
        progress = self.describe()['Progress']
        self.assertEqual((progress['Done'], progress['Written']), (3000, 3000), f'seed {seed}')


MEMBERS = """
table shop {
  key PK, SK
  index byDay (day, sum number)%s
  type kind
}
entity Sale  { PK = "SALE#{id}"  SK = "x"
  byDay = day, sum
  id string  day date  sum number }
entity Offer { PK = "OFFER#{id}"  SK = "x"%s
  id string  day date  sum number }
entity Note  { PK = "NOTE#{id}"  SK = "x"  id string }
access salesOf(day) = Sale via byDay
"""


class Members(Case):
    """An index over native attributes has the items of the entities that say so, and no others."""

    def entries(self):
        found = self.api.pages('Scan', {'TableName': 'shop', 'IndexName': 'byDay'})
        return sorted(entry['PK']['S'] for entry in found)

    def put(self, kind, number, **more):
        self.api.call('PutItem', {'TableName': 'shop', 'Item': item(kind=kind, id=str(number), day='2026-01-01', sum=1, **more)})

    def test_members(self):
        self.serve()
        self.assertEqual(self.cli('apply', self.file('a.dolmen', MEMBERS % ('', ''))).code, 0)
        for kind in ('Sale', 'Offer', 'Note'):  # a note has the attributes without declaring them
            self.put(kind, 1)
        self.assertEqual(self.entries(), ['SALE#1'])
        # The index is filled anew when other entities are in it.
        every = self.file('b.dolmen', MEMBERS % (' for all', ''))
        self.assertIn('index byDay is filled anew: all without Offer, Note becomes all without Note', self.cli('diff', every).out)
        self.assertEqual(self.cli('apply', every).code, 0)
        self.assertEqual(self.entries(), ['OFFER#1', 'SALE#1'])
        self.put('Offer', 2)
        self.server.kill()
        self.server = None
        self.serve()
        self.assertEqual(self.entries(), ['OFFER#1', 'OFFER#2', 'SALE#1'])
        self.assertEqual(self.cli('apply', self.file('c.dolmen', MEMBERS % ('', '  byDay = day, sum'))).code, 0)
        self.assertEqual(self.entries(), ['OFFER#1', 'OFFER#2', 'SALE#1'])
        self.assertEqual(self.cli('apply', self.file('a.dolmen', MEMBERS % ('', ''))).code, 0)
        self.assertEqual(self.entries(), ['SALE#1'])

    def test_without_a_type(self):
        """Items that do not name their entity cannot be left out: they are refused."""
        self.serve()
        text = (MEMBERS % (' for all', '')).replace('  type kind\n', '')
        self.assertEqual(self.cli('apply', self.file('a.dolmen', text)).code, 0)
        key = item(PK='NOTE#1', SK='x')
        self.api.call('PutItem', {'TableName': 'shop', 'Item': {**key, **item(day='2026-01-01')}})
        with self.assertRaises(ApiError) as refused:
            self.api.call('UpdateItem', {'TableName': 'shop', 'Key': key, 'UpdateExpression': 'SET #s = :s',
                                         'ExpressionAttributeNames': {'#s': 'sum'}, 'ExpressionAttributeValues': item(**{':s': 1})})
        self.assertIn('/sum: expected nothing (with it, the item would be in byDay, and Note has no entry there), got 1', str(refused.exception))
        self.assertEqual(self.entries(), [])


class Abandon(Case):
    def test_goes_back(self):
        self.serve()
        self.create()
        self.load(user(number) for number in range(1000))
        self.assertEqual(self.cli('apply', self.file('v1.dolmen', V1)).code, 0)
        self.assertEqual(self.cli('apply', '--no-wait', '--rate', '500', self.file('v2.dolmen', V2)).code, 0)
        while self.describe()['Progress']['Phase'] != 'ITEMS' or self.describe()['Progress']['Done'] < 100:
            time.sleep(0.05)
        back = self.cli('abandon', 'shop')
        self.assertEqual(back.code, 0, back.err)
        self.assertEqual({one['GSI1PK'] for one in self.scan()}, {'EMAIL'})
        versions = self.api.call('ListModelVersions', {'TableName': 'shop'})['Versions']
        self.assertEqual([one['Action'] for one in versions], ['apply', 'apply', 'abandon'])
        self.assertEqual(versions[0]['Digest'], versions[2]['Digest'])
        self.assertEqual(self.describe()['Model'], V1)
        ttl = self.api.call('DescribeTimeToLive', {'TableName': 'shop'})['TimeToLiveDescription']
        self.assertEqual(ttl['TimeToLiveStatus'], 'ENABLED')
        self.assertIn('no model any more', self.cli('abandon', 'shop').out)
        self.load([item(PK='free', SK='again')])
        none = self.cli('abandon', 'shop')
        self.assertEqual((none.code, 'has no model' in none.err), (1, True))


class Versions(Case):
    def test_old_texts_can_be_read_and_compared(self):
        self.serve()
        v1, v2 = self.file('v1.dolmen', V1), self.file('v2.dolmen', V2)
        for path in (v1, v2):
            self.assertEqual(self.cli('apply', path).code, 0)
        self.assertEqual(self.cli('model', 'shop').out, V2)
        self.assertEqual(self.cli('model', 'shop', '--version', '1').out, V1)
        self.assertRegex(self.cli('model', 'shop', '--history').out,
                         rf'^   1  \d{{4}}-\S+Z  [0-9a-f]{{12}}  apply  {v1}\n   2  \S+Z  [0-9a-f]{{12}}  apply  {v2}\n$')
        found = self.cli('model', 'shop', '--version', '1', '--json').json()
        self.assertEqual((found['Version'], found['Action'], found['FileName'], found['Model']), (1, 'apply', v1, V1))
        since = self.cli('diff', v2, '--version', '1')
        now = self.cli('diff', v2)
        self.assertIn('nothing to change', now.out)
        self.assertIn('attribute User.', since.out)
        self.assertNotIn('items:', since.out)
        self.assertIn('nothing to change', self.cli('diff', v1, '--version', '1').out)
        for command, text in [(('model', 'shop', '--version', '9'), 'has no version 9'), (('diff', v2, '--version', '9'), 'no model in version 9'),
                              (('model', 'none'), 'not found'), (('model',), 'name a table'),
                              (('diff', self.file('none.dolmen', V1.replace('table shop', 'table none')), '--version', '1'), 'not found')]:
            wrong = self.cli(*command)
            self.assertNotEqual(wrong.code, 0, command)
            self.assertIn(text, wrong.err, command)
        self.assertEqual(self.cli('abandon', 'shop').code, 0)
        self.assertEqual(self.cli('abandon', 'shop').code, 0)
        self.assertIn('  no model      abandon', self.cli('model', 'shop', '--history').out)
        none = self.cli('model', 'shop')
        self.assertEqual((none.code, 'has no model' in none.err), (1, True))


class Unknown(Case):
    def test_a_misspelt_attribute_is_stored_and_warned_about(self):
        """unknown is warn unless the model says otherwise."""
        self.serve('--model', self.file('v1.dolmen', 'table shop { key id }\nentity User { id string }\n'))
        self.assertEqual(self.describe()['Unknown'], 'warn')
        self.api.call('PutItem', {'TableName': 'shop', 'Item': item(id='1', nmae='x')})
        self.assertEqual(self.scan(), [{'id': '1', 'nmae': 'x'}])
        report = self.cli('report', 'shop')
        self.assertIn('/nmae: 1 write, no such attribute: "x"', report.out)


class Serve(Case):
    def test_an_older_model_is_refused_unless_told(self):
        v1, v2 = self.file('v1.dolmen', V1), self.file('v2.dolmen', V2)
        for path in (v1, v2, v2):
            self.serve('--model', path)
            self.server.stop()
        with self.assertRaises(RuntimeError) as caught:
            Server(self.data, '--model', v1)
        self.assertRegex(str(caught.exception), r'Table shop had this model before, as version 1 of \S+Z; it has version 2 now, which '
                                                r'is newer. Name the file of that one, or apply the older one all the same '
                                                r'\(dolmen serve --older-model\)')
        self.serve()
        self.assertEqual(self.describe()['Model'], V2)
        # By hand nobody does it by mistake.
        self.assertEqual(self.cli('apply', v1).code, 0)
        self.server.stop()
        self.serve('--model', v2, '--older-model')
        self.assertEqual(self.settle()['Model'], V2)

    def test_models_at_start(self):
        v1 = self.file('v1.dolmen', V1)
        other = self.file('other.dolmen', 'table other {\n  key id\n}\nentity Thing {\n  id string\n}\n')
        self.serve('--model', v1, '--model', other)
        self.assertEqual(self.api.call('ListTables', {})['TableNames'], ['other', 'shop'])
        self.load([user(1)])
        self.server.stop()
        self.assertIn('created, with model', self.server.error_text())
        with self.assertRaises(RuntimeError) as caught:
            Server(self.data, '--model', self.file('bad.dolmen', 'table shop { key }'))
        self.assertIn('bad.dolmen:1:', str(caught.exception))
        with self.assertRaises(RuntimeError) as caught:
            Server(self.data, '--model', self.file('strict.dolmen', V1.replace('name string?', 'name string')))
        self.assertIn('/name: expected string, got nothing', str(caught.exception))
        self.serve('--model', v1)
        self.assertEqual(self.describe()['Version'], 1)
        self.file('other.dolmen', V1.replace('table shop', 'table third'))
        self.assertIn('table "other" had its model from this file', self.cli('diff', other).out)


if __name__ == '__main__':
    unittest.main()
