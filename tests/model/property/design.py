"""Random models: as text for the server, and as objects that derive and judge by themselves."""
import hashlib
from decimal import Decimal

from kinds import KINDS, normal, number, text


class Attribute:
    def __init__(self, name, kind, optional=False, default=None, update=False, unique=False, immutable=False,
                 version=False, forms=(), strict=False):
        self.name, self.kind_name, self.kind = name, kind, KINDS[kind]
        self.optional, self.default, self.update, self.unique = optional, default, update, unique
        self.immutable, self.version, self.forms, self.strict = immutable, version, forms, strict

    def takes_null(self):
        return self.optional and not self.strict

    def good(self, r):
        return {'NULL': True} if self.takes_null() and r.random() < 0.1 else self.kind.good(r)

    def bad(self, r):
        return r.choice([v for v in self.kind.bad if not (self.takes_null() and 'NULL' in v)])

    def fits(self, value):
        return self.takes_null() and 'NULL' in value or self.kind.test(value)

    def language(self):
        words = [f'  {self.name} ({self.kind.language})' if '|' in self.kind.language and self.optional else f'  {self.name} {self.kind.language}']
        words[0] += '?!' if self.strict else '?' if self.optional else ''
        words += [f'= {self.default}'] if self.default else []
        words += ['on update'] if self.update else []
        words += [w for w in ('unique', 'immutable', 'version') if getattr(self, w)]
        return ' '.join(words + list(self.forms))


def shown(value):
    """A value as a template shows it; None if there is none."""
    if value is None or 'NULL' in value:
        return None
    (tag, body), = value.items()
    if tag == 'N':
        body = format(Decimal(body).normalize(), 'f') if Decimal(body) != 0 else '0'
    return ('true' if body else 'false') if tag == 'BOOL' else body


def padded(value, width):
    word = shown(value)
    if word is None or 'N' not in value:
        return word and word.rjust(width, '0')
    sign, digits = ('-', word[1:]) if word.startswith('-') else ('', word)
    before, point, behind = digits.partition('.')
    return sign + before.rjust(width, '0') + point + behind


class Field:
    """{name}, {name:format}, {name ?? 'other'} of a template."""

    def __init__(self, attribute, form=None, width=0, other=None):
        self.attribute, self.form, self.width, self.other = attribute, form, width, other

    def language(self):
        name = self.attribute.name
        if self.other is not None:
            return f"{{{name} ?? '{self.other}'}}"
        forms = {None: '', 'pad': f':pad({self.width})', 'date': ':yyyy/mm/dd', 'hash': ':sha256'}
        return '{' + name + forms.get(self.form, f':{self.form}') + '}'

    def show(self, item):
        value = item.get(self.attribute.name)
        word = shown(value)
        if word is None:
            return self.other
        if self.form == 'pad':
            return padded(value, self.width)
        if self.form in ('lower', 'upper'):
            return normal(text(word), (self.form,))['S']
        if self.form == 'date':
            return word[:10].replace('-', '/')
        if self.form == 'hash':
            return hashlib.sha256(word.encode() + b'\0').hexdigest()
        return word

    def separates(self):
        """Whether the text can have a separator in it."""
        return self.form not in ('date', 'hash') and (self.other is not None or self.attribute.kind.strings)


class Template:
    """Text with fields; `rule` is what becomes of separators in them."""

    def __init__(self, *segments, rule='any'):
        self.segments, self.rule = segments, rule if len(segments) > 1 else 'any'

    def language(self):
        return '"' + ''.join(s if isinstance(s, str) else s.language() for s in self.segments) + '"'

    def show(self, item):
        """The key's text; None if there is no entry."""
        parts = [s if isinstance(s, str) else self.field(s, item) for s in self.segments]
        return None if None in parts or ''.join(parts) == '' else ''.join(parts)

    def field(self, field, item):
        word = field.show(item)
        if word is None or self.rule != 'escape' or not field.separates():
            return word
        return word.replace('%', '%25').replace('#', '%23')

    def value(self, item):
        word = self.show(item)
        return None if word is None else text(word)

    def forbids(self, item):
        """Whether a separator stands where none may."""
        return self.rule == 'forbid' and any('#' in (s.show(item) or '') for s in self.segments if isinstance(s, Field) and s.separates())

    def names(self):
        return [s.attribute.name for s in self.segments if not isinstance(s, str)]


class Count:
    """A key that is a number: an attribute, with or without another number in its place, or that number."""

    def __init__(self, attribute, other=None, quoted=False):
        self.attribute, self.other, self.quoted = attribute, other, quoted

    def language(self):
        words = ' ?? '.join(([self.attribute.name] if self.attribute else []) + ([self.other] if self.other is not None else []))
        return f'"{{{words}}}"' if self.quoted else words

    def value(self, item):
        word = shown(item.get(self.attribute.name)) if self.attribute else None
        return number(self.other if word is None else word) if word is not None or self.other is not None else None

    def forbids(self, item):
        return False


