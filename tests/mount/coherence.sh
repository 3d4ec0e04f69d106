# What is changed in whatever way is seen in every way.

V01_every_change_is_seen_by_every_way_of_looking() {
	export CELLFS
	begin f:VERSIONS=5 soon:TTL=4 late:VERSIONS=3
	expect "" python3 "$HERE/coherence.py" $M $S
}
