"""The four models, and what their files state beside what the server does."""
import os
import re
import subprocess

from server import BINARY, ROOT

NAMES = ['pornspot', 'figureforge', 'asset-creator', 'kinex-fit']


def model_of(name):
    return os.path.join(ROOT, 'models', name, name + '.dolmen')


def documentation(model):
    """What a file says that the server does not act on: (rules, deprecated attributes)."""
    text = subprocess.run([BINARY, 'generate', 'docs', model], stdout=subprocess.PIPE, check=True).stdout.decode()
    return {match.replace('\\|', '|') for match in re.findall(r'^- `((?:retain|keep|emit|object|tenant) .*?)`', text, re.MULTILINE)}


def rule_failures(promises, model):
    stated = documentation(model)
    for rule in sorted(stated.symmetric_difference(promises.rules)):
        yield 'rule', rule + (' is not stated' if rule in promises.rules else ' was not promised')
