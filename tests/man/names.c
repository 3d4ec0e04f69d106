/* The names that cellfs.5 has to explain, one a line: "kind NAME" for each
 * row of the kind table, "stat NAME" for each line of .cellfs/stats. The
 * argument names a store to be made. */
#include <stdio.h>
#include <string.h>

#include "fs/node.h"
#include "kv/why.h"

static int
print_stats(struct fs *fs)
{
	struct spot spot = {
	    .kind = KIND_CONTROL_FILE, .word = slice_text("stats")};
	struct reader reader;
	int r = node_open(fs, &spot, &reader);

	if (r < 0)
		return r;
	buf_byte(&reader.text, 0);
	char *rest = (char *)reader.text.data;
	for (char *line; (line = strsep(&rest, "\n")) && *line;)
		printf("stat %.*s\n", (int)strcspn(line, " "), line);
	reader_release(fs, &reader);
	return 0;
}

int
main(int argc, char **argv)
{
	struct fs fs = {.store = "", .buffers = {.limit = 1}};

	if (argc != 2)
		return 2;
	for (int i = 0; i < KIND_COUNT; i++)
		printf("kind %s\n", kinds[i].name);

	const struct kv_options options = {.path = argv[1], .create = true};
	int r = kv_open(&options, &fs.kv);
	if (r == 0) {
		r = print_stats(&fs);
		kv_close(fs.kv);
	}
	if (r < 0)
		fprintf(stderr, "names: %s\n", why_text(r));
	return r < 0;
}
