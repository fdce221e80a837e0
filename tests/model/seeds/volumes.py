"""Kinex Fit with as many records as its document estimates: what it asks is answered, and within ten milliseconds."""
import os
import statistics
import time

from probes import Unkept, call, expect, ok
from promises import item_of
from seeds import model_of
from server import Server

SHARE = 20 if 'DOLMEN_SANITIZED' in os.environ else 1  # of the volumes, for a slow build
USERS, WORKOUTS, COMPLETIONS = 1000 // SHARE, 50000 // SHARE, 100000 // SHARE
EXERCISE = {'id': 'exercise-1', 'name': 'Back Squat', 'sets': 5, 'reps': 5, 'weight': '275lbs', 'restSeconds': 180}
DONE = {'exerciseId': 'exercise-1', 'name': 'Back Squat', 'setsCompleted': 5, 'actualReps': [5, 5, 5, 5, 5]}


def at(n):
    """The nth minute of a year."""
    return time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(1735689600 + 60 * n))


def records():
    """(table, item)"""
    for n in range(USERS):
        yield 'spotter-users', {'id': 'user-%d' % n, 'email': 'u%d@example.com' % n, 'stripeCustomerId': 'cus_%d' % n}
    for n in range(WORKOUTS):
        yield 'spotter-workouts', {'id': 'workout-%d' % n, 'userId': 'user-%d' % (n % USERS), 'title': 'Leg Day', 'source': 'ai',
                                   'exercises': [EXERCISE], 'createdAt': at(n)}
    for n in range(COMPLETIONS):
        yield 'spotter-workout-completions', {'userId': 'user-%d' % (n % USERS), 'completedAt': at(n), 'workoutId': 'workout-%d' % n,
                                              'duration': 65, 'difficulty': 'moderate', 'exercisesCompleted': [DONE]}


def batches():
    batch = []
    for table, item in records():
        batch.append((table, {'PutRequest': {'Item': item_of(item)}}))
        if len(batch) == 25:
            yield batch
            batch = []
    if batch:
        yield batch


def load(server):
    requests = []
    for batch in batches():
        tables = {}
        for table, write in batch:
            tables.setdefault(table, []).append(write)
        requests.append(call('BatchWriteItem', {'RequestItems': tables}))
    for answer in server.ask(requests):
        expect(not ok(answer)['UnprocessedItems'], 'not all was written')


def query(table, condition, values, index=None):
    more = {'IndexName': index} if index else {}
    return call('Query', {'TableName': table, 'KeyConditionExpression': condition,
                          'ExpressionAttributeValues': item_of(values), **more})


def questions():
    """The document's queries, each with the number of items it must find."""
    own, done = WORKOUTS // USERS, COMPLETIONS // USERS
    yield 'user by ID', call('GetItem', {'TableName': 'spotter-users', 'Key': item_of({'id': 'user-7'})}), 1
    yield 'user by email', query('spotter-users', 'email = :e', {':e': 'u7@example.com'}, 'email-index'), 1
    yield 'user by Stripe ID', query('spotter-users', 'stripeCustomerId = :s', {':s': 'cus_7'}, 'stripeCustomerId-index'), 1
    yield 'workouts of a user', query('spotter-workouts', 'userId = :u', {':u': 'user-7'}), own
    yield 'workouts by date range', query('spotter-workouts', 'userId = :u AND createdAt BETWEEN :a AND :b',
                                          {':u': 'user-7', ':a': at(0), ':b': at(10 * USERS)}, 'userId-createdAt-index'), min(10, own)
    yield 'workout by ID', call('GetItem', {'TableName': 'spotter-workouts',
                                            'Key': item_of({'userId': 'user-7', 'id': 'workout-7'})}), 1
    yield 'completions of a user', query('spotter-workout-completions', 'userId = :u', {':u': 'user-7'}), done


def failures():
    """What is not right, or slow: (name, reason)."""
    with Server(model_of('kinex-fit')) as server:
        load(server)
        for name, request, count in questions():
            times = []
            try:
                for _ in range(21):
                    begun = time.monotonic()
                    answer = ok(server.ask([request])[0])
                    times.append(time.monotonic() - begun)
                found = answer['Count'] if 'Count' in answer else int('Item' in answer)
                expect(found == count, '%d found, not %d' % (found, count))
                expect(SHARE > 1 or statistics.median(times) < 0.01, 'takes %.1f ms' % (1000 * statistics.median(times)))
            except Unkept as reason:
                yield name, str(reason)
