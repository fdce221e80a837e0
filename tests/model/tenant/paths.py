"""Paths that the twins do not take: streams, vectors, large pages, descriptions, what is added to puts."""
import time

from client import Client, S, key

DENIED = 'The request is bound to a tenant, and writes an item that is not of that tenant'


def put(client, kind, **attributes):
    item = {'kind': S(kind), **{name: value if isinstance(value, dict) else S(value) for name, value in attributes.items()}}
    return client.call('PutItem', {'TableName': 'app', 'Item': item})


def defaults(results, free, a):
    results.same('whose it is, is added', put(a, 'Project', name='mine')[0], 200)
    item = free.call('GetItem', {'TableName': 'app', 'Key': key('P#a', 'META')})[1].get('Item', {})
    results.same('as a string', item.get('project_id'), S('a'))
    status, answer = put(a, 'Project', project_id='b')
    results.same('that of another is refused', (status, answer['message']), (400, DENIED))
    before = put(a, 'Plan', plan_id='x')
    put(free, 'Plan', plan_id='x')
    results.same('what is shared is refused, there or not', put(a, 'Plan', plan_id='x'), before)
    results.same('and readable', a.call('GetItem', {'TableName': 'app', 'Key': key('PLAN#x', 'META')})[1]['Item']['plan_id'], S('x'))
    results.same('the data API says 403', a.send('POST', '/v1/app/Plan', b'{"plan_id":"x"}', [
        ('Content-Type', 'application/json')])[0], 403)
    results.same('and adds the tenant', a.send('POST', '/v1/app/Job', b'{"job_id":"d"}', [('Content-Type', 'application/json')])[0], 201)
    results.check('unique values are per tenant', put(a, 'Project', slug='s')[0] == 200 and
                  put(Client.other(a, 'b'), 'Project', slug='s')[0] == 200)
    results.same('and unique within one', put(a, 'Job', job_id='u', slug='t')[0], 200)
    results.same('as ever', put(a, 'Job', job_id='v', slug='t')[0], 400)


def descriptions(results, free, a):
    free.call('CreateTable', {'TableName': 'plain', 'BillingMode': 'PAY_PER_REQUEST',
                              'AttributeDefinitions': [{'AttributeName': 'k', 'AttributeType': 'S'}],
                              'KeySchema': [{'AttributeName': 'k', 'KeyType': 'HASH'}]})
    free.call('PutItem', {'TableName': 'plain', 'Item': {'k': S('1')}})
    results.same('tables', a.call('ListTables', {})[1], {'TableNames': ['app']})
    results.same('all tables', free.call('ListTables', {})[1], {'TableNames': ['app', 'plain']})
    nowhere = [a.call('DescribeTable', {'TableName': name})[1] for name in ('plain', 'other')]
    results.same('a table that is not for tenants', str(nowhere[0]).replace('plain', 'other'), str(nowhere[1]))
    reads = [a.call('GetItem', {'TableName': name, 'Key': {'k': S('1')}}) for name in ('plain', 'other')]
    results.same('nor are its items', reads[0], reads[1])
    table = a.call('DescribeTable', {'TableName': 'app'})[1]['Table']
    counts = [table['ItemCount'], table['TableSizeBytes']]
    for index in table['GlobalSecondaryIndexes'] + table['LocalSecondaryIndexes']:
        counts += [index['ItemCount'], index['IndexSizeBytes']]
    results.same('nothing is counted', set(counts), {0})
    results.check('for others it is', free.call('DescribeTable', {'TableName': 'app'})[1]['Table']['ItemCount'] > 0)
    for operation in ('CreateBackup', 'ExportTableToPointInTime', 'DescribeModel', 'UpdateTable', 'DeleteTable', 'ListBackups',
                      'DescribeContributorInsights', 'DescribeModelReport', 'ApplyModel', 'VerifyDatabase', 'TagResource'):
        answer = a.call(operation, {})
        results.check(f'{operation} is closed', answer[1]['__type'].endswith('#AccessDeniedException'), answer)
    free.call('ApplyModel', {'FileName': 'others.dolmen', 'Model': 'table others { key k }\nentity Thing { k = "{id}"  id string }\n'})
    results.same('a model without tenants', free.send('POST', '/v1/others/Thing', b'{"id":"1"}', [('Content-Type', 'application/json')])[0], 201)
    for end in ('', '/Thing?id=1', '/Nothing'):
        there, nowhere = (a.get(f'/v1/{name}{end}') for name in ('others', 'unknown'))
        results.same(f'is not there for them: {end}', (there[0], there[2].replace(b'others', b'unknown')), (nowhere[0], nowhere[2]))
    names = a.get('/v1')[2]
    results.check('/v1 has tables of tenants alone', b'"app"' in names and b'plain' not in names and b'others' not in names, names)


