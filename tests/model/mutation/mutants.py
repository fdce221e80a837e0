"""Ways to break a model: each operator looks at one declaration and says what else could stand there.

A model is read as a list of declarations: a table's item, an entity's key or attribute, a field of a type, an access
pattern, a rule. A mutant is the model with one of them changed or gone.
"""
import re

STRING = r'"[^"]*"|\'[^\']*\''
MODIFIERS = r'unique|immutable|deprecated|version|lower|trim|upper|squeeze|nfc|always|matches|references'
RULES = 'retain|keep|emit|object|tenant|audit|derive|publish|idempotent|quota|seed|include|project'
CLAUSE = r'(softdelete \S+$|append only|shared$|unique \(|check \S|moves \S+:|reference [\w, ]+ to )'


class Mutant:
    def __init__(self, place, what, text, about):
        self.place, self.what, self.text, self.about = place, what, text, about

    def __repr__(self):
        return '%s: %s' % (self.place, self.what)


class Line:
    """A line of a model without its comment, and where it stands."""

    def __init__(self, number, text, block, kind):
        self.number, self.text, self.block, self.kind = number, text, block, kind


def without_comment(line):
    match = re.match(r'((?:%s|[^"\'/]|/(?!/))*)' % STRING, line)
    return match[1].rstrip()


def read_lines(text):
    """The lines that declare something. An access pattern over several lines is one."""
    found, block, depth = [], '', 0
    for number, line in enumerate(text.splitlines()):
        line = without_comment(line)
        if not line.strip():
            continue
        word = line.split()[0]
        top = depth == 0 and re.match(r'(table|entity|mixin|type|access|%s)\b' % RULES, line)
        if depth == 0 and not top and found:
            found[-1].text += '\n' + line
            continue
        if top:
            block = line.split()[1].split('(')[0]
        kind = ({'table': 'head', 'entity': 'head', 'mixin': 'head', 'type': 'type', 'access': 'access'}.get(word, 'rule') if top else
                'field' if depth > 1 else 'part')
        depth += len(re.findall(r'\{', re.sub(STRING, '', line))) - len(re.findall(r'\}', re.sub(STRING, '', line)))
        found.append(Line(number, line, block, kind))
    return found


# ---- Templates -----------------------------------------------------------------------------------

def template_changes(template):
    """Other templates (without quotes), each with what was done."""
    literals = [m for m in re.finditer(r'(?:^|\})([^{}]+)', template) if m[1].strip('#')]
    if literals:
        at = literals[0].start(1)
        yield 'another text', template[:at] + 'X' + template[at:]
    fields = list(re.finditer(r'\{[^}]*\}', template))
    for field in fields:
        yield 'without ' + field[0], (template[:field.start()] + template[field.end():]).replace('##', '#') or 'x'
    if len(fields) > 1:
        a, b = fields[0], fields[-1]
        yield 'fields swapped', template[:a.start()] + b[0] + template[a.end():b.start()] + a[0] + template[b.end():]
        yield 'another delimiter', template.replace('#', '-')
    for field in fields:
        for format_ in re.finditer(r':(\w+)(?:\((\d+)\))?(?=[:}])', field[0]):
            start, end = field.start() + format_.start(), field.start() + format_.end()
            yield 'without ' + format_[1], template[:start] + template[end:]
            if format_[2]:
                yield 'another ' + format_[1], template[:start] + ':%s(%d)' % (format_[1], int(format_[2]) + 1) + template[end:]
        if '??' in field[0]:
            yield 'without a fallback', template.replace(field[0], field[0].split('??')[0].strip() + '}')
            yield 'another fallback', re.sub(r"'([^']*)'", r"'0\1'", template)


OPPOSITES = {'=': '!=', '!=': '=', '<': '<=', '<=': '<', '>': '>=', '>=': '>', 'exists': 'missing', 'missing': 'exists', 'changed': 'exists'}


