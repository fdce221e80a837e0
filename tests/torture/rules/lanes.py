"""Who writes. Each lane has items of its own, so it knows what they have to be; what a lane remembers of a job that is
over is a few numbers. Numbers of changes (`n`) only grow, and each is written once.
"""
import array
import json
import time

from pipeline import request

TAGS = [f'tag{number:02}' for number in range(40)]
STEPS = 24
DAY = 86400
REMOVED = 'job.removed'  # the name of an event


def stamp(seconds):
    return time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(seconds))


def key(pk, sk='x'):
    return {'PK': {'S': pk}, 'SK': {'S': sk}}


def fields(kind, texts, numbers=()):
    item = {'kind': {'S': kind}}
    item.update((name, {'S': value}) for name, value in texts.items())
    item.update((name, {'N': str(value)}) for name, value in dict(numbers).items())
    return item


class Problem(AssertionError):
    pass


class World:
    """What all lanes share."""

    def __init__(self, chance):
        self.chance = chance
        self.acknowledged = 0
        self.unsure = 0       # writes that had no sure end, and were looked up
        self.refused = 0
        self.stopping = False
        self.problems = []
        self.jobs = {}        # job -> Job
        self.projects = {}    # project -> [org, slug, n, state]
        self.assets = {}      # asset -> its last version
        self.users = {}       # user -> how many were made

    def problem(self, text):
        if len(self.problems) < 50:
            self.problems.append(text)


class Job:
    """What is known of a job: the codes of its events, and what it has to be."""
    __slots__ = ('codes', 'n', 'steps', 'bytes', 'uses', 'tags', 'state', 'done_at')

    def __init__(self):
        self.codes = array.array('I')
        self.n = self.steps = self.bytes = self.uses = self.done_at = 0
        self.tags = frozenset()
        self.state = 'none'  # open, done, deleted


def code_of(kind, n):
    """An event as a number that grows with each change of its job."""
    return 2 * int(n) + (kind == REMOVED)


class Lane:
    def __init__(self, world, name):
        self.world, self.name, self.chance = world, name, world.chance

    # ---- Asking ----

    def write(self, operation, document, items):
        """True done, False refused, None unsure."""
        while True:
            answer = yield request(operation, document)
            if answer is None:
                self.world.unsure += 1
                return None
            status, body = answer
            if status == 200:
                if b'"UnprocessedItems":{"' in body:
                    return None
                self.world.acknowledged += items
                return True
            if b'Throttl' in body or b'ThroughputExceeded' in body or b'TransactionConflict' in body:
                continue
            if b'ValidationException' in body or b'ConditionalCheck' in body:
                self.world.refused += 1
                self.refusal = body
                return False
            raise Problem(f'{operation}: {status} {body[:400]!r}')

    def read(self, pk, sk='x'):
        while True:
            answer = yield request('GetItem', {'TableName': 'work', 'Key': key(pk, sk), 'ConsistentRead': True})
            if answer is not None and answer[0] == 200:
                return json.loads(answer[1]).get('Item')

    def surely(self, operation, document, items):
        """What may be done again: until it is done."""
        while True:
            done = yield from self.write(operation, document, items)
            if done:
                return
            if done is False:
                self.world.problem(f'{self.name}: {operation} was refused: {self.refusal[:300]!r}')
                return

    def batch(self, puts):
        return self.surely('BatchWriteItem', {'RequestItems': {'work': [{'PutRequest': {'Item': item}} for item in puts]}}, len(puts))

    def put(self, item):
        return self.surely('PutItem', {'TableName': 'work', 'Item': item}, 1)


