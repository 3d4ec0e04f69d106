"""What ordinary programs are promised to do to a cell: the rows of the matrix.

A row says what the contract gives; the runner holds the mount to it, and holds
it to what the same command does in a plain directory beside it. cellfs.5 has
the numbers of versions from here.

In a command, all quoted by it:
  $q    the cell; $d its directory, $n its name there
  $src  a file outside: "new", mode 644, written in 2019; below, SOURCE
  $w    an empty directory outside
  $sys  syscalls.c, built; $typed the program typed
Where there is a cell it holds "two" (in a history over "one"), has mode 640
and is of 2020: OLD.
"""

from dataclasses import dataclass, replace

NEW = "new\n"
ANY = "\0any"  # some bytes: the command itself looks at them
# All but the first: there is a cell.
STATES = ("new", "existing", "history", "single", "long", "escaped")
EDGE = ("edge",)  # a name that just continues: its last part is one byte


@dataclass(frozen=True)
class Row:
    tool: str
    how: str
    run: str
    # What is there afterwards; {old} is what was there before, a tuple has
    # the newest versions, None is no cell.
    value: object = NEW
    adds: int = 1        # versions: one for each open that wrote
    rc: int = 0
    mode: int = None     # None: as before; of a new cell 644
    mtime: str = "now"   # now, same (as before), source, or its second
    left: str = ""       # names beside it; NAME=all has the cell's history, else 1 or N
    anew: bool = False   # the history before ended, or went elsewhere
    fresh: dict = None   # what differs where there was no cell
    states: tuple = STATES
    shell: str = "bash"
    root: bool = False   # the superuser's only
    # What a plain directory does otherwise, with the reason.
    differs: str = ""
    why: str = ""

    def __post_init__(self):
        assert bool(self.differs) == bool(self.why), self.name

    @property
    def name(self):
        return f"{self.tool} {self.how}".strip()

    def on(self, state):
        """The row as it holds for a state of the cell."""
        if state != "new":
            return self
        mtime = "now" if self.mtime == "same" else self.mtime
        return replace(self, **{"mtime": mtime, **(self.fresh or {})})


CELL = STATES[1:]
NOTHING = dict(value="{old}", adds=0, mtime="same")
ABSENT = dict(value=None, adds=0, left="", mode=None)


def nothing(*args, **kw):
    """A row of a command that leaves the cell as it was."""
    return Row(*args, **{**NOTHING, **kw})


def edits(*args, rc, **kw):
    """A row of a command that needs the cell: without it, status rc."""
    return Row(*args, fresh=dict(ABSENT, rc=rc), **kw)


def shells():
    for sh, clash in ("bash", 1), ("dash", 2), ("zsh", 1):
        def row(how, run, *args, **kw):
            return Row(sh, how, run, *args, shell=sh, **kw)

        yield row(">", 'echo new > "$q"')
        yield row(">>", 'echo new >> "$q"', "{old}new\n")
        yield row(": >", ': > "$q"', "")
        yield row("set -C", 'set -C; echo new > "$q"', rc=clash, **NOTHING,
                  fresh=dict(rc=0, value=NEW, adds=1))
        yield row("<>", 'echo X 1<> "$q"', "X\no\n", fresh=dict(value="X\n"))
        yield row("<> read and written",
                  'exec 3<> "$q"; cat <&3; echo new >&3; exec 3>&-', "{old}new\n")
        yield row("heredoc", 'cat > "$q" <<E\nnew\nE')
        yield row("exec 3>", 'exec 3> "$q"; echo a >&3; /bin/echo b >&3;'
                  ' (echo c >&3); exec 3>&-', "a\nb\nc\n")
        yield row("{ } >", '{ echo a; /bin/echo b; } > "$q"', "a\nb\n")
        yield row("( & ) >", '(/bin/echo a & wait; echo b) > "$q"', "a\nb\n")
        yield row("pipe >", 'echo new | cat > "$q"')
        yield row("loop of >>", 'for i in 1 2 3; do echo $i >> "$q"; done',
                  ("{old}1\n2\n3\n", "{old}1\n2\n", "{old}1\n"), 3)
        yield row("done >", 'for i in 1 2 3; do echo $i; done > "$q"', "1\n2\n3\n")
        yield row("writer killed",
                  """sh -c 'echo half; kill -9 $$' > "$q"; exit $?""", "half\n", rc=137)
    yield Row("rm then >", "", 'rm -f "$q"; echo new > "$q"', anew=True, mode=0o644)
    yield edits("mv to q.1 then >", "", 'mv "$q" "$q.1" && echo new > "$q"', rc=1,
                anew=True, mode=0o644, left="{q}.1=all")


