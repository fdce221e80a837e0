"""An export of a table with every rule comes back: the same items, nothing more, and nothing for `dolmen verify` to find."""
import json
import os

from support import Case, item, verify_database

MODEL = '''
table TABLE { key PK, SK  type kind
  index GSI1 (GSI1PK, GSI1SK) }
entity Album {
  PK = "ALBUM#{album}"  SK = "x"
  softdelete gone
  album   string
  photos  integer = count of Photo
  bytes   number  = sum of Photo.size
  version integer version
  touched timestamp = now() on update
  seen    timestamp = now() always
  gone    timestamp?
}
// Before the album that it refers to, in the order of keys.
entity AAA { PK = "A#{a}"  SK = "x"  a string  album string  references Album }
entity Photo {
  PK = "PHOTO#{photo}"  SK = "x"
  GSI1 = "IN#{album}", "{photo}"
  moves state: "new" -> "shown" -> "hidden"
  check size > 0
  photo string
  album string?  references Album on delete cascade
  size  number = 1
  state "new" | "shown" | "hidden" = "new"
  name  string?  unique
  tags  set<string>?
  user  string = "u"
}
entity Tag { PK = "TAG#{tag}"  SK = "{photo}"  tag string  photo string  size number }
derive Tag from each Photo.tags as tag
entity Change { PK = "CHANGE#{change}"  SK = "x"  change string = ulid()  who string  before object?  after object? }
audit Album, Photo with before, after into Change { who = actor() }
entity Event { PK = "EVENT#{event}"  SK = "x"  event string = ulid()  type string  payload object  status "new" | "sent" = "new" }
emit "photo.{state}" on insert, modify, remove of Photo into Event
entity Order { PK = "ORDER#{order}"  SK = "x"  order string  basket string }
idempotent Order by basket for 1h
entity Line { PK = "LINE#{line}"  SK = "x"  append only  line string  at timestamp = now() on update }
entity User { PK = "USER#{user}"  SK = "x"  user string  used integer  resets timestamp? }
quota User.used at most 4 per month resets resets counting Photo
'''


