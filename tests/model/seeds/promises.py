"""What the documents promise of a model, as probes: requests with the answers that they must get.

A file of promises says again, in the words of the documents, what the model says in its own. It knows nothing of the
model: so what is broken there is noticed here.

    table NAME                     and what DescribeTable and its sisters must say of it:
      key PK SK    index NAME PK SK/N    ttl NAME    type NAME    stream VIEW    recovery on    billing on_demand
      unknown allow  (attributes that nobody declares; else warn)
      forbidden #  (in text that keys of several parts are made of, unless they say {a:raw})
    type NAME = TYPE               see values.py
    entity NAME                    of the table above; each line a key or an attribute
      GSI1SK = {createdAt}#{id}    {a ?? 'x'} has a fallback, {a:pad(8)} zeros in front, {a:fixed(20,2)} also decimals
      isPublic: Visibility, default "true"
      not in INDEX                 although it has the attributes
      INDEX when deleted_at missing    it has an entry only then
      deletes by deleted_at        a delete sets it
      made                         by the server: clients cannot write it; stories tell when
      append only
      refers to Album by albumId   an item that has to be there; albumId=id, if it is called so there
    access NAME(parameters) finds ENTITY… by GetItem|Query INDEX: CONDITION [filter CONDITION] [descending] [limit N]
                                   a parameter has the value of the attribute of its name, or of another: to=createdAt;
                                   status="paused" is none, but what the item has that is found, and id:=albumId what it
                                   has from another of them
    rule TEXT                      what the server does later, or elsewhere: see scenes.py
    example TITLE                  a story of its own, see Story
      put ENTITY {…}   update ENTITY {…} {…}   delete ENTITY {…}   see ENTITY {…}   find PATTERN {…}
                                   each with:   is {…}   or   refused TEXT   or   gone

An attribute has a type and any of: default VALUE, touched (set again at each write), unique, fixed (cannot change), lower,
trim, deprecated, counted (by the server, 0 at first), used (0 in whole items, as a quota is counted in it), told (only in
stories: a second item with the same value is another thing, or the server sets it). A default is JSON, now, uuid, ulid, "text-" uuid, sha256(attributes), an attribute, or an attribute and a
duration, or lower(trim(attribute)).
"""
import json
import re

from values import Type, read_type

ATTRIBUTE = re.compile(r'(\S+?): (.*)')
KEY = re.compile(r'(\S+) = (.*)')
MODIFIER = re.compile(r', (?=(?:default|touched|unique|fixed|lower|trim|deprecated|counted|used|told)\b)')
ACCESS = re.compile(r'access (\w+)\((.*?)\) finds ([\w, ]+?) by (GetItem|Query)(?: (\S+?))?: (.*?)(?: filter (.*?))?'
                    r'( descending)?(?: limit (\d+))?( consistent)?$')


class Attribute:
    def __init__(self, name, text, names):
        parts = MODIFIER.split(text)
        self.name = name
        self.type = read_type(parts[0], names)
        words = dict(part.split(' ', 1) if ' ' in part else (part, True) for part in parts[1:])
        self.default = words.get('default')
        self.touched, self.unique, self.fixed = 'touched' in words, 'unique' in words, 'fixed' in words
        self.lower, self.trim, self.deprecated = 'lower' in words, 'trim' in words, 'deprecated' in words
        self.counted, self.used, self.told = 'counted' in words, 'used' in words, 'told' in words
        self.required = not self.type.optional and self.default is None and not self.counted


class Table:
    def __init__(self, name):
        self.name, self.key, self.indexes, self.numbers, self.entities = name, [], {}, set(), []
        self.type = self.ttl = self.stream = self.forbidden = None
        self.recovery, self.billing, self.unknown = 'off', 'on_demand', 'warn'

    def add(self, words):
        self.numbers |= {word[:-2] for word in words if word.endswith('/N')}
        plain_words = [word.removesuffix('/N') for word in words]
        if words[0] == 'key':
            self.key = plain_words[1:]
        elif words[0] == 'index':
            self.indexes[words[1]] = plain_words[2:]
        else:
            setattr(self, words[0], words[1])


class Entity:
    def __init__(self, name, table):
        self.name, self.table, self.keys, self.attributes, self.outside = name, table, {}, {}, []
        self.made, self.append_only, self.softdelete, self.conditions, self.references, self.sent = False, False, None, {}, [], []

    def in_key(self):
        """Attributes that the primary key is made of, or that are part of it."""
        return {name for key in self.table.key for name in names_in(self.keys.get(key, '{%s}' % key))}

    def item(self, n, bare=False):
        return {name: None if name == self.softdelete else 0 if one.used else one.type.sample(name, n) for name, one in self.attributes.items()
                if not one.counted and not one.told and (not bare or one.required or name in self.in_key())}

    def clause(self, line):
        """A line that is neither key nor attribute; False if it is one of these."""
        words = line.split()
        if line == 'made':
            self.made = True
        elif line == 'append only':
            self.append_only = True
        elif line.startswith('deletes by '):
            self.softdelete = words[-1]
        elif line.startswith('refers to '):
            self.references.append((words[2], dict((part.split('=') * 2)[:2] for part in ' '.join(words[4:]).split(', '))))
        elif re.fullmatch(r'\S+ when \S+ missing', line):
            self.conditions[words[0]] = words[2]
        elif line.startswith('not in '):
            self.outside.append(words[-1])
        else:
            return False
        return True

    def derived(self, item):
        """The keys of an item, by the documented templates. An index entry is whole or not there."""
        keys = {name: filled(template, item) for name, template in self.keys.items()}
        for parts in self.table.indexes.values():
            values = [keys.get(part, item.get(part)) for part in parts]
            index = next(name for name, one in self.table.indexes.items() if one is parts)
            if any(value is None for value in values) or item.get(self.conditions.get(index)) is not None:
                for part in parts:
                    if part in keys and part not in self.table.key and not self.elsewhere(part, parts):
                        keys[part] = None
        return {name: value for name, value in keys.items() if value is not None}

    def elsewhere(self, key, parts):
        return any(key in others and others != parts for others in self.table.indexes.values())

    def stored(self, item):
        typed = {self.table.type: self.name} if self.table.type else {}
        counts = {name: 0 for name, one in self.attributes.items() if one.counted}
        return {**counts, **item, **self.derived(item), **typed}


