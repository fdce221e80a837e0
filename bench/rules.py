"""The load of bench/rules: rules.py ENDPOINT prepare|run RULE WORK COUNT

prepare applies the model with that rule and warms it up; run writes COUNT items.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'lib'))
from dolmen import Api  # noqa: E402

MODEL = '''
table jobs {
  key PK, SK
  index GSI1 (GSI1PK, GSI1SK)
  index GSI2 (GSI2PK, GSI2SK)
  index GSI3 (GSI3PK, GSI3SK)
  type EntityType
}
entity Job {
  PK = "PROJECT#{projectId}"      SK = "JOB#{jobId}"
  GSI1 = "STATUS#{status}"        , "{createdAt}#{jobId}"
  GSI2 = "OWNER#{ownerId}"        , "{createdAt}#{jobId}"
  GSI3 = "KIND#{kind}"            , "{priority:pad(5)}#{jobId}"

  projectId   string
  jobId       string
  ownerId     string
  title       string(1..200)
  kind        "image" | "video"    = "image"
  status      "queued" | "running" = "queued"
  priority    integer   = 5
  size        number    = 0
  prompt      string?
  tags        set<string>?
  createdAt   timestamp = now()
  updatedAt   timestamp = now() on update
}
'''
PROJECT = '''
entity Project {
  PK = "PROJECT#{projectId}"  SK = "x"
  projectId string
  %s
}
'''
RULES = {
    'model': '',
    'emit': '''
entity Outbox { PK = "EVENT#{id}"  SK = "x"  id string = ulid()  type string  jobId string  payload object }
emit "job.{status}" on insert, modify of Job into Outbox
''',
    'counter': PROJECT % 'jobs integer = count of Job',
    'sum': PROJECT % 'jobs integer = count of Job  bytes number = sum of Job.size',
    'tags': '''
entity Tag { PK = "TAG#{tag}"  SK = "{projectId}#{jobId}"  tag string  projectId string  jobId string }
derive Tag from each Job.tags as tag
''',
}


def text(value):
    return {'S': value}


def item_of(number, round_):
    return {'EntityType': text('Job'), 'projectId': text(f'p{number % 10}'), 'jobId': text(f'j{number:08}'), 'ownerId': text(f'o{number % 7}'),
            'title': text('A lighthouse in the morning'), 'size': {'N': str(1000 + number + round_)}, 'prompt': text('a lighthouse, morning, oil ' * 4),
            'tags': {'SS': ['lighthouse', f'round{round_}']}}


def main(endpoint, phase, rule, work, count):
    api = Api(endpoint)
    if phase == 'prepare':
        api.call('ApplyModel', {'Model': MODEL + RULES[rule]})
        while api.call('DescribeModel', {'TableName': 'jobs'})['Status'] != 'ACTIVE':
            time.sleep(0.02)
        for number in range(10 if rule in ('counter', 'sum') else 0):
            api.call('PutItem', {'TableName': 'jobs', 'Item': {'EntityType': text('Project'), 'projectId': text(f'p{number}')}})
    first = 0 if phase == 'prepare' or work == 'overwrite' else 10000
    for i in range(int(count)):
        number = first + (i if work == 'insert' or phase == 'prepare' else i % 100)
        api.call('PutItem', {'TableName': 'jobs', 'Item': item_of(number, 0 if phase == 'prepare' else 1 + i // 100)})


main(*sys.argv[1:])
