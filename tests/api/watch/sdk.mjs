// CloudWatch's part of the server with the AWS SDK for JavaScript, by each protocol that it speaks. JSON is its own choice; CBOR is that of
// SDKs which are newer than Debian's boto3. Each test is a line: "ok NAME" or "FAILED NAME: why".
import assert from 'node:assert/strict';
import { AwsJson1_0Protocol, AwsQueryProtocol, AwsSmithyRpcV2CborProtocol } from '@aws-sdk/core/protocols';
import {
  CloudWatchClient, DeleteAlarmsCommand, DescribeAlarmsCommand, GetMetricDataCommand, GetMetricStatisticsCommand, ListMetricsCommand,
  PutMetricAlarmCommand, SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';

const dimensions = [{ Name: 'TableName', Value: 'tab' }];
const alarm = {
  AlarmName: 'größe', AlarmDescription: 'x'.repeat(700), Namespace: 'AWS/DynamoDB', MetricName: 'ConsumedWriteCapacityUnits', Statistic: 'Sum',
  Period: 120, EvaluationPeriods: 90, DatapointsToAlarm: 30, Threshold: -2.5, ComparisonOperator: 'GreaterThanThreshold', ActionsEnabled: false,
  TreatMissingData: 'notBreaching', Dimensions: dimensions, AlarmActions: ['arn:aws:sns:us-east-1:000000000000:a', 'arn:aws:sns:us-east-1:000000000000:b'],
};

async function all(client) {
  const send = (command) => client.send(command);
  const span = { StartTime: new Date(Date.now() - 3600e3), EndTime: new Date(Date.now() + 60e3) };
  await send(new PutMetricAlarmCommand(alarm));
  const [shown] = (await send(new DescribeAlarmsCommand({ AlarmNames: ['größe'] }))).MetricAlarms;
  for (const [name, value] of Object.entries(alarm))
    assert.deepEqual(shown[name], value, name);
  assert.ok(Math.abs(shown.StateUpdatedTimestamp - Date.now()) < 600e3);
  await send(new SetAlarmStateCommand({ AlarmName: 'größe', StateValue: 'ALARM', StateReason: 'by hand' }));
  assert.equal((await send(new DescribeAlarmsCommand({ StateValue: 'ALARM', MaxRecords: 1 }))).MetricAlarms[0].StateReason, 'by hand');
  const metric = { Namespace: 'AWS/DynamoDB', MetricName: 'ConsumedWriteCapacityUnits', Dimensions: dimensions };
  const data = await send(new GetMetricDataCommand({
    ...span, ScanBy: 'TimestampAscending', MetricDataQueries: [{ Id: 'a', MetricStat: { Metric: metric, Period: 3600, Stat: 'Sum' }, ReturnData: true }],
  }));
  const [result] = data.MetricDataResults;
  assert.equal(result.Values.reduce((sum, value) => sum + value, 0), 5);
  assert.ok(result.Timestamps.every((time) => time instanceof Date));
  const { Datapoints } = await send(new GetMetricStatisticsCommand({ ...metric, ...span, Period: 3600, Statistics: ['Sum', 'SampleCount'] }));
  assert.equal(Datapoints.reduce((sum, point) => sum + point.Sum, 0), 5);
  const { Metrics } = await send(new ListMetricsCommand({ MetricName: 'ConsumedWriteCapacityUnits' }));
  assert.deepEqual(Metrics, [metric]);
  const missing = await send(new SetAlarmStateCommand({ AlarmName: 'none', StateValue: 'OK', StateReason: '' })).catch((error) => error);
  assert.equal(missing.name, 'ResourceNotFound');
  assert.equal(missing.$metadata.httpStatusCode, 404);
  const wrong = await send(new PutMetricAlarmCommand({ ...alarm, Period: 61 })).catch((error) => error);
  assert.equal(wrong.Error.Code, 'ValidationError');
  assert.match(wrong.message, /Period/);
  await send(new DeleteAlarmsCommand({ AlarmNames: ['größe'] }));
  assert.deepEqual((await send(new DescribeAlarmsCommand({}))).MetricAlarms, []);
}

for (const [name, protocol] of [['its own', undefined], ['JSON', AwsJson1_0Protocol], ['Query', AwsQueryProtocol], ['CBOR', AwsSmithyRpcV2CborProtocol]]) {
  const client = new CloudWatchClient({
    endpoint: process.env.ENDPOINT, region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' }, maxAttempts: 1,
    ...(protocol && { protocol }),
  });
  try {
    await all(client);
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`FAILED ${name}: ${error.stack}`);
  }
}
