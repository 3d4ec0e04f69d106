/* mount, and what mount(8) calls: options in, one call of fs/mount.h. */
#include "cmd.h"
#include "mounted.h"

#include "../fs/mount.h"
#include "../kv/text.h"
#include "../kv/why.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options being read. */
struct reading {
	struct mount_options *mount;
	struct buf fuse; /* what is passed on, separated by commas */
	bool sloppy;	 /* unknown options are left out */
};

static int
bad_value(const char *name, const char *wanted)
{
	return why(EINVAL, "%s= needs %s", name, wanted);
}

/* A number of bytes, least MiB or more: digits, then K, M, G or T (powers of
 * 1024). */
static int
read_size(const char *name, const char *text, unsigned least, uint64_t *out)
{
	static const char units[] = "KMGT";
	size_t digits = strspn(text, "0123456789");
	const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	uint64_t number;
	char wanted[32];

	if ((text[digits] && (!unit || text[digits + 1])) ||
	    text_number(slice_of(text, digits), UINT64_MAX >> shift >> 1,
		&number) < 0)
		return bad_value(name, "a size such as 512M or 4G");
	*out = number << shift;
	snprintf(wanted, sizeof(wanted), "at least %uM", least);
	return *out >> 20 < least ? bad_value(name, wanted) : 0;
}

static int
read_cache(const char *text, struct mount_options *o)
{
	return read_size("cache", text, 2, &o->cache);
}

static int
read_buffers(const char *text, struct mount_options *o)
{
	return read_size("buffers", text, 1, &o->buffers);
}

static int
read_sync(const char *text, struct mount_options *o)
{
	uint64_t seconds;

	if (text_number(slice_text(text), 86400, &seconds) < 0 || !seconds)
		return bad_value("sync", "seconds, 1 to 86400");
	o->sync_seconds = seconds;
	return 0;
}

static int
read_id(const char *name, const char *text, uint32_t *out)
{
	uint64_t id;

	if (text_number(slice_text(text), UINT32_MAX - 1, &id) < 0)
		return bad_value(name, "a number");
	*out = id;
	return 0;
}

static int
read_uid(const char *text, struct mount_options *o)
{
	o->has_uid = true;
	return read_id("uid", text, &o->uid);
}

static int
read_gid(const char *text, struct mount_options *o)
{
	o->has_gid = true;
	return read_id("gid", text, &o->gid);
}

static int
read_umask(const char *text, struct mount_options *o)
{
	size_t digits = strspn(text, "01234567");

	if (!digits || digits > 4 || text[digits])
		return bad_value("umask", "an octal number such as 022");
	o->umask = strtoul(text, NULL, 8);
	o->has_umask = true;
	return o->umask <= 0777 ? 0 : bad_value("umask", "at most 0777");
}

struct own_option {
	const char *name;
	int (*read)(const char *text, struct mount_options *o);
};

static const struct own_option own[] = {
    {"cache", read_cache},
    {"buffers", read_buffers},
    {"sync", read_sync},
    {"uid", read_uid},
    {"gid", read_gid},
    {"umask", read_umask},
    {NULL, NULL},
};

/* For the kernel or fusermount3. */
static const char *const passed[] = {"allow_other", "allow_root",
    "default_permissions", "auto_unmount", "nosuid", "nodev", "noexec",
    "noatime", "nodiratime", "relatime", "strictatime", "lazytime", "dirsync",
    NULL};

/* What mount(8) and systemd hand on and what says what is so anyway. */
static const char *const ignored[] = {"rw", "defaults", "auto", "noauto",
    "user", "nouser", "users", "owner", "group", "nofail", "_netdev", "suid",
    "dev", "exec", "atime", "diratime", "norelatime", "nostrictatime",
    "nolazytime", "async", "silent", "loud", NULL};

static bool
in_list(const char *const *list, const char *word)
{
	while (*list && strcmp(*list, word))
		list++;
	return *list != NULL;
}

static bool
begins(const char *word, const char *prefix)
{
	return strncmp(word, prefix, strlen(prefix)) == 0;
}

static bool
is_ignored(const char *word)
{
	return in_list(ignored, word) || begins(word, "x-") ||
	       begins(word, "X-") || begins(word, "comment=") ||
	       begins(word, "user=");
}

static int
read_own(
    const struct own_option *option, const char *word, struct mount_options *o)
{
	const char *value = word + strlen(option->name);

	if (*value != '=')
		return bad_value(option->name, "a value");
	return option->read(value + 1, o);
}

static const struct own_option *
find_own(const char *word)
{
	size_t size = strcspn(word, "=");

	for (const struct own_option *o = own; o->name; o++)
		if (strlen(o->name) == size && begins(word, o->name))
			return o;
	return NULL;
}

static int
read_word(struct reading *r, const char *word)
{
	const struct own_option *option = find_own(word);

	if (option)
		return read_own(option, word, r->mount);
	if (strcmp(word, "remount") == 0)
		return why(EOPNOTSUPP,
		    "remount: a mount keeps its options: unmount it and "
		    "mount it again with others");
	if (strcmp(word, "ro") == 0) {
		r->mount->read_only = true;
	} else if (strcmp(word, "rw") == 0) {
		r->mount->read_only = false;
	} else if (in_list(passed, word)) {
		if (r->fuse.size)
			buf_byte(&r->fuse, ',');
		buf_text(&r->fuse, word);
	} else if (!is_ignored(word) && !r->sloppy) {
		return why(EINVAL,
		    "%s is no mount option; cache= buffers= "
		    "sync= uid= gid= umask= ro, or one of mount(8)",
		    word);
	}
	return 0;
}

