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
    LIMIT_NOTES = 100,                // keys that are told of one call in the audit log
    LIMIT_WRITE_QUEUE = 16384,        // requests waiting for the writer; more are throttled
    // What a request may do on the thread of an event loop, whose other requests wait for it, about
    // 200 µs: bytes read (see engine.h), bytes of a body. The rest is done in the pool, where long
    // requests take turns after a few milliseconds.
    LIMIT_INLINE_WORK = 128 << 10,
    LIMIT_INLINE_BODY = 64 << 10,
    // How long a live pattern goes on by what policies said when it began. Its client then comes
    // again by itself, and misses nothing.
    LIMIT_LIVE_CALLER_S = 300,
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
    // What may follow from one part of a request (ADR 019): items, how far from the client's own,
    // their bytes, and the work of it, which the writer does at once: 5 to 10 ms.
    LIMIT_EFFECTS = 1000,
    LIMIT_EFFECTS_NAMED = 4000, // effects, of which several may be about one item
    LIMIT_EFFECTS_DEPTH = 32,
    LIMIT_EFFECTS_BYTES = 8 << 20,
    LIMIT_EFFECTS_WORK = 4 << 20,
    LIMIT_PLAN_TRIES = 8,     // how often, before items that keep changing are a conflict
    LIMIT_PLANNED = 16,       // jobs planned ahead of the writer, each of which holds its items
    LIMIT_GROUP_NS = 5000000, // how long one group commit gathers before it goes to disk

    // Objects (S3's, but for the documents).
    LIMIT_BUCKETS = 10000,
    LIMIT_OBJECT_KEY = 1024,             // bytes of a key
    LIMIT_OBJECT_META = 2048,            // bytes of user metadata
    LIMIT_OBJECT_TAGS = 10,              // of an object
    LIMIT_OBJECT_TAG_BYTES = 16 << 10,   // all of them, in UTF-8
    LIMIT_OBJECT_PARTS = 10000,          // of a multipart upload
    LIMIT_OBJECT_PART_MIN = 5 << 20,     // bytes of all parts but the last
    LIMIT_OBJECT_LIST = 1000,            // entries of a page, objects of one DeleteObjects
    LIMIT_OBJECT_DOCUMENT = 4 << 20,     // bytes of XML: ten thousand parts with their checksums
    LIMIT_OBJECT_CONFIG = 64 << 10,      // bytes of a CORS or lifecycle configuration
    LIMIT_OBJECT_CORS_RULES = 100,       // of a bucket
    LIMIT_OBJECT_LIFECYCLE_RULES = 1000, // of a bucket

    // Signatures: what a request may bring that is signed. Its head is no larger than HTTP's; the
    // canonical form has three bytes for one.
    LIMIT_SIGN_HEAD = 64 << 10,
    LIMIT_SIGN_CANONICAL = 256 << 10,
    LIMIT_SIGN_MEMORY = 1 << 20,
    LIMIT_SIGN_PARAMETERS = 512, // of a query
    LIMIT_SIGN_HEADERS = 128,
    LIMIT_SIGN_SECRET = 256,
    LIMIT_SIGN_NAME = 128, // a key's, a region's, a service's

    // Models (ours): far above what people write, so that what is checked pair by pair stays quick.
    LIMIT_MODEL_FILE = 1 << 20,      // bytes of a .dolmen file
    LIMIT_MODEL_MEMORY = 128 << 20,  // arena budget of a compiled model
    LIMIT_MODEL_NAME = 255,          // bytes of a name
    LIMIT_MODEL_NESTING = 32,        // of types and expressions; items nest no deeper
    LIMIT_MODEL_DECLARATIONS = 1000, // tables, entities, types, patterns, rules: of each in a file
    LIMIT_MODEL_MEMBERS = 1000,      // attributes of an entity, fields of an object, options
    LIMIT_MODEL_MIXINS = 16,         // of an entity
    LIMIT_MODEL_MIXED = 250000,      // words and marks that mixins add, as many as a file has
    LIMIT_MODEL_PROJECTS = 16,       // rules, each with a connection for each of its tables
    LIMIT_SQL_NAME = 63,             // bytes of a name in PostgreSQL, which cuts longer ones
    LIMIT_MODEL_PUBLISHES = 64,      // rules, each of which has a thread and its connections
    LIMIT_MODEL_UNIQUE = 8,          // attributes that are unique together
    LIMIT_MODEL_HIDDEN = 64,         // attributes of an entity that policies deny to some
    LIMIT_MODEL_TESTS = 32,          // comparisons in a clause of a test, and clauses
    LIMIT_MODEL_PARAMETERS = 32,     // of an access pattern; expressions in a template

    // Policies (AWS), in characters without white space: the inline policies of a role, of which a
    // managed policy may have 6,144; the session policies together; and a table's, in bytes.
    LIMIT_POLICY_IDENTITY = 10240,
    LIMIT_POLICY_MANAGED = 6144,
    LIMIT_POLICY_SESSION = 2048,
    LIMIT_POLICY_RESOURCE = 20 << 10,
    // Policies (ours): bytes with white space, arena budget of a compiled one, and of one pattern
    // the pieces between its wildcards and its variables.
    LIMIT_POLICY_TEXT = 64 << 10,
    LIMIT_POLICY_MEMORY = 16 << 20,
    LIMIT_POLICY_PIECES = 256,
    LIMIT_POLICY_VARIABLES = 16,

    // Identities (AWS's quotas): of an account, of a user, and of one of them.
    LIMIT_IDENTITY_USERS = 5000,
    LIMIT_IDENTITY_GROUPS = 300,
    LIMIT_IDENTITY_ROLES = 1000,
    LIMIT_IDENTITY_POLICIES = 1500,
    LIMIT_IDENTITY_KEYS = 2,
    LIMIT_IDENTITY_MEMBERSHIPS = 10,
    LIMIT_IDENTITY_ATTACHED = 10,
    LIMIT_IDENTITY_TAGS = 50,
    LIMIT_IDENTITY_INLINES = 10,       // ours; AWS's is of all their characters together
    LIMIT_IDENTITY_NAME = 128,         // of groups and policies; users and roles have 64
    LIMIT_IDENTITY_MEMORY = 256 << 20, // all of them in memory
    LIMIT_IDENTITY_RECORD = 1 << 20,
};

// Bytes of an object: S3's, 5 TB.
#define LIMIT_MODEL_OBJECT (UINT64_C(5) << 40)

// How long the change log waits for a consumer that does not get on: a week, as long as a queue
// would. It is the operator's disk that pays for it.
#define LIMIT_CONSUMER_BEHIND_MS (INT64_C(7) * 24 * 3600 * 1000)

// Bytes of an object that is put or copied at once, and of a part: S3's 5 GB.
#define LIMIT_OBJECT_PUT (UINT64_C(5) << 30)

#endif
