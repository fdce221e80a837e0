// For each rule of lint, a model that has the smell, and one that has not: what test_lint.c judges.
#ifndef LINT_SMELLS_H
#define LINT_SMELLS_H

#define TABLE                                                                                      \
    "table shop { key PK, SK  index GSI1 (GSI1PK, GSI1SK)  index GSI2 (GSI2PK, GSI2SK)  type "     \
    "kind }\n"
#define EMITS                                                                                      \
    "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid  state string }\n"                         \
    "entity Event { PK = \"E#{event}\" SK = \"x\"  event string = ulid()  type string\n"           \
    "  payload any?  state string = \"new\"  at timestamp = now() }\n"                             \
    "emit \"thing.{state}\" on insert of Thing into Event\n"
#define PARENT                                                                                     \
    TABLE "entity Owner { PK = \"O#{owner}\" SK = \"x\"  owner uuid }\n"                           \
          "entity Thing { PK = \"O#{owner}\" SK = \"T#{id}\"  id uuid\n"
#define POLICED                                                                                    \
    TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid  owner string  team string? }\n"
#define THING                                                                                      \
    TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"N#{name}\", \"{id}\"\n"             \
          "  id uuid = uuid()  name string  status string  fixed string immutable\n"               \
          "  mail email unique  files string[]  at timestamp = now() }\n"
#define NAMED "access named(name) = Thing via GSI1 where GSI1PK = \"N#{name}\"\n"
#define OWNED                                                                                      \
    TABLE "entity Thing { PK = \"O#{org}\" SK = \"{id}\"  id uuid unique  org uuid }\n"            \
          "tenant org\n"
#define SINK "project Thing into \"postgresql://me@db/things\" { "
#define READ "access things(id) = one Thing\n"

struct smell {
    const char *code;
    const char *smells; // a model that has it
    const char *where;  // text of the finding, or NULL
    const char *clean;  // nearly the same without it
};

