#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kv/filter.h"
#include "kv/why.h"
#include "tests/laws.h"

/* Rows of few cells, some of them with bytes of the input. */
static void
run_rows(const struct filter *f, struct slice input, bool reversed)
{
	struct filter_run *run, *other;
	struct filter_verdict verdict;

	REQUIRE(filter_run_new(f, reversed, &run) == 0);
	REQUIRE(filter_run_new(f, reversed, &other) == 0);
	for (int i = 0; i < 12 && !filter_ended(run); i++) {
		const char *rows[] = {"a", "ab", "b"};
		bool any = false, left = false;
		for (int j = 0; j < 6; j++) {
			struct filter_cell cell = {
			    .row =
				slice_text(rows[reversed ? 2 - i / 4 : i / 4]),
			    .family = slice_text(j < 3 ? "a" : "b"),
			    .qualifier = slice_head(
				input, input.size < (size_t)j ? input.size
							      : (size_t)j),
			    .timestamp = 10 - j,
			    .value = input,
			};
			int r = filter_cell(run, &cell, &verdict);
			REQUIRE(r == 0 || r == -E2BIG);
			any |= verdict.include;
			left |= verdict.include && !verdict.hidden &&
				filter_keeps(run, cell.timestamp);
		}
		REQUIRE(filter_run_copy(other, run) == 0);
		REQUIRE(filter_row_end(run, any, left) ==
			filter_row_end(other, any, left));
		REQUIRE(filter_ended(run) == filter_ended(other));
	}
	filter_run_free(run);
	filter_run_free(other);
}

/* Any bytes as a filter: refused with a sentence, or run over some rows; and
 * in parentheses it means the same. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice input = slice_of(data, size);
	struct filter_cut low, high;
	struct buf wrapped = {0};
	struct filter *f, *same;
	int64_t next = 5;

	why_clear();
	int r = filter_parse(input, &f);
	if (r) {
		REQUIRE(r == -EINVAL && why_given(r) && !f);
		REQUIRE(strncmp(why_text(r), "at ", 3) == 0);
		return 0;
	}
	buf_byte(&wrapped, '(');
	buf_append(&wrapped, input);
	buf_byte(&wrapped, ')');
	r = filter_parse(buf_slice(&wrapped), &same);
	REQUIRE(r == 0 || strstr(why_text(r), "levels"));
	for (int i = 0; i < 2; i++) {
		filter_rows(f, i, &low, &high);
		run_rows(f, input, i);
	}
	filter_next_timestamp(f, &next);
	REQUIRE(next <= 5);
	filter_free(f);
	filter_free(same);
	buf_release(&wrapped);
	return 0;
}
