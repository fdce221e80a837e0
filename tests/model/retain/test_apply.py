"""Applying a model that deletes asks, and says how many."""
import json
import os
import pty
import subprocess
import time

from dolmen import Server
from support import BINARY, DAY, ApiError, Case, item, stamp

MODEL = '''
table jobs { key PK, SK  type kind }
entity Job {
  PK = "JOB#{id}"  SK = "JOB"
  id string
  status "open" | "done" = "done"
  created_at timestamp = now()
}
'''


class Consent(Case):
    def fill(self):
        self.serve()
        self.apply(MODEL)
        self.load([item('Job', id=f'old{number}', created_at=stamp(time.time() - 100 * DAY)) for number in range(12)])
        self.load([item('Job', id=f'young{number}') for number in range(8)])

    def test_refused(self):
        """Without a terminal, without --yes: nothing is applied."""
        self.fill()
        for rule, words in (('retain Job for 90d then archive', '12 of 20 items of Job are due: they would be archived, then deleted'),
                            ('keep Job latest 5 by id per status then delete', '15 of 20 items of Job are surplus: they would be deleted')):
            done = self.cli('apply', self.file(MODEL + rule))
            self.assertEqual(done.returncode, 1)
            self.assertIn(f'{rule}: {words}', done.stderr)
            self.assertIn('--yes', done.stderr)
        self.assertNotIn('Sweeps', self.api.call('DescribeModel', {'TableName': 'jobs'}))
        self.assertEqual(len(self.scan()), 20)
        with self.assertRaises(ApiError) as refused:
            self.api.call('ApplyModel', {'Model': MODEL + 'retain Job for 90d then delete', 'Force': True})
        self.assertEqual(refused.exception.name, 'RemovalNotConfirmedException')
        self.api.call('ApplyModel', {'Model': MODEL + 'retain Job for 90d then delete', 'RemoveItems': True})
        self.sweep()
        self.assertEqual(len(self.scan()), 8)

    def test_only_what_is_new(self):
        """A rule is asked about once; one that removes nothing is not asked about."""
        self.fill()
        self.apply(MODEL + 'retain Job for 200d then delete')
        self.assertEqual(self.cli('apply', self.file(MODEL + 'retain Job for 90d then delete')).returncode, 1)
        self.apply(MODEL + 'retain Job for 90d then delete', '--yes')
        self.apply(MODEL + 'retain Job for 90d then delete\n// the same')
        self.sweep()
        self.load([item('Job', id='late', created_at=stamp(time.time() - 95 * DAY))])
        self.apply(MODEL + 'retain Job for 90d then delete\n// the same again')

    def test_diff(self):
        self.fill()
        path = self.file(MODEL + 'retain Job for 90d when status = "done" then archive')
        shown = self.cli('diff', path)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn('12 of 20 items of Job are due: they would be archived, then deleted', shown.stdout)
        self.assertEqual(shown.stdout.count('    due: {"PK":{"S":"JOB#old'), 5)
        table = json.loads(self.cli('diff', path, '--json').stdout)['Tables'][0]
        self.assertEqual([(one['RuleName'], one['Items'], one['Due'], len(one['Samples'])) for one in table['Removals']],
                         [('retain-Job', 20, 12, 5)])
        self.assertEqual(len(self.scan()), 20)

    def test_lint(self):
        """Lint says the same of a live table."""
        self.fill()
        path = self.file(MODEL + 'retain Job for 90d then archive\n')
        words = '12 of 20 items of Job are due: they would be archived, then deleted'
        self.assertIn(words, self.cli('lint', path, '--advice').stdout)
        document = json.loads(self.cli('lint', path, '--advice', '--json').stdout)[0]
        self.assertEqual([(one['RuleName'], one['Due']) for one in document['removals']], [('retain-Job', 12)])
        self.apply(MODEL + 'retain Job for 90d then archive', '--yes')
        self.assertNotIn('12 of 20', self.cli('lint', path, '--advice').stdout)

    def ask(self, answer):
        """`dolmen apply` at a terminal; its exit status and what it said."""
        path = self.file(MODEL + 'retain Job for 90d then delete')
        master, slave = pty.openpty()
        process = subprocess.Popen([BINARY, 'apply', path, '--endpoint', self.server.endpoint], stdin=slave, stdout=subprocess.PIPE,
                                   stderr=slave)
        os.close(slave)
        said = b''
        while b'[y/N]' not in said:
            said += os.read(master, 4096)
        os.write(master, answer)
        process.stdout.read()
        process.stdout.close()
        code = process.wait(60)
        os.close(master)
        return code, said.decode()

    def test_asked(self):
        self.fill()
        code, said = self.ask(b'\n')
        self.assertEqual(code, 1)
        self.assertIn('would delete 12 items', said)
        self.assertNotIn('--yes', said)
        self.assertEqual(len(self.scan()), 20)
        code, _ = self.ask(b'y\n')
        self.assertEqual(code, 0)
        self.sweep()
        self.assertEqual(len(self.scan()), 8)

    def test_serve(self):
        """A server does not start with a model that deletes, unless that was said; later starts do not ask."""
        self.fill()
        self.server.stop()
        path = self.file(MODEL + 'retain Job for 90d then delete')
        with self.assertRaisesRegex(RuntimeError, 'would delete 12 items'):
            Server(self.data, '--model', path)
        self.serve('--model', path, '--yes')
        self.sweep()
        self.assertEqual(len(self.scan()), 8)
        self.load([item('Job', id='late', created_at=stamp(time.time() - 95 * DAY))])
        self.server.stop()
        self.serve('--model', path)

    def test_options(self):
        for options, words in ((('--retain-every', '1'), 'is not a time'), (('--retain-every', '-1h'), 'is not a time'),
                               (('--retain-every', '0s'), 'is not a time'), (('--retain-rate', '0'), '--retain-rate')):
            with self.assertRaisesRegex(RuntimeError, words):
                Server(self.data, *options)
