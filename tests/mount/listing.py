"""Listings of a directory that changes, by readdir, telldir and seekdir.

usage: listing.py TEST DIRECTORY    prints what is wrong; nothing: all is well
"""
import ctypes
import multiprocessing
import os
import random
import sys

STAY = ["stay-%05d" % i for i in range(3000)]
STAYING = set(STAY)


class Dirent(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_uint64), ("off", ctypes.c_int64),
                ("reclen", ctypes.c_ushort), ("type", ctypes.c_ubyte),
                ("name", ctypes.c_char * 256)]


libc = ctypes.CDLL(None, use_errno=True)
libc.opendir.restype = ctypes.c_void_p
libc.readdir.restype = ctypes.POINTER(Dirent)
libc.telldir.restype = ctypes.c_long
for f in (libc.readdir, libc.telldir, libc.rewinddir, libc.closedir):
    f.argtypes = [ctypes.c_void_p]
libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]


class Dir:
    def __init__(self, path):
        self.dir = libc.opendir(os.fsencode(path))
        if not self.dir:
            sys.exit(f"opendir {path}: {os.strerror(ctypes.get_errno())}")

    def next(self):
        entry = libc.readdir(self.dir)
        return entry.contents.name.decode() if entry else None

    def rest(self):
        names = []
        while (name := self.next()) is not None:
            names.append(name)
        return names

    def rewind(self):
        libc.rewinddir(self.dir)

    def tell(self):
        return libc.telldir(self.dir)

    def seek(self, place):
        libc.seekdir(self.dir, place)

    def close(self):
        libc.closedir(self.dir)


def touch(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))


def fill(path):
    for name in STAY:
        touch(f"{path}/{name}")


def wrong(names, what):
    """Whether what stays is there once and in order."""
    stay = [n for n in names if n in STAYING]
    if stay != STAY:
        print(f"{what}: {len(stay)} of {len(STAY)}, "
              f"{len(set(stay))} different; first off: "
              f"{next((a, b) for a, b in zip(stay + [''], STAY + ['']) if a != b)}")


def change(path, number, end):
    """Adds and removes names before, between and behind those that stay."""
    chance = random.Random(number)
    mine = []
    while not end.is_set():
        if len(mine) < 300 and chance.random() < .55:
            name = chance.choice(
                ["a", "stay", "stay-%05d+" % chance.randrange(3000), "z"])
            mine.append(f"{path}/{name}x{number}x{chance.randrange(10**9)}")
            touch(mine[-1])
        elif mine:
            os.unlink(mine.pop(chance.randrange(len(mine))))


def lister(path, number, passes):
    chance = random.Random(number)
    held = Dir(path)
    for i in range(passes):
        held.rewind()
        wrong(held.rest(), "held open")
        d = Dir(path)
        wrong(d.rest(), "opened")
        d.close()
        # Half of it, a pause in which others fill the kernel's cache, the rest.
        held.rewind()
        names = [held.next() for _ in range(chance.randrange(3000))]
        d = Dir(path)
        wrong(d.rest(), "opened beside another")
        d.close()
        wrong(names + held.rest(), "in two parts")
    held.close()


def concurrent(path):
    fill(path)
    end = multiprocessing.Event()
    changers = [multiprocessing.Process(target=change, args=(path, i, end))
                for i in range(2)]
    listers = [multiprocessing.Process(target=lister, args=(path, i, 12))
               for i in range(3)]
    for p in changers + listers:
        p.start()
    for p in listers:
        p.join()
    end.set()
    for p in changers:
        p.join()
        if p.exitcode:
            print("a changer died")


def places(path):
    """Every place that telldir gave leads on to the same names."""
    fill(path)
    d = Dir(path)
    seen = []
    while True:
        place = d.tell()
        name = d.next()
        if name is None:
            break
        seen.append((place, name))
    names = [n for _, n in seen]
    for i in random.Random(1).sample(range(len(seen)), 100):
        d.seek(seen[i][0])
        rest = d.rest()
        if rest != names[i:]:
            print(f"seekdir to {names[i]}: on to {rest[:1]}, {len(rest)} names")
    d.close()


def behind(path):
    """A listing half read goes on where it was, when a name comes to the
    directory by another name and the kernel has to drop what it kept."""
    fill(path)
    Dir(path).rest()
    for i in range(20):
        d = Dir(path)
        names = [d.next() for _ in range(500 + i * 100)]
        with open(f"{path}/a-new-{i}@{1000 + i}", "w") as f:
            f.write("x")
        others = Dir(path)
        wrong(others.rest(), "opened after")
        others.close()
        wrong(names + d.rest(), "went on")
        d.close()
        if f"a-new-{i}" not in os.listdir(path):
            print(f"a-new-{i} is not listed")
        os.unlink(f"{path}/a-new-{i}@{1000 + i}")
        if f"a-new-{i}" in os.listdir(path):
            print(f"a-new-{i} is listed still")


def removing(path):
    """What is removed as it is read is gone in one pass."""
    fill(path)
    Dir(path).rest()
    d = Dir(path)
    count = 0
    while (name := d.next()) is not None:
        if name.startswith("stay-"):
            os.unlink(f"{path}/{name}")
            count += 1
    d.close()
    if count != len(STAY) or os.listdir(path):
        print(f"{count} removed, {len(os.listdir(path))} left")


globals()[sys.argv[1]](sys.argv[2])
