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

# --- a file that is missing or unreadable: one repair says what is lost
rm -rf "${S:?}"
cellfs create "$S" t f || die "create"
cellfs create "$S" u g || die "create"
cellfs put "$S" u r g:x 1 || die "put"
cellfs put "$S" t r f:q 1 || die "put"
head -c 3000000 /dev/urandom > "$W/big"
cellfs put "$S" t r f:big - --raw-value < "$W/big" || die "put"
for file in "$S"/0000[01]*.wt; do
	for how in missing zeroed; do
		rm -rf "${W:?}/c"
		cp -r "$S" "$W/c"
		damaged=$W/c/${file##*/}
		rm "$damaged"
		[ $how = missing ] ||
		    head -c "$(stat -c %s "$file")" /dev/zero > "$damaged"
		run cellfs check "$W/c" --repair
		case $file in # what is there to find keys faster is made anew
		*/000003.wt) ;;
		*) [ "$rc" = 1 ] || die "$how $file: status $rc: $out $err" ;;
		esac
		case $out$err in
		*"check --repair"*) die "$how $file: $out $err" ;;
		*"${damaged##*/}"*) ;;
		*) die "$how $file is not named: $out $err" ;;
		esac
		case $file in
		*/000000.wt) [ "$(echo "$W"/c/00001?.wt)" = \
		    "$(echo "$W/c/000017.wt $W/c/000018.wt $W/c/000019.wt")" ] ||
		    die "$how $file: what has no name any more is gone" ;;
		esac
		gives "$how $file: once is enough" "" \
		    cellfs check "$W/c" --repair --no-progress
		gives "$how $file: a sound store" "" \
		    cellfs check "$W/c" --no-progress
		gives "$how $file: it takes a table" "" cellfs create "$W/c" v f
	done
done