def raw_in(template):
    """Attributes that may have the separator."""
    return set(re.findall(r'\{(\w+):raw', template)) | set(re.findall(r'^\{(\w+)\}$', template))


def names_in(template):
    return re.findall(r'\{(\w+)', template)


def filled(template, item):
    """A template with an item's attributes; None if one is missing."""
    missing = []

    def fill(match):
        name, form, size, decimals, fallback = match.groups()
        value = item.get(name)
        if value is None:
            value = fallback
        if value is None:
            missing.append(name)
            return ''
        if form == 'fixed':
            return ('%.*f' % (int(decimals), float(value))).rjust(int(size) + 1 + int(decimals), '0')
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if form == 'pad':
            whole, point, rest = text.lstrip('-').partition('.')
            return '-' * (text[0] == '-') + whole.rjust(int(size), '0') + point + rest
        return text
    text = re.sub(r"\{(\w+)(?::(pad|fixed)\((\d+)(?:,(\d+))?\)|:raw)?(?: \?\? '([^']*)')?\}", fill, template)
    return None if missing else text


class Access:
    def __init__(self, line):
        match = ACCESS.match(line)
        assert match, line
        self.name, parameters, entities, self.operation, self.index, self.keys, self.filter, descending, limit, consistent = match.groups()
        parts = [part.strip().split('=') for part in parameters.split(',') if part.strip()]
        self.parameters = [part for part in parts if not part[-1].startswith('"')]
        self.given = {name: value.strip('"') for name, value in (part for part in parts if part[-1].startswith('"'))}
        self.linked = {part[0].rstrip(':'): part[1] for part in self.parameters if part[0].endswith(':')}
        self.parameters = [part for part in self.parameters if not part[0].endswith(':')]
        self.entities = [name.strip() for name in entities.split(',')]
        self.descending, self.limit, self.consistent = bool(descending), limit and int(limit), bool(consistent)

    def arguments(self, item):
        return {name[0]: item[name[-1]] for name in self.parameters}


class Promises:
    """One file: tables, entities, patterns, rules, examples."""

    def __init__(self, path):
        self.tables, self.entities, self.accesses, self.rules, self.examples = {}, {}, [], [], []
        self.names, self.table, self.section = {}, None, None
        with open(path, encoding='utf-8') as file:
            for line in self.joined(file):
                self.read(line)

    @staticmethod
    def joined(file):
        """Lines without comments; one that ends with a backslash, an open brace or a comma goes on."""
        whole = ''
        for line in file:
            line = re.sub(r'(^|\s)#\s.*', '', line.rstrip())
            whole = whole + ' ' + line.strip() if whole else line
            if whole.endswith(('\\', '{', ',', '|')):
                whole = whole.rstrip('\\').rstrip()
                continue
            if whole.strip():
                yield whole
            whole = ''

    def read(self, line):
        if not line.startswith(' '):
            self.open(line)
        elif isinstance(self.section, Table):
            self.section.add(line.split())
        elif isinstance(self.section, Entity) and self.section.clause(line.strip()):
            pass
        elif isinstance(self.section, Entity):
            key = KEY.fullmatch(line.strip())
            if key:
                self.section.keys[key[1]] = key[2].strip()
                return
            name, text = ATTRIBUTE.fullmatch(line.strip()).groups()
            self.section.attributes[name] = Attribute(name, text, self.names)
        else:
            self.section.append(line.strip())

    def open(self, line):
        word, rest = line.split(' ', 1)
        if word == 'table':
            self.section = self.table = self.tables[rest] = Table(rest)
        elif word == 'type':
            name, text = rest.split(' = ', 1)
            self.names[name] = read_type(text, self.names)
        elif word == 'entity':
            self.section = self.entities[rest] = Entity(rest, self.table)
            self.table.entities.append(self.section)
        elif word == 'access':
            self.accesses.append(Access(line))
        elif word == 'rule':
            self.rules.append(rest)
        elif word == 'example':
            self.section = []
            self.examples.append((rest, self.section))
        else:
            raise ValueError(line)


# ---- DynamoDB's JSON ---------------------------------------------------------------------------

def typed(value):
    if value is None:
        return {'NULL': True}
    if isinstance(value, bool):
        return {'BOOL': value}
    if isinstance(value, str):
        return {'S': value}
    if isinstance(value, (int, float)):
        return {'N': repr(value)}
    if isinstance(value, list):
        return {'L': [typed(one) for one in value]}
    return {'M': item_of(value)}


def item_of(plain):
    return {name: typed(value) for name, value in plain.items()}


def plain(value):
    (tag, inner), = value.items()
    if tag == 'N':
        return int(inner) if re.fullmatch(r'-?\d+', inner) else float(inner)
    if tag == 'L':
        return [plain(one) for one in inner]
    if tag == 'M':
        return {name: plain(one) for name, one in inner.items()}
    return None if tag == 'NULL' else inner


def plain_item(item):
    return {name: plain(value) for name, value in item.items()}


def dump(value):
    return json.dumps(value, separators=(',', ':'))


assert Type  # what promises are made of
