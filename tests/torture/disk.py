"""The disk that can be told to fail: the driver's side of faults.c.

    disk = Disk(work, data, layer)      makes the control file; everything in `data` counts as synced
    disk.environment()                  what makes a server run on it
    disk.fill(bytes), disk.break_writes(...), disk.break_syncs(...), disk.lift()
    disk.lose_power(random)             after the kill: takes away what no sync has promised

Losing power, by the rules that a file system gives:
  - of a file, the bytes of its last sync are there. Of those behind them a prefix survives, or all, or some of
    the pages (the others are zeros), and the last page may hold garbage. Bytes whose sync failed may be zeros even if
    a later sync succeeded, since the kernel counts such pages as written;
  - a directory has the names of its last sync. Of the changes since then (a new name, a rename, a removal) the first
    few survive: journals keep the order within a directory, but not between directories. A disk that is `unordered`
    keeps any of them, which POSIX would allow; RocksDB itself does not survive that (a new CURRENT without its MANIFEST).
"""
import collections
import mmap
import os
import shutil
import struct

RECORDS_AT = 4096
RECORD = struct.Struct('=IIQQQQ172s172s')
OLD_ZEROS = 2**64 - 1
CAPACITY = 200000
PAGE, SECTOR = 4096, 512
BOOT_AT = 4 * 8  # in log/promise
CREATE, RENAME, REMOVE, SYNC, SYNC_LOST, SYNC_DIR, MKDIR, WRITE = range(1, 9)
FIELDS = ('cursor', 'capacity', 'space', 'write_delay', 'write_faults', 'sync_faults', 'writes', 'syncs',
          'failed_writes', 'failed_syncs', 'surprises', 'old_bytes')


def text(field):
    return field.split(b'\0', 1)[0].decode()


def parent(path):
    return path.rpartition('/')[0]


