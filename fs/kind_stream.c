/* .cells, .json, .count: what a scan of a table, a row or a family gives. */
#include "kind_stream.h"

#include "../kv/kv_data.h"
#include "stream.h"

static const struct word {
	const char *name;
	struct printing how;
} words[] = {
	{".cells", {.end = '\n'}},
	{".json", {.json = true, .end = '\n'}},
	{".count", {.count = true, .end = '\n'}},
};

static const struct word *
word_find(struct slice name)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (slice_equal(name, slice_text(words[i].name)))
			return &words[i];
	return NULL;
}

bool
stream_names(struct slice name)
{
	return word_find(name) != NULL;
}

int
stream_parse(const struct spot *dir, struct slice name, struct child *out)
{
	const struct word *word = word_find(name);

	if (!word)
		return 1;
	bool loads = word == words && dir->kind != KIND_FAMILY;
	return child_set(out, loads ? KIND_CELLS : KIND_STREAM, name, 0);
}

/* It shows cells whatever their own modes are, so to the owner alone. */
int
stream_find(struct fs *fs, struct spot *spot, struct look *look)
{
	struct info info;
	int r = kv_stat(fs->kv, &spot->place, spot->version, &info);

	if (r < 0)
		return r;
	info.attrs.mode &= kinds[spot->kind].loads ? 0600 : 0400;
	info.size = 0;
	stat_fill(fs, spot, &info, look);
	return 0;
}

int
stream_start(struct fs *fs, const struct spot *spot, struct reader *out)
{
	(void)fs;
	return stream_open(spot, &word_find(spot->word)->how, &out->stream);
}