class Jobs(Lane):
    """Jobs of a project, one after the other: events, counts, sums, tags, references."""

    def run(self):
        self.number = 0
        self.project = f'{self.name}.home'
        self.world.projects[self.project] = ['home', self.name, 0, 'live']
        yield from self.put(fields('Project', {'project': self.project, 'org': 'home', 'slug': self.name}, {'n': 0}))
        while not self.world.stopping:
            self.number += 1
            self.job = f'{self.name}.{self.number}'
            self.know = self.world.jobs[self.job] = Job()
            self.sizes, self.owned = {}, set()
            yield from self.put(fields('Owner', {'owner': self.job}))
            yield from self.begin()
            for _ in range(self.chance.randrange(4, 20)):
                act = self.chance.choice((self.many, self.touch, self.touch, self.swap, self.swap, self.swap, self.clear, self.hold))
                yield from act()
            yield from self.chance.choice((self.finish, self.finish, self.finish, self.delete))()
            self.note()

    def note(self):
        know = self.know
        know.steps, know.bytes, know.uses = len(self.sizes), sum(self.sizes.values()), len(self.owned)

    def step(self, k, size, owned):
        texts = {'job': self.job, 'k': str(k), **({'owner': self.job} if owned else {})}
        return fields('Step', texts, {'size': size})

    def change(self, actions):
        """A transaction that takes the job to its next number, and what else it has to do; looked up if unsure."""
        know, n = self.know, self.know.n + 1
        while True:
            done = yield from self.write('TransactWriteItems', {'TransactItems': actions(n)}, len(actions(n)))
            if done is False:
                self.world.problem(f'{self.job}: a change was refused: {self.refusal[:300]!r}')
                return False
            if done is None:
                stored = yield from self.read(f'J#{self.job}')
                there = int(stored['n']['N']) if stored else 0
                if there not in (know.n, n):
                    self.world.problem(f'{self.job}: n is {there}, not {know.n} or {n}')
                done = there == n
            if done:
                know.n = n
                know.codes.append(code_of('', n))
                return True

    def update(self, n, text='', values=None, names=None):
        return {'Update': {'TableName': 'work', 'Key': key(f'J#{self.job}'), 'UpdateExpression': 'SET n = :n' + text,
                           'ConditionExpression': 'n = :was', 'ExpressionAttributeValues': {
                               ':n': {'N': str(n)}, ':was': {'N': str(n - 1)}, **(values or {})},
                           **({'ExpressionAttributeNames': names} if names else {})}}

    def some_tags(self):
        return frozenset(self.chance.sample(TAGS, self.chance.randrange(1, 5)))

    def begin(self):
        tags = self.some_tags()
        sizes = {k: self.chance.randrange(1000) for k in range(3)}
        item = {**fields('Job', {'job': self.job, 'project': self.project}), 'tags': {'SS': sorted(tags)}}
        yield from self.change(lambda n: [{'Put': {'TableName': 'work', 'Item': {**item, 'n': {'N': str(n)}}}}] + [
            {'Put': {'TableName': 'work', 'Item': self.step(k, size, False)}} for k, size in sizes.items()])
        self.know.state, self.know.tags, self.sizes = 'open', tags, sizes

    def many(self):
        """Steps in a batch: no event."""
        puts = {k: (self.chance.randrange(1000), self.chance.random() < 0.4)
                for k in self.chance.sample(range(STEPS), self.chance.randrange(4, STEPS))}
        yield from self.batch([self.step(k, *what) for k, what in puts.items()])
        self.sizes.update((k, size) for k, (size, _) in puts.items())
        self.owned = self.owned - set(puts) | {k for k, (_, owned) in puts.items() if owned}

    def touch(self):
        tags = self.some_tags()
        if (yield from self.change(lambda n: [self.update(n, ', tags = :t', {':t': {'SS': sorted(tags)}})])):
            self.know.tags = tags

    def swap(self):
        """One step goes, another comes, and the job changes, all at once."""
        gone, come = self.chance.sample(range(STEPS), 2)
        size = self.chance.randrange(1000)
        if (yield from self.change(lambda n: [
                self.update(n), {'Delete': {'TableName': 'work', 'Key': key(f'S#{self.job}', str(gone))}},
                {'Put': {'TableName': 'work', 'Item': self.step(come, size, True)}}])):
            self.sizes.pop(gone, None)
            self.owned.discard(gone)
            self.sizes[come] = size
            self.owned.add(come)

    def clear(self):
        """Its owner goes: the steps lose it."""
        yield from self.surely('DeleteItem', {'TableName': 'work', 'Key': key(f'O#{self.job}')}, 1)
        self.owned = set()
        yield from self.put(fields('Owner', {'owner': self.job}))

    def hold(self):
        """A project with jobs cannot go."""
        done = yield from self.write('DeleteItem', {'TableName': 'work', 'Key': key(f'P#{self.project}')}, 1)
        if done:
            self.world.problem(f'{self.project} was deleted while {self.job} refers to it')

    def finish(self):
        """Done: a while ago, now, or never long enough ago."""
        at = self.world.clock() + self.chance.choice((-2 * DAY, -2 * DAY, 0, 300 * DAY))
        values = {':d': {'S': stamp(at)}, ':s': {'S': 'done'}}
        if (yield from self.change(lambda n: [self.update(n, ', doneAt = :d, #s = :s', values, {'#s': 'status'})])):
            self.know.state, self.know.done_at = 'done', int(at)

    def delete(self):
        while True:
            done = yield from self.write('DeleteItem', {'TableName': 'work', 'Key': key(f'J#{self.job}')}, 1)
            if done is None:
                done = (yield from self.read(f'J#{self.job}')) is None
            if done:
                break
        self.know.codes.append(code_of(REMOVED, self.know.n))
        self.know.state, self.sizes, self.owned = 'deleted', {}, set()


