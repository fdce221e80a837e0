// Uses the generated client on a plain table and on one that has the model, and compares what they hold.
//   node client.js ENDPOINT
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DeleteCommand, DynamoDBDocumentClient, GetCommand, PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { type Customer, type CustomerInput, keyOfCustomer, keyOfOrderLine, ShopCountersTable, ShopTable } from "./shop.js";

type Item = Record<string, unknown>;

const client = DynamoDBDocumentClient.from(
  new DynamoDBClient({
    endpoint: process.argv[2] ?? "",
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  }),
);

let failed = 0;
async function test(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
    console.log(`ok ${name}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${name}\n${error instanceof Error ? error.stack : String(error)}`);
  }
}

async function raw(table: string, key: Item): Promise<Item> {
  const answer = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
  assert.ok(answer.Item, `no item ${JSON.stringify(key)}`);
  return answer.Item;
}

async function everything(table: string): Promise<Item[]> {
  return (await client.send(new ScanCommand({ TableName: table, ConsistentRead: true }))).Items ?? [];
}

const lost = { name: "ConditionalCheckFailedException" };

function customer(email: string, more: Partial<CustomerInput> = {}): CustomerInput {
  return { email, name: "Ann", preferences: { news: true }, bonus: null, ...more };
}

async function customers(shop: ShopTable): Promise<void> {
  const made = await shop.Customer.create(
    customer(" Ann@Example.ORG ", {
      nickname: "annie",
      points: 42,
      address: { street: "Quai 1", city: "Genève" } as never,
      preferences: {} as never,
      tags: new Set(["a", "b"]),
      scores: new Set([1, 2.5]),
      avatar: new Uint8Array([1, 2, 255]),
      tree: { label: " root ", children: [{ label: " leaf " }] },
      extra: { deep: [1, "two", null] },
      rank: 7,
    }),
  );
  assert.equal(made.email, "ann@example.org");
  assert.equal(made.nickname, "ANNIE");
  assert.equal(made.plan, "free");
  assert.equal(made.version, 1);
  assert.match(made.customerId, /^[0-9a-f-]{36}$/);
  assert.equal(made.address?.country, "CH");
  assert.equal(made.preferences.news, true);
  assert.deepEqual(made.tree, { label: "root", children: [{ label: "leaf" }] });

  const item = await raw(shop.tableName, keyOfCustomer(made));
  assert.equal(item["PK"], `CUSTOMER#${made.customerId}`);
  assert.equal(item["EntityType"], "Customer");
  assert.equal(item["GSI1SK"], "ann@example.org");
  assert.equal(item["GSI2SK"], `9999-12-31T00:00:00.000Z#00000042#${made.customerId}`);
  assert.equal(item["GSI3SK"], 49);
  assert.equal(item["bonus"], null);
  assert.deepEqual(item["tags"], new Set(["a", "b"]));
  assert.deepEqual([...(item["avatar"] as Uint8Array)], [1, 2, 255]);
  assert.deepEqual(await shop.Customer.get(made, { consistent: true }), made);
  assert.deepEqual(await shop.customerById(made), made);
  assert.deepEqual(await shop.customerByEmail({ email: "ANN@example.org" }), made);
  await assert.rejects(shop.Customer.create({ ...customer("other@example.org"), customerId: made.customerId }), lost);
}

async function changes(shop: ShopTable): Promise<void> {
  const made = await shop.Customer.create(customer("bob@example.org", { nickname: "B", rank: 1 }));
  const updated = await shop.Customer.update(made, {
    plan: "pro",
    planEnd: "2030-01-01T00:00:00.000Z",
    nickname: undefined,
    rank: undefined,
  });
  assert.equal(updated?.version, 2);
  assert.equal(updated.createdAt, made.createdAt);
  assert.equal(updated.nickname, undefined);
  let item = await raw(shop.tableName, keyOfCustomer(made));
  assert.equal(item["GSI2PK"], "PLAN#pro");
  assert.equal(item["GSI2SK"], `2030-01-01T00:00:00.000Z#00000000#${made.customerId}`);
  assert.ok(!("nickname" in item) && !("rank" in item));
  assert.deepEqual(await shop.Customer.get(made, { consistent: true }), updated);

  await assert.rejects(shop.Customer.update(made, { points: 1 }, { version: 1 }), lost);
  const all = await Promise.all([
    shop.Customer.update(made, { points: 5 }),
    shop.Customer.update(made, { name: "Bobby" }),
    shop.Customer.update(made, { vip: true }),
  ]);
  assert.equal(Math.max(...all.map((one) => one?.version ?? 0)), 5);
  item = await raw(shop.tableName, keyOfCustomer(made));
  assert.deepEqual([item["points"], item["name"], item["vip"], item["version"]], [5, "Bobby", true, 5]);
  assert.equal(item["GSI2SK"], `2030-01-01T00:00:00.000Z#00000005#${made.customerId}`);

  const { createdAt: _, ...rest } = (await shop.Customer.get(made)) as Customer;
  const put = await shop.Customer.put({ ...rest, name: "Robert" });
  assert.equal(put.createdAt, made.createdAt);
  assert.equal(put.version, 6);
  await assert.rejects(shop.Customer.put({ ...rest, name: "Late" }), lost);
  assert.equal(await shop.Customer.update({ customerId: crypto.randomUUID() }, { points: 1 }), undefined);

  const emails: string[] = [];
  for await (const one of shop.customersByPlan({ plan: "pro" })) emails.push(one.email);
  assert.deepEqual(emails, ["bob@example.org"]);
}

