"""Quotas that the server counts: `quota … counting`."""
from support import Case, item, verify_database

MODEL = '''
table scans { key PK, SK  type kind }
entity User {
  PK = "USER#{id}"  SK = "x"
  id     string
  name   string?
  used   integer
  resets timestamp?
}
entity Scan {
  PK = "SCAN#{scan}"  SK = "x"
  scan string
  user string
}
quota User.used at most 3 per month resets resets counting Scan where user = id
'''


class Quota(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.api.call('ApplyModel', {'Model': MODEL, 'FileName': 'scans.dolmen'})

    def setUp(self):
        self.settle('scans')

    def test_the_count_is_the_servers(self):
        self.put('scans', item('User', id='a'))
        self.assertEqual(self.get('scans', 'USER#a')['used'], 0)
        self.put('scans', item('Scan', scan='a1', user='a'))
        self.assertEqual(self.get('scans', 'USER#a')['used'], 1)
        counts = 'the server counts it'
        self.refused(lambda: self.put('scans', item('User', id='a', used=0)), '/used', counts)
        self.refused(lambda: self.put('scans', item('User', id='new', used=2)), '/used', counts)
        self.refused(lambda: self.update('scans', 'USER#a', 'SET used = :u', u=0), '/used', counts)
        self.refused(lambda: self.update('scans', 'USER#a', 'ADD used :u', u=-1), '/used', counts)
        self.refused(lambda: self.api.call('TransactWriteItems', {'TransactItems': [
            {'Put': {'TableName': 'scans', 'Item': item('User', id='a', used=0)}}]}), '/used', counts)
        self.refused(lambda: self.api.call('ExecuteStatement', {
            'Statement': """UPDATE "scans" SET used = 0 WHERE PK = 'USER#a' AND SK = 'x'"""}), '/used', counts)
        # It may be repeated, left out, and removed, which comes to the same.
        self.put('scans', item('User', id='a', used=1, name='one'))
        self.put('scans', item('User', id='a', name='two'))
        self.update('scans', 'USER#a', 'REMOVE used')
        self.assertEqual(self.get('scans', 'USER#a')['used'], 1)
        # What a batch brings may come from elsewhere: it is dropped.
        self.batch('scans', item('User', id='a', used=0), item('User', id='b', used=2))
        self.assertEqual((self.get('scans', 'USER#a')['used'], self.get('scans', 'USER#b')['used']), (1, 0))
        # So is the end of the period: else it could be begun anew.
        ends = self.get('scans', 'USER#a')['resets']
        self.update('scans', 'USER#a', 'REMOVE resets')
        self.refused(lambda: self.update('scans', 'USER#a', 'SET resets = :r', r='2020-01-01T00:00:00.000Z'), '/resets', 'the server sets it')
        self.batch('scans', item('User', id='a', resets='2020-01-01T00:00:00.000Z'))
        self.put('scans', item('User', id='a', resets=ends))
        self.assertEqual(self.get('scans', 'USER#a')['resets'], ends)
        for n in (2, 3):
            self.put('scans', item('Scan', scan=f'a{n}', user='a'))
        self.refused(lambda: self.put('scans', item('Scan', scan='a4', user='a')), 'at most 3')
        verify_database(self.api)

    def test_a_new_item_takes_what_was_counted_before(self):
        for n in range(5):  # nobody is there who could have a limit
            self.put('scans', item('Scan', scan=f'l{n}', user='late'))
        self.put('scans', item('User', id='late'))
        late = self.get('scans', 'USER#late')
        self.assertEqual(late['used'], 5)
        self.assertIn('resets', late)
        self.refused(lambda: self.put('scans', item('Scan', scan='l5', user='late')), 'at most 3')
        # One that goes leaves it, and does not get rid of it.
        self.delete('scans', 'USER#late')
        self.put('scans', item('User', id='late'))
        self.assertEqual(self.get('scans', 'USER#late')['used'], 5)
        # Both at once, whatever comes first.
        for order in (1, -1):
            user = f'both{order}'
            self.api.call('TransactWriteItems', {'TransactItems': [
                {'Put': {'TableName': 'scans', 'Item': one}} for one in [item('User', id=user), item('Scan', scan=user, user=user)][::order]]})
            self.assertEqual(self.get('scans', f'USER#{user}')['used'], 1)
        # The period ends, and with it what was taken.
        self.admin('/admin/clock', {'advance_seconds': 32 * 86400})
        self.put('scans', item('Scan', scan='l6', user='late'))
        self.assertEqual(self.get('scans', 'USER#late')['used'], 1)
