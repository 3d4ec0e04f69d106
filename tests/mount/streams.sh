# Streams: .cells, .json and .count.

# The bytes of the streams $1/.cells, .json and .count into files $2.*
keep_streams() { local s; for s in cells json count; do works cat "$1/.$s" > "$W/$2.$s"; done; }

# What the command line prints, with $2... its operands, is in those files.
printed() {
	local as=$1
	shift
	works "$CELLFS" "$@" | works cmp - "$W/$as.cells"
	works "$CELLFS" "$@" --json | works cmp - "$W/$as.json"
}

I01_streams_are_what_the_command_line_prints() {
	begin f:VERSIONS=5 g
	row "a b" %FF %2E%00
	works mkdir -p "$M/t/a b/g"
	put one $q
	put two $q
	printf '\000\t\n\\x\377' > "$M/t/a b/g/%"
	: > "$M/t/a b/f/empty"
	printf 'h\303\251' > "$M/t/a b/f/caf"$'\xc3\xa9'
	put odd $M/t/%FF/f/q
	put dot $M/t/%2E%00/f/q@5
	head -c 300000 /dev/urandom > $F/big
	yes 'a "line" \ of text' | head -c 2500000 > $F/text
	put hidden $F/.dot
	keep_streams $M/t table
	keep_streams "$M/t/a b" row
	keep_streams $F family
	expect 4 cat $M/t/.count
	expect 1 cat $F/.count
	expect 4 jq -s length "$W/table.json"
	is "$(jq -r '.cells[] | select(.qualifier == "q").value' "$W/family.json")" 'two\x0A'
	down
	printed table scan "$S" t
	printed row get "$S" t "a b"
	printed family get "$S" t r1 f
	works "$CELLFS" count "$S" t | works cmp - "$W/table.count"
	up
}

I02_tools_read_streams_as_files_and_several_at_once() {
	begin
	local i
	for i in $(seq -w 500); do echo "f:q$i v$i"; done > "$W/args"
	down
	# shellcheck disable=SC2046
	works "$CELLFS" put "$S" t r1 $(cat "$W/args") --ts 7
	# shellcheck disable=SC2046
	works "$CELLFS" put "$S" t r2 $(cat "$W/args") --ts 8
	up
	works cat $M/t/.cells > "$W/whole"
	is "$(wc -l < "$W/whole")" 1000
	expect "$(head -n 2 "$W/whole")" head -n 2 $M/t/.cells
	expect "$(tail -n 2 "$W/whole")" tail -n 2 $M/t/.cells
	expect 2 grep -c 'f:q007' $M/t/.cells
	expect 500 awk -F'\t' '$3 == 8 { n++ } END { print n }' $M/t/.cells
	works sort -r $M/t/.cells | works sort | works cmp - "$W/whole"
	is "$(join -t $'\t' -j 2 -o 1.4 $M/t/r1/.cells $M/t/r2/.cells | wc -l)" 500
	works dd if=$M/t/.cells bs=777 skip=3 status=none | works cmp - <(tail -c +2332 "$W/whole")
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		works cmp $M/t/.cells "$W/whole" &
	done
	works ls $M/t > /dev/null
	wait
	sqlite3 :memory: "create table c(r, c, t, v)" ".mode tabs" ".import $M/t/.cells c" \
		"select count(*), sum(t) from c" > "$W/sql"
	expect "1000	7500" cat "$W/sql"
}

I03_streams_belong_to_the_owner_and_are_never_made() {
	root
	begin
	chmod 755 "$W"
	put v $q
	works chmod 600 $q
	works chmod 777 $F
	chown 65534 $F
	works setpriv --reuid 65534 --regid 65534 --clear-groups cat $F/.count > /dev/null
	refused "Permission denied" setpriv --reuid 65534 --regid 65534 --clear-groups cat $M/t/.cells
	refused "Operation not permitted" sh -c "echo x > $F/.json"
	refused "Operation not permitted" sh -c "echo x >> $M/t/.count"
	refused "Operation not permitted" rm $F/.cells
	refused "Operation not permitted" mv $q $F/.cells
	refused "Operation not permitted" mv $F/.cells $F/p
	expect q names $F
	expect r1 names $M/t
	absent $M/.cells $M/t/.other
}
