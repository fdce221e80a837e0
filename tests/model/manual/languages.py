"""Programs of the documentation: shell, JavaScript, TypeScript, Python and C, run as a reader would run them."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'lib'))
from dolmen import ROOT  # noqa: E402

PACKAGES = os.path.join(ROOT, 'tests', 'model', 'generate')  # has the AWS SDK for JavaScript


def run(command, directory, env, text=None):
    """(did it work, what it printed)"""
    done = subprocess.run(command, cwd=directory, env=env, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=300, errors='replace')
    return done.returncode == 0, done.stdout


def shell(text, directory, env):
    # Commands of make build for minutes, and the tests are inside of one: that the targets are there has to do.
    made = [line.split('#')[0].split() for line in text.splitlines() if line.startswith('make ')]
    for words in made:
        ok, said = run(['make', '--dry-run', *words[1:]], ROOT, env)
        if not ok:
            return ok, said
    rest = ''.join(line + '\n' for line in text.splitlines() if not line.startswith('make '))
    return run(['/bin/bash', '-e'], directory, env, 'shopt -s expand_aliases\n' + rest)


def packages(directory, env):
    """The packages of JavaScript programs beside them; (is it so, what npm said)."""
    modules = os.path.join(PACKAGES, 'node_modules')
    if not os.path.exists(os.path.join(modules, '.package-lock.json')):
        ok, said = run(['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error'], PACKAGES, env)
        if not ok:
            return ok, said
    if not os.path.exists(os.path.join(directory, 'node_modules')):
        os.symlink(modules, os.path.join(directory, 'node_modules'))
    return True, ''


def javascript(text, directory, env):
    ok, said = packages(directory, env)
    if not ok:
        return ok, said
    with open(os.path.join(directory, 'program.mjs'), 'w', encoding='utf-8') as file:
        file.write(text)
    return run(['node', 'program.mjs'], directory, {**env, 'NODE_NO_WARNINGS': '1'})


def typescript(text, directory, env):
    ok, said = packages(directory, env)
    if not ok:
        return ok, said
    for name, content in (('package.json', '{"type":"module"}'), ('program.ts', text)):
        with open(os.path.join(directory, name), 'w', encoding='utf-8') as file:
            file.write(content)
    ok, said = run(['node', 'node_modules/typescript/bin/tsc', '--strict', '--target', 'es2022', '--module', 'nodenext',
                    '--moduleResolution', 'nodenext', '--skipLibCheck', 'program.ts'], directory, env)
    return run(['node', 'program.js'], directory, {**env, 'NODE_NO_WARNINGS': '1'}) if ok else (ok, said)


def python(text, directory, env):
    return run(['/usr/bin/python3', '-'], directory, env, text)


def c(text, directory, env):
    """What follows the includes is the inside of main()."""
    includes = ''.join(line + '\n' for line in text.splitlines() if line.startswith('#include'))
    body = ''.join(line + '\n' for line in text.splitlines() if not line.startswith('#include'))
    build = os.environ.get('DOLMEN_BUILD') or os.path.dirname(os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen')))
    with open(os.path.join(directory, 'program.c'), 'w', encoding='utf-8') as file:
        file.write(f'{includes}int main(void)\n{{\n{body}    return 0;\n}}\n')
    with open(os.path.join(build, 'dolmen.pc'), encoding='utf-8') as file:
        fields = dict(re.findall(r'^(\w[\w.]*): *(.*)$', file.read(), re.M))
    with open(os.path.join(build, 'CMakeCache.txt'), encoding='utf-8') as file:
        sanitizers = re.search(r'^DOLMEN_SANITIZE:\w+=(.+)$', file.read(), re.M)
    libraries = [word for word in (fields.get('Libs', '') + ' ' + fields.get('Libs.private', '')).split()
                 if word != '-ldolmen' and not word.startswith('-L${')]
    flags = ['-fsanitize=' + sanitizers[1].replace(';', ',')] if sanitizers else []
    ok, said = run(['cc', '-std=c17', '-Wall', '-Wextra', '-Werror', *flags, '-I' + os.path.join(ROOT, 'include'), 'program.c',
                    os.path.join(build, 'libdolmen.a'), *libraries, '-lm', '-o', 'program'], directory, env)
    return run(['./program'], directory, env) if ok else (ok, said)


PROGRAMS = {'sh': shell, 'js': javascript, 'ts': typescript, 'python': python, 'c': c}
