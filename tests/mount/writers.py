"""Processes that work together on cells, and values that tell whether they are
whole."""
import mmap
import os
import random
import signal
import sys
import traceback
import zlib

LENGTHS = (0, 1, 100, 4096, 8192, 8193, 70000, 1048577)  # inline, blob, chunks
SEED = os.environ.get("CELLFS_TEST_SEED")
random.seed(SEED)

# -- values ------------------------------------------------------------------


def value(writer, number, length):
    """Bytes that no part of another value can be taken for, 39 more than
    length; none is NUL."""
    body = (b"<%d.%d>" % (writer, number) * (length // 5 + 1))[:length]
    return b"%06d %09d %010d %010d\n" % (
        writer, number, length, zlib.crc32(body)) + body


def parsed(data):
    """(writer, number) of a whole value; anything else is an error."""
    try:
        writer, number, length = map(int, data[:27].split())
        if data == value(writer, number, length):
            return writer, number
    except ValueError:
        pass
    raise AssertionError("torn: %d bytes, %d of them NUL, of %r" % (
        len(data), data.count(b"\0"), data[:60]))


def write(path, data, pieces=3, flags=os.O_TRUNC):
    """Writes a value in pieces and closes."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o644)
    try:
        step = len(data) // pieces + 1
        for at in range(0, len(data), step):
            os.write(fd, data[at:at + step])
    finally:
        os.close(fd)


def read(path, size=65536):
    """All bytes, by read(2) until its end."""
    fd = os.open(path, os.O_RDONLY)
    try:
        parts = []
        while part := os.read(fd, size):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


def versions(path):
    """The values of all versions, newest first."""
    return [read("%s@/%s" % (path, ts)) for ts in os.listdir(path + "@")]


# -- processes ---------------------------------------------------------------


def fork(work, *args):
    """A process that does work and prints what it raises."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        work(*args)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def ended(pids):
    """How those ended that did not end well."""
    bad = []
    for pid in pids:
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status:
            bad.append(signal.Signals(-status).name if status < 0
                       else "exit %d" % status)
    return bad


def together(works, beside=()):
    """Runs (function, argument...) each in a process of its own, all from the
    same moment, and beside them others, which get over() as their last
    argument and go on until it is true: the works have ended. Returns how
    processes ended that did not end well."""
    flag = mmap.mmap(-1, 1)
    works = [tuple(w) for w in works]
    beside = [(*w, lambda: flag[0]) for w in beside]
    gate, go = os.pipe()

    def begin(i, work, *args):
        random.seed("%s.%d" % (SEED, i))
        os.close(go)
        os.read(gate, 1)
        work(*args)

    pids = [fork(begin, i, *w) for i, w in enumerate(works + beside)]
    os.close(gate)
    os.close(go)
    bad = ended(pids[:len(works)])
    flag[0] = 1
    return bad + ended(pids[len(works):])
