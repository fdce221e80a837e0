"""Values that are to be unique, while a model that says so is being applied: no two items come to have one, whoever writes
meanwhile, and however often the server is killed."""
import os
import random
import threading
import time
import unittest

from support import Api, ApiError, Case, item

USERS = 2000
MODEL = """
table shop {
  key PK, SK
  type EntityType
}
entity User {
  PK = "USER#{userId}"  SK = "x"
  userId string
  email string unique lower
  plan string = "free"
}
"""


def user(number, email):
    return item(PK=f'USER#{number}', SK='x', userId=str(number), email=email)


class Unique(Case):
    def prepare(self, *options):
        self.seed = int(os.environ.get('SEED', random.randrange(1 << 30)))
        self.chance = random.Random(self.seed)
        self.serve(*options)
        self.create()
        # Half of them in another form: it is the lower one that is unique.
        self.load(user(number, f'{"U" if number % 2 else "u"}ser{number}@x') for number in range(USERS))
        self.model = self.file('unique.dolmen', MODEL)

    def duplicates(self):
        emails = [one['email'].lower() for one in self.scan()]
        return len(emails) - len(set(emails))

    def attempts(self, count):
        """Puts users with emails that others have. How many were taken."""
        taken = 0
        for _ in range(count):
            number = self.chance.randrange(USERS)
            try:
                self.api.call('PutItem', {'TableName': 'shop', 'Item': user(f'late{self.chance.random()}', f'user{number}@x')})
                taken += 1
            except ApiError as error:
                self.assertIn('a value that no other item has', str(error))
        return taken

    def test_holds_from_the_first_moment(self):
        self.prepare()
        self.assertEqual(self.cli('apply', '--no-wait', '--rate', '1500', self.model).code, 0)
        while 'Digest' not in (found := self.describe()):
            self.assertEqual(found['Progress']['Phase'], 'CLAIMS')
            time.sleep(0.02)
        tried = 0
        while self.describe()['Status'] == 'APPLYING':
            self.assertEqual(self.attempts(20), 0, f'seed {self.seed}')
            tried += 20
        self.assertGreater(tried, 0)
        self.assertEqual(self.duplicates(), 0)
        self.assertEqual({one['email'] for one in self.scan()}, {f'user{number}@x' for number in range(USERS)})

    def test_follows_what_others_write(self):
        """Values move between items while they are gathered; afterwards each is claimed by the one that has it."""
        self.prepare()
        stop = threading.Event()
        failures = []

        def move(which):
            api, chance, step = Api(self.server.endpoint), random.Random(self.seed + which), 0
            mine = [number for number in range(USERS) if number % 4 == which]
            while not stop.is_set():
                step += 1
                number = chance.choice(mine)
                key = {'PK': {'S': f'USER#{number}'}, 'SK': {'S': 'x'}}
                try:
                    if chance.random() < 0.3:
                        api.call('DeleteItem', {'TableName': 'shop', 'Key': key})
                    elif chance.random() < 0.5:
                        api.call('PutItem', {'TableName': 'shop', 'Item': user(number, f'New{which}-{step}@x')})
                    else:
                        api.call('PutItem', {'TableName': 'shop', 'Item': user(number, f'user{number}@x')})
                except (ApiError, OSError) as error:
                    failures.append(str(error))

        threads = [threading.Thread(target=move, args=(which,)) for which in range(4)]
        for thread in threads:
            thread.start()
        applied = self.cli('apply', '--rate', '1000', self.model)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual((applied.code, failures), (0, []), f'seed {self.seed}: {applied.err}')
        self.check_claims()

    def check_claims(self):
        self.assertEqual(self.duplicates(), 0, f'seed {self.seed}')
        verified = self.cli('verify')
        self.assertEqual(verified.code, 0, f'seed {self.seed}: {verified.out}')
        used = {one['email'] for one in self.scan()}
        for number in self.chance.sample(range(USERS), 60):
            email = f'user{number}@x'
            put = {'TableName': 'shop', 'Item': user(f'check{number}', email)}
            if email in used:
                with self.assertRaises(ApiError):
                    self.api.call('PutItem', put)
            else:
                self.api.call('PutItem', put)

    def test_survives_kills(self):
        self.prepare('--durability', 'relaxed')
        self.assertEqual(self.cli('apply', '--no-wait', '--rate', '1500', self.model).code, 0)
        kills, phases = 0, set()
        while kills < 12:
            found = self.describe()
            if found['Status'] != 'APPLYING':
                break
            phases.add(found['Progress']['Phase'])
            if 'Digest' in found:
                self.assertEqual(self.attempts(10), 0, f'seed {self.seed}')
            # Whatever phase it is: one value goes, another item gets it.
            number = self.chance.randrange(USERS)
            key = {'PK': {'S': f'USER#{number}'}, 'SK': {'S': 'x'}}
            self.api.call('DeleteItem', {'TableName': 'shop', 'Key': key})
            self.api.call('PutItem', {'TableName': 'shop', 'Item': user(f'next{kills}', f'user{number}@x')})
            time.sleep(self.chance.uniform(0.02, 0.3))
            self.server.kill()
            kills += 1
            self.serve('--durability', 'relaxed')
        self.assertEqual(self.settle()['Status'], 'ACTIVE')
        self.assertIn('CLAIMS', phases, f'seed {self.seed}')
        self.check_claims()

    def test_refuses_what_came_meanwhile(self):
        self.prepare('--durability', 'relaxed')
        self.assertEqual(self.cli('apply', '--no-wait', '--rate', '2000', self.model).code, 0)
        self.assertEqual(self.describe()['Progress']['Phase'], 'CLAIMS')
        # The model is not attached: this is nobody's mistake. A kill does not make it forgotten.
        self.load([user('twice', 'user7@x')])
        self.server.kill()
        self.serve('--durability', 'relaxed')
        found = self.settle()
        self.assertEqual((found['Status'], 'Digest' in found), ('FAILED', False), found)
        self.assertIn('1 value came to be used by several items', found['Progress']['Failure'])
        self.assertIn('User.email is not unique', found['Progress']['ViolationSamples'][0]['Text'])
        refused = self.cli('apply', self.model)
        self.assertEqual((refused.code, '1 value would not be unique' in refused.err), (1, True), refused.err)
        self.api.call('DeleteItem', {'TableName': 'shop', 'Key': item(PK='USER#twice', SK='x')})
        self.assertEqual(self.cli('apply', self.model).code, 0)
        self.check_claims()

    def test_goes_on_if_that_is_over(self):
        self.prepare()
        self.assertEqual(self.cli('apply', '--no-wait', '--rate', '2000', self.model).code, 0)
        self.load([user('twice', 'user7@x')])
        self.api.call('DeleteItem', {'TableName': 'shop', 'Key': item(PK='USER#7', SK='x')})
        self.assertEqual(self.settle()['Status'], 'ACTIVE')
        self.check_claims()

    def test_force_attaches_all_the_same(self):
        self.prepare()
        self.load([user('twice', 'user7@x')])
        forced = self.cli('apply', '--force', self.model)
        self.assertEqual(forced.code, 0, forced.err)
        self.assertEqual((self.describe()['Status'], self.duplicates()), ('ACTIVE', 1))
        self.assertEqual(self.attempts(30), 0)

    def test_can_be_given_up_and_attached_to(self):
        self.prepare()
        self.assertEqual(self.cli('apply', '--no-wait', '--rate', '1000', self.model).code, 0)
        again = self.cli('apply', '--no-wait', self.model)
        self.assertIn('this model is being applied already', again.out)
        back = self.cli('abandon', 'shop')
        self.assertEqual((back.code, back.out), (0, 'table shop has no model any more; its items stay as they are\n'), back.err)
        self.assertEqual(self.api.call('ListModelVersions', {'TableName': 'shop'})['Versions'], [])
        self.load([user('twice', 'user7@x')])
        none = self.cli('abandon', 'shop')
        self.assertEqual((none.code, 'has no model' in none.err), (1, True))
        # Going from one model to another: the one that is there holds until then.
        self.api.call('DeleteItem', {'TableName': 'shop', 'Key': item(PK='USER#twice', SK='x')})
        self.assertEqual(self.cli('apply', self.model).code, 0)
        other = self.file('other.dolmen', MODEL.replace('userId string', 'userId string unique'))
        self.assertEqual(self.cli('apply', '--no-wait', '--rate', '1000', other).code, 0)
        self.assertEqual(self.describe()['Progress']['Phase'], 'CLAIMS')
        self.assertEqual(self.attempts(20), 0)
        kept = self.cli('abandon', 'shop')
        self.assertEqual((kept.code, self.describe()['Model']), (0, MODEL), kept.err)

    def test_serve_attaches_before_it_serves(self):
        self.prepare()
        self.server.stop()
        self.serve('--model', self.model)
        self.assertEqual(self.attempts(30), 0)


if __name__ == '__main__':
    unittest.main()
