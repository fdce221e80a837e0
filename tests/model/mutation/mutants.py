"""Ways to break a model: each operator looks at one declaration and says what else could stand there.

A model is read as a list of declarations: a table's item, an entity's key or attribute, a field of a type, an access
pattern, a rule. A mutant is the model with one of them changed or gone.
"""
import re

STRING = r'"[^"]*"|\'[^\']*\''
MODIFIERS = r'unique|immutable|deprecated|version|lower|trim|upper'


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
        top = depth == 0 and re.match(r'(table|entity|type|access|retain|keep|emit|object|tenant)\b', line)
        if depth == 0 and not top and found:
            found[-1].text += '\n' + line
            continue
        if top:
            block = line.split()[1].split('(')[0]
        kind = ({'table': 'head', 'entity': 'head', 'type': 'type', 'access': 'access'}.get(word, 'rule') if top else
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


def of_keys(line):
    """PK = "…"  SK = "…", or an index with its parts."""
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


def modifier_changes(rest):
    for word in re.finditer(r',?\s+(%s)\b(?!\()' % MODIFIERS, rest):
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
    yield 'gone', None
    yield 'another duration', re.sub(r'(\d+)([smhd])\b', lambda m: '%d%s' % (int(m[1]) + 1, m[2]), text)
    yield 'another number', re.sub(r'latest (\d+)', lambda m: 'latest %d' % (int(m[1]) + 1), text)
    yield 'deleted', text.replace('archive', 'delete')
    yield 'fewer events', text.replace('insert, modify', 'insert')
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
    elif line.kind in ('part', 'field'):
        if re.match(r'(key|index|local|type|ttl|stream|guard|unknown|unmatched|pitr|billing|separator)\s+[^=:]*$', text) and line.in_table:
            yield from of_table(line) if not text.startswith('key') else ()
        elif line.kind == 'part' and re.match(r'[\w-]+\s*=\s*["\w]', text):
            yield from of_keys(line)
        else:
            yield from of_attribute(line)


def mutants_of(text):
    lines = read_lines(text)
    tables = set(re.findall(r'^table (\S+)', text, re.MULTILINE))
    made = {}
    for position, line in enumerate(lines):
        line.in_table = line.block in tables
        for what, changed in changes(line):
            if changed == line.text:
                continue
            whole = [one.text for one in lines]
            whole[position:position + 1] = [] if changed is None else [changed]
            mutant = Mutant('%s, %s' % (line.block, ' '.join(line.text.split())), what, '\n'.join(whole) + '\n', line.block)
            made.setdefault(mutant.text, mutant)
    return list(made.values())
