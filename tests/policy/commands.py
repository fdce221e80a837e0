"""The command line: `dolmen policy check`, `explain` and `test`, their words and exit codes."""
import json
import os
import subprocess
import tempfile

TABLE = 'arn:aws:dynamodb:us-east-1:111111111111:table/Orders'
USER = 'arn:aws:iam::111111111111:user/ann'
ASK = ['--principal', USER, '--action', 'dynamodb:GetItem', '--resource', TABLE]
FILES = {
    'all.json': {'Version': '2012-10-17', 'Statement': {'Sid': 'All', 'Effect': 'Allow', 'Action': '*', 'Resource': '*'}},
    'keys.json': {'Version': '2012-10-17', 'Statement': [{'Effect': 'Allow', 'Action': 'dynamodb:GetItem', 'Resource': '*',
                                                         'Condition': {'ForAllValues:StringEquals': {'dynamodb:LeadingKeys': ['a', 'b']}, 'Null': {'dynamodb:LeadingKeys': 'false'}}}]},
    'none.json': {'Statement': {'Effect': 'Allow', 'Action': 'dynamodb:ListTables', 'Resource': '*'}},
    'table.json': {'Statement': {'Sid': 'Not Ann', 'Effect': 'Deny', 'Principal': {'AWS': USER}, 'Action': 'dynamodb:*', 'Resource': '*'}},
    'wrong.json': {'Statement': {'Effect': 'Maybe', 'Action': '*', 'Resource': '*'}},
    'odd.json': {'Statement': {'Effect': 'Allow', 'Action': 'dynamodb:Reed', 'Resource': '*'}},
}
CASE = {'identity': FILES['all.json'], 'principal': USER, 'action': 'dynamodb:GetItem', 'resource': TABLE}


