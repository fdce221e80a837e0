"""A naive evaluator of IAM policies, written from the IAM user guide with other means than src/policy: regular expressions, decimals, datetime,
ipaddress. It is slow and plain, and decides what `dolmen policy test` has to decide.

`quirks` are mistakes of the oracle (oracle.mjs), by name. With one of them the evaluator makes the same mistake, which shows that it
is this one that explains a disagreement.
"""
import base64
import binascii
import datetime
import decimal
import functools
import ipaddress
import re

QUIRKS = {
    'session-limits-its-arn': 'a resource policy that names a session by its ARN is not limited by session policies (IAM guide, "Session policies"); the oracle limits it',
    'root-needs-policies': 'the root of an account has full access in it (IAM guide, "How AWS enforcement code logic evaluates requests"); the oracle wants a policy',
    'variables-in-2008': 'variables are text in documents of version 2008-10-17 (IAM guide, "Policy variables"); the oracle replaces them',
    'escapes-in-equals': '${*}, ${?} and ${$} are the characters (IAM guide, "Special characters"); the oracle leaves them in StringEquals',
    'any-if-exists': '…IfExists holds for a missing key (IAM guide, "IfExists"), also behind ForAnyValue:; not in the oracle',
    'ipv6-as-text': 'one address of IPv6 can be written in many ways; the oracle compares the texts where there is no prefix',
    'empty-variables': 'a variable with an empty value has none here (docs/adr/023-policies.md); the oracle compares with the text ${…} itself',
    'numbers-by-prefix': '1.2.3 and 10.0.0.0/33 are no numbers; the oracle reads 1.2 and 10',
    'ip-families': 'an address of IPv6 is not one of IPv4, so NotIpAddress holds; not in the oracle where there is no prefix, though it does with one',
    'ipv4-slash-0': '0.0.0.0/0 is every address of IPv4; in the oracle it is none',
    'short-arn-in-not-resource': 'NotResource is about all that Resource is not about (IAM guide, "NotResource"); with arn:aws:dynamodb:* it is never about anything in the oracle',
    'arn-cut-in-variables': 'a variable stands in one part of an ARN; the oracle cuts ARNs of conditions at the colon inside of ${aws:PrincipalAccount}',
    'epoch-dates': 'dates may be seconds since 1970 (IAM guide, "Date condition operators"); the oracle takes them for milliseconds',
}
MANY = {'dynamodb:leadingkeys', 'dynamodb:attributes', 'dynamodb:firstpartitionkeyvalues', 'dynamodb:secondpartitionkeyvalues',
        'aws:tagkeys', 'aws:calledvia', 'aws:principalorgpaths', 'aws:principalservicenameslist', 'aws:resourceorgpaths', 'aws:sourceorgpaths'}
VOID = object()  # a comparison that cannot be made
VARIABLE = re.compile(r"\$\{(?:([*?$])|\s*([^},]*?)\s*(?:,\s*'([^']*)'\s*)?)\}")


@functools.lru_cache(maxsize=200000)
def compiled(expression, flags):
    return re.compile(expression, flags)


def listed(value):
    return value if isinstance(value, list) else [value]


