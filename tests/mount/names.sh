# Names: every key has one, and only one.

name_of() { printf %s "$1" | enc; }

N01_slashes_and_empty_segments_stand_in_a_key() {
	local k n
	begin
	works rm -r $M/t/r1
	for k in a/b a//b / /a a/ plain; do
		n=$(name_of "$k")
		row "$n"
		printf %s "$k" > "$M/t/$n/f/$n"
	done
	works ls -lR $M/t > /dev/null
	for again in no yes; do
		[ $again = no ] || again
		expect 6 count $M/t
		for n in $(ls $M/t); do
			expect "$n" names $M/t/$n/f
			expect "$n" enc < $M/t/$n/f/$n
		done
	done
	works rm -r "$M/t/$(name_of /)"
	expect 5 count $M/t
}

N03_a_per_cent_key_has_no_alias() {
	local k n
	begin
	for k in % %41 100% %25 %zz A; do
		n=$(name_of "$k")
		printf %s "$k" > $F/$n
		expect "$n" enc < $F/$n
	done
	expect 6 count $F
	for n in %41 %2f %2F%2f %4 %zz A% %%; do
		absent $F/$n
		refused "Invalid argument" touch $F/$n
	done
	expect A cat $F/A
	expect 1 nver $F/A
	again
	expect 6 count $F
}

repeat() { head -c $1 /dev/zero | tr '\0' "$2"; }

N05_long_qualifiers_continue_and_nothing_is_cut_short() {
	local n name
	begin
	expect 255 getconf NAME_MAX $M
	for n in 1 234 235 236 254 255 256 300 2000; do
		name=$(repeat $n x | enc)
		works mkdir -p "$(dirname "$F/$name")"
		put $n $F/$name
	done
	refused "File name too long" touch $F/$(repeat 256 x)
	refused "" touch $F/$(repeat 236 y)
	for n in 1 234 235 236 254 255 256 300 2000; do
		expect $n cat $F/$(repeat $n x | enc)
		expect 1 nver $F/$(repeat $n x | enc)
	done
	# 1 to 235 are themselves; 236 to 255 are n-1 and one more; the
	# longer ones share the part of 254.
	expect "1 234 235 236 254 255" lengths $F
	again
	is "$(find $F -type f | wc -l)" 9
	expect $'A\nB' pair $(repeat 240 p)
	works rm -r $M/t/r1
	empty $M/t
}

lengths() { # of the names in a directory, sorted
	names $1 | awk '{ print length }' | sort -n | tr '\n' ' ' | sed 's/ $//'
}

pair() { # two long keys that differ in their tails only
	local tail
	for tail in AAAA BBBB; do
		works mkdir -p "$(dirname $F/$(printf %s $1$tail | enc))"
		put ${tail:0:1} $F/$(printf %s $1$tail | enc)
	done
	cat $F/$(printf %s $1AAAA | enc) $F/$(printf %s $1BBBB | enc)
}

N06_a_binary_key_that_triples_is_made_and_listed() {
	local name
	begin
	name=$(repeat 78 '\377' | enc)
	put short $F/$name
	expect short cat $F/$name
	expect "$name" names $F
	name=$(repeat 32767 '\377' | python3 -c 'import sys; from names import enc
sys.stdout.buffer.write(enc(sys.stdin.buffer.read(), row=True))')
	works python3 - $M/t "$name" <<-'P'
	import os, sys
	os.chdir(sys.argv[1])
	for part in sys.argv[2].split("/"):
	    os.path.isdir(part) or os.mkdir(part)
	    os.chdir(part)
	os.mkdir("f")
	with open("f/q", "w") as f:
	    f.write("deep")
	P
	again
	expect deep python3 - $M/t <<-'P'
	import os, sys
	os.chdir(sys.argv[1])
	while "f" not in os.listdir():
	    os.chdir([n for n in os.listdir() if n.endswith("%") or n[0] == "%"][0])
	print(open("f/q").read())
	P
}

N07_every_byte_and_what_is_no_utf8_is_a_key() {
	begin
	cat > $W/all.py <<-'P'
	import os, sys
	from names import enc
	top, kind, mode = os.fsencode(sys.argv[1]), sys.argv[2], sys.argv[3]
	keys = [bytes([b]) for b in range(256)]
	keys += [bytes(range(4)), b"\xff\xfe\n\x0b", b"\xc3\x28", bytes(8)]
	keys += ["行".encode(), "é à".encode(), b"\xed\xa0\x80", b"\xf4\x90\x80\x80"]
	def path(key):
	    if kind == "row":
	        return top + b"/" + enc(key, row=True) + b"/f/q"
	    return top + b"/" + enc(key)
	for key in keys if mode == "put" else []:
	    os.makedirs(os.path.dirname(path(key)), exist_ok=True)
	    with open(path(key), "wb") as f:
	        f.write(key.hex().encode())
	listed = [n for n in os.listdir(top)]
	wanted = [enc(key, row=kind == "row") for key in sorted(set(keys))]
	right = sum(open(path(k), "rb").read() == k.hex().encode() for k in keys)
	print(len(listed), listed == wanted, right)
	P
	expect "264 True 264" env LC_ALL=C python3 $W/all.py $F cell put
	works rm -r $M/t/r1
	expect "264 True 264" python3 $W/all.py $M/t row put
	again
	expect "264 True 264" python3 $W/all.py $M/t row get
	works ls -lR $M/t > /dev/null
}

N09_keys_that_begin_alike_are_kept_apart() {
	begin f:VERSIONS=2 f2:VERSIONS=2
	works rm -r $M/t/r1
	cat > $W/alike.py <<-'P'
	import os, sys
	from names import enc
	top, mode = os.fsencode(sys.argv[1]), sys.argv[2]
	rows = [b"a", b"a\x00", b"a\x00\x00", b"a\x01", b"aa", b"a\x7f", b"a\x80",
	        b"a\xff", b"a\xff\xff", b"b"]
	cells = [b"q", b"q1", b"qq", b"q\xff"]
	if mode == "less":
	    rows = rows[1:]
	bad = os.listdir(top) != [enc(r, row=True) for r in rows] and mode != "put"
	for r in rows:
	    for f in (b"f", b"f2"):
	        family = b"/".join((top, enc(r, row=True), f))
	        if mode == "put":
	            os.makedirs(family)
	        for c in cells:
	            name, value = family + b"/" + enc(c), b"|".join((r, f, c))
	            if mode == "put":
	                open(name, "wb").write(value)
	            bad += open(name, "rb").read() != value
	        bad += os.listdir(family) != [enc(c) for c in cells]
	print("bad", int(bad))
	P
	expect "bad 0" python3 $W/alike.py $M/t put
	again
	expect "bad 0" python3 $W/alike.py $M/t get
	works rm -r $M/t/a
	expect "bad 0" python3 $W/alike.py $M/t less
}
