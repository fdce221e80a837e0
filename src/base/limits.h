// Every limit of the system in one place, each with its reason. "AWS" marks the
// figures of the DynamoDB service; the others are ours.
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum {
    // Items (AWS).
    LIMIT_ITEM_SIZE = 409600,       // 400 KB by AWS's size formula; one byte more is refused
    LIMIT_PARTITION_KEY = 2048,     // bytes of a partition key value
    LIMIT_SORT_KEY = 1024,          // bytes of a sort key value
    LIMIT_NESTING = 32,             // levels of lists and maps
    LIMIT_ATTRIBUTE_NAME = 65535,   // bytes of an attribute name
    LIMIT_KEY_ATTRIBUTE_NAME = 255, // characters of a key attribute's name
    LIMIT_NUMBER_DIGITS = 38,       // significant digits

    // Tables (AWS).
    LIMIT_LSI = 5,
    LIMIT_GSI = 20,
    LIMIT_INDEXES = LIMIT_LSI + LIMIT_GSI,
    LIMIT_VECTOR_INDEXES = 5,
    LIMIT_DIMENSIONS = 4096,          // of a vector
    LIMIT_TOP_K = 100,                // results of one SearchVectors
    LIMIT_KEY_PARTS = 4,              // attributes in each half of a GSI key
    LIMIT_PROJECTED_ATTRIBUTES = 100, // over all indexes of a table (INCLUDE)
    LIMIT_NON_KEY_ATTRIBUTES = 20,    // of one of them, in a request
    LIMIT_TABLE_NAME_MIN = 3,
    LIMIT_TABLE_NAME_MAX = 255,
    LIMIT_TABLES = 2500, // AWS's default quota is an account setting; ours is memory

    // Expressions (AWS).
    LIMIT_EXPRESSION = 4096,     // bytes of one expression
    LIMIT_OPERATORS = 300,       // operators and functions in one expression
    LIMIT_EXPRESSION_NAME = 255, // bytes of one placeholder or name in an expression
    LIMIT_IN_OPERANDS = 100,     // operands of IN
    // Ours: entries of Expected, a filter, AttributeUpdates or AttributesToGet. Expressions are
    // bounded by their size; this bounds what the old parameters ask of one item.
    LIMIT_LEGACY_ENTRIES = 2000,

    // Requests (AWS).
    LIMIT_PAGE = 1 << 20, // bytes read by one Query or Scan page
    LIMIT_BATCH_WRITE = 25,
    LIMIT_BATCH_GET = 100,
    LIMIT_BATCH_BYTES = 16 << 20,
    LIMIT_TRANSACT = 100,
    LIMIT_STATEMENT = 8192,      // characters of a PartiQL statement
    LIMIT_BATCH_STATEMENTS = 25, // of one BatchExecuteStatement
    LIMIT_IN_KEYS = 50,          // values of IN on the partition key in a PartiQL statement
    LIMIT_TRANSACT_BYTES = 4 << 20,
    LIMIT_SEGMENTS = 1000000,
    LIMIT_IDEMPOTENCY_MS = 10 * 60 * 1000,

    // Requests (ours).
    LIMIT_BODY = 16 << 20,  // bytes of a request body; AWS's 16 MB batch is the largest
    LIMIT_JSON_DEPTH = 256, // 32 levels of values are 64 of JSON; more, to name what is too deep
    // A transaction may read 4 MB, and lists of 1E-130, which is written out in full, are 47 times
    // as large in JSON. Nothing else comes near it.
    LIMIT_RESPONSE = 208 << 20,
    LIMIT_BATCH_RESPONSE = 32 << 20,  // where a batch leaves the rest for the next one
    LIMIT_REQUEST_MEMORY = 256 << 20, // arena budget of one request
    LIMIT_WRITE_QUEUE = 16384,        // requests waiting for the writer; more are throttled
    // What a request may do on the thread of an event loop, whose other requests wait for it, about
    // 200 µs: bytes read (see engine.h), bytes of a body. The rest is done in the pool, where long
    // requests take turns after a few milliseconds.
    LIMIT_INLINE_WORK = 128 << 10,
    LIMIT_INLINE_BODY = 64 << 10,
    LIMIT_SLICE_WORK = 2 << 20,
    // What 400 KB by AWS's formula are at most in our bytes (eight for two, in a list of sets of
    // one byte), and as JSON (68 for one, in sets of numbers like 1e-130); a change has two items.
    LIMIT_ITEM_BYTES = 4 << 20,
    LIMIT_ITEM_JSON = 32 << 20,
    LIMIT_CHANGE_JSON = 2 * LIMIT_ITEM_JSON,
    LIMIT_INLINE_STEPS = 50000,  // of guards, which count steps (see below): also 200 µs
    LIMIT_INDEX_COPY = 2 << 10,  // a larger index entry refers to its item (ADR 014)
    LIMIT_GROUP_BYTES = 1 << 20, // bytes one group commit gathers before it goes to disk
    // Unique values that one transaction takes or gives back: each is a record, and all of them are
    // one commit. 100 for each of its items; the writer takes 10 to 20 ms for it.
    LIMIT_TRANSACT_CLAIMS = 10000,
    LIMIT_SMALL_WRITE = 64 << 10, // bytes that a request reads and writes ahead of larger ones

    // Work (ours), in steps of about 4 ns: see steps.h.
    LIMIT_PAGE_WORK = 25 << 20, // filter and projection of one page, which ends there: 100 ms
    LIMIT_WRITER_WORK = 100000, // of one job in the writer; more is planned beside it: 0.4 ms
    LIMIT_QUICK_WORK = 2500000, // of one job beside it, before it goes behind the quick ones: 10 ms
    // What the model's guard may take for one item, 70 ms, and for a whole transaction. Items of
    // 400 KB with a union of ten types at each member need a tenth of it.
    LIMIT_GUARD_WORK = 16 << 20,
    LIMIT_TRANSACT_GUARD_WORK = 4 * LIMIT_GUARD_WORK,
    LIMIT_PLAN_TRIES = 8,     // how often, before items that keep changing are a conflict
    LIMIT_PLANNED = 16,       // jobs planned ahead of the writer, each of which holds its items
    LIMIT_GROUP_NS = 5000000, // how long one group commit gathers before it goes to disk

    // Models (ours): far above what people write, so that what is checked pair by pair stays quick.
    LIMIT_MODEL_FILE = 1 << 20,      // bytes of a .dolmen file
    LIMIT_MODEL_MEMORY = 128 << 20,  // arena budget of a compiled model
    LIMIT_MODEL_NAME = 255,          // bytes of a name
    LIMIT_MODEL_NESTING = 32,        // of types and expressions; items nest no deeper
    LIMIT_MODEL_DECLARATIONS = 1000, // tables, entities, types, patterns, rules: of each in a file
    LIMIT_MODEL_MEMBERS = 1000,      // attributes of an entity, fields of an object, options
    LIMIT_MODEL_PARAMETERS = 32,     // of an access pattern; expressions in a template
};

#endif
