# Large values: built up in any order, at every boundary, in bounded memory.

MIB=1048576

noise() { head -c $1 /dev/urandom > $2; }

# Equal, read in large pieces.
same() { cat $1 | works cmp - $2; }

within() { # MIB: the daemon's memory was never more
	local peak=$(awk '/VmHWM/ { print int($2 / 1024) }' /proc/$DPID/status)
	[ $peak -le $1 ] || fail "the daemon has had $peak MiB, at most $1 are allowed"
}

G01_a_value_of_max_cell_size_fits_and_one_byte_more_does_not() {
	local n max=$((10 * MIB))
	begin f:VERSIONS=3
	noise $max $W/fits
	cp $W/fits $W/large
	printf x >> $W/large
	works cp $W/fits $q
	same $q $W/fits
	for n in $q $F/new; do
		refused "File too large" cp $W/large $n
		refused "File too large" truncate -s $((max + 1)) $n
		refused "File too large" dd if=/dev/zero of=$n bs=1 count=1 seek=$max conv=notrunc status=none
	done
	refused "File too large" bash -c "printf x >> $q"
	same $q $W/fits
	expect 1 nver $q
	absent $F/new
	works truncate -s $max $F/grown
	is "$(stat -c %s $F/grown) $(tr -d '\0' < $F/grown | wc -c)" "$max 0"
	printf x | works dd of=$F/last bs=1 seek=$((max - 1)) status=none
	is "$(stat -c %s $F/last) $(tail -c 1 $F/last)" "$max x"
	head -c $((max - 1)) $W/fits > $F/appended
	printf x >> $F/appended
	expect $max stat -c %s $F/appended
	again
	same $q $W/fits
	expect $max stat -c %s $F/appended
}

G02_a_value_is_what_was_written_in_whatever_order() {
	local size
	begin f:VERSIONS=2
	for size in 9000 $((MIB + 9000)) $((5 * MIB)); do
		works python3 $HERE/large.py $F/c$size $W/plain$size $size ${ROUNDS:-60}
	done
	again -o buffers=1M
	for size in 9000 $((MIB + 9000)) $((5 * MIB)); do
		same $F/c$size $W/plain$size
		works python3 $HERE/large.py $F/c$size $W/plain$size $size ${ROUNDS:-60}
	done
	again
	for size in 9000 $((MIB + 9000)) $((5 * MIB)); do
		same $F/c$size $W/plain$size
	done
}

G03_a_thousand_files_are_written_at_once_in_bounded_memory() {
	begin f:VERSIONS=1
	again -o buffers=16M,cache=64M
	expect "1000 right" python3 - $F $M/.cellfs/stats <<-'P'
	import os, sys
	def stat(name):
	    return int(dict(l.split() for l in open(sys.argv[2]))[name])
	def value(i):
	    return b"%09d" % i * 11000
	fds = [os.open("%s/c%d" % (sys.argv[1], i), os.O_WRONLY | os.O_CREAT)
	       for i in range(1000)]
	for at in range(0, 99000, 33000):
	    for i, fd in enumerate(fds):
	        os.write(fd, value(i)[at:at + 33000])
	assert stat("buffer_bytes") <= stat("buffer_limit_bytes") == 16 << 20
	for fd in fds:
	    os.close(fd)
	assert stat("buffer_bytes") == 0, stat("buffer_bytes")
	right = sum(open("%s/c%d" % (sys.argv[1], i), "rb").read() == value(i)
	            for i in range(1000))
	print(right, "right")
	P
	within $((64 + 16 + 64))
}

# LARGE bytes; README has the command for a GiB.
G04_a_very_large_value_goes_in_and_out_in_bounded_memory() {
	local large=${LARGE:-$((150 * MIB))} sum
	begin f:VERSIONS=2,MAX_CELL_SIZE=$((large + MIB))
	again -o buffers=16M,cache=64M
	noise $large $W/large
	works cp $W/large $q
	same $q $W/large
	works python3 - $W/large $F/dd $F/map $large <<-'P'
	import mmap, os, random, sys
	source, dd, mapped, size = *sys.argv[1:4], int(sys.argv[4])
	step = 1 << 20
	offsets = list(range(0, size, step))
	random.shuffle(offsets)
	with open(source, "rb") as s, open(dd, "wb", buffering=0) as d:
	    for at in offsets:
	        d.seek(at)
	        d.write(os.pread(s.fileno(), step, at))
	with open(mapped, "wb+", buffering=0) as d, open(source, "rb") as s:
	    d.truncate(size)
	    with mmap.mmap(d.fileno(), size) as m:
	        for at in offsets:
	            piece = os.pread(s.fileno(), step, at)
	            m[at:at + len(piece)] = piece
	P
	same $F/dd $W/large
	same $F/map $W/large
	for i in $(seq ${APPENDS:-20}); do
		echo "line $i" >> $W/large
		echo "line $i" >> $q
	done
	same $q $W/large
	within $((64 + 16 + 64))
	again
	works cp $q $W/out
	works cmp $W/large $W/out
	expect 2 nver $q
}

G05_a_disk_without_room_for_an_image_refuses_the_write() {
	root
	mkdir $S
	works mount -t tmpfs -o size=96m none $S
	begin f:VERSIONS=2,MAX_CELL_SIZE=1073741824
	again -o buffers=1M
	put before $q
	noise $((20 * MIB)) $W/fits
	works cp $W/fits $F/fits
	refused "error writing '$q': No space left on device" dd if=/dev/zero of=$q bs=1M count=500 status=none
	expect before history $q
	same $F/fits $W/fits
	put after $q
	expect "after before" history $q
	again
	same $F/fits $W/fits
	expect "after before" history $q
}