def test_changes(test):
    """Other tests: without a comparison, with another operator, with another value."""
    parts = re.split(r'( and (?!\S+$)| or | and )', test)
    if len(parts) > 1 and 'between' not in test:
        for at in range(0, len(parts), 2):
            rest = parts[:at] + parts[at + 2:] if at + 1 < len(parts) else parts[:at - 1]
            yield 'without ' + parts[at].strip(), ''.join(rest)
        if ' or ' not in test:
            yield 'or instead of and', test.replace(' and ', ' or ', 1)
    for match in re.finditer(r'(?<=\s)(!=|<=|>=|=|<|>|exists|missing|changed)(?=\s|$)', re.sub(STRING, lambda m: '"' * len(m[0]), test)):
        yield '%s instead of %s' % (OPPOSITES[match[1]], match[1]), test[:match.start()] + OPPOSITES[match[1]] + test[match.end():]
    for match in re.finditer(STRING, test):
        yield 'another value', test[:match.start()] + '"x%s' % match[0][1:-1] + '"' + test[match.end():]
    for match in re.finditer(r'(?<![\w."])(\d+)(?![\w."])', test):
        yield 'another number', test[:match.start()] + str(int(match[1]) + 1) + test[match.end():]


def within(text, begin, end=r'$'):
    """The part of a line behind a word, with what stands before and behind it; None if there is none."""
    match = re.search(begin + r'\s(.*?)(?=%s)' % end, text, re.DOTALL)
    return match and (text[:match.start(1)], match[1], text[match.end(1):])


def of_clause(line):
    """What an entity says beside keys and attributes."""
    text = line.text
    yield 'gone', None
    word = text.split()[0]
    if word == 'unique':
        for name in re.findall(r'\w+', text)[1:]:
            rest = [one for one in re.findall(r'\w+', text)[1:] if one != name]
            if len(rest) > 1:
                yield 'without ' + name, '  unique (%s)' % ', '.join(rest)
    if word == 'check':
        before, test, behind = within(text, r'\bcheck', r'\s+"[^"]*"\s*$|$')
        for what, changed in test_changes(test):
            yield what, before + changed + behind
        if behind:
            yield 'no message', before + test
    if word == 'moves':
        yield from of_moves(text)
    if word == 'reference':
        yield from of_reference(text)


def of_moves(text):
    head, _, steps = text.partition(':')
    chains = [chain.strip() for chain in steps.split(',')]
    for at, chain in enumerate(chains):
        if len(chains) > 1:
            yield 'without ' + chain, head + ': ' + ', '.join(chains[:at] + chains[at + 1:])
        states = [one.strip() for one in chain.split('->')]
        if len(states) > 2:
            yield 'a shorter way', head + ': ' + ', '.join(chains[:at] + [' -> '.join(states[:-1])] + chains[at + 1:])
        yield 'also back', text + ', %s -> %s' % (states[-1], states[0])
        for one in states:
            for value in one.split('|') if '|' in one else []:
                rest = ' | '.join(part.strip() for part in one.split('|') if part != value)
                yield 'without ' + value.strip(), text.replace(one, rest, 1)


def of_reference(text):
    action = re.search(r' on delete (\w+)', text)
    for other in ('reject', 'cascade', 'clear'):
        if action and other != action[1]:
            yield 'on delete ' + other, text.replace(action[0], ' on delete ' + other)
    if action:
        yield 'nothing on delete', text.replace(action[0], '')


def of_keys(line):
    """PK = "…"  SK = "…", or an index with its parts."""
    when = re.search(r'\s+when (.*)$', line.text)
    if when:
        yield 'always an entry', line.text[:when.start()]
        for what, changed in test_changes(when[1]):
            yield what, line.text[:when.start(1)] + changed
        line = Line(line.number, line.text[:when.start()], line.block, line.kind)
        for what, changed in of_keys(line):
            yield what, changed and changed + when[0]
        return
    for match in re.finditer(r'"([^"]*)"', line.text):
        for what, changed in template_changes(match[1]):
            yield '%s: %s' % (match[0], what), line.text[:match.start(1)] + changed + line.text[match.end(1):]
    if not re.search(r'\bSK =|\bsk =', line.text):
        yield 'no entry', None


