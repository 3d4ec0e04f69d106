#!/bin/sh
# Commands on a store that a mount holds, mount and umount.
. "$(dirname "$0")/lib.sh"

M=$W/mnt
mkdir "$M"
if ! [ -e /dev/fuse ]; then
	echo "no /dev/fuse"
	exit 77
fi
trap 'fusermount3 -u -z "$M" 2> /dev/null; rm -rf "$W"' EXIT

cellfs create "$S" t f:VERSIONS=3 || die create
cellfs create "$S" u f || die create
cellfs put "$S" t r f:q v --ts 5 || die put

run cellfs mount "$S" "$M"
case $rc$err in
3*"without FUSE"*) exit 77 ;;
0) ;;
*) die "mount: $rc $err" ;;
esac
pid=$(cat "$M/.cellfs/pid")
gives "the cell is a file" v cat "$M/t/r/f/q"

# --- refused, naming pid and mount point, through every name of the store
mkdir "$M/t/r2"
for store in "$S" "$S/." "$M" "$M/t" "$M/t/r2"; do
	for words in "list" "get t r" "put t r f:q w" "create n f" "scan t" \
	    "rename t x" "check" "stats" "alter t f"; do
		command=${words%% *} rest=${words#"$command"}
		# shellcheck disable=SC2086
		refuses "$command on a mounted store" 3 "$pid" \
		    cellfs "$command" "$store" $rest
		case $err in
		*"$M"*) ;;
		*) die "no mount point: $err" ;;
		esac
	done
done
gives "nothing was changed" v cat "$M/t/r/f/q"
mkdir "$W/second"
refuses "a second mount" 3 "cellfs: $S: process $pid" \
    cellfs mount "$S" "$W/second"

# --- what the mount does for us
gives "compact" "" cellfs compact "$S"
gives "compact of a table" "" cellfs compact "$M" t
gives "compact of a family" "" cellfs compact "$M/t" t f
gives "truncate" "" cellfs truncate "$S" t
[ -d "$M/t" ] && [ ! -e "$M/t/r" ] || die "truncate through the mount"
gives "drop" "" cellfs drop "$M" u
[ ! -e "$M/u" ] || die "drop through the mount"
refuses "drop of nothing" 3 "nosuch" cellfs drop "$M" nosuch
refuses "truncate of nothing" 3 "nosuch" cellfs truncate "$S" nosuch

# --- umount
mkdir -p "$M/t/r/f"
exec 4> "$M/t/r/f/open"
refuses "a busy mount" 3 "usy" cellfs umount "$M"
exec 4>&-
refuses "the mount one works in" 3 "usy" sh -c "cd '$M' && cellfs umount ."
refuses "the mount above" 3 "usy" \
    sh -c "cd '$M/t/r/f' && cellfs umount ../../.."
refuses "what is no mount" 3 "no cellfs" cellfs umount "$W"
refuses "a directory of the mount" 3 "no cellfs" cellfs umount "$M/t"
ln -s "$M" "$W/link"
gives "umount by another name" "" cellfs umount "$W/link"
case $(ps -o stat= -p "$pid") in
"" | Z*) ;;
*) die "the daemon is still there" ;;
esac
gives "the store is free at once" t cellfs list "$S"

# --- a daemon that died
cellfs mount "$S" "$M" -o ro,noauto || die "mount -o ro"
pid=$(cat "$M/.cellfs/pid")
kill -9 "$pid"
sleep .2
gives "a dead mount is taken away" "" cellfs umount "$M/"
gives "the store is whole" t cellfs list "$S"

# --- what mount(8) calls
helper=$(dirname "$CELLFS")/mount.cellfs
gives "-f mounts nothing" "" "$helper" "$S" "$M" -f -o rw,cache=32M
refuses "an unknown option" 1 "frob" "$helper" "$S" "$M" -o rw,frob
gives "-s passes over it" "" "$helper" "$S" "$M" -n -s -o rw,frob,nosuid
[ -d "$M/t" ] || die "mount.cellfs did not mount"
gives "umount" "" cellfs umount "$M"

# --- a daemon that is closing, and other commands, are waited for
for i in 1 2 3; do
	cellfs mount "$S" "$M" 2> /dev/null || die "mount right after umount $i"
	fusermount3 -u "$M"
	[ "$(cellfs list "$S" 2> /dev/null)" = t ] ||
	    die "a command does not wait for the daemon"
done
for i in 1 2 3 4; do
	cellfs incr "$S" t n f:n > /dev/null 2>&1 &
done
wait
gives "commands wait for each other" 5 cellfs incr "$S" t n f:n
