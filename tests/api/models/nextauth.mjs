// The real @auth/dynamodb-adapter on the table next-auth of models/kinex-fit: what NextAuth.js does
// when somebody signs up, signs in, refreshes a session, links an account, and goes.
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { DynamoDBAdapter } from '@auth/dynamodb-adapter';

export function adapter(endpoint) {
    const options = { marshallOptions: { convertEmptyValues: true, removeUndefinedValues: true, convertClassInstanceToMap: true } };
    return DynamoDBAdapter(DynamoDBDocument.from(new DynamoDB({ endpoint }), options));
}

export const days = (count) => new Date(Date.now() + count * 86400e3);
export const google = (userId, providerAccountId) => ({
    userId, provider: 'google', providerAccountId, type: 'oauth', access_token: 'at', expires_at: 1790000000, token_type: 'bearer',
    scope: 'openid email', id_token: 'it',
});
