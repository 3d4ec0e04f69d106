"""Where commands are run: a mount, and a plain directory beside it."""

import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass

OLD = 1589000000 * 10**9             # when a cell was written
SOURCE = 1551675907123456789         # and the file outside
SLACK = 2 * 10**9                    # a store may stamp ahead of the clock
NAMES = {"long": "x" * 300, "edge": "x" * 240, "escaped": "%2Ea b%2Fc%40\u00e9"}
HELD = {"new": [], "existing": ["two\n"], "history": ["two\n", "one\n"],
        "single": ["two\n"], "long": ["two\n", "one\n"], "escaped": ["two\n", "one\n"],
        "edge": ["two\n", "one\n"]}
FAMILIES = {"f": 10, "one": 1}       # and how many versions they keep


def family(state):
    return "one" if state == "single" else "f"


@contextmanager
def acting(user):
    """File operations are those of the user."""
    os.setegid(user.gid)
    os.seteuid(user.uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@dataclass(frozen=True)
class User:
    name: str
    uid: int
    gid: int


@dataclass(frozen=True)
class Cell:
    top: str        # its family's directory
    path: str

    @property
    def dir(self):
        return os.path.dirname(self.path)

    @property
    def name(self):
        return os.path.basename(self.path)


@dataclass
class Sight:
    """A cell as it looks: what a plain file has, and its versions."""
    value: str = None
    mode: int = None
    owner: tuple = None
    mtime: object = None
    left: tuple = ()
    stamps: tuple = ()  # of its versions, the newest first


def clock(mtime, started):
    """The word for a time of modification."""
    words = {OLD: "same", SOURCE: "source", SOURCE // 10**9 * 10**9: "second"}
    late = time.time_ns() + SLACK
    return words.get(mtime, "now" if started - SLACK <= mtime <= late else str(mtime))


def read(path):
    with open(path, "rb") as f:
        return f.read().decode("utf-8", "surrogateescape")


def make(directory, state, user):
    """A cell of the state, in a directory that is not there yet."""
    name, path = NAMES.get(state, "q"), directory
    with acting(user):
        while len(name) > 235:
            cut = min(254, len(name) - 1)
            path, name = f"{path}/{name[:cut]}%", name[cut:]
        os.makedirs(path)
        path = f"{path}/{name}"
        for value in reversed(HELD[state]):
            with open(path, "w") as f:
                f.write(value)
        if state != "new":
            os.chmod(path, 0o640)
            os.utime(path, ns=(OLD, OLD))
    return Cell(directory, path)


def beside(cell):
    """Files and empty directories in the family, seen from the cell."""
    found = []
    for path, dirs, files in os.walk(cell.top):
        if not dirs and not files and path != cell.dir:
            files = ["."]
        found += [os.path.normpath(f"{path}/{name}") for name in files]
    return tuple(sorted(os.path.relpath(name, cell.dir)
                        for name in found if name not in (cell.path, cell.dir)))


def stamps(path):
    try:
        return tuple(os.listdir(path + "@"))
    except FileNotFoundError:
        return ()


def look(cell, started):
    sight = Sight(left=beside(cell), stamps=stamps(cell.path))
    if os.path.lexists(cell.path):
        seen = os.lstat(cell.path)
        sight.value = read(cell.path)
        sight.mode = seen.st_mode & 0o7777
        sight.owner = (seen.st_uid, seen.st_gid)
        sight.mtime = clock(seen.st_mtime_ns, started)
    return sight


class Mount:
    """A store in BASE, mounted; a table for each user."""

    def __init__(self, cellfs, base, users):
        self.cellfs, self.store, self.top = cellfs, f"{base}/store", f"{base}/mnt"
        os.mkdir(self.top)
        for user in users:
            self.tool("create", self.store, user.name,
                      *(f"{family}:VERSIONS={kept}" for family, kept in FAMILIES.items()))
        self.up()
        for user in users:
            os.chown(f"{self.top}/{user.name}", user.uid, user.gid)

    def tool(self, *words):
        subprocess.run([self.cellfs, *words], check=True, stdin=subprocess.DEVNULL)

    def up(self):
        self.tool("mount", self.store, self.top, "-o", "allow_other")
        with open(f"{self.top}/.cellfs/pid") as f:
            self.pid = int(f.read())

    def down(self):
        subprocess.run(["fusermount3", "-u", self.top], check=True)
        for _ in range(600):
            if not os.path.exists(f"/proc/{self.pid}"):
                return
            time.sleep(.1)
        raise TimeoutError(f"process {self.pid} did not end")


def remove(base):
    """Unmounts what is below the directory, and removes it."""
    for line in open("/proc/mounts"):
        if line.split()[1].startswith(base + "/"):
            subprocess.run(["umount", "-l", line.split()[1]], check=True)
    shutil.rmtree(base)
