"""What POSIX promises of errors, rights and times, by real calls.

usage: rights.py FAMILY-DIRECTORY     as root; the mount is open to others
"""
import errno
import os
import stat
import sys
import time

F = sys.argv[1]
ROW, TABLE = os.path.dirname(F), os.path.dirname(os.path.dirname(F))
OWNER, MEMBER, OTHER = (1001, 2001), (1002, 2001), (1003, 2003)  # uid, gid
wrong = []


def as_user(who, call):
    """The errno of call as done by who, 0 if it works."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = 255
    try:
        if who:
            os.setgroups([])
            os.setresgid(who[1], who[1], who[1])
            os.setresuid(who[0], who[0], who[0])
        call()
        code = 0
    except OSError as e:
        code = e.errno
    finally:
        os._exit(code)


def expect(want, who, call, *args):
    got = as_user(who, lambda: call(*args))
    if got != want:
        wrong.append("%s%s by %s: %s, not %s" % (
            call.__name__, args, who, errno.errorcode.get(got, got),
            errno.errorcode.get(want, want)))


def read(path):
    os.close(os.open(path, os.O_RDONLY))


def change(path):
    os.close(os.open(path, os.O_WRONLY))


def make(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))


def now(path):
    os.utime(path)


def set_time(path):
    os.utime(path, (1, 1))


def give(path, uid, gid):
    os.chown(path, uid, gid)


def at(path):
    st = os.stat(path)
    return st.st_mtime_ns, st.st_ctime_ns


def fresh(name, mode, who=OWNER):
    path = os.path.join(F, name)
    with open(path, "w") as f:
        f.write("#!/bin/sh\n")
    os.chown(path, *who)
    os.chmod(path, mode)
    return path


def check(what, true):
    if not true:
        wrong.append(what)


def rights():
    os.chmod(F, 0o777)
    c = fresh("c", 0o640)
    for who, reads, writes in ((OWNER, 0, 0), (MEMBER, 0, errno.EACCES),
                               (OTHER, errno.EACCES, errno.EACCES), (None, 0, 0)):
        expect(reads, who, read, c)
        expect(writes, who, change, c)
        expect(writes, who, os.truncate, c, 1)
        expect(writes, who, now, c)
    for who in MEMBER, OTHER:
        expect(errno.EPERM, who, os.chmod, c, 0o666)
        expect(errno.EPERM, who, set_time, c)
        expect(errno.EPERM, who, give, c, who[0], who[1])
    expect(errno.EPERM, OWNER, give, c, OTHER[0], -1)
    expect(errno.EPERM, OWNER, give, c, -1, OTHER[1])
    expect(0, OWNER, give, c, -1, OWNER[1])
    expect(0, OWNER, os.chmod, c, 0o600)
    expect(0, OWNER, set_time, c)
    expect(errno.EACCES, OTHER, read, c)
    expect(errno.EACCES, OTHER, os.execv, c, [c])
    expect(errno.EACCES, None, os.execv, c, [c])
    os.chmod(c, 0o4755)
    os.chown(c, OTHER[0], -1)
    check("set-id after chown", not os.stat(c).st_mode & stat.S_ISUID)


def directories():
    c, mine = fresh("d", 0o666), os.path.join(F, "mine")
    for path in F, ROW, TABLE:
        os.chmod(path, 0o644)  # to list, not to go through
        expect(errno.EACCES, OWNER, read, c)
        os.chmod(path, 0o711)  # to go through, not to list
        expect(0, OWNER, read, c)
        expect(errno.EACCES, OWNER, os.listdir, path)
        os.chmod(path, 0o755)
    for call in (lambda: make(mine), lambda: os.unlink(c),
                 lambda: os.rename(c, mine), lambda: os.mkdir(ROW + "2"),
                 lambda: os.rmdir(F), lambda: os.rename(ROW, ROW + "2")):
        check("a directory of root's was changed",
              as_user(OWNER, call) == errno.EACCES)
    os.chmod(F, 0o1777)
    expect(errno.EPERM, OTHER, os.unlink, c)
    expect(errno.EPERM, OTHER, os.rename, c, mine)
    expect(0, OTHER, make, mine)
    expect(errno.EPERM, OWNER, os.rename, c, mine)
    expect(0, OWNER, os.unlink, c)
    expect(0, OTHER, os.unlink, mine)
    os.chmod(F, 0o2777)
    os.chown(F, 0, MEMBER[1])
    expect(0, OTHER, make, mine)
    st = os.stat(mine)
    check("owner of a new file", (st.st_uid, st.st_gid) == (OTHER[0], MEMBER[1]))
    os.chmod(TABLE, 0o777)
    expect(0, OTHER, os.mkdir, TABLE + "/r2")
    expect(0, OTHER, os.mkdir, TABLE + "/r2/" + os.path.basename(F))
    st = os.stat(TABLE + "/r2")
    check("owner of a new row", (st.st_uid, st.st_gid) == OTHER)


def errors():
    c, none = fresh("e", 0o644), os.path.join(F, "none")
    other = os.path.join(TABLE, "r2", os.path.basename(F))
    for want, call, *args in (
            (errno.ENOENT, read, none), (errno.ENOENT, os.unlink, none),
            (errno.ENOENT, os.rename, none, c), (errno.ENOENT, os.truncate, none, 0),
            (errno.ENOENT, os.chmod, none, 0o644), (errno.ENOENT, now, none),
            (errno.ENOENT, os.rmdir, none), (errno.ENOENT, make, ROW + "/x/y"),
            (errno.ENOTDIR, read, c + "/x"), (errno.ENOTDIR, make, c + "/x"),
            (errno.ENOTDIR, os.rmdir, c), (errno.ENOTDIR, os.listdir, c),
            (errno.ENOTDIR, os.rename, other, c), (errno.ENOTDIR, os.mkdir, c + "/x"),
            (errno.EISDIR, change, F), (errno.EISDIR, os.unlink, F),
            (errno.EISDIR, os.truncate, F, 0), (errno.EISDIR, os.rename, c, other),
            (errno.EEXIST, make, c), (errno.EEXIST, os.mkdir, F),
            (errno.EEXIST, os.mkdir, c), (errno.ENOTEMPTY, os.rmdir, F),
            (errno.EINVAL, os.truncate, c, -1), (errno.EINVAL, os.rename, ROW, F + "/x"),
            (errno.ENAMETOOLONG, read, F + "/" + "x" * 256),
            (errno.ENAMETOOLONG, make, F + "/" + "x" * 5000)):
        expect(want, None, call, *args)
    fd = os.open(c, os.O_WRONLY)
    expect(errno.EBADF, None, os.read, fd, 1)
    os.chmod(c, 0o755)
    expect(errno.ETXTBSY, None, os.execv, c, [c])
    os.close(fd)
    fd = os.open(c, os.O_RDONLY)
    expect(errno.EBADF, None, os.write, fd, b"x")
    expect(errno.EINVAL, None, os.ftruncate, fd, 0)
    os.close(fd)


def times():
    """What moves a file's and its directory's times, and what does not."""
    c = fresh("t", 0o644)
    for what, call, file, directory in (
            ("write", lambda: open(c, "w").write("x"), True, False),
            ("append", lambda: open(c, "a").write("x"), True, False),
            ("truncate", lambda: os.truncate(c, 1), True, False),
            ("read", lambda: open(c).read(), False, False),
            ("open for writing", lambda: change(c), False, False),
            ("make another", lambda: make(F + "/u"), False, True),
            ("rename another", lambda: os.rename(F + "/u", F + "/v"), False, True),
            ("unlink another", lambda: os.unlink(F + "/v"), False, True)):
        before, above = at(c), at(F)
        time.sleep(.01)  # longer than the clock's step
        call()
        after, later = at(c), at(F)
        for name, moved, a, b in (("file", file, before, after),
                                  ("directory", directory, above, later)):
            check("%s: times of the %s" % (what, name),
                  (b[0] > a[0] and b[1] > a[1]) if moved else a == b)


def secrets():
    """Nobody is told of what another was refused."""
    M = os.path.dirname(TABLE)
    d = os.path.join(TABLE, "private")
    os.mkdir(d)
    os.chown(d, *OWNER)
    os.chmod(d, 0o700)

    def told(word, true):
        last = os.getxattr(M, "user.cellfs.error").decode()
        if (word in last) != true:
            raise OSError(errno.EBADMSG, last)

    expect(errno.EPERM, OWNER, os.symlink, "x", d + "/secret")
    expect(0, OWNER, told, "symbolic", True)
    expect(0, OTHER, told, "symbolic", False)
    expect(0, None, told, "symbolic", False)
    expect(errno.EACCES, OTHER, read, M + "/.cellfs/log")
    expect(0, None, read, M + "/.cellfs/log")


for part in rights, directories, errors, times, secrets:
    part()
print("\n".join(wrong) or "as everywhere")
