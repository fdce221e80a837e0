"""From one schema to another: tables that were changed are what they would be had they been made so."""
import os
import random
import tempfile

import common
import documents

TYPES = ['string', 'number', 'integer', 'boolean', 'timestamp', 'date', 'uuid', 'any', 'string[]', 'string?', 'integer?']


def model(random_, seed_columns):
    """A random model: three entities whose attributes come out of a pool, mapped in random ways."""
    lines = ['table things { key PK, SK  separator "#" forbid }']
    rule = []
    names = []
    for entity in ('Alpha', 'Beta', 'Gamma'):
        if random_.random() < 0.15 and entity != 'Alpha':
            continue
        names.append(entity)
        attributes = {name: random_.choice(TYPES) for name in random_.sample(seed_columns, random_.randint(2, 6))}
        lines.append(f'entity {entity} {{ PK = "{entity.upper()}#{{owner}}"  SK = "{{number}}"\n  owner string  number integer(1..)')
        lines += [f'  {name} {kind}' for name, kind in attributes.items()] + ['  parts { sku: string  n: integer }[]?', '}']
        if random_.random() < 0.3:
            continue
        listed = random_.sample(sorted(attributes), random_.randint(1, len(attributes)))
        columns = ['owner', 'number'] + [name if random_.random() < 0.7 else f'{name}_x = {name}' for name in listed]
        key = random_.choice(['', 'key (owner, number)', 'key (number, owner)'])
        more = [key]
        scalar = [name for name in columns[2:] if attributes[name.split(' = ')[-1]] not in ('any', 'string[]')]
        if scalar and random_.random() < 0.6:
            more.append(f'index ({random_.choice(scalar).split(" = ")[0]}{random_.choice([" desc", ""])})')
        if scalar and random_.random() < 0.4:
            more.append(f'unique ({random_.choice(scalar).split(" = ")[0]}, owner)')
        if random_.random() < 0.4:
            more.append(f'each parts as "{entity.lower()}_parts"')
        both = random_.choice(['', '', 'both'])
        rule.append(f'  {entity} as "{random_.choice([entity.lower() + "s", "t_" + entity.lower()])}" {both} {{ {"  ".join(columns)}\n    {"  ".join(more)} }}')
        if random_.random() < 0.4:
            rule.append(f'  view "v_{entity.lower()}" = {entity} where number > 5')
        if random_.random() < 0.3:
            rule.append(f'  group {entity} by owner as "g_{entity.lower()}" {{ owner  n = count()  most = max(number)  last = last(number by number) }}')
    return '\n'.join(lines + ['project ' + ', '.join(names) + ' {'] + rule + ['}', ''])


def described(database):
    """What the database says of itself, in an order that does not depend on how it came about."""
    if database.dialect == 'sqlite':
        tables = {}
        for name in sorted(documents.tables_of(database) - {'sqlite_sequence', 'dolmen_inbox', 'dolmen_projecting'}):
            tables[name] = sorted((row[1], row[2], row[5]) for row in database.rows(f'PRAGMA table_info("{name}")'))
        others = sorted((row[0], row[1]) for row in database.rows(
            "SELECT name, sql FROM sqlite_master WHERE type IN ('index', 'view', 'trigger') AND sql IS NOT NULL"))
        return tables, others
    columns = database.rows("SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
                            "WHERE table_schema = 'public' AND table_name NOT LIKE 'dolmen_inbox' ORDER BY 1, 2")
    indexes = database.rows("SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'dolmen_inbox'")
    constraints = database.rows("SELECT conrelid::regclass::text, contype, pg_get_constraintdef(oid) FROM pg_constraint "
                                "WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'dolmen_inbox' ORDER BY 1, 2, 3")
    triggers = database.rows("SELECT tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2")
    policies = database.rows("SELECT tablename, policyname, qual FROM pg_policies ORDER BY 1, 2")
    views = database.rows("SELECT viewname, definition FROM pg_views WHERE schemaname = 'public' ORDER BY 1")
    # An index keeps the name it had when its table was renamed, and a key its own.
    return columns, sorted((table, definition.split(' USING ')[1], 'UNIQUE' in definition) for table, definition in indexes), constraints, triggers, policies, views


def change(directory, server, seed):
    random_ = random.Random(seed)
    pool = [f'a{number}' for number in range(8)]
    models = []
    for number in range(6):
        path = os.path.join(directory, f'm{seed}_{number}.dolmen')
        with open(path, 'w') as file:
            file.write(model(random_, pool))
        models.append(path)
    for database, fresh in zip(common.databases(directory, server), common.databases(directory, server)):
        for number, path in enumerate(models):
            since = ['--since', models[number - 1]] if number > 0 else []
            statements = common.run('generate', 'sql', path, '--projections', '--dialect', database.dialect, *since)
            try:
                database.script(statements)
            except Exception as error:
                raise AssertionError(f'{path}: {error}\n{statements}') from error
            other = type(fresh)(directory) if fresh.dialect == 'sqlite' else type(fresh)(server)
            other.script(common.run('generate', 'sql', path, '--projections', '--dialect', database.dialect))
            one, two = described(database), described(other)
            assert one == two, f'seed {seed}, {path}, {database.dialect}\n' + '\n'.join(
                f'{a}\n{b}' for a, b in zip(one, two) if a != b)


def tests(test, directory, server):
    first = int(os.environ.get('SEED', '1'))
    for seed in range(first, first + int(os.environ.get('ROUNDS', '2'))):
        test(f'changes of schemas, seed {seed}', change, tempfile.mkdtemp(dir=directory), server, seed)