def copying():
    def cp(how, run="", *args, mode=None, **kw):
        return Row("cp", how, run or f'cp {how} "$src" "$q"', *args, mode=mode, **kw)

    aside = dict(left="{q}~", mode=0o644, fresh=dict(left=""))
    yield cp("")
    yield cp("-r")
    yield cp("-p", mode=0o644, mtime="source")
    yield cp("-a", mode=0o644, mtime="source")
    yield cp("-f")
    yield cp("-n", **NOTHING, fresh=dict(value=NEW, adds=1))
    yield cp("-u", **NOTHING, fresh=dict(value=NEW, adds=1))
    yield cp("-b", **aside)
    yield cp("--remove-destination", mode=0o644)
    yield cp("--reflink=auto")
    yield cp("--sparse=always", 'truncate -s 100000 "$w/z"; cp --sparse=always "$w/z" "$q"',
             "\0" * 100000)
    yield cp("inside", 'echo new > "$d/a"; cp "$d/a" "$q"', left="a")
    yield cp("from inside", 'cp "$q" "$d/a"', **NOTHING, left="a", fresh=dict(ABSENT, rc=1))
    yield Row("cat", "inside", 'echo new > "$d/a"; cat "$d/a" > "$q"', left="a")
    yield cp("-l", 'cp -l "$q" "$d/a"', **NOTHING, rc=1, states=CELL, differs="rc left",
             why="no links")
    yield cp("-s", **NOTHING, rc=1, fresh=dict(value=None), differs="rc value mode owner mtime",
             why="no links")

    def mv(how, run, *args, **kw):
        return Row("mv", how, 'cp -p "$src" "$w/a"; ' + run, *args, **kw)

    yield mv("from outside", 'mv "$w/a" "$q"', mode=0o644, mtime="source")
    yield mv("-n from outside", 'mv -n "$w/a" "$q"', **NOTHING,
             fresh=dict(value=NEW, adds=1, mtime="source"))
    yield mv("-b from outside", 'mv -b "$w/a" "$q"', left="{q}~", mode=0o644, mtime="source",
             fresh=dict(left=""))
    yield mv("onto it", 'echo new > "$d/a"; mv "$d/a" "$q"', mode=0o644)
    yield mv("-b onto it", 'echo new > "$d/a"; mv -b "$d/a" "$q"', **aside)
    yield mv("-n onto it", 'echo new > "$d/a"; mv -n "$d/a" "$q"', **NOTHING, left="a",
             fresh=dict(value=NEW, adds=1, left=""))
    yield mv("a dot file onto it", 'echo new > "$d/.a"; mv "$d/.a" "$q"', mode=0o644)
    yield mv("to a free name", 'mv "$q" "$d/a"', None, 0, left="a=all",
             fresh=dict(ABSENT, rc=1))
    yield mv("to outside", 'mv "$q" "$w/b"; cat "$w/b"', None, 0, fresh=dict(ABSENT, rc=1))
    yield mv("to a dot name", 'mv "$q" "$d/.a"', **NOTHING, rc=1,
             states=("history", "long", "escaped"), differs="rc value mode owner mtime left",
             why="its older versions would be lost")
    yield mv("one version to a dot name", 'mv "$q" "$d/.a"', None, 0, left=".a",
             states=("existing", "single"))

    def install(how, run="", **kw):
        return Row("install", how, run or f'install {how} "$src" "$q"', **{"mode": 0o755, **kw})

    yield install("")
    yield install("-p", mtime="source")
    yield install("-m600 -b", mode=0o600, left="{q}~", fresh=dict(left=""))
    yield install("-C twice", 'install -C "$src" "$q"; install -C "$src" "$q"')


