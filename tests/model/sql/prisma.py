"""Statements as Prisma's adapter of NextAuth.js sends them, on the tables that are projected of models/kinex-fit: what is written there
comes back into the items, and what is written by DynamoDB comes into the rows. In PostgreSQL and SQLite."""
import contextlib
import sqlite3

import common
import documents

EXPIRES = documents.time.strftime('%Y-%m-%dT%H:%M:%S.250Z', documents.time.gmtime(documents.time.time() + 20 * 86400))


def write(database, statement):
    """One statement, as the application's own connection sends it."""
    if database.dialect == 'postgres':
        database.script(statement)
        return
    with contextlib.closing(sqlite3.connect(database.path, timeout=30)) as connection:
        connection.execute('PRAGMA foreign_keys = ON')
        connection.execute(statement)
        connection.commit()


def item(api, table, **key):
    return api.call('GetItem', {'TableName': table, 'Key': {name: {'S': value} for name, value in key.items()},
                                'ConsistentRead': True}).get('Item')


def sign_up(api, database):
    """createUser, linkAccount, createSession."""
    write(database, '''INSERT INTO "User" ("id", "name", "email") VALUES ('cuid1', 'Ada', 'ada@kinex.example')''')
    write(database, '''INSERT INTO "Account" ("id", "userId", "type", "provider", "providerAccountId", "access_token", "expires_at")
                       VALUES ('acc1', 'cuid1', 'oauth', 'google', 'g1', 'at', 1790000000)''')
    write(database, f'''INSERT INTO "Session" ("id", "sessionToken", "userId", "expires") VALUES ('s1', 'tok1', 'cuid1', '{EXPIRES}')''')
    common.until(lambda: item(api, 'spotter-users', id='cuid1') is not None)
    common.until(lambda: item(api, 'next-auth', pk='USER#cuid1', sk='ACCOUNT#google#g1') is not None)
    common.until(lambda: item(api, 'next-auth', pk='USER#cuid1', sk='SESSION#tok1') is not None)
    user = item(api, 'spotter-users', id='cuid1')
    assert user['email'] == {'S': 'ada@kinex.example'} and user['subscriptionTier'] == {'S': 'free'}, user
    session = item(api, 'next-auth', pk='USER#cuid1', sk='SESSION#tok1')
    assert session['expires']['N'].endswith('.25') and session['GSI1PK'] == {'S': 'SESSION#tok1'}, session
    # What is unique is so in SQL, too; in PostgreSQL, when the transaction ends.
    for statement in ('''INSERT INTO "User" ("id", "email") VALUES ('cuid2', 'ada@kinex.example')''',
                      '''INSERT INTO "Account" ("id", "userId", "type", "provider", "providerAccountId") VALUES ('acc2', 'x', 'oauth', 'google', 'g1')''',
                      '''INSERT INTO "Session" ("id", "sessionToken", "userId", "expires") VALUES ('s2', 'tok1', 'cuid1', '2026-01-01T00:00:00Z')'''):
        try:
            write(database, statement)
        except (AssertionError, sqlite3.IntegrityError):
            continue
        raise AssertionError(f'taken: {statement}')


def sign_in(database):
    """getSessionAndUser, getUserByAccount, getUserByEmail."""
    query = 'SELECT u."id", u."email" FROM "Session" s JOIN "User" u ON u."id" = s."userId" WHERE s."sessionToken" = \'tok1\''
    assert database.rows(query) == [('cuid1', 'ada@kinex.example')]
    query = 'SELECT u."id" FROM "Account" a JOIN "User" u ON u."id" = a."userId" WHERE a."provider" = \'google\' AND a."providerAccountId" = \'g1\''
    assert database.rows(query) == [('cuid1',)]


