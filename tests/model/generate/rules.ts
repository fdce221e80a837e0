// The generated client of a model with rules, on a plain table and on one that has the model: what the client judges and
// makes itself is the same on both. What is between items is the server's.
//   node rules.js ENDPOINT
import assert from "node:assert/strict";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { type TaskInput, type TeamInput, TasksTable } from "./tasks.js";

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
  return (await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item ?? {};
}

const TEAM: TeamInput = { teamId: "t1", name: " A   team ", slug: "A-Team " };
const TASK: TaskInput = { teamId: "t1", taskId: "a", title: "Paint", starts: 100, price: 0.1, points: 3, tags: ["x", "y"] };

async function rules(name: string): Promise<void> {
  const tracker = new TasksTable(client, name);
  const guarded = name === "tasks";
  const team = await tracker.Team.create(TEAM);
  assert.equal(team.name, "A team");
  assert.equal(team.slug, "a-team");
  await assert.rejects(tracker.Team.create({ ...TEAM, teamId: "t2", slug: "no blanks" }), /slug.*matches/);

  // What is computed is there, exact, and follows.
  const task = await tracker.Task.create(TASK);
  assert.equal(task.total, 0.3);
  assert.equal(task.label, "paint (new)");
  const changed = await tracker.Task.update({ teamId: "t1", taskId: "a" }, { points: 5, title: "Paint it" });
  assert.equal(changed?.total, 0.5);
  const stored = await raw(name, tracker.Task.key({ teamId: "t1", taskId: "a" }));
  assert.equal(stored["label"], "paint it (new)");
  assert.equal(stored["GSI1PK"], "STATE#t1#new");

  // Checks and transitions.
  await assert.rejects(tracker.Task.create({ ...TASK, taskId: "b", title: "B", ends: 50 }), /ends before it starts/);
  await assert.rejects(tracker.Task.create({ ...TASK, taskId: "b", title: "B", points: 101 }), /points between 0 and 100/);
  await assert.rejects(tracker.Task.create({ ...TASK, taskId: "b", title: "B", state: "dropped" }), /state/);
  await assert.rejects(tracker.Task.update({ teamId: "t1", taskId: "a" }, { state: "done", ends: 200 }), /state/);
  assert.equal((await tracker.Task.update({ teamId: "t1", taskId: "a" }, { state: "doing" }))?.state, "doing");
  await assert.rejects(tracker.Task.update({ teamId: "t1", taskId: "a" }, { state: "done" }), /done without an end/);
  assert.equal((await tracker.Task.put({ ...TASK, title: "Paint it", points: 5, state: "done", ends: 300 })).state, "done");
  await assert.rejects(tracker.Task.put({ ...TASK, title: "Paint it", state: "new" }), /state/);

  // A delete marks; nothing finds it any more, and its entry is gone until it is back.
  assert.equal((await tracker.Task.delete({ teamId: "t1", taskId: "a" }))?.title, "Paint it");
  assert.equal(await tracker.Task.get({ teamId: "t1", taskId: "a" }), undefined);
  assert.equal(await tracker.Task.update({ teamId: "t1", taskId: "a" }, { points: 1 }), undefined);
  assert.equal(await tracker.Task.delete({ teamId: "t1", taskId: "a" }), undefined);
  assert.deepEqual(await tracker.tasks({ teamId: "t1" }).all(), []);
  const gone = await raw(name, tracker.Task.key({ teamId: "t1", taskId: "a" }));
  assert.equal(typeof gone["gone"], "number");
  assert.equal(gone["GSI1PK"], undefined);
  assert.equal((await tracker.Task.undelete({ teamId: "t1", taskId: "a" }))?.title, "Paint it");
  assert.equal(await tracker.Task.undelete({ teamId: "t1", taskId: "a" }), undefined);
  assert.equal((await tracker.tasksByState({ teamId: "t1", state: "done" }).all()).length, 1);

  assert.equal(await tracker.howMany({ teamId: "t1", state: "done" }), 1);
  assert.equal(await tracker.howMany({ teamId: "t1", state: "new" }), 0);

  // What only the server makes can be read; the types have no way to write it.
  const tags = await tracker.byTag({ tag: "x" }).all();
  assert.equal(tags.length, guarded ? 1 : 0);
  assert.equal("create" in (tracker.TaskTag as Item), true); // at run time it is the same class
  const counted = await tracker.team({ teamId: "t1" });
  assert.equal(counted?.tasks, guarded ? 1 : undefined);
  assert.equal(counted?.points, guarded ? 5 : undefined);
  // @ts-expect-error a counter cannot be given
  const wrong: TeamInput = { ...TEAM, tasks: 7 };
  assert.equal((tracker.Team.item(wrong) as Item)["tasks"], undefined);
  const note = await tracker.Note.create({ teamId: "t1", taskId: "a", noteId: "n1", text: "well" });
  assert.equal(note.text, "well");
}

await test("rules on a plain table", () => rules("tasks-plain"));
await test("rules on a table with the model", () => rules("tasks"));
process.exit(failed === 0 ? 0 : 1);
