# Ordinary programs at work in the mount.

sent() { rsync -ai "$@"; } # prints what it transfers or changes

T01_rsync_in_and_out_twice_transfers_nothing_again() {
	begin
	mkdir $W/src
	printf one > $W/src/q1; printf two > $W/src/q2
	touch -d '2021-03-04 05:06:07.123456789' $W/src/q1
	works rsync -a $W/src/ $F/
	expect "" sent $W/src/ $F/
	expect $'q1\nq2' names $F
	expect 1 nver $F/q1
	expect "2021-03-04 05:06:07.123456789 +0000" stat -c %y $F/q1
	works rsync -a $F/ $W/backup/
	expect "" sent $F/ $W/backup/
	put three $F/q2
	is "$(sent $F/ $W/backup/ | grep "^>f" | cut -d" " -f2)" q2 "sent after a change"
	again
	expect "" sent $W/src/q1 $F/
	expect "" sent $F/ $W/backup/
	expect "three two" history $F/q2
}

T03_links_devices_and_foreign_attributes_are_refused_politely() {
	need setfattr
	root
	begin
	put x $q
	mkdir $W/src
	echo a > $W/src/a; ln $W/src/a $W/src/a2; ln -s a $W/src/s; echo c > $W/src/c
	setfattr -n user.k -v v $W/src/c || skip "needs user attributes in TMPDIR"
	refused "Operation not permitted" ln $q $F/h
	refused "Operation not permitted" ln -s q $F/y
	refused "Operation not permitted" mkfifo $F/p
	refused "Operation not permitted" mknod $F/n c 1 3
	refused "Operation not supported" setfattr -n user.k -v v $q
	refused "" rsync -aHAX $W/src/ $F/
	is $RC 23 "rsync -aHAX"
	expect c cat $F/c
	works cp -a $W/src/c $F/b
	expect c cat $F/b
	tar cf $W/t.tar -C $W/src a a2
	row r2
	refused "" tar xf $W/t.tar -C $M/t/r2/f
	is $RC 2 "tar x of a hard link"
	expect a cat $M/t/r2/f/a
	is "$(names $F | tr '\n' ' ' | sed 's/a2 //; s/a //')" "b c q " "names"
	is "$(cat $F/a $F/a2 2>/dev/null | sort -u)" a "one of the linked pair"
	expect 1 nver $q
}

T05_sed_in_place_adds_one_version_and_no_litter() {
	local i
	begin
	for i in $(seq 20); do row s$i; put "colour=red $i" $M/t/s$i/f/conf; done
	works sed -i s/red/blue/ $M/t/s*/f/conf
	for i in $(seq 20); do
		is "$(history $M/t/s$i/f/conf)" "colour=blue $i colour=red $i"
	done
	again
	is "$(find $M/t -type f | wc -l)" 20 "files"
	expect 2 nver $M/t/s7/f/conf
}

one_version() { # SIZE COMMAND: exactly one more version, of that size
	local before=$(nver $q)
	eval "$2" || fail "$2: exit $?"
	is "$(($(nver $q) - before)) $(stat -c %s $q)" "1 $1" "$2"
}

T07_one_redirection_is_one_version() {
	local i
	begin f:VERSIONS=100
	printf 'name\n' > $W/hostname
	put seed $q
	one_version 3 'echo hi > $q'
	one_version 1 'printf x | tee $q > /dev/null'
	one_version 5 'cp $W/hostname $q'
	one_version 4 'cat > $q <<< abc'
	one_version 5 'dd if=$W/hostname of=$q status=none'
	one_version 10 'echo more >> $q'
	one_version 10 'sort -o $q $q'
	one_version 1 'truncate -s 1 $q'
	one_version 4 '{ echo a; echo b; } > $q'
	one_version 1 "python3 -c 'open(\"$q\", \"w\").write(\"p\")'"
	one_version 6 'exec 3> $q; echo a >&3; /bin/echo b >&3; (echo c >&3); exec 3>&-'
	is "$(for v in $(vers $q); do stat -c %s "$q@$v"; done | grep -cx 0)" 0 "empty versions"
	for i in $(seq 300); do
		echo $i > $q
		[ "$(cat $q)" = $i ] || fail "$i: an older value was read"
	done
}

T09_appenders_lose_no_line() {
	local w i
	begin f:VERSIONS=1000
	put foo $q
	echo bar >> $q
	expect $'foo\nbar' cat $q
	expect 2 nver $q
	for w in 1 2 3 4; do
		(for i in $(seq 50); do echo "w$w-$i" >> $F/l; done) &
	done
	wait
	is "$(sort -u $F/l | wc -l) $(wc -l < $F/l)" "200 200"
	expect "1400 0 200" python3 - $F/k <<-'P'
	import multiprocessing, os, sys
	def append(w):
	    fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
	    for i in range(50):
	        os.write(fd, b"w%d-%03d\n" % (w, i))
	    os.close(fd)
	tasks = [multiprocessing.Process(target=append, args=(w,)) for w in range(4)]
	for t in tasks: t.start()
	for t in tasks: t.join()
	value = open(sys.argv[1], "rb").read()
	print(len(value), value.count(b"\0"), len(set(value.splitlines())))
	P
	again
	is "$(wc -l < $F/l) $(wc -c < $F/k)" "200 1400"
}

