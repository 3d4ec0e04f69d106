/* .cellfs/: version, pid, stats, log, control. */
#include "kinds.h"

#include <errno.h>
#include <unistd.h>

#include "../kv/kv_data.h"
#include "../kv/text.h"
#include "../kv/why.h"
#include "notify.h"

#define CONTROL_LINE 4096 /* bytes of one write of verbs */

static void
print_version(struct fs *fs, struct buf *out)
{
	(void)fs;
	buf_text(out, CELLFS_VERSION "\n");
}

static void
print_pid(struct fs *fs, struct buf *out)
{
	(void)fs;
	buf_printf(out, "%d\n", (int)getpid());
}

static void
print_stat(void *context, const char *name, uint64_t value)
{
	buf_printf(context, "%s %llu\n", name, (unsigned long long)value);
}

static void
print_stats(struct fs *fs, struct buf *out)
{
	print_stat(out, "buffer_bytes", fs->buffers.used);
	print_stat(out, "buffer_limit_bytes", fs->buffers.limit);
	traffic_emit(&fs->traffic, print_stat, out);
	kv_stats(fs->kv, print_stat, out);
}

static void
print_log(struct fs *fs, struct buf *out)
{
	journal_read(&fs->journal, out);
}

static const struct word {
	const char *name;
	mode_t mode;
	void (*print)(struct fs *fs, struct buf *out); /* NULL: writable */
} words[] = {
	{"version", 0444, print_version},
	{"pid", 0444, print_pid},
	{"stats", 0444, print_stats},
	{"log", 0400, print_log}, /* it speaks of what is in private tables */
	{"control", 0600, NULL},
};

#define WORD_COUNT (sizeof(words) / sizeof(*words))

static const struct word *
word_find(struct slice name)
{
	for (size_t i = 0; i < WORD_COUNT; i++)
		if (slice_equal(name, slice_text(words[i].name)))
			return &words[i];
	return NULL;
}

int
control_dir_parse(const struct spot *dir, struct slice name, struct child *out)
{
	(void)dir;
	if (!word_find(name))
		return why(EPERM, "%.*s: not a file of .cellfs",
		    (int)name.size, name.data);
	return child_set(out, KIND_CONTROL_FILE, name, 0);
}

int
control_dir_find(struct fs *fs, struct spot *spot, struct look *look)
{
	stat_plain(fs, spot, 0755, 0, look);
	return 0;
}

/* What chmod and chown made of control stays. */
static int
kept_attrs(struct fs *fs, const struct spot *spot, struct look *look)
{
	struct info info;
	int r = kv_stat(fs->kv, &spot->place, spot->version, &info);

	if (r == 0 && (info.attrs.set & ATTR_MODE)) {
		look->st.st_mode = S_IFREG | info.attrs.mode;
		look->st.st_uid = info.attrs.uid;
		look->st.st_gid = info.attrs.gid;
	}
	return r;
}

int
control_find(struct fs *fs, struct spot *spot, struct look *look)
{
	const struct word *word = word_find(spot->word);
	struct buf text = {0};

	if (word->print)
		word->print(fs, &text);
	stat_plain(fs, spot, word->mode, text.size, look);
	if (word->print && fs->masquerade.has_uid)
		look->st.st_uid = fs->masquerade.uid;
	buf_release(&text);
	return word->print ? 0 : kept_attrs(fs, spot, look);
}

int
control_set(struct fs *fs, const struct spot *spot, const struct attrs *attrs)
{
	if (word_find(spot->word)->print)
		return why(EPERM, "%.*s is for reading", (int)spot->word.size,
		    spot->word.data);
	struct spot same = *spot;
	struct look look;
	int r = control_find(fs, &same, &look);
	struct attrs all = {.set = attrs->set | ATTR_MODE | ATTR_UID | ATTR_GID,
		.mode = attrs->set & ATTR_MODE ? attrs->mode
					       : look.st.st_mode & 07777,
		.uid = attrs->set & ATTR_UID ? attrs->uid : look.st.st_uid,
		.gid = attrs->set & ATTR_GID ? attrs->gid : look.st.st_gid,
		.mtime = attrs->mtime};
	return r < 0 ? r
		     : kv_set_attrs(fs->kv, &spot->place, spot->version, &all);
}

int
control_dir_list(struct fs *fs, const struct spot *dir, struct listing *to)
{
	size_t first = to->mark->started ? to->mark->name.size : 0;
	int r = LIST_MORE;

	for (size_t i = first; r == LIST_MORE && i < WORD_COUNT; i++) {
		struct child child = {0};
		struct spot spot = {0};
		struct look look;
		struct slice name = slice_text(words[i].name);

		r = child_set(&child, KIND_CONTROL_FILE, name, 0);
		if (r == 0)
			r = spot_child(dir, &child, &spot);
		if (r == 0)
			r = control_find(fs, &spot, &look);
		if (r == 0)
			r = to->take(to, &child, name, &look);
		if (r == LIST_MORE) {
			to->mark->started = true;
			r = buf_resize(&to->mark->name, i + 1);
		}
		spot_release(&spot);
		child_release(&child);
	}
	return r < 0 ? r : 0;
}

