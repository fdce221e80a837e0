// The part of a TypeScript client that is the same for every model: completing items, writing them,
// and reading patterns page by page. A line that begins with "//#" starts a section: its name, and
// the sections that it needs. Behind `client` they are helpers, each written out only if something
// calls it, as an unused function is an error under strict compilers.

import { createHash, randomBytes } from "node:crypto";
//# imports
import { isDeepStrictEqual } from "node:util";
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
//# client

// ---- What the parts below share ----------------------------------------------------------------

type Bag = Record<string, unknown>;
type Defaulted<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>;
/** New values; an optional attribute given as undefined is removed. */
type Changed<T, Fixed extends keyof T> = {
  [K in Exclude<keyof T, Fixed>]?: T[K] | (object extends Pick<T, K> ? undefined : never);
};

type Fit<T> = (value: unknown, item: Partial<T>, now: Date, put: boolean) => unknown;
type Make<T> = (item: Partial<T>, now: Date) => unknown;

/** What a key tells of attributes: the texts around its fields, and what each field is; no texts if it is one as it is. */
type Told = readonly [
  key: string,
  literals: readonly string[],
  fields: readonly (readonly [name: string, form: "value" | "text" | "escaped" | "number" | "boolean"] | null)[],
];

/** How an item of one kind comes about. */
interface Kind<T extends object> {
  readonly name: string;
  readonly primary: readonly string[];
  readonly type?: readonly [string, string];
  /** Whether a stored item is of this kind. */
  readonly fits: (item: Bag) => boolean;
  /** The primary key; and the entries in indexes, of which one is left out if a part is missing. */
  readonly keys: (item: Partial<T>) => Bag;
  readonly entries: readonly ((item: Partial<T>) => Bag)[];
  /** What is kept beside the attributes, and the attributes of which that is made. */
  readonly derived: readonly string[];
  readonly sources: readonly string[];
  readonly normal: readonly (readonly [string, Fit<T>])[];
  readonly defaults: readonly (readonly [string, Make<T>, boolean])[];
  readonly renewed: readonly string[];
  readonly immutable: readonly string[];
  readonly version?: string;
  /** What is made anew at each write; and what only the server counts. */
  readonly computed: readonly string[];
  readonly counted: readonly string[];
  /** What text must look like, what must hold between attributes, and the values one may follow. */
  readonly matches?: readonly (readonly [name: string, pattern: RegExp, text: string])[];
  readonly checks?: readonly (readonly [holds: (item: Partial<T>) => boolean, message: string])[];
  readonly moves?: readonly (readonly [name: string, begins: readonly unknown[], steps: readonly (readonly [unknown, unknown])[]])[];
  /** Deleted items have it: the attribute, its value, and what it is without. */
  readonly softdelete?: readonly [name: string, make: Make<T>, without: null | undefined];
  /** Of kinds that are read through an index which has only a part of each item. */
  readonly told?: readonly Told[];
}

interface Connection {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
}

