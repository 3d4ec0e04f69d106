#!/bin/bash
# Departments, a tree, one to many: a row per department, its key led by its
# level; the parent in info:pid, the children in family sub as ID = NAME.
. "$(dirname "$0")/../mount/lib.sh"

create dept info sub
works up
D=$M/dept

# ID NAME [PARENT]
add() {
	mkdir -p $D/$1/{info,sub}
	put "$2" $D/$1/info/name
	[ -z "$3" ] || { put "$3" $D/$1/info/pid; put "$2" $D/$3/sub/$1; }
}

# ID NEWPARENT: the child's name moves from one parent to the other
move() {
	works mv $D/$(cat $D/$1/info/pid)/sub/$1 $D/$2/sub/$1
	put $2 $D/$1/info/pid
}

remove() {
	[ -z "$(ls $D/$1/sub)" ] || return 1
	works rm $D/$(cat $D/$1/info/pid)/sub/$1
	works rm -r $D/$1
}

children() { (cd $D/$1/sub && grep . -- *); }

add 0_001 尚学堂教学部
add 0_002 尚学堂财务部
add 1_101 尚学堂大数据教学组 0_001
add 1_102 尚学堂Java教学组 0_001

echo "# the top departments"
expect $'0_001\n0_002' ls $D/.prefix/0_
expect $'尚学堂教学部\n尚学堂财务部' bash -c "cat $D/0_*/info/name"
[ ! -e $D/0_001/info/pid ] || fail "a top department has a parent"

echo "# the children of one, and a child's parent"
expect $'1_101:尚学堂大数据教学组\n1_102:尚学堂Java教学组' children 0_001
empty $D/0_002/sub
expect 0_001 cat $D/1_102/info/pid

echo "# add, move, remove"
add 1_103 尚学堂Python教学组 0_001
expect $'1_101\n1_102\n1_103' ls $D/0_001/sub
move 1_103 0_002
expect $'1_101\n1_102' ls $D/0_001/sub
expect 1_103:尚学堂Python教学组 bash -c "cd $D/0_002/sub; grep . /dev/null *"
expect 0_002 cat $D/1_103/info/pid
remove 0_001 && fail "a department with children was removed"
remove 1_103
empty $D/0_002/sub
expect $'0_001\n0_002\n1_101\n1_102' ls $D

echo "# child keys of parent id and sequence number"
"$CELLFS" umount $M && gone
create seq info
works up
Q=$M/seq
for row in 0001 0001_001 0001_002 0001_002_001 0002 0002_001; do
	mkdir -p $Q/$row/info
	put "dept $row" $Q/$row/info/name
done
expect $'0001_001\n0001_002' bash -c "cd $Q; ls -d 0001_???"
echo "# a department stands before all that is below it"
expect $'0001\n0001_001\n0001_002\n0001_002_001\n0002\n0002_001' ls -U $Q
expect $'0001_002\n0001_002_001' ls -U $Q/.prefix/0001_002
expect 4 cat $Q/.prefix/0001/.count

again
expect $'1_101:尚学堂大数据教学组\n1_102:尚学堂Java教学组' children 0_001
