const command = new PutItemCommand({
  TableName: "spotter-workouts",
  Item: workoutItem,
  ConditionExpression: "attribute_not_exists(id)",  // Fail if already exists
});

try {
  await dynamoClient.send(command);
} catch (error) {
  if (error.name === "ConditionalCheckFailedException") {
    // Workout already exists, handle duplicate
  }
}
