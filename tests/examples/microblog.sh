#!/bin/bash
# A microblog: who follows whom, posts, and an inbox for each user's home page.
# Followed and fans are two families of one row, kept in step.
. "$(dirname "$0")/../mount/lib.sh"

create relation followed fans
create post f
create inbox f:VERSIONS=1000
works up
R=$M/relation
P=$M/post
I=$M/inbox

for user in A B C D; do mkdir -p $R/$user/{followed,fans} $I/$user/f; done
follow() { put $2 $R/$1/followed/$2; put $1 $R/$2/fans/$1; }
unfollow() { works rm $R/$1/followed/$2 $R/$2/fans/$1; }

follow A C
follow A D
follow B C

echo "# C's fans are A and B, D's is A"
expect $'A\nB' ls $R/C/fans
expect A ls $R/D/fans
expect $'C\nD' ls $R/A/followed
empty $R/A/fans

# USER TIME TEXT: the key counts down, so the newest post comes first. The
# post's key goes into the inbox of every fan.
post() {
	local key fan
	key=$1_$(printf %019d $((9223372036854775807 - $2)))
	mkdir -p $P/$key/f
	put "$3" $P/$key/f/text
	for fan in $(ls $R/$1/fans); do
		[ -d $I/$fan/f ] && printf %s $key > $I/$fan/f/post
	done
}

home() { local v; for v in $(ls -U $I/$1/f/post@); do cat $P/$(cat $I/$1/f/post@$v)/f/text; done; }

post C 1500000000000 "first of C"
post D 1500000001000 "first of D"
post C 1500000002000 "second of C"

echo "# a user's own posts, the newest first"
expect $'second of C\nfirst of C' bash -c "cat $P/C_*/f/text"
expect $'second of C\nfirst of C' bash -c "cd $P; cat \$(ls -d C_*/f/text)"

echo "# home pages, the newest first"
expect $'second of C\nfirst of D\nfirst of C' home A
expect $'second of C\nfirst of C' home B

echo "# after B stops to follow C nothing more arrives there"
unfollow B C
expect A ls $R/C/fans
empty $R/B/followed
post C 1500000003000 "third of C"
expect $'third of C\nsecond of C\nfirst of D\nfirst of C' home A
expect $'second of C\nfirst of C' home B

echo "# an inbox keeps a thousand: the 1,001st pushes out the oldest"
works python3 - $I/D/f/post <<-'P'
import sys
for i in range(1, 1001):
    with open(sys.argv[1], "w") as f:
        f.write("post %d" % i)
P
expect 1000 nver $I/D/f/post
oldest=$(nth $I/D/f/post 1000)
expect "post 1" cat $oldest
printf "post 1001" > $I/D/f/post
expect 1000 nver $I/D/f/post
absent $oldest
expect "post 2" cat "$(nth $I/D/f/post 1000)"
expect "post 1001" cat "$(nth $I/D/f/post 1)"
again
expect 1000 nver $I/D/f/post
expect $'third of C\nsecond of C\nfirst of D\nfirst of C' home A
