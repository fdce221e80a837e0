"""What follows from a bound write stops at its tenant: counts, references, events."""
from client import Client, S, key

MODEL = '''
table rules {
  key   PK, SK
  index GSI1 (GSI1PK, GSI1SK)
  index GSI2 (GSI2PK, GSI2SK)
  type  kind
}
entity Board {
  PK = "B#{org}"  SK = "META"
  org   string
  likes integer = count of Like where target = org
}
entity Like {
  PK = "L#{org}"  SK = "LIKE#{id}"
  org    string
  id     string
  target string
}
entity Secret {
  PK = "S#{id}"  SK = "META"
  id string
}
entity Memo {
  PK = "M#{org}"  SK = "MEMO#{id}"
  GSI1 = "SECRET#{secret}", "{org}#{id}"
  org    string
  id     string
  secret string? references Secret on delete clear
}
entity Card {
  PK = "C#{org}"  SK = "CARD#{id}"
  GSI1 = "BOARD#{board}", "{org}#{id}"
  org   string
  id    string
  board string? references Board on delete reject
}
entity Ledger {
  PK = "LEDGER#{id}"  SK = "META"
  GSI2 = "LEDGERS#{board}", "{id}"
  id    string
  board string? references Board on delete reject
}
entity Outbox {
  PK = "OUT#{id}"  SK = "EVENT"
  id      string = ulid()
  type    string
  payload any?
}
emit "liked" on insert of Like into Outbox
tenant org
'''


def put(client, kind, **attributes):
    item = {'kind': S(kind), **{name: S(value) for name, value in attributes.items()}}
    return client.call('PutItem', {'TableName': 'rules', 'Item': item})


def item(client, pk):
    return client.call('GetItem', {'TableName': 'rules', 'Key': key(pk, 'META')})[1].get('Item')


def delete(client, pk, sk='META'):
    return client.call('DeleteItem', {'TableName': 'rules', 'Key': key(pk, sk)})


def same_before_and_after(results, name, ask, make):
    """The answer must not depend on whether there is what the tenant may not see."""
    before = ask()
    made = make()
    results.same(f'{name}: it can be made', made[0], 200)
    results.same(name, ask(), before)
    return before


def run(results, server):
    free, a, b = Client(server.endpoint), Client(server.endpoint, 'a'), Client(server.endpoint, 'b')
    results.same('the rules', free.call('ApplyModel', {'FileName': 'rules.dolmen', 'Model': MODEL})[0], 200)
    put(a, 'Board')
    results.same('a count of its own', put(a, 'Like', id='1', target='a')[0], 200)
    results.same('is counted', item(a, 'B#a')['likes'], {'N': '1'})
    denied = same_before_and_after(results, 'a count of another', lambda: put(a, 'Like', id='2', target='b'), lambda: put(b, 'Board'))
    results.check('is refused', denied[1].get('__type', '').endswith('#AccessDeniedException'), denied)
    results.same('and not counted', item(b, 'B#b')['likes'], {'N': '0'})
    results.same('events are the server\'s', free.call('Scan', {
        'TableName': 'rules', 'FilterExpression': 'kind = :k', 'ExpressionAttributeValues': {':k': S('Outbox')}})[1]['Count'], 1)
    missing = same_before_and_after(results, 'a reference to what nobody owns', lambda: put(a, 'Memo', id='1', secret='x'),
                                    lambda: put(free, 'Secret', id='x'))
    results.check('is one to nothing', 'that exists' in missing[1].get('message', ''), missing)
    missing = same_before_and_after(results, 'a reference to another', lambda: put(a, 'Card', id='1', board='c'),
                                    lambda: put(Client(server.endpoint, 'c'), 'Board'))
    results.check('is one to nothing, too', 'that exists' in missing[1].get('message', ''), missing)
    results.same('a reference of its own', put(a, 'Card', id='1', board='a')[0], 200)
    results.check('holds up a delete', 'refers to' in delete(a, 'B#a')[1].get('message', ''))
    delete(a, 'C#a', 'CARD#1')
    results.same('another refers to it', put(free, 'Card', org='b', id='9', board='a')[0], 200)
    results.same('so does what nobody owns', put(free, 'Ledger', id='9', board='a')[0], 200)
    results.check('an unbound delete is refused', 'refers to' in delete(free, 'B#a')[1].get('message', ''))
    results.same('one that knows nothing of it is not', delete(a, 'B#a'), (200, {}))
    results.check('and they stay', free.call('GetItem', {'TableName': 'rules', 'Key': key('C#b', 'CARD#9')})[1]['Item']['board'] == S('a'))
