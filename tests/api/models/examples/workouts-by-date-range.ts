// lib/database/dynamodb.ts
import { DynamoDBClient, QueryCommand } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";

export async function getWorkoutsByDateRange(
  userId: string,
  startDate: string,
  endDate: string
): Promise<Workout[]> {
  const command = new QueryCommand({
    TableName: "spotter-workouts",
    IndexName: "userId-createdAt-index",
    KeyConditionExpression: "userId = :userId AND createdAt BETWEEN :start AND :end",
    ExpressionAttributeValues: {
      ":userId": { S: userId },
      ":start": { S: startDate },
      ":end": { S: endDate }
    }
  });

  const response = await dynamoClient.send(command);
  return response.Items?.map(item => unmarshall(item) as Workout) || [];
}