function present(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function normalise<T extends object>(kind: Kind<T>, item: Bag, now: Date, put: boolean): void {
  for (const [name, fit] of kind.normal) {
    if (item[name] !== undefined) item[name] = fit(item[name], item as Partial<T>, now, put);
  }
}

function primaryKey<T extends object>(kind: Kind<T>, item: Bag): Bag {
  const keys = kind.keys(item as Partial<T>);
  for (const [name, value] of Object.entries(keys)) {
    if (!present(value)) throw new TypeError(`${kind.name}: something is missing of which ${name} is made`);
  }
  return keys;
}

/** The primary key of the item that has these attributes. */
function keyOf<T extends object>(kind: Kind<T>, key: object): Bag {
  const item: Bag = { ...key };
  normalise(kind, item, new Date(), true);
  return primaryKey(kind, item);
}

function isDeleted<T extends object>(kind: Kind<T>, item: Bag): boolean {
  return kind.softdelete !== undefined && (item[kind.softdelete[0]] ?? null) !== null;
}

/** Throws if the item is not as the model says; the server would refuse it, too. */
function judge<T extends object>(kind: Kind<T>, item: Bag, old?: Bag): void {
  for (const [name, pattern, text] of kind.matches ?? []) {
    const value = item[name];
    if (typeof value === "string" && !pattern.test(value)) {
      throw new TypeError(`${kind.name}: /${name}: expected text that matches ${text}, got ${JSON.stringify(value)}`);
    }
  }
  for (const [holds, message] of kind.checks ?? []) {
    if (!holds(item as Partial<T>)) throw new TypeError(`${kind.name}: ${message}`);
  }
  for (const [name, begins, steps] of kind.moves ?? []) {
    const [from, to] = [old?.[name] ?? undefined, item[name] ?? undefined];
    if (to === undefined || from === to) continue;
    if (from === undefined ? !begins.includes(to) : !steps.some((step) => step[0] === from && step[1] === to)) {
      throw new TypeError(`${kind.name}: /${name}: ${JSON.stringify(to)} does not follow ${JSON.stringify(from) ?? "nothing"}`);
    }
  }
}

/** The whole item: normal forms, defaults, version, type and keys. */
function complete<T extends object>(
  kind: Kind<T>,
  input: object,
  now: Date,
  old?: Bag,
  update = false,
  unjudged = false,
): Bag {
  const item: Bag = {};
  for (const [name, value] of Object.entries(input)) {
    const made = kind.derived.includes(name) || kind.computed.includes(name) || (!update && kind.counted.includes(name));
    if (value !== undefined && !made) item[name] = value;
  }
  normalise(kind, item, now, !update);
  if (old !== undefined) {
    for (const name of kind.immutable) {
      if (item[name] === undefined && old[name] !== undefined) item[name] = old[name];
    }
    for (const name of kind.renewed) {
      if (isDeepStrictEqual(item[name], old[name])) delete item[name];
    }
  }
  if (kind.version !== undefined) item[kind.version] = old === undefined ? 1 : Number(old[kind.version] ?? 0) + 1;
  let changed = true;
  for (let round = 0; changed && round < 8; round++) {
    changed = false;
    for (const [name, make, optional] of kind.defaults) {
      if (item[name] !== undefined || (update && optional)) continue;
      const value = make(item as Partial<T>, now);
      if (value === undefined || value === null) continue;
      item[name] = value;
      changed = true;
    }
  }
  if (kind.type !== undefined) item[kind.type[0]] ??= kind.type[1];
  Object.assign(item, primaryKey(kind, item));
  for (const entry of kind.entries) {
    const parts = entry(item as Partial<T>);
    if (Object.values(parts).every(present)) Object.assign(item, parts);
  }
  if (!unjudged) judge(kind, item, old);
  return item;
}

/** The attributes of a stored item, without keys and type. */
function attributesOf<T extends object>(kind: Kind<T>, item: Bag): T {
  const attributes: Bag = {};
  for (const [name, value] of Object.entries(item)) {
    if (!kind.derived.includes(name)) attributes[name] = value;
  }
  return attributes as T;
}

/** Placeholders of an expression. */
class Placeholders {
  private readonly names = new Map<string, string>();
  private readonly values: Bag = {};

  path(steps: readonly string[]): string {
    return steps
      .map((step) => {
        const known = this.names.get(step) ?? `#n${this.names.size}`;
        this.names.set(step, known);
        return known;
      })
      .join(".");
  }

  value(value: unknown): string {
    const name = `:v${Object.keys(this.values).length}`;
    this.values[name] = value;
    return name;
  }

  /** That an attribute has, or has not, a value. */
  is(name: string, value: unknown): string {
    const path = this.path([name]);
    return value === undefined ? `attribute_not_exists(${path})` : `${path} = ${this.value(value)}`;
  }

  all(): { ExpressionAttributeNames: Record<string, string>; ExpressionAttributeValues?: Bag } {
    const names: Record<string, string> = {};
    for (const [name, placeholder] of this.names) names[placeholder] = name;
    return Object.keys(this.values).length === 0
      ? { ExpressionAttributeNames: names }
      : { ExpressionAttributeNames: names, ExpressionAttributeValues: this.values };
  }
}

const TRIES = 5;

/** Runs again what lost against another write. */
async function retried<R>(again: boolean, run: () => Promise<R>): Promise<R> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      const lost = error instanceof Error && error.name === "ConditionalCheckFailedException";
      if (!lost || !again || tries >= TRIES) throw error;
    }
  }
}

