"""Servers that die, disks that are full: nothing is deleted that is not in an archive."""
import os
import random
import time
import unittest

from support import DAY, Case, item, stamp

MODEL = '''
table jobs { key PK, SK  type kind }
entity Job {
  PK = "JOB#{id}"  SK = "JOB"
  id string
  note string?
  created_at timestamp = now()
}
'''
RULE = 'retain Job for 90d then archive'


class Crash(Case):
    def fill(self, due, young=20, note=''):
        self.apply(MODEL)
        self.load([item('Job', id=f'old{number:05}', note=f'{number} {note}', created_at=stamp(time.time() - 100 * DAY))
                   for number in range(due)])
        self.load([item('Job', id=f'young{number}') for number in range(young)])
        return self.scan()

    def check(self, before, there):
        """What is gone is in an archive, as it was."""
        archived = self.archives()
        for key in set(before) - set(there):
            self.assertIn(before[key], archived.get(key, []), key)
        for key, images in archived.items():
            self.assertEqual([one for one in images if one != before[key]], [], key)

    def test_killed(self):
        """kill -9 at random moments, while it archives and while it deletes."""
        seed = int(os.environ.get('SEED', random.randrange(1 << 30)))
        chance = random.Random(seed)
        options = ('--retain-rate', '600', '--durability', 'relaxed')
        self.serve(*options)
        before = self.fill(700)
        self.apply(MODEL + RULE, '--yes', '--no-wait')
        for _ in range(6):
            time.sleep(chance.random() * 0.4)
            self.server.kill()
            self.serve(*options)
            self.check(before, self.scan())
        self.wait(lambda: len(self.scan()) == 20, f'the end of the sweep (seed {seed})')
        self.check(before, self.scan())
        self.assertFalse([name for name in os.listdir(self.archive) if name.startswith('.part')])

    def test_killed_keep(self):
        """The same for groups."""
        model = MODEL.replace('note string?', 'note string?\n  size integer?')
        options = ('--retain-rate', '300', '--durability', 'relaxed')
        self.serve(*options)
        self.apply(model)
        self.load([item('Job', id=f'{number:05}', note=f'{number % 7}', size=number) for number in range(400)])
        before = self.scan()
        self.apply(model + 'keep Job latest 4 by size per note then archive', '--yes', '--no-wait')
        for pause in (0.1, 0.3, 0.5):
            time.sleep(pause)
            self.server.kill()
            self.serve(*options)
            self.check(before, self.scan())
        self.wait(lambda: len(self.scan()) == 28, 'the end of the sweep')
        self.assertEqual({int(one['size']['N']) for one in self.scan().values()}, set(range(372, 400)))
        self.check(before, self.scan())

    def test_asked_and_killed(self):
        """A second walk that was asked for while one was under way is done after kill -9, too: nobody waits for it in vain."""
        self.serve('--retain-rate', '300')
        self.fill(0, 4000)
        self.apply(MODEL + RULE)
        self.wait(lambda: self.metric('looked_items_total') > 500, 'the first items')
        self.api.call('SweepTable', {'TableName': 'jobs'})
        self.server.kill()
        self.serve('--retain-rate', '100000')
        self.wait(lambda: self.api.call('DescribeModel', {'TableName': 'jobs'})['Sweeps'][0]['Status'] == 'IDLE', 'both walks')

    def test_tells(self):
        """A bunch that takes long is told of while it is worked on: who waits sees that it moves. After kill -9 that was not forgotten."""
        self.serve('--retain-rate', '200')
        before = self.fill(1000)
        self.apply(MODEL + RULE, '--yes', '--no-wait')

        def rule():
            return self.api.call('DescribeModel', {'TableName': 'jobs'})['Sweeps'][0]

        self.wait(lambda: 0 < rule()['Removed'] < 1000 and rule()['Status'] == 'RUNNING', 'the first of the bunch')
        told = rule()['TotalRemoved']
        self.server.kill()
        self.serve('--retain-rate', '100000')
        there = self.scan()
        self.check(before, there)
        self.assertGreaterEqual(rule()['TotalRemoved'], told)
        self.wait(lambda: rule()['Status'] == 'IDLE', 'the end of the walk')
        self.assertEqual(len(self.scan()), 20)
        self.assertLessEqual(rule()['TotalRemoved'], 1000)

    def test_position(self):
        """A walk that is stopped goes on where it was: every item is looked at once."""
        self.serve('--retain-rate', '300')
        self.fill(0, 4000)
        self.apply(MODEL + RULE)
        self.wait(lambda: self.metric('looked_items_total') > 1000, 'the first items')
        self.server.stop()
        self.serve('--retain-rate', '100000')

        def rule():
            return self.api.call('DescribeModel', {'TableName': 'jobs'})['Sweeps'][0]

        self.wait(lambda: rule()['Status'] == 'IDLE', 'the end of the walk')
        self.assertEqual((rule()['Looked'], rule()['Walks']), (4000, 1))
        self.assertLess(self.metric('looked_items_total'), 3001)

    def test_stopped(self):
        """A server that is stopped while it deletes goes on."""
        self.serve('--retain-rate', '400')
        before = self.fill(800)
        self.apply(MODEL + RULE, '--yes', '--no-wait')
        self.wait(lambda: len(self.scan()) < 780, 'the first deletes')
        self.server.stop()
        self.serve('--retain-rate', '400')
        self.wait(lambda: len(self.scan()) == 20, 'the end of the sweep')
        self.check(before, self.scan())

    def test_no_place(self):
        """Where nothing can be archived, nothing is deleted, and the rule says why; it is tried again."""
        place = os.path.join(self.directory, 'place')
        with open(place, 'w', encoding='utf-8'):
            pass  # a file where the directory should be
        self.serve('--archive', place, '--retain-every', '1s')
        before = self.fill(10)
        self.apply(MODEL + RULE, '--yes')
        rule = self.sweep(code=1)['retain-Job']
        self.assertEqual(rule['Status'], 'FAILED')
        self.assertIn(place, rule['Failure'])
        self.assertEqual(self.scan(), before)
        self.assertGreater(self.metric('failures_total'), 0)
        os.remove(place)
        self.wait(lambda: len(self.scan()) == 20, 'the next try')
        self.assertEqual(len(self.archives(place)), 10)

    @unittest.skipUnless(os.environ.get('SMALL_DISK'), 'mounting a file system is not permitted here')
    def test_full_disk(self):
        place = os.path.join(os.environ['SMALL_DISK'], 'archives')
        other = os.path.join(os.environ['SMALL_DISK'], 'other')
        self.serve('--archive', place, '--retain-every', '1s')
        self.apply(MODEL)
        self.load([item('Job', id=f'{number:05}', note=os.urandom(2000).hex(), created_at=stamp(time.time() - 100 * DAY))
                   for number in range(25)])
        before = self.scan()
        with open(other, 'wb') as file:
            file.write(bytes(230 << 10))
        self.apply(MODEL + RULE, '--yes')
        rule = self.sweep(code=1)['retain-Job']
        self.assertEqual(rule['Status'], 'FAILED')
        self.assertIn('No space left', rule['Failure'])
        self.assertEqual(self.scan(), before)
        self.assertEqual(self.archives(place), {})
        os.remove(other)
        self.wait(lambda: len(self.scan()) == 0, 'the next try')
        self.assertEqual({key: images[-1] for key, images in self.archives(place).items()}, before)

