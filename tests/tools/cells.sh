#!/bin/sh
# Cells: put, get, scan, count, delete, deleteall, incr, append, cas.
. "$(dirname "$0")/lib.sh"

cellfs create "$S" t f:VERSIONS=5 g || die create

# line ROW COLUMN TS VALUE...: what get and scan print.
lines() {
	printf '%s\t%s\t%s\t%s\n' "$@"
}

# --- put and get
gives "put" "" cellfs put "$S" t r1 f:q one f:p two g: three --ts 5
gives "get prints the row" "$(lines r1 f:p 5 two r1 f:q 5 one r1 g: 5 three)" \
    cellfs get "$S" t r1
gives "options stand anywhere" "$(lines r1 f:q 5 one)" \
    cellfs get --ts 5 "$S" t --versions 1 r1 f:q
gives "-- ends the options" "$(lines r1 f:q 5 one)" \
    cellfs get --ts 5 -- "$S" t r1 f:q
gives "columns are picked" "$(lines r1 f:q 5 one r1 g: 5 three)" \
    cellfs get "$S" t r1 f:q g
run cellfs get "$S" t r2
[ "$rc$out$err" = 1 ] || die "get of nothing: $rc $out $err"
run cellfs get "$S" t r1 f:none
[ "$rc$out$err" = 1 ] || die "get of no column: $rc $out $err"
refuses "get of no table" 3 "nosuch" cellfs get "$S" nosuch r1
refuses "put of an undeclared family" 3 "by \`cellfs alter\`" \
    cellfs put "$S" t r1 f:x 1 h:q v
run cellfs get "$S" t r1 f:x
[ "$rc" = 1 ] || die "half of a put was stored"
cellfs put "$S" t r1 f:q later || die put
[ "$(cellfs get "$S" t r1 f:q | cut -f4)" = later ] || die "newest wins"

# --- versions and times
for ts in 1 2 3; do
	cellfs put "$S" t v f:q "v$ts" --ts "$ts" || die put
done
gives "versions come newest first" "$(lines v f:q 3 v3 v f:q 2 v2)" \
    cellfs get "$S" t v --versions 2
gives "all of them" 3 sh -c "cellfs get '$S' t v --versions all | wc -l"
gives "--ts is exact" "$(lines v f:q 2 v2)" cellfs get "$S" t v --ts 2
gives "--since and --until belong to the range" \
    "$(lines v f:q 2 v2 v f:q 1 v1)" \
    cellfs get "$S" t v --since 1 --until 2 --versions all
gives "a time before all" "" sh -c "cellfs get '$S' t v --until 0; [ \$? = 1 ]"
cellfs put "$S" t now f:q x || die put
gives "a time counted back" 1 \
    sh -c "cellfs scan '$S' t --since -1h --prefix now | wc -l"
cellfs put "$S" t gone f:q x --ttl 1 || die put
sleep .1
run cellfs get "$S" t gone
[ "$rc" = 1 ] || die "a cell outlived its ttl: $out"

# --- what would be pushed out, or has expired, is refused with all beside it
cellfs create "$S" kept g:VERSIONS=2 old:TTL=60 || die create
for ts in 100 200; do
	cellfs put "$S" kept r g:x "v$ts" --ts "$ts" || die put
done
refuses "a put of what is pushed out" 3 "stamped 50" \
    cellfs put "$S" kept r g:x v --ts 50
refuses "a put of what has expired" 3 "expired" \
    cellfs put "$S" kept r g:big 5 old:v v --ts 1
refuses "a put that expires at once" 3 "expired" \
    cellfs put "$S" kept r g:big 5 --ts 1 --ttl 5
refuses "a put behind a condition" 3 "stamped 50" \
    cellfs cas "$S" kept r g:x = v200 put g:big 5 g:x v --ts 50
gives "nothing of them was stored" "$(lines r g:x 200 v200 r g:x 100 v100)" \
    cellfs get "$S" kept r --versions all
gives "a put in the place of a version" "" \
    cellfs put "$S" kept r g:x again --ts 100
run cellfs cas "$S" kept r g:x = v100 put g:x v --ts 50
[ "$rc $out" = "1 false" ] || die "a put that is not made: $rc $out $err"

# --- delete
gives "delete of one version" "" cellfs delete "$S" t v f:q --ts 2
gives "the others stay" "$(lines v f:q 3 v3 v f:q 1 v1)" \
    cellfs get "$S" t v --versions all
