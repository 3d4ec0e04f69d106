#include "tests/fuzz/fuzz.h"
#include "tests/laws.h"

/* Byte 0 chooses between rows and qualifiers, bytes 1 and 2 are the size of a
 * key, which follows; what is left is a component, tried in every directory
 * of the key. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	enum name_of of = data[0] & 1 ? NAME_OF_QUALIFIER : NAME_OF_ROW;
	size_t wanted = be16(data + 1);
	struct slice rest = slice_of(data + 3, size - 3);
	size_t key_size = wanted < rest.size ? wanted : rest.size;
	struct slice key =
	    slice_head(rest, key_size < ROW_MAX ? key_size : ROW_MAX);
	struct slice component = slice_skip(rest, key.size);

	if (of == NAME_OF_QUALIFIER || key.size)
		law_key_has_one_name(of, key);
	for (size_t at = 0; at <= key.size; at++)
		if (path_inside(of, slice_head(key, at), key))
			law_component_is_canonical(
			    of, slice_head(key, at), component);
	law_component_is_canonical(of, key, component);
	law_component_is_canonical(
	    NAME_OF_FAMILY, slice_head(key, 0), component);
	return 0;
}