def blocks():
    def dd(how, run="", *args, **kw):
        return Row("dd", how, run or f'dd status=none {how} if="$src" of="$q"', *args, **kw)

    yield dd("")
    yield dd("conv=fsync")
    yield dd("oflag=dsync")
    yield dd("conv=sparse")
    yield dd("conv=notrunc", 'printf N | dd status=none conv=notrunc of="$q"', "Nwo\n",
             fresh=dict(value="N"))
    yield dd("conv=notrunc oflag=append", "", "{old}new\n")
    yield dd("oflag=append", "", NEW)
    yield dd("conv=excl", "", **NOTHING, rc=1, fresh=dict(rc=0, value=NEW, adds=1))
    yield dd("oflag=direct", 'truncate -s 8192 "$w/z"; dd status=none bs=4096 oflag=direct '
             'if="$w/z" of="$q"', "\0" * 8192)
    yield dd("seek=", 'dd status=none bs=1 seek=3 if="$src" of="$q"', "twonew\n",
             fresh=dict(value="\0\0\0new\n"))
    yield Row("tee", "", 'tee "$q" < "$src"')
    yield Row("tee", "-a", 'tee -a "$q" < "$src"', "{old}new\n")
    yield Row("sponge", "", 'cat "$q" "$src" | sponge "$q"', "{old}new\n")
    yield Row("sponge", "-a", 'sponge -a "$q" < "$src"', "{old}new\n")
    yield edits("sort", "-o", 'printf "b\\na\\n" | sort -o "$q" - "$q"', "a\nb\ntwo\n", rc=2)
    yield Row("shuf", "-o", 'shuf -o "$q" "$src"')
    yield Row("shred", "-n1", 'shred -n1 -s4 "$q"', ANY, fresh=dict(ABSENT, rc=1))
    yield Row("shred", "-u", 'shred -u "$q"', None, 0, fresh=dict(ABSENT, rc=1))
    yield Row("truncate", "-s0", 'truncate -s0 "$q"', "")
    yield Row("truncate", "-s+3", 'truncate -s+3 "$q"', "{old}\0\0\0")
    yield nothing("truncate", "-s of its size", 'truncate -s4 "$q"', differs="mtime",
                  why="nothing was changed", fresh=dict(value="\0" * 4, adds=1))
    yield Row("fallocate", "-l", 'fallocate -l 4096 "$q"', "two\n" + "\0" * 4092,
              fresh=dict(value="\0" * 4096))
    for how in "-p", "-z", "-c", "-n":
        yield nothing("fallocate", how, f'fallocate {how} -o 0 -l 4096 "$q"', rc=1, states=CELL,
                      differs="rc value adds mtime", why="no holes")


def attributes():
    def touch(how, run="", **kw):
        return nothing("touch", how, run or f'touch {how} "$q"',
                       **{"fresh": dict(adds=1, value=""), **kw})

    yield touch("", mtime="now")
    yield touch("-m", mtime="now")
    yield touch("-a")
    yield touch("-d", 'touch -d @1551675907.123456789 "$q"', mtime="source")
    yield touch("-r", 'touch -r "$src" "$q"', mtime="source")
    yield touch("-c", mtime="now", fresh=ABSENT)
    yield nothing("chmod", "", 'chmod 600 "$q"', mode=0o600, fresh=dict(ABSENT, rc=1))
    yield nothing("chgrp", "", 'chgrp "$(id -g)" "$q"', fresh=dict(ABSENT, rc=1))
    yield nothing("chown", "", 'chown 1:2 "$q"', root=True, fresh=dict(ABSENT, rc=1))
    yield nothing("flock", "", 'flock "$q" true', fresh=dict(adds=1, value="", mode=0o644))
    yield nothing("setfattr", "", 'setfattr -n user.a -v b "$q"', rc=1, states=CELL,
                  differs="rc", why="no foreign attributes")
    yield nothing("ln", "", 'ln "$q" "$d/a"', rc=1, states=CELL, differs="rc left",
                  why="no links")
    yield nothing("ln", "-s", 'ln -s "$n" "$d/a"', rc=1, states=CELL, differs="rc left",
                  why="no links")
    yield nothing("mkfifo", "", 'mkfifo "$d/a"', rc=1, states=CELL, differs="rc left",
                  why="no fifos")