def records(client):
    """All records of the stream: event, keys, new image."""
    found = []
    for stream in client.stream('ListStreams', {})['Streams']:
        arn = stream['StreamArn']
        for shard in client.stream('DescribeStream', {'StreamArn': arn})['StreamDescription']['Shards']:
            iterator = client.stream('GetShardIterator', {'StreamArn': arn, 'ShardId': shard['ShardId'],
                                                          'ShardIteratorType': 'TRIM_HORIZON'})['ShardIterator']
            page = None
            while page is None or page:
                answer = client.stream('GetRecords', {'ShardIterator': iterator, 'Limit': 3})
                page, iterator = answer['Records'], answer['NextShardIterator']
                found += [(record['eventName'], record['dynamodb']['Keys'], record['dynamodb'].get('NewImage')) for record in page]
    return found


def streams(results, free, a):
    for i in range(20):
        put(free, 'Job', project_id='ab' if i % 4 else 'a', job_id=str(i))
        put(free, 'Internal', secret=str(i))
    everything, own = records(free), records(a)
    visible = [record for record in everything if record[1]['PK']['S'] in ('P#a', 'PLAN#x')]
    results.same('records of a tenant', own, visible)
    results.check('there are others', 5 < len(own) < len(everything) - 20, (len(own), len(everything)))
    free.call('CreateTable', {'TableName': 'logged', 'BillingMode': 'PAY_PER_REQUEST',
                              'AttributeDefinitions': [{'AttributeName': 'k', 'AttributeType': 'S'}],
                              'KeySchema': [{'AttributeName': 'k', 'KeyType': 'HASH'}],
                              'StreamSpecification': {'StreamEnabled': True, 'StreamViewType': 'KEYS_ONLY'}})
    arns = [{stream['StreamArn'] for stream in client.stream('ListStreams', {})['Streams']} for client in (free, a)]
    foreign = (arns[0] - arns[1]).pop()
    results.same('streams of tenants alone', (len(arns[0]), len(arns[1])), (2, 1))
    unknown = foreign.replace('logged', 'unknown')
    results.same('another is not there', str(a.stream('DescribeStream', {'StreamArn': foreign})).replace('logged', 'unknown'),
                 str(a.stream('DescribeStream', {'StreamArn': unknown})))
    shard = free.stream('DescribeStream', {'StreamArn': foreign})['StreamDescription']['Shards'][0]['ShardId']
    request = {'StreamArn': foreign, 'ShardId': shard, 'ShardIteratorType': 'TRIM_HORIZON'}
    results.check('nor is its iterator', 'ResourceNotFound' in a.stream('GetShardIterator', request)['__type'])
    iterator = free.stream('GetShardIterator', request)['ShardIterator']
    results.check('nor are its records', 'ResourceNotFound' in a.stream('GetRecords', {'ShardIterator': iterator})['__type'])


def search(client):
    return client.call('SearchVectors', {'TableName': 'app', 'IndexName': 'near', 'TopK': 3, 'SearchVector': [
        {'N': '1'}, {'N': '0'}], 'ReturnConsumedCapacity': 'TOTAL'})[1]