T11_touch_and_cp_p_keep_times_without_a_version() {
	local before
	begin
	put v $q
	before=$(stat -c %y $q)
	sleep 1.1
	works touch -a $q
	expect "$before" stat -c %y $q
	works touch -d 2020-01-02T03:04:05Z $q
	expect 1577934245 stat -c %Y $q
	expect v history $q
	works touch $F/new
	expect 0 stat -c %s $F/new
	sleep .1
	expect 1 nver $F/new
	[ $(stat -c %Y $F/new) -ge $(($(date +%s) - 5)) ] || fail "new is not recent"
	echo src > $W/s
	touch -d 2019-05-06T07:08:09Z $W/s
	works cp -p $W/s $F/c
	is "$(cat $F/c) $(stat -c %Y $F/c)" "src 1557126489"
	put w $q
	expect w cat $q
	again
	expect "w v" history $q
	expect 1557126489 stat -c %Y $F/c
	is "$(find $F -type f ! -newermt 2000-01-01 | wc -l)" 0 "older than 2000"
}

T13_exclusive_creation_has_one_winner() {
	local n
	begin
	is "$(for n in $(seq 30); do
		bash -c "set -C; echo $n > $F/lock" 2>/dev/null && echo win &
	done | wc -l)" 1 "winners of O_EXCL"
	expect 1 nver $F/lock
	is "$(for n in $(seq 30); do
		mkdir $M/t/lock 2>/dev/null && echo win &
	done | wc -l)" 1 "winners of mkdir"
	works rmdir $M/t/lock
	is "$(for n in $(seq 50); do (echo x >> $F/fresh$((n % 5))) 2>&1 & done)" "" "plain creation"
	sleep .5
	is "$(cat $F/fresh? | wc -l)" 50 "lines"
	put 1 $F/a; put 2 $F/b
	mv -n $F/a $F/b
	expect $'1\n2' cat $F/a $F/b
	works mv $F/a $F/b
	expect "1 2" history $F/b
	absent $F/a
}

T15_truncate_grow_holes_and_preallocation() {
	begin f:VERSIONS=50
	printf AAAAAAAAAAAAAAAAAAAA > $q
	printf BB > $q
	expect BB cat $q
	expect AAAAAAAAAAAAAAAAAAAA cat "$(nth $q 2)"
	printf 0123456789 > $q
	one_version 4 "python3 -c 'import os; os.truncate(\"$q\", 4)'"
	expect 0123 cat $q
	one_version 8 'truncate -s 8 $q'
	expect "   0   1   2   3  \0  \0  \0  \0" od -An -c $q
	printf Z | dd of=$F/h bs=1 seek=9999 status=none
	is "$(stat -c %s $F/h) $(tr -d '\0' < $F/h)" "10000 Z"
	works fallocate -l 100000 $q
	is "$(stat -c %s $q) $(tr -d '\0' < $q)" "100000 0123"
	refused "unsupported" fallocate -p -o 0 -l 4 $q
	expect xy python3 - $F/t <<-'P'
	import os, sys
	fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
	os.write(fd, b"abcdef")
	os.ftruncate(fd, 0)
	os.pwrite(fd, b"xy", 0)
	os.close(fd)
	print(open(sys.argv[1]).read())
	P
	again
	is "$(stat -c %s $F/h) $(cat $F/t) $(nver $F/t)" "10000 xy 1"
}

T18_whole_rows_are_copied_by_every_tool() {
	local r
	begin f:VERSIONS=3 g:VERSIONS=3
	works mkdir $M/t/r1/g
	put a $F/a; put b $M/t/r1/g/b
	works cp -r $M/t/r1 $M/t/r2
	works cp -a $M/t/r1 $M/t/r3
	mkdir $W/out
	works cp -r $M/t/r1 $W/out/
	works cp -r $W/out/r1 $M/t/r4
	tar cf - -C $M/t r1 | works tar xf - -C $M/t --transform s/^r1/r5/
	works rsync -a $M/t/r1/ $M/t/r6/
	works mkdir $M/t/r7
	works mkdir $M/t/r7/f
	refused "Operation not permitted" mkdir $M/t/r7/nosuch
	expect f ls $M/t/r7
	for r in 2 3 4 5 6; do
		expect $'a\nb' cat $M/t/r$r/f/a $M/t/r$r/g/b
		expect 1 nver $M/t/r$r/f/a
	done
	works rm -r $M/t/r2
	is "$(ls $M/t | tr '\n' ' ')" "r1 r3 r4 r5 r6 r7 "
}
