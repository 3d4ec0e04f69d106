# Views: tables narrowed by their path.

E01_views_show_what_the_options_of_a_scan_do() {
	begin f:VERSIONS=5 g
	python3 -c '
for r in ("a", "ab", "abc", "b", "ba", "c"):
    for ts in (10, 20, 30):
        print(f"{r}\tf:q\t{ts}\tv{r}{ts}")
    print(f"{r}\tg:x/y,z\t15\tg{r}")' > "$W/lines"
	works cp "$W/lines" $M/t/.cells
	local single="SingleColumnValueFilter('f','q',=,'binary:vab30')"
	streams prefix .prefix/ab
	streams range .from/ab/.to/b
	streams back .reversed/.prefix/a
	streams first .first/3
	streams columns .columns/g:x%2Fy%2Cz
	streams times .since/10/.until/20
	streams filter ".filter/$single"
	streams all ".filter/$single/.from/a/.reversed/.columns/f/.until/30"
	expect "c ba b" echo $(ls -U $M/t/.reversed/.first/3)
	expect "ba c" echo $(ls -U $M/t/.last/2)
	expect "ab" echo $(ls -U "$M/t/.filter/$single")
	expect vab20 cat $M/t/.until/20/ab/f/q
	down
	scanned prefix --prefix ab
	scanned range --from ab --to b
	scanned back --reversed --prefix a
	scanned first --limit 3
	scanned columns --columns g:x/y\\x2Cz
	scanned times --since 10 --until 20
	scanned filter --filter "$single"
	scanned all --filter "$single" --from a --reversed --columns f --until 30
}

streams() { # NAME VIEW
	local s
	for s in cells json count; do
		works cat "$M/t/$2/.$s" > "$W/$1.$s"
	done
	is "$(cut -f 1 "$W/$1.cells" | uniq)" "$(ls -U "$M/t/$2")" "$2"
	[ -s "$W/$1.cells" ] || fail "$2 shows nothing"
}

scanned() { # NAME OPTION...
	local as=$1
	shift
	works "$CELLFS" scan "$S" t "$@" | works cmp - "$W/$as.cells"
	works "$CELLFS" scan "$S" t --json "$@" | works cmp - "$W/$as.json"
	works "$CELLFS" count "$S" t "$@" | works cmp - "$W/$as.count"
}

E02_tools_read_views_and_change_nothing_in_them() {
	begin f:VERSIONS=5 g
	printf 'r%d\tf:q\t5000\tv\n' 1 2 3 > $M/t/.cells
	head -c 100000 /dev/urandom > $M/t/r2/f/big
	works cp -a $M/t/.from/r2 "$W/copy"
	works diff -r $M/t/.from/r2 "$W/copy"
	works cmp $M/t/r2/f/big "$W/copy/r2/f/big"
	expect $'r2\nr3' names "$W/copy"
	is "$(find $M/t/.from/r2 -name q | wc -l)" 2
	works grep -r v $M/t/.first/1 > /dev/null
	expect "" rsync -ai $M/t/.from/r2/ "$W/copy/"
	is "$(cd $M/t/.prefix/r/.. && pwd -P)" "$M/t/.prefix"
	is "$(cd $M/t/.prefix/r && ls -id ../.. | cut -d' ' -f1)" "$(stat -c %i $M/t)"
	is "$(stat -c %i $M/t/.prefix/r/r1/f/q)" "$(again; stat -c %i $M/t/.prefix/r/r1/f/q)"
	refused "Read-only file system" touch $M/t/.prefix/r/r9
	refused "Read-only file system" rm $M/t/.prefix/r/r1/f/q
	refused "Read-only file system" cp "$W/copy/r2/f/q" $M/t/.prefix/r/r1/f/q
	refused "Read-only file system" mv $M/t/.prefix/r/r1 $M/t/.prefix/r/r0
	refused "Read-only file system" chmod 600 $M/t/.prefix/r/r1/f/q
	refused "Operation not permitted" cp "$W/copy/r2/f/q" $M/t/.prefix/r/.cells
	refused "No such file" ls $M/t/.until/yesterday-ish
	case $(getfattr -n user.cellfs.error --only-values --absolute-names $M) in
	*"no time"*) ;;
	*) fail "the reason is not told" ;;
	esac
	expect $'r1\nr2\nr3' names $M/t
}

E03_a_time_is_written_in_several_forms() {
	begin
	printf 'old\tf:q\t1769817600000\tv\n' > $M/t/.cells
	row new
	put now $M/t/new/f/q
	expect new ls $M/t/.since/-1h
	expect old ls $M/t/.until/2026-01-31
	expect "" ls $M/t/.until/2026-01-31T00:00:00+00:01
	expect "new old" echo $(ls $M/t/.since/2026-01-31)
	expect 1769817600000 readlink $M/t/.since/2026-01-31
	expect v cat $M/t/.since/2026-01-31/.until/1769817600000/old/f/q
	expect "old	f:q	1769817600000	v" cat $M/t/.until/2026-02-01/.cells
	python3 -c '
for i in range(3000):
    print(f"r{i:04}\tf:q\t5\tv")' > $M/t/.cells
	is "$(ls -U $M/t/.until/5 | md5sum)" "$(seq -f 'r%04g' 0 2999 | md5sum)"
	is "$(ls -U $M/t/.reversed/.until/5 | md5sum)" "$(seq -f 'r%04g' 2999 -1 0 | md5sum)"
	is "$(ls -U $M/t/.from/r0000/.until/5/.first/2500 | wc -l)" 2500
}

E04_a_view_shows_a_change_within_a_second() {
	begin
	printf 'a\tf:q\t5\tv\n' > $M/t/.cells
	expect a ls $M/t/.prefix/a
	expect v cat $M/t/.prefix/a/a/f/q
	absent $M/t/.prefix/a/ab
	printf 'ab\tf:q\t5\tw\na\tf:q\t6\tnew\n' > $M/t/.cells
	expect $'a\nab' ls $M/t/.prefix/a
	sleep 1.1
	expect w cat $M/t/.prefix/a/ab/f/q
	expect new cat $M/t/.prefix/a/a/f/q
	works rm $M/t/ab/f/q
	sleep 1.1
	absent $M/t/.prefix/a/ab
}
