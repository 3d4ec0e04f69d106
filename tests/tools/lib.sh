# Sourced by the tests of the command line: sh, run with the program's path in
# CELLFS. A test works in a directory of its own and ends at the first claim
# that does not hold.
set -u
: "${CELLFS:?the path of the built program}"
W=$(mktemp -d)
S=$W/store
trap 'rm -rf "$W"' EXIT
PATH=$(dirname "$CELLFS"):$PATH
TAB=$(printf '\t')

die() {
	echo "FAILED: $*" >&2
	exit 1
}

# run COMMAND...: its standard output in $out, error in $err, status in $rc.
run() {
	rc=0
	"$@" > "$W/out" 2> "$W/err" || rc=$?
	out=$(cat "$W/out")
	err=$(cat "$W/err")
}

# gives CLAIM EXPECTED COMMAND...: exit 0, exactly this output, nothing on
# standard error.
gives() {
	claim=$1 expected=$2
	shift 2
	run "$@"
	[ "$rc" = 0 ] || die "$claim: status $rc, $err: $*"
	[ "$out" = "$expected" ] ||
	    die "$claim: printed '$out', not '$expected': $*"
	[ -z "$err" ] || die "$claim: said '$err': $*"
}

# refuses CLAIM STATUS WORDS COMMAND...: this status, nothing on standard
# output, one line "cellfs: subject: reason" with WORDS in it.
refuses() {
	claim=$1 status=$2 part=$3
	shift 3
	run "$@"
	[ "$rc" = "$status" ] || die "$claim: status $rc, not $status: $*"
	[ -z "$out" ] || die "$claim: printed '$out': $*"
	case $err in
	"cellfs: "*": "*) ;;
	*) die "$claim: no subject and reason: '$err': $*" ;;
	esac
	case $err in
	*"$part"*) ;;
	*) die "$claim: said '$err', not '$part': $*" ;;
	esac
	[ "$(wc -l < "$W/err")" = 1 ] || die "$claim: several lines: $err"
}