class Disk:
    def __init__(self, work, data, layer, unordered=False):
        self.unordered = unordered
        self.data = data
        self.layer = layer
        self.grave = os.path.join(work, 'grave')
        self.path = os.path.join(work, 'control')
        with open(self.path, 'wb') as file:
            file.truncate(RECORDS_AT + CAPACITY * RECORD.size)
        with open(self.path, 'r+b') as file:
            self.map = mmap.mmap(file.fileno(), 0)
        self.dropped = 0  # bytes that power losses took away
        self.undone = 0   # and changes of directories
        self.begin()

    def begin(self):
        """An empty journal; what is there now counts as synced."""
        used = min(self.get('cursor'), CAPACITY)
        self.map[:RECORDS_AT + used * RECORD.size] = bytes(RECORDS_AT + used * RECORD.size)
        self.set('capacity', CAPACITY)
        self.lift()
        shutil.rmtree(self.grave, ignore_errors=True)
        os.mkdir(self.grave)
        self.names, self.synced, self.directories = {}, {}, set()
        for path, status in self.walk():
            self.names[path] = status.st_ino
            self.synced[status.st_ino] = status.st_size

    def walk(self):
        for top, directories, files in os.walk(self.data):
            for name in directories:
                self.directories.add(os.path.relpath(os.path.join(top, name), self.data))
            for name in files:
                path = os.path.join(top, name)
                yield os.path.relpath(path, self.data), os.lstat(path)

    def environment(self):
        return {'LD_PRELOAD': self.layer, 'TORTURE_CONTROL': self.path, 'TORTURE_ROOT': self.data,
                'TORTURE_GRAVE': self.grave}

    # ---- Switches ----

    def get(self, name):
        return struct.unpack_from('=q', self.map, FIELDS.index(name) * 8)[0]

    def set(self, name, value):
        struct.pack_into('=q', self.map, FIELDS.index(name) * 8, value)

    def fill(self, left):
        self.set('space', left)

    def break_writes(self, delay, count):
        self.set('write_faults', count)
        self.set('write_delay', delay)

    def break_syncs(self, count):
        self.set('sync_faults', count)

    def lift(self):
        self.set('space', -1)
        self.set('write_delay', -1)
        self.set('write_faults', 0)
        self.set('sync_faults', 0)

    # ---- Kills ----

    def add(self, kind, inode, path, other=''):
        at = self.get('cursor')
        RECORD.pack_into(self.map, RECORDS_AT + at * RECORD.size, kind, 1, inode, 0, 0, 0, path.encode(), other.encode())
        self.set('cursor', at + 1)

    def notice(self):
        """After a kill: a name may have been made or changed by the last instruction, and not be in the journal. Whoever starts
        next finds it there, and makes no record of it either."""
        names, directories, _, pending = self.replay()
        for _, change in pending:
            self.apply(change, names, directories)
        there, known = {}, directories | self.directories
        for top, inner, files in os.walk(self.data):
            for path in (os.path.relpath(os.path.join(top, name), self.data) for name in inner):
                if path not in known:
                    self.add(MKDIR, 0, path)
            for path in (os.path.join(top, name) for name in files):
                there[os.path.relpath(path, self.data)] = os.lstat(path).st_ino
        gone = {inode: path for path, inode in names.items() if path not in there}
        for path, inode in there.items():
            if names.get(path) != inode:
                if inode in gone:
                    self.add(RENAME, inode, gone[inode], path)
                else:
                    self.add(CREATE, inode, path)

    # ---- Power loss ----

    def replay(self):
        """(names, directories, files by inode, changes of names not synced), from the journal."""
        if self.get('surprises'):
            raise RuntimeError('the server cut a file shorter, or the journal is full: faults.c does not model it')
        names, directories, pending = dict(self.names), set(self.directories), []
        files = collections.defaultdict(File)
        for inode, size in self.synced.items():
            files[inode].synced = size
        for at in range(self.get('cursor')):
            kind, ready, inode, length, count, old, path, other = RECORD.unpack_from(self.map, RECORDS_AT + at * RECORD.size)
            if not ready:
                continue
            path, other = text(path), text(other)
            if kind == WRITE:
                files[inode].write(at, length, count, self.old(old, count))
            elif kind == SYNC:
                files[inode].sync(length, count)
            elif kind == SYNC_LOST:
                files[inode].sync_lost(length, count)
            elif kind == SYNC_DIR:
                rest = []
                for number, change in pending:
                    directory = parent(change[3] if change[0] == RENAME else change[2])
                    if number < count and directory == path:
                        self.apply(change, names, directories)
                    else:
                        rest.append((number, change))
                pending = rest
            else:
                pending.append((at, (kind, inode, path, other)))
        return names, directories, files, pending

    def tell(self, names, pending):
        """Keeps what was known before the last power loss, for whoever has to find out why a server did not survive it."""
        kinds = ('', 'create', 'rename', 'remove', 'sync', 'sync lost', 'sync directory', 'mkdir', 'write')
        with open(os.path.join(os.path.dirname(self.path), 'before-power-loss'), 'w') as file:
            for at in range(self.get('cursor')):
                kind, ready, inode, length, count, _, path, other = RECORD.unpack_from(self.map, RECORDS_AT + at * RECORD.size)
                if kind != WRITE:
                    print(at, kinds[kind], ready, inode, length, count, text(path), text(other), file=file)
            print('names', sorted(names.items()), file=file)
            print('not synced', pending, file=file)

    def old(self, place, count):
        if place == OLD_ZEROS:
            return bytes(count)
        with open(os.path.join(self.grave, 'old'), 'rb') as file:
            file.seek(place)
            return file.read(count)

    @staticmethod
    def apply(change, names, directories):
        kind, inode, path, other = change
        if kind == MKDIR:
            directories.add(path)
        elif kind == CREATE:
            names[path] = inode
        elif kind == REMOVE:
            if names.get(path) == inode:
                del names[path]
        elif kind == RENAME and names.get(path) == inode:
            del names[path]
            names[other] = inode

    def surviving(self, random, changes):
        """Of each directory's changes the first few, in their order; if the disk is unordered, any of them."""
        if self.unordered:
            kept = [change for change in changes if random.random() < 0.5]
        else:
            kept = []
            for directory in sorted({parent(change[2]) for change in changes}):
                own = [change for change in changes if parent(change[2]) == directory]
                kept += own[:random.choice((0, random.randint(0, len(own)), len(own)))]
        self.undone += len(changes) - len(kept)
        return kept

    def lose_power(self, random):
        names, directories, files, pending = self.replay()
        self.tell(names, pending)
        for change in self.surviving(random, [change for _, change in pending]):
            self.apply(change, names, directories)
        sources = {status.st_ino: os.path.join(self.data, path) for path, status in self.walk()}
        for name in set(os.listdir(self.grave)) - {'old'}:
            sources.setdefault(int(name), os.path.join(self.grave, name))
        after = self.data + '.after'
        os.makedirs(after)
        for directory in sorted(directories):
            if not parent(directory) or parent(directory) in directories:
                os.makedirs(os.path.join(after, directory), exist_ok=True)
        for path, inode in names.items():
            if parent(path) and parent(path) not in directories:
                continue  # Its directory itself did not survive.
            self.survive(random, sources[inode], os.path.join(after, path), files[inode])
        self.forget_boot(os.path.join(after, 'log', 'promise'))
        shutil.rmtree(self.data)
        os.rename(after, self.data)
        self.begin()

    @staticmethod
    def forget_boot(promise):
        """The machine is started again: what was promised until then (PROMISE_BOOT) is void."""
        if os.path.exists(promise) and os.path.getsize(promise) > BOOT_AT:
            shutil.copyfile(promise, promise + '.own')  # it may be linked
            os.rename(promise + '.own', promise)
            with open(promise, 'r+b') as file:
                file.seek(BOOT_AT)
                file.write(bytes(8))

    def survive(self, random, source, target, file):
        size = os.path.getsize(source)
        if size <= file.synced and not file.writes and not file.lost:
            os.link(source, target)
            return
        with open(source, 'rb') as stream:
            content = bytearray(stream.read())
        fate = random.randrange(5)
        self.take_back(random, fate, content, file.writes)
        if size > file.synced:
            content = self.tear(random, fate, content, file.synced)
        for start, old in file.lost:
            if random.random() < 0.7:
                old = old[:max(0, len(content) - start)]
                content[start:start + len(old)] = old
        with open(target, 'wb') as stream:
            stream.write(content)

    def take_back(self, random, fate, content, writes):
        """Of the writes into the file: none survive, all do, those up to one, or pieces of any."""
        first = {0: 0, 1: len(writes)}.get(fate, random.randint(0, len(writes)))
        unit = PAGE if fate == 3 else SECTOR
        for at in range(len(writes) - 1, -1, -1):
            _, start, old = writes[at]
            position = 0
            while position < len(old):
                end = min(len(old), position + unit - (start + position) % unit)
                if at >= first if fate < 3 else random.random() < 0.5:
                    content[start + position:start + end] = old[position:end]
                    self.dropped += end - position
                position = end

    def tear(self, random, fate, content, synced):
        """Of the bytes added to the file: none survive, all do, a prefix does, or some of the pages."""
        size = len(content)
        length = {0: synced, 1: size}.get(fate, random.randint(synced, size))
        self.dropped += size - length
        if fate == 4:  # All is as long as it was, but some pages never came.
            for start in range(synced, size, PAGE):
                if random.random() < 0.5:
                    end = min(start + PAGE - start % PAGE, size)
                    content[start:end] = bytes(end - start)
            return content
        torn = content[:length]
        if fate == 3:  # The rest of the last page is whatever the disk had there.
            torn += random.randbytes(-length % PAGE)
        return torn


class File:
    """What is known of a file's bytes."""

    def __init__(self):
        self.synced = 0   # so many are on the disk, but for
        self.writes = []  # (record, start, the bytes that were there before): not synced since
        self.lost = []    # (start, old bytes): their sync failed, and nothing was written there since

    def write(self, at, start, count, old):
        self.writes.append((at, start, old))
        kept, end = [], start + count
        for begin, before in self.lost:
            if begin < start:
                kept.append((begin, before[:start - begin]))
            if begin + len(before) > end:
                kept.append((max(begin, end), before[max(0, end - begin):]))
        self.lost = [(begin, before) for begin, before in kept if before]

    def sync(self, length, until):
        self.synced = max(self.synced, length)
        self.writes = [write for write in self.writes if write[0] >= until]

    def sync_lost(self, length, until):
        self.lost += [(start, old) for at, start, old in self.writes if at < until]
        self.writes = [write for write in self.writes if write[0] >= until]
        if length > self.synced:
            self.lost.append((self.synced, bytes(length - self.synced)))
