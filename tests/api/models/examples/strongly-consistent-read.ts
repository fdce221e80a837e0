// Strongly consistent read
const command = new GetItemCommand({
  TableName: "spotter-webhook-events",
  Key: { eventId: { S: "evt_123" } },
  ConsistentRead: true  // Ensure we see latest write
});
