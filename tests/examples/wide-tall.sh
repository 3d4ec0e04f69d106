#!/bin/bash
# Who follows whom, twice: as one wide row with a qualifier for each, and as a
# tall table with a row UID1~UID2 for each. Both are listed whole, while the
# daemon grows by less than 64 MiB beyond its cache.
# WIDE says how many (default 20000; the full run takes 1000000).
. "$(dirname "$0")/../mount/lib.sh"

N=${WIDE:-20000}
CACHE=32
create wide f:VERSIONS=1
create tall f:VERSIONS=1
works up -o cache=${CACHE}M

resident() { awk '/^VmRSS/ { print int($2 / 1024) }' /proc/$DPID/status; } # MiB
grown() { # MiB since the mount, checked
	local now
	now=$(resident)
	echo "the daemon: $now MiB, $((now - before)) more than at first"
	[ $((now - before)) -lt $((CACHE + 64)) ] || fail "$1: $((now - before)) MiB more"
}

mkdir -p $M/wide/uid1/f
works python3 - $M/wide/uid1/f $M/tall $N <<-'P'
import os, sys
wide, tall, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for i in range(count):
    with open("%s/uid%07d" % (wide, i), "w") as f:
        f.write("1")
    os.makedirs("%s/uid1~uid%07d/f" % (tall, i))
    with open("%s/uid1~uid%07d/f/q" % (tall, i), "w") as f:
        f.write("1")
P

again -o cache=${CACHE}M
before=$(resident)
digest() { ls -fU $1 | grep -v '^\.' | sha256sum; }
want() { seq -f "$1%07.0f" 0 $((N - 1)) | sha256sum; }

echo "# the wide row: all its qualifiers, in order"
is "$(digest $M/wide/uid1/f)" "$(want uid)" "the wide row"
grown "listing the wide row"
echo "# the tall table: all its rows, in order"
is "$(digest $M/tall)" "$(want uid1~uid)" "the tall table"
grown "listing the tall table"

echo "# one of them is found at once in either"
expect 1 cat $M/wide/uid1/f/uid0000123
expect 1 cat $M/tall/uid1~uid0000123/f/q
down
expect 1 "$CELLFS" count $S wide
expect $N "$CELLFS" count $S tall