async function orders(shop: ShopTable): Promise<void> {
  const customerId = "11111111-2222-4333-8444-555555555555";
  const total = { amount: 12.5, currency: "CHF" } as const;
  for (let day = 1; day <= 5; day++) {
    await shop.Order.create({
      orderId: `o${day}`,
      customerId,
      createdAt: `2030-01-0${day}T10:00:00.000Z`,
      total: { ...total, amount: day * 4 },
      ...(day % 2 === 1 ? { note: "odd" } : {}),
    });
  }
  const byDefault = await shop.Order.create({ customerId: crypto.randomUUID(), total, note: null });
  assert.equal(byDefault.note, null); // what is optional may be null
  assert.match(byDefault.orderId, /^[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.equal(byDefault.status, "open");

  const newest = await shop.ordersOfCustomer({ customerId }).all();
  assert.deepEqual(newest.map((order) => order.orderId), ["o5", "o4", "o3", "o2", "o1"]);
  assert.equal(newest[4]?.expires, Date.parse("2030-01-01T10:00:00Z") / 1000 + 90 * 86400);
  assert.equal(newest[4].month, "2030-01");
  const first = await shop.ordersOfCustomer({ customerId }).page({ limit: 2 });
  const second = await shop.ordersOfCustomer({ customerId }).page({ limit: 2, cursor: first.cursor });
  assert.deepEqual([...first.items, ...second.items].map((order) => order.orderId), ["o5", "o4", "o3", "o2"]);
  const between = { customerId, since: "2030-01-02T", until: "2030-01-03T" };
  assert.deepEqual((await shop.ordersSince(between).all()).map((order) => order.orderId), ["o2", "o3"]);
  assert.equal((await shop.orderById({ orderId: "o3" }))?.total.amount, 12);
  const noted = await shop.ordersByStatus({ status: "open", day: "2030/01" }).all();
  assert.deepEqual(noted.map((order) => order.orderId), ["o3", "o5"]);
  await shop.Order.update({ customerId, createdAt: "2030-01-03T10:00:00.000Z", orderId: "o3" }, { status: "paid" });
  assert.equal((await shop.ordersByStatus({ status: "paid", day: "2030/01/03" }).first())?.orderId, "o3");
}

// An index of keys alone: these tell what they are made of, unless they can be read in several ways.
async function parts(shop: ShopTable): Promise<void> {
  const customerId = "22222222-2222-4333-8444-555555555555";
  const total = { amount: 1, currency: "CHF" } as const;
  const createdAt = "2031-05-01T12:00:00+02:00";
  const made = await shop.Order.create({ customerId, orderId: "a", createdAt, total, lines: 7, note: "n" });
  assert.equal(made.createdAt, "2031-05-01T10:00:00.000Z"); // as the server keeps it
  await shop.Order.create({ customerId, orderId: "b#c", createdAt: "2031-05-02T10:00:00.5Z", total });
  const found = await shop.ordersOfMonth({ month: "2031-05" }).all();
  const lines: number | undefined = found[1]?.lines;
  assert.equal(lines, 7);
  const sure = { customerId };
  assert.deepEqual(found, [sure, { ...sure, createdAt: "2031-05-01T10:00:00.000Z", status: "open", lines: 7, orderId: "a" }]);
  if (shop.tableName !== "shop") return;
  const answer = await fetch(`${process.argv[2]}/v1/shop/ordersOfMonth?month=2031-05`);
  assert.deepEqual(((await answer.json()) as { items: unknown }).items, found); // the server reads the same
}

async function lines(shop: ShopTable): Promise<void> {
  const paid = { amount: 1, currency: "EUR" } as const;
  for (const line of [2, 10, 1]) await shop.OrderLine.create({ orderId: "o1", line, productId: "p1", paid });
  await shop.Shipment.create({
    orderId: "o1",
    region: "VD",
    city: "Lausanne",
    street: "Rue",
    number: "5",
    "odd name": "odd",
    sentAt: "2026-02-27T23:00:00+01:00",
  });
  assert.deepEqual(keyOfOrderLine({ orderId: "o1", line: 7 }), { PK: "ORDER#o1", SK: "LINE#0007" });
  assert.deepEqual((await shop.linesOfOrder({ orderId: "o1" }).all()).map((one) => one.line), [1, 2, 10]);
  const whole = await shop.wholeOrder({ orderId: "o1" }).all();
  assert.deepEqual(whole.map((one) => one.entity), ["OrderLine", "OrderLine", "OrderLine", "Shipment"]);
  for (const one of whole) {
    if (one.entity === "Shipment") assert.equal(one.item.arrival, "2026-03-02");
    else assert.equal(one.item.count, 1);
  }
  // The pattern's limit is that of a page.
  assert.equal((await shop.bought({ productId: "p1" }).all()).length, 3);
  const page = await shop.bought({ productId: "p1" }).page();
  assert.equal(page.items.length, 2);
  assert.equal((await shop.bought({ productId: "p1" }).page({ cursor: page.cursor })).items.length, 1);
  const town = await shop.inTown({ region: "VD", city: "Lausanne" }).all();
  assert.deepEqual(town.map((one) => one.street), ["Rue"]);
  assert.equal((await shop.OrderLine.delete({ orderId: "o1", line: 10 }))?.productId, "p1");
  assert.equal(await shop.OrderLine.get({ orderId: "o1", line: 10 }), undefined);
}

async function others(shop: ShopTable, counters: ShopCountersTable): Promise<void> {
  const product = await shop.Product.create({ name: " Big Lamp ", category: "light", price: 19.9 });
  assert.equal(product.slug, "big lamp-light");
  assert.equal(product.digest, createHash("sha256").update("Big Lamp\0light\0").digest("hex"));
  assert.equal((await raw(shop.tableName, shop.Product.key(product)))["GSI2PK"], "STOCK#true");
  await shop.Product.create({ name: "Lux", category: "light", price: 99, inStock: false });
  const cheap = await shop.cheap({ category: "light", most: 20 }).all();
  assert.deepEqual(cheap.map((one) => [one.name, one.price]), [["Big Lamp", 19.9]]);
  await shop.Settings.put({ motd: "hello" });
  await shop.Settings.put({ motd: "bye" });
  assert.deepEqual(await shop.Settings.get({}), { motd: "bye", open: true });
  await counters.Counter.create({ counterId: 7 });
  await counters.Counter.update({ counterId: 7 }, { value: 5, label: "seven" });
  assert.deepEqual(await counters.counter({ counterId: 7 }), { counterId: 7, value: 5, label: "seven" });
}

for (const [kind, name] of [["plain", "shop-plain"], ["guarded", "shop"]] as const) {
  const shop = new ShopTable(client, name);
  const counters = new ShopCountersTable(client, kind === "plain" ? "shop-counters-plain" : "shop-counters");
  await test(`${kind}: customers`, () => customers(shop));
  await test(`${kind}: changes`, () => changes(shop));
  await test(`${kind}: orders`, () => orders(shop));
  await test(`${kind}: parts`, () => parts(shop));
  await test(`${kind}: lines`, () => lines(shop));
  await test(`${kind}: others`, () => others(shop, counters));
}

// What the client made of the attributes is what the server makes of them.
await test("the same items", async () => {
  for (const { PK, SK } of await everything("shop")) {
    await client.send(new DeleteCommand({ TableName: "shop", Key: { PK, SK } }));
  }
  const items = await everything("shop-plain");
  assert.ok(items.length > 10);
  for (const { version, ...item } of items) {
    const bare = Object.fromEntries(Object.entries(item).filter(([name]) => !/^(PK|SK|GSI\d.K)$/.test(name)));
    await client.send(new PutCommand({ TableName: "shop", Item: bare }));
    const { version: made, ...stored } = await raw("shop", { PK: item["PK"], SK: item["SK"] });
    assert.deepEqual(stored, item);
    assert.equal(made, version === undefined ? undefined : 1);
  }
});
process.exit(failed > 0 ? 1 : 0);
