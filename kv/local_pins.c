#include "local_pins.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 256
#define WHOLE_TABLE 0 /* the id under which a table is closed */

struct pin {
	struct pin *next;
	uint32_t blobs;
	uint64_t id;
	unsigned holders;
	bool dropped;	 /* to be collected when the last holder goes */
	bool collecting; /* its chunks are being removed: too late to pin */
};

/* The next id of a blob table; found out when it is first written to. */
struct counter_of {
	struct counter_of *next;
	uint32_t blobs;
	uint64_t id;
};

struct pins {
	pthread_mutex_t lock; /* guards all the rest */
	struct pin *buckets[BUCKETS];
	struct counter_of *counters;
};

struct pins *
pins_new(void)
{
	struct pins *pins = calloc(1, sizeof(*pins));

	if (pins)
		pthread_mutex_init(&pins->lock, NULL);
	return pins;
}

void
pins_free(struct pins *pins)
{
	if (!pins)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (pins->buckets[i]) {
			struct pin *pin = pins->buckets[i];
			pins->buckets[i] = pin->next;
			free(pin);
		}
	while (pins->counters) {
		struct counter_of *counter = pins->counters;
		pins->counters = counter->next;
		free(counter);
	}
	pthread_mutex_destroy(&pins->lock);
	free(pins);
}

static struct pin **
pin_slot(struct pins *pins, uint32_t blobs, uint64_t id)
{
	struct pin **at = &pins->buckets[(id + blobs * 31u) % BUCKETS];

	while (*at && ((*at)->blobs != blobs || (*at)->id != id))
		at = &(*at)->next;
	return at;
}

static struct pin *
pin_of(struct pins *pins, uint32_t blobs, uint64_t id)
{
	struct pin **at = pin_slot(pins, blobs, id);

	if (!*at) {
		*at = calloc(1, sizeof(**at));
		if (*at) {
			(*at)->blobs = blobs;
			(*at)->id = id;
		}
	}
	return *at;
}

static void
pin_free(struct pins *pins, uint32_t blobs, uint64_t id)
{
	struct pin **at = pin_slot(pins, blobs, id);
	struct pin *pin = *at;

	*at = pin->next;
	free(pin);
}

int
pins_hold(struct pins *pins, uint32_t blobs, uint64_t id)
{
	int r = 0;

	pthread_mutex_lock(&pins->lock);
	bool closed = *pin_slot(pins, blobs, WHOLE_TABLE);
	struct pin *pin = closed ? NULL : pin_of(pins, blobs, id);
	if (!pin)
		r = closed ? -ESTALE : -ENOMEM;
	else if (pin->collecting)
		r = -EAGAIN;
	else
		pin->holders++;
	pthread_mutex_unlock(&pins->lock);
	return r;
}

bool
pins_let_go(struct pins *pins, uint32_t blobs, uint64_t id)
{
	bool collect = false;

	pthread_mutex_lock(&pins->lock);
	struct pin *pin = *pin_slot(pins, blobs, id);
	if (--pin->holders == 0) {
		collect = pin->dropped;
		pin_free(pins, blobs, id);
	}
	pthread_mutex_unlock(&pins->lock);
	return collect;
}

bool
pins_claim(struct pins *pins, uint32_t blobs, uint64_t id)
{
	bool free_now = false;

	pthread_mutex_lock(&pins->lock);
	struct pin *pin = pin_of(pins, blobs, id);
	if (pin && pin->holders) {
		pin->dropped = true;
	} else if (pin && !pin->collecting) {
		pin->collecting = true;
		free_now = true;
	}
	pthread_mutex_unlock(&pins->lock);
	return free_now;
}

void
pins_forget(struct pins *pins, uint32_t blobs, uint64_t id)
{
	pthread_mutex_lock(&pins->lock);
	pin_free(pins, blobs, id);
	pthread_mutex_unlock(&pins->lock);
}

static bool
any(const struct pins *pins, uint32_t blobs)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (const struct pin *p = pins->buckets[i]; p; p = p->next)
			if (p->blobs == blobs && p->holders)
				return true;
	return false;
}

bool
pins_close(struct pins *pins, uint32_t blobs)
{
	pthread_mutex_lock(&pins->lock);
	struct pin *all =
	    any(pins, blobs) ? NULL : pin_of(pins, blobs, WHOLE_TABLE);
	if (all)
		all->collecting = true;
	pthread_mutex_unlock(&pins->lock);
	return all;
}

bool
pins_closed(struct pins *pins, uint32_t blobs)
{
	pthread_mutex_lock(&pins->lock);
	bool closed = *pin_slot(pins, blobs, WHOLE_TABLE);
	pthread_mutex_unlock(&pins->lock);
	return closed;
}

/* --- ids ---------------------------------------------------------------- */

int
pins_next_id(
    struct pins *pins, uint32_t blobs, const uint64_t *from, uint64_t *id)
{
	int r = 0;

	pthread_mutex_lock(&pins->lock);
	struct counter_of *counter = pins->counters;
	while (counter && counter->blobs != blobs)
		counter = counter->next;
	if (!counter && from) {
		counter = calloc(1, sizeof(*counter));
		if (counter) {
			counter->blobs = blobs;
			counter->id = *from;
			counter->next = pins->counters;
			pins->counters = counter;
		}
		r = counter ? 0 : -ENOMEM;
	} else if (!counter) {
		r = -ENOENT;
	}
	if (r == 0)
		*id = ++counter->id;
	pthread_mutex_unlock(&pins->lock);
	return r;
}
