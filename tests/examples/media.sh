#!/bin/bash
# Media files, keyed user(6) date(8) file(6): which files of September 2012 did
# the owner make whose name begins so, of this category? By the path alone.
. "$(dirname "$0")/../mount/lib.sh"

create media info
create owners info
works up

# USER DATE FILE NAME CATEGORY: a line for each cell
file() { printf '%s%s%s\tinfo:name\t1\t%s\n%s%s%s\tinfo:category\t1\t%s\n' \
	$1 $2 $3 "$4" $1 $2 $3 "$5"; }

{
	file 000001 20120902 000001 中国好声音第1期 综艺
	file 000001 20120904 000002 中国好声音第2期 综艺
	file 000001 20120906 000003 中国好声音外卡赛 综艺
	file 000002 20120912 000006 中国好声音选手采访 综艺花絮
	file 000001 20120916 000011 新闻 综艺
	file 000001 20120917 000012 中国好声音广告 综艺广告
	file 000001 20121004 000013 中国好声音第9期 综艺
} > $M/media/.cells
printf '尚学堂\tinfo:id\t1\t000001\n' > $M/owners/.cells

echo "# the owner first, then the owner's September"
owner=$(cat $M/owners/尚学堂/info/id)
september=$M/media/.from/${owner}20120901/.to/${owner}20121001
expect 5 cat $september/.count

echo "# and of that what the filter lets through"
filter="SingleColumnValueFilter('info','name',=,'binaryprefix:中国好声音')"
filter="$filter AND SingleColumnValueFilter('info','category',=,'binary:综艺')"
expect $'00000120120902000001\n00000120120904000002\n00000120120906000003' \
	ls "$september/.filter/$filter"
expect $'中国好声音外卡赛\n中国好声音第2期' \
	cut -f 4 "$september/.filter/$filter/.columns/info:category,info:name/.filter/QualifierFilter(=,'binary:name')/.reversed/.first/2/.cells"

echo "# of all owners, by the name alone"
expect 6 grep -c 中国好声音 "$M/media/.columns/info:name/.cells"

echo "# what changed since the last look"
works cp -a $M/media/.until/1 "$W/before"
put 新闻联播 $M/media/00000120120916000011/info/name
works mkdir "$W/now"
works cp -a $M/media/. "$W/now"
expect "Files $W/before/00000120120916000011/info/name and $W/now/00000120120916000011/info/name differ" \
	diff -rq "$W/before" "$W/now"
expect 00000120120916000011 ls $M/media/.since/-1h