def results(binary):
    """(name, whether it is right, what was printed) of each."""
    with tempfile.TemporaryDirectory() as directory:
        for name, document in FILES.items():
            with open(os.path.join(directory, name), 'w') as file:
                json.dump(document, file)

        def run(*arguments, text=''):
            done = subprocess.run([binary, 'policy', *arguments], cwd=directory, input=text, capture_output=True, text=True)
            return done.returncode, done.stdout, done.stderr

        def one(name, got, code, out=None, err=None):
            right = got[0] == code and (out is None or got[1] == out) and (err is None or err in got[2])
            return name, right, got

        yield one('check', run('check', 'all.json', 'table.json'), 0,
                  'all.json: identity policy, 1 statement: ok\ntable.json: resource policy, 1 statement: ok\n')
        yield one('check of a wrong one', run('check', 'wrong.json', 'all.json'), 1,
                  'wrong.json:1:26: error: /Statement/Effect: Effect must be "Allow" or "Deny", not "Maybe"\nall.json: identity policy, 1 statement: ok\n')
        yield one('check with a warning', run('check', 'odd.json'), 0,
                  'odd.json:1:45: warning: /Statement/Action: there is no action "dynamodb:Reed" here\nodd.json: identity policy, 1 statement: ok, 1 warning\n')
        yield one('check of another kind', run('check', '--kind', 'resource', 'all.json'), 1)
        yield one('check of standard input', run('check', '-', text='[]'), 1, '-:1:1: error: a policy must be an object, not a list\n')
        yield one('check as JSON', run('check', '--json', 'wrong.json', 'odd.json'), 1, json.dumps([
            {'file': 'wrong.json', 'kind': 'identity',
             'diagnostics': [{'level': 'error', 'line': 1, 'column': 26, 'pointer': '/Statement/Effect', 'message': 'Effect must be "Allow" or "Deny", not "Maybe"'}],
             'ok': False, 'statements': 0},
            {'file': 'odd.json', 'kind': 'identity',
             'diagnostics': [{'level': 'warning', 'line': 1, 'column': 45, 'pointer': '/Statement/Action', 'message': 'there is no action "dynamodb:Reed" here'}],
             'ok': True, 'statements': 1}], separators=(',', ':')) + '\n')
        yield one('check of no file', run('check', 'nothing.json'), 1, err="cannot read 'nothing.json'")
        yield one('check of nothing', run('check'), 2, err='check takes the names of files')
        yield one('no verb', run(), 2, err='check, explain or test')

        yield one('allowed', run('explain', '--policy', 'all.json', *ASK), 0)
        yield one('denied', run('explain', '--policy', 'none.json', *ASK), 1)
        yield one('boundary', run('explain', '--policy', 'all.json', '--boundary', 'none.json', *ASK), 1)
        yield one('session', run('explain', '--policy', 'all.json', '--session-policy', 'none.json', *ASK), 1)
        yield one('resource policy', run('explain', '--policy', 'all.json', '--resource-policy', 'table.json', '--json', *ASK), 1, json.dumps({
            'statements': [
                {'kind': 'identity', 'policy': 0, 'file': 'all.json', 'statement': 0, 'sid': 'All', 'effect': 'Allow', 'matches': True},
                {'kind': 'resourcePolicy', 'policy': 0, 'file': 'table.json', 'statement': 0, 'sid': 'Not Ann', 'effect': 'Deny', 'matches': True}],
            'decision': 'explicitDeny', 'reason': 'statement', 'kind': 'resourcePolicy', 'policy': 0, 'file': 'table.json', 'statement': 0, 'sid': 'Not Ann',
            'message': f'User: {USER} is not authorized to perform: dynamodb:GetItem on resource: {TABLE} with an explicit deny in a resource-based policy'},
            separators=(',', ':')) + '\n')
        keys = ['--context', 'dynamodb:LeadingKeys=a', '--context', 'dynamodb:LeadingKeys=']
        yield one('several values', run('explain', '--policy', 'keys.json', *ASK, *keys[:3], 'dynamodb:LeadingKeys=b'), 0)
        yield one('an empty value', run('explain', '--policy', 'keys.json', *ASK, *keys), 1)
        yield one('several resources', run('explain', '--policy', 'all.json', *ASK, '--resource', TABLE.replace('1111', '2222')), 1)
        yield one('context without a value', run('explain', *ASK, '--context', 'aws:userid'), 2, err='--context must be KEY=VALUE')
        yield one('no principal', run('explain', '--principal', 'ann', *ASK[2:]), 1, err='"ann" is not a principal')
        yield one('no action', run('explain', *ASK[:2], *ASK[4:]), 2, err='explain needs --action')
        yield one('a wrong policy', run('explain', '--policy', 'wrong.json', *ASK), 1, err='wrong.json:1:26: /Statement/Effect: Effect must be')
        yield one('two boundaries', run('explain', '--boundary', 'all.json', '--boundary', 'all.json', *ASK), 1, err='more than 1 permissions boundary')

        cases = [dict(CASE, expect='allow'), dict(CASE, name='no', expect='explicitDeny'), dict(CASE, action='GetItem'), dict(CASE, expect='perhaps'), dict(CASE, more=1)]
        code, out, err = run('test', '-', text='\n'.join(map(json.dumps, cases)) + '\n\n{\n')
        yield 'test', code == 1 and [line for line in out.splitlines() if line.startswith('-:')] == [
            '-:2: no: expected explicitDeny, and it is allow', '-:3: "GetItem" is not an action: write dynamodb:GetItem',
            '-:4: expect must be allow, implicitDeny or explicitDeny, not "perhaps"', '-:5: a case has no member named "more"',
            '-:7: this is not JSON: unexpected end of the text at byte 1'] and out.endswith('1 passed, 5 failed\n'), out + err
        yield one('test passes', run('test', '-', text=json.dumps(cases[0])), 0, '1 passed, 0 failed\n')


def facts(binary, data):
    """The table of src/policy/facts.h against the service authorization reference, as an npm package has it: every action is known,
    every key comes with its actions, and no other one."""
    def read(kind):
        with open(os.path.join(data, kind, 'dynamodb.json')) as file:
            return json.load(file).values()
    own = [key['key'] for key in read('conditionKeys') if key['key'].startswith('dynamodb:')]
    # The reference names no action for these; here they come with what dynamodb:LeadingKeys comes with.
    parts = {f'dynamodb:{part}PartitionKeyValues' for part in ('First', 'Second', 'Third', 'Fourth')}
    for action in read('actions'):
        keys = {key for key in action['conditionKeys'] if key.startswith('dynamodb:')}
        keys |= parts if 'dynamodb:LeadingKeys' in keys else set()
        document = {'Version': '2012-10-17', 'Statement': {'Effect': 'Allow', 'Action': 'dynamodb:' + action['name'], 'Resource': '*',
                                                           'Condition': {'Null': {key: 'false' for key in own}}}}
        done = subprocess.run([binary, 'policy', 'check', '--json', '-'], input=json.dumps(document), capture_output=True, text=True)
        told = {fault['message'].rpartition(' ')[2] for fault in json.loads(done.stdout)[0]['diagnostics']}
        yield 'keys of ' + action['name'], told == set(own) - keys, done.stdout
