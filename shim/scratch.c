/*
 * scratch.c: the process directory: node-local, named after host and process,
 * removed when the trace is complete, and what `spoor recover` reads when the
 * process died.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "ring.h"
#include "runtime.h"

static char dir[3072];

const char *sp_scratch_dir(void)
{
	return *dir ? dir : NULL;
}

void sp_scratch_forget(void)
{
	*dir = 0;
}

static int has_room(const char *path, uint64_t bytes)
{
	struct statvfs s;
	return statvfs(path, &s) == 0 && (uint64_t)s.f_bavail * s.f_frsize >= bytes;
}

/* Make the directory below `parent`, with ring 0 in it. */
static int try_parent(const char *parent, uint64_t capacity)
{
	char host[256] = "localhost";
	if (!parent || *parent != '/' || !has_room(parent, 4 * capacity))
		return 0;
	gethostname(host, sizeof host - 1);
	snprintf(dir, sizeof dir, "%.2048s/%s-%d", parent, host, (int)getpid());
	/* left by a process of the same number: it is someone's to recover */
	for (int i = 1; mkdir(dir, 0700) != 0; i++) {
		if (errno != EEXIST || i == 100) {
			*dir = 0;
			return 0;
		}
		snprintf(dir, sizeof dir, "%.2048s/%s-%d.%d", parent, host, (int)getpid(), i);
	}
	sp_rings[0] = sp_ring_make(0, capacity);
	char path[4096];
	snprintf(path, sizeof path, "%s/ring.0", dir);
	if (sp_rings[0] && access(path, F_OK) == 0)
		return 1;
	rmdir(dir);
	*dir = 0;
	return 0;
}

/* Where spoor was started by the launcher, it is no more when the ranks end. So
   that their records are found, a link beside the trace leads there until there is
   one: SPOOR_LINK, PROGRAM.spoor.partial/HOST-NUMBER. */
static char *folder_of_link(char *path, size_t n)
{
	const char *link = getenv("SPOOR_LINK");
	char *slash;
	if (!link || strlen(link) >= n)
		return NULL;
	strcpy(path, link);
	slash = strrchr(path, '/');
	return slash ? (*slash = 0, path) : NULL;
}

static void make_link(const char *target)
{
	char folder[4096];
	if (!folder_of_link(folder, sizeof folder))
		return;
	mkdir(folder, 0755);
	/* Where it can't be made, what is said at the end has the folder. */
	(void)!symlink(target, getenv("SPOOR_LINK"));
}

static void remove_link(void)
{
	char folder[4096];
	if (!folder_of_link(folder, sizeof folder))
		return;
	unlink(getenv("SPOOR_LINK"));
	rmdir(folder);
}

int sp_scratch_open(uint64_t capacity)
{
	const char *named = getenv("SPOOR_SCRATCH");
	if (named && *named) {
		mkdir(named, 0755);
		if (try_parent(named, capacity)) {
			make_link(named);
			return 1;
		}
	} else if (try_parent("/dev/shm", capacity) || try_parent(getenv("TMPDIR"), capacity) || try_parent("/tmp", capacity)) {
		return 1;
	}
	sp_warn_once("no room for a scratch directory: what is recorded won't survive a crash");
	return 0;
}

void sp_scratch_told(void)
{
	const char *named = getenv("SPOOR_SCRATCH"), *slash = named ? strrchr(named, '/') : NULL;
	char path[4096];
	if (!slash || strncmp(slash, "/spoor-", 7) != 0 || getenv("SPOOR_LINK")) /* the tool isn't there */
		return;
	snprintf(path, sizeof path, "%.2048s/told", named);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
}

void sp_scratch_leave(char *path)
{
	char *slash = strrchr(path, '/');
	if (!slash || slash == path)
		return;
	*slash = 0;
	const char *parent = strrchr(path, '/');
	if (parent && strncmp(parent, "/spoor-", 7) == 0 && rmdir(path) == 0)
		remove_link();
}

void sp_scratch_remove(void)
{
	DIR *d = *dir ? opendir(dir) : NULL;
	if (!d)
		return;
	struct dirent *e;
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	rmdir(dir);
	sp_scratch_leave(dir);
	*dir = 0;
}