# ---- Types and modifiers -----------------------------------------------------------------------------

def type_changes(text):
    """Wider and narrower types."""
    for match in re.finditer(r'\((-?\d*)\.\.(-?\d*)\)', text):
        low, high = match.groups()
        if low:
            yield 'a lower end', text[:match.start()] + '(%d..%s)' % (int(low) - 1, high) + text[match.end():]
            yield 'no lower end', text[:match.start()] + '(..%s)' % high + text[match.end():]
        if high:
            yield 'a higher end', text[:match.start()] + '(%s..%d)' % (low, int(high) + 1) + text[match.end():]
        yield 'no range', text[:match.start()] + text[match.end():]
    literals = list(re.finditer(r'(?:%s|(?<![\w.(])\d+(?![\w.)]))' % STRING, text))
    if '|' in text and len(literals) > 1:
        for one in literals:
            yield 'without ' + one[0], re.sub(r'\|\s*(?=\||\)|$)|^\s*\||(?<=\()\s*\|', '', text[:one.start()] + text[one.end():])
        last = literals[-1]
        more = '"more"' if last[0][0] in '"\'' else '99'
        yield 'one more value', text[:last.end()] + ' | ' + more + text[last.end():]
        yield 'any text', re.sub(r'\(?\s*(?:(?:%s|\d+)\s*\|?\s*)+\)?' % STRING, 'string' if more != '99' else 'number', text, count=1)
    for one, other in (('string', 'string | number'), ('number', 'number | string'), ('boolean', 'boolean | string'),
                       (r'timestamp(?:\(any\))?', 'string'), ('epoch', 'number'), ('email', 'string'), ('url', 'string'), ('integer', 'number'),
                       ('object', 'any')):
        match = re.search(r'(?<![\w"])%s(?![\w"(])' % one, text)
        if match and not re.search(r'\|\s*%s|%s\s*\|' % (other.split()[-1], other.split()[-1]), text):
            wider = '(%s)' % other if '|' in other else other
            yield 'a wider type', text[:match.start()] + wider + text[match.end():]
    if re.search(r'\btimestamp\b(?!\()', text):
        yield 'a time of any form', re.sub(r'\btimestamp\b', 'timestamp(any)', text)
        yield 'a time in seconds', re.sub(r'\btimestamp\b', 'timestamp(seconds)', text)
    if 'timestamp(any)' in text:
        yield 'a time of one form', text.replace('timestamp(any)', 'timestamp')
        yield 'a time in seconds', text.replace('timestamp(any)', 'timestamp(seconds)')
    if re.search(r'\bnumber\b(?!\()', text):
        yield 'whole numbers', re.sub(r'\bnumber\b', 'integer', text, count=1)
    yield 'any', re.sub(r'^.*?(\?)?$', r'any\1', text)
    if '[]' in text:
        yield 'no list', text.replace('[]', '', 1)


def split_attribute(text):
    """(name, colon, type, the rest) of an attribute's line; None if it is none."""
    match = re.fullmatch(r'(\s*`?[\w-]+`?\??)(:?\s+)((?:%s|[^="\'])*?)((?:\s+(?:=|%s|on update)(?:.*))?;?)' % (STRING, MODIFIERS), text)
    return match and [match[1], match[2], match[3], match[4]]


def of_attribute(line):
    parts = split_attribute(line.text)
    if parts is None or line.text.strip() in ('}', '{'):
        return
    name, colon, kind, rest = parts
    if kind.strip().startswith('{') or not kind.strip():
        return
    yield 'gone', None
    for what, changed in type_changes(kind):
        if changed != kind:
            yield what, name + colon + changed + rest
    if name.endswith('?'):
        yield 'required', name[:-1] + colon + kind + rest
    elif kind.endswith('?'):
        yield 'required', name + colon + kind[:-1] + rest
    else:
        yield 'optional', name + colon + ('(%s)?' % kind if '|' in kind else kind + '?') + rest
    for what, changed in modifier_changes(rest):
        yield what, name + colon + kind + changed


