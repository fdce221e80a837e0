// Query by partition key (fast!)
const command = new QueryCommand({
  TableName: "spotter-workouts",
  KeyConditionExpression: "userId = :userId",
  ExpressionAttributeValues: { ":userId": { S: userId } }
});
