"""Events and audits tell of an item as it comes to be, also if they themselves have a say in that."""
from support import Case, item, verify_database

MODEL = '''
table told { key PK, SK  type kind }
entity Project {
  PK = "PROJECT#{project}"  SK = "x"
  project string
  logs    integer = count of Log where of = project
  bytes   number  = sum of Log.size where of = project
  jobLogs integer = count of JobLog
  twice   number  = logs * 2 always
}
entity Log {
  PK = "LOG#{log}"  SK = "x"
  log    string = ulid()
  at     timestamp = now()
  of     string
  size   number
  before object?
  after  object?
}
audit Project with before, after into Log { of = project  size = 10 }
entity Job {
  PK = "JOB#{job}"  SK = "x"
  job     string
  project string
  state   "new" | "done" = "new"
}
entity JobLog {
  PK = "JOBLOG#{log}"  SK = "x"
  log     string = ulid()
  project string
}
audit Job into JobLog { project = project }

table events { key PK, SK  type kind }
entity Event of events {
  PK = "EVENT#{event}"  SK = "x"
  event   string = ulid()
  type    string
  payload object
}
emit "project.{logs}" on insert, modify of Project into Event
emit "many" on modify of Project when logs > 2 into Event
'''


class Images(Case):
    def setUp(self):
        self.apply(MODEL, 'told', 'events')

    def logs(self, project):
        return sorted((one for one in self.scan('told', 'Log') if one['of'] == project), key=lambda one: one['after']['logs'])

    def check(self, project, count):
        """The last image is that of the item, and each one begins where the one before ended."""
        stored = self.get('told', f'PROJECT#{project}')
        logs = self.logs(project)
        self.assertEqual(len(logs), count)
        self.assertEqual(stored['logs'], count)
        self.assertEqual((stored['bytes'], stored['twice']), (10 * count, 2 * count))
        self.assertEqual([one['after']['logs'] for one in logs], list(range(1, count + 1)))
        self.assertEqual(logs[-1]['after'], stored)
        self.assertEqual([one['before'] for one in logs[1:]], [one['after'] for one in logs[:-1]])
        events = [one for one in self.scan('events') if one['payload']['project'] == project]
        self.assertEqual(sorted(one['payload']['logs'] for one in events if one['type'] != 'many'), list(range(1, count + 1)))
        for one in events:
            self.assertIn(one['type'], ('many', f'project.{one["payload"]["logs"]}'))
        many = sorted(one['payload']['logs'] for one in events if one['type'] == 'many')
        self.assertEqual(many, list(range(3, count + 1)))
        verify_database(self.api)

    def test_an_audit_that_counts_in_what_it_audits(self):
        for n in range(4):
            self.put('told', item('Project', project='a', note=str(n)))
            self.check('a', n + 1)

    def test_events_of_others_in_one_transaction(self):
        """What jobs lead to is counted in the project after it was told of its own change; whatever comes first."""
        for order in (1, -1):
            project = f'p{order}'
            items = [item('Project', project=project)] + [item('Job', job=f'{project}-{n}', project=project) for n in range(3)]
            self.api.call('TransactWriteItems', {'TransactItems': [{'Put': {'TableName': 'told', 'Item': one}} for one in items[::order]]})
            self.assertEqual(self.get('told', f'PROJECT#{project}')['jobLogs'], 3)
            self.check(project, 1)
            self.put('told', item('Job', job=f'{project}-0', project=project, state='done'))  # which changes the project
            self.check(project, 2)

    def test_what_goes_on_and_on(self):
        """A sum of what is told of the sum: it is never what it was told to be."""
        self.apply('''
table loops { key PK, SK  type kind }
entity Thing { PK = "THING#{thing}"  SK = "x"  thing string  total number = sum of Log.size where of = thing }
entity Log   { PK = "LOG#{log}"  SK = "x"  log string = ulid()  of string  size number }
audit Thing into Log { of = thing  size = total + 1 }
''', 'loops')
        self.refused(lambda: self.put('loops', item('Thing', thing='a')), 'goes on and on')
        self.assertEqual(self.scan('loops'), [])

    def test_events_sort_by_their_ids(self):
        """Also those of one millisecond, and of one transaction: in the order of the actions."""
        self.api.call('TransactWriteItems', {'TransactItems': [
            {'Put': {'TableName': 'told', 'Item': item('Project', project=f'o{n:02}')}} for n in range(50)]})
        events = sorted((one for one in self.scan('events') if one['payload']['project'].startswith('o') and one['type'] != 'many'), key=lambda one: one['event'])
        self.assertEqual([one['payload']['project'] for one in events], [f'o{n:02}' for n in range(50)])