def tally_changes(rest, tally):
    """count of X where …: what is counted, and of which."""
    yield 'not counted', rest.replace(tally[0], '= 0')
    where = re.search(r' where (.*)', tally[0])
    if where:
        for what, changed in test_changes(where[1]):
            yield what, rest.replace(where[1], changed)
    if 'sum of' in tally[0]:
        yield 'a count', rest.replace(tally[0], re.sub(r'sum of (\w+)\.\w+', r'count of \1', tally[0]))


def modifier_changes(rest):
    tally = re.search(r'= (count|sum) of (?:(?! (?:unique|immutable|deprecated)\b).)*', rest)
    if tally:
        yield from tally_changes(rest, tally)
        return
    pattern = re.search(r'\s+matches ("[^"]*")', rest)
    if pattern:
        yield 'no pattern', rest.replace(pattern[0], '')
        yield 'another pattern', rest.replace(pattern[1], '"x?(%s)"' % pattern[1][1:-1])
        rest_, rest = rest, rest.replace(pattern[0], '')
        for what, changed in modifier_changes(rest):
            yield what, changed + pattern[0]
        return
    refers = re.search(r'\s+references (\w+)( on delete \w+)?', rest)
    if refers:
        yield 'no reference', rest.replace(refers[0], '')
        for what, changed in of_reference(refers[0]):
            yield what, rest.replace(refers[0], changed)
        for what, changed in modifier_changes(rest.replace(refers[0], '')):
            yield what, changed + refers[0]
        return
    for word in re.finditer(r',?\s+(%s)\b(?!\()' % MODIFIERS.replace('|matches|references', ''), rest):
        yield 'not ' + word[1], rest[:word.start()] + rest[word.end():]
    for word in ('unique', 'immutable'):
        if not re.search(r'\b%s\b' % word, rest):
            yield 'also ' + word, rest.rstrip(';') + ' ' + word
    if ' on update' in rest:
        yield 'not on update', rest.replace(' on update', '')
    default = re.search(r'=\s*(%s|[\w.{}-]+(?:\([^()]*(?:\([^()]*\))?[^()]*\))?(?:\s*[+-]\s*\w+)?)' % STRING, rest)
    if not default:
        return
    yield 'no default', rest[:default.start()] + re.sub(r'^\s*on update', '', rest[default.end():])
    if not re.search(r'\son update', rest) and re.search(r'now\(\)|\+', default[1]):
        yield 'also on update', rest[:default.end()] + ' on update' + rest[default.end():]
    other = (re.sub(r'(\d+)([smhd])', lambda m: '%d%s' % (int(m[1]) + 1, m[2]), default[1]) if re.search(r'\d[smhd]', default[1]) else
             '"x%s' % default[1][1:] if default[1][0] in '"\'' else str(int(default[1]) + 1) if default[1].isdigit() else
             {'true': 'false', 'false': 'true'}.get(default[1]))
    if other and other != default[1]:
        yield 'another default', rest[:default.start(1)] + other + rest[default.end(1):]
    if 'sha256(' in default[1]:
        for argument in re.findall(r'\w+', default[1])[1:]:
            yield 'a digest without ' + argument, rest.replace(default[1], re.sub(r'(?<=[( ])%s(, )?|, %s(?=\))' % (argument, argument), '', default[1]))


# ---- Tables, access patterns, rules ---------------------------------------------------------------------

def of_table(line):
    text = line.text
    yield 'gone', None
    word = text.split()[0]
    if word == 'index':
        if re.search(r'\([^)]*,', text):
            yield 'no sort key', re.sub(r',[^)]*\)', ')', text)
        if ' number' in text:
            yield 'no number', text.replace(' number', '')
        yield 'keys only', text + ' project keys'
        yield 'few attributes', text + ' project (note)'
        yield ('not for all', text.replace(' for all', '')) if ' for all' in text else ('for all', text + ' for all')
    for one, others in (('new_and_old_images', ['new_image', 'keys_only', 'off']), ('enforce', ['warn', 'off']), ('pitr    on', ['pitr off']),
                        ('on_demand', ['provisioned (5, 5)'])):
        for other in others:
            if one in text:
                yield 'instead ' + other, text.replace(one, other)
    if word == 'guard':
        yield 'unmatched allow', text + '\n  unmatched allow'
        yield 'unmatched warn', text + '\n  unmatched warn'
    if word in ('unknown', 'separator'):
        for other in {'unknown': ('allow', 'warn', 'reject'), 'separator': ('any', 'escape')}[word]:
            yield 'instead ' + other, re.sub(r'\w+$', other, text)
    if word == 'separator':
        yield 'another separator', text.replace('"#"', '"/"')


