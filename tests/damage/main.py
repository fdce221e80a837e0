"""Damage to copies of real data directories: nothing is lost in silence.

    main.py [--short] [--encrypted] [--damages N] [--seed S] [--scene NAME] [--only N] [--verbose]

Each damage is one choice of directory, kind of file, kind of damage and place. The server is started on the damaged copy. It
must either have everything (through the API: items, indexes, counts), or refuse to start, or to answer, with words. Then the
copy is repaired: the report must say of exactly those items that they are lost which are, and the new directory be sound.
"""
import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from dolmen import ROOT, Api, Server, use_master_key
from scene import Difference, ReadError, Scene

SCENES = (  # name, buffers, durability, end, megabytes, noise
    ('killed', None, 'full', 'kill', 34, False),
    ('killed, small buffers', '4M', 'full', 'kill', 20, False),
    ('killed, relaxed', '4M', 'relaxed', 'kill', 12, False),
    ('stopped', None, 'full', 'clean', 12, False),
    ('stopped, small buffers', '4M', 'full', 'clean', 20, False),
    ('killed, many tables', '4M', 'full', 'kill', 160, True),
)
SHORT = (0, 1, 3)
KINDS = {'log': 6, 'table': 6, 'MANIFEST': 3, 'promise': 2, 'CURRENT': 1, 'FORMAT': 1, 'KEYS': 1, 'other': 1}  # how often
BINARY = os.path.join(ROOT, os.environ.get('DOLMEN_BIN', 'build/dolmen'))
WHOLE_REPAIRED = 4  # one in so many of those that open is repaired too
WAYS = ('bit', 'head', 'bytes', 'zeros', 'cut', 'missing', 'swapped', 'copied', 'doubled', 'foreign')


def kind_of(path):
    name = os.path.basename(path)
    if path.startswith('log/'):
        return 'promise' if name == 'promise' else 'log'
    if name.endswith('.sst'):
        return 'table'
    for kind in ('MANIFEST', 'CURRENT', 'FORMAT', 'KEYS'):
        if name.startswith(kind):
            return kind
    return 'other'


def files_of(directory):
    found = collections.defaultdict(list)
    for top, _, names in os.walk(directory):
        for name in names:
            path = os.path.relpath(os.path.join(top, name), directory)
            found[kind_of(path)].append(path)
    return {kind: sorted(paths) for kind, paths in found.items()}


def copy_directory(source, target):
    """Tables are never written again, so a link will do."""
    for top, directories, names in os.walk(source):
        place = os.path.join(target, os.path.relpath(top, source))
        os.makedirs(place, exist_ok=True)
        for name in names:
            if name.endswith('.sst'):
                os.link(os.path.join(top, name), os.path.join(place, name))
            else:
                subprocess.run(['cp', '--sparse=always', '--reflink=auto', os.path.join(top, name), place], check=True)


def own(path):
    """Makes a linked file one that may be changed."""
    if os.stat(path).st_nlink > 1:
        shutil.copyfile(path, path + '.own')
        os.rename(path + '.own', path)


def used_bytes(path):
    """Without the room that was allocated ahead."""
    with open(path, 'rb') as file:
        return len(file.read().rstrip(b'\0')) or os.path.getsize(path)


