# Helpers for tests of a mounted store. Source it; bash.
#
# Every test works in a fresh directory W with the store S and the mount point
# M; the trap unmounts and removes them. CELLFS names the program.
#
#   begin [FAMILY[:ATTR=VALUE,...]]...  a store with table t, mounted, row r1;
#                                       F is its family f, q the cell F/q
#   up [OPTION...] / down / again       mount, unmount and wait, both
#   crash                               kill -9 the daemon
#   expect WANT COMMAND...              its output (both streams) is WANT
#   refused WANT COMMAND...             it fails, saying WANT; its status in RC
#   is GOT WANT [WHAT]                  two strings are equal
# A failure is reported with its line and the test goes on.

export LC_ALL=C.UTF-8 TZ=UTC PYTHONDONTWRITEBYTECODE=1
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CELLFS=${CELLFS:-cellfs}
export PYTHONPATH=$HERE
DPID=

skip() { echo "skipped: $*" >&2; exit 77; }
need() { local c; for c; do command -v "$c" >/dev/null || skip "needs $c"; done; }
root() { [ "$(id -u)" = 0 ] || skip "needs root"; }

command -v "$CELLFS" >/dev/null || { echo "$CELLFS: no such program" >&2; exit 2; }
CELLFS=$(realpath "$(command -v "$CELLFS")")
[ -r /dev/fuse ] || skip "needs /dev/fuse"
need fusermount3 python3

W=$(mktemp -d "${TMPDIR:-/tmp}/cellfs-test.XXXXXX") || exit 2
S=$W/store
M=$W/mnt
mkdir "$M"

fail() {
	local i=1
	while [ "${BASH_SOURCE[$i]}" = "${BASH_SOURCE[0]}" ]; do i=$((i + 1)); done
	echo "$(basename "${BASH_SOURCE[$i]}"):${BASH_LINENO[$((i - 1))]}: $*" |
		sed 's/\(.\{400\}\).*/\1.../' >&2
	: > "$W/.failed" # a variable would be lost in a subshell
}

is() { [ "$1" = "$2" ] || fail "${3:+$3: }got [$1], expected [$2]"; }

expect() {
	local want=$1 got
	shift
	got=$("$@" 2>&1)
	is "$got" "$want" "$*"
}

refused() {
	local want=$1 said
	shift
	said=$("$@" 2>&1 >/dev/null)
	RC=$?
	[ $RC -ne 0 ] || fail "$*: was not refused"
	case $said in
	*"$want"*) ;;
	*) fail "$*: said [$said], expected [$want]" ;;
	esac
}

works() { "$@" || fail "$*: exit $?"; }
absent() { local f; for f; do refused "No such file or directory" cat "$f"; done; }
empty() { expect "" names "$1"; }

# -- the store ---------------------------------------------------------------

create() { local t=$1; shift; works "$CELLFS" create "$S" "$t" "$@"; }

up() {
	"$CELLFS" mount "$S" "$M" "$@" </dev/null || return
	DPID=$(cat "$M/.cellfs/pid")
}

gone() { # waits until the daemon has ended
	local i
	for i in $(seq 600); do
		kill -0 "$DPID" 2>/dev/null || return 0
		sleep .1
	done
	fail "the daemon did not end within a minute"
}

down() {
	works fusermount3 -u "$M"
	gone
}

again() { down; works up "$@"; }

crash() {
	kill -9 "$DPID"
	gone
	fusermount3 -uz "$M"
}

recover() { crash; works up; }
gc() { works control compact; }
control() { (echo "$*" > "$M/.cellfs/control"); }

begin() {
	[ $# -gt 0 ] || set -- f:VERSIONS=5
	create t "$@"
	up || { fail "no mount"; exit 1; }
	row r1
	F=$M/t/r1/f
	q=$F/q
}

row() { local r; for r; do works mkdir -p "$M/t/$r/f"; done; }

# -- cells -------------------------------------------------------------------

put() { # VALUE FILE, by a program that looks at the result of close
	printf '%s\n' "$1" > "$W/.in"
	works cp "$W/.in" "$2"
}

vers() { ls -1U "$1@/"; } # timestamps in the order listed
nver() { vers "$1" | wc -l; }
names() { ls -A "$1"; }
count() { ls -A "$1" | wc -l; }
nth() { echo "$1@$(vers "$1" | sed -n "$2p")"; } # file of the N-th version
enc() { python3 "$HERE/names.py"; } # key on stdin to its name

# The values of all versions, newest first, on one line.
history() { local t; for t in $(vers "$1"); do cat "$1@$t"; done | tr '\n' ' ' | sed 's/ $//'; }

# -- the end -----------------------------------------------------------------

unmounted() { # everything below W, the innermost first
	local m
	for m in $(awk -v w="$W/" 'index($2, w) == 1 { print $2 }' /proc/mounts | sort -r); do
		fusermount3 -u "$m" 2>/dev/null || umount "$m" 2>/dev/null || umount -l "$m"
	done
}

finish() {
	local status=$? i
	trap - EXIT
	cd /
	[ "$status" != 0 ] || [ ! -e "$W/.failed" ] || status=1
	[ "$status" = 0 ] || [ "$status" = 77 ] || tail -n 5 "$M/.cellfs/log" 2>/dev/null | sed 's/^/log: /' >&2
	unmounted
	for i in $(seq 100); do
		kill -0 "${DPID:-0}" 2>/dev/null && [ -n "$DPID" ] || break
		sleep .1
	done
	[ -z "$DPID" ] || kill -9 "$DPID" 2>/dev/null
	unmounted
	case $W in
	*/cellfs-test.??????)
		grep -q " $W/" /proc/mounts || rm -rf --one-file-system "$W" ;;
	esac
	exit "$status"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP
