import { DynamoDBClient } from "@aws-sdk/client-dynamodb";

const dynamoClient = new DynamoDBClient({
  region: "us-east-1",
  maxAttempts: 3,  // Retry up to 3 times
  retryMode: "adaptive"  // Exponential backoff
});
