// Helpers of a TypeScript client, each written out only if the model needs it, as an unused
// function is an error under strict compilers.
#include "generate/typescript.h"

static const struct helper {
    unsigned needs; // other helpers
    const char *text;
} helpers[] = {
    // clang-format off
    [TS_TEXT] = {0,
        "/** A value as it stands in a key. */\n"
        "function text(value: unknown): string | undefined {\n"
        "  if (typeof value === \"number\") return decimal(value);\n"
        "  if (typeof value === \"string\" || typeof value === \"boolean\" || typeof value === \"bigint\") return String(value);\n"
        "  return value instanceof Uint8Array ? Buffer.from(value).toString(\"base64\") : undefined;\n"
        "}\n"
        "\n"
        "/** A number without an exponent. */\n"
        "function decimal(value: number): string | undefined {\n"
        "  const parts = /^(-?)(\\d+)(?:\\.(\\d+))?(?:e([+-]\\d+))?$/.exec(String(value));\n"
        "  if (parts === null) return undefined;\n"
        "  const [, sign = \"\", whole = \"\", fraction = \"\", exponent = \"0\"] = parts;\n"
        "  const digits = whole + fraction;\n"
        "  const point = whole.length + Number(exponent);\n"
        "  if (point <= 0) return `${sign}0.${\"0\".repeat(-point)}${digits}`;\n"
        "  if (point >= digits.length) return sign + digits + \"0\".repeat(point - digits.length);\n"
        "  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;\n"
        "}\n"
        "\n"
        "/** Parts put together; nothing if one is missing. */\n"
        "function join(...parts: unknown[]): string | undefined {\n"
        "  let whole = \"\";\n"
        "  for (const part of parts) {\n"
        "    const piece = text(part);\n"
        "    if (piece === undefined) return undefined;\n"
        "    whole += piece;\n"
        "  }\n"
        "  return whole;\n"
        "}\n"},
    [TS_LOWER] = {1U << TS_TEXT,
        "function lower(value: unknown): string | undefined {\n"
        "  return text(value)?.replace(/[A-Z]/g, (letter) => letter.toLowerCase());\n"
        "}\n"},
    [TS_UPPER] = {1U << TS_TEXT,
        "function upper(value: unknown): string | undefined {\n"
        "  return text(value)?.replace(/[a-z]/g, (letter) => letter.toUpperCase());\n"
        "}\n"},
    [TS_TRIM] = {1U << TS_TEXT,
        "function trim(value: unknown): string | undefined {\n"
        "  return text(value)?.replace(/^[ \\t-\\r]+|[ \\t-\\r]+$/g, \"\");\n"
        "}\n"},
    [TS_PAD] = {1U << TS_TEXT,
        "/** Zeros in front; of a number, of its digits before the point. */\n"
        "function pad(value: unknown, width: number): string | undefined {\n"
        "  const whole = text(value);\n"
        "  if (whole === undefined || typeof value !== \"number\") {\n"
        "    return whole === undefined ? whole : \"0\".repeat(Math.max(0, width - [...whole].length)) + whole;\n"
        "  }\n"
        "  const sign = whole.startsWith(\"-\") ? \"-\" : \"\";\n"
        "  const [digits = \"\", ...fraction] = whole.slice(sign.length).split(\".\");\n"
        "  return sign + [digits.padStart(width, \"0\"), ...fraction].join(\".\");\n"
        "}\n"},
    [TS_SHA256] = {1U << TS_TEXT,
        "/** The digest of the parts, each ended by a NUL. */\n"
        "function sha256(...parts: unknown[]): string | undefined {\n"
        "  const hash = createHash(\"sha256\");\n"
        "  for (const part of parts) {\n"
        "    const piece = text(part);\n"
        "    if (piece === undefined) return undefined;\n"
        "    hash.update(`${piece}\\0`);\n"
        "  }\n"
        "  return hash.digest(\"hex\");\n"
        "}\n"},
    [TS_ULID] = {0,
        "/** 48 bits of milliseconds and 80 of chance, so that ids sort by their time. */\n"
        "function ulid(now: Date): string {\n"
        "  const letters = \"0123456789ABCDEFGHJKMNPQRSTVWXYZ\";\n"
        "  let id = \"\";\n"
        "  for (let left = now.getTime(), i = 0; i < 10; i++, left = Math.floor(left / 32)) id = letters.charAt(left % 32) + id;\n"
        "  for (const byte of randomBytes(16)) id += letters.charAt(byte % 32);\n"
        "  return id;\n"
        "}\n"},
    [TS_SIZE] = {0,
        "function size(value: unknown): number | undefined {\n"
        "  if (typeof value === \"string\") return [...value].length;\n"
        "  if (value instanceof Set) return value.size;\n"
        "  if (value instanceof Uint8Array || Array.isArray(value)) return value.length;\n"
        "  return typeof value === \"object\" && value !== null ? Object.keys(value).length : undefined;\n"
        "}\n"},
    [TS_TIME] = {0,
        "const TIME = /^(\\d{4}-\\d\\d-\\d\\d)(?:T(\\d\\d:\\d\\d)(:\\d\\d)?(\\.\\d+)?(Z|[+-]\\d\\d(?::?\\d\\d)?))?$/;\n"
        "\n"
        "/** Seconds since 1970 of a timestamp, a date, or seconds; anything else stays what it is. */\n"
        "function seconds(value: unknown): number | undefined {\n"
        "  if (typeof value === \"number\") return value;\n"
        "  const parts = typeof value === \"string\" ? TIME.exec(value) : null;\n"
        "  if (parts === null) return undefined;\n"
        "  const [, day = \"\", minutes = \"00:00\", second = \":00\", , zone = \"Z\"] = parts;\n"
        "  const offset = zone.length === 3 ? `${zone}:00` : zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;\n"
        "  const time = Date.parse(`${day}T${minutes}${second}${offset}`);\n"
        "  return Number.isNaN(time) ? undefined : time / 1000;\n"
        "}\n"},
    [TS_TIMESTAMP] = {1U << TS_TEXT,
        "function timestamp(value: unknown): string | undefined {\n"
        "  return typeof value === \"number\" ? new Date(value * 1000).toISOString() : text(value);\n"
        "}\n"},
    [TS_DAY] = {1U << TS_TIME,
        "function day(value: unknown): string | undefined {\n"
        "  const time = seconds(value);\n"
        "  return time === undefined ? undefined : new Date(time * 1000).toISOString().slice(0, 10);\n"
        "}\n"},
    [TS_DATEPART] = {1U << TS_TIME,
        "/** A time by a pattern of yyyy mm dd HH MM SS, in UTC. */\n"
        "function datePart(value: unknown, pattern: string): string | undefined {\n"
        "  const time = seconds(value);\n"
        "  if (time === undefined) return undefined;\n"
        "  const iso = new Date(time * 1000).toISOString();\n"
        "  const parts: Record<string, string> = {\n"
        "    yyyy: iso.slice(0, 4), mm: iso.slice(5, 7), dd: iso.slice(8, 10),\n"
        "    HH: iso.slice(11, 13), MM: iso.slice(14, 16), SS: iso.slice(17, 19),\n"
        "  };\n"
        "  return pattern.replace(/yyyy|mm|dd|HH|MM|SS/g, (part) => parts[part] ?\? part);\n"
        "}\n"},
    [TS_SUM] = {1U << TS_TIME,
        "/** A time moved, in the form in which it is written. */\n"
        "function moved(time: string, by: number): string | undefined {\n"
        "  const parts = TIME.exec(time);\n"
        "  const start = seconds(time);\n"
        "  if (parts === null || start === undefined) return undefined;\n"
        "  const [, , minutes, second, fraction = \"\", zone = \"\"] = parts;\n"
        "  const [, sign = \"+\", hours = \"0\", rest = \"0\"] = /^([+-])(\\d\\d):?(\\d\\d)?$/.exec(zone) ?\? [];\n"
        "  const offset = (Number(hours) * 60 + Number(rest)) * (sign === \"-\" ? -60 : 60);\n"
        "  const iso = new Date((start + by + offset) * 1000).toISOString();\n"
        "  if (minutes === undefined) return iso.slice(0, 10);\n"
        "  const length = second === undefined && iso.slice(17, 19) === \"00\" ? 16 : 19;\n"
        "  return iso.slice(0, length) + fraction + zone;\n"
        "}\n"
        "\n"
        "/** A sum (sign 1) or a difference (sign -1) of numbers, or of a time and seconds. */\n"
        "function sum(a: unknown, b: unknown, sign: 1 | -1): number | string | undefined {\n"
        "  if (typeof a === \"number\" && typeof b === \"number\") return a + sign * b;\n"
        "  if (typeof a === \"string\" && typeof b === \"number\") return moved(a, sign * b);\n"
        "  if (typeof a === \"number\" && typeof b === \"string\" && sign === 1) return moved(b, a);\n"
        "  const [to, from] = [seconds(a), seconds(b)];\n"
        "  return to === undefined || from === undefined ? undefined : to - from;\n"
        "}\n"},
    [TS_STEP] = {0,
        "/** A member of an object, or of a member of it. */\n"
        "function step(value: unknown, ...names: string[]): unknown {\n"
        "  for (const name of names) value = typeof value === \"object\" && value !== null ? (value as Bag)[name] : undefined;\n"
        "  return value;\n"
        "}\n"},
    [TS_NESTED] = {0,
        "interface Field {\n"
        "  readonly fit?: (value: unknown) => unknown;\n"
        "  readonly make?: () => unknown;\n"
        "  readonly optional?: boolean;\n"
        "}\n"
        "\n"
        "/** The fields of an object in their normal form, with defaults. */\n"
        "function shape(value: unknown, put: boolean, fields: Record<string, Field>): unknown {\n"
        "  if (typeof value !== \"object\" || value === null || Array.isArray(value)) return value;\n"
        "  const made: Bag = { ...value };\n"
        "  for (const [name, field] of Object.entries(fields)) {\n"
        "    if (made[name] !== undefined) made[name] = field.fit === undefined ? made[name] : field.fit(made[name]);\n"
        "    else if (field.make !== undefined && (put || field.optional !== true)) made[name] = field.make();\n"
        "    if (made[name] === undefined) delete made[name];\n"
        "  }\n"
        "  return made;\n"
        "}\n"},
    [TS_EACH] = {0,
        "/** The members of a list or a record in their normal form. */\n"
        "function each(value: unknown, fit: (value: unknown) => unknown): unknown {\n"
        "  if (Array.isArray(value)) return value.map(fit);\n"
        "  if (typeof value !== \"object\" || value === null) return value;\n"
        "  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fit(member)]));\n"
        "}\n"},
    // clang-format on
};

void typescript_helpers(struct buf *out, unsigned wanted)
{
    for (size_t i = 0; i < TS_HELPERS; i++) {
        if ((wanted >> i & 1) != 0)
            wanted |= helpers[i].needs;
    }
    for (size_t i = 0; i < TS_HELPERS; i++) {
        if ((wanted >> i & 1) != 0)
            buf_printf(out, "\n%s", helpers[i].text);
    }
}