gives "delete of the newest" "" cellfs delete "$S" t v f:q --newest
gives "the next one shows" "$(lines v f:q 1 v1)" cellfs get "$S" t v
gives "delete of nothing" "" cellfs delete "$S" t v f:q --ts 77
cellfs put "$S" t d f:a 1 f:b 2 g:c 3 --ts 10 || die put
cellfs put "$S" t d f:a 9 --ts 20 || die put
gives "deleteall up to a timestamp" "" \
    cellfs deleteall "$S" t d f:a --ts 10
gives "newer ones stay" "$(lines d f:a 20 9)" \
    cellfs get "$S" t d f:a --versions all
gives "deleteall of a family" "" cellfs deleteall "$S" t d f
gives "other families stay" "$(lines d g:c 10 3)" cellfs get "$S" t d
gives "deleteall of a row" "" cellfs deleteall "$S" t d
run cellfs get "$S" t d
[ "$rc" = 1 ] || die "deleteall left $out"
for r in p1 p2 p3 q1; do
	cellfs put "$S" t "$r" f:q "$r" g:q "$r" --ts 1 || die put
done
gives "deleteall of a column by prefix" "" \
    cellfs deleteall "$S" t --prefix p f:q
gives "the column is gone everywhere" "$(lines q1 f:q 1 q1)" \
    cellfs scan "$S" t --from p --to r --columns f
gives "deleteall by prefix" "" cellfs deleteall "$S" t --prefix p
gives "the rows are gone" 1 cellfs count "$S" t --from p --to r

# --- scan and count
cellfs create "$S" s f g || die create
for r in a b ba bb c; do
	cellfs put "$S" s "$r" f:q "$r" g:q "g$r" --ts 1 || die put
done
rows() {
	cellfs scan "$S" s --columns f "$@" | cut -f1 | tr '\n' ' '
}
claim_rows() {
	expected=$1
	shift
	[ "$(rows "$@")" = "$expected" ] ||
	    die "scan $* gave $(rows "$@"), not $expected"
}
claim_rows "a b ba bb c "
claim_rows "c bb ba b a " --reversed
claim_rows "b ba bb " --prefix b
claim_rows "bb ba b " --prefix b --reversed
claim_rows "b ba bb " --from b --to c
claim_rows "bb ba b " --from b --to c --reversed
claim_rows "ba bb " --prefix b --from ba
claim_rows "b ba " --prefix b --to bb
claim_rows "a b " --limit 2
claim_rows "c bb " --limit 2 --reversed
claim_rows "" --from b --to b
claim_rows "" --from c --to b
claim_rows "" --prefix b --from c
claim_rows "" --from c --to b --reversed
gives "columns" "$(lines a f:q 1 a a g:q 1 ga)" \
    cellfs scan "$S" s --limit 1 --columns g:q,f
gives "--keys-only leaves out the values" "a${TAB}f:q${TAB}1" \
    cellfs scan "$S" s --to b --columns f --keys-only
gives "-0 ends records with a NUL" "a${TAB}f:q${TAB}1${TAB}a@" \
    sh -c "cellfs scan '$S' s --to b --columns f -0 | tr '\\0' @"
gives "count" 5 cellfs count "$S" s
gives "count with bounds" 3 cellfs count "$S" s --prefix b --columns f
gives "count with a limit" 2 cellfs count "$S" s --limit 2 --reversed
gives "count prints JSON" '{"rows":5}' cellfs count "$S" s --json
refuses "scan of no table" 3 "nosuch" cellfs scan "$S" nosuch

# --- filters
gives "scan --filter" "$(lines b g:q 1 gb ba g:q 1 gba bb g:q 1 gbb)" \
    cellfs scan "$S" s --filter "PrefixFilter('b') AND FamilyFilter(=,'binary:g')"
gives "get --filter" "$(lines a f:q 1 a)" \
    cellfs get "$S" s a --filter "ValueFilter(=,'binary:a')"
run cellfs get "$S" s a --filter "ValueFilter(=,'binary:b')"
[ "$rc" = 1 ] || die "get --filter of nothing: $rc"
gives "count --filter" 2 \
    cellfs count "$S" s --filter "ValueFilter(=,'regexstring:^g?b[ab]')"
gives "--filter with the other options" "$(lines bb f:q 1 bb)" \
    cellfs scan "$S" s --reversed --columns f --limit 1 --filter "PrefixFilter('b')"
gives "--keys-only with a filter of values" "b${TAB}g:q${TAB}1" \
    cellfs scan "$S" s --keys-only --filter "ValueFilter(=,'binary:gb')"
gives "bytes are written as elsewhere" "$(lines c f:q 1 c c g:q 1 gc)" \
    cellfs scan "$S" s --filter "RowFilter(=,'binary:\x63')"
