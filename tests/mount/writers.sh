# Several processes at the same cells at the same time. ROUNDS makes it longer:
# ROUNDS=50 LIMIT=3000 tests/mount/run W; CELLFS_TEST_SEED repeats a run.

ROUNDS=${ROUNDS:-1}
export CELLFS_TEST_SEED=${CELLFS_TEST_SEED:-$RANDOM$RANDOM}

seeded() { "$@" || fail "exit $?: CELLFS_TEST_SEED=$CELLFS_TEST_SEED"; }

# Runs Python with writers.py, F the family's directory, q the cell F/q.
crowd() {
	seeded python3 -c "
import fcntl, mmap, os, random, signal, subprocess, sys, threading, time
from writers import *
F, W, ROUNDS = '$F', '$W', $ROUNDS
q = F + '/q'
exec(sys.stdin.read())"
}

W01_every_close_is_whole_and_every_reader_sees_a_whole() {
	begin f:VERSIONS=100000
	crowd <<-'P'
	WRITERS, N = 4, 40 * ROUNDS
	def writes(w):
	    for n in range(1, N + 1):
	        write(q, value(w, n, random.choice(LENGTHS)), random.choice((1, 3, 20)))
	def reads(over):
	    seen = {}
	    while not over():
	        w, n = parsed(read(q, random.choice((100, 4096, 1 << 20))))
	        assert n >= seen.get(w, 0), "%d.%d after %d" % (w, n, seen[w])
	        seen[w] = n
	def rereads(over):
	    with open(q, "rb", buffering=0) as f:
	        while not over():
	            f.seek(0)
	            parsed(f.read())
	write(q, value(0, 0, 10))
	bad = together([(writes, w) for w in range(1, WRITERS + 1)],
	               [(reads,), (reads,), (rereads,)])
	assert not bad, bad
	history = [parsed(v) for v in versions(q)]
	assert len(history) == 1 + WRITERS * N, len(history)
	for w in range(1, WRITERS + 1):
	    mine = [n for who, n in history if who == w]
	    assert mine == list(range(N, 0, -1)), "writer %d: %s" % (w, mine)
	P
}

