"""Migrations: the earlier layout of the media site (media under albums) into the current one and back, on generated data."""
import os
import random
import signal
import subprocess
import threading
import time
import unittest

from support import BINARY, Api, ApiError, Case, cli, item

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
        self.assertEqual((again['Matched'], again['Made'], again['Done']), (0, 0, again['Total']))
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
            ('migration x of media { up { from item other = "A{b}" { } } }', '"other" is not a key of table media'),
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


SHOP = """
table shop {
  key PK, SK
  type EntityType
  unmatched warn
}
entity User {
  PK = "USER#{userId}"  SK = "PROFILE"
  userId string
  name string
  cents integer?
  tags set<string>?
  plan ("free" | "paid")?
}
"""


def old_user(number, **more):
    return item(**{'PK': f'OLD#{number}', 'SK': 'x', 'fullName': f'Ada #{number}', **more})


NAMES = """migration names of shop {
  up {
    from item PK = "OLD#{userId}", SK = "x" {
      make User { userId  name = replace(split(fullName, ' ', 0), 'A', 'a') }
    }
  }
  down {
    from User {
      make item { copy without userId, name  PK = "OLD#{userId}"  SK = "x"  fullName = "{name} #{userId}" }
    }
  }
}
"""


class Life(Case):
    """Migrations over time: digest, order, status, being interrupted and attached to."""

    def prepare(self, users=20):
        self.serve()
        self.create()
        self.assertEqual(self.cli('apply', self.file('shop.dolmen', SHOP)).code, 0)
        self.load(old_user(number) for number in range(users))
        self.names = self.file('names.migration', NAMES)

    def describe_migration(self, name='names'):
        return self.api.call('DescribeMigration', {'TableName': 'shop', 'MigrationName': name})

    def run_on(self, step, **more):
        """Runs one step over one old user; what has become of it."""
        self.load([old_user('one', **more)])
        text = f'migration probe of shop {{ up {{ from item PK = "OLD#{{id}}", SK = "x" {{ {step} }} }} }}'
        ran = self.cli('migrate', '--again', self.file('probe.migration', text))
        return ran, next((one for one in self.scan() if one['PK'].endswith('#one')), None)

    def test_functions(self):
        self.prepare(0)
        ran, made = self.run_on(
            "set { last = split(fullName, '#', -1)  amount = scale(number(cents), -2)  when = timestamp(at)"
            "  kind = choose(state, 'A', 'active', 'B', 'blocked', 'unknown')  first = upper(substring(fullName, 0, 3))"
            "  nick = coalesce(nick, fullName)  words = concat(fullName, '!', text(at))  without cents }",
            cents='1999', at=1794787200, state='B', nick='countess')
        self.assertEqual(ran.code, 0, ran.err)
        self.assertEqual({name: made[name] for name in made if name not in ('PK', 'SK', 'fullName', 'at', 'state')}, {
            'last': 'one', 'amount': '19.99', 'when': '2026-11-16T00:00:00.000Z', 'kind': 'blocked', 'first': 'ADA',
            'nick': 'countess', 'words': 'Ada #one!1794787200'})
        ran, made = self.run_on("set { n = number(fullName) }")
        self.assertEqual((ran.code, 'n cannot be computed of this item' in ran.out), (1, True), ran.out)

    def test_a_misspelt_attribute_is_an_error(self):
        self.prepare(3)
        self.load([old_user('x', nickname='n')])
        wrong = self.file('wrong.migration', """migration wrong of shop {
  up {
    from item PK = "OLD#{id}", SK = "x" {
      set { a = fulName  b = "{id} {nicname}"  c = nobody ?? 'none' }
    }
    from item PK = "OLD#{id}", SK = "x" { set { d = a  e = fullname } }
  }
}
""")
        for options in [(), ('--dry-run',)]:
            ran = self.cli('migrate', *options, wrong)
            self.assertEqual(ran.code, 1)
            self.assertIn('wrong.migration:4:17: error: none of the items that this step takes has "fulName"; did you mean '
                          '"fullName"?', ran.err)
            self.assertIn('has "nicname"; did you mean "nickname"?', ran.err)
            self.assertIn('has "fullname"; did you mean "fullName"?', ran.err)
            self.assertEqual(ran.err.count('error:'), 3, ran.err)
        self.assertEqual(len(self.api.call('ListMigrations', {})['Migrations']), 0)
        # Where no item is taken, nothing can be said.
        none = self.file('none.migration', 'migration none of shop { up { from item PK = "NONE#{id}" { set { a = whatever } } } }')
        self.assertEqual(self.cli('migrate', none).code, 0)
        target = self.file('target.migration', NAMES.replace('name = replace', 'nmae = replace'))
        ran = self.cli('migrate', target)
        self.assertIn('entity User has no attribute "nmae"; did you mean "name"?', ran.err)

    def test_an_edited_file_is_refused(self):
        self.prepare()
        self.assertEqual(self.cli('migrate', self.names).code, 0)
        done = self.describe_migration()
        self.file('names.migration', NAMES.replace("'a')", "'b')"))
        for way in [(), ('--down',)]:
            refused = self.cli('migrate', *way, self.names)
            self.assertEqual(refused.code, 1)
            self.assertIn(f'Migration names was run with another text (digest {done["Digest"][:12]})', refused.err)
        self.assertIn('run this text all the same (--again)', refused.err)
        status = self.cli('migrate', '--status', self.names)
        self.assertEqual((status.code, 'is not the text that was run' in status.out), (1, True), status.out)
        again = self.cli('migrate', '--again', self.names)
        self.assertEqual(again.code, 0, again.err)
        self.assertNotEqual(self.describe_migration()['Digest'], done['Digest'])

    def test_order_status_and_directories(self):
        self.prepare()
        directory = os.path.join(self.directory, 'migrations')
        os.makedirs(directory)
        self.file('migrations/01-names.migration', NAMES)
        self.file('migrations/02-plans.migration', """migration plans of shop after names {
  up { from User where plan missing { set { plan = 'free' } } }
  down { from User where plan exists { set { without plan } } }
}
""")
        self.file('migrations/notes.txt', 'nothing')
        early = self.cli('migrate', os.path.join(directory, '02-plans.migration'))
        self.assertEqual((early.code, 'comes after others that are not done: names.' in early.err), (1, True), early.err)
        status = self.cli('migrate', '--status', directory)
        self.assertEqual((status.code, status.out), (1, 'names of table shop: not run yet\nplans of table shop: not run yet\n'))
        up = self.cli('migrate', directory)
        self.assertEqual(up.code, 0, up.err)
        self.assertEqual({one['plan'] for one in self.scan()}, {'free'})
        status = self.cli('migrate', '--status', directory)
        self.assertEqual(status.code, 0, status.out)
        self.assertRegex(status.out, r'names of table shop: done at \d{4}-.*Z, 20 items, 20 made, 20 removed, 0 left as they are\n')
        self.assertEqual(self.cli('migrate', '--status').out, status.out)
        self.assertEqual(len(self.cli('migrate', '--status', '--json').json()['Migrations']), 2)
        early = self.cli('migrate', '--down', os.path.join(directory, '01-names.migration'))
        self.assertIn('cannot be undone before those that come after it: plans.', early.err)
        down = self.cli('migrate', '--down', directory)
        self.assertEqual(down.code, 0, down.err)
        self.assertEqual({one['PK'].split('#')[0] for one in self.scan()}, {'OLD'})
        status = self.cli('migrate', '--status', directory)
        self.assertEqual((status.code, status.out.count('done backwards')), (1, 2), status.out)
        self.assertRegex(self.cli('model', 'shop', '--history').out, r'\n   2  \S+Z  items only    migrate up names  \S+\n')
        text = self.cli('model', 'shop', '--version', '2')
        self.assertEqual((text.code, text.out), (1, ''))
        self.assertIn("version 2 of table shop has no text: 'dolmen model shop --history' says what it is.", text.err)
        empty = os.path.join(self.directory, 'empty')
        os.makedirs(empty)
        none = self.cli('migrate', empty)
        self.assertEqual((none.code, none.err), (0, f"dolmen migrate: there is no *.migration file in '{empty}'.\n"))

    def test_what_fails_is_not_done(self):
        self.prepare(3)
        wrong = NAMES.replace('SK = "x"  fullName', 'SK = number(name)  fullName')
        path = self.file('wrong.migration', wrong.replace('migration names', 'migration wrong'))
        self.assertEqual(self.cli('migrate', path).code, 0)
        down = self.cli('migrate', '--down', path)
        self.assertEqual((down.code, 'None of 3 items could be migrated' in down.err), (1, True), down.err)
        found = self.describe_migration('wrong')
        self.assertEqual((found['Status'], found['Applied'], found['Direction']), ('FAILED', True, 'DOWN'))
        actions = [one['Action'] for one in self.api.call('ListModelVersions', {'TableName': 'shop'})['Versions']]
        self.assertEqual(actions, ['apply', 'migrate up wrong'])
        dry = self.cli('migrate', '--down', '--dry-run', path)
        self.assertEqual((dry.code, '3 that cannot be' in dry.out), (1, True), dry.out)
        # Some of them: it is not done, but can be run again, and undone.
        self.load([old_user('good'), item(PK='OLD#bad', SK='x', fullName='')])
        part = self.file('part.migration', NAMES.replace('migration names', 'migration part')
                         .replace("replace(split(fullName, ' ', 0), 'A', 'a')", "substring(fullName, 0, 3) ?? fullName")
                         .replace('SK = "x" {', 'SK = "x" where fullName != "Ada #9" {'))
        self.cli('apply', self.file('strict.dolmen', SHOP.replace('name string', 'name string(1..)')))
        self.assertEqual(self.cli('migrate', part).code, 1)
        found = self.describe_migration('part')
        self.assertEqual((found['Status'], found['Applied'], found['Matched'], found['Failed']), ('INCOMPLETE', True, 2, 1), found)
        self.assertIn('done in part', self.cli('migrate', '--status').out)
        self.api.call('DeleteItem', {'TableName': 'shop', 'Key': item(PK='OLD#bad', SK='x')})
        self.assertEqual(self.cli('migrate', part).code, 0)
        self.assertEqual(self.describe_migration('part')['Status'], 'DONE')

    def interrupt(self, *arguments):
        """Ends a command as Ctrl-C does, once it waits; what it says then."""
        process = subprocess.Popen([BINARY, *arguments, '--endpoint', self.server.endpoint], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        return process.returncode, err

    def test_interrupted_and_attached_to(self):
        self.prepare(400)
        code, err = self.interrupt('migrate', '--rate', '150', self.names)
        self.assertEqual(code, 130)
        self.assertIn('The server goes on with what it has begun: run the same command again to wait for it, or '
                      "'dolmen migrate --status' to see how far it is.", err)
        self.assertRegex(self.cli('migrate', '--status').out, r'names of table shop: running, step 1 of 1, \d+ %')
        other = self.cli('migrate', '--down', self.names)
        self.assertEqual((other.code, 'Migration names is running' in other.err), (1, True))
        self.assertEqual(self.cli('migrate', '--no-wait', self.names).out, 'migration names of table shop is running\n')
        done = self.cli('migrate', self.names)
        self.assertEqual((done.code, done.out), (0, 'migration names of table shop: 400 items migrated, 400 made, 400 removed, 0 '
                                                    'left as they are\n'), done.err)
        code, err = self.interrupt('apply', '--rate', '150', self.file('v2.dolmen', SHOP.replace('plan (', 'level integer = 1\n  plan (')))
        self.assertEqual(code, 130)
        self.assertIn("or 'dolmen abandon TABLE' to undo it", err)
        again = self.cli('apply', self.file('v2.dolmen', SHOP.replace('plan (', 'level integer = 1\n  plan (')))
        self.assertEqual((again.code, again.out), (0, 'table shop: this model is being applied already\n'
                                                      'table shop: 400 items looked at, 400 changed\n'), again.err)
        self.assertEqual({one['level'] for one in self.scan()}, {'1'})

    def test_offline_check(self):
        model = self.file('shop.dolmen', SHOP)
        names = self.file('names.migration', NAMES)
        good = cli('check', names, model)
        self.assertEqual((good.code, good.out), (0, f'{model}: 1 table, 1 entity, 0 access patterns: ok\n'
                                                    f'{names}: migration names of table shop, 1 step up, 1 down: ok\n'))
        self.assertIn('name its model, too, to have it compared', cli('check', names).out)
        bad = self.file('bad.migration', NAMES.replace('make User { userId', 'make Usr { userid = spilt(x)'))
        found = cli('check', bad, model)
        self.assertEqual((found.code, 'unknown function "spilt"; did you mean "split"?' in found.err), (1, True), found.err)
        worse = self.file('worse.migration', NAMES.replace('make User { userId', 'make User { userid = userId')
                          .replace('from User {', 'from Usr {'))
        found = cli('check', model, worse)
        self.assertEqual(found.code, 1)
        self.assertIn('entity User has no attribute "userid"; did you mean "userId"?', found.err)
        below = self.file('below.migration', NAMES.replace('from User {', 'from Usr {'))
        found = cli('check', model, below)
        self.assertEqual(found.code, 0)
        self.assertIn('warning: the table\'s model has no entity "Usr"; did you mean "User"? (on the way down)', found.err)
        document = cli('check', '--json', model, worse).json()
        self.assertEqual((document[1]['ok'], document[1]['migration'], document[1]['errors']), (False, 'names', 1))

    def test_refusals_say_how_to_go_on(self):
        self.prepare(3)
        refused = self.cli('apply', self.file('strict.dolmen', SHOP.replace('unmatched warn', 'unmatched reject')))
        self.assertEqual((refused.code, 'let a migration do it (dolmen migrate)' in refused.err), (1, True), refused.err)


if __name__ == '__main__':
    unittest.main()
