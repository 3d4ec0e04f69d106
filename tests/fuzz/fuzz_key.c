#include "tests/fuzz/fuzz.h"
#include "tests/laws.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	law_cell_key_is_canonical(slice_of(data, size));
	return 0;
}
