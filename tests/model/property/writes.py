"""Writes as requests and statements, and values in PartiQL and in ordinary JSON."""


def literal(value):
    """A value in PartiQL."""
    (tag, body), = value.items()
    if tag == 'S':
        return "'" + body.replace("'", "''") + "'"
    if tag == 'N':
        return body
    if tag == 'BOOL':
        return 'true' if body else 'false'
    if tag == 'NULL':
        return 'NULL'
    if tag == 'L':
        return '[' + ', '.join(map(literal, body)) + ']'
    if tag == 'M':
        return '{' + ', '.join(f"'{k}': {literal(v)}" for k, v in body.items()) + '}'
    if tag in ('SS', 'NS'):
        return '<<' + ', '.join(literal({tag[0]: v}) for v in body) + '>>'
    return None


def plain(value):
    """A value in ordinary JSON; None if it has no such form."""
    (tag, body), = value.items()
    if tag in ('S', 'BOOL'):
        return body
    if tag == 'N':
        return int(body) if body.lstrip('-').isdigit() else float(body)
    if tag == 'NULL':
        return None
    if tag == 'L':
        return [plain(v) for v in body]
    if tag == 'M':
        return {k: plain(v) for k, v in body.items()}
    return body


class Write:
    """A put (item), an update (key, sets, removes) or a delete (key). `good`: it must succeed."""

    def __init__(self, kind, key, good, item=None, sets=None, removes=(), why=''):
        self.kind, self.key, self.good, self.item, self.why = kind, key, good, item, why
        self.sets, self.removes = sets or {}, list(removes)

    def __repr__(self):
        return f'{self.kind} {self.key} {self.item or ""} set {self.sets} remove {self.removes} ({self.why or "good"})'

    def request(self, table):
        if self.kind == 'Put':
            return {'TableName': table, 'Item': self.item}
        if self.kind == 'Delete':
            return {'TableName': table, 'Key': self.key}
        names = {f'#{i}': n for i, n in enumerate([*self.sets, *self.removes])}
        parts = []
        if self.sets:
            parts.append('SET ' + ', '.join(f'#{i} = :{i}' for i in range(len(self.sets))))
        if self.removes:
            parts.append('REMOVE ' + ', '.join(f'#{i + len(self.sets)}' for i in range(len(self.removes))))
        request = {'TableName': table, 'Key': self.key}
        if parts:
            request.update(UpdateExpression=' '.join(parts), ExpressionAttributeNames=names)
        if self.sets:
            request['ExpressionAttributeValues'] = {f':{i}': v for i, v in enumerate(self.sets.values())}
        return request

    def statement(self, table):
        where = ' AND '.join(f'"{n}" = {literal(v)}' for n, v in self.key.items())
        if self.kind == 'Delete':
            return f'DELETE FROM "{table}" WHERE {where}'
        if self.kind == 'Put':
            members = [f"'{n}': {literal(v)}" for n, v in self.item.items()]
            return None if any(m.endswith('None') for m in members) else f'INSERT INTO "{table}" VALUE {{{", ".join(members)}}}'
        if not self.sets and not self.removes or any(literal(v) is None for v in self.sets.values()):
            return None
        parts = [f'SET "{n}" = {literal(v)}' for n, v in self.sets.items()] + [f'REMOVE "{n}"' for n in self.removes]
        return f'UPDATE "{table}" {" ".join(parts)} WHERE {where}'