def text_of(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


class Request:
    def __init__(self, case):
        self.principal, self.action, self.resource = case['principal'], case['action'], case['resource']
        self.context = {}
        arn = self.principal.split(':', 5)
        self.kind = ('anonymous' if self.principal == 'anonymous' else 'service' if len(arn) < 6 else 'root' if arn[5] == 'root'
                     else arn[5].split('/')[0])
        self.own_account = arn[4] if len(arn) == 6 else None
        resource = self.resource.split(':', 5)
        self.account = case.get('account') or (resource[4] if len(resource) == 6 and resource[4] else self.own_account)
        self.role = f'arn:{arn[1]}:iam::{arn[4]}:role/{arn[5].split("/")[1]}' if self.kind == 'assumed-role' else None
        for key, value in self.implied().items():
            if value is not None:
                self.context[key] = [value]
        for key, value in case.get('context', {}).items():
            if listed(value):
                self.context[key.lower()] = [text_of(one) for one in listed(value)]

    def implied(self):
        types = {'anonymous': 'Anonymous', 'root': 'Account', 'user': 'User', 'assumed-role': 'AssumedRole', 'federated-user': 'FederatedUser'}
        return {'aws:principalarn': self.role or (self.principal if self.own_account else None),
                'aws:principalaccount': self.own_account,
                'aws:principaltype': types.get(self.kind),
                'aws:principalisawsservice': 'true' if self.kind == 'service' else 'false',
                'aws:principalservicename': self.principal if self.kind == 'service' else None,
                'aws:username': self.principal.split('/')[-1] if self.kind == 'user' else None,
                'aws:resourceaccount': self.account}


class Evaluator:
    def __init__(self, case, quirks=frozenset()):
        self.case, self.quirks, self.request = case, quirks, Request(case)

    # ---- Text

    def expression(self, text, wild, variables, equals=False):
        """A regular expression for a pattern, or None if a variable has no value."""
        out, at = '', 0
        while at < len(text):
            found = VARIABLE.match(text, at) if variables else None
            if found:
                literal, key, default = found.groups()
                if literal:
                    out += re.escape(found.group(0) if equals and 'escapes-in-equals' in self.quirks else literal)
                else:
                    values = self.request.context.get(key.lower(), [])
                    if len(values) == 1 and values[0] and key.lower() not in MANY:
                        out += re.escape(values[0])
                    elif default is not None:
                        out += re.escape(default)
                    elif 'empty-variables' in self.quirks and values == ['']:
                        out += re.escape(found.group(0))
                    else:
                        return None
                at = found.end()
            elif wild and text[at] in '*?':
                out += '.*' if text[at] == '*' else '.'
                at += 1
            else:
                out += re.escape(text[at])
                at += 1
        return out

    def like(self, pattern, text, wild, variables, flags=0, equals=False):
        expression = self.expression(pattern, wild, variables, equals)
        return VOID if expression is None else compiled(expression, flags | re.S).fullmatch(text) is not None

    def arn_like(self, pattern, arn, variables, complete):
        """Each of the six parts on its own."""
        variables_whole = variables and not ('arn-cut-in-variables' in self.quirks and not complete)
        marked = VARIABLE.sub(lambda m: m.group(0).replace(':', '\0'), pattern) if variables_whole else pattern
        parts = [part.replace('\0', ':') for part in marked.split(':', 5)]
        if len(parts) < 6 and not complete:
            return VOID
        parts += ['*'] * (6 - len(parts))
        own = arn.split(':', 5)
        if len(own) < 6 or own[0] != 'arn' or parts[0] != 'arn':
            return VOID
        results = [self.like(part, text, True, variables) for part, text in zip(parts, own)]
        return False if False in results else VOID if VOID in results else True

    # ---- Conditions

    def compare(self, test, relation, operand, value, variables):
        if test in ('String', 'StringIgnoreCase'):
            return self.like(operand, value, False, variables, re.I if test.endswith('IgnoreCase') else 0, True)
        if test == 'StringLike':
            return self.like(operand, value, True, variables)
        if test == 'Arn':
            return self.arn_like(operand, value, variables, False)
        if test == 'Bool':
            operand, value = operand.lower(), value.lower()
            return VOID if {operand, value} - {'true', 'false'} else operand == value
        if test == 'Binary':
            try:
                return base64.b64decode(operand, validate=True) == base64.b64decode(value, validate=True)
            except binascii.Error:
                return VOID
        if test == 'Ip':
            return self.address_within(operand, value)
        read = self.number if test == 'Numeric' else self.date
        operand, value = read(operand), read(value)
        if operand is None or value is None:
            return VOID
        return {'Equals': value == operand, 'LessThan': value < operand, 'LessThanEquals': value <= operand,
                'GreaterThan': value > operand, 'GreaterThanEquals': value >= operand}[relation]

    def number(self, text):
        match = re.match if 'numbers-by-prefix' in self.quirks else re.fullmatch
        found = match(r'[+-]?(\d+\.?\d*|\.\d+)', text)
        return decimal.Decimal(found.group(0)) if found else None

    def date(self, text):
        if re.fullmatch(r'-?\d{5,}', text):
            return datetime.datetime.fromtimestamp(int(text) / (1000 if 'epoch-dates' in self.quirks else 1), datetime.timezone.utc)
        for form in ('%Y-%m-%dT%H:%M:%S.%f%z', '%Y-%m-%dT%H:%M:%S%z', '%Y-%m-%dT%H:%M%z', '%Y-%m-%d', '%Y-%m'):
            try:
                date = datetime.datetime.strptime(text, form)
                return date if date.tzinfo else date.replace(tzinfo=datetime.timezone.utc)
            except ValueError:
                pass
        return None

    def address_within(self, block, address):
        try:
            network, own = ipaddress.ip_network(block, strict=False), ipaddress.ip_address(address)
        except ValueError:
            return VOID
        if 'ipv4-slash-0' in self.quirks and network.version == 4 and network.prefixlen == 0:
            return False
        if 'ip-families' in self.quirks and network.version != own.version and '/' not in block:
            return VOID
        if 'ipv6-as-text' in self.quirks and network.version == 6 and own.version == 6 and '/' not in block:
            return block == address
        return own.version == network.version and own in network

    def holds(self, name, key, operands, variables):
        each, _, name = name.rpartition(':')
        if_exists = name.endswith('IfExists')
        name = name.removesuffix('IfExists')
        values = self.request.context.get(key.lower(), [])
        operands = [text_of(operand) for operand in listed(operands)]
        if name == 'Null':
            return ('false' if values else 'true') in [operand.lower() for operand in operands]
        negated = 'Not' in name
        name = name.replace('Not', '')
        test, relation = {'StringEquals': ('String', ''), 'StringEqualsIgnoreCase': ('StringIgnoreCase', ''), 'StringLike': ('StringLike', ''),
                          'Bool': ('Bool', ''), 'BinaryEquals': ('Binary', ''), 'IpAddress': ('Ip', ''), 'ArnEquals': ('Arn', ''),
                          'ArnLike': ('Arn', '')}.get(name) or re.fullmatch('(Numeric|Date)(.*)', name).groups()
        if not values:
            if if_exists and not (each == 'ForAnyValue' and 'any-if-exists' in self.quirks):
                return True
            return each == 'ForAllValues' or (not each and negated)

        def good(value):
            results = [self.compare(test, relation, operand, value, variables) for operand in operands]
            return all(result is False for result in results) if negated else any(result is True for result in results)
        if each:
            return (all if each == 'ForAllValues' else any)(good(value) for value in values)
        return len(values) == 1 and key.lower() not in MANY and good(values[0])

    # ---- Statements

    def grant(self, statement):
        """How strong a statement of a resource policy is for the principal: 0 none, 1 account, 2 role, 3 anyone, 4 self."""
        request, most = self.request, 0
        principals = statement.get('Principal', statement.get('NotPrincipal'))
        groups = {'AWS': '*'} if principals == '*' else principals
        for kind, names in groups.items():
            for name in listed(names):
                if kind == 'Service':
                    strength = 4 if request.kind == 'service' and name == request.principal else 0
                elif name == '*':
                    strength = 3
                elif re.fullmatch(r'\d{12}', name) or name.endswith(':root'):
                    account = name if name.isdigit() else name.split(':')[4]
                    strength = 1 if account == request.own_account else 0
                elif ':role/' in name:
                    strength = 2 if request.role and name.split(':')[4] == request.own_account and name.split('/')[-1] == request.role.split('/')[-1] else 0
                else:
                    strength = 4 if name == request.principal else 0
                most = max(most, strength)
        if 'Principal' in statement:
            return most
        return 3 if most == 0 or (statement['Effect'] == 'Deny' and self.case.get('boundary')) else 0

    def about(self, statement, version):
        """0 if it is not about the request, else its strength."""
        request, variables = self.request, version == '2012-10-17'
        actions = statement.get('Action', statement.get('NotAction'))
        matched = any(self.like(action, request.action, True, False, re.I) for action in listed(actions))
        if matched != ('Action' in statement):
            return 0
        in_resources = variables or 'variables-in-2008' in self.quirks
        results = []
        for resource in listed(statement.get('Resource', statement.get('NotResource'))):
            if 'short-arn-in-not-resource' in self.quirks and 'NotResource' in statement and resource != '*' and resource.count(':') < 5:
                results.append(VOID)
            elif resource == '*':
                results.append(True)
            elif request.resource == '*':
                results.append(False)
            else:
                results.append(self.arn_like(resource, request.resource, in_resources, True))
        if not (any(result is True for result in results) if 'Resource' in statement else all(result is False for result in results)):
            return 0
        strength = self.grant(statement) if 'Principal' in statement or 'NotPrincipal' in statement else 4
        for name, keys in statement.get('Condition', {}).items():
            for key, operands in keys.items():
                if not self.holds(name, key, operands, in_resources):
                    return 0
        return strength

    def decide(self):
        """(decision, kind, policy, statement); None where no statement decides."""
        case, request = self.case, self.request
        kinds = {'identity': listed(case.get('identity', [])), 'boundary': [case['boundary']] if 'boundary' in case else [],
                 'session': listed(case.get('session', [])), 'resourcePolicy': [case['resourcePolicy']] if 'resourcePolicy' in case else []}
        denial, allowed = None, {}
        for kind, policies in kinds.items():
            for index, policy in enumerate(policies):
                for number, statement in enumerate(listed(policy['Statement'])):
                    strength = self.about(statement, policy.get('Version'))
                    if strength and statement['Effect'] == 'Deny':
                        denial = denial or ('explicitDeny', kind, index, number)
                    elif strength and strength > allowed.get(kind, (0,))[0]:
                        allowed[kind] = (strength, kind, index, number)
        if denial:
            return denial
        resource = allowed.get('resourcePolicy', (0,))[0]
        if request.kind in ('anonymous', 'service'):
            return self.answer(allowed, 'resourcePolicy') if resource else self.no('resourcePolicy')
        same = request.own_account == request.account
        if not same and not resource:
            return self.no('resourcePolicy')
        identity = 'identity' in allowed or (request.kind == 'root' and 'root-needs-policies' not in self.quirks)
        boundary, session = not kinds['boundary'] or 'boundary' in allowed, not kinds['session'] or 'session' in allowed
        if identity and boundary and session:
            if same and 'identity' not in allowed or request.kind == 'root' and same:
                return ('allow', None, None, None)
            return self.answer(allowed, 'identity' if same else 'resourcePolicy')
        if same and resource == 4 and 'session-limits-its-arn' in self.quirks:
            resource = 3
        if same and (resource == 4 or (resource == 3 and session) or (resource == 2 and session and boundary)):
            return self.answer(allowed, 'resourcePolicy')
        return self.no('identity' if not identity else 'boundary' if not boundary else 'session')

    @staticmethod
    def answer(allowed, kind):
        return ('allow',) + allowed[kind][1:]

    @staticmethod
    def no(kind):
        return ('implicitDeny', kind, None, None)


def decide(case, quirks=frozenset()):
    return Evaluator(case, frozenset(quirks)).decide()
