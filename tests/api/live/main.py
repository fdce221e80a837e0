#!/usr/bin/env python3
"""Live patterns: what comes, in which order, and after which interruptions."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib import BINARY, HERE, PATIENCE, Api, Board, Events, Server, apply, free_port  # noqa: E402

SEED = int(os.environ.get('DOLMEN_SEED', '22'))
BOARD = {'team': 'a', 'board': 'x'}


class Case(unittest.TestCase):
    options = ()
    team = 0

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.server = Server(cls.directory.name, '--durability', 'relaxed', *cls.options)
        apply(cls.server.endpoint)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.directory.cleanup()

    def setUp(self):
        self.board = Board(self.server.endpoint)
        self.open = []
        # A board of its own for each test.
        Case.team += 1
        self.x = f'x{Case.team}'
        self.args = {'team': 'a', 'board': self.x}

    def tearDown(self):
        for events in self.open:
            events.close()
        self.board.connection.close()

    def listen(self, pattern='notes', **options):
        events = Events(self.server.endpoint, pattern, **options)
        self.open.append(events)
        return events

    def note(self, number, **more):
        return self.board.note(number, **{'board': self.x, **more})


class Life(Case):
    def test_result_then_changes(self):
        self.note(1, text='one')
        self.note(2, text='two')
        events = self.listen(**self.args).ready()
        self.assertEqual((events.status, events.type), (200, 'text/event-stream'))
        self.assertEqual(events.kinds(), ['item', 'item', 'ready'])
        self.assertEqual(events.events[2][1], {'count': 2})
        self.note(3, text='three')
        self.board.patch(1, {'text': 'uno'}, board=self.x)
        self.board.delete(2, board=self.x)
        events.wait(lambda: len(events.events) == 6)
        self.assertEqual(events.kinds()[3:], ['put', 'put', 'remove'])
        self.assertEqual([item['text'] for item in events.state.values()], ['uno', 'three'])
        self.assertEqual(len({id for _, _, id in events.events[2:]}), 4)

    def test_changes_that_mean_nothing(self):
        events = self.listen(**self.args).ready()
        self.board.note(1, board='elsewhere' + self.x)
        self.board.send('POST', '/v1/board/Board', {'team': 'a', 'board': self.x, 'title': 't'})
        self.note(2)
        events.wait(lambda: 'put' in events.kinds())
        self.assertEqual(events.kinds(), ['ready', 'put'])

    def test_soft_delete(self):
        self.note(1)
        events = self.listen(**self.args).ready()
        self.board.delete(1, board=self.x)
        events.shows([])
        status, answer = self.board.send('POST', '/v1/board/Note/$undelete', {}, **self.board.key(1, board=self.x))
        self.assertIn(status, (200, 204), answer)
        events.shows(self.board.ask('notes', **self.args))
        self.assertEqual(events.kinds(), ['item', 'ready', 'remove', 'put'])

    def test_one_entity_by_its_key(self):
        events = self.listen('boardOf', **self.args).ready()
        title = {**self.args, 'title': 'first'}
        self.assertEqual(self.board.send('POST', '/v1/board/Board', title)[0], 201)
        events.shows([title])
        self.board.send('PATCH', '/v1/board/Board', {'title': 'second'}, **self.args)
        events.shows([{**title, 'title': 'second'}])
        self.board.send('DELETE', '/v1/board/Board', **self.args)
        events.shows([])

    def test_into_and_out_of_an_index_and_a_filter(self):
        colour = self.listen('byColour', team=self.x, colour='green').ready()
        heavy = self.listen('heavy', **self.args, least=5).ready()
        self.board.note(1, team=self.x)
        self.note(2)
        self.board.patch(1, {'colour': 'green'}, team=self.x)
        self.board.patch(2, {'weight': 7}, board=self.x)
        colour.shows(self.board.ask('byColour', team=self.x, colour='green'))
        heavy.shows(self.board.ask('heavy', **self.args, least=5))
        self.assertEqual((len(colour.state), len(heavy.state)), (1, 1))
        self.board.patch(1, {'colour': 'blue'}, team=self.x)
        self.board.patch(2, {'weight': 4}, board=self.x)
        colour.shows([])
        heavy.shows([])
        self.assertEqual(colour.kinds(), ['ready', 'put', 'remove'])
        self.assertEqual(heavy.kinds(), ['ready', 'put', 'remove'])

    def test_what_an_index_does_not_have_does_not_change_it(self):
        self.board.note(1, team=self.x, owner='me')
        events = self.listen('owned', team=self.x, owner='me').ready()
        self.board.patch(1, {'weight': 3}, team=self.x)
        self.board.patch(1, {'text': 'seen'}, team=self.x)
        events.shows(self.board.ask('owned', team=self.x, owner='me'))
        self.assertEqual(events.kinds(), ['item', 'ready', 'put'])

    def test_refusals(self):
        for pattern, more, words in (('howMany', {}, 'counts'), ('notes', {'cursor': 'x'}, 'cursor'), ('notes', {'limit': '0'}, 'limit'),
                                     ('notes', {'nonsense': '1'}, 'nonsense')):
            status, answer = self.board.send('GET', f'/v1/board/{pattern}', headers={'accept': 'text/event-stream'}, **self.args, **more)
            self.assertEqual(status, 400, answer)
            self.assertIn(words, json.dumps(answer))
        self.assertEqual(self.board.send('GET', '/v1/board/nothing', headers={'accept': 'text/event-stream'})[0], 404)
        # Without the header it is the plain pattern.
        self.assertEqual(self.board.send('GET', '/v1/board/notes', headers={'accept': 'application/json'}, **self.args)[1]['items'], [])

    def test_many_pages_are_one_snapshot(self):
        for number in range(900):
            self.note(number, text='x' * 3000)
        events = self.listen(**self.args, small=True, start=False)
        # The result is of now: what changes while it is taken comes behind it.
        self.board.patch(899, {'text': 'later'}, board=self.x)
        self.board.delete(0, board=self.x)
        events.start()
        events.ready()
        events.shows(self.board.ask('notes', **self.args))
        at = events.kinds().index('ready')
        self.assertEqual(set(events.kinds()[:at]), {'item'})
        self.assertGreaterEqual(at, 899)

    def test_metrics(self):
        before = self.board.metric('dolmen_live_events_total')
        events = self.listen(**self.args).ready()
        self.note(1)
        events.wait(lambda: 'put' in events.kinds())
        self.assertGreaterEqual(self.board.metric('dolmen_live_listeners'), 1)
        self.assertGreater(self.board.metric('dolmen_live_events_total'), before)

    def test_a_slow_reader_misses_nothing(self):
        overruns = self.board.metric('dolmen_live_overruns_total')
        events = self.listen(**self.args, small=True, start=False)
        quick = self.listen(**self.args).ready()
        written = 0
        while self.board.metric('dolmen_live_overruns_total') == overruns:
            for _ in range(50):
                self.note(written, text='y' * 20000)
                written += 1
            self.assertLess(written, 5000, 'the queue never was full')
        quick.wait(lambda: quick.kinds().count('put') == written)
        events.start()
        events.wait(lambda: events.kinds().count('put') == written)
        ranks = [data['item']['rank'] for kind, data, _ in events.events if kind == 'put']
        self.assertEqual(ranks, list(range(written)))
        self.assertNotIn('reset', events.kinds())

    def test_curl_and_node(self):
        self.note(1)
        target = f'{self.server.endpoint}/v1/board/notes?team=a&board={self.x}'
        curl = subprocess.Popen(['curl', '-sN', '-H', 'Accept: text/event-stream', target], stdout=subprocess.PIPE, text=True)
        node = subprocess.Popen(['node', os.path.join(HERE, 'source.mjs'), target, '3'], stdout=subprocess.PIPE, text=True)
        lines = []
        while not lines or not lines[-1].startswith('data: {"count"'):
            lines.append(curl.stdout.readline().rstrip())
        self.assertEqual([line for line in lines if line.startswith('event')], ['event: item', 'event: ready'])
        self.assertEqual(node.stdout.readline().split()[0], 'item')
        self.assertEqual(node.stdout.readline().split()[0], 'ready')
        self.note(2)
        self.assertEqual(node.stdout.readline().split()[:2], ['put', 'n2'])
        self.assertEqual(node.wait(PATIENCE), 0)
        while not lines[-1].startswith('event: put'):
            lines.append(curl.stdout.readline().rstrip())
        curl.terminate()
        curl.wait()
        curl.stdout.close()
        node.stdout.close()


class Resuming(Case):
    def test_goes_on_behind_an_event(self):
        self.note(1)
        first = self.listen(**self.args).ready()
        self.note(2)
        first.wait(lambda: first.kinds()[-1] == 'put')
        first.close()
        self.note(3)
        self.board.delete(1, board=self.x)
        again = self.listen(**self.args, last=first.last, state=first.state)
        again.wait(lambda: len(again.events) == 2)
        self.assertEqual(again.kinds(), ['put', 'remove'])
        self.note(4)
        again.wait(lambda: len(again.events) == 3)
        self.assertEqual([data.get('item', {}).get('rank') for _, data, _ in again.events], [3, None, 4])
        # From the very `ready` on, all of them.
        whole = self.listen(**self.args, last=next(id for kind, _, id in first.events if kind == 'ready'), state=first.state)
        whole.wait(lambda: len(whole.events) == 4)
        self.assertEqual(whole.kinds(), ['put', 'put', 'remove', 'put'])

    def test_a_result_that_broke_off_begins_anew(self):
        self.note(1)
        events = self.listen(**self.args, last='-')
        events.ready()
        self.assertEqual(events.kinds(), ['reset', 'item', 'ready'])

    def test_a_limited_result_begins_anew(self):
        self.board.note(1, team=self.x)
        first = self.listen('firstThree', team=self.x, colour='red').ready()
        again = self.listen('firstThree', team=self.x, colour='red', last=first.last).ready()
        self.assertEqual(again.kinds(), ['reset', 'item', 'ready'])

    def test_hostile_ids(self):
        self.note(1)
        good = self.listen(**self.args).ready().last
        other = self.listen(team='a', board=self.x + 'y').ready().last
        shown = self.listen(**self.args, keys='true').ready().last
        rng = random.Random(SEED)
        bad = [other, shown, good[:-1], good + 'A', good[1:], good.swapcase(), 'A' * 43, '0', '-1', '9' * 19, '%00', '../..', 'id: x', "' or 1=1",
               '\xff\xfe', 'x' * 8000, good + ' ' + good, good.replace(good[0], '+'), '=' * 44, 'null', '{"sequence":1}']
        for _ in range(30):
            at = rng.randrange(len(good))
            bad.append(good[:at] + rng.choice('ABCabc019-_') + good[at + 1:])
        for id in bad:
            if id == good:
                continue
            events = Events(self.server.endpoint, 'notes', last=id, **self.args)
            try:
                events.ready()
                self.assertEqual(events.kinds(), ['reset', 'item', 'ready'], id)
            finally:
                events.close()

    def test_after_kill_9(self):
        directory = tempfile.mkdtemp()
        try:
            server = Server(directory)
            apply(server.endpoint)
            board = Board(server.endpoint)
            board.note(0)
            events = Events(server.endpoint, 'notes', **BOARD).ready()
            seen = []
            number = 1
            for _ in range(4):
                for _ in range(20):
                    board.note(number)
                    number += 1
                if len(seen) % 2 == 0:  # sometimes all has come, sometimes not
                    events.wait(lambda: 'put' in events.kinds())
                server.kill()
                events.wait(lambda: True)
                events.close()
                seen += [data['item']['rank'] for kind, data, _ in events.events if kind == 'put']
                last = events.last
                server = Server(directory)
                board = Board(server.endpoint)
                for _ in range(5):  # before the client is back
                    board.note(number)
                    number += 1
                events = Events(server.endpoint, 'notes', last=last, **BOARD)
            events.wait(lambda: events.events and events.events[-1][1]['item']['rank'] == number - 1)
            seen += [data['item']['rank'] for kind, data, _ in events.events if kind == 'put']
            self.assertNotIn('reset', events.kinds())
            self.assertEqual(seen, list(range(1, number)))
            server.stop()
            events.close()
        finally:
            shutil.rmtree(directory)

    def test_another_model_ends_the_stream(self):
        events = self.listen(**self.args).ready()
        with open(os.path.join(HERE, 'board.dolmen')) as file:
            text = file.read()
        with tempfile.NamedTemporaryFile('w', suffix='.dolmen') as changed:
            changed.write(text + f'\naccess again{Case.team}(team, board) = Note\n')
            changed.flush()
            apply(self.server.endpoint, changed.name)
        events.wait(lambda: events.ended)
        again = self.listen(**self.args, last=events.last).ready()
        self.assertEqual(again.kinds(), ['reset', 'ready'])

    def test_a_table_that_goes_ends_the_stream(self):
        with tempfile.TemporaryDirectory() as directory, Server(directory) as server:
            apply(server.endpoint)
            events = Events(server.endpoint, 'notes', **BOARD).ready()
            Api(server.endpoint).call('DeleteTable', {'TableName': 'board'})
            events.wait(lambda: events.ended)
            events.close()

    def test_a_stop_ends_streams(self):
        with tempfile.TemporaryDirectory() as directory:
            server = Server(directory)
            apply(server.endpoint)
            events = [Events(server.endpoint, 'notes', **BOARD).ready() for _ in range(20)]
            server.stop()
            for one in events:
                one.wait(lambda one=one: one.ended)
                one.close()


class Follow(unittest.TestCase):
    """`dolmen query --follow`."""

    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.port = free_port()
        self.server = self.serve()
        self.addCleanup(lambda: self.server.process.poll() is None and self.server.stop())
        apply(self.server.endpoint)
        self.events = []

    def serve(self):
        return Server(self.directory, '--port', str(self.port))

    def follow(self, *arguments):
        process = subprocess.Popen([BINARY, 'query', 'board', *arguments, '--follow', '--endpoint', self.server.endpoint],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stdout.close(), process.stderr.close()))
        return process

    def take(self, process, kind, **wanted):
        """The next event."""
        event = json.loads(process.stdout.readline())
        self.assertEqual(event['event'], kind, event)
        for name, value in wanted.items():
            self.assertEqual(event['item'][name] if name in event.get('item', {}) else event[name], value, event)
        return event

    def test_over_breaks(self):
        """What changes while nobody listens comes when the server is there again; nothing comes twice."""
        board = Board(self.server.endpoint)
        board.note(1, text='größe "x" & y=z')
        process = self.follow('notes', 'team=a', 'board=x')
        key = self.take(process, 'item', noteId='n1', text='größe "x" & y=z')['key']
        self.take(process, 'ready', count=1)
        for number in range(2, 5):
            board.note(number)
            self.take(process, 'put', noteId=f'n{number}')
        for number in range(5, 8):  # each time another way to go away
            board.connection.close()
            self.server.stop() if number == 6 else self.server.kill()
            self.server = self.serve()
            board = Board(self.server.endpoint)
            board.note(number)
            self.take(process, 'put', noteId=f'n{number}')
        board.delete(1)
        self.take(process, 'remove', key=key)
        board.connection.close()

    def test_arguments(self):
        board = Board(self.server.endpoint)
        board.note(1, team='a&b=c')
        for number in range(1, 4):
            board.note(number)
        process = self.follow('notes', 'team=a&b=c', 'board=x', '--keys')
        self.assertIn('PK', self.take(process, 'item', noteId='n1')['item'])
        self.take(process, 'ready', count=1)
        process = self.follow('notes', 'team=a', 'board=x', '--limit', '2')
        self.take(process, 'item', noteId='n1')
        self.take(process, 'item', noteId='n2')
        self.take(process, 'ready', count=2)
        board.connection.close()

    def test_a_table_that_goes(self):
        process = self.follow('notes', 'team=a', 'board=x')
        self.take(process, 'ready', count=0)
        Api(self.server.endpoint).call('DeleteTable', {'TableName': 'board'})
        self.assertEqual(process.wait(PATIENCE), 1)
        self.assertIn('dolmen query: ', process.stderr.read())

    def test_wrong(self):
        for arguments, text in ((['notes', 'team=a', 'board=x', '--all'], '--follow'),
                                (['notes', 'team=a'], 'board'), (['nothing'], "there is no access pattern 'nothing'"),
                                (['howMany', 'team=a', 'board=x'], 'A pattern that counts has no events'), ([], 'name a pattern')):
            with self.subTest(arguments):
                process = self.follow(*arguments)
                self.assertIn(process.wait(PATIENCE), (1, 2))
                self.assertIn(text, process.stderr.read())
                self.assertEqual(process.stdout.read(), '')
        data = subprocess.run([BINARY, 'query', 'board', 'notes', 'team=a', 'board=x', '--follow', '--data', self.directory + '/other'],
                              capture_output=True, text=True, check=False)
        self.assertNotEqual(data.returncode, 0)


class Tenants(Case):
    options = ('--tenant-header', 'x-tenant')

    def test_each_sees_its_own(self):
        red = Board(self.server.endpoint, {'x-tenant': 'red'})
        blue = Board(self.server.endpoint, {'x-tenant': 'blue'})
        own = self.listen(team='red', board=self.x, headers={'x-tenant': 'red'}).ready()
        foreign = self.listen(team='red', board=self.x, headers={'x-tenant': 'blue'}).ready()
        stolen = self.listen(team='red', board=self.x, headers={'x-tenant': 'blue'}, last=own.last).ready()
        red.note(1, team='red', board=self.x)
        blue.note(2, team='blue', board=self.x)
        own.shows(red.ask('notes', team='red', board=self.x))
        self.assertEqual(len(own.state), 1)
        marker = self.listen(team='blue', board=self.x, headers={'x-tenant': 'blue'}).ready()
        blue.note(3, team='blue', board=self.x)
        marker.wait(lambda: 'put' in marker.kinds())
        for one in (red, blue):
            one.connection.close()
        self.assertEqual(foreign.kinds(), ['ready'])
        self.assertEqual(stolen.kinds(), ['reset', 'ready'])


class Property(Case):
    """Random changes; after each, what every client shows is what its pattern answers."""

    def random_change(self, rng, team, there):
        number = rng.randrange(12)
        key = {'team': team, 'board': rng.choice('uv')}
        name = (number, key['board'])
        if name not in there:
            self.board.note(number, **key, colour=rng.choice(['red', 'green']), weight=rng.randrange(6), owner=rng.choice(['me', 'you']))
            there.add(name)
        elif rng.random() < 0.3:
            self.board.delete(number, **key)
            there.discard(name)
            # A note that is deleted softly is made anew by a put of another kind: it is brought back instead.
            if rng.random() < 0.5:
                self.board.send('POST', '/v1/board/Note/$undelete', {}, **self.board.key(number, **key))
                there.add(name)
            else:
                self.gone.add(name)
        else:
            changes = rng.choice([{'colour': rng.choice(['red', 'green', 'blue'])}, {'weight': rng.randrange(6)}, {'text': str(rng.random())},
                                  {'owner': rng.choice(['me', 'you', 'them'])}])
            self.board.patch(number, changes, **key)

    def run_changes(self, seed, count):
        rng = random.Random(seed)
        team = f'p{seed}'
        self.gone = set()
        there = set()
        asked = [('notes', {'board': 'u'}), ('notesDown', {'board': 'v'}), ('everything', {'board': 'u'}), ('byColour', {'colour': 'red'}),
                 ('heavy', {'board': 'u', 'least': 3}), ('firstThree', {'colour': 'red'}), ('heaviest', {'colour': 'red'}),
                 ('firstThree', {'colour': 'green'}), ('byColour', {'colour': 'red', 'limit': 2}), ('owned', {'owner': 'me'})]
        clients = []
        for pattern, more in asked:
            clients.append((pattern, more, self.listen(pattern, team=team, **more)))
        for turn in range(count):
            try:
                self.random_change(rng, team, there)
            except AssertionError:
                continue  # a note that was deleted softly is still there
            if turn == count // 2:  # some come late, or again
                for pattern, more in asked[:4]:
                    clients.append((pattern, more, self.listen(pattern, team=team, **more)))
                for pattern, more, client in clients[:4]:
                    last = client.ready().last
                    client.close()
                    resumed = self.listen(pattern, team=team, last=last, state=client.state, **more)
                    clients.append((pattern, more, resumed))
                clients = clients[4:]
            for pattern, more, client in clients:
                arguments = {name: value for name, value in more.items() if name != 'limit'}
                items = self.board.ask(pattern, team=team, **arguments)
                limit = {'firstThree': 3, 'heaviest': 1}.get(pattern, more.get('limit'))
                client.shows(items[:limit])

    def test_random(self):
        for seed in range(SEED, SEED + 3):
            self.run_changes(seed, 80)


if __name__ == '__main__':
    result = unittest.main(exit=False, argv=[sys.argv[0], *sys.argv[1:]], verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f'{max(result.testsRun - failed, 0)} passed, {failed} failed')
    sys.exit(1 if failed else 0)
