#!/bin/bash
# All records of `apt-cache dumpavail`: a row per package, its fields in three
# families, loaded through the mount, browsed, and taken out with rsync, twice.
# PACKAGES limits how many (default 2000; 0 means all of them).
. "$(dirname "$0")/../mount/lib.sh"
need apt-cache rsync

apt-cache dumpavail > $W/available
[ -s $W/available ] || skip "needs package lists (apt-get update)"

create packages info:VERSIONS=1 depends:VERSIONS=1 files:VERSIONS=1
works up
T=$M/packages

cat > $W/records.py <<'P'
"""records(): (row, {family/qualifier: value}) for each record of a dump."""
import os, sys

LINKS = ("Depends Pre-Depends Recommends Suggests Enhances Provides Conflicts "
         "Breaks Replaces Built-Using").split()
FILES = "Filename Size Installed-Size MD5sum SHA1 SHA256".split()


def fields(record):
    name = None
    for line in record.split("\n"):
        if line[0] in " \t":
            yield name, "\n" + line
        else:
            name, value = line.split(":", 1)
            yield name, value.strip()


def records(path, limit):
    with open(path, encoding="utf-8") as f:
        parts = [r for r in f.read().split("\n\n") if r.strip()]
    for record in parts[:limit or None]:
        cells, row = {}, None
        for name, value in fields(record.strip("\n")):
            if name == "Package":
                row = value
            family = ("depends" if name in LINKS else
                      "files" if name in FILES else "info")
            key = family + "/" + name
            cells[key] = cells.get(key, "") + value
        yield row, cells
P
cat > $W/load.py <<'P'
import os, sys, time
from records import records
top, count, start = sys.argv[1], 0, time.monotonic()
for row, cells in records(sys.argv[2], int(sys.argv[3])):
    for family in {key.split("/")[0] for key in cells}:
        os.makedirs("%s/%s/%s" % (top, row, family), exist_ok=True)
    for key, value in cells.items():
        with open("%s/%s/%s" % (top, row, key), "w", encoding="utf-8") as f:
            f.write(value)
        count += 1
print(count, "cells in %.0f s" % (time.monotonic() - start), file=sys.stderr)
print(count)
P
cat > $W/check.py <<'P'
import os, sys
from records import records
top, wrong, rows = sys.argv[1], [], []
for row, cells in records(sys.argv[2], int(sys.argv[3])):
    rows.append(row.encode())
    there = {}
    for family in os.listdir("%s/%s" % (top, row)):
        for name in os.listdir("%s/%s/%s" % (top, row, family)):
            path = "%s/%s/%s/%s" % (top, row, family, name)
            there[family + "/" + name] = open(path, encoding="utf-8").read()
    if there != cells:
        wrong.append(row)
print(len(rows), "rows,", len(wrong), "wrong:", wrong[:3],
      "in order:", os.listdir(os.fsencode(top)) == sorted(rows))
P
LIMIT=${PACKAGES:-2000}
in_work() { PYTHONPATH=$W python3 "$@" $W/available $LIMIT; }
cells=$(in_work $W/load.py $T)
rows=$(ls $T | wc -l)
[ $rows -ge 1 ] && [ $((cells / rows)) -ge 10 ] || fail "$rows rows, $cells cells"
want="$rows rows, 0 wrong: [] in order: True"

echo "# every record is there, also after a remount"
expect "$want" in_work $W/check.py $T
again
expect "$want" in_work $W/check.py $T

echo "# browsing"
is "$(find $T -type f | wc -l)" $cells "files found"
row=$(ls $T | sed -n 2p)
is "$(cat $T/$row/info/Package)" $row
is "$(printf '%s\n' $T/*/info/Version | wc -l)" $rows "rows with a version"
is "$(grep -r --include=Section -lx 'games' $T | wc -l)" \
   "$(in_work - <<<'import sys; from records import records
print(sum(c.get("info/Section") == "games" for _, c in records(*[sys.argv[1], int(sys.argv[2])])))')" "games"

echo "# out with rsync; a second run transfers nothing"
works rsync -a $T/ $W/out/
is "$(find $W/out -type f | wc -l)" $cells "files copied"
expect "" rsync -ai $T/ $W/out/
works diff -r $T $W/out
again
expect "" rsync -ai $T/ $W/out/
