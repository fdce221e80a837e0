"""The data API of a server with many tenants, and of twins that have only what one may see."""
import json
import re

from client import Client

TENANTS = ('a', 'ab', 'a#')


def text(value):
    return json.dumps(value).encode()


class Twin:
    """A tenant at the server with all, and alone. Cursors are signed by their server, and ETags are of items."""

    def __init__(self, everybody, alone, tenant):
        self.clients = (Client(everybody.endpoint, tenant), Client(alone.endpoint, tenant))
        self.free = Client(alone.endpoint)
        self.tenant = tenant
        self.cursors = None
        self.tag = None

    def ask(self, method, path, body, headers, cursor):
        answers = []
        for i, client in enumerate(self.clients):
            end = f'&cursor={self.cursors[i]}' if cursor and self.cursors else ''
            status, found, answer = client.send(method, path + end, body, headers)
            token = re.search(rb'"cursor":"([^"]*)"', answer)
            answers.append((status, found.get('ETag'), found.get('Location'), found.get('x-dolmen-warnings'),
                            answer.replace(token[1], b'') if token else answer, token[1].decode() if token else None))
        if all(answer[5] for answer in answers):
            self.cursors = [answer[5] for answer in answers]
        self.tag = answers[0][1] or self.tag
        return answers[0][:5], answers[1][:5]


def draw_fields(draw, tenant):
    """An entity, and attributes that name one of its items: mostly the tenant's own."""
    owner = tenant if draw.random() < 0.6 else draw.choice(TENANTS)
    kind = draw.choice(('Project', 'Job', 'Job', 'Job', 'Note', 'Plan', 'Internal'))
    number = str(draw.randrange(5))
    return kind, {'Project': {'project_id': owner}, 'Job': {'project_id': owner, 'job_id': number},
                  'Note': {'project_id': owner, 'topic': draw.choice(('x', 'y', 'x#y')), 'note_id': number},
                  'Plan': {'plan_id': number}, 'Internal': {'secret': number}}[kind]


def draw_rest(draw, kind):
    rest = {'Project': {'name': draw.choice('mn'), 'slug': draw.choice('st')},
            'Job': {'owner': draw.choice(('me', 'you')), 'rank': draw.randrange(9), 'status': draw.choice(('open', 'done'))}}.get(kind, {})
    return {name: value for name, value in rest.items() if draw.random() < 0.6}


def query_of(fields):
    from urllib.parse import urlencode
    return '?' + urlencode(fields)


def draw_pattern(draw, twin):
    name, arguments = draw.choice((('jobs', {'project_id': draw.choice(TENANTS)}), ('project', {'project_id': draw.choice(TENANTS)}),
                                   ('byStatus', {'status': draw.choice(('open', 'done'))}), ('byOwner', {'owner': 'me'}),
                                   ('jobCount', {'project_id': draw.choice(TENANTS)}), ('openCount', {'status': 'open'}),
                                   ('everything', {})))
    options = {} if draw.random() < 0.5 else {'limit': draw.randrange(1, 4)}
    if draw.random() < 0.2:
        options['keys'] = 'true'
    twin.cursors = twin.cursors if draw.random() < 0.5 else None
    return 'GET', f'/v1/app/{name}{query_of({**arguments, **options})}', b'', [], bool(twin.cursors)


def draw_list(draw, tenant):
    transaction = draw.random() < 0.5
    changes = []
    for _ in range(draw.randrange(1, 4)):
        kind, fields = draw_fields(draw, tenant)
        action = draw.choice(('create', 'replace', 'patch', 'delete', 'undelete', 'check' if transaction else 'get'))
        change = {action: kind}
        if action == 'create':
            change['body'] = {**fields, **draw_rest(draw, kind)}
        else:
            change['key'] = fields
            if action in ('replace', 'patch'):
                change['body'] = draw_rest(draw, kind)
        changes.append(change)
    return 'POST', f'/v1/app/${"transaction" if transaction else "batch"}', text(changes), [('Content-Type', 'application/json')], False


def draw_request(draw, twin):
    chance = draw.random()
    if chance < 0.25:
        return draw_pattern(draw, twin)
    if chance < 0.45:
        return draw_list(draw, twin.tenant)
    kind, fields = draw_fields(draw, twin.tenant)
    method = draw.choice(('GET', 'POST', 'PUT', 'PATCH', 'DELETE'))
    headers = [('Content-Type', 'application/json')] if method in ('POST', 'PUT', 'PATCH') else []
    if draw.random() < 0.3 and method != 'POST':
        headers.append((draw.choice(('If-Match', 'If-None-Match')), draw.choice(('*', twin.tag or '*'))))
    if method == 'POST' and draw.random() < 0.3:
        return 'POST', f'/v1/app/{kind}/$undelete{query_of(fields)}', b'', [], False
    if method == 'POST':
        own = {name: value for name, value in fields.items() if name != 'project_id' or draw.random() < 0.7}
        return 'POST', f'/v1/app/{kind}', text({**own, **draw_rest(draw, kind)}), headers, False
    body = text(draw_rest(draw, kind)) if method in ('PUT', 'PATCH') else b''
    return method, f'/v1/app/{kind}{query_of(fields)}', body, headers, False


def noise(draw, free, twins):
    """Somebody who is not bound writes: what a twin may see goes there, too."""
    owner = draw.choice((*TENANTS, 'other'))
    kind, fields = draw_fields(draw, owner)
    body = text({**fields, **draw_rest(draw, kind)})
    path, headers = f'/v1/app/{kind}{query_of(fields)}', [('Content-Type', 'application/json')]
    method = draw.choice(('PUT', 'DELETE'))
    plain = '#' not in fields.get('project_id', '') + fields.get('topic', '')
    clients = [free]
    for twin in twins:
        if kind == 'Plan' or (fields.get('project_id') == twin.tenant and (kind != 'Note' or plain)):
            clients.append(twin.free)
    for client in clients:
        client.send(method, path, body if method == 'PUT' else b'', headers if method == 'PUT' else [])


def run_twins(results, serve, requests, draw):
    with serve('all') as everybody, serve('one') as one, serve('two') as two, serve('three') as three:
        twins = [Twin(everybody, alone, tenant) for alone, tenant in zip((one, two, three), TENANTS)]
        free = Client(everybody.endpoint)
        statuses = {}
        for _ in range(requests):
            if draw.random() < 0.2:
                noise(draw, free, twins)
            twin = draw.choice(twins)
            request = draw_request(draw, twin)
            got, wanted = twin.ask(*request)
            statuses[got[0]] = statuses.get(got[0], 0) + 1
            if got != wanted:
                results.check('the data API and its twins', False, f'{twin.tenant} {request}: {got} instead of {wanted}')
                return
        print(f'{requests} requests of the data API: {dict(sorted(statuses.items()))}')
        results.check('the data API and its twins', {200, 201, 403, 404, 412} <= set(statuses), statuses)
