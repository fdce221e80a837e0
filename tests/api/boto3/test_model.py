"""The constraints of the service model that boto3 carries: each is broken in turn, for every operation, and
the error must name the member. What the service is known to judge otherwise is listed, with the reason."""
import boto3
from botocore.exceptions import ClientError

from support import ENDPOINT, Case, client, _config

OTHERWISE = {
    # A table is named by its name or ARN: lengths are those of a name, and a short name is not found.
    ('*', 'TableName', 'short'), ('*', 'TableName', 'long'),
    # These have no table in the model's sense: their messages are about the ARN.
    ('ListTagsOfResource', 'ResourceArn', '*'), ('TagResource', 'ResourceArn', '*'),
    ('UntagResource', 'ResourceArn', '*'),
    # "The requestItems parameter is required for BatchWriteItem"
    ('BatchWriteItem', 'RequestItems', 'few'),
}


def known(operation, member, fault):
    return any(o in ('*', operation) and m == member and f in ('*', fault) for o, m, f in OTHERWISE)


def sample(shape, depth=0):
    """A value that keeps to the shape."""
    kind = shape.type_name
    if kind == 'string':
        if shape.enum:
            return shape.enum[0]
        special = {'S3BucketOwner': '123456789012', 'CsvDelimiter': ','}
        return special.get(shape.name, 'a' * max(3, shape.metadata.get('min', 0)))
    if kind in ('integer', 'long'):
        return max(1, shape.metadata.get('min', 1))
    if kind in ('double', 'float', 'timestamp'):
        return 1
    if kind == 'boolean':
        return True
    if kind == 'blob':
        return b'x'
    if kind == 'list':
        return [sample(shape.member, depth + 1) for _ in range(max(1, shape.metadata.get('min', 1)))]
    if kind == 'map':
        return {'abc': sample(shape.value, depth + 1)}
    if shape.name == 'AttributeValue':
        return {'S': 'x'}
    return {name: sample(shape.members[name], depth + 1) for name in shape.required_members}


def faults(shape):
    """What breaks a constraint of the shape: (name of the fault, value)."""
    least, most = shape.metadata.get('min'), shape.metadata.get('max')
    if shape.type_name == 'string' and shape.enum:
        yield 'enum', 'hi'
    elif shape.type_name == 'string':
        if least:
            yield 'short', 'a' * (least - 1)
        if most:
            yield 'long', 'a' * (most + 1)
    elif shape.type_name in ('integer', 'long'):
        if least is not None:
            yield 'small', least - 1
        if most is not None:
            yield 'large', most + 1
    elif shape.type_name == 'list' and least:
        yield 'few', []
    elif shape.type_name == 'map' and least:
        yield 'few', {}


class Model(Case):
    def check(self, client, operation, request, member, fault):
        try:
            client._make_api_call(operation, request)
        except ClientError as error:
            text = f"{error.response['Error']['Code']}: {error.response['Error']['Message']}"
            named = member.lower() in text.lower() or 'Failed to satisfy constraint' in text
            self.assertTrue(text.startswith('ValidationException') and named, text)
        else:
            self.fail('accepted')

    def test_constraints(self):
        streams = boto3.client('dynamodbstreams', endpoint_url=ENDPOINT, config=_config)
        count = 0
        for service in (client, streams):
            for operation in service.meta.service_model.operation_names:
                shape = service.meta.service_model.operation_model(operation).input_shape
                for member, inner in (shape.members.items() if shape is not None else ()):
                    cases = list(faults(inner))
                    if member in shape.required_members:
                        cases.append(('missing', None))
                    for fault, value in cases:
                        if known(operation, member, fault):
                            continue
                        request = {**sample(shape), member: value}
                        if fault == 'missing':
                            del request[member]
                        with self.subTest(f'{operation}.{member}: {fault}'):
                            self.check(service, operation, request, member, fault)
                            count += 1
        self.assertGreater(count, 200)
