# What the tree promises beyond single programs: cp, mv, rm, find, names of
# versions, counters, schema, modes, dot files, control.

U01_cp_makes_one_version_and_keeps_what_it_is_told() {
	begin
	put one $q
	echo two > $W/two
	chmod 640 $W/two
	touch -d 2020-02-03T04:05:06Z $W/two
	works cp $W/two $q
	expect "two one" history $q
	works cp -a $W/two $F/a
	expect "640 1580702706" stat -c '%a %Y' $F/a
	works cp $q $F/b
	expect two history $F/b
	works cp -n $W/two $q
	expect 2 nver $q
	works cp $q $W/out
	works cmp $q $W/out
	works cp -a $F/a $W/a
	expect "640 1580702706" stat -c '%a %Y' $W/a
}

U02_mv_carries_the_history_to_a_free_name() {
	begin f:VERSIONS=5 g:VERSIONS=5
	put a $q; put b $q; put c $q
	works mv $q $F/free
	expect "c b a" history $F/free
	absent $q
	works mkdir -p $M/t/r2/g
	works mv $F/free $M/t/r2/g/q
	expect "c b a" history $M/t/r2/g/q
	put x $F/x; put y $F/x
	works mv $F/x $M/t/r2/g/q
	expect "y c b a" history $M/t/r2/g/q
	absent $F/x
	works mv $M/t/r2 $M/t/r3
	expect "y c b a" history $M/t/r3/g/q
	refused "No such file" ls $M/t/r2
	works mkdir $M/t/r1/g
	works mv -T $M/t/r3/g $M/t/r1/g
	expect "y c b a" history $M/t/r1/g/q
	again
	expect "y c b a" history $M/t/r1/g/q
	works mv $M/t $M/t2
	expect t2 ls $M
	expect t2 ls $M/.schema
	expect "y c b a" history $M/t2/r1/g/q
}

U03_mv_from_and_to_another_file_system() {
	begin
	put old $q
	echo new > $W/new
	works mv $W/new $q
	expect "new old" history $q
	[ ! -e $W/new ] || fail "the source is still there"
	works mv $q $W/back
	expect new cat $W/back
	absent $q
}

U04_rename_across_levels_and_onto_what_is_full_is_refused() {
	begin
	put a $q
	row r2
	put b $M/t/r2/f/q
	refused "Directory not empty" rename $M/t/r1 $M/t/r2
	refused "Invalid argument" rename $q $M/t/r1/q
	refused "Invalid argument" rename $M/t/r1 $M/r1
	refused "Is a directory" rename $q $M/t/r2/f
	expect a cat $q
	expect b cat $M/t/r2/f/q
}

