#!/bin/bash
# The web table: a row per page, its host name reversed so that the pages of a
# domain lie together. Versions of the page in contents, texts of links that
# point to it in anchor (a column per linking page), people.
. "$(dirname "$0")/../mount/lib.sh"

T=$M/webtable
create webtable contents anchor people
works up

mkdir -p $T/com.cnn.www/{contents,anchor} $T/com.example.www/{contents,people}
for t in 3 5 6; do
	put "<html>... of $t" $T/com.cnn.www/contents/html@$t
done
put CNN $T/com.cnn.www/anchor/cnnsi.com@9
put CNN.com $T/com.cnn.www/anchor/my.look.ca@8
put "<html>... of 5" $T/com.example.www/contents/html@5
put "John Doe" $T/com.example.www/people/author@5

echo "# every value is found at its own timestamp"
expect $'6\n5\n3' ls -U $T/com.cnn.www/contents/html@
expect "<html>... of 3" cat $T/com.cnn.www/contents/html@3
expect CNN cat $T/com.cnn.www/anchor/cnnsi.com@9
expect "John Doe" cat $T/com.example.www/people/author@5

echo "# and at no other"
absent $T/com.cnn.www/contents/html@8
absent $T/com.cnn.www/anchor/my.look.ca@9

echo "# without a timestamp: the newest"
expect "<html>... of 6" cat $T/com.cnn.www/contents/html
expect CNN cat $T/com.cnn.www/anchor/cnnsi.com
expect CNN.com cat $T/com.cnn.www/anchor/my.look.ca
expect $'cnnsi.com\nmy.look.ca' ls $T/com.cnn.www/anchor

echo "# the pages of a domain lie together, in byte order"
mkdir -p $T/{org.apache.hbase,cn.com.www,com.cnn.edition}/contents
for row in org.apache.hbase cn.com.www com.cnn.edition; do
	put page $T/$row/contents/html
done
expect $'cn.com.www\ncom.cnn.edition\ncom.cnn.www\ncom.example.www\norg.apache.hbase' ls -U $T

down
expect $'com.cnn.www\tanchor:cnnsi.com\t9\tCNN\\x0A
com.cnn.www\tanchor:my.look.ca\t8\tCNN.com\\x0A
com.cnn.www\tcontents:html\t6\t<html>... of 6\\x0A' \
    "$CELLFS" get $S webtable com.cnn.www

# A thousand rows with one cell each: all under one qualifier, or each under a
# qualifier of its own, so that a million of cells less a thousand are absent.
fill() { # STORE SAME|EACH: bytes of its tables
	S=$1
	create t f
	works up
	python3 - $M/t $2 <<-'P'
	import os, sys
	for i in range(1000):
	    os.makedirs("%s/row%04d/f" % (sys.argv[1], i))
	    q = i if sys.argv[2] == "each" else 0
	    with open("%s/row%04d/f/q%04d" % (sys.argv[1], i, q), "w") as f:
	        f.write("x" * 100)
	P
	down
	du -cb $S/*.wt | awk 'END { print $1 }'
}

echo "# cells that are absent take no space"
same=$(fill $W/same same)
each=$(fill $W/each each)
echo "$same bytes with one qualifier, $each bytes with a thousand"
[ $((each - same)) -lt 65536 ] || fail "a million absent cells take space"