class Damage:
    """One damage; what it is depends on the seed alone (and on the scene)."""

    def __init__(self, seed, scenes):
        self.random = random.Random(seed)
        self.scene = self.random.choice(scenes)
        found = files_of(self.scene.data)
        kinds = [kind for kind in KINDS if found.get(kind)]
        self.kind = self.random.choices(kinds, [KINDS[kind] for kind in kinds])[0]
        paths = found[self.kind]
        self.path = self.random.choice(paths)
        others = [os.path.join(scene.data, self.path) for scene in scenes if scene is not self.scene]
        others = [path for path in others if self.kind in ('log', 'table') and os.path.exists(path)]
        ways = [way for way in WAYS if (len(paths) > 1 or way not in ('swapped', 'copied')) and (others or way != 'foreign')]
        self.way = self.random.choice(ways)
        self.other = self.random.choice([path for path in paths if path != self.path] or [None])
        self.foreign = self.random.choice(others or [None])
        self.text = ''

    def inflict(self, directory):
        path = os.path.join(directory, self.path)
        other = self.other and os.path.join(directory, self.other)
        self.text = f'{self.way} {self.path}'
        if self.way == 'missing':
            os.unlink(path)
        elif self.way == 'swapped':
            os.rename(path, path + '.x')
            os.rename(other, path)
            os.rename(path + '.x', other)
            self.text += f' and {self.other}'
        elif self.way == 'copied':
            os.unlink(path)
            shutil.copyfile(other, path)
            self.text += f' from {self.other}'
        elif self.way == 'foreign':
            os.unlink(path)
            shutil.copyfile(self.foreign, path)
            self.text += ' from another directory'
        else:
            own(path)
            (self.double if self.way == 'doubled' else self.change)(path)

    def double(self, path):
        """The file, or its beginning, once more behind it."""
        with open(path, 'rb') as file:
            whole = file.read()[:used_bytes(path)]
        again = whole[:self.random.randrange(len(whole) + 1) if self.random.random() < 0.5 else len(whole)]
        with open(path, 'r+b') as file:
            file.seek(len(whole))
            file.write(again)
        self.text += f' by {len(again)} at {len(whole)}'

    def change(self, path):
        size = used_bytes(path)
        at = self.random.randrange(max(1, min(size, 100) if self.way == 'head' else size))
        if self.way == 'cut':
            os.truncate(path, at)
            self.text += f' at {at}'
            return
        with open(path, 'r+b') as file:
            file.seek(at)
            one_bit = self.way in ('bit', 'head')
            old = file.read(1 if one_bit else self.random.choice((2, 20, 600, 9000)))
            if one_bit:
                new = bytes([old[0] ^ 1 << self.random.randrange(8)]) if old else b''
            else:
                new = bytes(len(old)) if self.way == 'zeros' else self.random.randbytes(len(old))
            file.seek(at)
            file.write(new)
        self.text += f' of {len(new)} at {at}'


def refusal(error):
    """The sentence of a server that did not start."""
    text = str(error)
    lines = [line for line in text.splitlines() if line.startswith('dolmen')]
    return lines[0] if lines else ''


def again_refused(damage, directory, words):
    """Trying again does not help."""
    try:
        Server(directory, *damage.scene.options).kill()
    except RuntimeError as error:
        return refusal(error) == words
    return False


def judge(damage, directory):
    """(outcome, words): whole, refused, 'read refused', or a failure."""
    try:
        server = Server(directory, *damage.scene.options)
    except RuntimeError as error:
        words = refusal(error)
        if len(words) < 40:
            return 'no words', str(error)[:2000]
        return ('refused', words) if again_refused(damage, directory, words) else ('LOST', f'but then not: {words}')
    try:
        damage.scene.verify(server.endpoint)
        outcome = 'whole', ''
    except ReadError as error:
        outcome = 'read refused', str(error)
    except Difference as error:
        outcome = 'LOST', f'{error}\n{server.error_text()[-600:]}'
    except (OSError, ValueError) as error:
        server.process.wait(10)
        outcome = 'crashed', f'{error}: status {server.process.poll()}\n{server.error_text()[-1500:]}'
    finally:
        if server.process.poll() is None:
            server.kill()
    return outcome


def dolmen(*arguments):
    """(exit code, report): of a failure, the words."""
    run = subprocess.run([BINARY, *arguments, '--json'], capture_output=True, text=True, timeout=120)
    try:
        return run.returncode, json.loads(run.stdout)
    except ValueError:
        return run.returncode, run.stderr


def check_repair(damage, directory, is_whole, new):
    """Verifies and repairs what was damaged; Difference if anything is not told, or told and not so."""
    code, report = dolmen('verify', directory)
    if code not in ((0, 1) if is_whole else (1,)) or (code == 1 and not report):
        raise Difference(f'verify ended with {code}: {report}')
    code, report = dolmen('repair', directory, '--to', new)
    if code not in (0, 3) or report['Lost'] != (code == 3):
        raise Difference(f'repair ended with {code}: {report}')
    try:
        with Server(new, *damage.scene.options) as server:
            damage.scene.verify_repaired(server.endpoint, report)
    except (Difference, RuntimeError, OSError, ValueError) as error:
        told = {name: report[name] for name in report if name not in ('Checks', 'Differences')}
        raise Difference(f'repaired: {error}\n    {told}')
    code, report = dolmen('verify', new)
    if code != 0:
        raise Difference(f'repaired, and verify says: {report}')


