"""Seeds: items that applying a model puts where there are none."""
import json
import re
import urllib.request

from support import ApiError, Case, item

MODEL = '''
table shop { key PK, SK  type kind }
entity Plan {
  PK = "PLAN#{planId}"  SK = "PLAN"
  planId string
  name string
  price number = 0
  madeAt timestamp = now()
}
'''
SEEDS = '''
seed Plan { planId = "free"  name = "Free" }
seed Plan { planId = "pro"  name = "Pro"  price = 20 }
'''


class Seed(Case):
    def plans(self):
        return {one['planId']['S']: (one['name']['S'], one['price']['N']) for one in self.scan('shop').values()}

    def test_put(self):
        """By the guard: with keys, type and defaults; what is there stays as it is."""
        self.serve()
        path = self.file(MODEL + SEEDS)
        self.assertIn('seeds: 2 of 2 would be made', self.cli('diff', path).stdout)
        self.assertIn('seeds: 2 items made', self.apply(MODEL + SEEDS))
        self.assertEqual(self.plans(), {'free': ('Free', '0'), 'pro': ('Pro', '20')})
        one = self.scan('shop')['PLAN#free', 'PLAN']
        self.assertEqual((one['kind']['S'], 'madeAt' in one), ('Plan', True))
        self.api.call('UpdateItem', {'TableName': 'shop', 'Key': {'PK': {'S': 'PLAN#pro'}, 'SK': {'S': 'PLAN'}},
                                     'UpdateExpression': 'SET price = :p', 'ExpressionAttributeValues': {':p': {'N': '25'}}})
        self.assertEqual(self.cli('apply', path, '--check').returncode, 0)
        self.apply(MODEL + SEEDS)
        self.assertEqual(self.plans(), {'free': ('Free', '0'), 'pro': ('Pro', '25')})

    def test_missing(self):
        """--check sees one that is gone, and applying the same file makes it again."""
        self.serve()
        self.apply(MODEL + SEEDS)
        self.api.call('DeleteItem', {'TableName': 'shop', 'Key': {'PK': {'S': 'PLAN#free'}, 'SK': {'S': 'PLAN'}}})
        checked = self.cli('apply', self.file(MODEL + SEEDS), '--check')
        self.assertEqual(checked.returncode, 1)
        self.assertIn('seeds: 1 of 2 would be made', checked.stdout)
        self.assertEqual(len(self.plans()), 1)
        answer = json.loads(self.cli('apply', self.file(MODEL + SEEDS), '--json').stdout)
        self.assertEqual((answer['Outcome'], answer['Tables'][0]['Seeds']), ('APPLIED', {'Total': 2, 'Missing': 1, 'Made': 1}))
        self.assertEqual(len(self.plans()), 2)

    def test_unique(self):
        """Those of a model whose unique values have to be gathered first are put once it is attached."""
        model = MODEL.replace('name string', 'name string unique')
        self.serve()
        self.apply(MODEL)
        self.load([item('Plan', planId=f'{number}', name=f'{number}') for number in range(50)], 'shop')
        self.apply(model + SEEDS)
        self.wait(lambda: len(self.plans()) == 52, 'the seeds')

    def test_many(self):
        """They come in few commits, each by itself: one may refer to one before it, and one that is refused is named."""
        many = '''
entity Feature {
  PK = "PLAN#{planId}"  SK = "FEATURE#{featureId}"
  planId string
  featureId string
  text string unique
  reference planId to Plan
}
seed Plan { planId = "p"  name = "P" }
''' + ''.join(f'seed Feature {{ planId = "p"  featureId = "{number}"  text = "{number}" }}\n' for number in range(450))

        def commits():
            with urllib.request.urlopen(self.server.endpoint + '/metrics') as answer:
                return int(re.search(r'^dolmen_store_commits_total (\d+)$', answer.read().decode(), re.MULTILINE)[1])

        self.serve()
        self.apply(MODEL)
        before = commits()
        self.apply(MODEL + many)
        self.assertEqual(len(self.scan('shop')), 451)
        self.assertLess(commits() - before, 50)
        with self.assertRaises(ApiError) as refused:
            self.api.call('ApplyModel', {'Model': MODEL + many + 'seed Feature { planId = "p"  featureId = "x"  text = "7" }\n'
                                         'seed Feature { planId = "p"  featureId = "y"  text = "y" }'})
        line = (MODEL + many).count('\n') + 1
        self.assertIn(f'seed Feature, line {line}: ', refused.exception.message)
        self.assertIn('no other item has', refused.exception.message)

    def test_serve(self):
        path = self.file(MODEL + SEEDS)
        self.serve('--model', path)
        self.assertEqual(len(self.plans()), 2)

    def test_wrong(self):
        """One that the model would refuse is told before anything is done."""
        self.serve()
        with self.assertRaises(ApiError) as refused:
            self.api.call('ApplyModel', {'Model': MODEL + 'seed Plan { planId = "free" }'})
        self.assertIn('name', refused.exception.message)
        self.assertEqual(self.api.call('ListTables', {})['TableNames'], [])