def refresh(api, database):
    """updateSession, updateUser: there and back."""
    write(database, f'''UPDATE "Session" SET "expires" = '{EXPIRES.replace('.250', '.500')}' WHERE "sessionToken" = 'tok1' ''')
    common.until(lambda: item(api, 'next-auth', pk='USER#cuid1', sk='SESSION#tok1')['expires']['N'].endswith('.5'))
    write(database, '''UPDATE "User" SET "name" = 'Ada L', "image" = 'https://example.com/a.png' WHERE "id" = 'cuid1' ''')
    common.until(lambda: item(api, 'spotter-users', id='cuid1').get('name') == {'S': 'Ada L'})
    api.call('UpdateItem', {'TableName': 'spotter-users', 'Key': {'id': {'S': 'cuid1'}}, 'UpdateExpression': 'SET image = :i',
                            'ExpressionAttributeValues': {':i': {'S': 'https://example.com/b.png'}}})
    common.until(lambda: database.rows('SELECT "image", "name" FROM "User" WHERE "id" = \'cuid1\'') == [('https://example.com/b.png', 'Ada L')])


def refused(api, database):
    """A session of 31 days: the guard says no, and the row is as it was."""
    far = documents.time.strftime('%Y-%m-%dT%H:%M:%S.000Z', documents.time.gmtime(documents.time.time() + 31 * 86400))
    write(database, f'''UPDATE "Session" SET "expires" = '{far}' WHERE "sessionToken" = 'tok1' ''')
    said = lambda: database.rows('SELECT "refused" FROM "dolmen_inbox" WHERE "refused" IS NOT NULL')  # noqa: E731
    common.until(lambda: any('30 days' in row[0] for row in said()) or said())
    back = EXPIRES[:19].replace('T', ' ') if database.dialect == 'postgres' else EXPIRES[:19]
    common.until(lambda: database.rows('SELECT "expires" FROM "Session"')[0][0].startswith(back) or database.rows('SELECT * FROM "Session"'))


def tokens(api, database):
    """createVerificationToken, useVerificationToken."""
    write(database, f'''INSERT INTO "VerificationToken" ("identifier", "token", "expires") VALUES ('ada@kinex.example', 'vt1', '{EXPIRES}')''')
    common.until(lambda: item(api, 'next-auth', pk='VT#ada@kinex.example', sk='VT#vt1') is not None)
    write(database, '''DELETE FROM "VerificationToken" WHERE "identifier" = 'ada@kinex.example' AND "token" = 'vt1' ''')
    common.until(lambda: item(api, 'next-auth', pk='VT#ada@kinex.example', sk='VT#vt1') is None)


def goes(api, database):
    """deleteUser, with all that the user has."""
    write(database, '''DELETE FROM "User" WHERE "id" = 'cuid1' ''')
    assert database.rows('SELECT * FROM "Account"') == [] and database.rows('SELECT * FROM "Session"') == []
    common.until(lambda: item(api, 'spotter-users', id='cuid1') is None)
    common.until(lambda: item(api, 'next-auth', pk='USER#cuid1', sk='ACCOUNT#google#g1') is None)
    common.until(lambda: item(api, 'next-auth', pk='USER#cuid1', sk='SESSION#tok1') is None)
    common.until(lambda: database.rows('SELECT * FROM "User"') == [])


def unique_in(database, table):
    """Whether something besides the key of a table is unique."""
    if database.dialect == 'postgres':
        return database.rows(f"SELECT 1 FROM pg_constraint WHERE contype = 'u' AND conrelid = '\"{table}\"'::regclass") != []
    return any(unique == '1' and origin != 'pk' for _, _, unique, origin, _ in database.rows(f'PRAGMA index_list("{table}")'))


def prisma(directory, database):
    with common.serving(directory, common.into(directory, documents.KINEX, database.served)) as (api, _):
        common.until(lambda: set(documents.PRISMA) <= documents.tables_of(database))
        # Constraints come behind the rows that were there: the projection is live when they stand.
        common.until(lambda: all(unique_in(database, table) for table in ('User', 'Account', 'Session')))
        sign_up(api, database)
        sign_in(database)
        refresh(api, database)
        refused(api, database)
        tokens(api, database)
        goes(api, database)


def tests(test, directory, server):
    def both():
        for database in common.databases(directory, server):
            prisma(directory, database)
    test('What Prisma sends: sign-up, sign-in, refresh, expiry, tokens, deletion with cascade', both)
