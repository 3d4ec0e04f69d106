# Life of the daemon: killed, stopped, doubled, starved, damaged, started oddly.

D01_a_killed_daemon_costs_no_closed_file() {
	local i
	begin
	for i in $(seq 100); do put $i $F/c$i; done
	exec 4> $F/open
	echo part >&4
	kill -9 $DPID
	gone
	refused "Transport endpoint is not connected" cat $F/c1
	refused "Transport endpoint is not connected" ls $M
	exec 4>&-
	if ! up 2> $W/said; then
		is "$(grep -c 'fusermount3 -u' $W/said)" 1 "what to run"
		works fusermount3 -u $M
		works up
	fi
	expect 101 count $F
	for i in $(seq 100); do expect $i cat $F/c$i; done
	expect part cat $F/open
	put more $F/c1
	expect "more 1" history $F/c1
	works grep -qi recover $M/.cellfs/log
}

D03_a_store_is_mounted_once() {
	begin
	put first $q
	mkdir $W/m2
	ln -s $S $W/alias
	for store in $S $W/alias; do
		refused "$DPID" timeout 10 "$CELLFS" mount $store $W/m2
		refused "$M" timeout 10 "$CELLFS" mount -o ro $store $W/m2
		is $RC 3 "exit status"
		works mountpoint -q $M
		! mountpoint -q $W/m2 || fail "mounted twice"
	done
	refused "$DPID" timeout 10 "$CELLFS" create $S t9 f
	is $RC 3 "exit status"
	put second $q
	expect second cat $q
	again
	expect second cat $q
	expect t ls $M
}

filled() { # writes cells of 1 MiB of noise until one is refused; how many stood
	local i
	for i in $(seq 200); do
		head -c 1M /dev/urandom > $W/noise
		sha256sum < $W/noise > $W/sum$i
		cp $W/noise $F/c$i 2> $W/said || break
	done
	echo $((i - 1))
}

check_sums() { # of the first N cells
	local i bad=
	for i in $(seq $1); do
		cat $F/c$i 2>&1 | sha256sum | cmp -s - $W/sum$i || bad="$bad $i"
	done
	is "$bad" "" "cells that are not what was written"
}

D05_a_full_disk_refuses_writes_and_recovers_by_itself() {
	local n
	root
	mkdir $S
	works mount -t tmpfs -o size=64m none $S
	begin f:VERSIONS=1
	n=$(filled)
	[ $n -ge 8 ] && [ $n -lt 65 ] || fail "$n MiB went into 64"
	works grep -q "No space left on device" $W/said
	absent $F/c$((n + 1))
	check_sums $n
	kill -0 $DPID || fail "the daemon has ended"
	works mount -o remount,size=256m $S
	sleep 1
	works cp $W/noise $F/after
	again
	check_sums $n
	works cp $W/noise $F/after2
	works cmp $W/noise $F/after2
}

D06_a_disk_filled_by_a_stranger_stops_writes_only() {
	local i
	root
	need mkfs.ext4
	mkdir $S
	truncate -s 256M $W/disk
	works mkfs.ext4 -q -m 0 $W/disk
	works mount -o loop $W/disk $S
	mkdir $S/store
	S=$S/store
	begin f:VERSIONS=3
	for i in $(seq 50); do
		echo "value $i" | tee $W/v | sha256sum > $W/sum$i
		works cp $W/v $F/c$i
	done
	dd if=/dev/zero of=$W/store/stranger bs=1M 2> /dev/null
	! head -c 1M /dev/zero 2> /dev/null > $W/store/stranger2 || fail "not full"
	refused "No space left on device" cp $W/v $F/more
	check_sums 50
	recover
	check_sums 50
	refused "No space left on device" cp $W/v $F/more
	works rm $W/store/stranger
	sleep 1
	works cp $W/v $F/more
	expect "value 50" cat $F/more
	check_sums 50
}

D07_a_signal_ends_the_daemon_and_loses_nothing() {
	local sig i writer lost
	begin
	for sig in TERM INT HUP; do
		: > $W/acked
		(
			i=0
			while i=$((i + 1)); do
				echo $sig$i > $W/value
				cp $W/value $F/$sig$i || exit
				echo $i >> $W/acked
			done
		) 2>/dev/null &
		writer=$!
		sleep 1
		kill -$sig $DPID
		gone
		wait $writer
		! mountpoint -q $M || fail "$sig: still mounted"
		works up
		lost=0
		while read -r i; do
			[ "$(cat $F/$sig$i)" = $sig$i ] || lost=$((lost + 1))
		done < $W/acked
		is $lost 0 "$sig: lost"
		[ -s $W/acked ] || fail "$sig: nothing was written"
		! grep -qi "recovered" $M/.cellfs/log || fail "$sig: needed recovery"
	done
}

