#!/usr/bin/env python3
"""Values built up in any order, beside a plain file that is treated alike.

usage: large.py CELL PLAIN SIZE ROUNDS [SEED]

Each round opens both, writes at random offsets, appends, truncates and maps,
up to SIZE bytes, closes, and compares what is read back, in pieces and whole.
"""
import mmap
import os
import random
import sys

cell, plain, size, rounds = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5])
seed = int(sys.argv[5]) if len(sys.argv) > 5 else random.randrange(1 << 32)
random.seed(seed)
print("seed", seed, file=sys.stderr)
EDGES = [0, 1, 4096, 8191, 8192, 8193, (1 << 20) - 1, 1 << 20, (1 << 20) + 1,
         2 << 20, size - 1, size]
EDGES = [e for e in EDGES if e <= size]
noise = os.urandom(1 << 20)


def somewhere():
    if random.random() < .5:
        return random.choice(EDGES)
    return random.randrange(size + 1)


def piece(room):
    n = min(room, random.choice([1, 100, 4096, 8192, 65536, 1 << 20]))
    at = random.randrange(len(noise) - n + 1)
    return noise[at:at + n]


def write(fds):
    at = somewhere()
    data = piece(size - at)
    for fd in fds:
        os.pwrite(fd, data, at)


def truncate(fds):
    at = somewhere()
    for fd in fds:
        os.ftruncate(fd, at)


def sync(fds):
    for fd in fds:
        os.fsync(fd)


def through_map(fds):
    now = os.fstat(fds[1]).st_size
    if not now:
        return
    at = random.randrange(now)
    data = piece(now - at)
    for fd in fds:
        with mmap.mmap(fd, now) as m:
            m[at:at + len(data)] = data
            m.flush()


def read(fds):
    at = somewhere()
    if os.pread(fds[0], 1 << 17, at) != os.pread(fds[1], 1 << 17, at):
        sys.exit("seed %d: read at %d differs while open" % (seed, at))


def append():
    data = piece(max(0, size - os.path.getsize(plain)))
    for path in (cell, plain):
        with open(path, "ab", buffering=0) as f:
            f.write(data)


def shorten():
    at = somewhere()
    for path in (cell, plain):
        os.truncate(path, at)


def differ():
    with open(cell, "rb") as a, open(plain, "rb") as b:
        if os.fstat(a.fileno()).st_size != os.fstat(b.fileno()).st_size:
            return True
        while True:
            x, y = a.read(1 << 20), b.read(1 << 20)
            if x != y or not x:
                return x != y


for path in (cell, plain):
    open(path, "ab").close()
for i in range(rounds):
    kind = random.random()
    if kind < .15:
        append()
    elif kind < .25:
        shorten()
    else:
        flags = os.O_RDWR | random.choice([0, 0, os.O_TRUNC])
        fds = [os.open(path, flags) for path in (cell, plain)]
        for _ in range(random.randrange(1, 12)):
            random.choice([write, write, write, truncate, sync, through_map,
                           read, read])(fds)
        for fd in fds:
            os.close(fd)
    if differ():
        sys.exit("seed %d: differs after round %d" % (seed, i))