static const struct smell smells[] = {
    {"L001",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"ALL\", \"{owner}#{id}\"  id uuid  "
           "owner uuid }\n",
     "every Thing is in one partition of GSI1",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"ALL#{owner}\", \"{id}\"  id uuid  "
           "owner uuid }\n"},
    {"L001",
     TABLE "entity Thing { PK = \"FLAGS\" SK = \"{name}\"  name string }\n"
           "entity Other { PK = \"FLAGS\" SK = \"O#{name}\"  name string }\n",
     "every item of Thing, Other is in one partition of the table",
     TABLE "entity Thing { PK = \"FLAGS\" SK = \"ALL\"  name string }\n"},
    {"L002",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"S#{status}\", \"{id}\"  id uuid  "
           "status \"on\" | \"off\" }\n",
     "share 2 partitions of GSI1",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"S#{status}#{at:yyyy-mm}\", "
           "\"{id}\"  id uuid  status \"on\" | \"off\"  at timestamp }\n"},
    {"L003", TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"P\", \"0\"  id uuid }\n",
     "is always \"0\": it cannot sort",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"P#{id}\", \"0\"  id uuid }\n"},
    {"L003",
     TABLE
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"P\", \"{on}\"  id uuid  on boolean }\n",
     "has 2 values only",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"P\", \"{on}#{id}\"  id uuid  on "
           "boolean }\n"},
    // Nothing need sort where a partition has one item.
    {"L003",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"M#{mail}\", \"0\"  id uuid  mail "
           "email }\n",
     "is always \"0\": it cannot sort",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"M#{mail}\", \"0\"  id uuid\n"
           "  mail email unique }\n"
           "entity Other { PK = \"O#{id}\" SK = \"{n}\"  GSI1 = \"N#{n}\", \"0\"  id uuid\n"
           "  n uuid = uuid() }\n"},
    {"L004",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"V#{version}\"  id uuid  version integer }\n",
     "version of Thing sorts as text in the table",
     TABLE
     "entity Thing { PK = \"T#{id}\" SK = \"V#{version:pad(8)}\"  id uuid  version integer }\n"},
    {"L004",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"V#{appVersion}\"  id uuid  appVersion string }\n",
     "appVersion of Thing sorts as text",
     "table shop { key id, n number }\nentity Thing { id uuid  n number }\n"},
    {"L005",
     TABLE
     "entity Thing { PK = \"T#{id}\" SK = \"V#{n:pad(3)}\"  id uuid  n integer(0..100000) }\n",
     "pad(3) is too narrow for n in the table, which may have 6 digits",
     TABLE
     "entity Thing { PK = \"T#{id}\" SK = \"V#{n:pad(6)}\"  id uuid  n integer(0..100000) }\n"},
    {"L005",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"V#{n:pad(6)}\"  id uuid  n integer(-5..100) }\n",
     "n may be negative",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"V#{n:pad(6)}\"  id uuid  n integer(0..100) }\n"},
    {"L006",
     TABLE "entity Thing { PK = \"S#{id}\" SK = \"A\"  id uuid }\n"
           "entity Other { PK = \"S#{other}\" SK = \"A\"  other string }\n",
     "Thing and Other can have the same key: PK = \"S#",
     TABLE "entity Thing { PK = \"S#{id}\" SK = \"A\"  id uuid }\n"
           "entity Other { PK = \"S#{other}\" SK = \"B\"  other string }\n"},
    {"L006",
     TABLE
     "entity Thing { PK = \"S#{id}\" SK = \"X#{how}#{id}\"  id uuid  how \"like\" | \"mark\" }\n"
     "entity Other { PK = \"S#{id}\" SK = \"X#like#{of}\"  id uuid  of string }\n",
     "X#like#",
     TABLE
     "entity Thing { PK = \"S#{id}\" SK = \"X#{how}#{id}\"  id uuid  how \"like\" | \"mark\" }\n"
     "entity Other { PK = \"S#{id}\" SK = \"X#note#{of}\"  id uuid  of string }\n"},
    {"L007",
     "table shop { key PK, SK }\n"
     "entity Thing { PK = \"S#{id}\" SK = \"A\"  id uuid }\n"
     "entity Other { PK = \"S#{other}\" SK = \"A\"  other uuid  x string }\n",
     "a key does not tell Other from Thing",
     "table shop { key PK, SK }\n"
     "entity Thing { PK = \"S#{id}\" SK = \"A\"  id uuid }\n"
     "entity Other { PK = \"S#{other}\" SK = \"A#{n:pad(4)}\"  other uuid  n integer(0..9999) }\n"},
    {"L008", TABLE "entity Thing { PK = \"T#{id}\" SK = \"{status}\"  id uuid  status string }\n",
     "status is in the primary key of Thing, and sounds like something that changes",
     TABLE
     "entity Thing { PK = \"T#{id}\" SK = \"{status}\"  id uuid  status string immutable }\n"},
    {"L008",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"{at}#{id}\"  id uuid  at timestamp = now() on "
           "update }\n",
     "is set again at each write",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"{at}#{id}\"  id uuid  at timestamp = now() }\n"},
    {"L009", TABLE "entity Thing { PK = \"T#{id}\" SK = \"E#{at}\"  id uuid  at timestamp }\n",
     "only the time at tells two Thing items of a partition apart",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"E#{at}#{eventId}\"  id uuid  at timestamp  "
           "eventId uuid }\n"},
    {"L010", TABLE "entity Thing { PK = \"T#{a}{b}\" SK = \"A\"  a string  b string }\n",
     "follow each other without a delimiter in \"T#{a}{b}\"",
     TABLE "entity Thing { PK = \"T#{a}#{b}\" SK = \"A\"  a string  b string }\n"},
    {"L011", TABLE "entity Thing { PK = \"T#{tag}#{id}\" SK = \"A\"  tag string  id uuid }\n",
     "tag of Thing is free text and is followed by '#'",
     TABLE "entity Thing { PK = \"T#{id}#{tag}\" SK = \"A\"  tag string  id uuid }\n"},
    {"L012",
     TABLE
     "entity Thing { PK = \"T#{id}\" SK = \"{createdAt}#{id}\"  id uuid  createdAt string }\n",
     "createdAt of Thing is a time and sorts, but may be of any form",
     TABLE
     "entity Thing { PK = \"T#{id}\" SK = \"{createdAt}#{id}\"  id uuid  createdAt timestamp }\n"},
    {"L012",
     TABLE
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"F\", \"{at}\"  id uuid  at timestamp }\n"
     "entity Other { PK = \"O#{id}\" SK = \"A\"  GSI1 = \"F\", \"{at}\"  id uuid  at date }\n",
     "one sorts by a timestamp with milliseconds and the other by a date",
     TABLE
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"F\", \"{at}\"  id uuid  at timestamp }\n"
     "entity Other { PK = \"O#{id}\" SK = \"A\"  GSI1 = \"G\", \"{at}\"  id uuid  at date }\n"},
    {"L013",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"O#{old}\", \"{id}\"  id uuid  old "
           "uuid? deprecated }\n",
     "the deprecated old is part of the key of Thing in GSI1",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"O#{new}\", \"{id}\"  id uuid  new "
           "uuid?  old uuid? deprecated }\n"},
    {"L014",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"O#{owner}\", \"{id}\"  id uuid  "
           "owner uuid }\n" READ,
     "no access pattern uses GSI1",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"O#{owner}\", \"{id}\"  id uuid  "
           "owner uuid }\n" READ "access ofOwner(owner) = Thing via GSI1\n"},
    {"L015", TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid }\n",
     "no entity fills GSI1PK of shop, so GSI1 stays empty",
     "table shop { key PK, SK }\nentity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid }\n"},
    {"L016",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"O#{owner}\", \"{at}\"  GSI2 = "
           "\"O#{owner}\", \"{at}\"  id uuid  owner uuid  at timestamp }\n",
     "Thing has the same keys in GSI1 and GSI2",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"O#{owner}\", \"{at}\"  GSI2 = "
           "\"P#{id}\", \"{at}\"  id uuid  owner uuid  at timestamp }\n"},
    {"L016",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"BY_{on}\", \"{owner}#{id}\"  GSI2 "
           "= \"ALL\", \"{owner}#{id}\"  id uuid  owner uuid  on boolean }\n",
     "Thing is kept in GSI1 and GSI2 in the same order",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"BY_{on}\", \"{owner}#{id}\"  GSI2 "
           "= \"ALL\", \"{id}\"  id uuid  owner uuid  on boolean }\n"},
    {"L017",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"O#{owner}\", \"{id}\"  id uuid  "
           "owner uuid  pages string[](100..100) }\n",
     "GSI1 projects all of an item",
     "table shop { key PK, SK  index GSI1 (GSI1PK, GSI1SK) project keys }\n"
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"O#{owner}\", \"{id}\"  id uuid  owner "
     "uuid  pages string[](100..100) }\n"},
    {"L018",
     "table shop { key PK, SK  index inA (a, b)  index inB (c, d)  index inC (e, f) }\n"
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  inA = \"{x}\", \"{id}\"  inB = \"{x}1\", \"{id}\" "
     " inC = \"{x}2\", \"{id}\"  id uuid  x uuid  pages string[](100..100) }\n",
     "a new Thing costs ",
     "table shop { key PK, SK  index inA (a, b)  index inB (c, d)  index inC (e, f) }\n"
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  inA = \"{x}\", \"{id}\"  inB = \"{x}1\", \"{id}\" "
     " inC = \"{x}2\", \"{id}\"  id uuid  x uuid }\n"},
    {"L019",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"X#{n}\"  id uuid  n uuid  on boolean }\n"
           "access things(id) = Thing filter on = true\n",
     "things reads items of the table and throws away those whose on does not fit",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"X#{n}\"  id uuid  n uuid  on boolean }\n"
           "access things(id) = Thing\n"},
    {"L020",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"ALL\", \"{id}\"  id uuid }\n"
           "access all() = Thing via GSI1\n",
     "all has neither a parameter nor a limit: it reads a whole partition of GSI1",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"ALL\", \"{id}\"  id uuid }\n"
           "access all() = Thing via GSI1 limit 20\n"},
    {"L021",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"X#{n}\"  id uuid  n uuid }\n"
           "entity Other { PK = \"T#{id}\" SK = \"Y#{n}\"  id uuid  n uuid }\n"
           "access things(id) = Thing where SK >= \"X\"\n",
     "things also reads Other",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"X#{n}\"  id uuid  n uuid }\n"
           "entity Other { PK = \"T#{id}\" SK = \"Y#{n}\"  id uuid  n uuid }\n"
           "access things(id) = Thing where SK begins \"X#\"\n"},
    // What a table says of separators leaves alone what cannot hold one.
    {"L021",
     "table shop { key PK, SK  separator \"#\" forbid }\n"
     "entity Thing { PK = \"T#{kind}\" SK = \"{n}\"  kind \"a\" | \"b#\"  n uuid }\n"
     "entity Other { PK = \"T#c\" SK = \"{n}\"  n uuid }\n"
     "access others() = Other limit 9\n",
     "others also reads Thing",
     "table shop { key PK, SK  separator \"#\" forbid }\n"
     "entity Thing { PK = \"T#{kind}\" SK = \"{n}\"  kind \"a\" | \"b\" | null  n uuid }\n"
     "entity Other { PK = \"T#c\" SK = \"{n}\"  n uuid }\n"
     "access others() = Other limit 9\n"},
    {"L022",
     TABLE "entity Thing { PK = \"T\" SK = \"U#{user}#{n}\"  user string  n uuid }\n"
           "access things(user) = Thing where SK begins \"U#{user}\"\n",
     "the prefix of things ends with {user}",
     TABLE "entity Thing { PK = \"T\" SK = \"U#{user}#{n}\"  user string  n uuid }\n"
           "access things(user) = Thing where SK begins \"U#{user}#\"\n"},
    {"L023",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"O#{owner}\", \"0\"  id uuid  owner "
           "uuid }\n"
           "access things(owner) = Thing via GSI1 newest first\n",
     "things asks for an order, but nothing sorts its items in GSI1",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"O#{owner}\", \"{at}\"  id uuid  "
           "owner uuid  at timestamp }\n"
           "access things(owner) = Thing via GSI1 newest first\n"},
    {"L024",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"M#{mail}\", \"A\"  id uuid  mail "
           "email lower }\n"
           "access byMail(mail) = one Thing via GSI1\n",
     "byMail promises one Thing, but nothing keeps two from having the same key",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"M#{mail}\", \"A\"  id uuid  mail "
           "email unique lower }\n"
           "access byMail(mail) = one Thing via GSI1\n"},
    {"L024",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"O#{org}\", \"{slug}\"\n"
           "  id uuid  org string  slug string }\n"
           "access bySlug(org, slug) = one Thing via GSI1\n",
     "bySlug promises one Thing",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"O#{org}\", \"{slug}\"\n"
           "  unique (org, slug)\n  id uuid  org string  slug string }\n"
           "access bySlug(org, slug) = one Thing via GSI1\n"},
    {"L025",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid }\nentity Other { PK = \"O#{id}\" "
           "SK = \"A\"  id uuid }\n" READ,
     "no access pattern reads Other",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid }\n" READ},
    {"L026", "table shop { key id  ttl ttl }\nentity Thing { id uuid  ttl number? }\n",
     "ttl of Thing says when an item expires, but is not of type epoch",
     "table shop { key id  ttl ttl }\nentity Thing { id uuid  ttl epoch? }\n"},
    {"L027", "table shop { key id }\nentity Thing { id uuid  ttl epoch? }\n",
     "ttl of Thing sounds like an expiry",
     "table shop { key id  ttl ttl }\nentity Thing { id uuid  ttl epoch? }\n"},
    {"L027", "table shop { key id  ttl gone }\nentity Thing { id uuid }\n",
     "no entity of shop has gone",
     "table shop { key id  ttl gone }\nentity Thing { id uuid  gone epoch? }\n"},
    {"L028", "table shop { key id }\nentity Thing { id uuid  email email unique }\n",
     "email of Thing is unique as it is written",
     "table shop { key id }\nentity Thing { id uuid  email email unique lower }\n"},
    {"L029", "table shop { key id }\nentity Thing { id uuid  phone string? unique }\n",
     "phone of Thing is unique, but need not be there",
     "table shop { key id }\nentity Thing { id uuid  phone string unique }\n"},
    {"L030", "table shop { key id }\nentity Thing { id string  x string }\n",
     "id is in the primary key of Thing without being immutable",
     "table shop { key id }\nentity Thing { id string immutable  x string }\n"},
    {"L031",
     "table shop { key id, n  local index loc (id, x) for all }\nentity Thing { id uuid  n string  "
     "x "
     "string? }\n",
     "loc is a local index of shop",
     "table shop { key id, n  index loc (id, x) for all }\nentity Thing { id uuid  n string  x "
     "string? "
     "}\n"},
    {"L032", "table shop { key id }\nentity Thing { id uuid  lines { a: string }[] }\n",
     "lines of Thing is a list of objects without an end",
     "table shop { key id }\nentity Thing { id uuid  lines { a: string }[](0..50) }\n"},
    {"L033",
     "table shop { key id  index byDay (day)  type kind }\nentity Thing { id uuid  day date }\n",
     "Thing has the attributes of byDay, but is not in it",
     "table shop { key id  index byDay (day)  type kind }\n"
     "entity Thing { id uuid  day date  byDay = day }\n"},
    {"L034",
     "table shop { key id  index byDay (day) project (title) for all }\n"
     "entity Thing { id uuid  day date  title string  note string  size number? }\n"
     "access ofDay(day) = Thing via byDay\n",
     "ofDay returns Thing without note, size, which byDay does not have",
     "table shop { key id  index byDay (day) project (title, note, size) for all }\n"
     "entity Thing { id uuid  day date  title string  note string  size number? }\n"
     "access ofDay(day) = Thing via byDay\n"},
    {"L035",
     "table shop { key id  index byDay (day) project (title) for all }\n"
     "entity Thing { id uuid  day date  title string  size number }\n"
     "access large(day, least: number) = Thing via byDay filter title exists and size > least\n",
     "large filters by size, which byDay does not have",
     "table shop { key id  index byDay (day) project (title, size) for all }\n"
     "entity Thing { id uuid  day date  title string  size number }\n"
     "access large(day, least: number) = Thing via byDay filter title exists and size > least\n"},
    // Rules about rules.
    {"L036",
     TABLE "entity Total { PK = \"TOTAL\" SK = \"x\"  things number = count of Thing }\n"
           "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid }\n",
     "every write of Thing changes the one Total",
     TABLE
     "entity Total { PK = \"O#{owner}\" SK = \"x\"  owner uuid  things number = count of Thing }\n"
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid  owner uuid }\n"},
    {"L037",
     TABLE
     "entity Owner { PK = \"O#{owner}\" SK = \"x\"  GSI1 = \"ALL#{owner}\", \"{things:pad(9)}\"\n"
     "  owner uuid  things number = count of Thing }\n"
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid  owner uuid }\n",
     "each Thing that comes or goes moves an entry of GSI1",
     TABLE "entity Owner { PK = \"O#{owner}\" SK = \"x\"  GSI1 = \"ALL#{owner}\", \"{owner}\"\n"
           "  owner uuid  things number = count of Thing }\n"
           "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid  owner uuid }\n"},
    {"L038", TABLE EMITS, "events are written into Event, and nothing reads them",
     "table shop { key PK, SK  type kind  stream new_image }\n" EMITS},
    {"L039", TABLE EMITS, "nothing removes Event items, of which each change of Thing makes one",
     TABLE EMITS "retain Event for 30d then delete\n"},
    {"L040", PARENT "  owner uuid references Owner }\n",
     "deleting one Owner leaves Thing items that refer to nothing",
     PARENT "  owner uuid references Owner on delete reject }\n"},
    {"L041", PARENT "  owner uuid references Owner on delete cascade }\n",
     "deleting one Owner changes all Thing items that refer to it",
     PARENT "  owner uuid references Owner on delete reject }\n"},
    {"L042",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid  at timestamp }\n"
           "retain Thing for 10m after at then delete\n",
     "Thing items are removed by a sweep, which comes once an hour",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid  at timestamp }\n"
           "retain Thing for 1d after at then delete\n"},
    {"L044",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid }\n"
           "entity Other { PK = \"O#{org}\" SK = \"{id}\"  id uuid  org uuid }\n"
           "tenant org\n",
     "no tenant can see Thing: org is not in its partition key",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  shared\n  id uuid }\n"
           "entity Other { PK = \"O#{org}\" SK = \"{id}\"  id uuid  org uuid }\n"
           "tenant org\n"},
    {"L045",
     TABLE "entity Thing { PK = \"O#{org}\" SK = \"{id}\"  GSI1 = \"S#{state}\", \"{id}\"\n"
           "  id uuid  org uuid  state string }\n"
           "tenant org\n",
     "Thing items of all tenants share partitions of GSI1",
     TABLE "entity Thing { PK = \"O#{org}\" SK = \"{id}\"  GSI1 = \"S#{org}#{state}\", \"{id}\"\n"
           "  id uuid  org uuid  state string }\n"
           "tenant org\n"},
    {"L046",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"S#{state}\", \"{id}\"\n"
           "  softdelete gone\n  id uuid  state string  gone timestamp? }\n",
     "Thing items that are deleted stay in GSI1",
     TABLE
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  GSI1 = \"S#{state}\", \"{id}\" when gone missing\n"
     "  softdelete gone\n  id uuid  state string  gone timestamp? }\n"},
    {"L047",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  moves state: \"a\" -> \"b\"\n"
           "  id uuid  state \"a\" | \"b\" | \"c\" = \"a\" }\n",
     "no step of Thing.state leads to \"c\" or leaves it",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  moves state: \"a\" -> \"b\" -> \"c\"\n"
           "  id uuid  state \"a\" | \"b\" | \"c\" = \"a\" }\n"},
    {"L047",
     TABLE
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  moves state: \"a\" -> \"b\", \"c\" -> \"b\"\n"
     "  id uuid  state \"a\" | \"b\" | \"c\" = \"a\" }\n",
     "no step of Thing.state leads to \"c\": only a new item can have it",
     TABLE
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  moves state: \"a\" -> \"b\", \"c\" -> \"b\"\n"
     "  id uuid  state \"a\" | \"b\" | \"c\" }\n"},
    {"L048",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  check n > 10 \"too small\"\n"
           "  id uuid  n number(0..10) }\n",
     "no Thing passes: the types allow nothing for which n > 10",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  check n >= 10 \"too small\"\n"
           "  id uuid  n number(0..10) }\n"},
    {"L043",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  append only  id uuid  at timestamp }\n"
           "retain Thing for 90d after at then delete\n",
     "Thing is append only, and is deleted after a while",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  append only  id uuid  at timestamp }\n"
           "retain Thing for 90d after at then archive\n"},
    {"L049", TABLE EMITS "publish Event to \"https://example.com/hook\"\n",
     "Event items do not tell whether they were delivered",
     TABLE EMITS "publish Event to \"https://example.com/hook\" { mark state = \"sent\" }\n"},
    {"L050",
     TABLE
     "entity Owner { PK = \"O#{owner}\" SK = \"x\"  owner uuid  used number = 0  end timestamp? }\n"
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid  owner uuid }\n"
     "quota Owner.used at most 3 counting Thing\n",
     "Owner.used only grows, and nothing resets it",
     TABLE
     "entity Owner { PK = \"O#{owner}\" SK = \"x\"  owner uuid  used number = 0  end timestamp? }\n"
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid  owner uuid }\n"
     "quota Owner.used at most 3 per month resets end counting Thing\n"},
    {"L051", THING "object Thing.file = \"files/{name}.jpg\" signed 10m\n",
     "two Thing items can have the same file: files/{name}.jpg",
     THING "object Thing.file = \"files/{id}.jpg\" signed 10m\n"},
    // Days are shared, texts that somebody chooses are: only the whole key is not.
    {"L051",
     TABLE "entity Thing { PK = \"O#{owner}\" SK = \"{name}\"  owner string  name string\n"
           "  at timestamp = now() }\n"
           "object Thing.file = \"{at:yyyy/mm/dd}/{name}.jpg\" signed 10m\n",
     "two Thing items can have the same file",
     TABLE "entity Thing { PK = \"O#{owner}\" SK = \"{name}\"  owner string  name string\n"
           "  at timestamp = now() }\n"
           "object Thing.file = \"{owner}/{name}.jpg\" signed 10m\n"},
    {"L051", THING "object Thing.files[] = \"files/{id}\" signed 10m\n",
     "all members of files share one object",
     THING "object Thing.files[] = \"files/{id}/{each()}\" signed 10m\n"},
    {"L051",
     THING "object Thing.small = \"files/{id}.jpg\" signed 10m\n"
           "object Thing.large = \"files/{id}.jpg\" signed 10m\n",
     "Thing.large can have the path of an object Thing.small",
     THING "object Thing.small = \"files/{id}.jpg\" signed 10m\n"
           "object Thing.large = \"files/{id}.jpg\" signed 10m { in \"s3://other\" }\n"},
    {"L051",
     TABLE "entity One { PK = \"1#{name}\" SK = \"A\"  name string }\n"
           "entity Two { PK = \"2#{name}\" SK = \"A\"  name string }\n"
           "object One.file = \"files/{name}\" signed 10m\n"
           "object Two.file = \"files/{name}\" signed 10m\n",
     "Two.file can have the path of an object One.file",
     TABLE "entity One { PK = \"1#{name}\" SK = \"A\"  name string }\n"
           "entity Two { PK = \"2#{name}\" SK = \"A\"  name string }\n"
           "object One.file = \"one/{name}\" signed 10m\n"
           "object Two.file = \"two/{name}\" signed 10m\n"},
    {"L052", THING "object Thing.file = \"{status}/{id}.jpg\" signed 10m\n",
     "status is in the path of Thing.file, and sounds like something that changes",
     THING "object Thing.file = \"{name}/{id}.jpg\" signed 10m\n"},
    {"L053", THING "object Thing.file = \"{name}/{id}.jpg\" signed 10m\n",
     "name is in the path of Thing.file, and may be changed",
     THING "object Thing.file = \"{fixed}/{id}.jpg\" signed 10m\n"},
    {"L054",
     THING "retain Thing for 90d after at then delete\n"
           "object Thing.file = \"{id}.jpg\" signed 10m\n",
     "Thing items are removed after a while, and the objects file stay",
     THING "retain Thing for 90d after at then delete\n"
           "object Thing.file = \"{id}.jpg\" signed 10m { on delete delete }\n"},
    {"L055", THING "object Thing.file = \"{id}.jpg\" signed 10m\n",
     "Thing.file can be uploaded with any type and size",
     THING "object Thing.file = \"{id}.jpg\" signed 10m { type \"image/jpeg\"  at most 10MB }\n"},
    {"L055", THING "object Thing.file = \"{id}.jpg\" signed 10m { type \"image/jpeg\" }\n",
     "Thing.file can be uploaded with any size",
     THING "object Thing.file = \"{id}.jpg\" signed 10m { type \"image/jpeg\"  at most 10MB }\n"},
    {"L056", THING SINK "Thing as \"things\" { mail  name  key (mail) } }\n",
     "a row of \"things\" is another one once its mail changes",
     THING SINK "Thing as \"things\" { id  mail  key (id) } }\n"},
    {"L057", THING NAMED SINK "Thing as \"things\" { id  name  key (id) } }\n",
     "no index of \"things\" begins with name, by which named finds items",
     THING NAMED SINK "Thing as \"things\" { id  name  key (id)  index (name, id) } }\n"},
    {"L057", THING NAMED SINK "Thing as \"things\" { index (at) } }\n",
     "no index of \"things\" begins with name", THING NAMED SINK "Thing as \"things\" { } }\n"},
    {"L058",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  softdelete gone\n"
           "  id uuid  gone timestamp? }\n" SINK "Thing as \"things\" { id } }\n",
     "\"things\" keeps the rows of deleted items, and no column tells them apart",
     TABLE "entity Thing { PK = \"T#{id}\" SK = \"A\"  softdelete gone\n"
           "  id uuid  gone timestamp? }\n" SINK "Thing as \"things\" { id  gone } }\n"},
    {"L059", OWNED SINK "Thing as \"things\" { id  key (id) } }\n",
     "rows of \"things\" do not say whose they are: every role sees all of them",
     OWNED SINK "Thing as \"things\" { id  org  key (id) } }\n"},
    {"L059", OWNED SINK "Thing as \"things\" { except (org)  key (id) } }\n",
     "rows of \"things\" do not say whose they are: every role sees all of them",
     OWNED SINK "tenant  Thing as \"things\" { except (org)  key (id) } }\n"},
    {"L060", THING "project Thing into \"postgresql://me:secret@db/things\"\n",
     "whoever reads the model reads the password",
     THING "project Thing into \"postgresql://me@db:5432/things\"\n"},
    {"L060", THING "project Thing into \"postgresql://db/things?user=me&password=secret\"\n",
     "whoever reads the model reads the password",
     THING "project Thing into \"postgresql:///things?host=/run/a:b@c\"\n"},
    {"L061", THING "project Thing\n",
     "`dolmen project` reads the stream of shop, which has no new and old images",
     "table shop { key PK, SK  type kind  stream new_and_old_images }\n"
     "entity Thing { PK = \"T#{id}\" SK = \"A\"  id uuid }\nproject Thing\n"},
    {"L062", POLICED "allow insert Thing to actor.user = owner\n",
     "no policy lets anyone read Thing: items can be inserted, and nothing else",
     POLICED "allow read, insert Thing to actor.user = owner\n"},
    {"L063",
     POLICED "access thing(id) = one Thing\n"
             "allow insert Thing to actor.user = owner\n",
     "no policy lets anyone read what thing returns",
     POLICED "access thing(id) = one Thing\n"
             "allow read, insert Thing to actor.user = owner\n"},
    {"L064",
     POLICED "allow read Thing to actor.user = owner\n"
             "allow read, update Thing to actor.team = team\n",
     "whoever this allows can change owner, which another policy of Thing asks for",
     POLICED "allow read, delete Thing to actor.user = owner\n"
             "allow read, update Thing to actor.team = team\n"
             "deny update of owner of Thing unless actor.user = owner\n"},
    // Whom a literal names is trusted; what a rule itself asks for cannot be changed by it.
    {"L064",
     POLICED "allow read Thing to actor.user = owner\n"
             "allow update Thing\n",
     "whoever this allows can change owner, which another policy of Thing asks for",
     POLICED "allow read Thing to actor.user = owner\n"
             "allow update Thing to actor.role = \"admin\"\n"
             "allow update Thing to actor.user = owner\n"},
    {"L065",
     POLICED "allow read Thing to actor.user = owner\n"
             "allow delete Thing to actor.usr = owner\n",
     "the tag \"usr\" is asked for only here; did you mean \"user\"?",
     POLICED "allow read Thing to actor.user = owner\n"
             "allow delete Thing to actor.user = owner\n"},
};

#endif
