#!/bin/sh
# An interrupted command leaves the store whole, and dies of the signal.
. "$(dirname "$0")/lib.sh"

cellfs create "$S" t f || die create
python3 - "$CELLFS" "$S" <<'E' || die "interrupted writers"
import os, random, signal, subprocess, sys, time
cellfs, store = sys.argv[1:]
seed = int(time.time())
print("seed", seed)
random.seed(seed)
stored = 0
for i in range(30):
    p = subprocess.Popen([cellfs, "put", store, "t", "r%d" % i, "f:q", "v"])
    time.sleep(random.random() * .05)
    sent = random.choice([signal.SIGINT, signal.SIGTERM])
    p.send_signal(sent)
    rc = p.wait()
    assert rc in (0, -sent), rc
    got = subprocess.run([cellfs, "get", store, "t", "r%d" % i],
        capture_output=True)
    assert got.returncode in (0, 1) and not got.stderr, got
    assert rc or got.returncode == 0, "a put that returned 0 is lost"
E
gives "the store has no fault" "" cellfs check "$S"
