"""Hostile models and hostile writes. What comes of a write nobody foretells: judge.py looks at what is stored.

A put carries a mark of its own (`w`), which updates leave alone: so the stream tells what a put has made from what an update has.
"""
import copy
import uuid

from design import Attribute, Model
from kinds import KINDS, normal, number, text

MARK = Attribute('w', 'plain', optional=True)
TAKEN = Attribute('taken', 'plain', optional=True, unique=True)
LATE = Attribute('late', 'plain', optional=True)  # which becomes unique
UUIDS = [text(str(uuid.UUID(int=i * 7919 + 1, version=4))) for i in range(40)]
JUNK = [text(''), text('#'), text('%23'), text('a#b'), number('1e3'), number('-0'), {'NULL': True}, {'BOOL': True},
        {'L': []}, {'M': {}}, {'B': 'YQ=='}, {'SS': ['a', 'b']}, {'NS': ['1']}]
LONG = text('x' * 1500)  # for keys


class Hostile(Model):
    def __init__(self, r, table):
        super().__init__(r, table, rules=('any', 'escape', 'forbid', 'forbid'), extras=[MARK, TAKEN, LATE],
                         settings=['  stream new_and_old_images'], typed=0.8, native=0.4, shared=0.8)

    def next(self, attributes):
        """The version after this one. Forbidden separators may stand in what is there, so that keys stay as they are."""
        after = copy.deepcopy(self)
        for entity in after.entities:
            if after.rule != 'forbid' and after.r.random() < 0.7:
                scalars = [a for a in entity.attributes if a.kind.scalar]
                entity.entries = after.entries(scalars, lambda i: 0.7)
            if attributes and 'added' not in entity.by_name and after.r.random() < 0.6:
                added = Attribute('added', 'role', default='"user"')
                entity.attributes.append(added)
                entity.by_name['added'] = added
            entity.by_name['late'].unique = entity.by_name['late'].unique or attributes and after.r.random() < 0.7
        return after