int
control_open(struct fs *fs, const struct spot *spot, struct reader *out)
{
	const struct word *word = word_find(spot->word);

	if (word->print)
		word->print(fs, &out->text);
	return buf_status(&out->text);
}

/* --- verbs ---------------------------------------------------------------- */

struct line {
	struct slice words[4]; /* the verb and its operands, as typed */
	size_t count;
};

/* Operand i as bytes, empty where it is left out. */
static int
operand(const struct line *line, size_t i, struct buf *out)
{
	return i < line->count ? text_parse(line->words[i], out) : 0;
}

static int
verb_compact(struct fs *fs, struct slice table, struct slice family)
{
	if (atomic_flag_test_and_set(&fs->long_verb))
		return why(EBUSY, "another compact is running");
	int r = kv_compact(fs->kv, table, family);
	atomic_flag_clear(&fs->long_verb);
	return r;
}

static int
verb_checkpoint(struct fs *fs, struct slice table, struct slice family)
{
	(void)table;
	(void)family;
	return kv_checkpoint(fs->kv);
}

/* Empties or removes a table under everybody who uses it. */
static int
lose_table(struct fs *fs, struct slice table,
    int (*act)(struct kv *kv, struct slice table))
{
	pthread_rwlock_wrlock(&fs->nodes->names);
	int r = act(fs->kv, table);
	if (r == 0)
		notify_table_gone(fs, table);
	pthread_rwlock_unlock(&fs->nodes->names);
	return r;
}

static int
verb_drop(struct fs *fs, struct slice table, struct slice family)
{
	(void)family;
	return lose_table(fs, table, kv_table_drop);
}

static int
verb_truncate(struct fs *fs, struct slice table, struct slice family)
{
	(void)family;
	return lose_table(fs, table, kv_table_truncate);
}

static const struct verb {
	const char *name;
	size_t least, most; /* operands */
	int (*run)(struct fs *fs, struct slice table, struct slice family);
} verbs[] = {
	{"compact", 0, 2, verb_compact},
	{"checkpoint", 0, 0, verb_checkpoint},
	{"drop", 1, 1, verb_drop},
	{"truncate", 1, 1, verb_truncate},
};

static const struct verb *
verb_find(const struct line *line)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (slice_equal(line->words[0], slice_text(verbs[i].name)))
			return &verbs[i];
	return NULL;
}

static int
run_line(struct fs *fs, const struct line *line)
{
	struct buf table = {0}, family = {0};
	const struct verb *verb = verb_find(line);

	if (!verb)
		return why(EINVAL, "%.*s: no verb; there are compact "
		    "[TABLE [FAMILY]], checkpoint, drop TABLE, truncate TABLE",
		    (int)line->words[0].size, line->words[0].data);
	if (line->count - 1 < verb->least || line->count - 1 > verb->most)
		return why(EINVAL, "%s takes %zu to %zu operands, not %zu",
		    verb->name, verb->least, verb->most, line->count - 1);
	int r = operand(line, 1, &table);
	if (r == 0)
		r = operand(line, 2, &family);
	if (r == 0)
		r = verb->run(fs, buf_slice(&table), buf_slice(&family));
	buf_release(&table);
	buf_release(&family);
	return r;
}

/* Splits one line at blanks; more words than fit count, but are not kept. */
static void
split(struct slice text, struct line *out)
{
	size_t i = 0;

	*out = (struct line){0};
	while (i < text.size) {
		size_t start = i;
		while (i < text.size && text.data[i] != ' ' &&
		    text.data[i] != '\t')
			i++;
		if (i > start && out->count++ < 4)
			out->words[out->count - 1] =
			    slice_of(text.data + start, i - start);
		i++;
	}
}

int
control_limit(struct fs *fs, const struct spot *spot, struct limit *out)
{
	(void)fs;
	if (word_find(spot->word)->print)
		return why(EPERM, "%.*s is for reading", (int)spot->word.size,
		    spot->word.data);
	*out = (struct limit){CONTROL_LINE, "the most that is read at once"};
	return 0;
}

int
control_store(struct fs *fs, const struct spot *spot, struct storing *how)
{
	char text[CONTROL_LINE];
	int64_t size = image_read(how->image, 0, text, sizeof(text));
	int r = size < 0 ? (int)size : 0;

	(void)spot;
	if (how->image->size > sizeof(text))
		r = why(EINVAL, "more than %zu bytes of verbs at once",
		    sizeof(text));
	for (int64_t at = 0; r == 0 && at < size;) {
		int64_t end = at;
		struct line line;

		while (end < size && text[end] != '\n')
			end++;
		split(slice_of(text + at, (size_t)(end - at)), &line);
		if (line.count)
			r = run_line(fs, &line);
		at = end + 1;
	}
	image_release(how->image);
	return r;
}