def filters():
    yield edits("sed", "-i", 'sed -i s/two/new/ "$q"', rc=2)
    yield edits("sed", "-i.bak", 'sed -i.bak s/two/new/ "$q"', rc=2, left="{q}.bak")
    yield edits("sed", "-i nothing found", 'sed -i s/zzz/new/ "$q"', "{old}", rc=2)
    yield Row("sed", "w", 'sed -n "w $q" "$src"')
    yield edits("perl", "-pi", 'perl -pi -e s/two/new/ "$q"', rc=0)
    yield edits("perl", "-pi.bak", 'perl -pi.bak -e s/two/new/ "$q"', rc=0, left="{q}.bak")
    two = 'printf "two\\n" > "$w/a"; '
    diff = two + 'diff -u "$w/a" "$src" > "$w/p"; '
    yield Row("patch", "", diff + 'patch -s "$q" "$w/p"',
              fresh=dict(ABSENT, rc=2, left="{q}.orig"))
    yield Row("patch", "-b", diff + 'patch -s -b "$q" "$w/p"', left="{q}.orig",
              fresh=dict(ABSENT, rc=2, left="{q}.orig"))
    yield Row("patch", "rejected", 'printf "zzz\\n" > "$q"; ' + diff + 'patch -s "$q" "$w/p"',
              "zzz\n", rc=1, left="{q}.orig {q}.rej")
    yield Row("patch", "-o", two + diff + 'patch -s -o "$q" "$w/a" "$w/p"',
              fresh=dict(mode=0o600))
    yield Row("make", "", 'printf "all:\\n\\t@echo new > \\"\\$\\$q\\"\\n" | make -s -f -')
    yield Row("cc", "-o", 'echo "int main(void) { return 0; }" | cc -x c -o "$q" - && "$q"', ANY,
              mode=0o755)


def edges():
    def row(tool, how, run, *args, **kw):
        return Row(tool, f"{how} on 240 bytes".strip(), run, *args, states=EDGE, **kw)

    def no_room(*args, rc):
        return row(*args, **NOTHING, rc=rc, differs="rc value mode owner mtime left",
                   why="a name with an end would continue elsewhere")

    yield row("bash", ">", 'echo new > "$q"')
    yield row("cp", "", 'cp "$src" "$q"')
    yield row("rsync", "", 'cp "$src" "$w/$n"; rsync "$w/$n" "$d/"')
    yield row("vim", "", 'vim -u NONE -i NONE -N -es -c "%s/.*/new/" -c wq "$q"')
    yield row("tar", "x", 'cp "$src" "$w/$n"; tar cf "$w/a" -C "$w" "$n"; tar xmf "$w/a" -C "$d"',
              mode=0o644)
    yield no_room("sed", "-i", 'sed -i s/two/new/ "$q"', rc=4)
    yield no_room("cp", "-b", 'cp -b "$src" "$q"', rc=1)
    yield no_room("gzip", "-k", 'gzip -k "$q"', rc=1)


