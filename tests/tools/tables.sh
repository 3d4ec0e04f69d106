#!/bin/sh
# Tables: create, alter, list, describe, schema, exists, rename, truncate,
# drop.
. "$(dirname "$0")/lib.sh"

# --- nothing is half made
for bad in VERSION=3 VERSIONS=abc VERSIONS=0 VERSIONS=-2 TTL=-1 TTL=5x \
    VERSIONS=3,VERSIONS=4 VERSIONS=3,versions=4 MIN_VERSIONS=9,VERSIONS=3; do
	refuses "create refuses f:$bad" 2 "" cellfs create "$S" t "f:$bad"
	[ ! -e "$S" ] || die "f:$bad left a store behind"
done
refuses "a family named twice" 2 "twice" cellfs create "$S" t f f:VERSIONS=3
refuses "no store, no list" 3 "cellfs: $S: there is no store:" \
    cellfs list "$S"
refuses "no store in a directory" 3 "cellfs: /etc: there is no store:" \
    cellfs list /etc
refuses "a store is no file" 3 "" cellfs create /dev/null t f

# --- create, list, exists, describe
gives "create makes store and table" "" cellfs create "$S" users \
    info:versions=5,COMPRESSION=none log
mkdir "$S/.there" "$W/mnt"
for inner in "$S/sub" "$S/.there" "$S/.there/deep"; do
	refuses "no store in a store" 3 "lies in the store $S" \
	    cellfs create "$inner" t f
	refuses "no mount of one" 3 "lies in the store $S" \
	    cellfs mount "$inner" "$W/mnt"
done
[ ! -e "$S/sub" ] && rmdir "$S/.there" || die "a store in a store"
[ "$(stat -c %a "$S")" = 700 ] || die "others can read the store"
gives "without families a table is open" "" cellfs create "$S" any
gives "a namespace comes with its table" "" cellfs create "$S" ns:users f
refuses "a table that is there" 3 "users" cellfs create "$S" users f
gives "list has the tables in order" "any
ns:users
users" cellfs list "$S"
gives "list takes a pattern" "ns:users
users" cellfs list "$S" '*users'
gives "list finds nothing" "" cellfs list "$S" 'x*'
gives "list prints JSON" '{"table":"any"}' cellfs list "$S" any --json
gives "exists says true" true cellfs exists "$S" users
run cellfs exists "$S" nosuch
[ "$rc $out" = "1 false" ] || die "exists of nothing: $rc $out"

run cellfs describe "$S" users
[ "$(sed -n 1p "$W/out")" = "table open=0" ] || die "sealed: $out"
for part in 'family info versions=5 ' ' compression=none ' 'family log '; do
	case $out in
	*"$part"*) ;;
	*) die "describe lacks '$part': $out" ;;
	esac
done
gives "schema prints the same" "$out" cellfs schema "$S" users
run cellfs describe "$S"
[ "$(grep -c '^# ' "$W/out")" = 3 ] || die "describe of all: $out"
cellfs describe "$S" users --json | python3 -c '
import json, sys
t = json.load(sys.stdin)
assert t["table"] == "users" and t["open"] is False, t
f = t["families"]
assert [x["family"] for x in f] == ["info", "log"], t
assert f[0]["versions"] == 5 and f[0]["in_memory"] is False, t
assert f[0]["ttl"] == "forever", t' || die "describe --json"
cellfs describe "$S" --json | python3 -c '
import json, sys
names = [json.loads(line)["table"] for line in sys.stdin]
assert names == ["any", "ns:users", "users"], names' || die "describe --json"
refuses "describe of nothing" 3 "nosuch" cellfs describe "$S" nosuch

# --- alter
gives "alter changes what it names" "" cellfs alter "$S" users \
    info:VERSIONS=7 extra:TTL=60
run cellfs describe "$S" users
case $out in
*"family info versions=7 "*" compression=none "*) ;;
*) die "alter: $out" ;;
esac
cellfs put "$S" users r1 extra:q v || die put
refuses "alter refuses as a whole" 2 "VERSION" cellfs alter "$S" users \
    info:VERSIONS=9 log:VERSION=3
refuses "alter with a bad bound" 2 "" cellfs alter "$S" users \
    info:MIN_VERSIONS=8
run cellfs describe "$S" users
case $out in
*"family info versions=7 min_versions=0 "*) ;;
*) die "a refused alter changed something: $out" ;;
esac
refuses "drop of no family" 3 "cellfs: users: no family nosuch" cellfs alter "$S" users --drop nosuch
gives "--drop drops with data" "" cellfs alter "$S" users --drop extra \
    --drop log
run cellfs describe "$S" users
case $out in
*extra* | *log*) die "dropped families are there: $out" ;;
*) ;;
esac
gives "a family declared again" "" cellfs alter "$S" users extra
run cellfs get "$S" users r1
[ "$rc" = 1 ] || die "a dropped family came back with data: $out"
for way in --open OPEN=1; do
	cellfs alter "$S" users "$way" || die "alter $way"
	cellfs schema "$S" users | grep -q '^table open=1' || die "$way"
	cellfs alter "$S" users --seal || die "alter --seal"
	cellfs schema "$S" users | grep -q '^table open=0' || die "--seal"
done
refuses "a table's unknown attribute" 2 "open" cellfs alter "$S" users size=3

# --- schema files
printf 'table open=0\nfamily a versions=2\n' > "$W/text"
gives "schema creates a table" "" cellfs schema "$S" made "$W/text"
gives "it has the family" true cellfs exists "$S" made
cellfs put "$S" made r a:q v || die put
echo 'family b' | refuses "a family with cells is not left out" 3 "a" \
    cellfs schema "$S" made -
cellfs schema "$S" made | grep -q '^family b' && die "half applied"
{ cellfs schema "$S" made; echo 'family b ttl=60'; } > "$W/text"
gives "schema adds a family" "" cellfs schema "$S" made "$W/text"
gives "what schema prints it takes" "" cellfs schema "$S" copy "$W/text"
gives "and gives again" "$(cellfs schema "$S" made)" cellfs schema "$S" copy
echo 'family a versions=x' > "$W/text"
refuses "a bad line is named" 2 "line 1" cellfs schema "$S" made "$W/text"
refuses "a missing file" 3 "$W/none" cellfs schema "$S" made "$W/none"

# --- a store is read without opening tables that are not asked for
few=$(cellfs stats "$S" | grep '^files_open ')
for i in 1 2 3 4 5 6; do
	cellfs create "$S" "t$i" f || die create
done
gives "files are open as before" "$few" \
    sh -c "cellfs stats '$S' | grep '^files_open '"
for i in 1 2 3 4 5 6; do
	cellfs drop "$S" "t$i" || die drop
done

# --- rename, truncate, drop
gives "rename" "" cellfs rename "$S" made other
gives "the cells moved with it" "r${TAB}a:q" \
    sh -c "cellfs get '$S' other r | cut -f1,2"
refuses "onto a table that is there" 3 "users" \
    cellfs rename "$S" other users
refuses "of a table that is not" 3 "made" cellfs rename "$S" made x
gives "truncate" "" cellfs truncate "$S" other
gives "no rows are left" 0 cellfs count "$S" other
cellfs schema "$S" other | grep -q '^family b' || die "truncate took families"
gives "drop" "" cellfs drop "$S" other
run cellfs exists "$S" other
[ "$rc" = 1 ] || die "a dropped table is there"
refuses "drop of nothing" 3 "cellfs: table other: there" cellfs drop "$S" other