class Own:
    """A key that is an attribute of the entity under its own name."""

    def __init__(self, name):
        self.name = name

    def language(self):
        return self.name

    def value(self, item):
        return item.get(self.name)

    def forbids(self, item):
        return False


NATIVE = 'NAT'  # an index over attributes that all entities have, and some name


class Entity:
    def __init__(self, name, attributes, keys, entries, unknown):
        self.name, self.attributes, self.keys, self.entries, self.unknown = name, attributes, keys, entries, unknown
        self.by_name = {a.name: a for a in attributes}
        self.fixed = {n for template in keys.values() for n in template.names()}  # what the primary key is made of

    def language(self, table):
        lines = [f'entity {self.name} of {table} {{']
        lines += [f'  {name} = {template.language()}' for name, template in self.keys.items() if name in ('PK', 'SK')]
        lines += [f'  {index} = ' + ', '.join(t.language() for t in parts.values()) for index, parts in self.entries.items()]
        lines += [f'  unknown {self.unknown}'] if self.unknown else []
        return '\n'.join(lines + [a.language() for a in self.attributes] + ['}'])

    def derive(self, item):
        """Every key attribute the entity speaks of: its value, or None where there must be none."""
        made = {name: template.value(item) for name, template in self.keys.items()}
        for index, parts in self.made_entries().items():
            values = {name: key.value(item) for name, key in parts.items()}
            made.update(values if self.is_in(index, item) else dict.fromkeys(values))
        return made

    def made_entries(self):
        """Entries whose keys are made, by their indexes."""
        return {index: parts for index, parts in self.entries.items() if index != NATIVE}

    def is_in(self, index, item):
        """Whether the item belongs into an index."""
        return index in self.entries and None not in [key.value(item) for key in self.entries[index].values()]

    def forbids(self, item):
        """Whether a separator stands in a key where none may."""
        return any(key.forbids(item) for key in self.keys.values()) or \
            any(key.forbids(item) for index, parts in self.entries.items() if self.is_in(index, item) for key in parts.values())

    def wrong(self, item, known):
        """What is wrong with a stored item, in words."""
        found = []
        for attribute in self.attributes:
            value = item.get(attribute.name)
            if value is None:
                found += [] if attribute.optional else [f'{attribute.name} is missing']
            elif not attribute.fits(value):
                found.append(f'{attribute.name} is {value}')
            elif normal(value, attribute.forms) != value:
                found.append(f'{attribute.name} is not normal: {value}')
        for name, value in self.derive(item).items():
            if item.get(name) != value:
                found.append(f'{name} is {item.get(name)}, but should be {value}')
        found += ['a separator stands in a key'] if self.forbids(item) else []
        keys = {name for parts in self.entries.values() for name in parts} | set(self.keys) | set(self.by_name)
        found += [f'{name} is a foreign key' for name in item if name in known - keys - {'kind'}]
        if self.unknown == 'reject':
            found += [f'{name} is unknown' for name in item if name not in self.by_name and name not in known]
        return found