class Projects(Lane):
    """Slugs that are unique in an organisation, soft deletes, and items that come back."""

    def run(self):
        names = [f'{self.name}.{number}' for number in range(12)]
        while not self.world.stopping:
            name = self.chance.choice(names)
            state = self.world.projects.setdefault(name, ['', '', 0, 'none'])
            act = self.make if state[3] == 'none' else self.chance.choice(
                (self.rename, self.remove) if state[3] == 'live' else (self.restore, self.make))
            yield from act(name, state)

    def end(self, name, state, done, new):
        """Takes over what was done; if that is unsure, what is there."""
        if done is None:
            stored = yield from self.read(f'P#{name}')
            if stored is None:
                done = new[3] == 'deleted'  # and swept since; the archives will tell
                if not done and state[3] == 'live':
                    self.world.problem(f'{name} is gone')
            else:
                done = int(stored['n']['N']) == new[2] and ('deletedAt' in stored) == (new[3] == 'deleted')
        if done:
            state[:] = new

    def place(self):
        return f'org{self.chance.randrange(3)}', f'slug{self.chance.randrange(16)}'

    def make(self, name, state):
        org, slug = self.place()
        new = [org, slug, state[2] + 1, 'live']
        done = yield from self.write('PutItem', {'TableName': 'work', 'Item': fields(
            'Project', {'project': name, 'org': org, 'slug': slug}, {'n': new[2]})}, 1)
        yield from self.end(name, state, done, new)

    def rename(self, name, state):
        org, slug = self.place()
        new = [org, slug, state[2] + 1, 'live']
        done = yield from self.write('UpdateItem', {
            'TableName': 'work', 'Key': key(f'P#{name}'), 'UpdateExpression': 'SET org = :o, slug = :s, n = :n',
            'ConditionExpression': 'attribute_exists(PK)',
            'ExpressionAttributeValues': {':o': {'S': org}, ':s': {'S': slug}, ':n': {'N': str(new[2])}}}, 1)
        yield from self.end(name, state, done, new)

    def remove(self, name, state):
        done = yield from self.write('DeleteItem', {'TableName': 'work', 'Key': key(f'P#{name}')}, 1)
        yield from self.end(name, state, done, state[:3] + ['deleted'])

    def restore(self, name, state):
        new = state[:2] + [state[2] + 1, 'live']
        done = yield from self.write('UpdateItem', {
            'TableName': 'work', 'Key': key(f'P#{name}'), 'UpdateExpression': 'SET n = :n REMOVE deletedAt',
            'ConditionExpression': 'attribute_exists(PK)', 'ExpressionAttributeValues': {':n': {'N': str(new[2])}}}, 1)
        yield from self.end(name, state, done, new)


class Versions(Lane):
    """Versions of assets, of which the latest are kept."""

    def run(self):
        assets = [f'{self.name}.{number}' for number in range(8)]
        for asset in assets:
            self.world.assets[asset] = 0
            yield from self.put(fields('Asset', {'asset': asset}))
        while not self.world.stopping:
            asset = self.chance.choice(assets)
            last, count = self.world.assets[asset], self.chance.randrange(2, 7)
            yield from self.batch([fields('Version', {'asset': asset, 'text': f'{asset} in version {number}'}, {'version': number})
                                   for number in range(last + 1, last + count + 1)])
            self.world.assets[asset] = last + count


class Users(Lane):
    """A quota, and beside it a number that has none."""

    def run(self):
        users = [f'{self.name}.{number}' for number in range(6)]
        for user in users:
            self.world.users[user] = 0
            yield from self.put(fields('User', {'user': user}))
        while not self.world.stopping:
            user = self.chance.choice(users)
            done = yield from self.write('UpdateItem', {
                'TableName': 'work', 'Key': key(f'U#{user}'), 'UpdateExpression': 'ADD used :one, made :one',
                'ExpressionAttributeValues': {':one': {'N': '1'}}}, 1)
            if done is None:
                stored = yield from self.read(f'U#{user}')
                made = int(stored['made']['N'])
                if made not in (self.world.users[user], self.world.users[user] + 1):
                    self.world.problem(f'{user}: made is {made}, not {self.world.users[user]} or one more')
                self.world.users[user] = made
            elif done:
                self.world.users[user] += 1
            else:  # the quota is used up
                yield from self.surely('UpdateItem', {
                    'TableName': 'work', 'Key': key(f'U#{user}'), 'UpdateExpression': 'SET used = :zero',
                    'ExpressionAttributeValues': {':zero': {'N': '0'}}}, 1)
