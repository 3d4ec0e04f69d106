#!/bin/bash
# A counter: eight processes add 4 to it at once and nothing is lost.
. "$(dirname "$0")/../mount/lib.sh"

create t cf1
works up
mkdir -p $M/t/100/cf1
C=$M/t/100/cf1/column1

echo 4 > $C@counter
expect 4 cat $C@counter
expect "00 00 00 00 00 00 00 04" bash -c "od -An -tx1 $C | sed 's/^ //'"

for process in 1 2 3 4 5 6 7 8; do
	(for i in $(seq 50); do echo 4 > $C@counter; done) &
done
wait

echo "# 1 + 8 x 50 times 4"
expect 1604 cat $C@counter
expect "00 00 00 00 00 00 06 44" bash -c "od -An -tx1 $C | sed 's/^ //'"
expect 8 stat -c %s $C

echo "# it counts down too, and only numbers"
echo -4 > $C@counter
expect 1600 cat $C@counter
refused "Invalid argument" bash -c "echo four > $C@counter"
put text $M/t/100/cf1/words
refused "Invalid argument" bash -c "echo 4 > $M/t/100/cf1/words@counter"
expect text cat $M/t/100/cf1/words

down
echo "# the same from the command line"
expect 1604 "$CELLFS" incr $S t 100 cf1:column1 4
expect '\x00\x00\x00\x00\x00\x00\x06D' bash -c "'$CELLFS' get $S t 100 cf1:column1 | cut -f4"
expect 1604 bash -c "'$CELLFS' get $S t 100 cf1:column1 --as be64 | cut -f4"
works up
expect 1604 cat $C@counter
