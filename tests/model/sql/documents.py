"""The Postgres part of Asset Creator's document, and Prisma's schema of Kinex Fit's."""
import os
import time

import common
import dolmen

ASSETS = os.path.join(dolmen.ROOT, 'models/asset-creator/asset-creator.dolmen')
KINEX = os.path.join(dolmen.ROOT, 'models/kinex-fit/kinex-fit.dolmen')

# As the document lists them.
TABLES = {
    'projects': 'id name style_profile_json quotas_json created_at',
    'jobs': 'id project_id asset_type status current_step created_at updated_at',
    'steps': 'id job_id name status artifacts_json metrics_json error_json decided_at created_at',
    'assets': 'id project_id type latest_version created_at',
    'asset_versions': 'id asset_id version files_json metadata_json cdn_url created_at',
    'outbox': 'id type payload_json status created_at',
    'idempotency': 'id key job_id step_name created_at ttl',
    'audit': 'id project_id actor action details_json ts',
}
INDEXES = {
    'jobs': '(project_id, status)', 'steps': '(job_id, status, name)', 'asset_versions': '(asset_id, version DESC)',
    'outbox': '(status)', 'idempotency': '(key)',
}
PRISMA = {
    'Account': 'id userId type provider providerAccountId refresh_token access_token expires_at token_type scope id_token session_state',
    'Session': 'id sessionToken userId expires',
    'User': 'id name email emailVerified image',
    'VerificationToken': 'identifier token expires',
}
# What is older than 90 days goes.
NOW = time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime())
OWN = ('dolmen_assets', 'dolmen_projections', 'dolmen_inbox', 'dolmen_projecting', 'sqlite_sequence')