def of_access(line):
    text = line.text
    yield 'gone', None
    for word in (' descending', ' newest first', ' consistent', 'one ', ' ascending'):
        if word in text:
            yield 'without ' + word.strip(), text.replace(word, '' if word != 'one ' else ' ').replace('=  ', '= ')
    limit = re.search(r' limit (\d+)', text)
    if limit:
        yield 'no limit', text.replace(limit[0], '')
        yield 'another limit', text.replace(limit[0], ' limit %d' % (int(limit[1]) + 1))
    else:
        yield 'a limit', text + ' limit 7'
    if not re.search('descending|newest|latest', text):
        yield 'the other way', re.sub(r'( limit \d+| consistent|$)', r' descending\1', text, count=1)
    if ' filter ' in text:
        yield 'no filter', re.sub(r'\s+filter .*?(?=( descending| newest| limit|$))', '', text)
    where = re.search(r'\s+where (.*?)(?=( filter| descending| newest| limit| consistent|$))', text)
    if where:
        yield 'no condition', text.replace(where[0], '')
        if ' and ' in where[1] and 'between' not in where[1]:
            yield 'half a condition', text.replace(where[1], where[1].split(' and ')[0])
    for match in re.finditer(r'"([^"]*)"', text):
        for what, changed in template_changes(match[1]):
            yield '%s: %s' % (match[0], what), text[:match.start(1)] + changed + text[match.end(1):]
    if ' begins ' in text:
        yield 'equal', text.replace(' begins ', ' = ')
    entities = re.search(r'= (?:one )?(\w+(?:, \w+)+)', text)
    if entities:
        yield 'one entity less', text.replace(entities[1], entities[1].split(',')[0])


def of_rule(line):
    text = line.text
    word = text.split()[0]
    yield 'gone', None
    yield 'another duration', re.sub(r'(\d+)([smhd])\b', lambda m: '%d%s' % (int(m[1]) + 1, m[2]), text)
    yield 'another number', re.sub(r'latest (\d+)', lambda m: 'latest %d' % (int(m[1]) + 1), text)
    yield 'another limit', re.sub(r'at most (\d+)', lambda m: 'at most %d' % (int(m[1]) + 1), text)
    yield 'another end', re.sub(r'then (archive|delete)', lambda m: 'then ' + {'archive': 'delete', 'delete': 'archive'}[m[1]], text)
    yield 'another period', re.sub(r'per (month|day)', lambda m: 'per ' + {'month': 'year', 'day': 'week'}[m[1]], text)
    if word == 'retain':
        yield 'by another time', re.sub(r' after \w+', '', text)
        yield 'by the last change', re.sub(r'( for \w+)(?: after \w+)?', r'\1 after updated_at', text)
    if word == 'keep':
        yield 'by another order', re.sub(r' by \w+', ' by created_at', text)
        yield 'per something else', re.sub(r' per \w+', ' per type', text)
        yield 'per one more', re.sub(r' per (\w+)', r' per \1, version', text)
    if word == 'publish':
        yield 'to another file', text.replace('"file:', '"file:other-')
        yield 'not marked', re.sub(r'\s*\{.*\}', '', text)
    if word == 'tenant':
        yield 'another tenant', 'tenant asset_id'
    events = re.search(r'on ((?:insert|modify|remove)(?:, (?:insert|modify|remove))*)', text)
    for event in re.split(', ', events[1]) if events else []:
        rest = ', '.join(one for one in re.split(', ', events[1]) if one != event)
        if rest:
            yield 'not on ' + event, text.replace(events[1], rest)
    for event in ('insert', 'modify', 'remove'):
        if events and event not in events[1]:
            yield 'also on ' + event, text.replace(events[1], events[1] + ', ' + event)
    when = within(text, r'\bwhen', r'\s+(?:into|then|\{|,|per|counting)|$')
    if when:
        yield 'always', when[0].removesuffix('when ') + when[2].lstrip()
        for what, changed in test_changes(when[1]):
            yield what, when[0] + changed + when[2]
    if word == 'audit':
        names = re.match(r'audit\s+(\w+(?:, \w+)*)', text)[1].split(', ')
        for name in names if len(names) > 1 else []:
            yield 'not of ' + name, text.replace(', '.join(names), ', '.join(one for one in names if one != name))
        for image in ('before, ', ', after', ' with before', ' with after'):
            yield 'without' + image, text.replace(image, '')
    if word == 'idempotent':
        for name in re.findall(r'(?<=[(,\s])\w+(?=[,)])', text):
            yield 'not by ' + name, re.sub(r'(?<=[( ])%s(, )?|, %s(?=\))' % (name, name), '', text, count=1)
    for match in re.finditer(r'(?<=[{\s])(\w+) = ([^\s}]+)(?=[\s}])', text.partition('{')[2]) if '{' in re.sub(STRING, '', text) else ():
        yield 'without ' + match[1], text.replace(match[0], '', 1)
    for match in re.finditer(r'"([^"]*)"', text):
        for what, changed in template_changes(match[1]):
            yield '%s: %s' % (match[0], what), text[:match.start(1)] + changed + text[match.end(1):]


