"""Ways to break a file of C: each changes one place, as somebody might have written it by mistake.

    a condition is negated              if (x)  ->  if (!(x))
    a comparison is another one         <  ->  <=,  ==  ->  !=
    and is or                           &&  ->  ||
    a negation is gone                  !x  ->  x
    a number is one more                0  ->  1
    a choice is the other one           x ? a : b  ->  !(x) ? a : b,  return true  ->  return false
    a statement is gone                 f(x);  a = b;  continue;
"""
import re

OPPOSITES = {'==': '!=', '!=': '==', '<': '<=', '<=': '<', '>': '>=', '>=': '>', '&&': '||', '||': '&&'}
# What no behaviour depends on: how much is counted against a budget, how long a buffer may become.
COUNTED = re.compile(r'steps_add|check_text|\bcount\(scope|STEPS|_MAX\b|buf_init|buf_release|enum \{|#include|static const')


class Mutant:
    def __init__(self, line, what, text, source):
        self.line, self.what, self.text, self.source = line, what, text, source

    def __repr__(self):
        return '%d: %s: %s' % (self.line, self.text, self.what)


def blanked(text):
    """The source with comments and strings blanked, of the same length."""
    def blank(match):
        return re.sub(r'[^\n]', ' ', match[0]) if match[0][0] == '/' else match[0][0] + ' ' * (len(match[0]) - 2) + match[0][0]
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'', blank, text, flags=re.DOTALL)


def closing(code, at):
    """Where the parenthesis that opens at a place is closed."""
    depth = 0
    for i in range(at, len(code)):
        depth += {'(': 1, ')': -1}.get(code[i], 0)
        if depth == 0:
            return i
    return None


def bodies(code):
    """The spans of function bodies, by the way this house writes them."""
    return [(match.start(), match.end()) for match in re.finditer(r'^\{\n.*?^\}', code, re.DOTALL | re.MULTILINE)]


def changes(code, begin, end):
    """(start, end, replacement, what) for each way to break what stands between two places."""
    for match in re.compile(r'\bif \(').finditer(code, begin, end):
        last = closing(code, match.end() - 1)
        yield match.end(), last, lambda old: '!(%s)' % old, 'negated'
    for match in re.compile(r'(?<=\s)(==|!=|<=|>=|<|>|&&|\|\|)(?=\s)').finditer(code, begin, end):
        yield match.start(), match.end(), lambda old: OPPOSITES[old], '%s instead of %s' % (OPPOSITES[match[1]], match[1])
    for match in re.compile(r'(?<=[\s(])!(?=[\w(*])').finditer(code, begin, end):
        yield match.start(), match.end(), lambda old: '', 'not negated'
    for match in re.compile(r'(?<![\w.])\d+(?![\w.])').finditer(code, begin, end):
        yield match.start(), match.end(), lambda old: str(int(old) + 1), 'one more than %s' % match[0]
    for match in re.compile(r'\b(true|false)\b').finditer(code, begin, end):
        yield match.start(), match.end(), lambda old: {'true': 'false', 'false': 'true'}[old], 'not %s' % match[0]
    for match in re.compile(r'(?:\breturn |(?<![=!<>])= |\()([^;{}?,]*?[^;{}?,\s])\s+\?(?=\s)').finditer(code, begin, end):
        if match[1].count('(') == match[1].count(')'):
            yield match.start(1), match.end(1), lambda old: '!(%s)' % old, 'the other one'
    for match in re.compile(r'^ +(?!return\b|static\b|const\b|struct\b|enum\b|unsigned\b|size_t\b|bool\b|uint\w+\b|int\b|else\b|for\b|if\b|case\b|while\b)'
                            r'([\w*(][^;{}]*|);$', re.MULTILINE).finditer(code, begin, end):
        if not re.match(r'[\w ]+ \**\w+( = |$)', match[1]) or re.match(r'\w+ = ', match[1]):
            yield match.start(1), match.end(1), lambda old: '(void)0', 'gone'


def mutants_of(source):
    code, made = blanked(source), {}
    for begin, end in bodies(code):
        for start, stop, change, what in changes(code, begin, end):
            line = source.rfind('\n', 0, start) + 1
            text = ' '.join(source[line:source.find('\n', start)].split())
            if COUNTED.search(text):
                continue
            whole = source[:start] + change(source[start:stop]) + source[stop:]
            made.setdefault(whole, Mutant(source.count('\n', 0, start) + 1, what, text, whole))
    return list(made.values())
