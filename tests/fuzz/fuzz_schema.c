#include "kv/schema.h"
#include "tests/fuzz/fuzz.h"
#include "tests/laws.h"

/* The whole input as a schema's text, as a family argument, and as names. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice input = slice_of(data, size);
	struct schema s = {0};
	struct buf printed = {0};

	law_schema_is_stable(input);
	if (schema_parse_family(&s, input) == 0) {
		schema_print(&s, &printed);
		law_schema_is_stable(buf_slice(&printed));
	}
	if (schema_check_family_name(input) == 0)
		law_key_has_one_name(NAME_OF_FAMILY, input);
	if (schema_check_table_name(input) == 0)
		REQUIRE(slice_compare(slice_text(".schema"), input) < 0);
	schema_release(&s);
	buf_release(&printed);
	return 0;
}