rename() { python3 -c 'import os, sys
try: os.rename(*sys.argv[1:])
except OSError as e: sys.exit(e.strerror)' "$1" "$2"; }

U05_find_sees_sizes_times_and_kinds() {
	local i
	begin
	for i in 1 10 100 1000; do head -c $i /dev/zero > $F/n$i; done
	touch -d 2001-01-01 $F/n10
	expect "$F/n1000" find $M/t -type f -size +100c
	expect "$F/n10" find $M/t -type f ! -newermt 2010-01-01
	expect $'r1\nr1/f' find $M/t -mindepth 1 -type d -printf '%P\n'
	works find $F -name 'n1*' -delete
	empty $F
	expect $F find $M/t -type d -empty
}

U06_a_tar_of_the_mount_restores_schema_and_cells() {
	local i
	begin f:VERSIONS=2 "g:VERSIONS=4,COMPRESSION=NONE"
	for i in $(seq 20); do
		works mkdir -p $M/t/row$i/{f,g}
		put f$i $M/t/row$i/f/a%2Fb; put g$i $M/t/row$i/g/q
	done
	chmod 600 $M/t/row3/f/a%2Fb
	works tar cf $W/all.tar -C $M .
	mkdir $W/copy
	works tar xf $W/all.tar -C $W/copy
	works diff -r $M $W/copy
	S=$W/second
	again
	works tar xf $W/all.tar -C $M
	works diff -r $M $W/copy
	expect 600 stat -c %a $M/t/row3/f/a%2Fb
	works grep -q '^family g versions=4 .*compression=none' $M/.schema/t
	expect "" rsync -ain $W/copy/ $M/
}

U07_rsync_of_the_whole_mount_out_and_into_a_new_store() {
	local i
	begin f:VERSIONS=2 g
	for i in $(seq 50); do row row$i; put f$i $M/t/row$i/f/q; done
	works rsync -a $M/ $W/copy/
	expect "" rsync -ai $M/ $W/copy/
	works rm -r $M/t/row7
	works rsync -a --delete $M/ $W/copy/
	[ ! -e $W/copy/t/row7 ] || fail "--delete left a row"
	S=$W/second
	again
	works rsync -a $W/copy/ $M/
	expect "" rsync -ai $W/copy/ $M/
	expect f8 history $M/t/row8/f/q
	works diff -r $M $W/copy
}

U08_python_writers_leave_one_version_each() {
	begin f:VERSIONS=100
	put 0123456789 $q
	one() { # SIZE CODE: runs with q; one more version of that size
		local before=$(nver $q)
		works python3 -c "import os, mmap, tempfile; q = '$q'
$2"
		is "$(($(nver $q) - before)) $(stat -c %s $q)" "1 $1" "$2"
	}
	one 3 "open(q, 'w').write('new')"
	one 6 "open(q, 'a').write('add')"
	one 6 "f = open(q, 'r+'); f.write('N'); f.close()"
	expect Newadd cat $q
	one 4 "f = open(q, 'w+'); f.write('back'); f.seek(0); assert f.read() == 'back'"
	one 5 "
f = open(q, 'w', buffering=1)
for i in range(5):
    f.write(str(i)); f.flush(); os.fsync(f.fileno())"
	one 8 "f = open(q + 'x', 'w'); f.write('replaced'); f.close(); os.replace(q + 'x', q)"
	one 8 "f = open(q, 'r+b'); m = mmap.mmap(f.fileno(), 8); m[0:2] = b'MM'; m.close(); f.close()"
	expect MMplaced cat $q
	one 6 "
f = tempfile.NamedTemporaryFile('w', dir=os.path.dirname(q), delete=False)
f.write('atomic'); f.close(); os.rename(f.name, q)"
	one 10 "
fd = os.open(q, os.O_WRONLY | os.O_TRUNC)
for i in range(10): os.pwrite(fd, b'%d' % i, i)
os.close(fd)"
	expect q names $F
	refused "FileExistsError" python3 -c "open('$q', 'x')"
	expect 10 nver $q
}

U09_what_saves_through_a_backup_name_keeps_the_history() {
	begin
	put red $q; put "red two" $q
	works sed -i.bak s/red/blue/ $q
	expect "blue two red two red" history $q
	expect "red two" cat $q.bak
	works rm $q.bak
	tar cf $W/q.tar -C $F q
	put other $q
	works tar xf $W/q.tar -C $F
	is "$(vers $q | wc -l) $(cat $q)" "5 blue two"
	works rm $q
	absent $q
	again
	absent $q
}

U10_names_with_an_at_reach_versions() {
	begin
	put a "$q@100"; put b "$q@200"; put c "$q@300"
	expect $'300\n200\n100' vers $q
	expect c cat "$q@~0"
	expect a cat "$q@~2"
	absent "$q@~3"
	refused "" write_at "$q@~1"
	expect b cat "$q@200"
	expect 0.100 stat -c %.3Y "$q@100"
	works rm "$q@300"
	expect b cat $q
	put B "$q@200"
	expect "B a" history $q
	expect q names $F
	put d $F/d
	works mv $F/d "$q@150"
	expect "B d a" history $q
	absent $F/d
	python3 -c "for i in range(5): open('$q@%d' % (1000 + i), 'w').write('x')"
	expect 5 nver $q
	refused "Disk quota exceeded" write_at "$q@50"
}

write_at() { echo no > "$1"; }

U11_counters_add_and_refuse_what_is_none() {
	begin
	echo 4 > $q@counter
	echo 38 > $q@counter
	expect 42 cat $q@counter
	expect 8 stat -c %s $q
	echo -50 > $q@counter
	expect -8 cat $q@counter
	refused "Invalid argument" write_at "$q@counter"
	expect -8 cat $q@counter
	put text $F/text
	refused "Invalid argument" cat $F/text@counter
	expect text cat $F/text
	expect $'q\ntext' names $F
}

U12_the_schema_file_declares_alters_and_refuses() {
	begin f:VERSIONS=3
	expect t ls $M/.schema
	works grep -q '^table open=0$' $M/.schema/t
	works grep -q '^family f versions=3 .*compression=snappy' $M/.schema/t
	refused "Operation not permitted" mkdir $M/t/r1/log
	echo 'family log versions=10' >> $M/.schema/t || fail "not appended"
	works mkdir $M/t/r1/log
	put x $M/t/r1/log/q
	put a $q; put b $q; put c $q
	refused "Invalid argument" append 'family f version=2' $M/.schema/t
	expect "c b a" history $q
	works append 'family f versions=2' $M/.schema/t
	expect "c b" history $q
	works append 'family f versions=3' $M/.schema/t
	expect "c b" history $q
	refused "Operation not permitted" rm $M/.schema/t
	echo 'family a' > $M/.schema/new || fail "not created"
	expect $'new\nt' ls $M
	again
	works grep -q '^family log versions=10 ' $M/.schema/t
	works rm $M/.schema/new
	expect t ls $M
}

append() { echo "$1" >> "$2"; }

U13_an_open_table_declares_by_the_first_cell() {
	local i
	begin
	works mkdir $M/free
	works grep -q '^table open=1' $M/.schema/free
	works mkdir -p $M/free/row/any
	! grep -q '^family any' $M/.schema/free || fail "declared by mkdir"
	put x $M/free/row/any/q
	works grep -q '^family any' $M/.schema/free
	for i in $(seq 31); do
		works mkdir -p $M/free/row/f$i
		put $i $M/free/row/f$i/q
	done
	works mkdir -p $M/free/row/late
	refused "Disk quota exceeded" append x $M/free/row/late/q
	works rm -r $M/free/row
	works rmdir $M/free
	expect t ls $M
}

U14_kept_directories_stay_and_others_go_with_their_cells() {
	begin f g
	expect f ls $M/t/r1
	again
	expect f ls $M/t/r1
	put x $q
	works rm $q
	expect f ls $M/t/r1
	works rmdir $F
	expect r1 ls $M/t
	empty $M/t/r1
	works rmdir $M/t/r1
	empty $M/t
	row r2
	down
	works "$CELLFS" put $S t r3 f:q v
	works "$CELLFS" deleteall $S t r3
	works up
	expect r2 ls $M/t
}

U15_dot_files_are_files_beside_the_cells() {
	begin
	put x $q
	put tmp $F/.q.swp
	expect $'.q.swp\nq' sorted $F
	again
	expect tmp cat $F/.q.swp
	refused "Operation not permitted" write_dot $F/.cells
	works mkdir $F/.partial
	put deep $F/.partial/q
	expect deep cat $F/.partial/q
	works mv $F/.q.swp $q
	expect "tmp x" history $q
	refused "Operation not permitted" mv $q $F/.gone
	works rm -r $F/.partial
	expect q names $F
	down
	is "$("$CELLFS" scan $S t | cut -f1,2)" $'r1\tf:q' "scan"
}

write_dot() { echo x > "$1"; }
sorted() { names $1 | sort; }

U16_modes_owners_and_times_are_kept() {
	local before
	root
	begin
	(umask 027; echo x > $q; mkdir -p $M/t/r2/f)
	expect 640 stat -c %a $q
	expect 750 stat -c %a $M/t/r2
	works chmod 4711 $q
	works chown 1:2 $q
	touch -d 2001-02-03T04:05:06.789Z $M/t/r2 $M/t $F
	works chmod 700 $M/t/r2
	put y $q
	expect "711 1:2" stat -c '%a %u:%g' $q
	again
	expect "711 1:2" stat -c '%a %u:%g' $q
	expect "700 981173106" stat -c '%a %Y' $M/t/r2
	expect $'755\n755' stat -c %a $M $M/.schema
	again -o allow_other
	chmod 711 $W
	expect $'r1\nr2' setpriv --reuid 1000 --clear-groups ls $M/t
	refused "Permission denied" setpriv --reuid 1000 --clear-groups ls $M/t/r2
}

U17_stat_tells_the_truth() {
	local ino
	begin
	head -c 5000 /dev/zero > $q
	is "$(stat -c '%s %h %F' $q)" "5000 1 regular file"
	[ $(du -k $q | cut -f1) -ge 4 ] || fail "du"
	ino=$(stat -c %i $q $F $M/t/r1 $M/t | tr '\n' ' ')
	is "$(stat -c %i $q)" "$(ls -i $F | awk '{ print $1 }')" "readdir and getattr"
	again
	is "$(stat -c %i $q $F $M/t/r1 $M/t | tr '\n' ' ')" "$ino" "inodes after a remount"
	[ $(df --output=avail $M | tail -1) -gt 1000 ] || fail "df"
	expect 2 stat -c %i $M/.schema
	is "$(ls -Ua $M | grep -v '^\.\.*$' | head -1)" .schema "listed first"
}

U18_attributes_answer_but_are_not_listed() {
	need getfattr
	begin
	put a "$q@100"; put b "$q@200"
	xattr() { getfattr --only-values -n user.cellfs.$1 "$2" 2>/dev/null; }
	expect 200 xattr timestamp $q
	expect 100 xattr timestamp "$q@100"
	expect 2 xattr versions $q
	expect r1 xattr row $q
	expect f xattr family $q
	expect q xattr qualifier $q
	expect 71 xattr key $q
	expect "" getfattr -d $q
}

U19_files_and_directories_stand_at_their_level_only() {
	begin
	refused "Operation not permitted" write_at $M/file
	refused "Operation not permitted" write_at $M/t/file
	refused "Operation not permitted" write_at $M/t/r1/file
	refused "Operation not permitted" mkdir $F/directory
	refused "Invalid argument" mkdir $M/t/%zz
	refused "Operation not permitted" mkdir $M/t/.dot
	refused "File exists" mkdir $M/t/r1
	expect r1 ls $M/t
}

U20_control_and_what_it_says() {
	begin
	put x $q
	expect "$DPID" cat $M/.cellfs/pid
	works grep -q . $M/.cellfs/version
	expect "" malformed $M/.cellfs/stats
	works control checkpoint
	refused "Invalid argument" control nonsense
	works grep -q nonsense $M/.cellfs/log
	expect 600 stat -c %a $M/.cellfs/control
	works control truncate t
	empty $M/t
	works grep -q '^family f' $M/.schema/t
	works control drop t
	expect "" ls $M
	refused "No such file" control drop t
}

malformed() { grep -vE '^[a-z_]+ [0-9]+$' "$1"; }

U21_a_read_only_mount_refuses_every_change() {
	begin
	put x $q
	down
	works up -o ro
	expect x cat $q
	refused "Read-only file system" touch $F/new
	refused "Read-only file system" rm $q
	refused "Read-only file system" mkdir $M/t/r2
	refused "Read-only file system" mv $q $F/p
	refused "Read-only file system" write_at $q
	again
	expect x history $q
}

U22_a_value_above_the_limit_is_refused_and_not_stored() {
	begin f:MAX_CELL_SIZE=100000,VERSIONS=3
	head -c 100000 /dev/urandom > $W/fits
	head -c 100001 /dev/urandom > $W/large
	works cp $W/fits $q
	works cmp $W/fits $q
	refused "File too large" cp $W/large $q
	works cmp $W/fits $q
	expect 1 nver $q
	refused "File too large" truncate -s 100001 $q
	again
	works cmp $W/fits $q
}

U23_values_of_every_size_come_back_whole() {
	local n
	begin f:VERSIONS=2
	for n in 0 1 4095 4096 8191 8192 8193 65536 1048575 1048576 1048577 5000000; do
		head -c $n /dev/urandom > $W/v$n
		works cp $W/v$n $F/v$n
	done
	again
	for n in 0 1 4095 4096 8191 8192 8193 65536 1048575 1048576 1048577 5000000; do
		works cmp $W/v$n $F/v$n
		expect $n stat -c %s $F/v$n
	done
	is "$(tail -c +4000001 $F/v5000000 | sha256sum)" "$(tail -c +4000001 $W/v5000000 | sha256sum)"
}

U24_an_unlinked_open_file_lives_until_its_close() {
	begin
	put x $q
	expect $'x\n2' python3 - $q <<-'P'
	import os, sys
	f = open(sys.argv[1], "r+")
	os.unlink(sys.argv[1])
	print(f.read(), end="")
	print(os.fstat(f.fileno()).st_size)
	f.write("void")
	f.close()
	P
	absent $q
	again
	absent $q
}

U25_who_opens_while_another_writes_sees_the_version_before() {
	begin f:VERSIONS=3
	put before $q
	expect $'7 before\n7 before\n9 after it' python3 - $q <<-'P'
	import os, subprocess, sys
	def show(name=sys.argv[1]):
	    size = subprocess.run(["stat", "-c", "%s", name], text=True,
	                          capture_output=True).stdout.strip()
	    value = subprocess.run(["cat", name], text=True,
	                           capture_output=True).stdout.strip()
	    print(size, value)
	fd = os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC)
	show()
	os.write(fd, b"after")
	show()
	os.write(fd, b" it\n")
	os.close(fd)
	show()
	P
	expect 2 nver $q
}