refuses "a malformed filter" 2 'at byte 14, before "b)": expected' \
    cellfs scan "$S" s --filter "PrefixFilter(b)"
refuses "an empty filter" 2 "expected a filter" cellfs count "$S" s --filter ""

# --- JSON
gives "an object is a row" '{"row":"a","cells":[{"family":"f","qualifier":"q","timestamp":1,"value":"a"},{"family":"g","qualifier":"q","timestamp":1,"value":"ga"}]}' \
    cellfs get "$S" s a --json
gives "--batch cuts objects" 4 \
    sh -c "cellfs scan '$S' s --json --batch 1 --prefix b --to bb | wc -l"
cellfs scan "$S" s --json | python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert [r["row"] for r in rows] == ["a", "b", "ba", "bb", "c"], rows
assert all(len(r["cells"]) == 2 for r in rows), rows' || die "scan --json"

# --- incr and append
gives "incr from nothing" 1 cellfs incr "$S" t n f:n
gives "incr by a number" 11 cellfs incr "$S" t n f:n 10
gives "incr by a negative number" -4 cellfs incr "$S" t n f:n -15
gives "a counter is 8 bytes" '\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFC' \
    sh -c "cellfs get '$S' t n f:n | cut -f4"
gives "be64 shows the number" -4 \
    sh -c "cellfs get '$S' t n f:n --as be64 | cut -f4"
cellfs put "$S" t n f:text 5 || die put
refuses "incr of what is no counter" 3 "8" cellfs incr "$S" t n f:text
refuses "be64 of what is none" 3 "be64" cellfs get "$S" t n f:text --as be64
gives "append to nothing" abc cellfs append "$S" t n f:a abc
gives "append" 'abc\x0Adef' cellfs append "$S" t n f:a '\x0adef'

# --- cas
gives "cas on an absent cell" true \
    cellfs cas "$S" t c f:q --absent put f:q v1 f:p w1
run cellfs cas "$S" t c f:q --absent put f:q v2
[ "$rc $out" = "1 false" ] || die "cas where there is a cell: $rc $out"
gives "cas on a value" true cellfs cas "$S" t c f:q = v1 put f:q v2
run cellfs cas "$S" t c f:q = v1 put f:q v3
[ "$rc $out" = "1 false" ] || die "cas on another value: $rc $out"
[ "$(cellfs get "$S" t c f:q | cut -f4)" = v2 ] || die "cas wrote"
gives "the expected value stands left: v1 < v2" true \
    cellfs cas "$S" t c f:q '<' v1 put f:x 1
run cellfs cas "$S" t c f:q '>' v1 put f:x 2
[ "$rc $out" = "1 false" ] || die "cas: v1 > v2: $rc $out"
run cellfs cas "$S" t c f:none '!=' v put f:x 3
[ "$rc $out" = "1 false" ] || die "no comparison with nothing: $rc $out"
gives "cas and incr" true cellfs cas "$S" t c f:q '!=' x incr f:n 5
gives "cas on a number" true \
    cellfs cas "$S" t c f:n = 5 --as be64 incr f:n -2
gives "the counter" 3 sh -c "cellfs get '$S' t c f:n --as be64 | cut -f4"
gives "cas and append" true cellfs cas "$S" t c f:q = v2 append f:q +
gives "cas and delete" true \
    cellfs cas "$S" t c f:q = v2+ delete f:q --newest
gives "cas and deleteall" true cellfs cas "$S" t c f:q = v2 deleteall f:q
gives "cas and deleteall of the row" true \
    cellfs cas "$S" t c f:n = 3 --as be64 deleteall
run cellfs get "$S" t c
[ "$rc" = 1 ] || die "cas deleteall left $out"
refuses "cas on an undeclared family" 3 "h" \
    cellfs cas "$S" t c h:q --absent put f:q v

# --- the store as a whole
gives "check finds no fault" "" cellfs check "$S"
gives "compact" "" cellfs compact "$S"
gives "compact of a family" "" cellfs compact "$S" t f
refuses "compact of no table" 3 "nosuch" cellfs compact "$S" nosuch
gives "nothing is lost by it" 5 cellfs count "$S" s
cellfs stats "$S" > "$W/stats" || die stats
grep -qvE '^[a-z_.]+ [0-9]+$' "$W/stats" && die "stats: $(cat "$W/stats")"
[ -s "$W/stats" ] || die "no stats"
cellfs stats "$S" --json | python3 -c 'import json, sys
assert json.load(sys.stdin)' || die "stats --json"
