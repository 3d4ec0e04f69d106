#!/bin/sh
# The text form and the other forms, in and out; large values.
. "$(dirname "$0")/lib.sh"

cellfs create "$S" t f:VERSIONS=1 g:MAX_CELL_SIZE=1099511627776 || die create

# --- every byte, as row, qualifier and value, comes back as it was
python3 - > "$W/all" <<'E'
import sys
print("".join("\\x%02x" % i for i in range(256)))
E
all=$(cat "$W/all")
cellfs put "$S" t "$all" "f:$all" "$all" --ts 1 || die put
cellfs get "$S" t "$all" "f:$all" --raw-value > "$W/bytes" || die get
python3 -c 'import sys
sys.exit(open(sys.argv[1], "rb").read() != bytes(range(256)))' "$W/bytes" ||
    die "bytes were changed"
cellfs get "$S" t "$all" > "$W/line" || die get
python3 - "$W/line" <<'E' || die "the text form: $(cat "$W/line")"
import re, sys
line = open(sys.argv[1], "rb").read()
assert line.count(b"\n") == 1 and line.count(b"\t") == 3
row, column, ts, value = line[:-1].split(b"\t")
def parse(text):
    return re.sub(rb"\\x([0-9A-F]{2})",
        lambda m: bytes([int(m.group(1), 16)]), text)
everything = bytes(range(256))
assert parse(row) == parse(value) == everything
assert parse(column) == b"f:" + everything
assert re.fullmatch(rb"[\x20-\x7e]*", row), row
E
row=$(cut -f1 "$W/line") column=$(cut -f2 "$W/line")
gives "what is printed can be typed" "$(cat "$W/line")" \
    cellfs get "$S" t "$row" "$column"
cellfs get "$S" t "$row" --json | python3 -c '
import json, sys
line, text = sys.stdin.read(), open(sys.argv[1]).read()[:-1].split("\t")
o = json.loads(line)
cell = o["cells"][0]
assert o["row"] == text[0], o
assert cell["qualifier"] == text[1][2:] and cell["value"] == text[3], o
' "$W/line" || die "JSON holds the text form"
gives "readable text stands as it is" "尚学堂${TAB}f:é:x${TAB}2${TAB}前台 😀" \
    sh -c "cellfs put '$S' t 尚学堂 f:é:x '前台 😀' --ts 2 &&
	cellfs get '$S' t 尚学堂"

# --- other forms
gives "hex in, hex out" 00ff5c sh -c "cellfs put '$S' t v f:q 00FF5c --as hex &&
    cellfs get '$S' t v f:q --as hex | cut -f4"
gives "base64 in, base64 out" AP9c \
    sh -c "cellfs put '$S' t v f:q AP9c --as base64 &&
	cellfs get '$S' t v f:q --as base64 | cut -f4"
gives "the same bytes" '\x00\xFF\x5C' \
    sh -c "cellfs get '$S' t v f:q | cut -f4"
gives "be32" '-2' sh -c "cellfs put '$S' t v f:q -2 --as be32 &&
    cellfs get '$S' t v f:q --as be32 | cut -f4"
gives "be64 in JSON is a number" 9007199254740993 \
    sh -c "cellfs put '$S' t v f:q 9007199254740993 --as be64 &&
	cellfs get '$S' t v f:q --as be64 --json |
	    python3 -c 'import json, sys
print(json.load(sys.stdin)[\"cells\"][0][\"value\"])'"
gives "--raw-value takes the argument as it is" 'a\x5Cx41' \
    sh -c "cellfs put '$S' t v f:q 'a\\x41' --raw-value &&
	cellfs get '$S' t v f:q | cut -f4"
gives "an empty value is a value" "v${TAB}f:q${TAB}9${TAB}" \
    sh -c "cellfs deleteall '$S' t v f:q &&
	cellfs put '$S' t v f:q '' --ts 9 && cellfs get '$S' t v f:q"
gives "- without --raw-value is a dash" - \
    sh -c "cellfs put '$S' t v f:p - < /dev/null &&
	cellfs get '$S' t v f:p | cut -f4"

# --- standard input, from a file and from a pipe, and values in chunks
head -c 3000001 /dev/urandom > "$W/big"
cellfs put "$S" t big f:file - --raw-value < "$W/big" || die "put of a file"
cat "$W/big" | cellfs put "$S" t big f:pipe - --raw-value || die "of a pipe"
for q in file pipe; do
	cellfs get "$S" t big f:$q --raw-value | cmp - "$W/big" || die "$q"
done
{ read -r skipped; cellfs put "$S" t big f:rest - --raw-value; } <<'E' || die rest
first
second
E
[ "$skipped" = first ] || die "read: $skipped"
gives "standard input begins where it stands" 'second\x0A' \
    sh -c "cellfs get '$S' t big f:rest | cut -f4"
cellfs get "$S" t big f:file --as base64 | cut -f4 | base64 -d |
    cmp - "$W/big" || die "base64 of a large value"
cellfs get "$S" t big f:file --as hex | cut -f4 | python3 -c '
import sys
sys.exit(bytes.fromhex(sys.stdin.read()) != open(sys.argv[1], "rb").read())
' "$W/big" || die "hex of a large value"
python3 -c '
import sys
sys.stdout.write("尚é😀x" * 100001)' > "$W/text"
cellfs put "$S" t big f:text - --raw-value < "$W/text" || die "put"
cellfs get "$S" t big f:text | cut -f4 | tr -d '\n' | cmp - "$W/text" ||
    die "characters were cut"
cellfs get "$S" t big f:text --json | python3 -c '
import json, sys
value = json.load(sys.stdin)["cells"][0]["value"]
sys.exit(value != open(sys.argv[1]).read())' "$W/text" || die "large JSON"
refuses "a number is not that long" 3 be64 \
    cellfs get "$S" t big f:file --as be64
head -c 10485761 /dev/zero > "$W/over"
refuses "a value above the limit" 3 "" \
    sh -c "cellfs put '$S' t big f:over - --raw-value < '$W/over'"
run cellfs get "$S" t big f:over
[ "$rc" = 1 ] || die "a value above the limit was stored"

# --- a value larger than the memory it may take
head -c 200M /dev/zero | tr '\0' z > "$W/huge"
cellfs put "$S" t big g:huge - --raw-value < "$W/huge" || die "huge put"
python3 - "$CELLFS" "$S" "$W/huge" <<'E' || die "a huge value"
import resource, subprocess, sys
get = subprocess.Popen([sys.argv[1], "get", sys.argv[2], "t", "big", "g:huge",
    "--raw-value"], stdout=subprocess.PIPE)
with open(sys.argv[3], "rb") as f:
    while piece := f.read(1 << 20):
        assert get.stdout.read(len(piece)) == piece
assert get.stdout.read(1) == b"" and get.wait() == 0
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
assert peak < 150 * 1024, peak
E

# --- standard output that cannot be written
refuses "a full disk is told" 3 "standard output" \
    sh -c "cellfs get '$S' t big f:file > /dev/full"