def editors():
    def vim(how, run, **kw):
        return Row("vim", how, run, **kw)

    head = 'vim -u NONE -i NONE -N -es -c "{}" -c "%s/.*/new/" -c wq "$q"'
    twice = ('vim -u NONE -i NONE -N -es -c "{}" -c "%s/.*/new/" -c w -c "%s/.*/newer/" '
             '-c wq "$q"')
    for how in ("", "set backupcopy=yes", "set backupcopy=no", "set backupcopy=auto,breakhardlink",
                "set nowritebackup", "set nofsync", "set noswapfile"):
        yield vim(how, head.format(how or "set backupskip="))
    for how in "backupcopy=yes", "backupcopy=no":
        yield vim(f"set {how} backup", head.format(f"set {how} backup"), left="{q}~",
                  fresh=dict(left=""))
    yield vim("set undofile", head.format("set undofile"), left=".{q}.un~")
    yield vim("set patchmode=.orig", head.format("set patchmode=.orig"), left="{q}.orig")
    for how in "set backupcopy=yes", "set backupcopy=no":
        yield vim(f"{how} :w twice", twice.format(how), value=("newer\n", NEW), adds=2)
    yield vim("typed", '"$typed" "two|[New]" ":%s/^.*$/new/\\r:wq\\r" -- vim -i NONE "$q"')
    yield vim("typed :w twice", '"$typed" "two|[New]" ":%s/^.*$/new/\\r:w\\r" "written" '
              '":%s/new/newer/\\r:wq\\r" -- vim -i NONE "$q"', value=("newer\n", NEW), adds=2)
    yield vim("set backup backupcopy=no :w twice", twice.format("set backup backupcopy=no"),
              value=("newer\n", NEW), adds=2, left="{q}~")
    save = '"$typed" "Exit" "\\x0bnew\\x0f" "Write" "\\r" "Wrote" "\\x18" -- nano {} "$q"'
    yield Row("nano", "", save.format("-I"))
    yield Row("nano", "-B", save.format("-I -B"), left="{q}~", fresh=dict(left=""))
    yield Row("nano", "-G", save.format("-I -G"))

    def emacs(how, code, left="{q}~", **kw):
        run = (f"emacs -Q --batch --eval '(progn {code} (find-file (getenv \"q\"))"
               " (erase-buffer) (insert \"new\\n\") (save-buffer) (kill-emacs 0))'")
        return Row("emacs", how, run, left=left, fresh=dict(left="", **kw))

    yield emacs("", "")
    yield emacs("make-backup-files nil", "(setq make-backup-files nil)", "")
    yield emacs("backup-by-copying", "(setq backup-by-copying t)")
    yield emacs("version-control", "(setq version-control t)", "{q}.~1~")
    yield emacs("file-precious-flag", "(setq file-precious-flag t)",
                adds=2, value=(NEW, ""))  # a temporary name, opened twice, is moved here
    yield Row("ed", "", 'printf "%s\\n" \$a new . w q | ed -s "$q"', "{old}new\n")