class Forge:
    """Draws writes for one of the model's versions."""

    def __init__(self, r, versions, name):
        self.r, self.versions, self.name, self.serial = r, versions, name, 0
        self.known = []  # items that were there, each with its key and the name of its entity

    @property
    def model(self):
        return self.r.choice(self.versions)

    def mark(self):
        self.serial += 1
        return text(f'{self.name}-{self.serial}')

    # ---- Items -------------------------------------------------------------------------------

    def good(self, a):
        """A value that fits. Of unique ones half are from a few that all writers have, the others are new."""
        if a.name == 'late':  # once while it becomes unique, values meet
            few = len(self.versions) > 1 and self.r.random() < 0.2
            return text(f'late{self.r.randrange(300) if few else self.r.getrandbits(50)}')
        if not a.unique:
            return a.good(self.r)
        few = self.r.random() < 0.5
        if a.kind_name == 'uuid':
            return self.r.choice(UUIDS) if few else a.good(self.r)
        many = {'plain': text(f'p{self.r.getrandbits(40)}'), 'email': text(f'e{self.r.getrandbits(40)}@Example.org'),
                'count': number(self.r.randrange(10000))}
        return a.good(self.r) if few else many[a.kind_name]

    def item(self, model, entity, mark=True):
        r, item = self.r, {}
        for a in entity.attributes:
            if not a.version and a.name != 'w' and (not a.optional and a.default is None or r.random() < 0.5):
                item[a.name] = self.good(a)
        if model.typed:
            item['kind'] = text(entity.name)
        if not model.typed and not model.native or r.random() < 0.3:
            item.update(self.key_of(model, entity, item))
        if mark:
            item['w'] = self.mark()
        return item

    def normal(self, entity, item):
        return {n: normal(v, entity.by_name[n].forms) if n in entity.by_name else v for n, v in item.items()}

    def key_of(self, model, entity, item):
        if model.native:
            return {'id': item['id']} if 'id' in item else {}
        made = {n: t.value(self.normal(entity, item)) for n, t in entity.keys.items()}
        return {n: v for n, v in made.items() if v is not None}

    def keys_of_another(self, model):
        """Index keys that some item could have."""
        entity = self.r.choice(model.entities)
        made = entity.derive(self.normal(entity, self.item(model, entity, mark=False)))
        return {n: v for n, v in made.items() if v is not None and n not in model.key}

    # ---- What is wrong with them ---------------------------------------------------------------

    def spoil(self, model, entity, item):
        for _ in range(self.r.choice([0, 0, 1, 1, 2, 3])):
            self.r.choice([self.foreign, self.foreign, self.change_entity, self.nothing, self.separate, self.denormalise, self.junk,
                           self.drop, self.revise, self.misplace, self.add_unknown])(model, entity, item)
        # The version before takes anything under a name that it does not know, and a backfill leaves it.
        if len(self.versions) > 1 and not KINDS['role'].test(item.get('added', text('user'))):
            item.pop('added')
        return item

    def foreign(self, model, entity, item):
        keys = self.keys_of_another(model)
        if keys and self.r.random() < 0.7:  # a whole entry, or all of them
            one = self.r.choice(list(keys))[:3]
            item.update({n: v for n, v in keys.items() if n.startswith(one) or self.r.random() < 0.1})
            return
        index = self.r.choice(model.made)
        item[index + self.r.choice(['PK', 'SK'])] = self.r.choice([text('ALL'), text('CONSTANT'), text('X#a1'), number(7), LONG, *JUNK])

    def change_entity(self, model, entity, item):
        item['kind'] = self.r.choice([text(e.name) for e in model.entities] + [text('nobody'), text('E0 '), *JUNK])

    def nothing(self, model, entity, item):
        item[self.r.choice([n for n in [*item, *entity.by_name] if n != 'w'])] = {'NULL': True}

    def separate(self, model, entity, item):
        names = [n for n, v in item.items() if 'S' in v and n != 'w' and n not in ('kind', 'PK', 'SK')
                 and n in entity.by_name and entity.by_name[n].kind_name in ('word', 'plain', 'short', 'empty')]
        if names:
            item[self.r.choice(names)] = text(self.r.choice(['a#b', '#', 'a#', '#1', 'a%23b', 'X#Y', '%', '##']))

    def denormalise(self, model, entity, item):
        name = self.r.choice(list(item))
        (tag, body), = item[name].items()
        if tag == 'N' and 'e' not in body:
            item[name] = number(self.r.choice([f'0{body.lstrip("-")}', body + ('.0' if '.' not in body else '0'), body + 'e0', '1e1']))
        elif tag == 'S' and name != 'w':
            time = entity.by_name.get(name) and entity.by_name[name].kind_name == 'time'
            item[name] = text(self.r.choice([body[:19] + '+02:00', body[:16] + 'Z', body[:23] + '999Z', body]) if time else
                              self.r.choice([body.upper(), body.lower(), f' {body}', f'{body}\n', body.swapcase()]))

    def junk(self, model, entity, item):
        a = self.r.choice(entity.attributes)
        if a.name != 'w':
            item[a.name] = self.r.choice([a.bad(self.r), *JUNK])

    def drop(self, model, entity, item):
        if len(item) > 2:
            name = self.r.choice([n for n in item if n != 'w'])
            item.pop(name)

    def revise(self, model, entity, item):
        item['rev'] = number(self.r.randrange(6))

    def misplace(self, model, entity, item):
        name = self.r.choice(model.key)
        other = self.r.choice(model.entities)
        elsewhere = self.key_of(model, other, self.item(model, other, mark=False))
        item.update(elsewhere if self.r.random() < 0.5 else {name: self.r.choice([text('E0#a1'), text('E1#A1#0001'), LONG, *JUNK])})

    def add_unknown(self, model, entity, item):
        item[self.r.choice(['extra', 'GS9PK', 'Kind', 'pk'])] = self.r.choice(JUNK)

    # ---- Writes ------------------------------------------------------------------------------

    def put(self, malice=0.7):
        """An entity, and an item that says it is one."""
        model = self.model
        entity = self.r.choice(model.entities)
        item = self.item(model, entity)
        return entity, self.spoil(model, entity, item) if self.r.random() < malice else item

    def remember(self, entity, item):
        model = self.model
        key = {n: item[n] for n in model.key if n in item} or self.key_of(model, entity, item)
        if len(key) < len(model.key):
            return
        self.known.append((key, entity.name, item))
        if len(self.known) > 400:
            del self.known[:200]

    def known_item(self, model):
        """An entity and an item of it that may be there."""
        if self.known and self.r.random() < 0.8:
            _, name, item = self.r.choice(self.known)
            entity = next((e for e in model.entities if e.name == name), None)
            if entity is not None:
                return entity, item
        entity = self.r.choice(model.entities)
        return entity, self.item(model, entity, mark=False)

    def key(self):
        """The key of an item that may be there, in a form that may be another."""
        r, model = self.r, self.model
        if self.known and r.random() < 0.8:
            return dict(r.choice(self.known)[0])
        entity = r.choice(model.entities)
        key = self.key_of(model, entity, self.item(model, entity, mark=False))
        if r.random() < 0.1:
            name = r.choice(model.key)
            key[name] = text(r.choice([str.lower, str.upper, str.swapcase])(key.get(name, text('E0#'))['S']))
        return key

    def entity_at(self, model, key):
        """What an item of this key is likely to be."""
        first = key.get(model.key[0], {}).get('S', '')
        name = next((name for known, name, _ in self.known if known == key), None)
        found = next((e for e in model.entities if first.startswith(e.name + '#') or e.name == name), None)
        return found or self.r.choice(model.entities)

    def conversion(self, model):
        """Everything that another entity has."""
        entity = self.r.choice(model.entities)
        item = self.item(model, entity, mark=False)
        return [('=', name, '', value) for name, value in item.items() if name not in model.key]

    def change(self, key, malice=0.6):
        """An update's parts: (form, name, another name, value)."""
        r, model = self.r, self.model
        if r.random() < 0.1 * malice:
            return self.conversion(model)
        entity = self.entity_at(model, key)
        free = [a for a in entity.attributes if a.name not in entity.fixed and not a.version]
        sets = {a.name: self.good(a) for a in r.sample(free, min(len(free), r.randrange(1, 4)))}
        sets = self.spoil(model, entity, sets) if r.random() < malice else sets
        parts, seen = [], set()
        for name, value in sets.items():
            if name == 'w' or name in seen or name in model.key and r.random() < 0.8:
                continue
            seen.add(name)
            numeric, another = 'N' in value, r.choice(entity.attributes).name
            if 'M' in value and r.random() < 0.5:
                parts.append(('inside', name, r.choice(['x', 'label', 'tags', 'k']), r.choice([number(3), text('in'), *JUNK])))
                continue
            form = r.choice(['=', '=', '=', '=', 'once', 'copy', 'sum' if numeric else '=', 'add' if numeric else 'once', 'remove'])
            parts.append(('=' if name == 'added' else form, name, another, value))
        if r.random() < 0.15 * malice:
            parts.append(('remove', r.choice([i + p for i in model.made for p in ('PK', 'SK')] + ['kind', 'owner', 'rev']), '', {}))
        return parts if len({p[1] for p in parts}) == len(parts) else parts[:1]