/* Reads a comma list of options. */
static int
read_list(struct reading *r, const char *list)
{
	char *copy = strdup(list);
	char *rest;
	int e = copy ? 0 : -ENOMEM;

	if (copy)
		for (char *word = strtok_r(copy, ",", &rest); word && e == 0;
		     word = strtok_r(NULL, ",", &rest))
			e = read_word(r, word);
	free(copy);
	return e;
}

/* read_list() with its status; subject: who reads. */
static int
read_options(struct reading *r, const char *list, const char *subject)
{
	int e = read_list(r, list);

	if (e < 0)
		return e == -EINVAL ? malformed(subject, e)
				    : failed(subject, e);
	return STATUS_DONE;
}

/* Whether there is nothing at path, or a directory without a file. */
static bool
is_vacant(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *entry = NULL;

	if (!d)
		return errno == ENOENT;
	while ((entry = readdir(d)) && entry->d_name[0] == '.')
		;
	closedir(d);
	return entry == NULL;
}

/* Says why a mount failed; a sentence about the store names it. */
static int
mount_failed(const struct mount_options *o, int e)
{
	char *store = realpath(o->store, NULL);
	const char *line = why_text(e);
	size_t size = store ? strlen(store) : 0;

	if (size && begins(line, store) && begins(line + size, ": "))
		message(o->store, line + size + 2);
	else
		message(o->mount_point, line);
	free(store);
	return STATUS_FAILED;
}

/* Ends the list and mounts. A mistyped STORE is not to become a store in
 * silence. */
static int
mount_it(struct reading *r)
{
	struct mount_options *o = r->mount;
	bool vacant = is_vacant(o->store);
	int e;

	buf_byte(&r->fuse, 0);
	e = buf_status(&r->fuse);
	if (e < 0)
		return failed("mount", e);
	o->fuse_options = (char *)r->fuse.data;
	e = mount_run(o);
	for (int waited = 0;
	     e == -EBUSY && waited < PASSING_MS && mounted_passing(o->store);
	     waited += PASSING_POLL_MS)
		e = mount_run(o);
	if (e < 0)
		return mount_failed(o, e);
	if (vacant && !o->fake && !o->foreground)
		message(o->store, "there was no store: a new one was made");
	return STATUS_DONE;
}

static int
run_mount(struct arguments *a)
{
	struct mount_options mount = {.store = a->operands[0],
	    .mount_point = a->operands[1],
	    .foreground = option(a, OPTION_FOREGROUND) != NULL};
	struct reading r = {.mount = &mount};
	int status = STATUS_DONE;

	for (size_t i = 0; i < a->given_count && status == STATUS_DONE; i++)
		if (a->given[i].id == OPTION_MOUNT_OPTIONS)
			status = read_options(&r, a->given[i].value, "mount");
	if (status == STATUS_DONE)
		status = mount_it(&r);
	buf_release(&r.fuse);
	return status;
}

#define HELPER_LETTERS "sfnvt:N:o:"

static int
helper_usage(void)
{
	message("mount.cellfs", "mount.cellfs STORE DIR [-sfnv] [-o OPTIONS] "
				"is what mount(8) calls");
	return STATUS_USAGE;
}

/* -n, -v, -t and -N change nothing here. */
static int
read_helper(int argc, char **argv, struct reading *r)
{
	int status = STATUS_DONE;
	int letter;

	/* -s counts for every -o, wherever it stands. */
	while ((letter = getopt(argc, argv, HELPER_LETTERS)) != -1) {
		if (letter == '?')
			return helper_usage();
		r->sloppy |= letter == 's';
		r->mount->fake |= letter == 'f';
	}
	if (argc - optind != 2)
		return helper_usage();
	r->mount->store = argv[optind];
	r->mount->mount_point = argv[optind + 1];
	optind = 1;
	while (status == STATUS_DONE &&
	       (letter = getopt(argc, argv, HELPER_LETTERS)) != -1)
		if (letter == 'o')
			status = read_options(r, optarg, "mount.cellfs");
	return status;
}

/* The exit codes are those of mount(8). */
int
mount_helper(int argc, char **argv)
{
	static const int codes[] = {
	    [STATUS_DONE] = 0, [STATUS_USAGE] = 1, [STATUS_FAILED] = 32};
	struct mount_options mount = {0};
	struct reading r = {.mount = &mount};
	int status = read_helper(argc, argv, &r);

	if (status == STATUS_DONE)
		status = mount_it(&r);
	buf_release(&r.fuse);
	return codes[status];
}

const struct command command_mount = {
    .name = "mount",
    .synopsis = "STORE DIR [OPTION]...",
    .summary = "Show a store as a file tree in a directory",
    .note = "OPTIONS are those of mount.cellfs(8).\n",
    .options = (const enum option_id[]){OPTION_FOREGROUND, OPTION_MOUNT_OPTIONS,
	OPTION_END},
    .least = 2,
    .most = 2,
    .run = run_mount,
};
