"""Random models and data: the answer of each access pattern is that of the SQL query which `dolmen generate sql --queries` gives for
it, on tables of the default mapping, in the same order and with the same limit."""
import json
import os
import random
import re
import sqlite3
import tempfile
import urllib.parse
import urllib.request

import common

WORDS = ['a', 'b', 'B', 'aa', 'a-b', 'Zoe', 'zoe', 'ä', 'éa', '10', '9', 'x y', "o'clock", 'a%b', '_']
KINDS = {  # type, a value, what can stand in a key
    'string': lambda r: r.choice(WORDS),
    'integer': lambda r: r.randint(-20, 120),
    'number': lambda r: r.choice([0, 1, 2.5, -3.25, 10, 9, 100.125, 12345678901]),
    'boolean': lambda r: r.random() < 0.5,
    'timestamp': lambda r: f'2026-0{r.randint(1, 3)}-1{r.randint(0, 9)}T0{r.randint(0, 9)}:00:00.{r.randint(0, 3)}00Z',
    'date': lambda r: f'2026-0{r.randint(1, 9)}-{r.randint(10, 28)}',
    'uuid': lambda r: f'{r.randrange(16):08x}-0000-4000-8000-{r.randrange(4):012x}',
    '"new" | "done" | "open"': lambda r: r.choice(['new', 'done', 'open']),
}


def entity(r, name, shared):
    """Attributes, key templates and entries of an entity; what its patterns may ask."""
    kinds = {f'f{number}': r.choice(list(KINDS)) for number in range(4)}
    optional = {attribute for attribute in kinds if r.random() < 0.3}
    lines = ['  owner string', '  id string']
    lines += [f'  {attribute} {kind if attribute not in optional or "|" not in kind else "(" + kind + ")"}{"?" if attribute in optional else ""}'
              for attribute, kind in kinds.items()]
    first = [attribute for attribute in kinds if attribute not in optional]
    ordered = r.choice(first) if first and r.random() < 0.6 else None
    padded = ':pad(6)' if ordered and kinds[ordered] == 'integer' and r.random() < 0.5 else ''
    sort = f'{name.upper()}#' + (f'{{{ordered}{padded}}}#' if ordered else '') + '{id}'
    keys = [f'PK = "{"OWNER" if shared else name.upper()}#{{owner}}"', f'SK = "{sort}"']
    entries, patterns = [], [f'access {name.lower()}ByKey(owner{", " + ordered if ordered else ""}, id) = one {name}',
                             f'access {name.lower()}Of(owner) = {name}{r.choice(["", " newest first"])}{r.choice(["", " limit 3"])}',
                             f'access {name.lower()}Count(owner) = count {name}']
    by = r.choice(list(kinds))
    tail = r.choice(list(kinds))
    when = r.choice(['', '', f' when {tail} exists'])
    entries.append(f'GSI1 = "{name.upper()}#{{{by}}}", "{{{tail}}}#{{id}}"{when}')
    patterns.append(f'access {name.lower()}By({by}) = {name} via GSI1{r.choice(["", " descending"])}{r.choice(["", " limit 4"])}')
    numeric = [attribute for attribute, kind in kinds.items() if kind in ('integer', 'number')]
    if numeric:
        rank = r.choice(numeric)
        entries.append(f'ranks = "{name.upper()}#{{owner}}", {rank}')
        patterns.append(f'access {name.lower()}Ranked(owner) = {name} via ranks{r.choice(["", " newest first"])}')
        patterns.append(f'access {name.lower()}Between(owner, low number, high number) = {name} via ranks where rank between low and high')
    deleted = r.random() < 0.3
    if deleted:
        lines.append('  gone timestamp?')
        lines.append('  softdelete gone')
    filterable = [attribute for attribute, kind in kinds.items() if kind in ('string', 'integer', 'number', '"new" | "done" | "open"')]
    if filterable:
        attribute = r.choice(filterable)
        op = r.choice(['=', '!=', '<', '>=', 'exists', 'missing'] + (['begins', 'contains'] if kinds[attribute] == 'string' else []))
        if op in ('exists', 'missing'):
            patterns.append(f'access {name.lower()}Filtered(owner) = {name} filter {attribute} {op}')
        else:
            kind = kinds[attribute] if '|' not in kinds[attribute] else 'string'
            patterns.append(f'access {name.lower()}Filtered(owner, value {kind}) = {name} filter {attribute} {op} value')
    text = f'entity {name} {{\n  ' + '\n  '.join(keys + entries) + '\n' + '\n'.join(lines) + '\n}\n'
    return text, patterns, {'kinds': kinds, 'optional': optional, 'deleted': deleted, 'ordered': ordered}


