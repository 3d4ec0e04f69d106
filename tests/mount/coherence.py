"""Every way of changing a cell, a name or an attribute, seen by every way of
looking at it: at once, or within a second where the tree says so.

usage: coherence.py MOUNT STORE    prints what is seen wrongly
Everything is looked at beforehand, long after it was written, so that what the
kernel may keep of it, it has kept.
"""
import errno
import mmap
import os
import subprocess
import sys
import time

MOUNT, STORE = sys.argv[1:]
OLD, NEW = b"old-old\n", b"new-new\n"
GONE = "gone"
FUTURE = (int(time.time()) + 1000) * 1000


def put(path, value):
    with open(path, "wb") as f:
        f.write(value)


def cellfs(*words):
    subprocess.run([os.environ["CELLFS"], *words], check=True,
                   stdout=subprocess.DEVNULL)


def control(verb):
    with open(f"{MOUNT}/.cellfs/control", "w") as f:
        f.write(verb + "\n")


def newest(path):
    return f"{path}@{max(map(int, os.listdir(path + '@')))}"


def gone_or(look):
    try:
        return look()
    except OSError as e:
        if e.errno in (errno.ENOENT, errno.ESTALE):
            return GONE
        raise


# --- ways of looking: each is primed on what is there, then asked again ------

class Look:
    within = 0  # seconds in which a change must be seen; 0: at once

    def __init__(self, path):
        self.path = path
        self.directory, self.name = os.path.split(path)
        self.open()

    def open(self):
        pass

    def close(self):
        pass


class Read(Look):
    def see(self):
        with open(self.path, "rb") as f:
            return f.read()


class Held(Look):
    def open(self):
        self.fd = os.open(self.path, os.O_RDONLY)

    def see(self):
        return os.pread(self.fd, 100, 0)

    def close(self):
        os.close(self.fd)


class Mapped(Held):
    def open(self):
        super().open()
        self.map = mmap.mmap(self.fd, 8, mmap.MAP_SHARED, mmap.PROT_READ)

    def see(self):
        return self.map[:]

    def close(self):
        self.map.close()
        super().close()


class Size(Look):
    def see(self):
        return os.stat(self.path).st_size


class HeldSize(Held):
    def see(self):
        return os.fstat(self.fd).st_size


class Mode(Look):
    def see(self):
        return os.stat(self.path).st_mode & 0o777


class Timestamp(Look):
    def see(self):
        return int(os.getxattr(self.path, "user.cellfs.timestamp"))


class Time(Look):
    def see(self):
        return os.stat(self.path).st_mtime_ns


class Name(Look):
    within = 1

    def see(self):
        return os.path.exists(self.path) or GONE


class Listed(Look):
    def see(self):
        return self.name in os.listdir(self.directory) or GONE


class HeldListing(Look):
    def open(self):
        self.fd = os.open(self.directory, os.O_RDONLY)

    def see(self):
        return self.name in os.listdir(self.fd) or GONE

    def close(self):
        os.close(self.fd)


BYTES = (Read, Held, Mapped)
SIZES = (Size, HeldSize)
NAMES = (Name, Listed, HeldListing)

# --- ways of changing: what, what was there, the change, what is seen ---------


def renamed_onto(q):
    put(q + "-source", NEW)
    os.rename(q + "-source", q)


def dot_renamed_onto(q):
    dot = os.path.join(os.path.dirname(q), ".q.tmp")
    put(dot, NEW)
    os.rename(dot, q)


def appended(q):
    with open(q, "ab") as f:
        f.write(NEW)


def mapped_write(q):
    fd = os.open(q, os.O_RDWR)
    with mmap.mmap(fd, 8) as m:
        m[:] = NEW
    os.close(fd)


def pwritten(q):
    fd = os.open(q, os.O_RDWR)
    os.pwrite(fd, NEW, 0)
    os.fsync(fd)
    os.close(fd)


def counted(q):
    put(q + "@counter", b"1")


def older_first(q):
    put(q + "@5", NEW)
    put(f"{q}@{FUTURE}", OLD)


def altered(q):
    with open(f"{MOUNT}/.schema/t", "a") as f:
        f.write("family late ttl=1\n")


COUNTER = (41).to_bytes(8, "big")
COUNTED = (42).to_bytes(8, "big")


def seen(value, *looks):
    return {look: value for look in looks}


