#!/usr/bin/env python3
"""Fills a mounted store with all that a copy must carry.

usage: estate.py MOUNT ROWS    tables of different schemas, ROWS plain rows in
                               three, whose times nothing sets; the odd names,
                               sizes, modes, times
       estate.py MOUNT change  cells and directories added, changed, removed,
                               a schema altered, a table gone and one new
"""
import os
import sys

from names import enc

TOP = os.fsencode(sys.argv[1])
STAMP = 1_000_000_000 * 981_173_106  # 2001-02-03, and odd nanoseconds below

SEALED = b"""table open=0
family info versions=5 compression=none blocksize=65536
family long versions=1 max_cell_size=20971520 in_memory=true
family brief versions=2 min_versions=1 ttl=864000
"""


def make(*parts):
    path = b"/".join((TOP,) + parts)
    os.makedirs(path, exist_ok=True)
    return path


def put(value, *parts):
    path = make(*parts[:-1]) + b"/" + parts[-1]
    with open(path, "wb") as f:
        f.write(value)
    return path


def dress(path, n):
    """Gives a path a mode, an owner and a time of its own."""
    directory = os.path.isdir(path)
    os.chown(path, n % 7, n % 5)
    os.chmod(path, (0o700 if directory else 0o400) | n * 8 % 0o100)
    os.utime(path, ns=(STAMP + n, STAMP + n * 1_000_003))


def odd_names():
    keys = [bytes([b]) for b in range(256)] + [b"\xc3\x28", "行 é".encode()]
    for key in keys:
        put(key.hex().encode(), b"users", b"bytes", b"info", enc(key))
        put(key.hex().encode(), b"users", enc(key, row=True), b"info", b"q")
    put(b"no qualifier", b"users", b"none", b"info", b"%")
    for n in (235, 236, 254, 255, 256, 700):
        name = enc(b"long." + b"x" * (n - 5))
        put(b"%d" % n, b"users", b"wide", b"info", *name.split(b"/"))
        row = enc(b"tall." + b"y" * (n - 5), row=True)
        put(b"%d" % n, b"users", *row.split(b"/"), b"info", b"q")
    make(b"users", b"z" * 254 + b"%")  # a part that nothing continues
    make(b"users", b"wide", b"info", b"w" * 254 + b"%")


def sizes():
    for n in (0, 1, 8191, 8192, 8193, 1048576, 1048577, 12582913):
        put(b"%d" % (n % 10) * n, b"users", b"sized", b"long", b"n%d" % n)
    for i in range(4):  # a history, of which a copy takes the newest
        put(b"value %d" % i, b"users", b"aged", b"info", b"q")
    put(b"soon", b"users", b"aged", b"brief", b"q")


def dots():
    put(b"swap", b"users", b"dots", b"info", b".q.swp")
    put(b"s" * 100_000, b"users", b"dots", b"long", b".long")
    put(b"part", b"users", b"dots", b"info", b".parts", b"q")
    put(b"", b"users", b"dots", b"info", b".parts", b".empty")
    make(b"users", b"dots", b"info", b".nothing")
    put(b"alone", b"users", b"only a dot file", b"info", b".alone")
    put(b"kept", b".schema", b".kept")
    put(b"table open=1\n", b".schema", b"users~")


def others():
    put(SEALED.replace(b"long", b"other"), b".schema", b"ns:deep.table-1")
    put(b"1", b"ns:deep.table-1", b"r", b"other", b"q")
    for i in range(8):
        put(b"%d" % i, b"free", b"r%d" % i, b"made%d" % i, b"q")
    make(b"free", b"empty row")
    make(b"free", b"row of an empty family", b"nothing")
    make(b"bare")
    put(b"table open=0\n", b".schema", b"sealed and empty".replace(b" ", b"_"))


def plain(rows):
    for i in range(rows):
        row = (b"many.%d" % (i % 3), b"r%07d" % (i * 7919 % rows))
        put(b"%d" % i, *row, b"f", b"q")
        if i % 100 == 0:
            dress(make(*row), i)


def everything(top):
    for path, directories, files in os.walk(top, topdown=False):
        for name in files + directories:
            yield path + b"/" + name


def build(rows):
    put(SEALED, b".schema", b"users")
    odd_names()
    sizes()
    dots()
    others()
    plain(rows)
    for n, path in enumerate(everything(TOP)):
        if not path.startswith(TOP + b"/many."):
            dress(path, n)
    for n, path in enumerate((TOP + b"/.schema", TOP)):
        dress(path, 70 * n)
        os.chmod(path, 0o755)


def remove(*parts):
    path = b"/".join((TOP,) + parts)
    for inner in everything(path):
        (os.rmdir if os.path.isdir(inner) else os.unlink)(inner)
    os.rmdir(path)


def change():
    put(b"another", b"users", b"aged", b"info", b"q")
    put(b"same size", b"users", b"bytes", b"info", b"A")
    os.utime(put(b"42", b"users", b"B", b"info", b"q"),
             ns=(STAMP, os.stat(TOP + b"/users/B").st_mtime_ns))
    os.unlink(TOP + b"/users/C/info/q")
    put(b"new", b"users", b"new row", b"brief", b"new")
    remove(b"users", b"D")
    remove(b"users", b"dots", b"info", b".parts")
    put(b"a file now", b"users", b"dots", b"info", b".parts")
    os.unlink(TOP + b"/users/dots/info/.q.swp")
    put(b"a directory now", b"users", b"dots", b"info", b".q.swp", b"q")
    put(b"x" * 9000, b"users", b"sized", b"long", b"n8192")
    os.truncate(TOP + b"/users/sized/long/n1048577", 17)
    make(b"users", b"kept")
    os.chmod(TOP + b"/users/E", 0o711)
    os.utime(TOP + b"/users/F", ns=(STAMP, STAMP))
    os.chown(TOP + b"/users/G/info/q", 3, 4)
    remove(b"free")
    put(b"back", b"free", b"r", b"family", b"q")
    remove(b"bare")
    put(b"1", b"fresh", b"r", b"f", b"q")
    with open(TOP + b"/.schema/users", "ab") as f:
        f.write(b"family info versions=2\nfamily later ttl=1000000\n")
    put(b"declared later", b"users", b"A", b"later", b"q")


if sys.argv[2] == "change":
    change()
else:
    build(int(sys.argv[2]))
