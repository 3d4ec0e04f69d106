"""Processes that change a table at random, all at once, beside a model.

usage: crowd.py TABLE PROCESSES OPERATIONS DIRECTORY
       crowd.py --compare TABLE PROCESSES DIRECTORY

Each process has rows of its own, with a model of every name, value, mode, time
and history in them, which it compares with what it sees as it goes on. In the
row `shared` all write the same cells: there every value read is whole, no
reader goes back, and in the end each cell's history holds exactly what was
written, each writer's in its order. What must be there in the end is left in
DIRECTORY; --compare, after another mount, looks at all of it again.

The table's families are f, of three versions, and g, of very many.
"""
import errno
import os
import pickle
import random
import sys

from writers import LENGTHS, ended, fork, parsed, read, together, value
from writers import versions, write

KEEP = {"f": 3, "g": 1 << 30}
SHARED = ("s0", "s1", "s2")
REPLACED = "s2"  # by renames: who has it open then writes into the void


def apart(call, *args):
    """Done by another process, for the tree knows who removes a name: what the
    same process then makes anew takes its history back."""
    assert not ended([fork(call, *args)]), (call.__name__, args)


def refused(error, call, *args):
    try:
        call(*args)
    except error:
        return
    raise AssertionError("%s%s was not refused" % (call.__name__, args))


def too_deep(at, onto):
    try:
        os.rename(at, onto)
    except OSError as e:
        assert e.errno == errno.EDQUOT, e
    else:
        raise AssertionError("%s lost versions of %s" % (onto, at))


class File:
    def __init__(self, history=()):
        self.history = list(history)  # newest first
        self.mode, self.time = 0o644, None

    def store(self, data, keep):
        self.history.insert(0, data)
        del self.history[keep:]
        self.time = None

    def check(self, path):
        data = self.history[0]
        assert read(path) == data, "%s: value" % path
        st = os.stat(path)
        assert st.st_size == len(data), "%s: size %d" % (path, st.st_size)
        assert st.st_mode & 0o7777 == self.mode, "%s: mode %o" % (path, st.st_mode)
        assert self.time in (None, st.st_mtime_ns), "%s: time" % path

    def check_history(self, path):
        got = versions(path)
        assert got == self.history, "%s: history %s, not %s" % (
            path, [v[:20] for v in got], [v[:20] for v in self.history])