class Restore(Case):
    def fill(self, table):
        self.apply(MODEL.replace('TABLE', table), table)
        for album in 'abc':
            self.put(table, item('Album', album=album))
        self.put(table, item('User', user='u'))
        self.put(table, item('AAA', a='1', album='a'))
        for n in range(4):
            self.put(table, item('Photo', photo=str(n), album='abc'[n % 2], size=n + 1, name=f'n{n}', tags={'x', f't{n}'}))
        self.api.call('UpdateItem', {
            'TableName': table, 'Key': {'PK': {'S': 'PHOTO#1'}, 'SK': {'S': 'x'}}, 'UpdateExpression': 'SET #s = :s',
            'ExpressionAttributeNames': {'#s': 'state'}, 'ExpressionAttributeValues': {':s': {'S': 'shown'}}})
        self.delete(table, 'ALBUM#c')
        self.put(table, item('Order', order='1', basket='same'))
        self.admin('/admin/clock', {'advance_seconds': 7200})
        self.put(table, item('Order', order='2', basket='same'))
        self.put(table, item('Line', line='1'))
        verify_database(self.api)

    def items(self, table):
        return sorted(self.api.pages('Scan', {'TableName': table, 'ConsistentRead': True}), key=lambda one: (one['PK']['S'], one['SK']['S']))

    def test_all_of_a_table(self):
        self.fill('full')
        stored = self.items('full')
        self.assertEqual({one['kind']['S'] for one in stored}, {'Album', 'AAA', 'Photo', 'Tag', 'Change', 'Event', 'Order', 'Line', 'User'})
        path = os.path.join(self.directory, 'full.json')
        self.cli('export', 'full', path)
        self.apply(MODEL.replace('TABLE', 'fresh'), 'fresh')
        self.admin('/admin/clock', {'advance_seconds': 9999})
        told = json.loads(self.cli('import', 'fresh', path, '--restore', '--json'))
        self.assertEqual((told['imported'], told['errors']), (len(stored), 0))
        self.assertEqual(self.items('fresh'), stored)
        verify_database(self.api)
        self.cli('verify')
        # Once more: it is the same.
        self.cli('import', 'fresh', path, '--restore', '--quiet')
        self.assertEqual(self.items('fresh'), stored)
        verify_database(self.api)
        # The other way round, so that whatever is made of something comes before it.
        with open(path, encoding='utf-8') as file:
            lines = file.readlines()
        with open(path + '.back', 'w', encoding='utf-8') as file:
            file.writelines(lines[::-1])
        self.apply(MODEL.replace('TABLE', 'backwards'), 'backwards')
        self.cli('import', 'backwards', path + '.back', '--restore', '--quiet')
        self.assertEqual(self.items('backwards'), stored)
        verify_database(self.api)
        # It is a table like any other: rules go on from there.
        self.refused(lambda: self.put('fresh', item('Photo', photo='4', album='a')), 'at most 4')
        self.refused(lambda: self.put('fresh', item('Photo', photo='5', album='a', user='v', name='n1')), 'no other item has')
        self.delete('fresh', 'ALBUM#b')
        self.assertEqual(len(self.scan('fresh', 'Photo')), 2)
        self.assertEqual(len(self.scan('fresh', 'Tag')), 4)
        verify_database(self.api)

    def test_without_consent(self):
        """A plain import cannot make what the server makes; it may repeat it."""
        self.fill('plain')
        change = next(one for one in self.items('plain') if one['kind']['S'] == 'Change')
        tag = next(one for one in self.items('plain') if one['kind']['S'] == 'Tag')
        before = self.items('plain')
        self.batch('plain', change, tag)
        self.put('plain', tag)
        self.assertEqual(self.items('plain'), before)
        self.refused(lambda: self.batch('plain', {**tag, 'size': {'N': '99'}}), 'the server makes its items')
        self.refused(lambda: self.batch('plain', {**change, 'who': {'S': 'nobody'}}), 'the server makes its items', 'dolmen import --restore')
        self.refused(lambda: self.api.call('DeleteItem', {'TableName': 'plain', 'Key': {'PK': tag['PK'], 'SK': tag['SK']}}), 'Tag')

    def test_what_is_wrong_is_refused(self):
        self.fill('wrong')

        def restore(one):
            self.api.call('RestoreItems', {'RequestItems': {'wrong': [{'PutRequest': {'Item': one}}]}})
        photo = next(one for one in self.items('wrong') if one['kind']['S'] == 'Photo')
        self.refused(lambda: restore({**photo, 'size': {'N': '-1'}}), 'size > 0')
        self.refused(lambda: restore({**photo, 'size': {'S': 'large'}}), '/size')
        self.refused(lambda: restore({**photo, 'photo': {'S': 'z'}, 'PK': {'S': 'PHOTO#z'}, 'GSI1SK': {'S': 'z'}}), 'no other item has')
        self.refused(lambda: restore({**photo, 'PK': {'S': 'PHOTO#other'}}), '/PK')
        # A key that is not there is made.
        restore(item('Photo', photo='7', album='nowhere', user='v'))
        self.assertEqual(self.get('wrong', 'PHOTO#7')['album'], 'nowhere')
        with self.assertRaises(AssertionError) as found:
            verify_database(self.api)
        self.assertIn('an item refers to one of Album that is not there', str(found.exception))
        self.delete('wrong', 'PHOTO#7')
        verify_database(self.api)

    def test_records_that_refer_to_later_ones(self):
        """A plain import tries them again at the end, and tells of those whose reference leads to nothing."""
        self.apply(MODEL.replace('TABLE', 'later'), 'later')
        path = os.path.join(self.directory, 'later.jsonl')
        with open(path, 'w', encoding='utf-8') as file:
            for one in [{'kind': 'AAA', 'a': '1', 'album': 'z'}, {'kind': 'AAA', 'a': '2', 'album': 'nowhere'},
                        {'kind': 'Photo', 'photo': '1', 'album': 'z', 'user': 'v'}, {'kind': 'Album', 'album': 'z'}]:
                file.write(json.dumps(one) + '\n')
        said = self.cli('import', 'later', path, '--format', 'json', code=1)
        self.assertIn('later.jsonl:2: ValidationException: Entity AAA: /album: expected an Album that exists, got "nowhere"', said)
        self.assertIn('3 items imported, 1 bad record', said)
        self.assertEqual(self.get('later', 'ALBUM#z')['photos'], 1)
        self.assertEqual([one['a'] for one in self.scan('later', 'AAA')], ['1'])
        verify_database(self.api)
