"""What has to be true in the end, computed anew from what the lanes know, a scan, the archives and what was received."""
import array
import base64
import bisect
import collections
import gzip
import hashlib
import json
import os
import socket

from lanes import DAY, REMOVED, code_of, stamp

KEEP = 3
QUOTA = 20


# ---- What was received -------------------------------------------------------------------------

def hook_events(path):
    with open(path, encoding='utf-8') as file:
        for line in file:
            job, n, kind, name = line.split()
            yield job, code_of(kind, n), name


def file_events(path):
    with open(path, encoding='utf-8') as file:
        for line in file:
            event = json.loads(line)
            yield event['item']['job'], code_of(event['type'], event['item']['n']), event['id']


def nats_events(nats, stream='events', batch=400):
    """All messages in their order, asked for by their numbers."""
    count = nats.ask(f'$JS.API.STREAM.INFO.{stream}')['state']['last_seq']
    with socket.create_connection(('127.0.0.1', nats.port), timeout=60) as wire:
        file = wire.makefile('rb')
        file.readline()
        wire.sendall(b'CONNECT {"verbose":false}\r\nSUB in.* 1\r\n')
        for first in range(1, count + 1, batch):
            numbers, found = range(first, min(first + batch, count + 1)), {}
            bodies = ((number, b'{"seq":%d}' % number) for number in numbers)
            wire.sendall(b''.join(b'PUB $JS.API.STREAM.MSG.GET.%s in.%d %d\r\n%s\r\n' % (stream.encode(), number, len(body), body)
                                  for number, body in bodies))
            while len(found) < len(numbers):
                line = file.readline().split()
                if line[:1] == [b'MSG']:
                    found[int(line[1][3:])] = json.loads(file.read(int(line[-1])))['message']['data']
                elif line[:1] == [b'PING']:
                    wire.sendall(b'PONG\r\n')
            for number in numbers:
                event = json.loads(base64.b64decode(found[number]))
                yield event['item']['job'], code_of(event['type'], event['item']['n']), event['id']


class Received:
    """What one target got: of each job the codes in the order of their first coming, and a digest of each one's id."""

    def __init__(self, name, events):
        self.name = name
        self.total = self.twice = 0
        self.codes, self.ids = {}, {}
        self.wrong = []
        for job, code, event in events:
            self.take(job, code, hashlib.blake2b(event.encode(), digest_size=8).digest())

    def take(self, job, code, digest):
        self.total += 1
        name = int.from_bytes(digest, 'big')
        codes = self.codes.setdefault(job, array.array('I'))
        ids = self.ids.setdefault(job, array.array('Q'))
        if not codes or code > codes[-1]:
            codes.append(code)
            ids.append(name)
            return
        at = bisect.bisect_left(codes, code)
        if at < len(codes) and codes[at] == code:
            self.twice += 1
            if ids[at] != name:
                self.wrong.append(f'{self.name}: {job}: the event {code} came twice, with two ids')
        else:
            self.wrong.append(f'{self.name}: {job}: the event {code} came after {codes[-1]}')

    def compare(self, jobs):
        lost = spare = 0
        for job, know in jobs.items():
            codes = self.codes.get(job, array.array('I'))
            if codes != know.codes:
                wanted, there = set(know.codes), set(codes)
                lost += len(wanted - there)
                spare += len(there - wanted)
                if len(self.wrong) < 20:
                    self.wrong.append(f'{self.name}: {job} ({know.state}): lost {sorted(wanted - there)[:5]}, '
                                      f'never happened {sorted(there - wanted)[:5]}')
        spare += sum(len(codes) for job, codes in self.codes.items() if job not in jobs)
        return lost, spare


# ---- Archives ----------------------------------------------------------------------------------

class Archives:
    """All items of all archives; each archive is whole, file by file, as its manifests say."""

    def __init__(self, root):
        self.count = self.items = 0
        self.jobs, self.projects, self.versions = {}, collections.defaultdict(set), collections.defaultdict(set)
        self.wrong = []
        for directory, _, files in os.walk(root):
            if '/.' not in directory and 'manifest-summary.json' in files:
                self.read(directory)

    def read(self, directory):
        self.count += 1
        with open(os.path.join(directory, 'manifest-summary.json'), encoding='utf-8') as file:
            summary = json.load(file)
        with open(os.path.join(directory, 'manifest-files.json'), encoding='utf-8') as file:
            files = [json.loads(line) for line in file]
        for one in files:
            path = os.path.join(directory, 'data', os.path.basename(one['dataFileS3Key']))
            with open(path, 'rb') as file:
                content = file.read()
            if base64.b64encode(hashlib.md5(content).digest()).decode() != one['md5Checksum']:
                self.wrong.append(f'{path}: another checksum than in the manifest')
            count = 0
            for line in gzip.decompress(content).splitlines():
                self.take(json.loads(line)['Item'])
                count += 1
            if count != one['itemCount']:
                self.wrong.append(f'{path}: {count} items, not {one["itemCount"]}')
            self.items += count
        if sum(one['itemCount'] for one in files) != summary['itemCount']:
            self.wrong.append(f'{directory}: the manifests do not agree')

    def take(self, item):
        kind = item['kind']['S']
        if kind == 'Job':
            self.jobs[item['job']['S']] = int(item['n']['N']), int(item['steps']['N']), int(item['bytes']['N'])
        elif kind == 'Project':
            self.projects[item['project']['S']].add(int(item['n']['N']))
        elif kind == 'Version':
            version = int(item['version']['N'])
            self.versions[item['asset']['S']].add(version)
            if item['text']['S'] != f'{item["asset"]["S"]} in version {version}':
                self.wrong.append(f'an archive has {item}')
        else:
            self.wrong.append(f'an archive has a {kind}')


