"""The rules of a model while everything around the server fails.

    main.py [--writes N] [--seed S] [--pace SECONDS] [--only TROUBLES] [--break WHAT] [--keep]

Lanes (lanes.py) write through pipelined connections: jobs with steps, tags and owners, projects, versions, users, under the rules of
work.dolmen. Meanwhile (chaos.py) the server, the webhook's receiver and NATS are killed, the receiver hangs, refuses, or takes
events and says that it did not, connections are cut, the disk is full, the clock jumps. Then everything may settle, and is
judged (judge.py): events at three targets, counts, sums, tags, references, unique pairs, archives, what was swept; and
`dolmen verify` reads the directory. No whole item is kept in memory: of a job some numbers, of an event twelve bytes a target.

That it can fail: each run ends with a look at what it would have said if one event had been dropped, had come with another id, or had
come in another's place, if a count, a tag or an archived item were another one (judge.py, unnoticed()). And `--break count` changes a
count in the store itself, past the rules (with `guard off`): the run has to fail, and does.
"""
import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import judge
from chaos import TROUBLES, Chaos
from lanes import Jobs, Projects, Users, Versions, World
from pipeline import Lane
from stage import BINARY, Stage

SHORT = 6000 if os.environ.get('DOLMEN_SANITIZED') else 30000
STILL = 300  # seconds: on a busy machine everything is slow, and work of low priority most of all; what moves is not stuck
TURNS = 20   # walks of other rules of the table while one waits for its own: two would do


def wait(condition, what, moving):
    """Until the condition is met. Fails once `moving` has said the same for a while."""
    before, since = None, time.monotonic()
    while not (found := condition()):
        now = moving()
        if now != before:
            before, since = now, time.monotonic()
        elif time.monotonic() - since > STILL:
            raise AssertionError(f'{what} did not come: nothing has moved for {STILL} s')
        time.sleep(0.1)
    return found


def delivered(stage):
    """Everything has left the outbox."""
    consumers = stage.api().call('ListConsumers', {'TableName': 'outbox'})['Consumers']
    if any(one['State'] != 'RUNNING' or one['LagRecords'] for one in consumers):
        return None
    return consumers


def unmarked(api):
    """How many events in the outbox are not marked as published."""
    count, start = 0, None
    while True:
        page = api.call('Scan', {'TableName': 'outbox', 'FilterExpression': '#s = :new', 'Select': 'COUNT',
                                 'ExpressionAttributeNames': {'#s': 'status'}, 'ExpressionAttributeValues': {':new': {'S': 'new'}},
                                 **({'ExclusiveStartKey': start} if start else {})})
        count += page['Count']
        start = page.get('LastEvaluatedKey')
        if start is None:
            return count


def state_of(stage):
    return [{name: one.get(name) for name in ('ConsumerName', 'State', 'Reason', 'LagRecords', 'DeadLetters', 'BreakerOpen')}
            for one in stage.api().call('ListConsumers', {'TableName': 'outbox'})['Consumers']]


def walks_of(stage):
    """How far each rule is, and how many walks have ended."""
    api = stage.api()
    sweeps = api.call('DescribeModel', {'TableName': 'work'})['Sweeps']
    api.close()
    return sum(one['Walks'] for one in sweeps), {
        one['RuleName']: [one[name] for name in ('Status', 'Asked', 'Answered', 'Looked', 'Found', 'Removed', 'Left')] for one in sweeps}


