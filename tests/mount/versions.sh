# Versions, deletes and timestamps of a cell.

S01_a_write_after_a_delete_in_the_same_tick_stays() {
	local i lost=0
	begin
	for i in $(seq 200); do
		echo old > $q; rm $q; echo "new $i" > $q
		[ "$(cat $q)" = "new $i" ] || lost=$((lost + 1))
	done
	is $lost 0 "fresh values lost"
	expect 1 nver $q
	again
	expect "new 200" cat $q
	expect 1 nver $q
}

S03_deleting_the_newest_shows_the_next_but_none_pushed_out() {
	begin f:VERSIONS=2
	put v1 $q; put v2 $q; put v3 $q
	expect "v3 v2" history $q
	works rm "$(nth $q 1)"
	expect v2 cat $q
	expect 1 nver $q
	again
	gc
	expect v2 cat $q
	expect 1 nver $q
	works rm "$(nth $q 1)"
	absent $q
	empty $F
}

S05_rm_removes_every_version() {
	local t all
	begin f:VERSIONS=3
	put a $q; put b $q; put c $q
	all=$(vers $q)
	is "$(wc -w <<< "$all")" 3
	works rm $q
	for again in no yes; do
		[ $again = no ] || { again; gc; }
		absent $q
		empty $F
		for t in $all; do absent "$q@$t"; done
	done
}

S06_rm_r_removes_a_cell_through_its_versions() {
	begin f:VERSIONS=5
	for v in 1 2 3; do put $v $q; done
	works rm -r $q@
	absent $q $q@
	empty $F
	put back $q
	works rm $q@/*
	absent $q@
	refused "No such file or directory" rmdir $q@
	put again $q
	expect again cat $q@/*
}

S07_an_expired_cell_is_gone_everywhere_within_a_second() {
	begin f:VERSIONS=3 g:TTL=2
	works mkdir $M/t/r1/g
	put keep $F/k; put soon $M/t/r1/g/k
	expect soon cat $M/t/r1/g/k
	sleep 3.2
	absent $M/t/r1/g/k
	refused "No such file" stat $M/t/r1/g/k
	[ ! -e $M/t/r1/g ] || empty $M/t/r1/g
	expect $F/k find $M/t -type f
}

S09_three_versions_means_three() {
	local i stamps= t
	begin f:VERSIONS=3
	for i in 1 2 3 4 5; do
		put v$i $q
		stamps="$stamps $(vers $q | head -1)"
	done
	expect "v5 v4 v3" history $q
	set -- $stamps
	absent "$q@$1" "$q@$2"
	expect v3 cat "$q@$3"
	expect v5 cat "$q@$5"
	expect v5 cat $q
}

S11_a_thousand_fast_writes_are_a_thousand_versions() {
	begin f:VERSIONS=2000
	expect "stale 0" python3 - $q <<-'P'
	import sys
	name, stale = sys.argv[1], 0
	for i in range(1000):
	    with open(name, "w") as f:
	        f.write(str(i))
	    with open(name) as f:
	        stale += f.read() != str(i)
	print("stale", stale)
	P
	expect 1000 nver $q
	is "$(vers $q)" "$(vers $q | sort -rnu)" "newest first, all distinct"
	expect 0 cat "$(nth $q 1000)"
	again
	expect 1000 nver $q
}

S13_writing_a_timestamp_again_replaces_that_version_for_good() {
	begin
	put one "$q@1000"; put two "$q@1000"
	expect two cat "$q@1000"
	expect 1 nver $q
	again
	expect two cat "$q@1000"
	recover
	gc
	expect two cat "$q@1000"
	expect 1 nver $q
}

S15_a_cell_from_the_future_swallows_no_later_write() {
	local future=$((($(date +%s) + 86400) * 1000))
	begin
	put future "$q@$future"
	expect future cat $q
	put plain $q
	expect plain cat $q
	is "$(vers $q | tr '\n' ' ')" "$((future + 1)) $future "
}

S17_nonsense_after_the_at_is_refused() {
	local s
	begin
	put good $q
	for s in -1 +5 007 0x10 1e3 abc ' 5' '5 ' 9223372036854775808 \
	    99999999999999999999 9223372036854775807; do
		refused "Invalid argument" write_to "$q@$s"
		absent "$q@$s"
	done
	refused "Is a directory" write_to "$q@"
	expect q names $F
	expect good cat $q
	expect 1 nver $q
	absent "$q@1"
	put edge "$q@9223372036854775806"
	is "$(vers $q | head -1)" 9223372036854775806
	put zero "$q@0"
	expect zero cat "$q@0"
}

write_to() { echo bad > "$1"; }

S19_a_bad_family_attribute_is_refused_and_named() {
	local o bad
	for o in VERSION=3 VERSIONS=abc VERSIONS=0 VERSIONS=-2 TTL=-1 TTL=5x \
	    VERSIONS=3,VERSIONS=4; do
		bad=${o##*,}
		refused "${bad%%=*}" "$CELLFS" create "$S" t "f:$o"
	done
	create ok f:VERSIONS=2
	expect ok "$CELLFS" list "$S"
	works up
	expect ok ls $M
}

S21_a_family_dropped_and_declared_again_is_empty() {
	begin f:VERSIONS=3 g:VERSIONS=3
	works mkdir $M/t/r1/g
	put old $M/t/r1/g/k; put keep $q
	down
	works "$CELLFS" alter "$S" t --drop g
	works "$CELLFS" alter "$S" t g:VERSIONS=3
	works up
	absent $M/t/r1/g/k
	[ ! -e $M/t/r1/g ] || empty $M/t/r1/g
	expect keep cat $q
	gc
	again
	absent $M/t/r1/g/k
	works mkdir -p $M/t/r1/g
	put new $M/t/r1/g/k
	expect new history $M/t/r1/g/k
}

S23_an_empty_value_is_a_cell() {
	begin
	absent $q
	: > $q
	expect "" cat $q
	expect 0 stat -c %s $q
	expect 1 nver $q
	put full $q
	: > $q
	expect 3 nver $q
	expect 0 stat -c %s $q
	expect full cat "$(nth $q 2)"
	again
	expect 0 stat -c %s $q
	expect 3 nver $q
	expect r1 ls $M/t
	works rm $q
	absent $q
}

S25_a_family_of_one_row_goes_alone_and_rmdir_spares_what_is_full() {
	local r f
	begin f:VERSIONS=3 g:VERSIONS=3
	for r in r1 r2; do
		for f in f g; do
			works mkdir -p $M/t/$r/$f
			put $r$f $M/t/$r/$f/q
		done
	done
	refused "Directory not empty" rmdir $M/t/r1
	refused "Directory not empty" rmdir $M/t/r1/g
	expect r1g cat $M/t/r1/g/q
	works rm -r $M/t/r1/g
	absent $M/t/r1/g/q
	expect f ls $M/t/r1
	expect $'r1f\nr2f\nr2g' cat $M/t/r1/f/q $M/t/r2/f/q $M/t/r2/g/q
	works mkdir $M/t/r1/g
	put back $M/t/r1/g/q
	expect back history $M/t/r1/g/q
	works rm -r $M/t/r1
	expect r2 ls $M/t
}
