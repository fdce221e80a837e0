"""Hostile writers on random models, by every way there is, while the model changes under them.

    tests/model/attack/run [--writes N] [--models N] [--seed TEXT]

Many connections write items with keys of indexes that are not theirs, with other entities' names, nulls, separators, keys in
forms that are not normal, values of wrong types; they take away what has a default, and send requests again. Meanwhile another version
of the model is applied, and now and then abandoned. Nobody foretells what is refused. Instead every version of every item, from the stream, and every
index, when nobody writes, is judged by an evaluator that shares nothing with the server (../property/design.py).
"""
import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter

from dolmen import Api, ApiError, Server
from forge import Forge, Hostile
from judge import Judge
from ways import Writer

CLIENTS = (3, 4)  # processes, and connections of each
FAULTS = ('items in an index that their entity does not declare', 'foreign keys', 'duplicates of unique values', 'refused replays',
          'entities changed by an update', 'keys unlike their recomputation', 'puts that were done twice', 'immutable values that changed',
          'versions that do not count')


def clients(endpoint, seed, versions, writes, name, results):
    """A process of clients."""
    writers = []
    for i in range(CLIENTS[1]):
        forge = Forge(random.Random(f'{seed}/{name}/{i}'), versions, f'{name}.{i}')
        writers.append(Writer(endpoint, forge, versions[0].table, versions[0].typed))
    threads = [threading.Thread(target=guarded, args=(writer, writes // CLIENTS[1] + 1)) for writer in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put([(w.taken, w.refused, w.faults, w.samples, w.written) for w in writers])


def guarded(writer, writes):
    try:
        writer.run(writes)
    except Exception as error:
        writer.fault('clients that failed', repr(error))


class Attack:
    def __init__(self, server, bucket, seed):
        self.endpoint, self.api, self.bucket, self.seed = server.endpoint, Api(server.endpoint, 300), bucket, seed
        self.taken, self.refused, self.faults, self.samples, self.written = Counter(), Counter(), Counter(), {}, 0
        self.changes = Counter()  # of models

    def accuse(self, what, detail):
        self.faults[what] += 1
        self.samples.setdefault(what, []).append(detail)

    def settled(self, table):
        for _ in range(1200):
            about = self.api.call('DescribeModel', {'TableName': table})
            if about['Status'] == 'FAILED':  # values met while they became unique: the model before stays
                self.changes['not attached'] += 1
                return about
            if about['Status'] == 'ACTIVE' and about.get('Progress', {}).get('Phase', 'DONE') == 'DONE':
                return about
            time.sleep(0.05)
        raise AssertionError(f'the model does not settle: {about}')

    # ---- Beside the writers ----------------------------------------------------------------------

    def apply(self, before, after, abandon):
        """The digest of the model that the table has in the end."""
        try:
            self.api.call('ApplyModel', {'Model': after.language()})
            self.changes['applied'] += 1
            if abandon and after.language() != before.language():
                self.api.call('AbandonModel', {'TableName': after.table})
                self.changes['abandoned'] += 1
        except ApiError as error:  # values that are not unique are a reason
            self.changes['refused'] += 1
            if error.name != 'ValidationException' and 'unique' not in error.message:
                self.accuse('changes of the model that failed', f'{error}\n{after.language()}')
        return self.settled(after.table)['Digest']

    def bulk(self, versions, count):
        """Puts items by files: a bulk operation."""
        table, forge = versions[0].table, Forge(random.Random(f'{self.seed}/bulk/{self.written}'), versions, f'bulk.{self.written}')
        folder = os.path.join(self.bucket, 'box', table)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, 'items.json'), 'w') as out:
            for _ in range(count):
                out.write(json.dumps({'Item': forge.put()[1]}) + '\n')
        place = {'S3Bucket': 'box', 'S3KeyPrefix': table}
        about = self.api.call('StartBulkPutItems', {
            'TableName': table, 'InputS3Configuration': {**place, 'InputFormat': 'DYNAMODB_JSON'},
            'OutputS3Configuration': {'S3Bucket': 'out', 'S3KeyPrefix': table, 'OutputType': ['ERROR']}})
        while about['BulkOperationDescription']['BulkOperationStatus'] == 'IN_PROGRESS':
            time.sleep(0.02)
            about = self.api.call('DescribeBulkOperation', {'BulkOperationArn': about['BulkOperationDescription']['BulkOperationArn']})
        done = about['BulkOperationDescription']
        self.taken['StartBulkPutItems'] += done['ProcessedItemCount'] - done.get('FailedItemCount', 0)
        self.refused['StartBulkPutItems'] += done.get('FailedItemCount', 0)
        self.written += done['ProcessedItemCount']

    # ---- One model -------------------------------------------------------------------------------

    def phase(self, judge, versions, writes, name, meanwhile=None):
        results = multiprocessing.Queue()
        share = writes // CLIENTS[0]
        processes = [multiprocessing.Process(target=clients, args=(self.endpoint, self.seed, versions, share, f'{name}.{i}', results))
                     for i in range(CLIENTS[0])]
        for process in processes:
            process.start()
        beside = meanwhile() if meanwhile else None
        for writer in [w for _ in processes for w in results.get()]:
            taken, refused, faults, samples, written = writer
            self.taken.update(taken)
            self.refused.update(refused)
            self.faults.update(faults)
            for what, sample in samples.items():
                self.samples.setdefault(what, []).append(sample)
            self.written += written
        for process in processes:
            process.join()
        judge.follow(versions)
        return beside

    def round(self, number_of, writes):
        r = random.Random(f'{self.seed}/{number_of}')
        model = Hostile(r, f'attack-{number_of}')
        self.api.call('ApplyModel', {'Model': model.language()})
        self.settled(model.table)
        judge = Judge(self.endpoint, model.table)
        for phase in range(4):
            name = f'{number_of}.{phase}'
            if phase % 2 == 0:
                self.phase(judge, [model], writes // 4, name, lambda: self.bulk([model], writes // 100))
            else:
                abandon = r.random() < 0.3
                after = model.next(attributes=not abandon)
                digest = self.phase(judge, [model, after], writes // 4, name, lambda: self.apply(model, after, abandon))
                model = {self.digest(m): m for m in (model, after)}[digest]
            judge.look(model)
        self.faults.update(judge.verdicts())
        for what, samples in judge.samples.items():
            self.samples.setdefault(what, []).extend(f'{s}\n{model.language()}' for s in samples)
        for what in ('records', 'items', 'entries'):
            self.taken[what] += judge.counts[what]
        self.api.call('DeleteTable', {'TableName': model.table})

    def digest(self, model):
        return self.api.call('DiffModel', {'Model': model.language()})['Digest']


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument('--writes', type=int, default=8000)
    arguments.add_argument('--models', type=int, default=0, help='default: one for each 12,500 writes, and at least eight')
    arguments.add_argument('--seed', default=str(random.SystemRandom().randrange(10 ** 9)))
    options = arguments.parse_args()
    models = options.models or max(8, options.writes // 12500)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix='dolmen-attack.') as directory:
        bucket = os.path.join(directory, 'buckets')
        os.makedirs(bucket)
        with Server(os.path.join(directory, 'data'), '--bucket-root', bucket, '--durability', 'relaxed') as server:
            attack = Attack(server, bucket, options.seed)
            for number_of in range(models):
                try:
                    attack.round(number_of, options.writes // models)
                except Exception as error:
                    attack.accuse('models that could not be attacked', repr(error)[:2000])
                if sys.stdout.isatty() or options.writes > 100000:
                    print(f'{number_of + 1} of {models} models, {attack.written} writes, {time.monotonic() - began:.0f} s', flush=True)
    for what, samples in attack.samples.items():
        print(f'{what}: {attack.faults[what]}')
        for sample in samples[:3]:
            print('    ' + sample)
    seen = {what: attack.taken.pop(what) for what in ('records', 'items', 'entries', 'sent again')}
    for way in sorted({*attack.taken, *attack.refused}):
        print(f'  {way:24} {attack.taken[way]:8} taken {attack.refused[way]:8} refused')
    print(f'seed {options.seed}: {models} models, {attack.written} writes in {time.monotonic() - began:.0f} s; judged: {seen["records"]} images, '
          f'{seen["items"]} items, {seen["entries"]} entries of indexes; {seen["sent again"]} requests sent again; models: {dict(attack.changes)}')
    for what in FAULTS:
        print(f'note: {attack.faults[what]} {what}')
    others = {what for what in attack.faults if what not in FAULTS and attack.faults[what]}
    failed = sum(attack.faults[what] > 0 for what in FAULTS) + len(others)
    print(f'{len(FAULTS) + 1 - min(failed, len(FAULTS) + 1)} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