def sweep(stage):
    """A whole walk of each rule, by the command, which waits for that. Rules begin new walks all the time, in turns."""
    with subprocess.Popen([BINARY, 'sweep', 'work', '--endpoint', stage.server.endpoint], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        seen, moved = {}, time.monotonic()
        while process.poll() is None:
            ended, walks = walks_of(stage)
            for name, state in walks.items():
                if seen.get(name, ('',))[0] != state:
                    seen[name], moved = (state, ended), time.monotonic()
            if time.monotonic() - moved > STILL or any(ended - since > TURNS for _, since in seen.values()):
                process.kill()
                raise AssertionError(f'dolmen sweep does not end, and a rule does not move: {json.dumps(walks)}')
            time.sleep(0.2)
        said = process.stdout.read()
    if process.returncode:
        raise AssertionError(f'dolmen sweep: {said}')


def settle(stage):
    """Deliveries and sweeps come to their end, by the right time; the dead letters that there are, and what is due by now."""
    api = stage.api()
    stage.move_clock(0)
    due = stage.clock()
    try:
        wait(lambda: delivered(stage), 'the delivery of all events', lambda: state_of(stage))
        for _ in range(2):  # a second walk finds what the first one's bounds left
            sweep(stage)
        consumers = wait(lambda: delivered(stage), 'the delivery of all events', lambda: state_of(stage))
        wait(lambda: unmarked(api) == 0, 'the mark of each event', lambda: unmarked(api))
    except AssertionError as error:
        raise AssertionError(f'{error}: {json.dumps(state_of(stage))}') from None
    api.close()
    return sum(one['DeadLetters'] for one in consumers), due


def command(*arguments):
    done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [done.stdout[-1000:] + done.stderr[-1000:]]


def break_count(stage):
    """A raw write past the rules, as a disk or a programmer would do it."""
    api = stage.api()
    model = api.call('DescribeModel', {'TableName': 'work'})['Model']
    api.call('ApplyModel', {'Model': model.replace('type  kind', 'type  kind  guard off', 1), 'FileName': 'work.dolmen'})
    api.call('UpdateItem', {'TableName': 'work', 'Key': {'PK': {'S': 'A#versions0.0'}, 'SK': {'S': 'x'}},
                            'UpdateExpression': 'ADD versions :one', 'ExpressionAttributeValues': {':one': {'N': '1'}}})
    api.close()


def pronounce(stage, world, dead, due, surprises):
    """All judgements; the table is read while the server is there, the rest from files."""
    verdict = judge.Verdict()
    api = stage.api()
    table = judge.Table(api)
    api.close()
    archives = judge.Archives(stage.archive)
    verdict.say('what the lanes saw', world.problems)
    verdict.say('no write failed without a reason', surprises)
    verdict.say('no event became a dead letter', [f'{dead} did'] * bool(dead))
    verdict.say('archives are whole', archives.wrong)
    verdict.say('dolmen archives --verify', command('archives', '--verify', '--endpoint', stage.server.endpoint))
    swept = judge.judge_jobs(world, table, archives, (due, stage.latest()), verdict)
    judge.judge_followers(table, verdict)
    judge.judge_projects(world, table, archives, verdict)
    judge.judge_versions(world, table, archives, verdict)
    judge.judge_users(world, table, verdict)
    received = [judge.Received('webhook', judge.hook_events(stage.log)),
                judge.Received('NATS', judge.nats_events(stage.nats)),
                judge.Received('file', judge.file_events(os.path.join(stage.files, 'events.jsonl')))]
    judge.judge_events(world, received, verdict)
    if not verdict.failed:
        verdict.say('what is broken is noticed', judge.unnoticed(world, table, archives, lambda: judge.hook_events(stage.log)))
    print(f'{table.items} items, {swept} jobs swept; {archives.count} archives with {archives.items} items')
    for one in received:
        print(f'{one.name}: {one.total} events received, {one.twice} of them again, recognised by their ids')
    return verdict


def play(options, work):
    chance = random.Random(options.seed)
    stage = Stage(work, chance)
    try:
        world = World(chance)
        world.clock = stage.clock
        lanes = [Lane(kind(world, f'{kind.__name__.lower()}{number}').run())
                 for kind, count in ((Jobs, 44), (Versions, 1), (Projects, 5), (Users, 2)) for number in range(count)]
        chaos = Chaos(stage, world, lanes, options.only, options.pace or (0.25 if options.writes <= 100000 else 0.6))
        begun = time.monotonic()
        whole = chaos.run(lambda: world.acknowledged >= options.writes and chaos.strikes >= len(options.only), options.seconds)
        chaos.finish()
        chaos.done['kills while it started'] = stage.early_kills
        seconds = time.monotonic() - begun
        print(f'{world.acknowledged} writes acknowledged in {seconds:.0f} s, {world.unsure} unsure, {world.refused} refused; '
              + ', '.join(f'{name}: {count}' for name, count in sorted(chaos.done.items())), flush=True)
        dead, due = settle(stage)
        if options.broken == 'count':
            break_count(stage)
        verdict = pronounce(stage, world, dead, due, chaos.surprises)
        if not whole:
            verdict.say('writes', [f'only {world.acknowledged} in {options.seconds} s'])
        stage.server.stop()
        verdict.say('dolmen verify', command('verify', stage.data))
        print(f'memory of the test: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB')
        return verdict
    except BaseException:
        print(stage.server.error_text() if stage.server else '')
        raise
    finally:
        stage.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--writes', type=int, default=SHORT)
    parser.add_argument('--pace', type=float, default=None, help='seconds between troubles')
    parser.add_argument('--seconds', type=float, default=3 * 3600, help='give up after this')
    parser.add_argument('--seed', default=os.environ.get('SEED') or str(random.randrange(1 << 30)))
    parser.add_argument('--break', dest='broken', choices=('count',))
    parser.add_argument('--only', type=lambda text: tuple(text.split(',')), default=TROUBLES, help='troubles, with commas between them')
    parser.add_argument('--keep', action='store_true', help='leave the directory')
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix='dolmen-rules.')
    print(f'seed {options.seed}', flush=True)
    failed = True
    try:
        verdict = play(options, work)
        failed = verdict.failed > 0
        if failed:
            print(f'repeat the choices with SEED={options.seed}; the data is in {work}')
        print(f'{verdict.passed} passed, {verdict.failed} failed')
    finally:
        if not failed and not options.keep:
            shutil.rmtree(work, ignore_errors=True)
    return int(failed)


if __name__ == '__main__':
    sys.exit(main())
