# Every refusal: by which call, with which errno, and the sentence in
# user.cellfs.error and .cellfs/log.

refusals() { works python3 $HERE/refusals.py $M "$@"; }

R01_every_refusal_comes_in_time_and_with_a_sentence() {
	root
	create t f:VERSIONS=2,MAX_CELL_SIZE=100000 g
	create u
	works up
	refusals prepare names kinds renames removals values schemas verbs
}

told() { # PART: the last refusal says so, by both ways
	local error
	error=$(getfattr --absolute-names --only-values -n user.cellfs.error $M)
	case $error in
	*"$1"*) ;;
	*) fail "user.cellfs.error is [$error], expected [$1]" ;;
	esac
	tail -n 1 $M/.cellfs/log | grep -qF -- "$1" || fail "the log does not end with [$1]"
}

R02_a_full_disk_is_told_of_when_a_file_is_opened() {
	root
	need getfattr
	mkdir $S
	works mount -t tmpfs -o size=64m none $S
	begin
	put kept $q
	! dd if=/dev/zero of=$S/stranger bs=1M 2> /dev/null || fail "not full"
	refused "No space left on device" python3 -c "import os; os.open('$F/new', os.O_CREAT | os.O_WRONLY)"
	told "the disk is full"
	refused "No space left on device" python3 -c "import os; os.open('$q', os.O_WRONLY)"
	told "no room on the file system of $S"
	refused "No space left on device" mkdir $M/t/r2
	told "the disk is full"
	refused "No space left on device" chmod 600 $q
	told "the disk is full"
	refused "No space left on device" mv $q $F/p
	told "the disk is full"
	works rm $S/stranger
	sleep 1
	put "written again" $q
	expect "written again kept" history $q
	expect q names $F
}

R03_damage_names_the_table_and_what_to_run() {
	local big
	need getfattr
	begin
	python3 -c "
import os
for i in range(500): open('$F/c%d' % i, 'wb').write(os.urandom(3000))"
	down
	big=$(ls -S $S/*.wt | head -1)
	dd if=/dev/urandom of=$big bs=4k seek=20 count=200 conv=notrunc status=none
	works up
	refused "Input/output error" cat $F/c*
	told "cellfs check"
	works grep -q "$(basename $big)" $M/.cellfs/log
}

R04_modes_and_a_read_only_mount_are_the_kernels_to_refuse() {
	root
	begin
	put x $q
	chmod 600 $q
	again -o allow_other
	chmod 711 $W
	as() { setpriv --reuid 1000 --clear-groups "$@"; }
	refused "Permission denied" as cat $q
	refused "Permission denied" as touch $F/new
	refused "Permission denied" as mkdir $M/t/r2
	refused "Permission denied" as rm -f $q
	refused "Operation not permitted" as chmod 644 $q
	refused "Permission denied" as sh -c "echo checkpoint > $M/.cellfs/control"
	again -o ro
	refused "Read-only file system" touch $F/new
	refused "Read-only file system" python3 -c "open('$q', 'r+')"
	refused "Read-only file system" truncate -s 0 $q
	refused "Read-only file system" rm -f $q
	refused "Read-only file system" mkdir $M/t/r2
	refused "Read-only file system" rmdir $M/t
	refused "Read-only file system" mv $q $F/p
	refused "Read-only file system" chmod 644 $q
	refused "Read-only file system" touch -d 2020-01-01 $q
	refused "Read-only file system" sh -c "echo checkpoint > $M/.cellfs/control"
	refused "Read-only file system" sh -c "echo 'family g' >> $M/.schema/t"
	expect x history $q
}

R05_the_log_says_which_file_and_says_it_once() {
	local part before view dir
	create t f:VERSIONS=5,MAX_CELL_SIZE=10
	create u f:VERSIONS=5,MAX_CELL_SIZE=10
	works up
	part=$(printf 'x%.0s' $(seq 254))%
	works mkdir -p $M/u/a%2Fb/f $M/u/$part/yyyy/f
	said() { is "$(tail -n 1 $M/.cellfs/log | cut -d ' ' -f 2-)" "$1: $2"; }
	before=$(wc -l < $M/.cellfs/log)
	refused "File too large" bash -c "echo 0123456789abc > $M/u/a%2Fb/f/%40"
	said u/a%2Fb/f/%40 "14 bytes: the family's max_cell_size is 10"
	is "$(wc -l < $M/.cellfs/log)" $((before + 1)) "of the write and the close"
	put 1 $M/u/a%2Fb/f/%40
	put 1 $M/u/$part/yyyy/f/q
	view=u/.from/a/.to/$(printf 'z%.0s' $(seq 300))
	for dir in "" u u/a%2Fb u/a%2Fb/f u/$part u/$part/yyyy/f u/a%2Fb/f/%40@ .schema .cellfs \
		u/.since $view $view/a%2Fb $view/a%2Fb/f $view/$part $view/$part/yyyy/f; do
		refused "Operation not permitted" ln -s x $M/$dir/link
		said ${dir:+$dir/}link "symbolic links do not exist here"
	done
	before=$(wc -l < $M/.cellfs/log)
	refused "No such file" cat $M/.schema/usres
	refused "No such file" cat $M/t/r
	refused "No such file" rmdir $M/t/r
	is "$(wc -l < $M/.cellfs/log)" $before "ordinary lines"
}