def columns_of(database, table):
    if database.dialect == 'sqlite':
        return [row[1] for row in database.rows(f'PRAGMA table_info("{table}")')]
    return [row[0] for row in database.rows(
        f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}' ORDER BY ordinal_position")]


def tables_of(database):
    query = "SELECT name FROM sqlite_master WHERE type = 'table'" if database.dialect == 'sqlite' else \
        "SELECT table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema = 'public'"
    return {row[0] for row in database.rows(query)}


def indexes_of(database, table):
    query = f"SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = '{table}' AND sql IS NOT NULL" \
        if database.dialect == 'sqlite' else f"SELECT indexdef FROM pg_indexes WHERE tablename = '{table}'"
    return [row[0].replace('"', '') for row in database.rows(query)]


def fill(api):
    for project in ('prj_1', 'prj_2'):
        common.put(api, 'asset_creator', {'project_id': project, 'name': project.upper(), 'quotas': {'jobs_per_month': 50},
                                          'PK': f'PROJECT#{project}', 'SK': f'PROJECT#{project}'})
        for number in range(3):
            job = f'{project}_job_{number}'
            common.put(api, 'asset_creator', {'PK': f'PROJECT#{project}', 'SK': f'JOB#{job}', 'project_id': project, 'job_id': job,
                                              'asset_type': '3D_CHARACTER', 'status': ['running', 'done', 'running'][number]})
            common.put(api, 'asset_creator', {'PK': f'JOB#{job}', 'SK': f'STEP#rig#{NOW}', 'job_id': job,
                                              'step_name': 'rig', 'ts': NOW,
                                              'status': ['paused', 'done', 'paused'][number], 'artifacts': ['a.glb', {'n': 1}]})
        # The same asset in both projects, and versions beyond 9.
        for version in (1, 2, 10):
            common.put(api, 'asset_creator', {'PK': f'PROJECT#{project}', 'SK': f'ASSET#ast#V#{version}', 'project_id': project,
                                              'asset_id': 'ast', 'version': version, 'type': '3D' if version == 10 else '2D',
                                              'metadata': {'polygons': version}, 'created_at': f'2026-01-0{min(version, 9)}T00:00:00.000Z'})
        common.put(api, 'asset_creator', {'PK': f'PROJECT#{project}', 'SK': 'AUDIT#2026-01-29T08:00:00.000Z#ann', 'project_id': project,
                                          'ts': '2026-01-29T08:00:00.000Z', 'actor': 'ann', 'action': 'approve', 'details': {'by': 'hand'}})
    common.put(api, 'asset_creator', {'PK': 'IDEMPOTENCY#k1', 'SK': 'IDEMPOTENCY#k1', 'key': 'k1', 'job_id': 'j'})


def shape(database):
    tables = tables_of(database)
    assert tables - set(OWN) == set(TABLES), tables
    for table, columns in TABLES.items():
        assert columns_of(database, table) == columns.split(), (table, columns_of(database, table))
    for table, columns in INDEXES.items():
        assert any(index.endswith(columns) for index in indexes_of(database, table)), (table, indexes_of(database, table))


def rows(database):
    ask = database.rows
    assert ask('SELECT id, name FROM projects ORDER BY id') == [('prj_1', 'PRJ_1'), ('prj_2', 'PRJ_2')]
    assert len(ask('SELECT * FROM jobs')) == 6 and len(ask('SELECT * FROM steps')) == 6
    assert len(ask('SELECT * FROM audit')) == 2 and ask('SELECT id, key, job_id FROM idempotency') == [('k1', 'k1', 'j')]
    assert len(ask('SELECT * FROM outbox')) == 6
    assert ask('SELECT id, project_id, type, latest_version FROM assets ORDER BY id') == [
        ('prj_1#ast', 'prj_1', '3D', '10'), ('prj_2#ast', 'prj_2', '3D', '10')], ask('SELECT * FROM assets')
    assert ask('SELECT version FROM asset_versions WHERE asset_id = \'prj_1#ast\' ORDER BY version DESC') == [('10',), ('2',), ('1',)]
    assert len(ask('SELECT * FROM v_jobs_in_progress')) == 4
    assert len(ask('SELECT * FROM v_steps_needing_review')) == 4
    views = ask('SELECT project_id, type, latest_version, metadata_json FROM v_assets_by_type ORDER BY project_id')
    assert [(row[0], row[1], row[2]) for row in views] == [('prj_1', '3D', '10'), ('prj_2', '3D', '10')], views
    assert 'polygons' in views[0][3] and '10' in views[0][3], views


def policies(database):
    """Two tenants, and one who has not said who it is."""
    database.script('CREATE ROLE "app" LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO "app"')
    try:
        visible = {'projects': 1, 'jobs': 3, 'steps': 3, 'assets': 1, 'asset_versions': 3, 'audit': 1, 'outbox': 0, 'idempotency': 0,
                   'dolmen_assets': 0, 'v_jobs_in_progress': 2, 'v_steps_needing_review': 2, 'v_assets_by_type': 1}
        for tenant in ('prj_1', 'prj_2', 'nobody', ''):
            for table, count in visible.items():
                seen = database.rows(f"SET dolmen.tenant = '{tenant}'; SELECT * FROM {table}", user='app')
                assert len(seen) == (count if tenant.startswith('prj') else 0), (tenant, table, seen)
                other = 'prj_2' if tenant == 'prj_1' else 'prj_1'
                assert not any(other in str(row) for row in seen), (tenant, table, seen)
        assert database.rows('SELECT * FROM jobs', user='app') == []
    finally:
        database.script('DROP OWNED BY "app"; DROP ROLE "app"')


def asset_creator(directory, server):
    """Filled from outside, and kept in step by the server."""
    with common.serving(directory, ASSETS) as (api, endpoint):
        fill(api)
        # The publisher marks the events that it has delivered, beside us: rows are compared when it has.
        common.until(lambda: all(item.get('status') == {'S': 'published'} for item in api.pages('Scan', {'TableName': 'asset_creator', 'ConsistentRead': True})
                                 if 'event_id' in item))
        for database in common.databases(directory, server):
            common.run('project', ASSETS, '--to', database.url, '--once', '--quiet', '--endpoint', endpoint)
            shape(database)
            rows(database)
            if database.dialect == 'postgres':
                policies(database)
            common.run('project', ASSETS, '--to', database.url, '--verify', '--quiet', '--endpoint', endpoint)


def in_step(directory, server):
    for database in common.databases(directory, server):
        def groups(wanted):
            found = database.rows('SELECT id, type, latest_version FROM assets ORDER BY id')
            return found == wanted or (found, wanted)
        with common.serving(directory, common.into(directory, ASSETS, database.served)) as (api, _):
            fill(api)
            common.until(lambda: groups([('prj_1#ast', '3D', '10'), ('prj_2#ast', '3D', '10')]))
            common.put(api, 'asset_creator', {'PK': 'PROJECT#prj_2', 'SK': 'ASSET#ast#V#11', 'project_id': 'prj_2', 'asset_id': 'ast',
                                              'version': 11, 'type': '2D'})
            api.call('DeleteItem', {'TableName': 'asset_creator', 'Key': {'PK': {'S': 'PROJECT#prj_1'}, 'SK': {'S': 'ASSET#ast#V#10'}}})
            common.until(lambda: groups([('prj_1#ast', '2D', '2'), ('prj_2#ast', '2D', '11')]))
            for version in (1, 2):
                api.call('DeleteItem', {'TableName': 'asset_creator',
                                        'Key': {'PK': {'S': 'PROJECT#prj_1'}, 'SK': {'S': f'ASSET#ast#V#{version}'}}})
            common.until(lambda: groups([('prj_2#ast', '2D', '11')]))


def prisma_shape(directory, server):
    for database in common.databases(directory, server):
        database.script(common.run('generate', 'sql', KINEX, '--projections', '--dialect', database.dialect))
        assert tables_of(database) - set(OWN) == set(PRISMA), tables_of(database)
        for table, columns in PRISMA.items():
            assert columns_of(database, table) == columns.split(), (table, columns_of(database, table))
        for table, index in (('Account', '(provider, providerAccountId)'), ('Account', '(userId)'), ('Session', '(sessionToken)'),
                             ('Session', '(userId)'), ('User', '(email)'), ('VerificationToken', '(token)')):
            assert any(index in one for one in indexes_of(database, table)), (table, index, indexes_of(database, table))


def tests(test, directory, server):
    test('Tables, indexes, views and policies of Asset Creator', asset_creator, directory, server)
    test('Rows of Asset Creator follow the items', in_step, directory, server)
    test('Tables of Kinex Fit', prisma_shape, directory, server)