def archives():
    pack = 'cp -p "$src" "$w/$n"; cd "$w"; '

    def rsync(how, run="", **kw):
        full = pack + (run or f'rsync {how} "$n" "$d/"')
        return Row("rsync", how, full, **{"mode": 0o644, "mtime": "source", **kw})

    yield rsync("", mode=None, mtime="now")
    yield rsync("-a")
    yield rsync("-aHAX")
    yield rsync("-a twice", 'rsync -a "$n" "$d/"; rsync -ai "$n" "$d/"')
    yield rsync("-a --inplace")
    yield rsync("-a --partial")
    yield rsync("-a --partial-dir=.part")
    yield rsync("-a --delay-updates")
    yield rsync("-ac")
    yield rsync("-aS")
    yield rsync("-a --preallocate")
    yield rsync("-a --fsync")
    yield rsync("-ab", left="{q}~", fresh=dict(left=""))
    yield rsync("-ab --backup-dir=.old", left=".old/{q}", fresh=dict(left=""))
    yield rsync("-a -T", 'mkdir t; rsync -a -T "$w/t" "$n" "$d/"')
    yield rsync("-a --ignore-existing", **NOTHING, mode=None,
                fresh=dict(value=NEW, adds=1, mtime="source", mode=0o644))
    for how in "--append", "--append-verify":
        yield rsync(f"-a {how}", f'printf "two\\nmore\\n" > "$n"; rsync -a {how} "$n" "$d/"',
                    value="two\nmore\n", mtime="now")
    yield rsync("-a --remove-source-files")
    yield rsync("-az over a pipe",
                'printf \'#!/bin/sh\\nshift\\nexec "$@"\\n\' > pipe; chmod +x pipe; '
                'rsync -asz -e "$w/pipe" "$n" host:"$d/"')
    for when in "before", "during", "delay", "after":
        yield rsync(f"-a --delete-{when}", 'mkdir t; mv "$n" t; echo x > "$d/gone"; '
                    f'rsync -a --delete-{when} t/ "$d/"')

    def tar(how, run="", **kw):
        full = pack + 'tar cf a.tar "$n"; ' + (run or f'tar xf a.tar -C "$d" {how[1:]}')
        return Row("tar", how, full, **{"mode": 0o644, "mtime": "second", **kw})

    yield tar("x")
    yield tar("x --overwrite")
    yield tar("x -U")
    yield tar("x -m", mtime="now")
    yield tar("x -k", **NOTHING, mode=None, rc=2,
              fresh=dict(rc=0, value=NEW, adds=1, mtime="second", mode=0o644))
    yield tar("c", 'tar cf b.tar -C "$d" "$n" && tar xOf b.tar', **NOTHING, mode=None,
              fresh=dict(ABSENT, rc=2))

    def cpio(how, run, **kw):
        return Row("cpio", how, pack + run, **{"mode": 0o644, **kw})

    yield cpio("-iu", 'echo "$n" | cpio --quiet -o > a; cd "$d" && cpio --quiet -iu < "$w/a"')
    yield cpio("-imu", 'echo "$n" | cpio --quiet -o > a; cd "$d" && cpio --quiet -imu < "$w/a"',
               mtime="second")
    yield cpio("-pmu", 'echo "$n" | cpio --quiet -pmu "$d"', mtime="second")
    yield cpio("-o", 'cd "$d" && echo "$n" | cpio --quiet -o | grep -q two',
               **NOTHING, mode=None, fresh=dict(ABSENT, rc=1))
    yield Row("unzip", "-o", pack + 'zip -q a "$n"; unzip -qo a -d "$d"', mode=0o644,
              mtime="second")
    yield nothing("zip", "", 'cd "$d" && zip -q "$d/a.zip" "$n"', left="a.zip=2",
                  fresh=dict(ABSENT, rc=12))
    yield Row("gzip", "", 'gzip "$q"', None, 0, left="{q}.gz", fresh=dict(ABSENT, rc=1))
    yield nothing("gzip", "-k", 'gzip -k "$q"', left="{q}.gz", fresh=dict(ABSENT, rc=1))
    yield Row("gunzip", "-f", 'gzip < "$src" > "$q.gz"; gunzip -f "$q.gz"', mode=0o644)


def databases():
    add = """sqlite3 "$q" "pragma journal_mode={}; create table x (a); insert into x values (1);" &&
        sqlite3 "$q" "insert into x values (2);" &&
        [ "$(sqlite3 "$q" 'select count(*) from x; pragma integrity_check')" = "2
ok" ]"""
    for how in "delete", "truncate", "persist", "wal":
        yield Row("sqlite3", f"twice with journal_mode={how}", add.format(how), ANY, 2,
                  states=("new",))


