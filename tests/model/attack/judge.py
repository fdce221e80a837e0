"""What must hold of everything that is stored, told by nothing that the server has said of it but the items themselves."""
import json
from collections import Counter

from dolmen import Api, ApiError, verify_database

STREAMS = 'DynamoDBStreams_20120810.'
SAMPLES = 5


class Judge:
    def __init__(self, endpoint, table):
        self.api, self.streams, self.table = Api(endpoint, 300), Api(endpoint, 300, STREAMS), table
        self.counts, self.samples = Counter(), {}
        self.arn = None
        self.iterators = {}  # by shard; None when it has ended
        self.marks = set()

    def accuse(self, what, *details):
        self.counts[what] += 1
        kept = self.samples.setdefault(what, [])
        if len(kept) < SAMPLES:
            kept.append('\n      '.join(map(str, details)))

    # ---- Every version of every item, from the stream ------------------------------------------

    def records(self):
        if self.arn is None:
            self.arn = self.api.call('DescribeTable', {'TableName': self.table})['Table']['LatestStreamArn']
        start = {}
        while start is not None:
            page = self.streams.call('DescribeStream', {'StreamArn': self.arn, **start})['StreamDescription']
            for shard in page['Shards']:
                if shard['ShardId'] not in self.iterators:
                    request = {'StreamArn': self.arn, 'ShardId': shard['ShardId'], 'ShardIteratorType': 'TRIM_HORIZON'}
                    self.iterators[shard['ShardId']] = self.streams.call('GetShardIterator', request)['ShardIterator']
            last = page.get('LastEvaluatedShardId')
            start = {'ExclusiveStartShardId': last} if last else None
        for shard, iterator in self.iterators.items():
            while iterator is not None:
                answer = self.streams.call('GetRecords', {'ShardIterator': iterator, 'Limit': 1000})
                yield from answer['Records']
                iterator = answer.get('NextShardIterator')
                self.iterators[shard] = iterator
                if not answer['Records']:
                    break

    def follow(self, versions):
        """What was written since the last time was right by one of these versions of the model."""
        for record in self.records():
            self.counts['records'] += 1
            old, new = record['dynamodb'].get('OldImage'), record['dynamodb'].get('NewImage')
            if new is not None:
                self.judge_image(versions, new)
                self.judge_step(versions, old, new)

    def judge_image(self, versions, item):
        faults = None
        for model in versions:
            found = model.wrong(item)
            if not found:
                return
            faults = faults or found
        for fault in faults:
            self.accuse(self.name_of(fault), fault, json.dumps(item))

    def name_of(self, fault):
        if 'foreign' in fault:
            return 'foreign keys'
        return 'keys unlike their recomputation' if 'should be' in fault else 'items that are wrong'

    def judge_step(self, versions, old, new):
        """What a put has made has a mark that nothing had before; all else are updates."""
        model, mark = versions[0], new.get('w')
        put = mark is not None and (old is None or old.get('w') != mark)
        if put and mark['S'] in self.marks:
            self.accuse('puts that were done twice', mark)
        if put:
            self.marks.add(mark['S'])
        if old is None:
            return
        if self.entity_name(model, old) == self.entity_name(model, new):
            self.judge_same(model, old, new, counted=len(versions) == 1)
        elif not put:
            self.accuse('entities changed by an update', json.dumps(old), json.dumps(new))

    def judge_same(self, model, old, new, counted):
        """Values that stay, and versions, which a backfill does not count."""
        entity = model.entity_of(new)
        for a in entity.attributes if entity else []:
            was, now = old.get(a.name), new.get(a.name)
            if a.immutable and was is not None and not ('NULL' in was and a.takes_null()) and was != now:
                self.accuse('immutable values that changed', a.name, json.dumps(old), json.dumps(new))
            if a.version and was is not None and int(now['N']) not in ((int(was['N']) + 1,) if counted else (int(was['N']) + 1, int(was['N']))):
                self.accuse('versions that do not count', a.name, json.dumps(old), json.dumps(new))

    def entity_name(self, model, item):
        entity = model.entity_of(item)
        return None if entity is None else entity.name

    # ---- The table and its indexes, when nobody writes --------------------------------------------

    def identity(self, model, item):
        return tuple(json.dumps(item[n], sort_keys=True) for n in model.key)

    def look(self, model):
        stored = {self.identity(model, i): i for i in self.api.pages('Scan', {'TableName': self.table, 'ConsistentRead': True})}
        self.counts['items'] += len(stored)
        claimed = {}
        for item in stored.values():
            self.judge_image([model], item)
            entity = model.entity_of(item)
            for a in entity.attributes if entity else []:
                value = item.get(a.name)
                if not a.unique or value is None or 'NULL' in value:
                    continue
                claim = (entity.name, a.name, json.dumps(value))
                if claim in claimed:
                    self.accuse('duplicates of unique values', claim, json.dumps(item), json.dumps(claimed[claim]))
                claimed[claim] = item
        for index in model.indexes:
            self.look_at_index(model, index, stored)
        try:
            verify_database(self.api)
        except (AssertionError, ApiError) as error:
            self.accuse('differences that the server itself finds', error)

    def look_at_index(self, model, index, stored):
        expected = {k: i for k, i in stored.items() if (e := model.entity_of(i)) and e.is_in(index, i)}
        entries = self.api.pages('Scan', {'TableName': self.table, 'IndexName': index})
        self.counts['entries'] += len(entries)
        for entry in entries:
            key = self.identity(model, entry)
            if key not in expected:
                self.accuse('items in an index that their entity does not declare', index, json.dumps(entry))
            elif expected.pop(key) != entry:
                self.accuse('entries unlike their items', index, json.dumps(entry), json.dumps(stored[key]))
        for item in expected.values():
            self.accuse('items missing in an index', index, json.dumps(item))

    def verdicts(self):
        return {what: n for what, n in self.counts.items() if what not in ('records', 'items', 'entries')}
