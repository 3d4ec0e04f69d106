#!/usr/bin/env python3
"""Every refusal of a mount: by which call, with which errno and sentence.

usage: refusals.py MOUNT TABLE...    the tables are those at the end of this
                                     file; what they need is made first
"""
import ctypes
import errno
import os
import stat
import sys
from errno import (E2BIG, EDQUOT, EEXIST, EFBIG, EINVAL, EIO, EISDIR,
                   ENAMETOOLONG, ENOENT, ENOSPC, ENOTEMPTY, EOPNOTSUPP, EPERM,
                   EROFS)

M = sys.argv[1]
Q = "t/r/f/q"
LIMIT = 100_000  # max_cell_size of f
libc = ctypes.CDLL(None, use_errno=True)


class TooEarly(Exception):
    """A call before the one that is to be refused was."""


def name(path):
    return "%s/%s" % (M, path)


# --- calls, each refused by the last one it names ---------------------------


def opens(path, flags=os.O_WRONLY):
    os.close(os.open(name(path), flags, 0o644))


def creates(path):
    opens(path, os.O_WRONLY | os.O_CREAT)


def writes(path, value, flags=os.O_WRONLY | os.O_CREAT, at=None, then=None):
    """The write, or what is done then, is refused."""
    try:
        fd = os.open(name(path), flags, 0o644)
    except OSError as e:
        raise TooEarly("open") from e
    try:
        if at is None:
            os.write(fd, value)
        else:
            os.pwrite(fd, value, at)
        if then:
            then(fd)
    finally:
        try:
            os.close(fd)
        except OSError:
            pass


