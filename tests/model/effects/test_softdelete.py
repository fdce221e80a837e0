"""`on delete cascade | clear | reject` where the one that goes, or those that refer to it, are deleted softly."""
from support import Case, item, verify_database

MODEL = '''
table soft { key PK, SK  type kind
  index GSI1 (GSI1PK, GSI1SK) }
entity Album {
  PK = "ALBUM#{album}"  SK = "x"
  softdelete gone
  album  string
  photos integer = count of Photo
  pins   integer = count of Pin
  gone   timestamp?
}
// Goes with its album, softly.
entity Photo {
  PK = "PHOTO#{photo}"  SK = "x"
  GSI1 = "PHOTOS#{album}", "{photo}" when gone missing
  softdelete gone
  photo string
  album string  references Album on delete cascade
  gone  timestamp?
}
// Goes with its album, for good.
entity Note {
  PK = "NOTES#{album}"  SK = "{note}"
  album string  references Album on delete cascade
  note  string
}
// Stays, without its album.
entity Pin {
  PK = "PIN#{pin}"  SK = "x"
  GSI1 = "PINS#{album}", "{pin}"
  softdelete gone
  pin   string
  album string?  references Album on delete clear
  gone  timestamp?
}
entity Tag {
  PK = "TAG#{tag}"  SK = "x"
  GSI1 = "TAGS#{photo}", "{tag}"
  tag   string
  photo string | null  references Photo on delete clear
}
// Keeps its album from going, as long as it is there itself.
entity Lock {
  PK = "LOCKS#{album}"  SK = "{lock}"
  softdelete gone
  album string  references Album on delete reject
  lock  string
  gone  timestamp?
}
'''


class Softly(Case):
    def setUp(self):
        self.apply(MODEL, 'soft')
        for one in self.scan('soft'):
            if one['kind'] == 'Lock' and not one.get('gone'):
                self.delete('soft', one['PK'], one['SK'])
        self.put('soft', item('Album', album='a'))
        for n in '123':
            self.put('soft', item('Photo', photo=n, album='a'))
            self.put('soft', item('Note', note=n, album='a'))
            self.put('soft', item('Pin', pin=n, album='a'))
            self.put('soft', item('Tag', tag=n, photo=n))

    def counts(self, album='a'):
        found = self.get('soft', f'ALBUM#{album}')
        return found['photos'], found['pins']

    def check_gone(self):
        """What an album that is deleted leaves behind."""
        for n in '123':
            photo, note, pin, tag = (self.get('soft', *key) for key in (
                (f'PHOTO#{n}',), ('NOTES#a', n), (f'PIN#{n}',), (f'TAG#{n}',)))
            self.assertTrue(photo['gone'])
            self.assertEqual(photo['album'], 'a')
            self.assertNotIn('GSI1PK', photo)
            self.assertIsNone(note)
            self.assertFalse(pin.get('gone'))
            self.assertNotIn('album', pin)
            self.assertIsNone(tag['photo'])  # a photo that goes with its album clears its own
        verify_database(self.api)

    def test_the_album_goes_softly(self):
        self.assertEqual(self.counts(), (3, 3))
        self.delete('soft', 'ALBUM#a')
        self.assertTrue(self.get('soft', 'ALBUM#a')['gone'])
        self.check_gone()
        # Nothing can refer to it, or be deleted with it again.
        self.refused(lambda: self.put('soft', item('Photo', photo='4', album='a')), 'an Album that exists')
        self.refused(lambda: self.update('soft', 'PHOTO#1', 'REMOVE gone'), 'an Album that exists')
        self.delete('soft', 'ALBUM#a')
        # It comes back alone; what went with it is undeleted one by one, and counted.
        self.update('soft', 'ALBUM#a', 'REMOVE gone')
        self.assertEqual(self.counts(), (0, 0))
        self.update('soft', 'PHOTO#1', 'REMOVE gone')
        self.assertEqual(self.counts(), (1, 0))
        self.assertEqual(self.get('soft', 'PHOTO#1')['GSI1PK'], 'PHOTOS#a')
        verify_database(self.api)

    def test_by_an_update(self):
        self.update('soft', 'ALBUM#a', 'SET gone = :t', t='2026-01-01T00:00:00.000Z')
        self.check_gone()

    def test_in_one_transaction(self):
        """The album goes while a photo moves elsewhere, and another is deleted."""
        self.put('soft', item('Album', album='b'))
        self.api.call('TransactWriteItems', {'TransactItems': [
            {'Update': {'TableName': 'soft', 'Key': {'PK': {'S': 'PHOTO#1'}, 'SK': {'S': 'x'}}, 'UpdateExpression': 'SET album = :b',
                        'ExpressionAttributeValues': {':b': {'S': 'b'}}}},
            {'Delete': {'TableName': 'soft', 'Key': {'PK': {'S': 'ALBUM#a'}, 'SK': {'S': 'x'}}}},
            {'Delete': {'TableName': 'soft', 'Key': {'PK': {'S': 'PHOTO#2'}, 'SK': {'S': 'x'}}}}]})
        self.assertFalse(self.get('soft', 'PHOTO#1').get('gone'))
        self.assertTrue(self.get('soft', 'PHOTO#2')['gone'] and self.get('soft', 'PHOTO#3')['gone'])
        self.assertEqual(self.counts('b'), (1, 0))
        verify_database(self.api)

    def test_those_that_are_deleted_are_let_be(self):
        before = self.get('soft', 'PHOTO#1')
        self.delete('soft', 'PHOTO#1')
        self.delete('soft', 'PIN#1')
        photo, pin = self.get('soft', 'PHOTO#1'), self.get('soft', 'PIN#1')
        self.assertEqual(self.counts(), (2, 2))
        self.assertEqual({n: v for n, v in photo.items() if n != 'gone'}, {n: v for n, v in before.items() if not n.startswith('GSI1')})
        self.delete('soft', 'ALBUM#a')
        self.assertEqual((self.get('soft', 'PHOTO#1'), self.get('soft', 'PIN#1')), (photo, pin))
        # They come back with what they refer to, and not before.
        self.refused(lambda: self.update('soft', 'PIN#1', 'REMOVE gone'), 'an Album that exists')
        self.update('soft', 'PIN#1', 'REMOVE gone, album')
        self.update('soft', 'ALBUM#a', 'REMOVE gone')
        self.update('soft', 'PHOTO#1', 'REMOVE gone')
        self.assertEqual(self.counts(), (1, 0))
        verify_database(self.api)

    def test_reject(self):
        self.put('soft', item('Lock', album='a', lock='1'))
        self.refused(lambda: self.delete('soft', 'ALBUM#a'), 'Lock refers to it')
        self.assertFalse(self.get('soft', 'ALBUM#a').get('gone'))
        self.assertEqual(self.counts(), (3, 3))
        self.delete('soft', 'LOCKS#a', '1')
        self.delete('soft', 'ALBUM#a')
        self.refused(lambda: self.update('soft', 'LOCKS#a', 'REMOVE gone', sort='1'), 'an Album that exists')
        self.check_gone()

    def test_a_new_one_in_its_place(self):
        self.delete('soft', 'ALBUM#a')
        self.put('soft', item('Album', album='a'))
        self.assertEqual(self.counts(), (0, 0))
        self.update('soft', 'PHOTO#2', 'REMOVE gone')
        self.assertEqual(self.counts(), (1, 0))
        verify_database(self.api)
