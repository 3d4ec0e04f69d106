# How much is asked of the daemon and of the store: what speed rests on, and
# what a busy machine does not change.

requests() { grep ^requests_ "$M/.cellfs/stats" | sed 's/^requests_//' | sort; }

# What a command needs beyond looking at the counters, "kind=N kind=N ...".
needed() {
	requests > $W/a; requests > $W/b; "$@" > /dev/null; requests > $W/c
	join $W/a $W/b | join - $W/c |
		awk '{ n = $4 - $3 - ($3 - $2) } n { printf "%s=%d ", $1, n }'
}

at_most() { # "kind=N kind=N ..." COMMAND...: of each kind, and none of others
	local limits=" $1 " got kind limit
	shift
	got=$(needed "$@")
	for kind in $got; do
		limit=${limits##* ${kind%=*}=}
		[ "$limit" != "$limits" ] && [ ${kind#*=} -le ${limit%% *} ] ||
			fail "$*: needs $got, at most$limits"
	done
}

read_all() { find $1 -type f -exec cat {} +; }
stat_all() { find $1 -printf %s; }

write_all() { # DIRECTORY N BYTES: that many files of that size
	python3 - "$@" <<-'P'
	import os, sys
	for i in range(int(sys.argv[2])):
	    fd = os.open("%s/%d" % (sys.argv[1], i),
	                 os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
	    os.write(fd, os.urandom(int(sys.argv[3])))
	    os.close(fd)
	P
}

Q01_each_work_needs_few_requests() {
	local r
	begin
	works rmdir $F $M/t/r1
	for r in a b c; do
		works mkdir -p $M/t/$r/f
		write_all $M/t/$r/f 100 100
	done
	again
	at_most "lookup=1 opendir=7 readdirplus=16 releasedir=7 getattr=8" stat_all $M/t
	at_most "opendir=7 releasedir=7 getattr=8" stat_all $M/t
	at_most "opendir=7 releasedir=7 getattr=8 open=300 release=300" read_all $M/t
	at_most "opendir=7 releasedir=7 getattr=8 open=300 release=300" read_all $M/t
	at_most "opendir=2 releasedir=2 getattr=4 getxattr=4" ls -l $M/t/a/f
	mkdir $W/out
	at_most "opendir=7 releasedir=7 getattr=8 open=300 release=300" \
		rsync -a $M/t/ $W/out/
	at_most "opendir=7 releasedir=7 getattr=8" rsync -a $M/t/ $W/out/
	works mkdir -p $M/t/d/f
	at_most "lookup=101 getattr=102 create=100 write=100 flush=100 release=100" \
		write_all $M/t/d/f 100 100
	at_most "getattr=3 open=100 getxattr=100 write=100 flush=100 release=100" \
		write_all $M/t/d/f 100 100
}

pages() { awk '$1 == "cache_pages_read" { print $2 }' $M/.cellfs/stats; }

Q02_a_listing_of_rows_reads_few_of_their_cells() {
	local r before rows all
	begin
	works rmdir $F $M/t/r1
	for r in $(seq 10 29); do
		works mkdir -p $M/t/row$r/f
		write_all $M/t/row$r/f 250 4000
	done
	again
	before=$(pages)
	expect 20 count $M/t
	rows=$(($(pages) - before))
	before=$(pages)
	read_all $M/t > /dev/null
	all=$(($(pages) - before))
	[ $rows -le 50 ] && [ $all -ge 100 ] || fail "$rows pages for 20 rows, then $all for all"
}
