// Set TTL 7 days from now
const ttl = Math.floor(Date.now() / 1000) + (7 * 24 * 60 * 60);

const command = new PutItemCommand({
  TableName: "spotter-webhook-events",
  Item: {
    eventId: { S: "evt_123" },
    ttl: { N: ttl.toString() }
  }
});
