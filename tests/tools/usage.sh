#!/bin/sh
# What the command line refuses before it touches a store.
. "$(dirname "$0")/lib.sh"

gives "the version is printed" "cellfs $VERSION" cellfs --version
refuses "a command is wanted" 2 "a command is wanted" cellfs
refuses "an unknown command is named" 2 "no such command" cellfs frobnicate
refuses "too few operands" 2 "too few" cellfs get s t
refuses "one operand too many is named" 2 "extra" cellfs drop s t extra
refuses "an unknown option is named" 2 "--bogus" cellfs list s --bogus
refuses "an option wants its argument" 2 "--limit" cellfs scan s t --limit
refuses "an option takes no argument" 2 "--json" cellfs list s --json=1
refuses "another command's option" 2 "--ttl" cellfs get s t r --ttl 5

long=$(head -c 5000 /dev/zero | tr '\0' a)
refuses "a long operand is named whole" 2 "$long (see" cellfs drop s t "$long"

refuses "a bad table name" 2 "a/b" cellfs get s a/b r
refuses "a bad family name" 2 "f/" cellfs get s t r f/:q
refuses "a path as a value" 2 "x5C; --raw-value" \
    cellfs put s t r f:q 'C:\temp'
refuses "a bare backslash" 2 "x5C" cellfs get s t 'r\w'
refuses "an empty row key" 2 "at least one byte" cellfs get s t ""
refuses "a long row key" 2 32767 cellfs get s t "$(head -c 32768 /dev/zero |
	tr '\0' a)"
refuses "a family is no cell" 2 "f:" cellfs put s t r f v
refuses "a value without its column" 2 "pairs" cellfs put s t r f:q v f:p
refuses "a bad number" 2 "abc" cellfs scan s t --limit abc
refuses "a limit of nothing" 2 "0" cellfs scan s t --limit 0
refuses "a timestamp too large" 2 9223372036854775807 \
    cellfs get s t r --ts 9223372036854775807
refuses "a bad time" 2 "yesterday" cellfs scan s t --since yesterday
refuses "a date that is none" 2 "2026-02-29" \
    cellfs scan s t --until 2026-02-29
refuses "times exclude each other" 2 "--ts" \
    cellfs get s t r --ts 5 --since 3
refuses "an unknown form" 2 "octal" cellfs get s t r --as octal
refuses "an odd hex value" 2 "odd" cellfs put s t r f:q abc --as hex
refuses "a value that be32 cannot hold" 2 "4 bytes" \
    cellfs put s t r f:q 2147483648 --as be32
refuses "a delta that is no number" 2 "ten" cellfs incr s t r f:q ten
refuses "delete names deleteall" 2 "deleteall" cellfs delete s t r f:q
refuses "delete of one version only" 2 "exclude" \
    cellfs delete s t r f:q --newest --ts 4
refuses "deleteall of nothing in particular" 2 "prefix" cellfs deleteall s t
refuses "deleteall of an empty prefix" 2 "truncate" \
    cellfs deleteall s t --prefix ""
refuses "an unknown comparison" 2 "~" cellfs cas s t r f:q '~' v put f:q v
refuses "a condition is wanted" 2 "--absent" cellfs cas s t r f:q =
refuses "a change is wanted" 2 "append" cellfs cas s t r f:q = v
refuses "an unknown change" 2 "frob" cellfs cas s t r f:q = v frob
refuses "an option of another change" 2 "put takes no --newest" \
    cellfs cas s t r f:q = v put f:q v --newest
refuses "both ways of opening" 2 "--seal" cellfs alter s t --open --seal
refuses "nothing to alter" 2 "nothing" cellfs alter s t
refuses "an unknown mount option" 2 "frob" cellfs mount s d -o frob
refuses "a bad size" 2 "cache" cellfs mount s d -o cache=5X
for o in cache=1 cache=2097151; do
	refuses "too small a cache" 2 "at least 2M" cellfs mount s d -o "$o"
done
refuses "too little for images" 2 "at least 1M" cellfs mount s d -o buffers=1K
refuses "a bad mask" 2 "umask" cellfs mount s d -o umask=8
[ ! -e s ] || die "a store was made by what was refused"

esc=$(printf '\033')
run cellfs get s t "$esc]0;x"
case $err in
*"$esc"*) die "a control byte reached standard error" ;;
*) ;;
esac
