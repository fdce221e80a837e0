"""The naive reference: a table is a dict of items, an index is recomputed whenever it is asked for."""
import copy
import math

from values import freeze, item_size, kind, order


class Failed(Exception):
    """The operation must fail with this error of the service (or with the other one, `also`)."""

    def __init__(self, name, item=None, also=None):
        self.name = name
        self.item = item
        self.also = also
        super().__init__(name)


VALIDATION = 'ValidationException'
CONDITION = 'ConditionalCheckFailedException'


class Index:
    """A secondary index: key is [(name, type)...], projection 'ALL', 'KEYS_ONLY' or a list of names."""

    def __init__(self, name, key, projection, local=False):
        self.name = name
        self.key = key
        self.projection = projection
        self.local = local

    def view(self, table, item):
        """The item as the index has it, or None if it is not in the index."""
        if item is None or any(name not in item for name, _ in self.key):
            return None
        if self.projection == 'ALL':
            return item
        names = {name for name, _ in table.key} | {name for name, _ in self.key}
        if self.projection != 'KEYS_ONLY':
            names |= set(self.projection)
        return {k: v for k, v in item.items() if k in names}


class Table:
    def __init__(self, name, key, indexes):
        self.name = name
        self.key = key
        self.indexes = {index.name: index for index in indexes}
        self.items = {}

    def key_of(self, item):
        return {name: item[name] for name, _ in self.key}

    def identity(self, key):
        return tuple(freeze(key[name]) for name, _ in self.key)

    def get(self, key):
        return self.items.get(self.identity(key))

    def check(self, item):
        """Index keys must be of their type and not empty."""
        for index in self.indexes.values():
            for name, wanted in index.key:
                if name in item and (kind(item[name]) != wanted or item[name] in ({'S': ''}, {'B': ''})):
                    raise Failed(VALIDATION)

    def store(self, key, item):
        identity = self.identity(key)
        if item is None:
            self.items.pop(identity, None)
        else:
            self.items[identity] = item

    def view(self, index_name=None):
        """All (full item, what the index has of it)."""
        if index_name is None:
            return [(item, item) for item in self.items.values()]
        index = self.indexes[index_name]
        return [(item, view) for item in self.items.values() if (view := index.view(self, item)) is not None]

    def sort_key(self, index_name=None):
        """The name of the sort attribute, or None."""
        key = self.key if index_name is None else self.indexes[index_name].key
        return key[1][0] if len(key) > 1 else None

    def write_units(self, old, new):
        """ConsumedCapacity of a write with INDEXES."""
        def units(item):
            return max(1, math.ceil(item_size(item) / 1024))
        table = max(units(i) for i in (old, new) if i is not None) if old or new else 1
        answer = {'TableName': self.name, 'Table': {'CapacityUnits': table}}
        total = table
        for index in self.indexes.values():
            before, after = index.view(self, old), index.view(self, new)
            if before is None and after is None:
                continue
            if before is None or after is None:
                cost = units(before or after)
            elif all(freeze(before[n]) == freeze(after[n]) for n, _ in index.key):
                same = before.keys() == after.keys() and all(freeze(before[n]) == freeze(after[n]) for n in before)
                cost = 0 if same else max(units(before), units(after))
            else:
                cost = units(before) + units(after)
            if cost:
                group = 'LocalSecondaryIndexes' if index.local else 'GlobalSecondaryIndexes'
                answer.setdefault(group, {})[index.name] = {'CapacityUnits': cost}
                total += cost
        answer['CapacityUnits'] = total
        return answer


def sorted_by(name, pairs, reverse=False):
    return sorted(pairs, key=lambda pair: order(pair[0][name]), reverse=reverse) if name else pairs


def clone(item):
    return copy.deepcopy(item)