VALUE = {**seen(NEW, *BYTES), **seen(8, *SIZES)}
LOST = {**seen(GONE, Read, Size), **seen(GONE, *NAMES)}
CHANGES = {  # name: (prepare, change, what is seen after it)
    "written": (lambda q: put(q, OLD), lambda q: put(q, NEW), VALUE),
    "pwritten and synced": (lambda q: put(q, OLD), pwritten, VALUE),
    "written through a map": (lambda q: put(q, OLD), mapped_write, VALUE),
    "appended to": (lambda q: put(q, OLD), appended,
                    {**seen(OLD + NEW, Read, Held), **seen(16, *SIZES)}),
    "truncated": (lambda q: put(q, OLD), lambda q: os.truncate(q, 3),
                  {**seen(b"old", Read, Held), **seen(3, *SIZES)}),
    "a cell renamed onto it": (lambda q: put(q, OLD), renamed_onto,
                               seen(NEW, Read)),
    "a dot file renamed onto it": (lambda q: put(q, OLD), dot_renamed_onto,
                                   seen(NEW, Read)),
    "a newer version by its name": (
        lambda q: put(q, OLD), lambda q: put(f"{q}@{FUTURE}", NEW),
        {**VALUE, Timestamp: FUTURE}),
    "the newest version removed": (
        older_first, lambda q: os.unlink(newest(q)), {**VALUE, Timestamp: 5}),
    "the newest version rewritten": (
        lambda q: put(q, OLD), lambda q: put(newest(q), NEW), VALUE),
    "added to by counter": (lambda q: put(q, COUNTER), counted,
                            seen(COUNTED, *BYTES)),
    "mode of the version": (lambda q: put(q, OLD),
                            lambda q: os.chmod(newest(q), 0o640),
                            {Mode: 0o640}),
    "time of the version": (
        lambda q: put(q, OLD),
        lambda q: os.utime(newest(q), ns=(10**18, 10**18)), {Time: 10**18}),
    "removed": (lambda q: put(q, OLD), os.unlink, LOST),
    "renamed away": (lambda q: put(q, OLD),
                     lambda q: os.rename(q, q + "-away"), LOST),
    "the last version removed": (lambda q: put(q, OLD),
                                 lambda q: os.unlink(newest(q)), LOST),
    "made": (None, lambda q: put(q, NEW), seen(True, *NAMES)),
    "made by a version": (None, lambda q: put(q + "@7", NEW),
                          seen(True, *NAMES)),
    "made by a counter": (None, counted, seen(True, *NAMES)),
    "cleaned up": (lambda q: put(q, NEW), lambda q: control("compact"), VALUE),
}


def check(what, look, want):
    end = time.monotonic() + look.within
    got = gone_or(look.see)
    while got != want and time.monotonic() < end:
        time.sleep(.01)
        got = gone_or(look.see)
    if got != want:
        print(f"{what}: {type(look).__name__} sees {got}, expected {want}")


def prime(cases):
    """Opens all looks and looks twice, when all was written long ago."""
    time.sleep(2.1)
    looks = [(c, cls(c[1]), want) for c in cases
             for cls, want in c[3].items()]
    for _ in range(2):
        for _, look, _ in looks:
            gone_or(look.see)
    return looks


def run(cases):
    """cases: (what, path, change, what is seen)."""
    looks = prime(cases)
    for case in cases:
        case[2](case[1])
        for c, look, want in looks:
            if c is case:
                check(case[0], look, want)
    for _, look, _ in looks:
        look.close()


def cells():
    cases = []
    for i, (what, (prepare, change, after)) in enumerate(CHANGES.items()):
        path = f"{MOUNT}/t/row{i}/f/q"
        os.makedirs(os.path.dirname(path))
        if prepare:
            prepare(path)
        cases.append((what, path, change, after))
    run(cases)


def tables():
    """Names of tables, by .schema and control."""
    names = {c: f"{MOUNT}/{c}" for c in
             ("made", "moved", "lost", "emptied", "dropped")}
    schema = {c: f"{MOUNT}/.schema/{c}" for c in names}
    for c in ("moved", "lost", "emptied", "dropped"):
        put(schema[c], b"family f\n")
    for c in ("emptied", "dropped"):
        os.makedirs(names[c] + "/row/f")
        put(names[c] + "/row/f/q", OLD)
    there, lost = seen(True, *NAMES), seen(GONE, *NAMES)
    run([
        ("schema made", names["made"],
         lambda q: put(schema["made"], b"family f\n"), there),
        ("schema renamed", names["moved"],
         lambda q: os.rename(schema["moved"], schema["moved"] + "2"), lost),
        ("schema removed", names["lost"],
         lambda q: os.unlink(schema["lost"]), lost),
        ("truncated", names["emptied"] + "/row/f/q",
         lambda q: control("truncate emptied"), {Read: GONE, Name: GONE}),
        ("truncated", names["emptied"] + "/row",
         lambda q: None, lost),
        ("dropped", names["dropped"] + "/row/f/q",
         lambda q: cellfs("drop", STORE, "dropped"), {Read: GONE, Name: GONE}),
        ("dropped", names["dropped"], lambda q: None, lost),
    ])


def lives():
    """Cells that expire, and a family that begins to expire."""
    soon, late = f"{MOUNT}/t/live/soon/q", f"{MOUNT}/t/live/late/q"
    for path in (soon, late):
        os.makedirs(os.path.dirname(path))
    put(late, OLD)
    time.sleep(2.1)
    put(soon, OLD)
    looks = [cls(path) for path in (soon, late)
             for cls in (Read, Held, Size, *NAMES)]
    for look in looks:
        gone_or(look.see)
    time.sleep(4.01 - (time.time() - os.stat(soon).st_mtime))
    altered(late)
    for look in looks:
        if not isinstance(look, (Read, Held)):
            look.within = 1  # names and attributes; bytes go at once
        check(f"expired {look.path[-6:-2]}", look, GONE)
        look.close()


cells()
tables()
lives()