async function readItem(at: Connection, key: Bag, consistent: boolean): Promise<Bag | undefined> {
  const answer = await at.client.send(
    new GetCommand({ TableName: at.tableName, Key: key, ConsistentRead: consistent }),
  );
  return answer.Item;
}

export interface ReadOptions {
  /** A strongly consistent read. */
  consistent?: boolean;
}

export interface WriteOptions {
  /** The version that is to be changed; if it is another one, ConditionalCheckFailedException is thrown. */
  version?: number;
}

/** The items of one kind. */
export class EntityClient<T extends object, Input extends object, Key extends object, Changes extends object> {
  constructor(
    protected readonly at: Connection,
    protected readonly kind: Kind<T>,
  ) {}

  /** The item as it is stored, with defaults and keys: for transactions and batches. */
  item(input: Input): Bag {
    return complete(this.kind, input, new Date());
  }

  /** Its primary key. */
  key(key: Key): Bag {
    return keyOf(this.kind, key);
  }

  /** Writes a new one. If its key is taken, ConditionalCheckFailedException is thrown. */
  async create(input: Input): Promise<T> {
    const item = complete(this.kind, input, new Date());
    const names = new Placeholders();
    const condition = this.primaryMissing(names);
    await this.at.client.send(
      new PutCommand({ TableName: this.at.tableName, Item: item, ConditionExpression: condition, ...names.all() }),
    );
    return attributesOf(this.kind, item);
  }

  async get(key: Key, options: ReadOptions = {}): Promise<T | undefined> {
    const item = await readItem(this.at, keyOf(this.kind, key), options.consistent ?? false);
    const there = item !== undefined && this.kind.fits(item) && !isDeleted(this.kind, item);
    return there ? attributesOf(this.kind, item) : undefined;
  }

  /** Writes the whole item, whether there is one or not. */
  async put(input: Input): Promise<T> {
    const { version, immutable, renewed, moves = [] } = this.kind;
    const given = version === undefined ? undefined : (input as Bag)[version];
    return retried(given === undefined, async () => {
      const now = new Date();
      const names = new Placeholders();
      let item = complete(this.kind, input, now, undefined, false, moves.length > 0);
      let condition: string | undefined;
      if (version !== undefined || immutable.length + renewed.length + moves.length > 0) {
        const old = await readItem(this.at, primaryKey(this.kind, item), true);
        if (old !== undefined || moves.length > 0) item = complete(this.kind, input, now, old);
        if (old === undefined) condition = this.primaryMissing(names);
        else if (version !== undefined) condition = names.is(version, given ?? old[version]);
      }
      await this.at.client.send(
        new PutCommand({
          TableName: this.at.tableName,
          Item: item,
          ...(condition === undefined ? {} : { ConditionExpression: condition, ...names.all() }),
        }),
      );
      return attributesOf(this.kind, item);
    });
  }

  /** Changes attributes, and with them every key that is made of them. undefined if there is no such item. */
  async update(key: Key, changes: Changes, options: WriteOptions = {}): Promise<T | undefined> {
    return this.change(key, () => changes, options, false);
  }

