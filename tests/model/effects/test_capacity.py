"""What follows from a write is written, too: its capacity is in the answer, for the tables that the answer tells of."""
from support import Case, item

MODEL = '''
table costs { key PK, SK  type kind
  index GSI1 (GSI1PK, GSI1SK) }
entity Album { PK = "ALBUM#{album}"  SK = "x"  album string  photos integer = count of Photo }
entity Photo {
  PK = "PHOTO#{photo}"  SK = "x"
  photo string
  album string?
  tags  set<string>?
  text  string?
}
entity Tag { PK = "TAG#{tag}"  SK = "{photo}"  GSI1 = "TAGS", "{tag}"  tag string  photo string }
derive Tag from each Photo.tags as tag
table beside { key PK, SK  type kind }
entity Event of beside { PK = "EVENT#{event}"  SK = "x"  event string = ulid()  photo string }
emit "photo" on insert of Photo into Event
entity Plain of beside { PK = "PLAIN#{plain}"  SK = "x"  plain string }
'''


class Capacity(Case):
    def setUp(self):
        self.apply(MODEL, 'costs', 'beside')
        self.put('costs', item('Album', album='a'))

    def units(self, mode='TOTAL', **more):
        return self.put('costs', item('Photo', **more), ReturnConsumedCapacity=mode)['ConsumedCapacity']

    def test_put(self):
        self.assertEqual(self.units(photo='1')['CapacityUnits'], 1.0)
        # The photo, the album, two tags; the event is in another table.
        self.assertEqual(self.units(photo='2', album='a', tags={'x', 'y'})['CapacityUnits'], 6.0)
        told = self.units('INDEXES', photo='3', album='a', tags={'x', 'y'})
        self.assertEqual(told, {'TableName': 'costs', 'CapacityUnits': 6.0, 'Table': {'CapacityUnits': 4.0},
                                'GlobalSecondaryIndexes': {'GSI1': {'CapacityUnits': 2.0}}})
        # One tag goes, one comes.
        told = self.api.call('UpdateItem', {
            'TableName': 'costs', 'Key': {'PK': {'S': 'PHOTO#3'}, 'SK': {'S': 'x'}}, 'UpdateExpression': 'SET tags = :t',
            'ExpressionAttributeValues': {':t': {'SS': ['y', 'z']}}, 'ReturnConsumedCapacity': 'INDEXES'})['ConsumedCapacity']
        self.assertEqual((told['Table']['CapacityUnits'], told['GlobalSecondaryIndexes']['GSI1']['CapacityUnits']), (3.0, 2.0))
        told = self.api.call('DeleteItem', {'TableName': 'costs', 'Key': {'PK': {'S': 'PHOTO#3'}, 'SK': {'S': 'x'}}, 'ReturnConsumedCapacity': 'TOTAL'})
        self.assertEqual(told['ConsumedCapacity']['CapacityUnits'], 6.0)
        # What is not changed costs what it did.
        self.units(photo='4', album='a')
        self.assertEqual(self.units(photo='4', album='a')['CapacityUnits'], 1.0)

    def test_many(self):
        """Of each table of the request, all that was written to it, whichever action it follows from."""
        def rows(answer):
            return {one['TableName']: one for one in answer['ConsumedCapacity']}
        photos = [{'Put': {'TableName': 'costs', 'Item': item('Photo', photo=f't{n}', album='a', tags={'x'})}} for n in range(3)]
        told = rows(self.api.call('TransactWriteItems', {'TransactItems': photos, 'ReturnConsumedCapacity': 'INDEXES'}))
        self.assertEqual(told, {'costs': {
            'TableName': 'costs', 'CapacityUnits': 17.0, 'WriteCapacityUnits': 17.0,  # 2 * (3 photos, 3 tags, the album) and 3
            'Table': {'CapacityUnits': 14.0, 'WriteCapacityUnits': 14.0},
            'GlobalSecondaryIndexes': {'GSI1': {'CapacityUnits': 3.0, 'WriteCapacityUnits': 3.0}}}})
        for photo in photos:
            photo['Put']['Item']['PK'] = {'S': f'PHOTO#u{photo["Put"]["Item"]["photo"]["S"]}'}
            photo['Put']['Item']['photo'] = {'S': 'u' + photo['Put']['Item']['photo']['S']}
        told = rows(self.api.call('TransactWriteItems', {'TransactItems': photos + [
            {'Put': {'TableName': 'beside', 'Item': item('Plain', plain='1')}}], 'ReturnConsumedCapacity': 'TOTAL'}))
        self.assertEqual((told['costs']['CapacityUnits'], told['beside']['CapacityUnits']), (17.0, 8.0))  # and 2 * 3 events
        told = rows(self.api.call('BatchWriteItem', {'RequestItems': {'costs': [
            {'PutRequest': {'Item': item('Photo', photo=f'b{n}', album='a', tags={'x'})}} for n in range(3)]}, 'ReturnConsumedCapacity': 'TOTAL'}))
        self.assertIn(told['costs']['CapacityUnits'], (10.0, 12.0))  # the album once, or with each
        statement = """INSERT INTO "costs" VALUE {'kind': 'Photo', 'PK': 'PHOTO#s%d', 'SK': 'x', 'photo': 's%d', 'album': 'a'}"""
        one = self.api.call('ExecuteStatement', {'Statement': statement % (1, 1), 'ReturnConsumedCapacity': 'TOTAL'})
        self.assertEqual(one['ConsumedCapacity']['CapacityUnits'], 2.0)
        told = rows(self.api.call('BatchExecuteStatement', {'Statements': [
            {'Statement': statement % (2, 2)}, {'Statement': """INSERT INTO "beside" VALUE {'kind': 'Plain', 'PK': 'PLAIN#2', 'SK': 'x', 'plain': '2'}"""}],
            'ReturnConsumedCapacity': 'TOTAL'}))
        self.assertEqual((told['costs']['CapacityUnits'], told['beside']['CapacityUnits']), (2.0, 2.0))
