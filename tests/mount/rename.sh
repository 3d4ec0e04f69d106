# Renames, with real programs: what saves through another name, what is open.

# python, with d the family and q the cell.
py() { python3 -c "import os, sys; d = '$F'; q = '$q'
$1"; }

M01_replacing_before_the_close_is_one_version() {
	begin f:VERSIONS=9 g:VERSIONS=9
	works mkdir $M/t/r1/g
	put old $q
	works py "
f = open(d + '/tmp', 'w'); f.write('one'); f.flush()
os.replace(d + '/tmp', q); f.write('+\n'); f.close()"
	expect "one+ old" history $q
	works py "
f = open(d + '/.tmp', 'w'); f.write('two\n'); f.flush()
os.replace(d + '/.tmp', q); f.close()"
	expect "two one+ old" history $q
	works py "
f = open(q, 'w'); f.write('three\n'); f.flush()
os.rename(q, d + '/free'); f.close()"
	expect "three two one+ old" history $F/free
	works py "
f = open(d + '/free', 'a'); f.write('four\n'); f.flush()
os.rename(d + '/free', d + '/../g/free'); f.close()"
	is "$(history $M/t/r1/g/free)" "three four three two one+ old"
	works py "
f = open(d + '/big', 'wb'); f.write(b'x' * 3000000); f.flush()
os.replace(d + '/big', d + '/../g/free'); f.close()"
	expect 6 nver $M/t/r1/g/free
	expect 3000000 stat -c %s $M/t/r1/g/free
	is "$(names $F)" "" "left"
	again
	expect 6 nver $M/t/r1/g/free
	expect 3000000 stat -c %s $M/t/r1/g/free
}

# Killed anywhere in it: the new name has the bytes, or the old one has none.
M02_a_kill_leaves_a_replaced_file_before_or_after() {
	local round i
	begin f:VERSIONS=3
	: > $W/count
	for round in 1 2 3 4 5; do
		python3 - $F $W/count $round 2> /dev/null <<-'P' &
		import os, sys
		d, count, base = sys.argv[1], open(sys.argv[2], "a"), int(sys.argv[3])
		n = base * 1000000
		while True:
		    n += 1
		    size = 3000000 if n % 20 == 0 else 10
		    f = open(d + "/tmp%d" % n, "wb", buffering=0)
		    f.write(b"%d " % n + b"x" * size)
		    os.replace(d + "/tmp%d" % n, d + "/q%d" % (n % 3))
		    f.close()
		    print(n, file=count, flush=True)
		P
		for i in $(seq 600); do
			[ $(wc -l < $W/count) -lt $((round * 60)) ] || break
			sleep .05
		done
		crash
		wait
		works up
		expect "torn []" python3 - $F $W/count <<-'P'
		import os, sys
		d, done = sys.argv[1], {}
		for n in map(int, open(sys.argv[2])):
		    done[n % 3] = n
		torn = []
		for name in os.listdir(d):
		    bytes = open(d + "/" + name, "rb").read()
		    if name[0] == "t" and bytes: # stored under the old name
		        torn.append(name)
		    if name[0] == "q":
		        n = int(bytes.split()[0])
		        size = 3000000 if n % 20 == 0 else 10
		        if n < done.get(int(name[1:]), 0) or \
		           bytes != b"%d " % n + b"x" * size:
		            torn.append(name)
		print("torn", torn)
		P
		rm -f $F/tmp*
	done
	[ $(wc -l < $W/count) -ge 300 ] || fail "only $(wc -l < $W/count)"
}

# statx(2) of the mode alone, which the kernel answers from its cache.
mode_of() {
	python3 - "$1" <<-'P'
	import ctypes, os, struct, sys
	AT_FDCWD, STATX_MODE = -100, 2
	buf = ctypes.create_string_buffer(256)
	r = ctypes.CDLL(None).statx(AT_FDCWD, os.fsencode(sys.argv[1]), 0,
	                            STATX_MODE, buf)
	assert r == 0
	print("%o" % (struct.unpack_from("H", buf, 28)[0] & 0o7777))
	P
}

M03_a_mode_that_a_new_version_clears_is_shown_so() {
	begin f:VERSIONS=9
	put x $q
	works chmod 6755 $q
	expect 6755 mode_of $q
	echo y > $q
	expect 755 mode_of $q
	works chmod 4755 $q
	expect 4755 mode_of $q
	echo z >> $q
	expect 755 mode_of $q
	works chmod 2755 $q
	expect 2755 mode_of $q
	echo 1 > $q@77
	works truncate -s 1 $q
	expect 755 mode_of $q
}

# renameat2(2) with FLAGS (1: no replace, 2: exchange, 4: whiteout).
renameat2() {
	python3 - "$@" <<-'P'
	import ctypes, os, sys
	libc = ctypes.CDLL(None, use_errno=True)
	if libc.renameat2(-100, os.fsencode(sys.argv[2]), -100,
	                  os.fsencode(sys.argv[3]), int(sys.argv[1])):
	    print(os.strerror(ctypes.get_errno()), file=sys.stderr)
	    sys.exit(1)
	P
}

M04_flags_of_a_rename_are_kept_or_refused() {
	begin f:VERSIONS=5 g:VERSIONS=5
	works mkdir $M/t/r1/g
	put q1 $q; put q2 $q; put p $F/p
	refused "File exists" renameat2 1 $q $F/p
	refused "No such file" renameat2 2 $q $F/none
	refused "Invalid argument" renameat2 4 $q $F/none
	works renameat2 2 $q $F/p
	is "$(history $q)/$(history $F/p)" "p/q2 q1"
	works mv $F/p $M/t/r1/g/p
	works renameat2 2 $q $M/t/r1/g/p
	is "$(cat $q)/$(cat $M/t/r1/g/p)" "q2/p"
	is "$(stat -c %s $q $M/t/r1/g/p | tr '\n' ' ')" "3 2 "
	row r2
	refused "Invalid argument" renameat2 2 $M/t/r1 $M/t/r2
	refused "File exists" renameat2 1 $M/t/r1 $M/t/r2
	works renameat2 1 $M/t/r1 $M/t/r3
	again
	is "$(history $M/t/r3/f/q)/$(history $M/t/r3/g/p)" "q2 q1/p"
}

M05_dot_directories_are_renamed_with_their_files() {
	begin f:VERSIONS=5
	row r2
	works mkdir $F/.d
	put 1 $F/.d/one
	head -c 3000000 /dev/zero > $F/.d/big
	works mv $F/.d $F/.e
	is "$(ls -A $F) $(ls $F/.e | tr '\n' ' ')" ".e big one "
	works mv $F/.e $M/t/r2/f/.d
	is "$(ls -A $F)" ""
	expect 3000000 stat -c %s $M/t/r2/f/.d/big
	works mkdir $M/t/r2/f/.full
	put 2 $M/t/r2/f/.full/two
	refused "Directory not empty" renameat2 0 $M/t/r2/f/.full $M/t/r2/f/.d
	refused "Invalid argument" renameat2 0 $M/t/r2/f/.full $M/t/r2/f/full
	again
	expect 1 cat $M/t/r2/f/.d/one
	works mv $M/t/r2/f/.d/one $q
	expect 1 history $q
}

# Each name below the directory with its number, which readdir, stat, and statx
# that is asked for nothing else, agree on.
numbers() {
	(cd "$1" && python3 -c '
import os
for at, _, _ in os.walk("."):
    for e in sorted(os.scandir(at), key=lambda e: e.name):
        print(e.path, e.inode())' > "$W/listed" &&
	cut -d' ' -f1 "$W/listed" | xargs stat -c '%n %i' > "$W/stated" &&
	cut -d' ' -f1 "$W/listed" | xargs ls -dUi |
		sed 's/ *\([0-9]*\) \(.*\)/\2 \1/' > "$W/asked") || fail "$1"
	works diff "$W/listed" "$W/asked"
	works diff "$W/listed" "$W/stated"
	cat "$W/listed"
}

M06_below_a_directory_that_moves_the_numbers_are_others() {
	local at from to seen
	begin f:VERSIONS=5
	for at in t t/r1 t/r1/f t/r1/f/.d; do
		from=$M/$at to=$M/${at%/*}/${at##*/}2
		[ "$at" != t ] || to=$M/t2
		[ "$at" != t/r1/f ] || { row r3; rmdir $M/t/r3/f; to=$M/t/r3/f; }
		works mkdir -p $F/.d
		echo old > $q; echo old > $F/.d/q; numbers $M > /dev/null
		works mv $from $to
		numbers $M > $W/moved
		[ "$at" != t ] || works mv $M/.schema/t2 $M/.schema/t3
		[ "$at" != t ] || {
			to=$M/t3
			printf 'table open=0\nfamily f versions=5\n' > $M/.schema/t
		}
		works mkdir -p $F/.d
		echo new > $q; echo new > $F/.d/q
		seen=$(cd $from && find . -name '*q')
		for path in $seen; do
			refused "" cmp $from/$path $to/$path
			is "$RC" 1 "$path differs"
		done
		numbers $M > $W/made
		again
		numbers $M > $W/mounted
		works diff $W/made $W/mounted
	done
}
