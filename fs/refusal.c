#include "refusal.h"

#include "../kv/why.h"
#include "path.h"

/* How the component of a kind is made of its key: as it is, or by path.h and
 * with something behind. */
enum how { AS_IT_IS, BY_NAME, BY_PART, BY_VIEW };

static const struct spelling {
	enum how how;
	enum name_of of;
	const char *behind;
	bool number;
} spellings[KIND_COUNT] = {
	[KIND_SCHEMA_DIR] = {.behind = ".schema"},
	[KIND_CONTROL_DIR] = {.behind = ".cellfs"},
	[KIND_ROW] = {BY_NAME, NAME_OF_ROW, NULL, false},
	[KIND_VIEW_ROW] = {BY_NAME, NAME_OF_ROW, NULL, false},
	[KIND_ROW_PART] = {BY_PART, NAME_OF_ROW, NULL, false},
	[KIND_VIEW_ROW_PART] = {BY_PART, NAME_OF_ROW, NULL, false},
	[KIND_FAMILY] = {BY_NAME, NAME_OF_FAMILY, NULL, false},
	[KIND_VIEW_FAMILY] = {BY_NAME, NAME_OF_FAMILY, NULL, false},
	[KIND_CELL] = {BY_NAME, NAME_OF_QUALIFIER, NULL, false},
	[KIND_VIEW_CELL] = {BY_NAME, NAME_OF_QUALIFIER, NULL, false},
	[KIND_COLUMN_PART] = {BY_PART, NAME_OF_QUALIFIER, NULL, false},
	[KIND_VIEW_COLUMN_PART] = {BY_PART, NAME_OF_QUALIFIER, NULL, false},
	[KIND_VERSION] = {BY_NAME, NAME_OF_QUALIFIER, "@", true},
	[KIND_NTH] = {BY_NAME, NAME_OF_QUALIFIER, "@~", true},
	[KIND_COUNTER] = {BY_NAME, NAME_OF_QUALIFIER, "@counter", false},
	[KIND_VERSIONS] = {BY_NAME, NAME_OF_QUALIFIER, "@", false},
	[KIND_VIEW_NAME] = {.how = BY_VIEW},
	[KIND_VIEW] = {.how = BY_VIEW},
	[KIND_VIEW_TIME] = {.how = BY_VIEW},
};

/* What of its key stands in the directory's already: names go on from parts,
 * views from views. */
static struct slice
prefix_of(const struct inode *inode)
{
	enum how how = spellings[inode->kind].how;
	bool goes_on = spellings[inode->up->kind].how ==
	    (how == BY_VIEW ? BY_VIEW : BY_PART);

	return goes_on ? buf_slice(&inode->up->key) : slice_text("");
}

static void
append_component(const struct inode *inode, struct buf *out)
{
	const struct spelling *s = &spellings[inode->kind];
	struct slice key = buf_slice(&inode->key);
	struct slice prefix = prefix_of(inode);
	struct buf name = {0};
	enum name_form form;
	size_t size;

	if (inode->kind == KIND_VERSION && inode->up->kind == KIND_VERSIONS) {
		buf_printf(out, "%lld", (long long)inode->number);
		return;
	}
	if (s->how == BY_NAME)
		path_write(s->of, prefix, key, &name, &form, &size);
	else if (s->how == BY_PART)
		path_write_part(s->of, prefix, key, &name, &size);
	else if (s->how == AS_IT_IS)
		buf_set(&name, key);
	else if (key.size > prefix.size) /* ends in a zero */
		buf_set(&name, slice_head(slice_skip(key, prefix.size),
				   key.size - prefix.size - 1));
	buf_append(out, buf_slice(&name));
	buf_text(out, s->behind ? s->behind : "");
	if (s->number)
		buf_printf(out, "%lld", (long long)inode->number);
	buf_release(&name);
}

/* Locked. */
static void
append_path(const struct inode *inode, struct buf *out)
{
	if (!inode->up)
		return;
	append_path(inode->up, out);
	if (out->size)
		buf_byte(out, '/');
	append_component(inode, out);
}

void
refusal_path(struct fs *fs, struct inode *inode, struct buf *out)
{
	pthread_mutex_lock(&fs->nodes->lock);
	append_path(inode, out);
	pthread_mutex_unlock(&fs->nodes->lock);
}

static void
tell(struct fs *fs, const struct caller *caller, struct buf *about, int error)
{
	if (!about->size)
		buf_byte(about, '/');
	buf_byte(about, 0);
	journal_refusal(&fs->journal, caller,
	    buf_status(about) ? "" : (const char *)about->data,
	    why_text(error));
	buf_release(about);
}

void
refusal_tell(struct fs *fs, const struct caller *caller, struct inode *inode,
    struct slice name, int error)
{
	struct buf about = {0};

	refusal_path(fs, inode, &about);
	if (about.size && name.size)
		buf_byte(&about, '/');
	buf_append(&about, name);
	tell(fs, caller, &about, error);
}

void
refusal_note(struct fs *fs, const struct caller *caller, struct inode *inode,
    const char *note, int error)
{
	struct buf about = {0};

	refusal_path(fs, inode, &about);
	buf_printf(&about, ": %s", note);
	tell(fs, caller, &about, error);
}