def make(r):
    shared = r.random() < 0.5
    texts = ['table things {\n  key PK, SK\n  index GSI1 (GSI1PK, GSI1SK)\n  index ranks (rankOf, rank number)\n  type kind\n'
             f'  stream new_and_old_images\n  separator "#" {r.choice(["forbid", "any", "escape"])}\n}}\n']
    patterns, entities = [], {}
    for name in ('Alpha', 'Beta'):
        text, own, about = entity(r, name, shared)
        texts.append(text)
        patterns += own
        entities[name] = about
    if shared:
        patterns.append('access together(owner) = Alpha, Beta where PK = "OWNER#{owner}"')
    return ''.join(texts) + '\n'.join(patterns) + '\n', entities


def items(r, entities):
    for name, about in entities.items():
        for number in range(r.randint(5, 40)):
            item = {'kind': name, 'owner': r.choice(['o1', 'o2', 'O1']), 'id': f'{r.choice(WORDS)}{number}'.replace(' ', '')}
            for attribute, kind in about['kinds'].items():
                if attribute not in about['optional'] or r.random() < 0.6:
                    item[attribute] = KINDS[kind](r)
            yield name, item


def ask(endpoint, name, values):
    """All items of a pattern, by its pages; as many as its limit."""
    found, cursor = [], None
    while True:
        query = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
        if cursor:
            query['cursor'] = cursor
        with urllib.request.urlopen(f'{endpoint}/v1/things/{name}?{urllib.parse.urlencode(query)}') as answer:
            said = json.load(answer)
        if 'items' not in said:
            return said
        found += said['items']
        cursor = said.get('cursor')
        if not cursor:
            return found


def parameters(r, text, entities, stored):
    """Values for a pattern's parameters, most of them out of an item."""
    name, given = re.match(r'access (\w+)\(([^)]*)\)', text).groups()
    which = next(entity for entity in ('Alpha', 'Beta') if name.startswith(entity.lower()) or name == 'together')
    mine = [item for entity, item in stored if entity == which] or [{}]
    item = r.choice(mine)
    values = {}
    for one in filter(None, (part.strip() for part in given.split(','))):
        parameter, *kind = one.split(' ', 1)
        if parameter in ('low', 'high'):
            continue
        if parameter == 'value':
            attribute = re.search(r'filter (\w+)', text)[1]
            value = item.get(attribute)
            values['value'] = value if value is not None else KINDS[entities[which]['kinds'][attribute]](r)
        elif parameter in ('owner', 'id'):
            values[parameter] = item.get(parameter, 'o1')
        else:
            values[parameter] = item.get(parameter, KINDS[entities[which]['kinds'][parameter]](r))
    if 'low number' in given:
        values['low'], values['high'] = sorted(KINDS['number'](r) for _ in range(2))
    return name, which, values


def literal(value):
    if isinstance(value, bool):
        return 'true' if value else 'false'
    return str(value) if isinstance(value, (int, float)) else "'" + value.replace("'", "''") + "'"


def identities(rows):
    return [(row['owner'], row['id']) for row in rows]


