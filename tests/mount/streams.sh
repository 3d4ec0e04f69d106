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

I03_a_table_is_copied_by_its_lines() {
	begin f:VERSIONS=5 g
	printf 'family f versions=5\nfamily g\n' > $M/.schema/u
	row "a b" %FF
	printf '\000\t\n\\x\377' > "$M/t/a b/f/q"
	: > $M/t/%FF/f/%
	head -c 300000 /dev/urandom > $F/big
	yes 'a "line" \ of text' | head -c 2500000 > $F/text
	expect "" ls $M/u
	works cat $M/t/.cells > "$W/cells"
	works cp "$W/cells" $M/u/.cells
	works cmp $M/u/.cells "$W/cells"
	works cmp $M/u/r1/f/big $F/big
	works cmp $M/u/r1/f/text $F/text
	expect $'a b\nr1\n%FF' ls -U $M/u
	works cat "$W/cells" >> $M/u/.cells
	works cmp $M/u/.cells "$W/cells"
	# what the kernel knew, it knows anew
	absent $M/t/new $M/t/r1/f/q
	printf 'new\tf:q\t5\tv\nr1\tf:q\t5\tw\n' > $M/t/.cells
	expect v cat $M/t/new/f/q
	expect w cat $F/q
	printf 'r1\tf:q\t6\tnewer\n' | works tee -a $M/t/r1/.cells > /dev/null
	expect newer cat $F/q
	refused "Operation not permitted" cp "$W/cells" $M/t/r1/f/.cells
}

I04_a_bad_line_is_named() {
	begin
	refused "Invalid argument" cp <(printf 'r1\tf:a\t5\tv\nr1\tf:b\t05\tv\n') $M/t/.cells
	expect "line 2: '05': no timestamp, 0 to 2^63-2" getfattr -n user.cellfs.error --only-values --absolute-names $M
	expect a names $F
	printf 'r1\tf:c\t5\tv\nr2\tf:c\t5\tv\n' > "$W/two"
	refused "Invalid argument" cp "$W/two" $M/t/r1/.cells
	expect a names $F
	printf 'r1\tf:c\t5\tv' > "$W/cut"
	refused "Invalid argument" cp "$W/cut" $M/t/.cells
	expect a names $F
}

I05_a_kill_leaves_whole_rows_and_the_same_lines_complete_them() {
	begin f:VERSIONS=5 g
	python3 -c '
for r in range(20000):
    for c in range(5):
        print("row%05d\tf:q%d\t7\tvalue %d of %d" % (r, c, c, r))' > "$W/lines"
	cat "$W/lines" > $M/t/.cells 2>/dev/null &
	until [ -d $M/t/row00500 ]; do sleep .05; done
	crash
	wait
	works up
	cut -f 1 $M/t/.cells | uniq -c | awk '$1 != 5' > "$W/broken"
	expect "" cat "$W/broken"
	works cp "$W/lines" $M/t/.cells
	works cmp $M/t/.cells "$W/lines"
}

I06_streams_belong_to_the_owner_and_are_never_made() {
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
