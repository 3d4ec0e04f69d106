#include "crc32c.h"

#include <pthread.h>
#include <string.h>

static uint32_t crc_table[256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void
crc_table_fill(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
		crc_table[i] = c;
	}
}

static uint32_t
crc_portable(uint32_t c, struct slice s)
{
	pthread_once(&crc_once, crc_table_fill);
	for (size_t i = 0; i < s.size; i++)
		c = c >> 8 ^ crc_table[(c ^ s.data[i]) & 0xff];
	return c;
}

#if defined(__x86_64__)
static bool
crc_has_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2"))) static uint32_t
crc_instruction(uint32_t crc, struct slice s)
{
	uint64_t c = crc;

	while (s.size >= sizeof(uint64_t)) {
		uint64_t word;
		memcpy(&word, s.data, sizeof(word));
		c = __builtin_ia32_crc32di(c, word);
		s = slice_skip(s, sizeof(word));
	}
	for (size_t i = 0; i < s.size; i++)
		c = __builtin_ia32_crc32qi((uint32_t)c, s.data[i]);
	return (uint32_t)c;
}
#else
static bool
crc_has_instruction(void)
{
	return false;
}

static uint32_t
crc_instruction(uint32_t crc, struct slice s)
{
	return crc_portable(crc, s);
}
#endif

uint32_t
crc32c(uint32_t crc, struct slice bytes)
{
	return crc_has_instruction() ? ~crc_instruction(~crc, bytes)
				     : crc32c_portable(crc, bytes);
}

uint32_t
crc32c_portable(uint32_t crc, struct slice bytes)
{
	return ~crc_portable(~crc, bytes);
}
