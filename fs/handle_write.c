/* Writing: the image a handle builds up before it is stored. */
#include "handle_own.h"

#include <errno.h>
#include <stdlib.h>

#include "../kv/why.h"

#define COPY_BYTES (1 << 20)

/* --- the image ------------------------------------------------------------ */

/* Fills an image with what h's reader reads. */
static int
copy_to_image(struct fs *fs, struct handle *h, struct image *image)
{
	uint64_t size = reader_size(&h->reader);
	uint8_t *bytes = malloc(COPY_BYTES);
	int r = bytes ? 0 : -ENOMEM;

	image_release(image);
	for (uint64_t at = 0; r == 0 && at < size;) {
		int64_t n = reader_read(fs, &h->reader, at, bytes,
		    COPY_BYTES);
		if (n <= 0)
			r = n < 0 ? (int)n : -EIO;
		else
			r = image_write(image, at, bytes, (size_t)n);
		at += (uint64_t)n;
	}
	free(bytes);
	return r;
}

int
handle_take_image(struct fs *fs, struct handle *h)
{
	if (kinds[handle_kind(h)].collects ||
	    (h->imaged && (h->dirty || h->truncated || h->made)))
		return 0;
	int r = handle_refresh(fs, h);
	if (r < 0)
		return r;
	if (h->collects)
		image_release(&h->image);
	else
		r = copy_to_image(fs, h, &h->image);
	h->imaged = r == 0;
	return r;
}

int
handle_check_size(struct fs *fs, struct handle *h, uint64_t size)
{
	uint64_t base = h->collects && !h->truncated
	    ? reader_size(&h->reader) : 0;

	if (base + size > h->limit.bytes)
		return why(EFBIG, "%llu bytes: %s is %llu",
		    (unsigned long long)(base + size), h->limit.name,
		    (unsigned long long)h->limit.bytes);
	return h->image.spilled ? handle_check_room(fs) : 0;
}

static int
changed(struct fs *fs, struct handle *h)
{
	h->dirty = true;
	handle_show(fs, h, true);
	return node_check(handle_kind(h), &h->image);
}

/* --- writing -------------------------------------------------------------- */

/* A control file's whole lines act at once. */
static int
store_lines(struct fs *fs, struct handle *h)
{
	uint8_t end = 0;

	if (!kinds[handle_kind(h)].immediate || !h->image.size)
		return 0;
	int64_t n = image_read(&h->image, h->image.size - 1, &end, 1);
	if (n < 0)
		return (int)n;
	return end == '\n' ? handle_commit(fs, h) : 0;
}

static int
write_locked(struct fs *fs, struct handle *h, uint64_t offset,
    const void *from, size_t size)
{
	int r = h->refused ? handle_refused(h) : handle_take_image(fs, h);
	uint64_t before = h->image.size;

	if (r < 0)
		return r;
	if (h->loader)
		return handle_load(fs, h, slice_of(from, size));
	if (h->at_end || h->collects)
		offset = before;
	r = handle_check_size(fs, h, offset + size);
	if (r == 0)
		r = image_write(&h->image, offset, from, size);
	if (r == 0)
		r = changed(fs, h);
	else if (h->collects)
		image_truncate(&h->image, before);
	if (r == 0)
		r = store_lines(fs, h);
	return r;
}

/* Bytes that were refused leave a hole in the whole: nothing of this open
 * file is stored any more, and what it does further is refused alike. A list
 * of bytes has no hole, unless they are one text. */
static void
refuse_rest(struct fs *fs, struct handle *h, int r)
{
	struct spot spot;

	if (h->collects && !kinds[handle_kind(h)].check)
		return;
	handle_refuse(h, r);
	pthread_rwlock_rdlock(&fs->nodes->names);
	if (inode_spot(fs, h->inode, &spot) == 0) {
		handle_set_late(fs, h, &spot);
		spot_release(&spot);
	}
	pthread_rwlock_unlock(&fs->nodes->names);
	h->dirty = h->truncated = false;
	handle_show(fs, h, false);
}

static void
show_mapped(struct fs *fs, struct handle *h)
{
	pthread_mutex_lock(&fs->nodes->lock);
	h->mapped = true;
	pthread_mutex_unlock(&fs->nodes->lock);
}

int
handle_write(struct fs *fs, struct handle *h, uint64_t offset,
    const void *from, size_t size, bool mapped)
{
	pthread_mutex_lock(&h->lock);
	if (mapped)
		show_mapped(fs, h);
	int r = write_locked(fs, h, offset, from, size);
	if (r < 0)
		refuse_rest(fs, h, r);
	if (r < 0 && h->refused)
		r = handle_refused(h);
	pthread_mutex_unlock(&h->lock);
	return r;
}

/* Adds a list of bytes behind an image. */
static int
add_list(struct image *to, const struct image *list)
{
	uint8_t *bytes = malloc(COPY_BYTES);
	int r = bytes ? 0 : -ENOMEM;

	for (uint64_t at = 0; r == 0 && at < list->size;) {
		int64_t n = image_read(list, at, bytes, COPY_BYTES);
		r = n < 0 ? (int)n
			  : image_write(to, to->size, bytes, (size_t)n);
		at += (uint64_t)n;
	}
	free(bytes);
	return r;
}

/* An appending handle that is cut to size has a whole image from then on. */
static int
stop_collecting(struct fs *fs, struct handle *h)
{
	struct image whole;
	int r = handle_refresh(fs, h);

	image_init(&whole, &fs->buffers);
	if (r == 0 && !h->truncated)
		r = copy_to_image(fs, h, &whole);
	if (r == 0)
		r = add_list(&whole, &h->image);
	if (r < 0) {
		image_release(&whole);
		return r;
	}
	image_release(&h->image);
	h->image = whole;
	h->collects = false;
	h->imaged = true;
	handle_show(fs, h, false);
	return 0;
}

static int
resize_locked(struct fs *fs, struct handle *h, uint64_t size, bool grow_only)
{
	int r = handle_refused(h);

	if (h->loader && size)
		return why(EINVAL, "a stream has no size");
	if (r == 0 && h->collects && kinds[handle_kind(h)].appends)
		r = stop_collecting(fs, h);
	else if (r == 0)
		r = handle_take_image(fs, h);
	if (r == 0)
		r = handle_check_size(fs, h, size);
	if (r < 0 || size == h->image.size ||
	    (grow_only && size < h->image.size))
		return r;
	r = image_truncate(&h->image, size);
	if (r == 0)
		r = changed(fs, h);
	show_mapped(fs, h);
	return r;
}

int
handle_resize(struct fs *fs, struct handle *h, uint64_t size, bool grow_only)
{
	pthread_mutex_lock(&h->lock);
	int r = resize_locked(fs, h, size, grow_only);
	if (r < 0)
		refuse_rest(fs, h, r);
	if (r < 0 && h->refused)
		r = handle_refused(h);
	pthread_mutex_unlock(&h->lock);
	return r;
}
