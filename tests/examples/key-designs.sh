#!/bin/bash
# Designs of row keys that people use, and what they give: rows are listed in
# byte order, so what shall come first, or together, is put first in the key.
. "$(dirname "$0")/../mount/lib.sh"

create t f
create index f
works up
T=$M/t
new() { mkdir -p $T/$1/f; put "$2" $T/$1/f/v; }
clear_rows() { works rm -r $T/*; }

echo "# ranking: 2^31-1 minus the score, ten digits, then the name"
rank() { new $(printf %010d $((2147483647 - $2)))_$1 $2; }
rank ann 70; rank bob 1500; rank cyd 9; rank dan 0
expect $'bob\nann\ncyd\ndan' bash -c "ls -U $T | cut -d_ -f2"
expect $'1500\n70\n9\n0' bash -c "cd $T; for r in \$(ls -U); do cat \$r/f/v; done"
expect bob bash -c "ls -U $T | sed -n 1p | cut -d_ -f2"
clear_rows

echo "# reversed domains"
for d in com.example.mail com.example org.example com.example.www com.examples; do
	new $d page
done
expect $'com.example\ncom.example.mail\ncom.example.www\ncom.examples\norg.example' ls -U $T
expect $'com.example\ncom.example.mail\ncom.example.www' bash -c "cd $T; ls -d com.example com.example.*"
clear_rows

echo "# salted times: four buckets spread what is written at once"
for i in $(seq 0 19); do new $((i % 4))_$(printf %013d $((1500000000000 + i))) $i; done
for bucket in 0 1 2 3; do
	expect 5 bash -c "cd $T; ls -d ${bucket}_* | wc -l"
done
expect "1 5 9 13 17" bash -c "cd $T; echo \$(cat 1_*/f/v)"
clear_rows

echo "# reversed times: the newest comes first"
for i in 1 2 3; do new $(printf %019d $((9223372036854775807 - 1500000000000 - i))) $i; done
expect "3 2 1" bash -c "cd $T; echo \$(for r in \$(ls -U); do cat \$r/f/v; done)"
clear_rows

echo "# fixed width user, date and file: one prefix for each question"
for u in 0007 0070 0700; do for d in 20240101 20240102; do for n in 0001 0002; do
	new $u$d$n x
done; done; done
expect 4 bash -c "cd $T; ls -d 0007* | wc -l"
expect $'0070202401020001\n0070202401020002' bash -c "cd $T; ls -d 007020240102*"
expect $'0007202401010001\n0700202401020002' bash -c "ls -U $T | sed -n '1p;\$p'"
clear_rows

echo "# an index table that is asked first: mail address to row"
for i in 1 2 3; do
	new user$i "user number $i"
	mkdir -p $M/index/u$i@example.org/f
	printf user$i > $M/index/u$i@example.org/f/row
done
expect "user number 2" bash -c "cat $T/\$(cat $M/index/u2@example.org/f/row)/f/v"
clear_rows

echo "# one to one: what belongs together is merged into one row"
mkdir -p $T/user1/f
for c in name=Ann id_number=123 id_expires=2030-01-01; do put "${c#*=}" $T/user1/f/${c%=*}; done
expect $'id_expires\nid_number\nname' ls $T/user1/f
expect $'f/id_expires:2030-01-01\nf/id_number:123\nf/name:Ann' bash -c "cd $T/user1; grep -r . f | sort"

echo "# a whole record packed into one column"
printf '{"name": "Ann", "age": 30, "roles": ["a", "b"]}' > $T/user1/f/record
expect 30 python3 -c "import json; print(json.load(open('$T/user1/f/record'))['age'])"

again
expect user1 ls $T
expect $'id_expires\nid_number\nname\nrecord' ls $T/user1/f
