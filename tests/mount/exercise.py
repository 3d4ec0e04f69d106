"""A cell, opened, read, written, cut, mapped and closed at random, beside a
model of it in memory.

usage: exercise.py CELL OPERATIONS KEEP     CELL has a family of VERSIONS=KEEP

Some descriptions of the cell are open at a time, all of this process. One that
changed something reads its own image, any other the newest version; a close
stores the image as one version, and none if nothing was changed. Prints the
history that must be there in the end: a length and a checksum a line.
"""
import mmap
import os
import random
import sys
import zlib

from writers import read, versions

SIZES = (10, 5000, 9000, 70000, 2500000)  # inline, blob, chunks


class Version:
    def __init__(self, value):
        self.value = bytes(value)


class Cell:
    def __init__(self, path, keep):
        self.path, self.keep, self.versions = path, keep, []

    def newest(self):
        return self.versions[0].value if self.versions else b""

    def store(self, value, instead_of=None):
        if instead_of in self.versions:
            self.versions.remove(instead_of)
        self.versions.insert(0, Version(value))
        del self.versions[self.keep:]
        return self.versions[0]


class Handle:
    """An open file description. What it changed is its image, or for an
    appending one a list of bytes behind the newest version."""

    def __init__(self, cell, flags):
        self.cell, self.mine, self.image, self.changed = cell, None, None, False
        self.writes = flags & os.O_ACCMODE != os.O_RDONLY
        self.reads = flags & os.O_ACCMODE != os.O_WRONLY
        self.appends = self.collects = bool(flags & os.O_APPEND)
        self.fd = os.open(cell.path, flags | os.O_CREAT, 0o644)
        self.cut = bool(flags & os.O_TRUNC)
        self.made = not cell.versions
        if self.made:
            self.mine, self.cut = cell.store(b""), False
            self.image = None if self.collects else bytearray()
        elif self.cut:
            self.image = bytearray()

    def pending(self):
        return self.changed or self.cut

    def value(self):
        if not self.pending():
            return self.cell.newest()
        base = self.cell.newest() if self.collects and not self.cut else b""
        return base + bytes(self.image)

    def take(self):
        """Before a change: the image is there."""
        if self.image is None:
            self.image = bytearray(b"" if self.collects else self.cell.newest())

    def commit(self):
        if self.pending():
            self.mine = self.cell.store(self.value(), self.mine)
            self.changed = self.cut = self.made = False
            self.image = None

    # -- what is done to both, the file and the model

    def write(self, data, at):
        self.take()
        if self.appends:
            at = len(self.image)
        self.image.extend(bytes(max(0, at - len(self.image))))
        self.image[at:at + len(data)] = data
        self.changed = True
        if not self.appends or random.random() < .5:
            return os.pwrite(self.fd, data, at)
        os.write(self.fd, data)

    def resize(self, size, call):
        if self.collects:
            self.image, self.collects = bytearray(self.value()), False
        self.take()
        if size != len(self.image):
            self.image.extend(bytes(max(0, size - len(self.image))))
            del self.image[size:]
            self.changed = True
        elif not self.pending() and not self.made:
            self.image = None
        call()

    def truncate(self, size):
        self.resize(size, lambda: os.ftruncate(self.fd, size))

    def grow(self, size):
        self.resize(max(size, len(self.value())),
                    lambda: os.posix_fallocate(self.fd, 0, size))

    def map(self, change):
        size = len(self.value())
        if not size:
            return
        with mmap.mmap(self.fd, size, prot=mmap.PROT_READ |
                       (mmap.PROT_WRITE if change else 0)) as m:
            at = random.randrange(size)
            assert m[at:] == self.value()[at:], "mapped bytes"
            if change:
                data = random.randbytes(random.randint(1, size - at))
                self.take()
                self.image[at:at + len(data)] = data
                m[at:at + len(data)] = data
                self.changed = True
            assert m[:] == self.value(), "mapped bytes"
        self.commit()  # mmap.mmap closes a descriptor of its own

    def close(self):
        os.close(self.fd)
        if self.cut and not self.changed:
            os.stat(self.cell.path)  # the last close is not waited for
        self.commit()


class Exercise:
    def __init__(self, path, keep):
        self.cell = Cell(path, keep)
        self.open, self.limit = [], 0

    def one(self):
        """One operation at random."""
        if not self.open or random.random() < .1:
            self.do_open()
        else:
            h = random.choice(self.open)
            names = ["close"] + ["read", "look"] * h.reads
            names += ["write", "write", "truncate", "grow", "sync"] * h.writes
            alone = not any(o.pending() for o in self.open if o is not h)
            names += ["map"] * (h.reads and alone)
            names += ["change"] * (h.reads and h.writes and not h.appends and
                                   len(self.open) == 1)
            names += ["cut", "newest", "history"] * (random.random() < .2)
            name = random.choice(names)
            said.append((name, self.open.index(h)))
            getattr(self, "do_" + name)(h)

    def do_open(self):
        self.limit = random.choice(SIZES)
        flags = random.choice((os.O_RDONLY, os.O_RDWR, os.O_RDWR, os.O_WRONLY))
        if flags != os.O_RDONLY:
            flags |= random.choice((0, 0, 0, os.O_TRUNC, os.O_APPEND,
                                    os.O_APPEND | os.O_TRUNC))
        said.append(("open", oct(flags)))
        self.open.insert(0, Handle(self.cell, flags))
        if len(self.open) > 4:
            self.do_close(self.open[-1])

    def do_close(self, h):
        self.open.remove(h)
        h.close()

    def do_read(self, h):
        want = h.value()
        got = os.pread(h.fd, len(want) + 10, 0)
        assert got == want, "read %d bytes, not %d" % (len(got), len(want))
        at = random.randint(0, len(want) + 5)
        if h.pending():
            assert os.pread(h.fd, 5000, at) == want[at:at + 5000], "part"

    def do_look(self, h):
        shown = next((o for o in self.open if o.pending()), None)
        want = len(shown.value() if shown else self.cell.newest())
        got = os.fstat(h.fd).st_size
        assert got == want, "size %d, not %d" % (got, want)

    def do_write(self, h):
        at = random.randrange(self.limit)
        size = random.choice((1, 100, self.limit))
        h.write(random.randbytes(random.randint(1, size)), at)

    def do_truncate(self, h):
        h.truncate(random.choice((0, len(h.value()), random.randrange(self.limit))))

    def do_grow(self, h):
        h.grow(random.randint(1, self.limit))

    def do_sync(self, h):
        os.fsync(h.fd)
        h.commit()

    def do_map(self, h):
        h.map(False)

    def do_change(self, h):
        h.map(True)

    def do_cut(self, h):
        size = random.randrange(self.limit)
        os.truncate(self.cell.path, size)
        newest = self.cell.newest()
        self.cell.store(newest[:size] + bytes(max(0, size - len(newest))))

    def do_newest(self, h):
        assert read(self.cell.path) == self.cell.newest(), "newest"

    def do_history(self, h):
        got, want = versions(self.cell.path), [v.value for v in self.cell.versions]
        assert got == want, "history %s, not %s" % (
            [len(v) for v in got], [len(v) for v in want])


said = []
exercise = Exercise(sys.argv[1], int(sys.argv[3]))
try:
    for done in range(int(sys.argv[2])):
        exercise.one()
    while exercise.open:
        exercise.do_close(exercise.open[0])
    exercise.do_history(None)
except BaseException:
    print(len(said), said[-20:], file=sys.stderr)
    raise
for v in exercise.cell.versions:
    print(len(v.value), zlib.crc32(v.value))
