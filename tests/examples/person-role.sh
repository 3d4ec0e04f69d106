#!/bin/bash
# Persons and roles, many to many: each side lists the other in a family of
# its own, the other's key as qualifier. Then the same as a link table.
. "$(dirname "$0")/../mount/lib.sh"

create person person_info role
create role role_info person
works up
P=$M/person
R=$M/role

mkdir -p $P/001/{person_info,role} $R/{101,102}/{role_info,person}
put xiaoming $P/001/person_info/name
put 18 $P/001/person_info/age
put 服务员 $R/101/role_info/name
put "serves the guests" $R/101/role_info/fullname
put 前台 $R/102/role_info/name

# PERSON ROLE PRIORITY: in both tables
give() { put "$3" $P/$1/role/$2; works cp $P/$1/person_info/name $R/$2/person/$1; }
take() { works rm $P/$1/role/$2 $R/$2/person/$1; }
roles() { (cd $P/$1 && grep -H . role/* | sort -t: -k2n); }

give 001 101 1
give 001 102 0

echo "# a person's roles by priority"
expect $'role/102:0\nrole/101:1' roles 001
echo "# a role's persons"
expect 001 ls $R/101/person
expect xiaoming cat $R/101/person/001
expect 服务员 cat $R/101/role_info/name
expect 前台 cat $R/102/role_info/name
expect xiaoming cat $R/102/person/001

echo "# a role is added: a second person comes, and takes what the first had"
mkdir -p $P/002/{person_info,role}
put xiaohong $P/002/person_info/name
give 002 101 5
expect $'001\n002' ls $R/101/person
take 001 101
expect role/102:0 roles 001
expect 002 ls $R/101/person
give 001 101 -1
expect $'role/101:-1\nrole/102:0' roles 001
expect $'xiaoming\nxiaohong' cat $R/101/person/001 $R/101/person/002

echo "# the same as a link table: rows PERSON_ROLE"
"$CELLFS" umount $M && gone
create link f
works up
L=$M/link
mkdir -p $L/{001_101,001_102,002_101}/f
put 1 $L/001_101/f/priority
put 0 $L/001_102/f/priority
put 5 $L/002_101/f/priority
expect $'001_102:0\n001_101:1' bash -c "
	cd $L; grep . 001_*/f/priority | sed 's,/f/priority,,' | sort -t: -k2n"
expect $'001_101\n002_101' bash -c "cd $L; ls -d *_101"
works rm -r $L/001_101
expect $'001_102\n002_101' ls $L

echo "# the same with keys of telephone number and UUID"
uuid=123e4567-e89b-12d3-a456-426614174000
mkdir -p $P/13800138000_$uuid/{person_info,role}
put xiaogang $P/13800138000_$uuid/person_info/name
give 13800138000_$uuid 102 3
expect $'001\n13800138000_'$uuid ls $R/102/person
expect xiaogang bash -c "cat $P/13800138000_*/person_info/name"

again
expect $'role/101:-1\nrole/102:0' roles 001
expect $'001\n002' ls $R/101/person