def of_sqlite(database, statement, values, count):
    bound = [int(value) if isinstance(value, bool) else value for value in values]
    connection = sqlite3.connect(database.path)
    connection.row_factory = sqlite3.Row
    try:
        rows = connection.execute(statement, bound).fetchall()
    finally:
        connection.close()
    if count:
        return rows[0][0]
    return identities([json.loads(row['item']) if 'item' in row.keys() else row for row in rows])


def of_postgres(database, prepared, name, values, count, columns):
    arguments = f'({", ".join(literal(value) for value in values)})' if values else ''
    rows = database.rows(f'{prepared}\nEXECUTE "{name}"{arguments};')
    if count:
        return int(rows[0][0])
    if columns is None:
        return identities([json.loads(row[1]) for row in rows])
    return [(row[columns.index('owner')], row[columns.index('id')]) for row in rows]


def expected(answer, count, one, limit):
    if count:
        return answer['count']
    if isinstance(answer, dict):
        answer = answer['items'] if 'items' in answer else [answer]
    answer = [item for item in answer if item]
    return identities(answer)[:1 if one else limit]


def compare(directory, server, seed):
    r = random.Random(seed)
    text, entities = make(r)
    path = os.path.join(directory, f'random{seed}.dolmen')
    with open(path, 'w') as file:
        file.write(text)
    with common.serving(directory, path) as (api, endpoint):
        stored = []
        for name, item in items(r, entities):
            try:
                common.put(api, 'things', item)
                stored.append((name, item))
            except common.dolmen.ApiError:
                pass  # a "#" in a value, or so
        for name, item in r.sample(stored, len(stored) // 6):
            if not entities[name]['deleted']:
                continue
            keys = [found for found in api.pages('Scan', {'TableName': 'things'}) if found['id']['S'] == item['id'] and found['kind']['S'] == name]
            for found in keys[:1]:
                api.call('DeleteItem', {'TableName': 'things', 'Key': {'PK': found['PK'], 'SK': found['SK']}})
        for database in common.databases(directory, server):
            common.run('project', path, '--to', database.url, '--once', '--quiet', '--endpoint', endpoint)
            queries = common.run('generate', 'sql', path, '--queries', '--dialect', database.dialect)
            for line in text.splitlines():
                if line.startswith('access '):
                    check_pattern(r, database, endpoint, line, entities, stored, queries, f'seed {seed}\n{text}')


def check_pattern(r, database, endpoint, line, entities, stored, queries, context):
    for _ in range(4):
        name, which, values = parameters(r, line, entities, stored)
        count, one = ' = count ' in line, ' = one ' in line
        limit = int(re.search(r'limit (\d+)', line)[1]) if 'limit' in line else None
        statement = re.search(rf'^-- {name}\([^\n]*\n([^\n]*)$', queries, re.M)[1]
        assert not statement.startswith('--'), f'{name}: {statement}\n{context}'
        try:
            answer = ask(endpoint, name, values)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                answer = []
            elif error.code == 400:
                continue  # a value that no key can have
            else:
                raise
        wanted = expected(answer, count, one, limit)
        if database.dialect == 'sqlite':
            found = of_sqlite(database, statement, list(values.values()), count)
        else:
            columns = None
            if name != 'together':
                columns = [row[0] for row in database.rows("SELECT column_name FROM information_schema.columns WHERE table_name = "
                                                           f"'{which.lower()}' ORDER BY ordinal_position")]
            found = of_postgres(database, statement, name, list(values.values()), count, columns)
        assert found == wanted, f'{database.dialect} {name} {values}\n{statement}\nSQL     {found}\npattern {wanted}\n{context}'


def tests(test, directory, server):
    first = int(os.environ.get('SEED', '1'))
    for seed in range(first, first + int(os.environ.get('ROUNDS', '2'))):
        test(f'patterns of random model {seed}', compare, tempfile.mkdtemp(dir=directory), server, seed)
