# kill -9 in the middle: what was acknowledged is there.

# Four writers, one for each kind of change; each appends to its list of
# acknowledged numbers once the call that promises returned.
writers() {
	python3 - $F $W/acked $1 <<-'P' &
	import os, sys, threading
	top, acked, start = sys.argv[1], sys.argv[2], int(sys.argv[3])

	def path(name):
	    return os.path.join(top, name)

	def write(name, i):
	    fd = os.open(path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
	    try:
	        os.write(fd, b"%d" % i)
	    finally:
	        os.close(fd)

	def new(i):
	    write("new%d" % i, i)

	def over(i):
	    write("over%d" % (i % 10), i)

	def rename(i):
	    write("from%d" % i, i)
	    os.rename(path("from%d" % i), path("to%d" % i))

	def unlink(i):
	    write("gone%d" % i, i)
	    os.unlink(path("gone%d" % i))

	def run(change):
	    with open(acked + "." + change.__name__, "a", buffering=1) as log:
	        for i in range(start, start + 1000000):
	            try:
	                change(i)
	            except OSError:
	                return
	            log.write("%d\n" % i)

	threads = [threading.Thread(target=run, args=(c,))
	           for c in (new, over, rename, unlink)]
	for t in threads: t.start()
	for t in threads: t.join()
	P
}

acknowledged() { # the least of the four counts
	wc -l $W/acked.* | awk 'NF && $2 != "total" { print $1 }' | sort -n | head -1
}

check_acknowledged() {
	python3 - $F $W/acked <<-'P'
	import os, sys
	top, acked = sys.argv[1], sys.argv[2]
	there = {n: open(os.path.join(top, n)).read() for n in os.listdir(top)}
	def numbers(kind):
	    return [int(l) for l in open(acked + "." + kind)]
	lost = [("new", i) for i in numbers("new") if there.get("new%d" % i) != str(i)]
	lost += [("rename", i) for i in numbers("rename")
	         if there.get("to%d" % i) != str(i) or "from%d" % i in there]
	lost += [("unlink", i) for i in numbers("unlink") if "gone%d" % i in there]
	last = {i % 10: i for i in numbers("over")}
	lost += [("over", i) for k, i in last.items()
	         if int(there.get("over%d" % k) or -1) < i]
	print("lost", lost[:10])
	P
}

# Rounds of writers, each ended by a kill; $@ runs beside them until it fails.
kill_writers() {
	local round last i
	: > $W/acked.new; : > $W/acked.over; : > $W/acked.rename; : > $W/acked.unlink
	for round in 1 2 3; do
		last=$(acknowledged)
		writers $((round * 1000000))
		while "$@" 2>> $W/beside; do :; done &
		for i in $(seq 600); do
			[ $(acknowledged) -lt $((last + 100)) ] || break
			sleep .1
		done
		crash
		wait
		works up
		[ $(acknowledged) -ge $((last + 100)) ] || fail "too few acknowledged"
		expect "lost []" check_acknowledged
	done
}

K01_what_was_acknowledged_survives_a_kill() {
	begin f:VERSIONS=3
	kill_writers false
}

K02_a_kill_between_two_stores_of_a_cell_keeps_both() {
	local i
	begin
	for i in 1 2 3; do
		put v$i $q
		recover
	done
	expect "v3 v2 v1" history $q
}

K03_an_append_that_was_acknowledged_is_whole() {
	local n
	begin f:VERSIONS=3
	python3 - $F/log $W/acked <<-'P' &
	import os, sys
	for i in range(1, 1000000):
	    try:
	        fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
	        os.write(fd, b"line %d\n" % i)
	        os.close(fd)
	    except OSError:
	        break
	    with open(sys.argv[2], "w") as acked:
	        acked.write(str(i))
	P
	sleep 2
	crash
	wait
	works up
	n=$(cat $W/acked)
	[ $n -ge 50 ] || fail "only $n lines"
	is "$(head -n $n $F/log)" "$(seq -f 'line %.0f' $n)" "acknowledged lines"
	[ $(wc -l < $F/log) -le $((n + 1)) ] || fail "lines nobody wrote"
}

# Everything the store syncs is kept in a directory beside it, and nothing
# else: what a power cut leaves.
K04_what_was_synced_survives_a_power_cut() {
	local round
	create t f:VERSIONS=3
	: > $W/acked
	for round in 1 2 3; do
		rm -rf "${W:?}/cut"
		CELLFS_SHADOW=$W/cut works up
		row r1
		F=$M/t/r1/f
		python3 - $F $W/acked $round 2> /dev/null <<-'P' &
		import os, sys
		d, acked, n = sys.argv[1], open(sys.argv[2], "a"), 0
		while True:
		    n += 1
		    name = "r%s-%d" % (sys.argv[3], n)
		    fd = os.open(d + "/" + name, os.O_WRONLY | os.O_CREAT)
		    os.write(fd, (name * (1 + n % 3000)).encode())
		    if n % 2:
		        os.fsync(fd)
		    os.close(fd)
		    if n % 2 or n % 10 == 0:
		        if n % 10 == 0: # a directory's fsync speaks for all before
		            dirfd = os.open(d, os.O_RDONLY)
		            os.fsync(dirfd)
		            os.close(dirfd)
		        print(name, file=acked, flush=True)
		P
		sleep 2
		crash
		wait
		rm -rf "${S:?}"
		mv $W/cut $S
		works up
		expect "lost []" python3 - $M/t/r1/f $W/acked <<-'P'
		import sys
		lost = []
		for name in open(sys.argv[2]).read().split():
		    n = int(name.split("-")[1])
		    try:
		        value = open(sys.argv[1] + "/" + name).read()
		    except OSError:
		        value = None
		    if value != name * (1 + n % 3000):
		        lost.append(name)
		print("lost", lost[:10])
		P
		down
	done
	[ $(wc -l < $W/acked) -ge 30 ] || fail "too few synced: $(wc -l < $W/acked)"
}

store_anew() { # as each of the compressions
	local c
	for c in gz none snappy; do
		echo "family f compression=$c" >> $M/.schema/t && control compact t f ||
			return
		echo $c >> $W/anew
	done
}

K05_a_family_is_stored_anew_beside_writers_and_a_kill() {
	local before
	begin f:VERSIONS=3
	: > $W/anew
	kill_writers store_anew
	[ -s $W/anew ] || fail "never stored anew: $(tail -2 $W/beside)"
	before=$(ls $S | grep -c '^[0-9]*\.wt$')
	expect "lost []" check_acknowledged
	works store_anew
	expect "lost []" check_acknowledged
	again
	expect "lost []" check_acknowledged
	is "$(ls $S | grep -c '^[0-9]*\.wt$')" $before "files of the store"
}

holding() { # MARK: the files of the store that hold it
	grep -laF -e "$1" "$S"/* | xargs -r -n1 basename | paste -sd ' '
}

K06_what_is_out_is_gone_from_disk_after_compact() {
	local full left mark
	begin f:COMPRESSION=none,VERSIONS=1 g:COMPRESSION=none \
	    e:COMPRESSION=none,TTL=1
	python3 - > "$W/lines" <<-'P'
	for i in range(20000):
	    mark = "kept" if i % 10 == 0 else "deleted"
	    print("a%05d\tf:q\t5\t%s-by-test%s" % (i, mark, "x" * 200))
	    print("a%05d\tf:p\t5\tpushed-by-test%s" % (i, "y" * 100))
	    print("b%05d\te:q\t\texpired-by-test%s" % (i, "z" * 100))
	P
	works cp "$W/lines" "$M/t/.cells"
	sed 's/\t5\tpushed/\t6\tnewest/; t; d' "$W/lines" > "$M/t/.cells"
	mkdir -p $M/t/big/{f,g}
	{ echo large-by-test; head -c 4000000 /dev/urandom; } > $M/t/big/g/q
	works control checkpoint
	for mark in deleted expired large; do
		[[ " $(holding $mark-by-test) " = *.wt\ * ]] ||
			fail "nothing $mark was stored"
	done
	full=$(cat "$S"/*.wt | wc -c)
	down
	awk -F '\t' '/deleted-by/ { print $1 }' "$W/lines" > "$W/gone"
	works up
	python3 - "$M/t" "$W/gone" <<-'P' || fail "deleting"
	import os, sys
	for row in open(sys.argv[2]):
	    family = "%s/%s/f" % (sys.argv[1], row.strip())
	    os.unlink(family + "/q")
	    os.unlink(family + "/p")
	    os.rmdir(family)
	    os.rmdir(os.path.dirname(family))
	P
	rm $M/t/big/g/q
	gc
	works control checkpoint
	left=$(cat "$S"/*.wt | wc -c)
	[ $((left * 4)) -lt $full ] || fail "$left bytes of $full are left"
	down
	is "$(holding deleted-by-test)" "" "what was deleted"
	is "$(holding pushed-by-test)" "" "what was pushed out"
	is "$(holding expired-by-test)" "" "what has expired"
	is "$(holding large-by-test)" "" "a large value"
	[ -n "$(holding kept-by-test)" ] || fail "what is kept is gone"
	works up
	is "$(cat $M/t/.count)" 2000
}
