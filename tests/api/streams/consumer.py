"""A consumer of streams as the Kinesis Client Library's adapter is one: it finds shards, reads parents before
children, and keeps nothing but checkpoints (the last sequence number of each shard)."""

DONE = 'SHARD_END'


class Consumer:
    """Give it a boto3 client of the streams; `take` gets each record once, in the order of its shard."""

    def __init__(self, client, arn, take):
        self.client = client
        self.arn = arn
        self.take = take
        self.checkpoints = {}  # shard -> sequence number, DONE, or None if nothing has been read yet
        self.iterators = {}    # not needed to go on: forgotten when the consumer starts again
        self.parents = {}
        self.page = 50

    def restart(self, client):
        """What a new process would know: the checkpoints."""
        self.client = client
        self.iterators = {}

    def discover(self):
        shards, start = [], {}
        while True:
            stream = self.client.describe_stream(StreamArn=self.arn, Limit=3, **start)['StreamDescription']
            shards += stream['Shards']
            if 'LastEvaluatedShardId' not in stream:
                break
            start = {'ExclusiveStartShardId': stream['LastEvaluatedShardId']}
        for shard in shards:
            self.parents[shard['ShardId']] = shard.get('ParentShardId')
            self.checkpoints.setdefault(shard['ShardId'], None)
        return shards

    def ready(self):
        """Shards that may be read: their parent is done, or was forgotten before we came."""
        return [shard for shard, checkpoint in self.checkpoints.items()
                if checkpoint != DONE and self.checkpoints.get(self.parents[shard], DONE) == DONE]

    def iterator(self, shard):
        if shard not in self.iterators:
            checkpoint = self.checkpoints[shard]
            where = ({'ShardIteratorType': 'TRIM_HORIZON'} if checkpoint is None else
                     {'ShardIteratorType': 'AFTER_SEQUENCE_NUMBER', 'SequenceNumber': checkpoint})
            answer = self.client.get_shard_iterator(StreamArn=self.arn, ShardId=shard, **where)
            self.iterators[shard] = answer['ShardIterator']
        return self.iterators[shard]

    def step(self, shard):
        """One page of a shard; how many records it had."""
        try:
            answer = self.client.get_records(ShardIterator=self.iterator(shard), Limit=self.page)
        except self.client.exceptions.ExpiredIteratorException:
            del self.iterators[shard]
            answer = self.client.get_records(ShardIterator=self.iterator(shard), Limit=self.page)
        for record in answer['Records']:
            self.take(shard, record)
            self.checkpoints[shard] = record['dynamodb']['SequenceNumber']
        following = answer.get('NextShardIterator')
        if following is None:
            self.checkpoints[shard] = DONE
            self.iterators.pop(shard, None)
        else:
            self.iterators[shard] = following
        return len(answer['Records'])

    def catch_up(self):
        """Reads until there is nothing new anywhere."""
        while True:
            self.discover()
            before = dict(self.checkpoints)
            for shard in self.ready():
                while self.step(shard) and self.checkpoints[shard] != DONE:
                    pass
            if before == self.checkpoints:
                self.discover()
                if before == self.checkpoints:
                    return