GOOD = ('whole', 'refused', 'read refused')


def judge_repair(damage, directory, outcome, new):
    shutil.rmtree(new, ignore_errors=True)
    try:
        check_repair(damage, directory, outcome == 'whole', new)
    except Difference as error:
        return str(error)
    return ''


def once(seed, scenes, work, number):
    damage = Damage(seed, scenes)
    directory = os.path.join(work, 'copy')
    shutil.rmtree(directory, ignore_errors=True)
    copy_directory(damage.scene.data, directory)
    damage.inflict(directory)
    outcome, words = judge(damage, directory)
    if outcome in GOOD and (outcome != 'whole' or number % WHOLE_REPAIRED == 0):
        fault = judge_repair(damage, directory, outcome, os.path.join(work, 'new'))
        if fault:
            return damage, 'UNTOLD', fault
    return damage, outcome, words


def table(counts):
    outcomes = [outcome for outcome in (*GOOD, 'no words', 'crashed', 'LOST', 'UNTOLD')
                if outcome in GOOD or any(row[outcome] for row in counts.values())]
    lines = [f'{"":22}' + ''.join(f'{outcome:>14}' for outcome in outcomes)]
    for row in sorted(counts, key=lambda row: (list(KINDS).index(row[0]), WAYS.index(row[1]))):
        lines.append(f'{row[0]:10}{row[1]:12}' + ''.join(f'{counts[row][outcome]:14}' for outcome in outcomes))
    return '\n'.join(lines)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--short', action='store_true', help='what make test runs')
    parser.add_argument('--encrypted', action='store_true', help='directories that are encrypted')
    parser.add_argument('--damages', type=int, default=int(os.environ.get('DAMAGES') or 0))
    parser.add_argument('--seed', default=os.environ.get('SEED') or str(random.SystemRandom().randrange(10**9)))
    parser.add_argument('--scene', help='only this one')
    parser.add_argument('--only', type=int, help='only the damage of this number')
    parser.add_argument('--verbose', action='store_true', default=bool(os.environ.get('VERBOSE')))
    options = parser.parse_args()
    options.damages = options.damages or (25 if options.short else 2000)
    return options


def make_scenes(options, work):
    scenes = []
    for number, (name, *how) in enumerate(SCENES):
        if options.scene in (None, name) and (number in SHORT or not options.short):
            scenes.append(Scene(name, os.path.join(work, f'scene{number}'), random.Random(f'{options.seed}/{name}'), *how))
    return scenes


def check_scenes(scenes, work):
    """Without damage everything is there: else the test itself is wrong."""
    for scene in scenes:
        directory = os.path.join(work, 'copy')
        shutil.rmtree(directory, ignore_errors=True)
        copy_directory(scene.data, directory)
        with Server(directory, *scene.options) as server:
            scene.verify(server.endpoint)
            scene.learn_order(Api(server.endpoint))
        sizes = {kind: len(paths) for kind, paths in files_of(scene.data).items()}
        print(f'{scene.name}: {sum(map(len, scene.items.values()))} items; files: {sizes}', flush=True)


def main():
    options = arguments()
    print(f'SEED={options.seed}', flush=True)
    work = tempfile.mkdtemp(prefix='dolmen-damage.')
    counts = collections.defaultdict(collections.Counter)
    failed, begun, numbers = 0, time.monotonic(), range(options.damages)
    if options.encrypted:
        use_master_key(work)
    try:
        scenes = make_scenes(options, work)
        check_scenes(scenes, work)
        for number in [options.only] if options.only is not None else numbers:
            damage, outcome, words = once(f'{options.seed}/{number}', scenes, work, number)
            counts[damage.kind, damage.way][outcome] += 1
            bad = outcome not in GOOD
            failed += bad
            if bad or options.verbose:
                print(f'{"FAILED " if bad else ""}{number}: {damage.scene.name}: {damage.text}: {outcome}\n    {words}', flush=True)
            if number % 100 == 99:
                print(f'{number + 1} damages, {failed} failed, {time.monotonic() - begun:.0f} s', flush=True)
    finally:
        shutil.rmtree(work)
    print(table(counts))
    passed = sum(sum(row.values()) for row in counts.values()) - failed
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
