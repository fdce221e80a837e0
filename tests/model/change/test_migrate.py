"""Migrations: the earlier layout of the media site (media under albums) into the current one and back, on generated data."""
import os
import random
import threading
import time
import unittest

from support import Api, ApiError, Case, item

MODEL = '''
table media {
  key PK, SK
  index GSI1 (GSI1PK, GSI1SK)
  index GSI2 (GSI2PK, GSI2SK)
  type EntityType
}
entity Album {
  PK = "ALBUM#{albumId}"  SK = "METADATA"
  GSI1 = "ALBUM", "{createdAt}#{albumId}"
  albumId string
  title string
  isPublic "true" | "false" = "true"
  createdAt timestamp = now()
}
entity Media {
  PK = "MEDIA#{mediaId}"  SK = "METADATA"
  GSI1 = "MEDIA_BY_CREATOR", "{createdBy}#{createdAt}#{mediaId}"
  GSI2 = "MEDIA_ID", "{mediaId}"
  mediaId string
  id string
  filename string
  size number?
  views number?
  createdAt timestamp = now()
  createdBy string
}
entity AlbumMedia {
  PK = "ALBUM#{albumId}"  SK = "MEDIA#{mediaId}"
  GSI1 = "MEDIA#{mediaId}", "ALBUM#{albumId}#{addedAt}"
  albumId string
  mediaId string
  addedAt timestamp
}
'''

MIGRATION = '''
// Media used to stand under their albums.
migration media-out-of-albums of media {
  up {
    from item PK = "ALBUM#{albumId}", SK = "MEDIA#{mediaId}" where filename exists {
      make Media         { copy without albumId  mediaId  id = mediaId }
      replace AlbumMedia { albumId  mediaId  addedAt = createdAt ?? now() }
    }
    from item PK = "ALBUM#{albumId}", SK = "METADATA" where isPublic is boolean {
      set { isPublic = "{isPublic}" }
    }
  }
  down {
    from item PK = "ALBUM#{albumId}", SK = "MEDIA#{mediaId}" where filename missing
    with media = item PK = "MEDIA#{mediaId}", SK = "METADATA" {
      replace item {
        copy media without GSI1PK, GSI1SK, GSI2PK, GSI2SK, EntityType, mediaId
        albumId
        PK = "ALBUM#{albumId}"  SK = "MEDIA#{mediaId}"
      }
    }
    from item PK = "MEDIA#{mediaId}", SK = "METADATA" { }
    from item PK = "ALBUM#{albumId}", SK = "METADATA" where isPublic = "true" { set { isPublic = true } }
    from item PK = "ALBUM#{albumId}", SK = "METADATA" where isPublic = "false" { set { isPublic = false } }
  }
}
'''


def old_data(albums, media, chance):
    for album in range(albums):
        yield item(PK=f'ALBUM#a{album}', SK='METADATA', albumId=f'a{album}', title=f'Album {album}',
                   isPublic=bool(chance.getrandbits(1)), createdAt='2024-01-01T00:00:00.000Z')
        for number in range(media):
            yield item(PK=f'ALBUM#a{album}', SK=f'MEDIA#m{album}-{number}', albumId=f'a{album}', id=f'm{album}-{number}',
                       filename=f'{number}.jpg', size=number * 1000, createdBy=f'u{number % 7}',
                       createdAt=f'2024-01-{number % 28 + 1:02}T00:00:00.000Z')