  protected async change(
    key: Key,
    make: (old: Bag) => object,
    options: WriteOptions,
    deleted: boolean,
  ): Promise<T | undefined> {
    return retried(options.version === undefined, async () => {
      const primary = keyOf(this.kind, key);
      const old = await readItem(this.at, primary, true);
      if (old === undefined || !this.kind.fits(old) || isDeleted(this.kind, old) !== deleted) return undefined;
      const changes = make(old);
      const item = complete(this.kind, { ...old, ...changes }, new Date(), old, true);
      const names = new Placeholders();
      const set: string[] = [];
      const remove: string[] = [];
      for (const [name, value] of Object.entries(item)) {
        if (!isDeepStrictEqual(value, old[name])) set.push(`${names.path([name])} = ${names.value(value)}`);
      }
      for (const name of Object.keys(old)) {
        if (item[name] === undefined) remove.push(names.path([name]));
      }
      if (set.length + remove.length === 0) return attributesOf(this.kind, old);
      const { version, sources } = this.kind;
      const conditions = this.kind.primary.map((name) => `attribute_exists(${names.path([name])})`);
      for (const name of sources) conditions.push(names.is(name, old[name]));
      if (version !== undefined) conditions.push(names.is(version, options.version ?? old[version]));
      await this.at.client.send(
        new UpdateCommand({
          TableName: this.at.tableName,
          Key: primary,
          UpdateExpression: [
            set.length > 0 ? `SET ${set.join(", ")}` : "",
            remove.length > 0 ? `REMOVE ${remove.join(", ")}` : "",
          ].join(" "),
          ConditionExpression: conditions.join(" AND "),
          ...names.all(),
        }),
      );
      return attributesOf(this.kind, item);
    });
  }

  /** Deletes the item and returns what it was. */
  async delete(key: Key): Promise<T | undefined> {
    const { softdelete } = this.kind;
    if (softdelete !== undefined) {
      const [name, mark] = softdelete;
      let was: T | undefined;
      await this.change(
        key,
        (old) => {
          was = attributesOf(this.kind, old);
          return { [name]: mark(old as Partial<T>, new Date()) };
        },
        {},
        false,
      );
      return was;
    }
    const answer = await this.at.client.send(
      new DeleteCommand({ TableName: this.at.tableName, Key: keyOf(this.kind, key), ReturnValues: "ALL_OLD" }),
    );
    return answer.Attributes === undefined ? undefined : attributesOf(this.kind, answer.Attributes);
  }

  private primaryMissing(names: Placeholders): string {
    return this.kind.primary.map((name) => `attribute_not_exists(${names.path([name])})`).join(" AND ");
  }
}

// ---- Access patterns ---------------------------------------------------------------------------

type Operator = "=" | "<>" | "<" | "<=" | ">" | ">=" | "begins_with" | "between" | "contains" | "exists" | "missing";
type Condition = readonly [path: readonly string[], operator: Operator, ...values: unknown[]];

interface Reading {
  readonly index?: string;
  readonly keys: readonly Condition[];
  readonly filters?: readonly Condition[];
  readonly kinds: readonly Kind<any>[];
  readonly descending?: boolean;
  readonly consistent?: boolean;
  readonly limit?: number;
}

export interface PageOptions {
  /** Items to look at, at most; else what the pattern says. */
  limit?: number;
  /** Where the page before ended. */
  cursor?: string | undefined;
}

export interface Page<T> {
  items: T[];
  /** Where this page ends; undefined if it is the last one. */
  cursor: string | undefined;
}

function conditionText(names: Placeholders, [steps, operator, ...values]: Condition): string {
  for (const value of values) {
    if (value === undefined) throw new TypeError(`the arguments give no value for ${steps.join(".")}`);
  }
  const path = names.path(steps);
  switch (operator) {
    case "exists":
      return `attribute_exists(${path})`;
    case "missing":
      return `attribute_not_exists(${path})`;
    case "begins_with":
    case "contains":
      return `${operator}(${path}, ${names.value(values[0])})`;
    case "between":
      return `${path} BETWEEN ${names.value(values[0])} AND ${names.value(values[1])}`;
    default:
      return `${path} ${operator} ${names.value(values[0])}`;
  }
}

