// Writes and reads with the AWS SDK for JavaScript; node trusts NODE_EXTRA_CA_CERTS.
import { DynamoDB } from '@aws-sdk/client-dynamodb';

const client = new DynamoDB({
    endpoint: process.argv[2],
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});
const TableName = 'from-js';
await client.createTable({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
});
const long = 'x'.repeat(300000);
await Promise.all(Array.from({ length: 40 }, (_, i) => client.putItem({ TableName, Item: { pk: { S: String(i) }, long: { S: long } } })));
const found = await Promise.all(Array.from({ length: 40 }, (_, i) => client.getItem({ TableName, Key: { pk: { S: String(i) } } })));
console.log(found.filter(({ Item }) => Item.long.S === long).length);
