/* The ordered store against a naive model, and beside other threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/ordered_kit.h"

/* --- threads -------------------------------------------------------------- */

#define ROUNDS 300

/* Writes pairs that always agree, under a lock as the engine does. */
static void *
write_pairs(void *context)
{
	static pthread_mutex_t writer = PTHREAD_MUTEX_INITIALIZER;
	unsigned *failures = context;

	for (int i = 0; i < ROUNDS; i++) {
		struct ordered_session *s;
		char text[16];
		snprintf(text, sizeof(text), "%d", i);
		pthread_mutex_lock(&writer);
		if (o->methods->session(o, &s) ||
		    o->methods->begin(s, ORDERED_WRITE) ||
		    o->methods->put(s, 1, slice_text("x"), slice_text(text)) ||
		    o->methods->put(s, 2, slice_text("y"), slice_text(text)) ||
		    o->methods->commit(s))
			++*failures;
		o->methods->release(s);
		pthread_mutex_unlock(&writer);
		if (i % 16 == 0 && o->methods->sync(o))
			++*failures;
	}
	return NULL;
}

static void *
read_pairs(void *context)
{
	unsigned *failures = context;
	struct buf x = {0}, y = {0};

	for (int i = 0; i < ROUNDS; i++) {
		struct ordered_session *s;
		if (o->methods->session(o, &s) ||
		    o->methods->begin(s, ORDERED_READ) ||
		    o->methods->get(s, 1, slice_text("x"), &x) ||
		    o->methods->get(s, 2, slice_text("y"), &y) ||
		    !slice_equal(buf_slice(&x), buf_slice(&y)))
			++*failures;
		o->methods->release(s);
	}
	buf_release(&x);
	buf_release(&y);
	return NULL;
}

START_TEST(readers_beside_writers_see_whole_transactions)
{
	pthread_t threads[4];
	unsigned failures[4] = {0};

	open_kind(_i);
	create(1);
	create(2);
	put_all(1, "x");
	struct ordered_session *s = begin(ORDERED_WRITE);
	put(s, 2, "y", "x");
	commit(s);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL,
			i % 2 ? read_pairs : write_pairs, &failures[i]),
		    0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		ck_assert_uint_eq(failures[i], 0);
	}
	close_kind();
}
END_TEST

/* --- a model -------------------------------------------------------------- */

#define KEYS 40

/* A table of KEYS keys "00".. in an array: empty values are absent. */
struct model {
	char values[KEYS][8];
};

static void
model_step(struct model *m, struct ordered_session *s, unsigned random)
{
	unsigned from = random / 8 % KEYS, to = random / 512 % KEYS;
	char key[8], end[8], value[8];

	snprintf(key, sizeof(key), "%02u", from);
	snprintf(end, sizeof(end), "%02u", to);
	snprintf(value, sizeof(value), "%u", random % 9999);
	switch (random % 8) {
	case 0:
		ck_assert_int_eq(o->methods->remove_range(
				     s, 1, slice_text(key), slice_text(end)),
		    0);
		for (unsigned i = from; i < to; i++)
			m->values[i][0] = 0;
		break;
	case 1:
	case 2:
		ck_assert_int_eq(o->methods->remove(s, 1, slice_text(key)), 0);
		m->values[from][0] = 0;
		break;
	default:
		put(s, 1, key, value);
		memcpy(m->values[from], value, sizeof(value));
	}
}

static void
model_compare(const struct model *m, struct ordered_session *s)
{
	char expected[KEYS * 4] = "";
	size_t size = 0;

	for (unsigned i = 0; i < KEYS; i++) {
		char key[8];
		snprintf(key, sizeof(key), "%02u", i);
		ck_assert_str_eq(value_seen(s, 1, key),
		    m->values[i][0] ? m->values[i] : "-");
		if (m->values[i][0])
			size += (size_t)snprintf(expected + size,
			    sizeof(expected) - size, "%s%s", size ? " " : "",
			    key);
	}
	ck_assert_str_eq(keys_seen(s, 1), expected);
}

START_TEST(random_transactions_agree_with_an_array)
{
	struct model committed = {0}, before, work;
	const char *given = getenv("SEED");
	unsigned seed =
	    given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);

	printf("seed %u\n", seed);
	open_kind(_i);
	create(1);
	for (int round = 0; round < 150; round++) {
		struct ordered_session *reader = begin(ORDERED_READ);
		struct ordered_session *s = begin(ORDERED_WRITE);
		before = work = committed;
		for (int step = rand_r(&seed) % 12; step >= 0; step--)
			model_step(&work, s, (unsigned)rand_r(&seed));
		model_compare(&work, s);
		if (rand_r(&seed) % 3) {
			ck_assert_int_eq(o->methods->commit(s), 0);
			committed = work;
		} else {
			o->methods->rollback(s);
		}
		o->methods->release(s);
		model_compare(&before, reader);
		o->methods->release(reader);
		if (rand_r(&seed) % 16 == 0)
			reopen();
	}
	close_kind();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ordered_model");

	add_both(suite, "threads",
	    (const TTest *const[]){
		readers_beside_writers_see_whole_transactions, NULL});
	add_both(suite, "model",
	    (const TTest *const[]){
		random_transactions_agree_with_an_array, NULL});
	return suite_run(suite);
}
