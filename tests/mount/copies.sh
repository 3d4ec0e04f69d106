# Backup and restore by ordinary programs: out to another file system, and
# back into a fresh store. estate.py makes what they carry.

sent() { rsync -aHAXi --delete "$@"; } # prints what it transfers or changes

fresh() { # a mount of an empty store named so
	S=$W/$1
	works up 2> $W/said
}

estate() { works python3 $HERE/estate.py $M "$@"; }

settled() { # FROM TO: another run has nothing to say, also after a remount
	expect "" sent $1 $2
	again
	expect "" sent $1 $2
}

# What a store holds, but for timestamps.
held() {
	local t
	for t in $("$CELLFS" list "$1"); do
		echo "table $t"
		"$CELLFS" schema "$1" "$t"
		"$CELLFS" scan "$1" "$t" | cut -f1,2,4
	done
}

same_held() { # ROWS STORE STORE: both hold the same, and that many lines
	held $2 > $W/held
	held $3 > $W/held.other
	works cmp $W/held $W/held.other
	[ $(wc -l < $W/held) -gt $1 ] || fail "only $(wc -l < $W/held) lines were compared"
}

C01_rsync_backs_up_and_restores_all_there_is() {
	root
	need rsync
	fresh store
	estate 50
	works sent $M/ $W/backup/ > $W/said
	settled $M/ $W/backup/
	down
	fresh second
	works sent $W/backup/ $M/ > $W/said
	settled $W/backup/ $M/
	expect "" sent $M/ $W/backup/
	down
	same_held 500 $W/store $W/second
}

C02_a_restore_over_a_changed_store_converges_in_one_run() {
	root
	need rsync
	fresh store
	estate 50
	works sent $M/ $W/backup/ > $W/said
	down
	cp -a $W/store $W/second
	fresh second
	estate change
	works sent $W/backup/ $M/ > $W/said
	[ $(wc -l < $W/said) -gt 20 ] || fail "little had changed"
	settled $W/backup/ $M/
	down
	same_held 500 $W/store $W/second
	fresh second
	estate change
	works sent $M/ $W/backup/ > $W/said
	settled $M/ $W/backup/
	expect "" sent $W/backup/ $M/
}

# A backup on ext4, from a tree whose times for the most part nothing ever set.
C03_many_rows_are_backed_up_and_restored() {
	local rows=${ROWS:-2000}
	root
	need rsync mkfs.ext4
	mkdir $W/backup
	truncate -s 4G $W/disk
	works mkfs.ext4 -q $W/disk
	works mount -o loop $W/disk $W/backup
	works rmdir $W/backup/lost+found
	fresh store
	estate $rows
	works sent $M/ $W/backup/ > $W/said
	settled $M/ $W/backup/
	down
	fresh second
	works sent $W/backup/ $M/ > $W/said
	settled $W/backup/ $M/
	down
	same_held $rows $W/store $W/second
}

dated() { (cd $M && find . -type d -printf '%T+ %p\n' | sort -k 2); }

# Nothing set them: they are of the last change in each directory.
C05_times_of_directories_outlive_mount_and_daemon() {
	local d
	create t f
	up
	for d in a b c; do
		mkdir -p $M/t/$d/f $M/open/$d/g
		echo $d > $M/t/$d/f/q
		echo $d > $M/open/$d/g/.q
		works mkdir $M/t/$d/f/.dots
		: > $M/t/$d/f/.dots/x
	done
	rm $M/t/b/f/q
	rmdir $M/t/c/f 2> $W/said
	mv $M/t/a/f/q $M/t/c/f/moved
	mv $M/open/c $M/open/d
	: > $M/.schema/.dot
	dated > $W/dated
	again
	expect "" diff $W/dated <(dated)
	again -o ro
	expect "" diff $W/dated <(dated)
	again
	echo new > $M/t/a/f/new
	mkdir $M/open/e
	dated > $W/dated
	works python3 -c 'import os, sys; os.fsync(os.open(sys.argv[1], os.O_RDONLY))' $M/t
	recover
	expect "" diff $W/dated <(dated)
}

# cp and tar keep times but for those of the directories they are given.
C04_tar_and_cp_carry_the_same() {
	root
	need rsync tar
	fresh store
	estate 50
	mkdir $W/tarred
	tar cf $W/all.tar -C $M . || fail "tar c: exit $?"
	works tar xpf $W/all.tar -C $W/tarred
	expect "" sent $M/ $W/tarred/
	works cp -a $M/. $W/copied
	expect "" sent $M/ $W/copied/
	down
	fresh second
	works tar xpf $W/all.tar -C $M
	expect "" sent $W/tarred/ $M/
	down
	same_held 500 $W/store $W/second
	fresh third
	works cp -a $W/copied/. $M
	expect "" sent $W/copied/ $M/
	down
	same_held 500 $W/store $W/third
}