class Own:
    """The rows of one process: {row: {family: {name: File}}}."""

    def __init__(self, table, who):
        self.table, self.who, self.made, self.rows = table, who, 0, {}
        self.shared = {name: [] for name in SHARED}  # what it wrote, in order
        self.lines, self.seen, self.said = 0, {}, []

    def fresh(self, kind):
        self.made += 1
        return "%s%d-%d" % (kind, self.who, self.made)

    def path(self, *names):
        return os.path.join(self.table, *names)

    def dirs(self):
        return [(r, f) for r in self.rows for f in self.rows[r]]

    def files(self, dots=True):
        return [(r, f, n) for r, f in self.dirs() for n in self.rows[r][f]
                if dots or n[0] != "."]

    def file(self, at):
        return self.rows[at[0]][at[1]][at[2]]

    def data(self):
        self.made += 1
        return value(self.who, self.made, random.choice(LENGTHS))

    def one(self):
        """One operation at random that the model allows."""
        names = ["make_row"] if len(self.rows) < 4 else ["remove_row"]
        names += ["move_row", "shared", "line", "look_shared"]
        if self.dirs():
            names += ["make", "make", "list", "remove_family", "move_family"]
        if self.files():
            names += ["write", "add", "change", "cut", "look", "set", "remove", "move"]
        if self.files(dots=False):
            names += ["history", "open_move"]
        name = random.choice(names)
        self.said.append(name)
        getattr(self, "do_" + name)()

    # -- directories

    def do_make_row(self):
        row = self.fresh("r")
        os.mkdir(self.path(row))
        self.rows[row] = {}
        for family in random.choice(("f", "g", "fg")):
            os.mkdir(self.path(row, family))
            self.rows[row][family] = {}
        refused(FileExistsError, os.mkdir, self.path(row))

    def do_remove_row(self):
        row = random.choice(list(self.rows))
        if self.rows[row]:
            return refused(OSError, os.rmdir, self.path(row))
        os.rmdir(self.path(row))
        del self.rows[row]

    def do_remove_family(self):
        row, family = random.choice(self.dirs())
        if self.rows[row][family]:
            return refused(OSError, os.rmdir, self.path(row, family))
        os.rmdir(self.path(row, family))
        del self.rows[row][family]

    def do_move_row(self):
        if not self.rows:
            return
        row, new = random.choice(list(self.rows)), self.fresh("r")
        apart(os.rename, self.path(row), self.path(new))
        self.rows[new] = self.rows.pop(row)
        refused(FileNotFoundError, os.stat, self.path(row))

    def do_move_family(self):
        row, family = random.choice(self.dirs())
        to = [r for r in self.rows if family not in self.rows[r]]
        if to:
            to = random.choice(to)
            apart(os.rename, self.path(row, family), self.path(to, family))
            self.rows[to][family] = self.rows[row].pop(family)

    def do_list(self):
        for row in self.rows:
            assert sorted(os.listdir(self.path(row))) == sorted(self.rows[row]), row
        row, family = random.choice(self.dirs())
        got = sorted(os.listdir(self.path(row, family)))
        assert got == sorted(self.rows[row][family]), (row, family, got)
        mine = [r for r in os.listdir(self.table) if r.startswith("r%d-" % self.who)]
        assert sorted(mine) == sorted(self.rows), mine

    # -- files

    def stored(self, at, data):
        self.file(at).store(data, KEEP[at[1]] if at[2][0] != "." else 1)

    def do_make(self):
        row, family = random.choice(self.dirs())
        at = (row, family, self.fresh(random.choice(("c", "c", ".d"))))
        data = self.data()
        write(self.path(*at), data, flags=os.O_EXCL)
        self.rows[row][family][at[2]] = File([data])
        refused(FileExistsError, write, self.path(*at), b"", 1, os.O_EXCL)

    def do_write(self):
        at, data = random.choice(self.files()), self.data()
        write(self.path(*at), data, random.choice((1, 5)))
        self.stored(at, data)

    def do_add(self):
        at, data = random.choice(self.files()), self.data()
        write(self.path(*at), data, flags=os.O_APPEND)
        self.stored(at, self.file(at).history[0] + data)

    def do_change(self):
        at, data = random.choice(self.files()), self.data()
        old = self.file(at).history[0]
        write(self.path(*at), data, flags=0)
        self.stored(at, data + old[len(data):])

    def do_cut(self):
        at, size = random.choice(self.files()), random.choice((0, 3, 9000))
        old = self.file(at).history[0]
        os.truncate(self.path(*at), size)
        self.stored(at, old[:size] + bytes(max(0, size - len(old))))

    def do_look(self):
        at = random.choice(self.files())
        self.file(at).check(self.path(*at))

    def do_history(self):
        at = random.choice(self.files(dots=False))
        self.file(at).check_history(self.path(*at))

    def do_set(self):
        at = random.choice(self.files())
        f, path = self.file(at), self.path(*at)
        if random.random() < .5:
            f.mode = random.choice((0o644, 0o600, 0o755, 0o440))
            os.chmod(path, f.mode)
        else:
            f.time = random.randrange(1 << 60)
            os.utime(path, ns=(f.time, f.time))

    def do_remove(self):
        row, family, name = random.choice(self.files())
        apart(os.unlink, self.path(row, family, name))
        del self.rows[row][family][name]
        refused(FileNotFoundError, read, self.path(row, family, name))

    def do_move(self):
        """To a free name with its history; onto another as one version."""
        at, onto = random.choice(self.files()), random.choice(self.files())
        if random.random() < .5:
            onto = (*random.choice(self.dirs()), self.fresh(at[2].rstrip("-0123456789")))
        dots = [name[0] == "." for name in (at[2], onto[2])]
        if at == onto or dots == [False, True]:
            return
        moving = self.rows[at[0]][at[1]][at[2]]
        there = self.rows[onto[0]][onto[1]].get(onto[2])
        keep = 1 if dots[1] else KEEP[onto[1]]
        if not there and len(moving.history) > keep:
            return apart(too_deep, self.path(*at), self.path(*onto))
        apart(os.rename, self.path(*at), self.path(*onto))
        del self.rows[at[0]][at[1]][at[2]]
        if there and not dots[1]:
            moving.history[1:] = there.history
        del moving.history[keep:]
        self.rows[onto[0]][onto[1]][onto[2]] = moving

    def do_open_move(self):
        """A handle follows its file to another name."""
        at = random.choice(self.files(dots=False))
        new = (at[0], at[1], self.fresh("c"))
        data = self.data()
        fd = os.open(self.path(*at), os.O_WRONLY | os.O_TRUNC)
        os.write(fd, data[:30])
        apart(os.rename, self.path(*at), self.path(*new))
        os.write(fd, data[30:])
        os.close(fd)
        self.rows[at[0]][at[1]][new[2]] = self.rows[at[0]][at[1]].pop(at[2])
        self.stored(new, data)

    # -- what all share

    def do_shared(self):
        name, data = random.choice(SHARED), self.data()
        path = self.path("shared", "g", name)
        if name != REPLACED:
            write(path, data)
        else:
            new = self.path("shared", "g", self.fresh("new"))
            write(new, data)
            os.rename(new, path)
        self.shared[name].append(data)

    def do_look_shared(self):
        name = random.choice(SHARED)
        data = read(self.path("shared", "g", name))
        who, number = parsed(data)
        key = (name, who)
        assert number >= self.seen.get(key, 0), "%s.%d went back" % (key, number)
        self.seen[key] = number
        if who == self.who:
            assert data in self.shared[name][-1:], "an older value of its own"

    def do_line(self):
        self.lines += 1
        write(self.path("shared", "g", "log"), b"%d %d\n" % (self.who, self.lines),
              flags=os.O_APPEND)

    def check(self):
        """All of its own, to the last name."""
        for row, family, name in self.files():
            self.file((row, family, name)).check(self.path(row, family, name))
        for row, family, name in self.files(dots=False):
            path = self.path(row, family, name)
            self.file((row, family, name)).check_history(path)
        for row, family in self.dirs():
            got = sorted(os.listdir(self.path(row, family)))
            assert got == sorted(self.rows[row][family]), (row, family, got)