def closes(path, value, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
    try:
        fd = os.open(name(path), flags, 0o644)
        os.write(fd, value)
    except OSError as e:
        raise TooEarly("open or write") from e
    os.close(fd)


def reads(path):
    with open(name(path), "rb") as f:
        f.read()


def stats(path):
    os.stat(name(path))


def mkdir(path):
    os.mkdir(name(path))


def mkfifo(path):
    os.mkfifo(name(path))


def socket(path):
    os.mknod(name(path), stat.S_IFSOCK | 0o644)


def symlink(path):
    os.symlink("q", name(path))


def link(path, to):
    os.link(name(path), name(to))


def unlink(path):
    os.unlink(name(path))


def rmdir(path):
    os.rmdir(name(path))


def rename(path, to):
    os.rename(name(path), name(to))


def exchange(path, to):
    if libc.renameat2(-100, name(path).encode(), -100, name(to).encode(), 2):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def truncate(path, size):
    os.truncate(name(path), size)


def chmod(path, mode):
    os.chmod(name(path), mode)


def utime(path):
    os.utime(name(path), ns=(1, 1))


def setxattr(path, attribute):
    os.setxattr(name(path), attribute, b"v")


def says(verb):
    writes(".cellfs/control", verb, os.O_WRONLY)


def punches(fd):
    if libc.fallocate(fd, 3, ctypes.c_long(0), ctypes.c_long(1)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def grows(fd):
    os.posix_fallocate(fd, 0, LIMIT + 1)


def too_deep():
    """Goes down the parts of a row key of more than 32,767 bytes."""
    os.chdir(name("t"))
    try:
        for _ in range(130):
            part = "x" * 254 + "%"
            os.path.isdir(part) or os.mkdir(part)
            os.chdir(part)
    finally:
        os.chdir("/")


# --- what has to be there ---------------------------------------------------


def put(path, value):
    os.makedirs(os.path.dirname(name(path)), exist_ok=True)
    with open(name(path), "wb") as f:
        f.write(value)


def prepare():
    for i in range(2):
        put(Q, b"version %d" % i)
    put("t/r/f/text", b"no counter")
    put("t/r/f/counter", bytes(8))
    put("t/r/f/.dot", b"dot")
    put("t/r/f/.dir/in", b"dot")
    put("t/r/f/at@200", b"1")
    put("t/r/f/at@300", b"2")
    put("t/r/f/" + "x" * 235 + "%/y", b"long")
    put("t/r/g/large", bytes(LIMIT + 1))
    put("t/r2/g/q", b"other")
    put("u/r/f/q", b"another table")
    os.mkdir(name("empty"))
    for i in range(32):
        put("u/r/family%d/q" % i if i else "u/r/f/q", b"1")
    os.mkdir(name("u/r/late"))
    for i in range(10_001):
        put("t/wide/f/%d" % i, b"")


# --- the tables: call, its operands, errno, a part of the sentence ----------

APPEND = os.O_WRONLY | os.O_APPEND
FULL = "x" * 256

TABLES = {}

TABLES["names"] = [
    (stats, "t/%zz", ENOENT, "escape"),
    (stats, "t/r/f/q@abc", ENOENT, "behind @ stands a timestamp"),
    (stats, "t/r/f/q@9223372036854775807", ENOENT, "2^63-2"),
    (mkdir, "t/%zz", EINVAL, "escape"),
    (mkdir, "t/%41", EINVAL, "no key is spelled like that"),
    (mkdir, "t/short%", EINVAL, "write %25 for %"),
    (mkdir, "t/r/f/user@example.com", EINVAL, "write %40 for @"),
    (mkdir, "two words", EINVAL, "table"),
    (mkdir, "u/r/a:b", EINVAL, "family"),
    (creates, ".schema/two words", EINVAL, "table"),
    (creates, "t/r/f/q@007", EINVAL, "behind @ stands a timestamp"),
    (creates, "t/r/f/q@-1", EINVAL, "behind @ stands a timestamp"),
    (creates, "t/r/f/q@~x", EINVAL, "behind @ stands a timestamp"),
    (mkdir, "t/r/f/.dir/" + FULL, ENAMETOOLONG, "256 bytes: at most 255"),
    (creates, "t/r/f/" + FULL, ENAMETOOLONG, "256 bytes: at most 255"),
    (creates, "t/r/f/" + "y" * 236, ENAMETOOLONG, "at most 235 bytes"),
    (too_deep, ENAMETOOLONG, "at most 32767 bytes"),
    (rename, Q, "t/r/f/q@1x", EINVAL, "behind @ stands a timestamp"),
]

TABLES["kinds"] = [
    (creates, "file", EPERM, "files stand in families only"),
    (creates, "t/file", EPERM, "files stand in families only"),
    (creates, "t/r/file", EPERM, "files stand in families only"),
    (mkdir, "t/r/f/directory", EPERM, "no directories here"),
    (mkdir, "t/r/f/.dir/deep", EPERM, "no directories here"),
    (mkdir, "t/r/f/q2@", EPERM, "versions"),
    (mkdir, "t/.dot", EPERM, "begins with a dot"),
    (mkdir, ".dot", EPERM, "no such control name"),
    (mkdir, "t/r/undeclared", EPERM, "declare it in .schema/t"),
    (mkfifo, "t/r/f/p", EPERM, "devices, fifos and sockets"),
    (socket, "t/r/f/s", EPERM, "devices, fifos and sockets"),
    (symlink, "t/r/f/l", EPERM, "symbolic links"),
    (link, Q, "t/r/f/l", EPERM, "hard links"),
    (creates, "t/r/f/.cells", EPERM, "stream"),
    (creates, "t/r/f/.json", EPERM, "stream"),
    (creates, "t/r/f/.count", EPERM, "stream"),
    (creates, ".cellfs/new", EPERM, "not a file of .cellfs"),
    (opens, ".cellfs/log", EPERM, "log is for reading"),
    (truncate, ".cellfs/log", 0, EPERM, "log is for reading"),
    (chmod, ".cellfs/log", 0o600, EPERM, "log is for reading"),
    (chmod, ".cellfs", 0o700, EPERM, "control directory"),
    (unlink, ".cellfs/log", EPERM, "control file"),
    (rmdir, ".cellfs", EPERM, "control directory"),
    (rmdir, ".schema", EPERM, "schema directory"),
    (unlink, "t/r/f/counter@counter", EPERM, "counter"),
    (utime, "t/r/f/counter@counter", EPERM, "counter"),
    (rmdir, Q + "@", EPERM, "versions"),
    (opens, Q + "@~0", EROFS, "nth version"),
    (unlink, Q + "@~0", EROFS, "nth version"),
    (chmod, Q + "@~0", 0o600, EROFS, "nth version"),
    (truncate, Q + "@~0", 0, EROFS, "nth version"),
    (setxattr, Q, "user.cellfs.row", EOPNOTSUPP, "cannot be set"),
    (setxattr, Q, "user.mine", EOPNOTSUPP, "cannot be set"),
    (writes, Q, b"x", os.O_WRONLY, None, punches, EOPNOTSUPP, "growth"),
]

TABLES["renames"] = [
    (rename, Q, "t/r/q", EINVAL, "a cell cannot become a family"),
    (rename, "t/r", "r", EINVAL, "a row cannot become a table"),
    (rename, "t/r/f", "t/r3", EINVAL, "a family cannot become a row"),
    (exchange, Q, "t/r/f/.dot", EINVAL, "only cells can be exchanged"),
    (exchange, "t/r", "t/r2", EINVAL, "only cells can be exchanged"),
    (rename, Q, "t/r/f/.q", EPERM, "versions"),
    (rename, "t/r/f/" + "x" * 235 + "%", "t/r/f/" + "y" * 235 + "%", EPERM,
     "cannot be renamed"),
    (rename, "t/r", "t/r2", ENOTEMPTY, "the new name holds something"),
    (rename, "t/r/f", "t/r2/g", ENOTEMPTY, "the new name holds something"),
    (rename, "t/r/g", "t/r2/undeclared", EPERM, "declare it in .schema/t"),
    (rename, ".schema/t", ".schema/u", EEXIST, "t has rows"),
    (rename, "t/r/g/large", "t/r/f/large", EFBIG, "max_cell_size"),
    (rename, "t/r/f/text", "t/r/f/at@100", EDQUOT,
     "put such a version out at once"),
    (rename, "t/wide", "t/wider", E2BIG, "more than 10000 versions"),
]

TABLES["removals"] = [
    (rmdir, "t", ENOTEMPTY, "rows"),
    (rmdir, "t/r", ENOTEMPTY, "it holds cells"),
    (rmdir, "t/r/f", ENOTEMPTY, "it holds cells"),
    (rmdir, "t/r/f/" + "x" * 235 + "%", ENOTEMPTY, "names continue in it"),
    (rmdir, "t/r/f/.dir", ENOTEMPTY, "it holds"),
    (unlink, ".schema/t", EPERM, "'drop t' in .cellfs/control"),
]

TABLES["values"] = [
    (writes, Q, bytes(LIMIT + 1), EFBIG, "max_cell_size is 100000"),
    (writes, Q, b"x", os.O_WRONLY, LIMIT, EFBIG, "max_cell_size is 100000"),
    (writes, Q, bytes(LIMIT), APPEND, EFBIG, "max_cell_size is 100000"),
    (writes, Q, b"x", os.O_WRONLY, 0, lambda fd: os.ftruncate(fd, LIMIT + 1),
     EFBIG, "max_cell_size is 100000"),
    (writes, Q, b"x", os.O_WRONLY, 0, grows, EFBIG, "max_cell_size is 100000"),
    (truncate, Q, LIMIT + 1, EFBIG, "max_cell_size is 100000"),
    (writes, "t/r/f/new", bytes(LIMIT + 1), EFBIG, "max_cell_size is 100000"),
    (writes, "t/r/f/.new", bytes(LIMIT + 1), EFBIG, "max_cell_size is 100000"),
    (writes, "t/r/f/new@5", bytes(LIMIT + 1), EFBIG,
     "max_cell_size is 100000"),
    (writes, ".schema/t", b"#", os.O_WRONLY, 1 << 20, EFBIG,
     "the most a schema holds is 1048576"),
    (writes, ".schema/.dot", b"x", os.O_WRONLY | os.O_CREAT, 10 << 20, EFBIG,
     "the most a file of .schema holds is 10485760"),
    (creates, "t/r/f/at@100", EDQUOT, "pushed out"),
    (creates, "u/r/late/q", EDQUOT, "32"),
    (reads, "t/r/f/text@counter", EINVAL, "10 bytes wide, not 8"),
    (opens, "t/r/f/text@counter", EINVAL, "10 bytes wide, not 8"),
    (writes, "t/r/f/counter@counter", b"four", EINVAL, "not a whole number"),
    (writes, "t/r/f/counter@counter", b"9" * 40, EINVAL,
     "not a whole number"),
    (writes, "t/r/f/counter@counter", b"9223372036854775808\n", EINVAL,
     "not a whole number"),
    (closes, "t/r/f/counter@counter", b"-", EINVAL, "not a whole number"),
]

TABLES["schemas"] = [
    (writes, ".schema/t", b"family f versions=0\n", APPEND, EINVAL,
     "versions"),
    (writes, ".schema/t", b"family f version=1\n", APPEND, EINVAL, "version"),
    (writes, ".schema/t", b"family f ttl=never\n", APPEND, EINVAL, "ttl"),
    (writes, ".schema/t", b"famly f\n", APPEND, EINVAL, "line 1"),
    (writes, ".schema/t", b"family a:b\n", APPEND, EINVAL, "line 1"),
    (writes, ".schema/new", b"family f compression=lzo\n", EINVAL,
     "compression"),
    (closes, ".schema/t", b"table open=0\nfamily f\n", ENOTEMPTY,
     "family g"),
    (closes, ".schema/t", b"family f min_versions=2 versions=1\n", APPEND,
     EINVAL, "min_versions"),
]

TABLES["verbs"] = [
    (says, b"nonsense\n", EINVAL, "nonsense: no verb"),
    (says, b"drop\n", EINVAL, "drop takes 1"),
    (says, b"drop t u\n", EINVAL, "drop takes 1"),
    (says, b"checkpoint t\n", EINVAL, "checkpoint takes 0"),
    (says, b"drop nosuch\n", ENOENT, "there is none of that name"),
    (says, b"truncate nosuch\n", ENOENT, "there is none of that name"),
    (says, b"compact nosuch\n", ENOENT, "there is none of that name"),
    (says, b"compact t nosuch\n", ENOENT, "does not declare it"),
    (says, b"drop \\xZZ\n", EINVAL, "xZZ"),
    (says, b"#" * 5000, EFBIG,
     "the most that is read at once is 4096"),
]


# --- the run ----------------------------------------------------------------


def log():
    with open(name(".cellfs/log"), "rb") as f:
        return f.read().decode()


def shown(row):
    return "%s(%s)" % (row[0].__name__, ", ".join(
        ("%r" % (x,))[:60] for x in row[1:-2]))


def fault(row):
    """Why the refusal is not as it should be, or None."""
    call, operands, want, sentence = row[0], row[1:-2], row[-2], row[-1]
    before = log()
    try:
        call(*operands)
    except TooEarly as e:
        return "refused already by %s: %s" % (e, e.__cause__)
    except OSError as e:
        if e.errno != want:
            return "errno %s" % errno.errorcode.get(e.errno, e.errno)
    else:
        return "was not refused"
    last = os.getxattr(M, "user.cellfs.error").decode()
    if sentence not in last:
        return "user.cellfs.error is %r" % last
    after = log()
    added = after[len(before):] if after.startswith(before) else after
    if sentence not in added:
        return "the log has %r more" % added
    if operands and isinstance(operands[0], str) and call != link and \
            operands[0] + ": " not in added:
        return "the log does not name the file: %r" % added
    return None


def main():
    if "prepare" in sys.argv[2:]:
        prepare()
    faults = 0
    for table in sys.argv[2:]:
        for row in TABLES.get(table, []):
            found = fault(row)
            if found:
                print("%s: expected %s, %r: %s" % (
                    shown(row), errno.errorcode[row[-2]], row[-1], found))
                faults += 1
    sys.exit(faults > 0)


main()