class Model:
    def __init__(self, r, table, rules=('any', 'escape'), extras=(), settings=(), typed=0.6, native=0.25, shared=0.5):
        self.table, self.typed, self.native = table, r.random() < typed, r.random() < native
        self.made = [f'GS{i}' for i in range(r.randrange(1, 5))]  # indexes whose keys are made
        self.counted = {i for i in self.made if r.random() < 0.25}  # those that sort by a number
        self.indexes = self.made + ([NATIVE] if self.typed and r.random() < shared else [])
        self.sorted = not self.native and r.random() < 0.8
        self.rule, self.extras, self.settings = r.choice(rules), extras, settings
        self.r = r
        self.key = ['id'] if self.native else ['PK', 'SK'] if self.sorted else ['PK']
        self.entities = [self.entity(f'E{i}') for i in range(1 if self.native and not self.typed else r.randrange(1, 5))]
        self.known = {*self.key, 'kind', *(f'{i}{part}' for i in self.made for part in ('PK', 'SK'))}

    def language(self):
        lines = [f'table {self.table} {{', '  key ' + ', '.join(self.key)]
        lines += [f'  index {i} ({i}PK, {i}SK{" number" if i in self.counted else ""})' for i in self.made]
        lines += [f'  index {NATIVE} (owner, serial)'] if NATIVE in self.indexes else []
        lines += [f'  separator "#" {self.rule}', *self.settings]
        lines += ['  type kind'] if self.typed else []
        return '\n'.join(lines + ['}'] + [e.language(self.table) for e in self.entities]) + '\n'

    # ---- Drawing ----------------------------------------------------------------------------

    def attribute(self, number_of):
        r = self.r
        kind = r.choice(list(KINDS))
        options = {'optional': r.random() < 0.5}
        options['strict'] = options['optional'] and r.random() < 0.2
        name = f'{kind}{number_of}'
        defaults = {'time': 'now()', 'uuid': 'uuid()', 'count': '3', 'role': '"user"', 'flag': 'false', 'epoch': 'now() + 7d',
                    'plain': 'ulid()', 'day': 'now()', 'percent': '50', 'word': '"{owner}!"', 'number': '1 + 1.5', 'list': None}
        if defaults.get(kind) and r.random() < 0.6:
            options['default'] = defaults[kind]
            options['update'] = kind in ('time', 'epoch') and r.random() < 0.4
        if KINDS[kind].strings and kind != 'empty' and r.random() < 0.4:
            # A short text could be trimmed to less than it may have.
            options['forms'] = tuple(r.sample(['lower', 'trim'] if kind == 'word' else ['upper'], 1))
        if kind in ('plain', 'email', 'count', 'uuid') and not options.get('default') and r.random() < 0.4:
            options['unique'] = True
        elif not options.get('update') and r.random() < 0.15:
            options['immutable'] = True
        return Attribute(name, kind, **options)

    def field(self, attribute):
        r, kind = self.r, attribute.kind
        if r.random() < 0.2:
            return Field(attribute, other='none')
        if kind.numbers and r.random() < 0.7:
            return Field(attribute, 'pad', r.choice([3, 8]))
        if kind.strings and r.random() < 0.4:
            return Field(attribute, r.choice(['lower', 'upper', 'hash']))
        if attribute.kind_name in ('time', 'day') and r.random() < 0.4:
            return Field(attribute, 'date')
        return Field(attribute)

    def template(self, attributes, most):
        r = self.r
        chosen = r.sample(attributes, min(len(attributes), r.randrange(most + 1)))
        if not chosen:
            return Template(r.choice(['CONSTANT', 'ALL']))
        segments = [] if r.random() < 0.4 else ['X#']
        for i, attribute in enumerate(chosen):
            segments += (['#'] if i else []) + [self.field(attribute)]
        return Template(*segments, rule=self.rule)

    def count(self, attributes):
        r = self.r
        numbers = [a for a in attributes if a.kind.numbers and a.kind_name != 'length']
        attribute = r.choice(numbers) if r.random() < 0.9 else None
        return Count(attribute, '0' if attribute is None or r.random() < 0.5 else None, r.random() < 0.5)

    def entries(self, attributes, chance):
        """What the entity says of indexes; chance(index) is that it is in one."""
        entries = {}
        for i in self.indexes:
            if self.r.random() >= chance(i):
                continue
            entries[i] = {'owner': Own('owner'), 'serial': Own('serial')} if i == NATIVE else {
                f'{i}PK': self.template(attributes, 1),
                f'{i}SK': self.count(attributes) if i in self.counted else self.template(attributes, 2)}
        return entries

    def entity(self, name):
        r = self.r
        owner = Attribute('owner', 'plain')
        serial = Attribute('serial', 'count')
        attributes = [owner, serial, *self.extras] + [self.attribute(i) for i in range(r.randrange(2, 10))]
        if r.random() < 0.4:
            attributes.append(Attribute('rev', 'number', version=True))
        if self.native:
            attributes.append(Attribute('id', 'plain'))
            keys = {}
        else:
            keys = {'PK': Template(f'{name}#', Field(owner), rule=self.rule) if self.sorted else
                    Template(f'{name}#', Field(owner), '#', Field(serial, 'pad', 4), rule=self.rule)}
            if self.sorted:
                keys['SK'] = Template('META') if r.random() < 0.3 else Template('S#', Field(serial, 'pad', 5))
        scalars = [a for a in attributes if a.kind.scalar]
        entries = self.entries(scalars, lambda i: 0.75)
        r.shuffle(attributes)
        entity = Entity(name, attributes, keys, entries, r.choice([None, None, 'allow', 'reject']))
        entity.fixed |= {'id'} if self.native else set()
        return entity

    def evolve(self):
        """Another design of the same data: other index keys, a new attribute that has a default."""
        for entity in self.entities:
            if self.r.random() < 0.6:
                scalars = [a for a in entity.attributes if a.kind.scalar]
                entity.entries = self.entries(scalars, lambda i: 1 if i in entity.entries else 0.5)
            if 'added' not in entity.by_name and self.r.random() < 0.6:
                added = Attribute('added', 'role', default='"user"')
                entity.attributes.append(added)
                entity.by_name['added'] = added

    # ---- Looking ----------------------------------------------------------------------------

    def entity_of(self, item):
        if self.typed:
            return next((e for e in self.entities if item.get('kind') == text(e.name)), None)
        if self.native:
            return self.entities[0]
        return next((e for e in self.entities if item['PK']['S'].startswith(e.name + '#')), None)

    def wrong(self, item):
        entity = self.entity_of(item)
        return ['it is of no entity'] if entity is None else entity.wrong(item, self.known)
