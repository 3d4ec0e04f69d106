#include "tests/laws.h"

#include "kv/key.h"
#include "kv/record.h"
#include "kv/schema.h"
#include "kv/why.h"

#include <errno.h>
#include <string.h>

void
law_cell_key_is_canonical(struct slice stored)
{
	struct buf row = {0}, qualifier = {0}, again = {0};
	int64_t timestamp;
	int r = key_split(stored, &row, &qualifier, &timestamp);

	if (r) {
		REQUIRE(r == -EIO);
		REQUIRE(row.size == 0 && qualifier.size == 0);
	} else {
		size_t size = key_component_size(stored);

		REQUIRE(timestamp >= 0);
		key_cell(
		    &again, buf_slice(&row), buf_slice(&qualifier), timestamp);
		REQUIRE(slice_equal(buf_slice(&again), stored));
		buf_clear(&again);
		key_component(&again, buf_slice(&row));
		REQUIRE(again.size == size);
	}
	buf_release(&row);
	buf_release(&qualifier);
	buf_release(&again);
}

void
law_record_is_canonical(struct slice stored)
{
	struct record record;
	struct buf again = {0};
	int r = record_decode(stored, &record);

	if (r) {
		REQUIRE(r == -EIO);
		REQUIRE(!record.attrs.set && !record.size && !record.blob);
	} else {
		record_encode(&record, &again);
		REQUIRE(slice_equal(buf_slice(&again), stored));
	}
	buf_release(&again);
}

void
law_schema_is_stable(struct slice text)
{
	struct schema first = {0}, second = {0};
	struct buf printed = {0}, again = {0};
	int r = schema_parse(&first, text);

	REQUIRE(r == 0 || r == -EINVAL);
	if (r) {
		REQUIRE(strstr(why_text(r), "line "));
	} else {
		schema_print(&first, &printed);
		REQUIRE(schema_parse_lines(text) == 0);
		REQUIRE(schema_parse_lines(buf_slice(&printed)) == 0);
		REQUIRE(schema_parse(&second, buf_slice(&printed)) == 0);
		schema_print(&second, &again);
		REQUIRE(slice_equal(buf_slice(&printed), buf_slice(&again)));
	}
	schema_release(&first);
	schema_release(&second);
	buf_release(&printed);
	buf_release(&again);
}
