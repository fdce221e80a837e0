"""Keys are changed without a moment in which a pattern misses an item: expand, migrate, contract, as docs/MIGRATIONS.md tells it.
Readers ask for every item all the time, and every answer has to be whole."""
import http.client
import json
import random
import threading
import time
import unittest
import urllib.parse

from support import Api, ApiError, Case, item

FILES = 600

# A file stands under its folder; it shall have a key of its own, so that it can be in several.
BEFORE = """
table files {
  key PK, SK
  type EntityType
}
entity File {
  PK = "FOLDER#{folder}"  SK = "FILE#{fileId}"
  folder string
  fileId string
  size integer = 0
}
access filesOf(folder) = File
"""

# Both shapes, and an index that has them under the same keys.
EXPAND = """
table files {
  key PK, SK
  index GSI1 (GSI1PK, GSI1SK)
  type EntityType
}
entity File {
  PK = "FOLDER#{folder}"  SK = "FILE#{fileId}"
  GSI1 = "FOLDER#{folder}", "{fileId}"
  folder string
  fileId string
  size integer = 0
}
entity Document {
  PK = "DOCUMENT#{fileId}"  SK = "META"
  GSI1 = "FOLDER#{folder}", "{fileId}"
  folder string
  fileId string
  size integer = 0
}
access filesOf(folder) = File
"""

# The pattern reads where both are.
SWITCH = EXPAND.replace('access filesOf(folder) = File', 'access filesOf(folder) = File, Document via GSI1')

MOVE = """migration move of files {
  up {
    from File { make Document { copy  folder  fileId } }
  }
  down {
    from Document { make File { copy  folder  fileId } }
  }
}
"""

# Only the new shape.
CONTRACT = """
table files {
  key PK, SK
  index GSI1 (GSI1PK, GSI1SK)
  type EntityType
}
entity Document {
  PK = "DOCUMENT#{fileId}"  SK = "META"
  GSI1 = "FOLDER#{folder}", "{fileId}"
  folder string
  fileId string
  size integer = 0
}
access filesOf(folder) = Document via GSI1
"""


class Reader(threading.Thread):
    """Asks for the files of a folder again and again; all have to be there, each once."""

    def __init__(self, endpoint, folder, stop):
        super().__init__(daemon=True)
        self.address = urllib.parse.urlparse(endpoint)
        self.folder, self.stop, self.reads, self.faults = folder, stop, 0, []

    def run(self):
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=60)
        wanted = [str(number) for number in range(FILES) if number % 3 == self.folder]
        while not self.stop.is_set():
            connection.request('GET', f'/v1/files/filesOf?folder=f{self.folder}&limit=1000')
            answer = connection.getresponse()
            document = json.loads(answer.read())
            if answer.status != 200:
                self.faults.append(document)
                continue
            found = sorted(one['fileId'] for one in document['items'])
            if found != sorted(wanted):
                self.faults.append((len(found), len(wanted)))
            self.reads += 1


class Keys(Case):
    def test_no_pattern_misses_an_item(self):
        self.serve()
        self.assertEqual(self.cli('apply', self.file('before.dolmen', BEFORE)).code, 0)
        self.load((item(folder=f'f{number % 3}', fileId=str(number)) for number in range(FILES)), 'files')
        stop = threading.Event()
        readers = [Reader(self.server.endpoint, folder, stop) for folder in range(3)]
        for reader in readers:
            reader.start()
        writer = threading.Thread(target=self.count, args=(stop,), daemon=True)
        self.counted = {}
        self.errors = []
        writer.start()
        for command in [('apply', self.file('expand.dolmen', EXPAND)), ('apply', self.file('switch.dolmen', SWITCH)),
                        ('migrate', self.file('move.migration', MOVE)), ('apply', self.file('contract.dolmen', CONTRACT))]:
            before = [reader.reads for reader in readers]
            done = self.cli(*command)
            self.assertEqual(done.code, 0, f'{command}: {done.err}')
            while any(reader.reads < reads + 3 and not reader.faults for reader, reads in zip(readers, before)):
                time.sleep(0.01)
        stop.set()
        for thread in (*readers, writer):
            thread.join()
        for reader in readers:
            self.assertEqual(reader.faults, [])
        self.assertEqual(self.errors, [])
        stored = self.scan('files')
        self.assertEqual({one['EntityType'] for one in stored}, {'Document'})
        # Not an update was lost on the way.
        self.assertEqual({one['fileId']: int(one['size']) for one in stored if one['size'] != '0'}, self.counted)

    def count(self, stop):
        """An application that knows both places: where it is not yet, or not any more, it is in the other one."""
        api, chance = Api(self.server.endpoint), random.Random(1)
        while not stop.is_set():
            number = chance.randrange(FILES)
            places = [(f'FOLDER#f{number % 3}', f'FILE#{number}'), (f'DOCUMENT#{number}', 'META')]
            for place in (*places, *places):
                try:
                    api.call('UpdateItem', {
                        'TableName': 'files', 'Key': item(PK=place[0], SK=place[1]), 'UpdateExpression': 'ADD #s :one', 'ExpressionAttributeNames': {'#s': 'size'},
                        'ConditionExpression': 'attribute_exists(PK)', 'ExpressionAttributeValues': {':one': {'N': '1'}}})
                    self.counted[str(number)] = self.counted.get(str(number), 0) + 1
                    break
                except ApiError as error:
                    if error.name != 'ConditionalCheckFailedException':
                        self.errors.append(str(error))
            else:
                self.errors.append(f'{number} is in neither place')


class Unsteady(Case):
    def test_a_key_of_what_is_set_at_each_write(self):
        """It is the item's mistake to come again, not the server's."""
        self.serve()
        model = 'table seen { key id, at }\nentity Seen { id string  at timestamp = now() on update }\n'
        self.assertEqual(self.cli('apply', self.file('seen.dolmen', model)).code, 0)
        put = {'TableName': 'seen', 'Item': item(id='a', at='2026-01-01T00:00:00.000Z')}
        self.api.call('PutItem', put)
        with self.assertRaises(ApiError) as caught:
            self.api.call('PutItem', put)
        self.assertEqual(caught.exception.name, 'ValidationException')
        self.assertIn('The primary key of the item would change', str(caught.exception))


if __name__ == '__main__':
    unittest.main()