class Migrate(Case):
    def prepare(self, albums=4, media=10, *options):
        self.serve(*options)
        self.create('media')
        self.seed = int(os.environ.get('SEED', random.randrange(1 << 30)))
        self.old = list(old_data(albums, media, random.Random(self.seed)))
        self.load(self.old, 'media')
        self.migration = self.file('media.migration', MIGRATION)
        self.assertEqual(self.cli('apply', '--force', self.file('media.dolmen', MODEL)).code, 0)

    def check_up(self, albums, media):
        stored = self.scan('media')
        kinds = {}
        for one in stored:
            kinds.setdefault(one['EntityType'], []).append(one)
        self.assertEqual({kind: len(ones) for kind, ones in kinds.items()},
                         {'Album': albums, 'Media': albums * media, 'AlbumMedia': albums * media}, f'seed {self.seed}')
        for one in kinds['Media']:
            self.assertEqual(one['PK'], 'MEDIA#' + one['mediaId'])
            self.assertEqual(one['GSI1SK'], f"{one['createdBy']}#{one['createdAt']}#{one['mediaId']}")
            self.assertNotIn('albumId', one)
        for one in kinds['AlbumMedia']:
            self.assertEqual((one['PK'], one['SK']), (f"ALBUM#{one['albumId']}", f"MEDIA#{one['mediaId']}"))
            self.assertNotIn('filename', one)
        self.assertTrue({one['isPublic'] for one in kinds['Album']} <= {'true', 'false'})

    def test_up_and_down(self):
        self.prepare()
        dry = self.cli('migrate', '--dry-run', self.migration)
        self.assertEqual(dry.code, 0, dry.err)
        self.assertIn('44 items would be migrated: 84 made, 0 removed, 0 that cannot be', dry.out)
        self.assertEqual(dry.out.count('\n  - '), 5)
        self.assertEqual(len(self.scan('media')), 44)
        up = self.cli('migrate', self.migration)
        self.assertEqual(up.code, 0, up.err)
        self.check_up(4, 10)
        self.assertIn('has been done', self.cli('migrate', self.migration).out)
        again = self.cli('migrate', '--again', '--json', self.migration).json()
        self.assertEqual((again['Matched'], again['Made']), (0, 0))
        self.assertEqual(self.cli('apply', '--check', self.file('media.dolmen', MODEL)).code, 0)
        self.assertEqual(self.cli('abandon', 'media').code, 0)
        down = self.cli('migrate', '--down', self.migration)
        self.assertEqual(down.code, 0, down.err)
        wanted = sorted(self.old, key=str)
        found = sorted(({name: value for name, value in one.items() if name not in ('EntityType', 'GSI1PK', 'GSI1SK')}
                        for one in self.api.pages('Scan', {'TableName': 'media'})), key=str)
        self.assertEqual(found, wanted)
        actions = [one['Action'] for one in self.api.call('ListModelVersions', {'TableName': 'media'})['Versions']]
        self.assertEqual(actions, ['apply', 'migrate up media-out-of-albums', 'migrate up media-out-of-albums', 'abandon',
                                   'migrate down media-out-of-albums'])

    def test_survives_kills(self):
        self.prepare(20, 40, '--durability', 'relaxed')
        chance = random.Random(self.seed)
        self.assertEqual(self.cli('migrate', '--no-wait', '--rate', '400', self.migration).code, 0)
        kills = 0
        while kills < 5:
            time.sleep(chance.uniform(0.05, 0.5))
            if self.api.call('ListMigrations', {'TableName': 'media'})['Migrations'][0]['Status'] != 'RUNNING':
                break
            self.server.kill()
            kills += 1
            self.serve('--durability', 'relaxed')
        self.wait_for_migration()
        self.assertGreater(kills, 1, f'seed {self.seed}')
        self.check_up(20, 40)
        # What was done before a kill is counted once, and not forgotten.
        found = self.api.call('DescribeMigration', {'TableName': 'media', 'MigrationName': 'media-out-of-albums'})
        self.assertEqual((found['Matched'], found['Made'], found['Removed']), (820, 1620, 0), f'seed {self.seed}')

    def test_takes_little_time(self):
        """Items are migrated many at a time, and nobody waits for a rate that was not asked for."""
        self.serve()
        self.create('media')
        self.load((item(PK=f'A#{number}', SK='x') for number in range(1001)), 'media')
        migration = self.file('two.migration', """migration two of media { up {
          from item PK = "A#{id}", SK = "x" where first missing { set { first = id } }
          from item PK = "A#{id}", SK = "x" where second missing { set { second = id } }
        } }""")
        begun = time.monotonic()
        done = self.cli('migrate', '--json', migration).json()
        self.assertEqual((done['Matched'], done['Made'], done['Failed']), (2002, 2002, 0))
        self.assertLess(time.monotonic() - begun, 10)

    def wait_for_migration(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            found = self.api.call('DescribeMigration', {'TableName': 'media', 'MigrationName': 'media-out-of-albums'})
            if found['Status'] != 'RUNNING':
                self.assertEqual((found['Status'], found['Failed']), ('DONE', 0), found)
                return
            time.sleep(0.05)
        self.fail('the migration did not end')

    def test_loses_no_update(self):
        """Others count the views of old media while they are moved: every count is there at the end."""
        self.prepare(4, 25)
        counted = {}
        stop = threading.Event()

        def count(which):
            api = Api(self.server.endpoint)
            chance = random.Random(which)
            while not stop.is_set():
                album, number = chance.randrange(4), chance.randrange(25)
                name = f'm{album}-{number}'
                for key in ({'PK': f'ALBUM#a{album}', 'SK': f'MEDIA#{name}'}, {'PK': f'MEDIA#{name}', 'SK': 'METADATA'}):
                    try:
                        api.call('UpdateItem', {
                            'TableName': 'media', 'Key': item(**key), 'UpdateExpression': 'ADD #v :one',
                            'ConditionExpression': 'attribute_exists(filename)', 'ExpressionAttributeNames': {'#v': 'views'},
                            'ExpressionAttributeValues': {':one': {'N': '1'}}})
                        counted[which, name] = counted.get((which, name), 0) + 1
                        break
                    except ApiError as error:
                        # The old ones violate the new model; they may be read and moved, but not written.
                        self.assertIn(error.name, ('ConditionalCheckFailedException', 'ValidationException'))

        threads = [threading.Thread(target=count, args=(which,)) for which in range(4)]
        for thread in threads:
            thread.start()
        self.assertEqual(self.cli('migrate', '--rate', '200', self.migration).code, 0)
        stop.set()
        for thread in threads:
            thread.join()
        self.check_up(4, 25)
        views = {one['mediaId']: int(one.get('views', 0)) for one in self.scan('media') if one['EntityType'] == 'Media'}
        wanted = dict.fromkeys(views, 0)
        for (_, name), times in counted.items():
            wanted[name] += times
        self.assertEqual(views, wanted, f'seed {self.seed}')

    def test_what_cannot_be_migrated(self):
        self.prepare(1, 3)
        bad = item(PK='ALBUM#a0', SK='MEDIA#bad', albumId='a0', id='bad', filename='x.jpg')
        self.assertEqual(self.cli('abandon', 'media').code, 0)
        self.load([bad], 'media')
        self.assertEqual(self.cli('apply', '--force', self.file('media.dolmen', MODEL)).code, 0)
        up = self.cli('migrate', self.migration)
        self.assertEqual(up.code, 1)
        self.assertIn('/createdBy: expected string, got nothing', up.out)
        stored = [one for one in self.api.pages('Scan', {'TableName': 'media'}) if one['SK'] == {'S': 'MEDIA#bad'}]
        self.assertEqual(stored, [bad])

    def test_wrong_files(self):
        self.prepare(1, 1)
        for text, message in [
            ('migration x of media { up { from item { maek Media { } } } }', 'expected make, replace, set'),
            ('migration x of media { up { from item PK = "A{b}" where { } } }', 'error'),
            ('migration x of media { down { } }', 'a migration needs its way up'),
            ('migration x of media { up { from item { make Nothing { } } } }', 'has no entity "Nothing"'),
            ('migration x of media { up { from item other = "A{b}" { } } }', '"other" is no key of table media'),
            ('migration x of nowhere { up { } }', 'not found'),
        ]:
            wrong = self.cli('migrate', self.file('wrong.migration', text))
            self.assertEqual(wrong.code, 1, text)
            self.assertIn(message, wrong.err)
        down = self.cli('migrate', '--down', self.migration)
        self.assertEqual((down.code, 'has not been applied' in down.err), (1, True))
        with self.assertRaises(ApiError) as caught:
            self.api.call('DescribeMigration', {'TableName': 'media', 'MigrationName': 'x'})
        self.assertEqual(str(caught.exception), 'ResourceNotFoundException: Table media has no migration x.')
        self.assertEqual(self.cli('migrate', '--no-wait', '--rate', '1', self.migration).code, 0)
        running = self.cli('migrate', self.migration)
        self.assertEqual((running.code, 'media-out-of-albums is running' in running.err), (1, True))


if __name__ == '__main__':
    unittest.main()