def of_head(line):
    """entity NAME {: what it may say for itself."""
    if line.text.startswith('entity '):
        yield 'guard warn', line.text + '\n  guard warn'
        yield 'unknown reject', line.text + '\n  unknown reject'
        yield 'another name in items', line.text.replace(' {', ' as "Other" {')


def of_type(line):
    """type NAME = …, or a type with its fields on the line."""
    head, equals, body = line.text.partition(' = ')
    if equals:
        for what, changed in type_changes(body):
            if changed != body:
                yield what, head + equals + changed


# ---- The whole ---------------------------------------------------------------------------------------------

def changes(line):
    text = line.text.strip()
    if line.kind == 'access':
        yield from of_access(line)
    elif line.kind == 'rule':
        yield from of_rule(line)
    elif line.kind == 'type':
        yield from of_type(line)
    elif line.kind == 'head':
        yield from of_head(line)
    elif line.kind == 'part' and re.match(CLAUSE, text):
        yield from of_clause(line)
    elif line.kind in ('part', 'field'):
        if re.match(r'(key|index|local|type|ttl|stream|guard|unknown|unmatched|pitr|billing|separator)\s+[^=:]*$', text) and line.in_table:
            yield from of_table(line) if not text.startswith('key') else ()
        elif line.kind == 'part' and re.match(r'[\w-]+\s*=\s*["\w]', text):
            yield from of_keys(line)
        else:
            yield from of_attribute(line)


def mutants_of(text, promised):
    """Of the tables that the promises know: the one of NextAuth.js is what its adapter says, which is tried in tests/api/models."""
    lines = read_lines(text)
    known, projected = True, False
    tables = set(re.findall(r'^table (\S+)', text, re.MULTILINE))
    made = {}
    for position, line in enumerate(lines):
        line.in_table = line.block in tables
        begun = re.match(r'table (\S+)', line.text)
        known = begun[1] in promised if begun else known
        if line.kind not in ('part', 'field'):
            projected = line.text.startswith('project ')  # ../sql has what a projection promises
        if projected or not known:
            continue
        for what, changed in changes(line):
            if changed == line.text:
                continue
            whole = [one.text for one in lines]
            whole[position:position + 1] = [] if changed is None else [changed]
            mutant = Mutant('%s, %s' % (line.block, ' '.join(line.text.split())), what, '\n'.join(whole) + '\n', line.block)
            made.setdefault(mutant.text, mutant)
    return list(made.values())