W02_maps_see_no_hole_and_no_signal() {
	begin f:VERSIONS=100000
	crowd <<-'P'
	N, SIZE = 100 * ROUNDS, 20000
	# O_TRUNC takes the pages away from under a map, as everywhere.
	def writes(w):
	    for n in range(N):
	        write(q, value(w, n, SIZE), flags=0)
	def replaces(w):
	    for n in range(N):
	        write(F + "/new%d" % w, value(w, n, SIZE))
	        os.rename(F + "/new%d" % w, q)
	def maps(over):
	    while not over():
	        with open(q, "rb") as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
	            assert len(m) == SIZE + 39, len(m)
	            for i in range(5):
	                assert b"\0" not in m[:]
	def edits(over):
	    while not over():
	        with open(q, "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
	            m[SIZE:] = m[SIZE:]
	write(q, value(1, 0, SIZE))
	bad = together([(writes, 1), (writes, 2), (replaces, 3)], [(maps,), (maps,)])
	assert not bad, bad
	for v in versions(q):
	    parsed(v)
	bad = together([(writes, 1), (writes, 2)], [(edits,), (maps,)])
	assert not bad, bad
	assert all(len(v) == SIZE + 39 and b"\0" not in v for v in versions(q))
	# when a close has returned, whoever maps the cell sees what it stored
	def closes():
	    with open(q, "rb") as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
	        for n in range(N):
	            write(q, value(4, n, SIZE), flags=0)
	            assert parsed(m[:]) == (4, n), n
	def touches(over):
	    with open(q, "rb") as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
	        while not over():
	            m[:]
	write(q, value(4, 0, SIZE))
	bad = together([(closes,)], [(touches,), (touches,)])
	assert not bad, bad
	P
}

W03_appends_are_all_there_in_their_order() {
	begin f:VERSIONS=5
	crowd <<-'P'
	N, BLOCK = 150 * ROUNDS, b"x" * 3000
	def appends(w, keep):
	    fd = None
	    for n in range(N):
	        if fd is None:
	            fd = os.open(q, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
	        os.write(fd, b"%d.%d %s\n" % (w, n, BLOCK[:random.choice((0, 10, 3000))]))
	        if keep == "fsync":
	            os.fsync(fd)
	        elif keep == "no":
	            os.close(fd)
	            fd = None
	def tails(over):
	    size = 0
	    while not over():
	        data = read(q)
	        assert len(data) >= size and b"\0" not in data
	        assert data[-1:] in (b"", b"\n"), data[-30:]
	        size = len(data)
	write(q, b"")
	bad = together([(appends, w, k) for w, k in enumerate(
	    ("no", "no", "no", "fsync", "yes"))], [(tails,)])
	assert not bad, bad
	seen = {w: [] for w in range(5)}
	for line in read(q).splitlines():
	    name, rest = line.split(b" ")
	    assert rest == BLOCK[:len(rest)]
	    w, n = map(int, name.split(b"."))
	    seen[w].append(n)
	for w in seen:
	    assert seen[w] == list(range(N)), "writer %d: %s" % (w, seen[w])
	P
}

W04_changes_under_a_lock_lose_none() {
	begin f:VERSIONS=5
	crowd <<-'P'
	N, P = 60 * ROUNDS, 4
	def add(fd, take):
	    take(fd, fcntl.LOCK_EX)
	    n = int(os.pread(fd, 100, 0) or 0) + 1
	    os.ftruncate(fd, 0)
	    os.pwrite(fd, b"%d" % n + b" " * (n % 7), 0)
	def opens(name, take):
	    for i in range(N):
	        fd = os.open(F + "/" + name, os.O_RDWR | os.O_CREAT, 0o644)
	        add(fd, take)
	        os.close(fd)
	def keeps(name, take):
	    fd = os.open(F + "/" + name, os.O_RDWR | os.O_CREAT, 0o644)
	    for i in range(N):
	        add(fd, take)
	        os.fsync(fd)
	        take(fd, fcntl.LOCK_UN)
	    os.close(fd)
	def replaces(name):
	    for i in range(N):
	        lock = os.open(F + "/" + name + ".lock", os.O_RDWR | os.O_CREAT)
	        fcntl.flock(lock, fcntl.LOCK_EX)
	        n = int(read(F + "/" + name)) + 1
	        new = F + "/" + name + ".%d" % os.getpid()
	        write(new, b"%d" % n)
	        os.replace(new, F + "/" + name)
	        os.close(lock)
	write(F + "/replaced", b"0")
	bad = together([(opens, "flock", fcntl.flock)] * P +
	               [(opens, "lockf", fcntl.lockf)] * P +
	               [(keeps, "kept", fcntl.flock)] * P +
	               [(replaces, "replaced")] * P)
	assert not bad, bad
	for name in "flock", "lockf", "kept", "replaced":
	    assert int(read(F + "/" + name)) == P * N, (name, read(F + "/" + name))
	P
}

W05_two_sqlite_processes_on_one_cell_lose_no_update() {
	local mode
	begin f:VERSIONS=5
	for mode in delete truncate persist; do
		sqlite3 $F/$mode.db "pragma journal_mode=$mode" \
			'create table n(v); insert into n values(0); create table l(w)' > /dev/null
		sql() {
			local i
			for i in $(seq $((30 * ROUNDS))); do
				sqlite3 -cmd '.timeout 60000' $F/$mode.db "pragma journal_mode=$mode" \
					"begin immediate; update n set v = v + 1; insert into l values($1); commit" ||
					fail "$mode: exit $?"
			done > /dev/null
		}
		sql 1 & sql 2 & sql 3 &
		wait
		expect "ok|$((90 * ROUNDS))|$((90 * ROUNDS))" sqlite3 $F/$mode.db \
			'select (select * from pragma_integrity_check), v, (select count(*) from l) from n'
	done
	again
	expect "$((90 * ROUNDS))" sqlite3 $F/delete.db 'select v from n'
	works rm $F/*
	empty $F
}

W06_tar_rsync_and_cp_of_cells_being_written_get_committed_bytes() {
	begin f:VERSIONS=5
	crowd <<-'P'
	N, COPIES = 40 * ROUNDS, {
	    "tar": ("tar cf {d}.tar -C {F} .; s=$?; tar xf {d}.tar -C {d}; exit $s", 1),
	    "rsync": ("rsync -aI {F}/ {d}/", 0),
	    "cp": ("cp -a {F}/. {d}/", 0)}
	def copied(name):
	    d = W + "/" + name
	    command, status = COPIES[name]
	    r = subprocess.run("mkdir -p %s; %s" % (d, command.format(F=F, d=d)),
	                       shell=True, text=True, capture_output=True)
	    assert r.returncode in (0, status), r
	    assert r.returncode == 0 or "changed as we read it" in r.stderr, r
	    return {n: read(d + "/" + n) for n in os.listdir(d)}
	# all the while a writer is in the middle
	for old in LENGTHS:
	    for flags in os.O_TRUNC, os.O_APPEND, 0:
	        before, after = value(1, old, old), value(2, old, 9000)
	        write(q, before)
	        fd = os.open(q, os.O_WRONLY | flags)
	        os.write(fd, after[:8500])
	        for name in COPIES:
	            assert copied(name) == {"q": before}, (name, old, flags)
	        os.write(fd, after[8500:])
	        os.close(fd)
	        after = {0: after + before[len(after):], os.O_APPEND: before + after}.get(flags, after)
	        for name in COPIES:
	            assert copied(name) == {"q": after}, (name, old, flags)
	os.unlink(q)
	# and while versions come and go; only their size is known beforehand
	def writes(w):
	    for n in range(1, N):
	        write(F + "/c%d" % w, value(w, n, LENGTHS[w]), 20)
	        time.sleep(.005)
	def copies(name, over):
	    last = False
	    while not last:
	        last = over() # one copy after the end, too
	        for c, data in copied(name).items():
	            w, n = parsed(data)
	            assert c == "c%d" % w and (n == N - 1 or not last), (c, n)
	for w in range(len(LENGTHS)):
	    write(F + "/c%d" % w, value(w, 0, LENGTHS[w]))
	for name in COPIES:
	    os.unlink(W + "/" + name + "/q")
	bad = together([(writes, w) for w in range(len(LENGTHS))],
	               [(copies, name) for name in COPIES])
	assert not bad, bad
	P
}

W07_one_wins_each_exclusive_creation() {
	begin f:VERSIONS=5
	crowd <<-'P'
	N, P = 100 * ROUNDS, 5
	def creates(w):
	    won = open("%s/won%d" % (W, w), "w")
	    for n in range(N):
	        for name in "/c%d", "/.d%d":
	            try:
	                fd = os.open(F + name % n, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
	                os.write(fd, b"%d" % w)
	                os.close(fd)
	                won.write(name % n + "\n")
	            except FileExistsError:
	                pass
	        try:
	            os.mkdir(F + "/../../x%d" % n)
	            won.write("x%d\n" % n)
	        except FileExistsError:
	            pass
	    won.close()
	bad = together([(creates, w) for w in range(P)])
	assert not bad, bad
	won = {w: open("%s/won%d" % (W, w)).read().split() for w in range(P)}
	names = sorted(sum(won.values(), []))
	assert names == sorted(set(names)) and len(names) == 3 * N, len(names)
	for w in won:
	    for name in won[w]:
	        if name[0] == "/":
	            assert read(F + name) == b"%d" % w, name
	assert all(len(versions(F + "/c%d" % n)) == 1 for n in range(N))
	P
}

W08_readers_from_before_during_and_after_a_writer() {
	begin f:VERSIONS=5
	crowd <<-'P'
	for length in LENGTHS:
	    old, new = value(1, length, length), value(2, length, 70000 - length // 20)
	    write(q, old)
	    for way in os.O_TRUNC, 0:
	        before = os.open(q, os.O_RDONLY)
	        first = os.pread(before, 10, 0)
	        fd = os.open(q, os.O_RDWR | way)
	        os.write(fd, new[:30000])
	        during = os.open(q, os.O_RDONLY)
	        # This process wrote: only others are told the size before.
	        size = int(subprocess.check_output(["stat", "-c", "%s", q]))
	        assert size == len(old), (size, len(old))
	        assert os.pread(during, 1 << 21, 0) == old
	        assert os.pread(before, 1 << 21, 0) == old
	        os.write(fd, new[30000:])
	        os.ftruncate(fd, len(new))
	        os.close(fd)
	        after = os.open(q, os.O_RDONLY)
	        for fd in before, during, after:
	            assert os.pread(fd, 1 << 21, 0) == new, (length, fd)
	            assert os.fstat(fd).st_size == len(new)
	            os.close(fd)
	        assert first == old[:10]
	        write(q, old)
	P
}

W09_names_that_go_or_move_under_open_files() {
	begin f:VERSIONS=50
	crowd <<-'P'
	def opened(data, path=q, flags=os.O_RDWR):
	    fd = os.open(path, flags | os.O_CREAT, 0o644)
	    os.write(fd, data)
	    return fd
	def shut(fd, data):
	    os.write(fd, data)
	    os.close(fd)
	p, row, table = F + "/p", os.path.dirname(F), os.path.dirname(os.path.dirname(F))
	row2 = table + "/r2"
	# unlinked: what it writes goes nowhere, also where the name is made anew
	write(q, b"one")
	fd = opened(b"void")
	os.unlink(q)
	assert os.fstat(fd).st_size == 4 and os.pread(fd, 9, 0) == b"void"
	subprocess.check_call(["sh", "-c", "printf new > " + q])
	shut(fd, b"more")
	assert versions(q) == [b"new"], versions(q)
	# moved to a free name: the handle follows
	fd = opened(b"w")
	os.rename(q, p)
	shut(fd, b"ritten")
	assert versions(p) == [b"written", b"new"], versions(p)
	assert not os.path.exists(q)
	# replaced: the handle of what was there before writes into the void
	write(q, b"mover")
	fd = opened(b"lost", p)
	os.rename(q, p)
	shut(fd, b"lost")
	assert versions(p) == [b"mover", b"written", b"new"], versions(p)
	# the moving one itself is open
	write(q, b"")
	fd = opened(b"late", q, os.O_RDWR | os.O_TRUNC)
	os.rename(q, p)
	shut(fd, b"r")
	assert versions(p)[0] == b"later", versions(p)
	assert len(versions(p)) == 4, versions(p)
	# its row moves
	fd = opened(b"in the ", p)
	os.rename(row, row2)
	shut(fd, b"row")
	assert versions(row2 + "/f/p")[0] == b"in the row"
	os.rename(row2, row)
	assert versions(p)[0] == b"in the row"
	# rmdir spares what is pending, and what is open goes with rm -r
	fd = opened(b"x", q)
	for d in F, row, table:
	    try:
	        os.rmdir(d)
	        raise AssertionError("rmdir " + d)
	    except OSError as e:
	        assert e.strerror == "Directory not empty", e
	subprocess.check_call(["rm", "-r", F])
	shut(fd, b"y")
	assert os.listdir(row) == []
	P
}

W10_children_that_inherit_a_file_add_no_version() {
	begin f:VERSIONS=50
	crowd <<-'P'
	def opened(flags=os.O_TRUNC):
	    return os.open(q, os.O_RDWR | os.O_CREAT | flags, 0o644)
	def exec_writes(fd, text):
	    subprocess.check_call(["sh", "-c", "printf %s >&%d" % (text, fd)], pass_fds=[fd])
	write(q, b"0")
	for flags in os.O_TRUNC, os.O_APPEND:
	    count, old = len(versions(q)), b"" if flags == os.O_TRUNC else read(q)
	    # children write and end before their parent closes
	    fd = opened(flags)
	    os.write(fd, b"a")
	    assert not ended([fork(os.write, fd, b"b")])
	    exec_writes(fd, "c")
	    subprocess.check_call("true", pass_fds=[fd])
	    assert len(versions(q)) == count, "stored too early"
	    os.write(fd, b"d")
	    os.close(fd)
	    assert len(versions(q)) == count + 1, versions(q)
	    assert read(q) == old + b"abcd", read(q)
	    # the parent closes first, the child writes on: still one version
	    old = b"" if flags == os.O_TRUNC else read(q)
	    fd = opened(flags)
	    os.write(fd, b"parent ")
	    told, tell = os.pipe()
	    def late():
	        os.close(tell)
	        os.read(told, 1)
	        os.write(fd, b"child")
	    pid = fork(late)
	    os.close(fd)
	    assert read(q) == old + b"parent "
	    os.close(tell)
	    assert not ended([pid])
	    for i in range(100): # the last close is not waited for
	        if read(q) == old + b"parent child":
	            break
	        time.sleep(.05)
	    assert read(q) == old + b"parent child", read(q)
	    assert len(versions(q)) == count + 2, versions(q)
	    os.close(told)
	# only the child uses it
	fd = opened()
	assert not ended([fork(os.write, fd, b"by the child")])
	os.close(fd)
	for i in range(100):
	    if read(q) == b"by the child":
	        break
	    time.sleep(.05)
	assert read(q) == b"by the child"
	P
}

W11_killed_writers_leave_wholes_of_what_they_wrote() {
	begin f:VERSIONS=100000
	crowd <<-'P'
	def writes(w):
	    for n in range(1, 1 << 30):
	        write(F + "/c%d" % (n % 3), value(w, n, random.choice(LENGTHS)), 1)
	def appends(w):
	    for n in range(1, 1 << 30):
	        fd = os.open(F + "/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
	        os.write(fd, b"%d.%d\n" % (w, n))
	        os.close(fd)
	for i in range(10 * ROUNDS):
	    pids = [fork(writes, i * 10 + 1), fork(writes, i * 10 + 2), fork(appends, i)]
	    time.sleep(random.random() / 3)
	    for pid in pids:
	        os.kill(pid, signal.SIGKILL)
	    assert ended(pids) == ["SIGKILL"] * 3
	for n in range(3):
	    for v in versions(F + "/c%d" % n):
	        if v: # opened and killed
	            w, n, length = map(int, v[:27].split())
	            assert value(w, n, length).startswith(v)
	seen = {}
	for line in read(F + "/log").splitlines():
	    w, n = map(int, line.split(b"."))
	    assert n == seen.get(w, 0) + 1, (w, n, seen.get(w))
	    seen[w] = n
	P
}

W12_a_cell_exercised_at_random_is_as_its_model_says() {
	begin f:VERSIONS=10
	seeded python3 $HERE/exercise.py $q $((3000 * ROUNDS)) 10 > $W/want
	again
	works test -s $W/want
	expect "$(cat $W/want)" python3 -c "
import zlib
from writers import versions
for v in versions('$q'):
    print(len(v), zlib.crc32(v))"
}

W13_a_table_changed_by_many_at_random_is_as_their_models_say() {
	create t f:VERSIONS=3 g:VERSIONS=1000000
	up || return
	seeded python3 $HERE/crowd.py $M/t 4 $((400 * ROUNDS)) $W
	again
	seeded python3 $HERE/crowd.py --compare $M/t 4 $W
	gc
	recover
	seeded python3 $HERE/crowd.py --compare $M/t 4 $W
}

W14_a_map_is_filled_while_its_writer_stores() {
	local i
	begin f:VERSIONS=3
	crowd <<-'P' &
	write(q, b"x" * 8192)
	time.sleep(3.1) # nobody writes it any more
	reader = os.open(q, os.O_RDONLY)
	assert os.read(reader, 100)
	for n in range(100 * ROUNDS):
	    fd = os.open(q, os.O_RDWR)
	    def fill():
	        with mmap.mmap(fd, 8192, mmap.MAP_PRIVATE, mmap.PROT_READ) as m:
	            assert m[5000] == ord("x")
	    os.pwrite(fd, b"%08d" % n, 0)
	    beside = threading.Thread(target=fill)
	    beside.start()
	    os.fsync(fd)
	    beside.join()
	    os.close(fd)
	P
	for i in $(seq $((600 + 10 * ROUNDS))); do
		kill -0 $! 2>/dev/null || break
		sleep .1
	done
	if kill -0 $! 2>/dev/null; then
		umount -f "$M" # nothing else ends who waits for a page
		fail "they wait for each other"
	fi
	works wait $!
}

W15_counters_and_row_mutations_of_many_processes_are_whole() {
	create t f:VERSIONS=2 g:VERSIONS=2
	up || return
	F=$M/t/r1/f q=$F/q
	mkdir -p $F $M/t/pair/{f,g}
	crowd <<-'P'
	N, P = 50 * ROUNDS, 4
	MAX = 2 ** 63 - 1
	pair = F + "/../../pair/.cells"
	def add(delta):
	    for i in range(N):
	        with open(q + "@counter", "w") as f:
	            f.write("%d" % delta)
	def grows(over):
	    last = 0
	    while not over():
	        try:
	            n = int(read(q + "@counter"))
	        except FileNotFoundError:
	            continue
	        assert n >= last, (n, last)
	        last = n
	def turns(w):
	    for i in range(N):
	        with open(pair, "w") as f:
	            for family in "fg":
	                f.write("pair\t%s:q\t\t%d.%d\n" % (family, w, i))
	def same(over):
	    while not over():
	        lines = [l.split("\t") for l in read(pair).decode().splitlines()]
	        assert len(lines) in (0, 2), lines
	        assert len(set(l[3] for l in lines)) <= 1, lines
	bad = together([(add, d) for d in (1, 2, 3, 4)] +
	               [(turns, w) for w in range(P)], [(grows,), (same,), (same,)])
	assert not bad, bad
	assert int(read(q + "@counter")) == 10 * N, read(q + "@counter")
	with open(F + "/w@counter", "w") as f:
	    f.write("%d" % MAX)
	with open(F + "/w@counter", "w") as f:
	    f.write("1")
	assert int(read(F + "/w@counter")) == -MAX - 1, read(F + "/w@counter")
	P
	down
	# The same by commands that wait for each other.
	local i
	for i in 1 2 3 4; do
		works "$CELLFS" incr "$S" t r2 f:n 5 > /dev/null &
		works "$CELLFS" append "$S" t r2 f:a "$i" > /dev/null &
		"$CELLFS" cas "$S" t r2 f:won --absent put f:won $i > "$W/won$i" &
	done
	wait
	expect 20 "$CELLFS" incr "$S" t r2 f:n 0
	expect "1 2 3 4" sh -c "'$CELLFS' get '$S' t r2 f:a --raw-value |
		fold -w1 | sort | paste -sd ' '"
	expect 1 sh -c "cat $W/won? | grep -c true"
}
