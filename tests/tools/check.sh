#!/bin/sh
# check finds damage, names it, and says so by its exit code.
. "$(dirname "$0")/lib.sh"

cellfs create "$S" t f:COMPRESSION=none g || die create
head -c 6000 /dev/urandom | base64 -w0 > "$W/value"
for r in r1 r2 r3; do
	cellfs put "$S" t $r "f:q" "$(cat "$W/value")" g:q small || die put
done
gives "a whole store has no fault" "" cellfs check "$S" --no-progress
refuses "no store, no check" 3 "none" cellfs check "$W/none"

family=$(ls -S "$S"/0*.wt | head -1)
cp -a "$S" "$W/good"
printf ZZZZ | dd of="$family" bs=1 seek=6000 conv=notrunc status=none
run cellfs check "$S"
[ "$rc" = 1 ] || die "damage gave status $rc: $out"
case $out in
*"$(basename "$family")"*) ;;
*) die "check does not name the file: $out" ;;
esac
run cellfs get "$S" t r2 g
[ "$rc" = 0 ] || die "another family suffers: $err"

rm -rf "$S"
cp -a "$W/good" "$S"
rm "$S/WiredTiger.turtle"
run cellfs check "$S"
[ "$rc" = 1 ] || die "a missing file gave status $rc: $out"
case $out in
*turtle*) ;;
*) die "check does not name the file: $out" ;;
esac
refuses "it is no empty store" 3 turtle cellfs list "$S"
