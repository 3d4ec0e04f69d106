/* Gives every file named to the fuzzer it is linked with, so that a corpus is
 * tried with any compiler. */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX (1 << 20)

static int
replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(INPUT_MAX);
	int r = -1;

	if (file && data) {
		size_t size = fread(data, 1, INPUT_MAX, file);

		if (!ferror(file)) {
			uint8_t *exact = malloc(size ? size : 1);

			/* No slack behind the input, so that sanitizers see a
			 * read beyond it. */
			if (exact) {
				memcpy(exact, data, size);
				LLVMFuzzerTestOneInput(exact, size);
				r = 0;
			}
			free(exact);
		}
	}
	if (r)
		fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
	if (file)
		fclose(file);
	free(data);
	return r;
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: replay FILE...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++)
		if (replay(argv[i]))
			return EXIT_FAILURE;
	printf("%d inputs\n", argc - 1);
	return EXIT_SUCCESS;
}