def work(table, who, operations, directory):
    own = Own(table, who)
    try:
        for _ in range(operations):
            own.one()
        own.check()
    except BaseException:
        print("process %d:" % who, own.made, own.said[-10:], file=sys.stderr)
        raise
    with open("%s/own%d" % (directory, who), "wb") as f:
        pickle.dump(own, f)


def compare(table, processes, directory):
    """The whole table with what all processes left."""
    owns = []
    for who in range(1, processes + 1):
        with open("%s/own%d" % (directory, who), "rb") as f:
            owns.append(pickle.load(f))
        owns[-1].check()
    rows = sorted(sum((list(o.rows) for o in owns), ["shared"]))
    assert sorted(os.listdir(table)) == rows
    shared = os.path.join(table, "shared", "g")
    assert sorted(os.listdir(shared)) == ["log", *SHARED], os.listdir(shared)
    for name in SHARED:
        history = versions(os.path.join(shared, name))
        for own in owns:
            got = [v for v in history[::-1] if parsed(v)[0] == own.who]
            assert got == own.shared[name], "%s: of process %d" % (name, own.who)
        assert len(history) == 1 + sum(len(o.shared[name]) for o in owns)
    lines = [tuple(map(int, l.split())) for l in
             read(os.path.join(shared, "log")).splitlines()]
    for own in owns:
        got = [n for who, n in lines if who == own.who]
        assert got == list(range(1, own.lines + 1)), "lines of %d" % own.who
    assert len(lines) == sum(o.lines for o in owns)


def main(table, processes, operations, directory):
    shared = os.path.join(table, "shared", "g")
    os.makedirs(shared)
    for name in SHARED:
        write(os.path.join(shared, name), value(0, 0, 5))
    write(os.path.join(shared, "log"), b"")
    bad = together([(work, table, who, operations, directory)
                    for who in range(1, processes + 1)])
    if bad:
        sys.exit(str(bad))
    compare(table, processes, directory)


if sys.argv[1] == "--compare":
    compare(sys.argv[2], int(sys.argv[3]), sys.argv[4])
else:
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