# Copies the good store back, lets the command damage it, mounts and reads.
# Leaves RC of the mount, RIGHT, WRONG and LOST (refused with EIO).
damaged() {
	rm -rf $S
	cp -a $W/good $S
	(cd $S && eval "$1") || fail "$1: could not"
	RIGHT=0 WRONG=0 LOST=0
	timeout 60 "$CELLFS" mount $S $M 2> $W/said
	RC=$?
	[ $RC -eq 0 ] || return
	DPID=$(cat $M/.cellfs/pid)
	eval "$(python3 - $F $W/sums <<-'P'
	import errno, hashlib, json, sys
	count = dict(RIGHT=0, WRONG=0, LOST=0)
	for name, want in json.load(open(sys.argv[2])).items():
	    try:
	        value = open(sys.argv[1] + "/" + name, "rb").read()
	    except OSError as e:
	        count["LOST" if e.errno == errno.EIO else "WRONG"] += 1
	    else:
	        right = hashlib.md5(value).hexdigest() == want
	        count["RIGHT" if right else "WRONG"] += 1
	print(*("%s=%d" % c for c in count.items()))
	P
	)"
	down
}

D09_damage_is_never_served_as_data() {
	local big
	begin
	python3 - $F > $W/sums <<-'P'
	import base64, hashlib, json, os, sys
	sums = {}
	for i in range(2000):
	    value = base64.b64encode(os.urandom(3000))
	    open("%s/c%d" % (sys.argv[1], i), "wb").write(value)
	    sums["c%d" % i] = hashlib.md5(value).hexdigest()
	print(json.dumps(sums))
	P
	down
	cp -a $S $W/good
	big=$(cd $W/good && find . -type f -name '*.wt' -size +1M -printf '%s %f\n' | sort -rn | sed 's/.* //;q')

	damaged "dd if=/dev/urandom of=$big bs=4k seek=100 count=4 conv=notrunc status=none"
	is $RC 0 "mount with a damaged leaf"
	is $WRONG 0 "wrong after a damaged leaf"
	[ $LOST -ge 1 ] && [ $LOST -le 100 ] || fail "$LOST cells lost by four blocks"
	is $((RIGHT + LOST)) 2000

	for damage in "truncate -s 4M $big" "truncate -s 100000 $big" "rm $big"; do
		damaged "$damage"
		is $WRONG 0 "wrong after $damage"
		[ $RC -ne 0 ] || [ $LOST -gt 0 ] || fail "$damage: not noticed"
		[ $RC -ne 124 ] || fail "$damage: mount hangs"
		[ $RC -eq 0 ] || [ -s $W/said ] || fail "$damage: refused without a word"
	done
	for damage in "rm WiredTiger.turtle" "rm WiredTiger.wt"; do
		damaged "$damage"
		is $RC 3 "mount after $damage"
		[ -s $W/said ] || fail "$damage: refused without a word"
		is "$(cd $S && sha256sum < $big)" "$(cd $W/good && sha256sum < $big)" "$damage: the table"
	done
	damaged :
	is "$RC $RIGHT $WRONG $LOST" "0 2000 0 0" "the store as it was"
}

D11_the_last_write_wins_when_the_clock_goes_back() {
	local real=$CELLFS before
	need faketime
	begin
	put A $q
	before=$(vers $q)
	down
	printf '#!/bin/sh\nexec faketime -f -1h %s "$@"\n' "$real" > $W/late
	chmod +x $W/late
	CELLFS=$W/late
	works up
	expect A cat $q
	put B $q
	expect B cat $q
	is "$(vers $q | tr '\n' ' ')" "$((before + 1)) $before " "versions"
	works rm $q
	absent $q
	put C $q
	expect C history $q
	down
	CELLFS=$real
	works up
	expect C cat $q
	put D $q
	expect "D C" history $q
	is "$(vers $q)" "$(vers $q | sort -rn)" "newest first"
}

D13_a_script_starts_it_by_relative_names_and_keeps_its_descriptors() {
	local out i
	need flock
	begin
	put v $q
	down
	cd $W
	exec 9> lock
	flock 9
	out=$(timeout 20 "$CELLFS" mount store mnt 2>&1)
	is "$? [$out]" "0 []" "mount"
	exec 9>&-
	works flock -n lock true
	DPID=$(cat mnt/.cellfs/pid)
	expect v cat mnt/t/r1/f/q
	put w mnt/t/r1/f/q
	is "$(ls -l /proc/$DPID/fd | grep -c "$W/lock")" 0 "descriptors kept"
	sleep "${CHECKPOINT_WAIT:-65}"
	for i in $(seq 500); do echo $i > mnt/t/r1/f/c$i; done
	sync
	cd /
	down
	[ ! -e /store ] && [ ! -e /mnt/t ] || fail "something was made in /"
	works up
	expect "w v" history $q
	expect 501 count $F
}

D15_a_signal_stops_a_compact_that_the_mount_does() {
	local f
	begin a b c d e f g h
	for f in a b c d e f g h; do # files that are worth compacting
		works mkdir -p $M/t/r1/$f
		head -c 2000000 /dev/urandom > $M/t/r1/$f/q
	done
	works control checkpoint
	works python3 - "$CELLFS" "$S" "$M/.cellfs/log" <<-'P'
	import signal, subprocess, sys, time
	for i in range(300): # until one comes while it is at work
	    p = subprocess.Popen([sys.argv[1], "compact", sys.argv[2]])
	    time.sleep(i % 10 / 20)
	    p.terminate()
	    assert p.wait() in (0, -signal.SIGTERM), p.returncode
	    if "interrupted" in open(sys.argv[3]).read():
	        sys.exit()
	sys.exit("no compact was interrupted")
	P
	expect "" $CELLFS compact $S
	expect 2000000 stat -c %s $M/t/r1/h/q
}