function cursorOf(key: Bag): string {
  const text = JSON.stringify(key, (_, value: unknown) =>
    value instanceof Uint8Array ? { $binary: Buffer.from(value).toString("base64") } : value,
  );
  return Buffer.from(text).toString("base64url");
}

function keyOfCursor(cursor: string): Bag {
  return JSON.parse(Buffer.from(cursor, "base64url").toString(), (_, value: unknown) => {
    const binary = typeof value === "object" && value !== null ? (value as Bag)["$binary"] : undefined;
    return typeof binary === "string" ? new Uint8Array(Buffer.from(binary, "base64")) : value;
  }) as Bag;
}

/** What an access pattern finds: page by page, or all pages with `for await` and `all()`. */
export class Pattern<T> implements AsyncIterable<T> {
  constructor(
    private readonly at: Connection,
    private readonly reading: Reading,
    private readonly read: (kind: Kind<any>, item: Bag) => T,
  ) {}

  async page(options: PageOptions = {}): Promise<Page<T>> {
    const { index, keys, filters = [], kinds, descending = false, consistent = false } = this.reading;
    const names = new Placeholders();
    const limit = options.limit ?? this.reading.limit;
    const key = keys.map((condition) => conditionText(names, condition)).join(" AND ");
    const filter = filters.map((condition) => conditionText(names, condition)).join(" AND ");
    const answer = await this.at.client.send(
      new QueryCommand({
        TableName: this.at.tableName,
        ...(index === undefined ? {} : { IndexName: index }),
        KeyConditionExpression: key,
        ...(filter === "" ? {} : { FilterExpression: filter }),
        ...names.all(),
        ScanIndexForward: !descending,
        ConsistentRead: consistent,
        ...(limit === undefined ? {} : { Limit: limit }),
        ...(options.cursor === undefined ? {} : { ExclusiveStartKey: keyOfCursor(options.cursor) }),
      }),
    );
    const items: T[] = [];
    for (const item of answer.Items ?? []) {
      const kind = kinds.find((one) => one.fits(item));
      if (kind !== undefined && !isDeleted(kind, item)) items.push(this.read(kind, item));
    }
    return { items, cursor: answer.LastEvaluatedKey === undefined ? undefined : cursorOf(answer.LastEvaluatedKey) };
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    let cursor: string | undefined;
    do {
      const page = await this.page({ cursor });
      yield* page.items;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  async all(): Promise<T[]> {
    const items: T[] = [];
    for await (const item of this) items.push(item);
    return items;
  }

  /** How many there are. */
  async count(): Promise<number> {
    return (await this.all()).length;
  }

  async first(): Promise<T | undefined> {
    for await (const item of this) return item;
    return undefined;
  }
}
//# soft

/** The items of one kind whose delete can be taken back. */
export class SoftEntityClient<
  T extends object,
  Input extends object,
  Key extends object,
  Changes extends object,
> extends EntityClient<T, Input, Key, Changes> {
  /** Brings back an item that was deleted; undefined if there is none. */
  async undelete(key: Key): Promise<T | undefined> {
    const [name = "", , without] = this.kind.softdelete ?? [];
    return this.change(key, () => ({ [name]: without }), {}, true);
  }
}
//# told

/** The texts of the fields of a key; undefined if it can be read in several ways. */
function fieldsOf(key: string, literals: readonly string[]): string[] | undefined {
  const count = (text: string, part: string): number => text.split(part).length - 1;
  const [first = "", ...between] = literals;
  const last = between.pop() ?? "";
  for (const one of between) {
    const expected = literals.reduce((sum, literal) => sum + count(literal, one), 0);
    if (count(key, one) !== expected) return undefined;
  }
  if (!key.startsWith(first) || !key.endsWith(last)) return undefined;
  const fields: string[] = [];
  let rest = key.slice(first.length, key.length - last.length);
  for (const one of between) {
    const at = rest.indexOf(one, 1);
    if (at < 0) return undefined;
    fields.push(rest.slice(0, at));
    rest = rest.slice(at + one.length);
  }
  return [...fields, rest];
}

function valueOf(text: string, form: string): unknown {
  if (form === "boolean") return text === "true";
  if (form === "number") return Number(text);
  if (form === "text") return text;
  return text.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}

/** The attributes of an item of which an index has only a part; its keys tell some of the others. */
function partOf<T extends object>(kind: Kind<T>, item: Bag): T {
  const attributes = attributesOf(kind, item) as Bag;
  for (const [key, literals, fields] of kind.told ?? []) {
    const value = item[key];
    const texts = typeof value === "string" && literals.length > 0 ? fieldsOf(value, literals) : undefined;
    for (const [place, field] of fields.entries()) {
      if (field === null || attributes[field[0]] !== undefined) continue;
      const text = texts?.[place];
      if (field[1] === "value" && value !== undefined) attributes[field[0]] = value;
      else if (text !== undefined && text !== "") attributes[field[0]] = valueOf(text, field[1]);
    }
  }
  return attributes as T;
}
//# text

/** A value as it stands in a key. */
function text(value: unknown): string | undefined {
  if (typeof value === "number") return decimal(value);
  if (typeof value === "string" || typeof value === "boolean" || typeof value === "bigint") return String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : undefined;
}

/** A number without an exponent. */
function decimal(value: number): string | undefined {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (parts === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + "0".repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Parts put together; nothing if one is missing. */
function join(...parts: unknown[]): string | undefined {
  let whole = "";
  for (const part of parts) {
    const piece = text(part);
    if (piece === undefined) return undefined;
    whole += piece;
  }
  return whole;
}
//# lower text

function lower(value: unknown): string | undefined {
  return text(value)?.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
//# upper text

function upper(value: unknown): string | undefined {
  return text(value)?.replace(/[a-z]/g, (letter) => letter.toUpperCase());
}
//# trim text

function trim(value: unknown): string | undefined {
  return text(value)?.replace(/^[ \t-\r]+|[ \t-\r]+$/g, "");
}
//# squeeze text

function squeeze(value: unknown): string | undefined {
  return text(value)?.replace(/[ \t-\r]+/g, " ");
}
//# nfc text

function nfc(value: unknown): string | undefined {
  return text(value)?.normalize("NFC");
}
//# pad text

/** Zeros in front; of a number, of its digits before the point. */
function pad(value: unknown, width: number): string | undefined {
  const whole = text(value);
  if (whole === undefined || typeof value !== "number") {
    return whole === undefined ? whole : "0".repeat(Math.max(0, width - [...whole].length)) + whole;
  }
  const sign = whole.startsWith("-") ? "-" : "";
  const [digits = "", ...fraction] = whole.slice(sign.length).split(".");
  return sign + [digits.padStart(width, "0"), ...fraction].join(".");
}
//# fixed text

/** A number with that many digits behind the point, rounded half away from zero as the server does. */
function fixed(value: unknown, digits: number): string | undefined {
  const whole = text(value);
  if (whole === undefined) {
    return undefined;
  }
  const minus = whole.startsWith("-");
  const [before = "0", behind = ""] = whole.slice(minus ? 1 : 0).split(".");
  const kept = BigInt(before + behind.slice(0, digits).padEnd(digits, "0"));
  const rounded = (kept + (behind.charAt(digits) >= "5" ? 1n : 0n)).toString().padStart(digits + 1, "0");
  const point = rounded.length - digits;
  const sign = minus && /[1-9]/.test(rounded) ? "-" : "";
  return sign + rounded.slice(0, point) + (digits > 0 ? "." + rounded.slice(point) : "");
}
//# escape text

/** The text with its separators written as %23. */
function escape(value: unknown, separator = "#"): string | undefined {
  const hex = (mark: string): string => "%" + mark.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0");
  return text(value)?.replaceAll("%", "%25").replaceAll(separator.charAt(0), hex(separator));
}
//# forbid text

/** The text, which must not have a separator in it. */
function forbid(value: unknown, separator = "#"): string | undefined {
  const whole = text(value);
  if (whole?.includes(separator)) {
    throw new Error(`"${whole}" stands in a key and must not contain "${separator}"`);
  }
  return whole;
}
//# sha256 text

/** The digest of the parts, each ended by a NUL. */
function sha256(...parts: unknown[]): string | undefined {
  const hash = createHash("sha256");
  for (const part of parts) {
    const piece = text(part);
    if (piece === undefined) return undefined;
    hash.update(`${piece}\0`);
  }
  return hash.digest("hex");
}
//# ulid

/** 48 bits of milliseconds and 80 of chance, so that ids sort by their time. */
function ulid(now: Date): string {
  const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  let id = "";
  for (let left = now.getTime(), i = 0; i < 10; i++, left = Math.floor(left / 32)) id = letters.charAt(left % 32) + id;
  for (const byte of randomBytes(16)) id += letters.charAt(byte % 32);
  return id;
}
//# size

function size(value: unknown): number | undefined {
  if (typeof value === "string") return [...value].length;
  if (value instanceof Set) return value.size;
  if (value instanceof Uint8Array || Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null ? Object.keys(value).length : undefined;
}
//# time

const TIME = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(:\d\d)?(\.\d+)?(Z|[+-]\d\d(?::?\d\d)?))?$/;

/** Seconds since 1970 of a timestamp, a date, or seconds; anything else stays what it is. */
function seconds(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  const parts = typeof value === "string" ? TIME.exec(value) : null;
  if (parts === null) return undefined;
  const [, day = "", minutes = "00:00", second = ":00", , zone = "Z"] = parts;
  const offset = zone.length === 3 ? `${zone}:00` : zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const time = Date.parse(`${day}T${minutes}${second}${offset}`);
  return Number.isNaN(time) ? undefined : time / 1000;
}
//# utc time

/** A time in UTC with that many digits of a second, as the server keeps it; what is no time stays. */
function utc(value: unknown, digits: number): unknown {
  const parts = typeof value === "string" ? TIME.exec(value) : null;
  const time = parts?.[2] === undefined ? undefined : seconds(value);
  if (parts === null || time === undefined) return value;
  const fraction = (parts[4] ?? ".").padEnd(digits + 1, "0").slice(0, digits + 1);
  return new Date(time * 1000).toISOString().slice(0, 19) + (digits > 0 ? fraction : "") + "Z";
}
//# timestamp text

function timestamp(value: unknown): string | undefined {
  return typeof value === "number" ? new Date(value * 1000).toISOString() : text(value);
}
//# day time

function day(value: unknown): string | undefined {
  const time = seconds(value);
  return time === undefined ? undefined : new Date(time * 1000).toISOString().slice(0, 10);
}
//# datepart time

/** A time by a pattern of yyyy mm dd HH MM SS, in UTC. */
function datePart(value: unknown, pattern: string): string | undefined {
  const time = seconds(value);
  if (time === undefined) return undefined;
  const iso = new Date(time * 1000).toISOString();
  const parts: Record<string, string> = {
    yyyy: iso.slice(0, 4), mm: iso.slice(5, 7), dd: iso.slice(8, 10),
    HH: iso.slice(11, 13), MM: iso.slice(14, 16), SS: iso.slice(17, 19),
  };
  return pattern.replace(/yyyy|mm|dd|HH|MM|SS/g, (part) => parts[part] ?? part);
}
//# exact text

/** A sum, a difference or a product without what binary fractions add to it. */
function exact(a: number, b: number, operator: "+" | "-" | "*"): number {
  const digits = (value: number): number => (text(value) ?? "").split(".")[1]?.length ?? 0;
  const whole = (value: number, scale: number): bigint => BigInt((text(value) ?? "0").replace(".", "") + "0".repeat(scale - digits(value)));
  const most = Math.max(digits(a), digits(b));
  const result =
    operator === "*"
      ? whole(a, digits(a)) * whole(b, digits(b))
      : operator === "+"
        ? whole(a, most) + whole(b, most)
        : whole(a, most) - whole(b, most);
  return Number(`${result}e-${operator === "*" ? digits(a) + digits(b) : most}`);
}
//# product exact

function product(a: unknown, b: unknown): number | undefined {
  return typeof a === "number" && typeof b === "number" ? exact(a, b, "*") : undefined;
}
//# test

type Compared = readonly [left: unknown, operator: string, ...values: unknown[]];

/** Whether a comparison holds; undefined if something of it is missing. */
function compared([left, operator, ...values]: Compared): boolean | undefined {
  const has = (value: unknown): boolean => value !== undefined && value !== null;
  if (operator === "exists" || operator === "missing") return has(left) === (operator === "exists");
  const [first, second] = values as [never, never];
  if (!has(left) || !values.every(has)) return undefined;
  const value = left as never;
  switch (operator) {
    case "=":
      return value === first;
    case "!=":
      return value !== first;
    case "<":
      return value < first;
    case "<=":
      return value <= first;
    case ">":
      return value > first;
    case ">=":
      return value >= first;
    case "between":
      return value >= first && value <= second;
    case "begins":
      return String(left).startsWith(String(first));
    default:
      return left instanceof Set ? left.has(first) : (left as unknown as { includes(part: unknown): boolean }).includes(first);
  }
}

/** Whether all comparisons of one of the clauses hold; one with something missing is as `missing` says. */
function holds(missing: boolean, ...clauses: readonly (readonly Compared[])[]): boolean {
  return clauses.some((clause) => clause.every((one) => compared(one) ?? missing));
}
//# sum time exact

/** A time moved, in the form in which it is written. */
function moved(time: string, by: number): string | undefined {
  const parts = TIME.exec(time);
  const start = seconds(time);
  if (parts === null || start === undefined) return undefined;
  const [, , minutes, second, fraction = "", zone = ""] = parts;
  const [, sign = "+", hours = "0", rest = "0"] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  const offset = (Number(hours) * 60 + Number(rest)) * (sign === "-" ? -60 : 60);
  const iso = new Date((start + by + offset) * 1000).toISOString();
  if (minutes === undefined) return iso.slice(0, 10);
  const length = second === undefined && iso.slice(17, 19) === "00" ? 16 : 19;
  return iso.slice(0, length) + fraction + zone;
}

/** A sum (sign 1) or a difference (sign -1) of numbers, or of a time and seconds. */
function sum(a: unknown, b: unknown, sign: 1 | -1): number | string | undefined {
  if (typeof a === "number" && typeof b === "number") return exact(a, b, sign === 1 ? "+" : "-");
  if (typeof a === "string" && typeof b === "number") return moved(a, sign * b);
  if (typeof a === "number" && typeof b === "string" && sign === 1) return moved(b, a);
  const [to, from] = [seconds(a), seconds(b)];
  return to === undefined || from === undefined ? undefined : to - from;
}
//# step

/** A member of an object, or of a member of it. */
function step(value: unknown, ...names: string[]): unknown {
  for (const name of names) value = typeof value === "object" && value !== null ? (value as Bag)[name] : undefined;
  return value;
}
//# nested

interface Field {
  readonly fit?: (value: unknown) => unknown;
  readonly make?: () => unknown;
  readonly optional?: boolean;
}

/** The fields of an object in their normal form, with defaults. */
function shape(value: unknown, put: boolean, fields: Record<string, Field>): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const made: Bag = { ...value };
  for (const [name, field] of Object.entries(fields)) {
    if (made[name] !== undefined) made[name] = field.fit === undefined ? made[name] : field.fit(made[name]);
    else if (field.make !== undefined && (put || field.optional !== true)) made[name] = field.make();
    if (made[name] === undefined) delete made[name];
  }
  return made;
}
//# each

/** The members of a list or a record in their normal form. */
function each(value: unknown, fit: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(fit);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fit(member)]));
}