def python():
    def py(how, code, *args, **kw):
        return Row("python", how, 'python3 - <<"E"\nimport mmap, os, tempfile\n'
                   f'q = os.environ["q"]; d = os.environ["d"]\n{code}\nE', *args, **kw)

    yield py("w", 'open(q, "w").write("new\\n")')
    yield py("a", 'open(q, "a").write("new\\n")', "{old}new\n")
    yield py("x", 'open(q, "x").write("new\\n")', **NOTHING, rc=1,
             fresh=dict(rc=0, value=NEW, adds=1))
    yield py("r+", 'f = open(q, "r+"); f.write("N"); f.close()', "Nwo\n", fresh=dict(ABSENT, rc=1))
    yield py("r+ unwritten", 'open(q, "r+").close()', **NOTHING, fresh=dict(ABSENT, rc=1))
    yield py("w+", 'f = open(q, "w+"); f.write("new\\n"); f.seek(0); assert f.read() == "new\\n"')
    yield py("a+", 'f = open(q, "a+"); f.write("new\\n"); f.seek(0); f.read()', "{old}new\n")
    yield py("w with fsync each time", 'f = open(q, "w")\nfor i in range(3):\n'
             ' f.write(str(i)); f.flush(); os.fsync(f.fileno())', "012")
    yield py("mmap", 'f = open(q, "r+b"); m = mmap.mmap(f.fileno(), 4); m[:3] = b"NEW"; m.close()',
             "NEW\n", fresh=dict(ABSENT, rc=1))
    yield py("os.replace", 'f = open(d + "/a", "w"); f.write("new\\n"); f.close()\n'
             'os.replace(d + "/a", q)', mode=0o644)
    yield py("os.replace unclosed", 'f = open(d + "/a", "w"); f.write("new\\n"); f.flush()\n'
             'os.replace(d + "/a", q); assert open(q).read() == "new\\n"', mode=0o644)
    yield py("os.replace then written", 'f = open(d + "/a", "w"); f.write("new\\n"); f.flush()\n'
             'os.replace(d + "/a", q); f.write("more\\n"); f.close()', "new\nmore\n", mode=0o644)
    yield py("NamedTemporaryFile", 'f = tempfile.NamedTemporaryFile("w", dir=d, delete=False)\n'
             'f.write("new\\n"); f.close(); os.rename(f.name, q)', mode=0o600)
    yield py("NamedTemporaryFile with a dot", 'f = tempfile.NamedTemporaryFile("w", dir=d, prefix=".", '
             'delete=False)\nf.write("new\\n"); f.close(); os.rename(f.name, q)', mode=0o600)
    yield py("TemporaryFile", 'f = tempfile.TemporaryFile(dir=d); f.write(b"x"); f.seek(0)\n'
             'assert f.read() == b"x"', **NOTHING, fresh=ABSENT)
    yield py("os.truncate", 'os.truncate(q, 1)', "t", fresh=dict(ABSENT, rc=1))
    yield py("unlink while open", 'f = open(q, "r+"); os.unlink(q); f.write("void"); f.close()',
             None, 0, fresh=dict(ABSENT, rc=1))


def calls():
    def sys(how, value=NEW, **kw):
        return Row("syscalls", how, f'"$sys" "{how}" "$q" "$src" "$d/a"', **{"value": value, **kw})

    need = dict(fresh=dict(ABSENT, rc=1))
    yield sys("shared map", "NEW\n", **need)
    yield sys("shared map closed first", "NEW\n", **need)
    yield sys("shared map of a grown file", "new\n" + "\0" * 8188)
    yield sys("dup")
    yield sys("fork")
    yield sys("fork and exec")
    yield sys("SCM_RIGHTS")
    yield sys("O_TMPFILE", **NOTHING, rc=1, fresh=ABSENT, differs="rc", why="a file has a name")
    yield sys("O_DIRECT", "\0" * 8192)
    yield sys("copy_file_range inside")
    yield sys("sendfile")
    yield sys("splice")
    yield sys("pwritev")
    yield sys("fdatasync")
    yield sys("truncated and written")
    yield sys("two descriptors", ("b\n", "a\n"), adds=2, differs="value",
              why="two writers never mix")
    yield sys("RENAME_NOREPLACE", **NOTHING, rc=1, left="a",
              fresh=dict(rc=0, value=NEW, adds=1, left="", mode=0o644))
    yield sys("RENAME_EXCHANGE", anew=True, left="a=all", mode=0o644, states=CELL)


GROUPS = (
    ("Shells", shells), ("Copying", copying), ("Blocks and lengths", blocks),
    ("Attributes and links", attributes), ("Filters and compilers", filters),
    ("Editors", editors), ("Names of 235 to 255 bytes", edges), ("Archives and rsync", archives), ("Databases", databases),
    ("Python", python), ("System calls", calls),
)


def rows():
    for group, make in GROUPS:
        for row in make():
            yield group, row