def vectors(results, free, a):
    free.call('UpdateTable', {'TableName': 'app', 'VectorIndexUpdates': [{'Create': {
        'IndexName': 'near', 'VectorAttribute': {'AttributeName': 'v'}, 'Dimensions': 2, 'DistanceFunction': 'EUCLIDEAN',
        'Projection': {'ProjectionType': 'KEYS_ONLY'}}}]})
    while 'Cannot read' in str(search(free)):
        time.sleep(0.01)
    for i, tenant in enumerate(['a', 'ab', 'ab', 'ab', 'b', 'a']):
        put(free, 'Job', project_id=tenant, job_id=f'v{i}', v={'L': [{'N': '1'}, {'N': str(i)}]})
    found = search(a)
    results.same('the nearest of a tenant', [hit['Item']['SK']['S'] for hit in found['SearchResults']], ['JOB#v0', 'JOB#v5'])
    alone = found['ConsumedCapacity']
    for i in range(300):
        put(free, 'Job', project_id='b', job_id=f'w{i}', v={'L': [{'N': '1'}, {'N': '0'}]})
    results.same('whatever others have', search(a)['ConsumedCapacity'], alone)
    results.check('others come first for all', 'P#b' in {hit['Item']['PK']['S'] for hit in search(free)['SearchResults']})
    results.same('nothing for a newcomer', search(Client.other(a, 'new'))['SearchResults'], [])


def large_pages(results, free, a):
    """The megabyte of a page, and pages whose ranges are others' for the most part."""
    for i in range(8):
        put(free, 'Job', project_id='ab', job_id=f'x{i}', owner='crowd', pad='x' * 300000)
    for i in range(400):
        put(free, 'Job', project_id=f'tenant{i % 40}', job_id=f'y{i}', owner='crowd')
    for i in range(3):
        put(free, 'Job', project_id='a', job_id=f'z{i}', owner='crowd')
    for index, expression, value in (('GSI2', 'GSI2PK = :p', 'OWNER#crowd'), ('GSI1', 'GSI1PK = :p', 'STATUS#open')):
        query = {'TableName': 'app', 'IndexName': index, 'KeyConditionExpression': expression,
                 'ExpressionAttributeValues': {':p': S(value)}, 'ReturnConsumedCapacity': 'TOTAL'}
        page = a.call('Query', query)[1]
        results.check(f'one page of {index}', 'LastEvaluatedKey' not in page and page['Count'] == page['ScannedCount'] and
                      {item['PK']['S'] for item in page['Items']} == {'P#a'}, page)
        results.same(f'that costs what {index} has of it', page['ConsumedCapacity']['CapacityUnits'], 0.5)
        backwards = a.call('Query', {**query, 'ScanIndexForward': False})[1]
        results.same(f'{index} backwards', backwards['Items'], page['Items'][::-1])
        one = a.call('Query', {**query, 'Limit': 1})[1]
        results.same(f'{index} ends with an item of its own', one['LastEvaluatedKey']['PK'], S('P#a'))
    for total in (1, 7):
        pages = [a.call('Scan', {'TableName': 'app', 'TotalSegments': total, 'Segment': i})[1] for i in range(total)]
        results.check(f'{total} segments', all('LastEvaluatedKey' not in page for page in pages) and
                      {item['PK']['S'] for page in pages for item in page['Items']} == {'P#a', 'PLAN#x'})


def large_batches(results, free, a):
    """A batch that is written in parts is refused before the first of them."""
    own = [{'PutRequest': {'Item': {'kind': S('Job'), 'job_id': S(f'p{i}'), 'pad': S('x' * 390000)}}} for i in range(24)]
    foreign = {'PutRequest': {'Item': {'kind': S('Job'), 'project_id': S('b'), 'job_id': S('p')}}}
    answer = a.call('BatchWriteItem', {'RequestItems': {'app': [*own, foreign]}})
    results.same('a large batch with one of another', (answer[0], answer[1].get('message')), (400, DENIED))
    left = [free.call('GetItem', {'TableName': 'app', 'Key': key('P#a', f'JOB#p{i}')})[1] for i in range(24)]
    results.same('nothing of it is done', left, [{}] * 24)
    results.same('without it all is', a.call('BatchWriteItem', {'RequestItems': {'app': own}}), (200, {'UnprocessedItems': {}}))


def run(results, server):
    free, a = Client(server.endpoint), Client(server.endpoint, 'a')
    defaults(results, free, a)
    descriptions(results, free, a)
    streams(results, free, a)
    vectors(results, free, a)
    large_pages(results, free, a)
    large_batches(results, free, a)
