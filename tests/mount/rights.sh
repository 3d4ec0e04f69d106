# Rights, errors and times, as on any file system.

P01_errors_rights_and_times_are_as_everywhere() {
	root
	create t f:VERSIONS=5
	works up -o allow_other
	chmod 711 $W
	row r1
	expect "as everywhere" python3 $HERE/rights.py $M/t/r1/f
}
