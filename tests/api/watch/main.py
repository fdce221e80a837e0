#!/usr/bin/python3
"""CloudWatch's part of the server: boto3 (the Query protocol), the AWS SDK for JavaScript (all protocols), JSON 1.0 and CBOR by hand. The clock is moved, so nothing waits for a minute."""
import datetime
import http.server
import json
import os
import queue
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'lib'))
from dolmen import AUTHORIZATION, Server  # noqa: E402

PATIENCE = 60


class Receiver:
    """Takes posts, or refuses the next ones."""

    def __enter__(self):
        self.heard, self.refuse = queue.Queue(), 0
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers['content-length'])))
                receiver.refuse -= 1
                self.send_response(500 if receiver.refuse >= 0 else 200)
                self.end_headers()
                receiver.heard.put((self.path, self.headers, body))

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_port}/'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def next(self):
        return self.heard.get(timeout=PATIENCE)


class Watch(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.start()
        self.dynamo.create_table(TableName='tab', KeySchema=[{'AttributeName': 'id', 'KeyType': 'HASH'}], BillingMode='PAY_PER_REQUEST',
                                 AttributeDefinitions=[{'AttributeName': 'id', 'AttributeType': 'S'}])

    def start(self):
        self.server = Server(self.directory.name, '--admin', '--fault', 'Scan:internal')
        more = dict(endpoint_url=self.server.endpoint, region_name='us-east-1', aws_access_key_id='test', aws_secret_access_key='test',
                    config=Config(retries={'max_attempts': 0}))
        self.watch = boto3.client('cloudwatch', **more)
        self.dynamo = boto3.client('dynamodb', **more)

    def tearDown(self):
        self.server.stop()
        self.directory.cleanup()

    def clock(self, body=None):
        request = urllib.request.Request(self.server.endpoint + '/admin/clock', body and json.dumps(body).encode())
        with urllib.request.urlopen(request) as answer:
            return datetime.datetime.fromisoformat(json.load(answer)['now'].replace('Z', '+00:00'))

    def now(self):
        return self.clock()

    def move(self, seconds):
        self.clock({'advance_seconds': seconds})

    def fail_some(self, count):
        for _ in range(count):
            with self.assertRaises(ClientError):
                self.dynamo.get_item(TableName='tab', Key={'wrong': {'S': 'x'}})

    def put(self, count):
        for i in range(count):
            self.dynamo.put_item(TableName='tab', Item={'id': {'S': str(i)}})

    def span(self):
        return {'StartTime': self.now() - datetime.timedelta(hours=2), 'EndTime': self.now() + datetime.timedelta(minutes=1)}

    def statistics(self, metric, statistic='Sum', period=3600, **dimensions):
        points = self.watch.get_metric_statistics(
            Namespace='AWS/DynamoDB', MetricName=metric, Period=period, Statistics=[statistic],
            Dimensions=[{'Name': name, 'Value': value} for name, value in dimensions.items()], **self.span())['Datapoints']
        return sum(point[statistic] for point in points)

    def test_statistics(self):
        self.put(7)
        self.dynamo.get_item(TableName='tab', Key={'id': {'S': '1'}}, ConsistentRead=True)
        self.fail_some(3)
        with self.assertRaises(ClientError):
            self.dynamo.scan(TableName='tab')
        self.assertEqual(self.statistics('ConsumedWriteCapacityUnits', TableName='tab'), 7)
        self.assertEqual(self.statistics('ConsumedReadCapacityUnits', TableName='tab'), 1)
        self.assertEqual(self.statistics('UserErrors'), 3)
        self.assertEqual(self.statistics('UserErrors', TableName='tab', Operation='GetItem'), 3)
        self.assertEqual(self.statistics('UserErrors', TableName='tab', Operation='PutItem'), 0)
        self.assertEqual(self.statistics('SystemErrors', Operation='Scan'), 1)
        self.assertEqual(self.statistics('ThrottledRequests', TableName='tab'), 0)
        self.assertEqual(self.statistics('ConsumedWriteCapacityUnits', TableName='u'), 0)
        self.assertEqual(self.statistics('ConsumedWriteCapacityUnits', 'SampleCount', TableName='tab'), 7)
        self.assertEqual(self.statistics('ConsumedWriteCapacityUnits', 'Average', TableName='tab'), 1)

    def query(self, id, metric, period=60, **dimensions):
        return {'Id': id, 'MetricStat': {'Metric': {'Namespace': 'AWS/DynamoDB', 'MetricName': metric,
                                                    'Dimensions': [{'Name': n, 'Value': v} for n, v in dimensions.items()]},
                                         'Period': period, 'Stat': 'Sum'}}

    def test_metric_data_by_minutes(self):
        self.put(2)
        self.statistics('ConsumedWriteCapacityUnits')  # looks at what was counted so far
        self.move(120)
        self.put(3)
        answer = self.watch.get_metric_data(MetricDataQueries=[self.query('w', 'ConsumedWriteCapacityUnits', TableName='tab'),
                                                               self.query('s', 'SystemErrors')], **self.span())
        results = {result['Id']: result for result in answer['MetricDataResults']}
        self.assertEqual(results['w']['Values'], [3.0, 2.0])
        newest, oldest = results['w']['Timestamps']
        self.assertGreaterEqual((newest - oldest).total_seconds(), 120)
        self.assertEqual(results['s']['Values'], [])
        again = self.watch.get_metric_data(MetricDataQueries=[self.query('w', 'ConsumedWriteCapacityUnits')], ScanBy='TimestampAscending',
                                           **self.span())
        self.assertEqual(again['MetricDataResults'][0]['Values'], [2.0, 3.0])
        # Minutes are told apart for three hours, hours for 15 days.
        self.move(5 * 3600)
        span = {'StartTime': self.now() - datetime.timedelta(hours=12), 'EndTime': self.now()}
        minutes = self.watch.get_metric_data(MetricDataQueries=[self.query('w', 'ConsumedWriteCapacityUnits')], **span)
        hours = self.watch.get_metric_data(MetricDataQueries=[self.query('w', 'ConsumedWriteCapacityUnits', 3600)], **span)
        self.assertEqual(minutes['MetricDataResults'][0]['Values'], [])
        self.assertEqual(sum(hours['MetricDataResults'][0]['Values']), 5)

    def test_list_metrics(self):
        self.put(1)
        self.fail_some(1)
        listed = self.watch.list_metrics(Namespace='AWS/DynamoDB')['Metrics']
        self.assertIn({'Namespace': 'AWS/DynamoDB', 'MetricName': 'ConsumedWriteCapacityUnits', 'Dimensions': [{'Name': 'TableName', 'Value': 'tab'}]},
                      listed)
        errors = self.watch.list_metrics(MetricName='UserErrors', Dimensions=[{'Name': 'TableName', 'Value': 'tab'}])['Metrics']
        self.assertEqual([metric['MetricName'] for metric in errors], ['UserErrors'])
        self.assertEqual(self.watch.list_metrics(Namespace='AWS/EC2')['Metrics'], [])

    def alarm(self, name='too many <errors> & "more"', **more):
        self.watch.put_metric_alarm(**{**dict(
            AlarmName=name, Namespace='AWS/DynamoDB', MetricName='UserErrors', Dimensions=[{'Name': 'TableName', 'Value': 'tab'}], Statistic='Sum',
            Period=60, EvaluationPeriods=1, Threshold=2.5, ComparisonOperator='GreaterThanThreshold', TreatMissingData='notBreaching',
            AlarmDescription='what is wrong', AlarmActions=['arn:aws:sns:us-east-1:000000000000:ops']), **more})

    def state(self, name='too many <errors> & "more"'):
        alarms = self.watch.describe_alarms(AlarmNames=[name])['MetricAlarms']
        return alarms[0]['StateValue'] if alarms else None

    def wait_for(self, state, name='too many <errors> & "more"'):
        end = time.monotonic() + PATIENCE
        while self.state(name) != state:
            self.assertLess(time.monotonic(), end, self.watch.describe_alarms()['MetricAlarms'])
            time.sleep(0.05)

    def test_an_alarm_goes_off_and_is_kept(self):
        self.alarm()
        described = self.watch.describe_alarms()['MetricAlarms'][0]
        self.assertEqual(described['AlarmArn'], 'arn:aws:cloudwatch:us-east-1:000000000000:alarm:too many <errors> & "more"')
        self.assertEqual((described['Threshold'], described['Period'], described['EvaluationPeriods'], described['AlarmDescription'],
                          described['AlarmActions'], described['Dimensions']),
                         (2.5, 60, 1, 'what is wrong', ['arn:aws:sns:us-east-1:000000000000:ops'], [{'Name': 'TableName', 'Value': 'tab'}]))
        self.assertEqual(self.state(), 'INSUFFICIENT_DATA')
        self.move(180)
        self.wait_for('OK')
        self.fail_some(3)
        self.statistics('UserErrors')
        self.move(60)
        self.wait_for('ALARM')
        with urllib.request.urlopen(self.server.endpoint + '/metrics') as answer:
            self.assertIn('dolmen_alarm{name="too many <errors> & \\"more\\""} 1', answer.read().decode())
        self.assertIn('is ALARM', self.server.error_text())
        # kill -9: the alarm and its state are there; what was counted begins anew.
        self.server.kill()
        self.start()
        self.assertEqual(self.watch.describe_alarms(StateValue='ALARM')['MetricAlarms'][0]['AlarmName'], 'too many <errors> & "more"')
        self.move(7200)
        self.wait_for('OK')
        self.watch.delete_alarms(AlarmNames=['too many <errors> & "more"'])
        self.assertIsNone(self.state())
        self.server.kill()
        self.start()
        self.assertEqual(self.watch.describe_alarms()['MetricAlarms'], [])

    def test_actions(self):
        """A receiver is told of each change, whatever another one does; what it has missed while it or the server was away it is told later."""
        with Receiver() as good, Receiver() as bad, socket.create_server(('127.0.0.1', 0)) as hanging:
            hung = f'http://127.0.0.1:{hanging.getsockname()[1]}/'
            self.alarm('stuck', AlarmActions=[hung] * 5)
            self.alarm('off', AlarmActions=[good.url], ActionsEnabled=False)
            self.alarm('a <b>', AlarmActions=[hung, good.url, 'arn:aws:lambda:us-east-1:000000000000:function:x'], OKActions=[good.url + 'fine'],
                       TreatMissingData='ignore')
            for name in ('stuck', 'off', 'a <b>'):
                self.watch.set_alarm_state(AlarmName=name, StateValue='ALARM', StateReason='a drill')
            path, headers, told = good.next()
            self.assertEqual((path, headers['x-dolmen-event-type'], headers['x-dolmen-attempt'], headers['content-type']), ('/', 'ALARM', '1', 'application/json'))
            self.assertEqual({key: told[key] for key in ('AlarmName', 'NewStateValue', 'OldStateValue', 'NewStateReason', 'AlarmArn', 'Region', 'AlarmDescription')}, {
                'AlarmName': 'a <b>', 'NewStateValue': 'ALARM', 'OldStateValue': 'INSUFFICIENT_DATA', 'NewStateReason': 'a drill', 'Region': 'us-east-1',
                'AlarmArn': 'arn:aws:cloudwatch:us-east-1:000000000000:alarm:a <b>', 'AlarmDescription': 'what is wrong'})
            self.assertEqual(told['Trigger']['Dimensions'], [{'name': 'TableName', 'value': 'tab'}])
            self.watch.set_alarm_state(AlarmName='a <b>', StateValue='OK', StateReason='over')
            self.assertEqual([good.next()[i] for i in (0,)], ['/fine'])
            # Refused at first, then taken: the same event.
            bad.refuse = 2
            self.alarm('again', AlarmActions=[bad.url])
            self.watch.set_alarm_state(AlarmName='again', StateValue='ALARM', StateReason='x')
            heard = [bad.next()[1] for _ in range(3)]
            self.assertEqual([one['x-dolmen-attempt'] for one in heard], ['1', '2', '3'])
            self.assertEqual(len({one['x-dolmen-event-id'] for one in heard}), 1)
            # The state is set again: nothing new.
            self.watch.set_alarm_state(AlarmName='again', StateValue='ALARM', StateReason='y')
            # Killed before it could be told.
            bad.refuse = 1000
            self.alarm('late', AlarmActions=[bad.url])
            self.watch.set_alarm_state(AlarmName='late', StateValue='ALARM', StateReason='z')
            self.assertEqual(bad.next()[2]['AlarmName'], 'late')
            self.server.kill()
            bad.refuse = 0
            while not bad.heard.empty():
                bad.heard.get()
            self.start()
            _, headers, told = bad.next()
            self.assertEqual(told['NewStateReason'], 'z')
            self.alarm('next', AlarmActions=[bad.url])
            self.watch.set_alarm_state(AlarmName='next', StateValue='ALARM', StateReason='w')
            self.assertEqual(bad.next()[2]['AlarmName'], 'next')  # so 'late' is settled
            self.server.stop()
            self.start()
            self.alarm('last', AlarmActions=[bad.url])
            self.watch.set_alarm_state(AlarmName='last', StateValue='ALARM', StateReason='w')
            heard = [bad.next()[2]['AlarmName']]
            while heard[-1] != 'last':
                heard.append(bad.next()[2]['AlarmName'])
            self.assertNotIn('late', heard)  # 'next' may come twice: the server was stopped right behind it
        for actions in (['http://'], ['ftp://x/'], ['x'], ['http://h/'] * 6, ['http://h/' + 'x' * 1024]):
            with self.assertRaises(ClientError):
                self.alarm('wrong', AlarmActions=actions)

    def test_states_and_pages(self):
        for i in range(7):
            self.alarm(f'a{i}', TreatMissingData='missing')
        self.watch.set_alarm_state(AlarmName='a3', StateValue='ALARM', StateReason='a drill')
        self.assertEqual([alarm['AlarmName'] for alarm in self.watch.describe_alarms(StateValue='ALARM')['MetricAlarms']], ['a3'])
        pages = self.watch.get_paginator('describe_alarms').paginate(AlarmNamePrefix='a', PaginationConfig={'PageSize': 3})
        self.assertEqual([alarm['AlarmName'] for page in pages for alarm in page['MetricAlarms']], [f'a{i}' for i in range(7)])
        with self.assertRaisesRegex(ClientError, 'no alarm'):
            self.watch.set_alarm_state(AlarmName='nobody', StateValue='OK', StateReason='')

    def test_refusals(self):
        for more, words in (({'Namespace': 'AWS/EC2'}, 'AWS/DynamoDB'), ({'MetricName': 'Nonsense'}, 'no metric'), ({'Period': 61}, 'Period'),
                            ({'EvaluationPeriods': 1000}, 'EvaluationPeriods'), ({'Dimensions': [{'Name': 'X', 'Value': 'y'}]}, 'dimension'),
                            ({'TreatMissingData': 'perhaps'}, 'TreatMissingData'), ({'DatapointsToAlarm': 2}, 'DatapointsToAlarm')):
            with self.assertRaisesRegex(ClientError, words):
                self.alarm('bad', **more)
        with self.assertRaisesRegex(ClientError, 'InvalidAction'):
            self.watch.list_dashboards()
        self.assertEqual(self.watch.describe_alarms()['MetricAlarms'], [])

    def post(self, body, target=None, kind='application/x-www-form-urlencoded', signed=True, path='/', binary=False):
        headers = {'content-type': kind, 'x-amz-date': '20260101T000000Z'}
        if target:
            headers['x-amz-target'] = 'GraniteServiceVersion20100801.' + target
        if signed:
            headers['authorization'] = AUTHORIZATION.replace('/dynamodb/', '/monitoring/')
        request = urllib.request.Request(self.server.endpoint + path, body, headers, method='POST')
        text = lambda answer: answer.read() if binary else answer.read().decode()
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, text(answer)
        except urllib.error.HTTPError as error:
            return error.code, text(error)

    def test_json(self):
        self.put(4)
        asked = {'MetricDataQueries': [self.query('w', 'ConsumedWriteCapacityUnits', 3600, TableName='tab')],
                 'StartTime': self.now().timestamp() - 3600, 'EndTime': self.now().timestamp() + 60}
        status, text = self.post(json.dumps(asked).encode(), 'GetMetricData', 'application/x-amz-json-1.0')
        self.assertEqual(status, 200, text)
        self.assertEqual(sum(json.loads(text)['MetricDataResults'][0]['Values']), 4)
        status, text = self.post(json.dumps({'AlarmName': 'j', 'Namespace': 'AWS/DynamoDB', 'MetricName': 'SystemErrors', 'Statistic': 'Sum',
                                             'EvaluationPeriods': 1, 'Threshold': 0, 'Period': 60,
                                             'ComparisonOperator': 'GreaterThanThreshold'}).encode(), 'PutMetricAlarm', 'application/x-amz-json-1.0')
        self.assertEqual((status, text), (200, '{}'))
        status, text = self.post(b'{}', 'DescribeAlarms', 'application/x-amz-json-1.0')
        self.assertEqual([alarm['AlarmName'] for alarm in json.loads(text)['MetricAlarms']], ['j'])
        status, text = self.post(b'{}', 'Nonsense', 'application/x-amz-json-1.0')
        self.assertEqual((status, json.loads(text)['__type']), (400, 'UnknownOperationException'))

    def test_sdk_for_javascript(self):
        self.put(5)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'sdk.mjs')
        told = subprocess.run(['node', script], capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, 'ENDPOINT': self.server.endpoint, 'AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED': 'true'})
        self.assertEqual(told.stdout, 'ok its own\nok JSON\nok Query\nok CBOR\n', told.stdout + told.stderr)

    def test_cbor(self):
        """Both forms of lengths, all forms of numbers; what is malformed is refused."""
        path = '/service/GraniteServiceVersion20100801/operation/'
        call = lambda operation, body: self.post(body, kind='application/cbor', path=path + operation, binary=True)
        text = lambda value: bytes([0x78, len(value)]) + value.encode()
        alarm = [text('AlarmName') + b'\x7f' + text('c') + text('borg') + b'\xff', text('Namespace') + text('AWS/DynamoDB'),
                 text('MetricName') + text('UserErrors'), text('Statistic') + text('Sum'), text('Period') + b'\x18\x3c',
                 text('EvaluationPeriods') + b'\xf9\x40\x00', text('DatapointsToAlarm') + b'\xfa\x40\x00\x00\x00', text('Threshold') + b'\x38\x63',
                 text('ComparisonOperator') + text('GreaterThanThreshold'), text('AlarmDescription') + b'\xf6', text('ActionsEnabled') + b'\xf4']
        for body in (b'\xbf' + b''.join(alarm) + b'\xff', bytes([0xa0 + len(alarm)]) + b''.join(alarm)):
            status, answer = call('PutMetricAlarm', body)
            self.assertEqual((status, answer), (200, b'\xbf\xff'), answer)
            shown = self.watch.describe_alarms(AlarmNames=['cborg'])['MetricAlarms'][0]
            self.assertEqual([shown[name] for name in ('Period', 'EvaluationPeriods', 'DatapointsToAlarm', 'Threshold', 'ActionsEnabled')],
                             [60, 2, 2, -100, False])
            self.watch.delete_alarms(AlarmNames=['cborg'])
        whole = b'\xbf' + b''.join(alarm) + b'\xff'
        bad = [whole[:size] for size in range(1, len(whole))] + [whole + b'\x00', b'\x9f\xff', b'\xff', b'\x00', b'\xa1\x01\x02', b'\xa1' + text('x') + b'\x41x',
               b'\xbf' + text('x') + b'\x9f' * 100000, b'\xa1' + text('x') + b'\xc1' * 1000 + b'\x00', b'\xbb' + b'\xff' * 8, b'\xa1\x7b' + b'\xff' * 8,
               b'\xa1' + text('AlarmName') + b'\x62\xff\xff', b'\xa1' + text('AlarmName') + b'\x61\x00', b'\xa1' + text('x') + b'\x1c', b'\xa1' + text('x') + b'\xdf\x00']
        for body in bad:
            status, answer = call('PutMetricAlarm', body)
            self.assertEqual(status, 400, body[:40])
            self.assertIn(b'ValidationError', answer)
        self.assertEqual(self.watch.describe_alarms()['MetricAlarms'], [])
        status, answer = call('DescribeAlarms', b'')
        self.assertEqual((status, answer), (200, b'\xbf\x6cMetricAlarms\x9f\xff\xff'))
        self.assertEqual(call('Nonsense', b'\xa0')[0], 400)
        self.assertIn(self.post(b'\xa0', kind='application/cbor', path=path + 'DescribeAlarms', binary=True, signed=False)[0], (400, 403))

    def test_hostile_requests(self):
        bodies = [b'Action=', b'Action=GetMetricData&' + b'a=b&' * 20000, b'Action=DescribeAlarms&MaxRecords=nan', b'Action=PutMetricAlarm&AlarmName=%00',
                  b'Action=DescribeAlarms&MaxRecords=1e99', b'Action=GetMetricStatistics&StartTime=x', b'Action=PutMetricAlarm&AlarmName=' + b'x' * 5000,
                  b'Action=DeleteAlarms&AlarmNames.member.1=' + b'%2e%2e/' * 50]
        for body in bodies:
            status, text = self.post(body)
            self.assertIn(status, (200, 400), (body[:60], text))
        for body in (b'[' * 1000, b'{"a":' * 50 + b'1' + b'}' * 50, b'{"AlarmName":"\xff"}', b'null', b'{'):
            status, text = self.post(body, 'PutMetricAlarm', 'application/x-amz-json-1.0')
            self.assertEqual(status, 400, text)
        self.assertNotEqual(self.post(b'Action=DescribeAlarms', signed=False)[0], 200)


if __name__ == '__main__':
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f'{max(result.testsRun - failed, 0)} passed, {failed} failed')
    sys.exit(1 if failed else 0)