# ---- The table ---------------------------------------------------------------------------------

class Table:
    """What a scan found, as numbers."""

    def __init__(self, api):
        self.jobs, self.projects, self.assets, self.users, self.owners = {}, {}, {}, {}, {}
        self.steps, self.bytes, self.uses, self.job_counts = (collections.Counter() for _ in range(4))
        self.tags, self.versions = collections.defaultdict(set), collections.defaultdict(set)
        self.items = 0
        start = None
        while True:
            page = api.call('Scan', {'TableName': 'work', 'ConsistentRead': True, **({'ExclusiveStartKey': start} if start else {})})
            for item in page['Items']:
                self.items += 1
                getattr(self, item['kind']['S'].lower())(item)
            start = page.get('LastEvaluatedKey')
            if start is None:
                break

    def job(self, item):
        self.jobs[item['job']['S']] = (int(item['n']['N']), int(item['steps']['N']), int(item['bytes']['N']), item['status']['S'],
                                       frozenset(item['tags']['SS']), item['project']['S'])
        self.job_counts[item['project']['S']] += 1

    def step(self, item):
        job = item['job']['S']
        self.steps[job] += 1
        self.bytes[job] += int(item['size']['N'])
        if 'owner' in item:
            self.uses[item['owner']['S']] += 1

    def tag(self, item):
        self.tags[item['job']['S']].add(item['tag']['S'])

    def owner(self, item):
        self.owners[item['owner']['S']] = int(item['uses']['N'])

    def project(self, item):
        self.projects[item['project']['S']] = (item['org']['S'], item['slug']['S'], int(item['n']['N']), 'deletedAt' in item,
                                               int(item['jobs']['N']))

    def asset(self, item):
        self.assets[item['asset']['S']] = int(item['versions']['N'])

    def version(self, item):
        self.versions[item['asset']['S']].add(int(item['version']['N']))

    def user(self, item):
        self.users[item['user']['S']] = int(item['used']['N']), int(item['made']['N'])


# ---- The verdict -------------------------------------------------------------------------------

class Verdict:
    def __init__(self, quiet=False):
        self.passed = self.failed = 0
        self.quiet = quiet

    def say(self, what, wrong):
        wrong = list(wrong)
        self.passed += not wrong
        self.failed += bool(wrong)
        if wrong and not self.quiet:
            print(f'FAILED: {what}: {len(wrong)} times')
            for one in wrong[:8]:
                print(f'    {one}')


def judge_jobs(world, table, archives, clock, verdict):
    """The clock: when the last sweep began, and what it has shown at most."""
    due, latest = clock
    lost, early, late, unarchived, swept = [], [], [], [], 0
    for name, know in world.jobs.items():
        there = table.jobs.get(name)
        if know.state == 'done' and there is None:
            swept += 1
            if know.done_at + DAY > latest:
                early.append(f'{name}: done at {stamp(know.done_at)}, and the clock never showed more than {stamp(latest)}')
            if archives.jobs.get(name) != (know.n, know.steps, know.bytes):
                unarchived.append(f'{name}: {archives.jobs.get(name)} is archived, not {(know.n, know.steps, know.bytes)}')
            know.codes.append(code_of(REMOVED, know.n))
            continue
        if know.state == 'done' and know.done_at + DAY < due:
            late.append(f'{name}: done at {stamp(know.done_at)}, and there at {stamp(due)}')
        if (there is None) != (know.state == 'deleted') or there and there[:5] != (
                know.n, know.steps, know.bytes, know.state, know.tags):
            lost.append(f'{name}: {there}, not {(know.n, know.steps, know.bytes, know.state, sorted(know.tags))}')
    lost += [f'{name} was never written' for name in table.jobs if name not in world.jobs]
    verdict.say('jobs are as they were written', lost)
    verdict.say('jobs that were swept were due', early)
    verdict.say('jobs that were due are swept', late)
    verdict.say('jobs that were swept are archived', unarchived)
    return swept


