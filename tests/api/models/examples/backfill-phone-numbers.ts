// scripts/backfill-phone-numbers.ts
import { DynamoDBClient, ScanCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";

async function backfillPhoneNumbers() {
  const scanCommand = new ScanCommand({ TableName: "spotter-users" });
  const response = await dynamoClient.send(scanCommand);

  for (const item of response.Items || []) {
    if (!item.phoneNumber) {
      const updateCommand = new UpdateItemCommand({
        TableName: "spotter-users",
        Key: { id: item.id },
        UpdateExpression: "SET phoneNumber = :phone",
        ExpressionAttributeValues: {
          ":phone": { S: "000-000-0000" }  // Default placeholder
        }
      });
      await dynamoClient.send(updateCommand);
    }
  }
}
