# Listings: exact while the directory changes, kept by the kernel where that
# is right, and few requests.

L01_what_stays_is_listed_once_while_others_come_and_go() {
	begin
	expect "" timeout 250 python3 "$HERE/listing.py" concurrent $F
}

L02_every_place_of_a_listing_leads_on_from_there() {
	begin
	expect "" python3 "$HERE/listing.py" places $F
}

L03_a_listing_goes_on_where_the_kernel_has_dropped_it() {
	begin
	expect "" python3 "$HERE/listing.py" behind $F
}

L04_what_is_removed_as_it_is_read_is_gone_in_one_pass() {
	begin
	expect "" python3 "$HERE/listing.py" removing $F
}