def judge_followers(table, verdict):
    """What follows from the items that are there, and only from them."""
    verdict.say('counts and sums of jobs are exact', (
        f'{name}: {job[1:3]}, not {(table.steps[name], table.bytes[name])}' for name, job in table.jobs.items()
        if job[1:3] != (table.steps[name], table.bytes[name])))
    verdict.say('counts of owners are exact', (f'{name}: {uses}, not {table.uses[name]}' for name, uses in table.owners.items()
                                               if uses != table.uses[name]))
    verdict.say('counts of projects are exact', (f'{name}: {one[4]}, not {table.job_counts[name]}' for name, one in table.projects.items()
                                                 if one[4] != table.job_counts[name]))
    verdict.say('counts of assets are exact', (f'{name}: {count}, not {len(table.versions[name])}' for name, count in table.assets.items()
                                               if count != len(table.versions[name])))
    verdict.say('steps refer to jobs that are there', (name for name in table.steps if name not in table.jobs))
    verdict.say('steps refer to owners that are there', (name for name in table.uses if name not in table.owners))
    verdict.say('jobs refer to projects that are there', (
        name for name in table.job_counts if table.projects.get(name, (0, 0, 0, True))[3]))
    verdict.say('tags are those of the jobs', (
        f'{name}: {sorted(table.tags[name])}' for name in {*table.tags, *table.jobs}
        if table.tags.get(name, set()) != (table.jobs[name][4] if name in table.jobs else None)))
    pairs = collections.Counter(one[:2] for one in table.projects.values() if not one[3])
    verdict.say('pairs are unique', (pair for pair, count in pairs.items() if count > 1))


def judge_projects(world, table, archives, verdict):
    wrong = []
    for name, (org, slug, n, state) in world.projects.items():
        there = table.projects.get(name)
        if state == 'deleted' and there is None:
            if n not in archives.projects[name]:
                wrong.append(f'{name} is gone and not archived')
        elif (there is None) != (state == 'none') or there and there[:4] != (org, slug, n, state == 'deleted'):
            wrong.append(f'{name}: {there}, not {(org, slug, n, state)}')
    verdict.say('projects are as they were written, or archived', wrong)


def judge_versions(world, table, archives, verdict):
    lost, kept = [], []
    for asset, last in world.assets.items():
        there, gone = table.versions[asset], set(range(1, last + 1)) - table.versions[asset]
        if not gone <= archives.versions[asset]:
            lost.append(f'{asset}: {sorted(gone - archives.versions[asset])[:5]} are gone and not archived')
        if there != set(range(max(1, last - KEEP + 1), last + 1)):
            kept.append(f'{asset}: {sorted(there)[:10]} are kept, of {last}')
    verdict.say('versions are there or archived', lost)
    verdict.say('the latest versions are kept, and no others', kept)


def judge_users(world, table, verdict):
    verdict.say('quotas hold', (f'{name}: {used}' for name, (used, _) in table.users.items() if used > QUOTA))
    verdict.say('nothing was added twice', (f'{name}: {table.users.get(name)}, not {made}' for name, made in world.users.items()
                                            if table.users.get(name, (0, None))[1] != made))


def judge_events(world, received, verdict):
    for one in received:
        lost, spare = one.compare(world.jobs)
        verdict.say(f'{one.name}: no event is lost ({lost}), none came that never happened ({spare}), the order of each job, ids',
                    one.wrong or ['…'] * (lost + spare))


# ---- That it can fail --------------------------------------------------------------------------

def broken_events(events, how):
    """One job's first events dropped, renamed, or exchanged."""
    chosen, held = None, None
    for job, code, name in events():
        chosen = chosen or job
        if job != chosen:
            yield job, code, name
        elif how == 'dropped' and code != 2 or how == 'kept':
            yield job, code, name
        elif how == 'renamed':
            yield job, code, name
            yield job, code, name + '!'
        elif how == 'exchanged':
            if code != 2:
                yield job, code, name
                if held:
                    yield held
            held = (job, code, name) if code == 2 else None


def fails(judgement, *arguments):
    verdict = Verdict(quiet=True)
    judgement(*arguments, verdict)
    return verdict.failed > 0


def unnoticed(world, table, archives, events):
    """What is wrong on purpose, and nobody would have noticed; and what is right, and is called wrong."""
    for how in ('dropped', 'renamed', 'exchanged', 'kept'):
        if fails(judge_events, world, [Received(how, broken_events(events, how))]) != (how != 'kept'):
            yield f'events {how}'
    for name, numbers in (('assets', table.assets), ('owners', table.owners)):
        which = next(iter(numbers))
        numbers[which] += 1
        if not fails(judge_followers, table):
            yield f'a count of {name}'
        numbers[which] -= 1
    job = next(iter(table.tags))
    tag = table.tags[job].pop()
    if not fails(judge_followers, table):
        yield 'a tag'
    table.tags[job].add(tag)
    asset = next(asset for asset, last in world.assets.items() if last > KEEP)
    archives.versions[asset].remove(1)
    if not fails(judge_versions, world, table, archives):
        yield 'a version that is not archived'
    archives.versions[asset].add(1)
    if fails(judge_followers, table) or fails(judge_versions, world, table, archives):
        yield 'what is right'
