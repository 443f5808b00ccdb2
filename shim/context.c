/*
 * context.c: the files beside the rings.
 *
 * `context` is lines of "key value", the last kinds repeated:
 *
 *   spoor-context 1
 *   flavour mpich|openmpi|abi
 *   library TEXT             of MPI_Get_library_version, newlines as \n
 *   rank N                   in MPI_COMM_WORLD
 *   ranks N
 *   spawned 0|1              by MPI_Comm_spawn
 *   alone 0|1                sessions only, no MPI_COMM_WORLD
 *   host NAME
 *   pid N
 *   namespace N              of process numbers, as /proc names it
 *   exe PATH
 *   cwd PATH                 at the first call that is recorded, or MPI_Init
 *   clock tsc|monotonic      what a tick is
 *   ticks-per-ns X
 *   start TICKS NS           one moment in both clocks, NS since 1970
 *   arg TEXT                 argv, one by one; \ as \\, newlines as \n
 *   layer PATH               another library that wraps MPI functions, one by one
 *   handle KIND ABI RAW      a predefined handle: standard ABI's number, and
 *                            its value in this process in hex
 *
 * Where process numbers are not those of the host, as in a container, `lives` is locked while the process runs.
 * `maps` is /proc/self/maps, written again when libraries come or go. A file
 * `finished` says that the process ended well and only the merge is missing.
 */
#define _GNU_SOURCE
#include "context.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"
#include "flavour.h"
#include "layers.h"
#include "lives.h"
#include "ring.h"
#include "runtime.h"
#include "stack.h"

static void put_text(FILE *f, const char *key, const char *text, size_t n)
{
	fprintf(f, "%s ", key);
	for (size_t i = 0; i < n && text[i]; i++) {
		if (text[i] == '\n')
			fputs("\\n", f);
		else if (text[i] == '\\')
			fputs("\\\\", f);
		else
			fputc(text[i], f);
	}
	fputc('\n', f);
}

static void put_link(FILE *f, const char *key, const char *path)
{
	char target[4096];
	ssize_t n = readlink(path, target, sizeof target - 1);
	put_text(f, key, target, n > 0 ? (size_t)n : 0);
}

static char first_folder[4096];

void sp_context_folder(void)
{
	int saved = errno;
	/* not getcwd, which may be the program's own */
	if (!*first_folder && syscall(SYS_getcwd, first_folder, sizeof first_folder) <= 0)
		*first_folder = 0;
	errno = saved;
}

static void put_args(FILE *f)
{
	FILE *in = fopen("/proc/self/cmdline", "re");
	char *arg = NULL;
	size_t room = 0;
	ssize_t n;
	if (!in)
		return;
	while ((n = getdelim(&arg, &room, 0, in)) > 0)
		put_text(f, "arg", arg, (size_t)n);
	free(arg);
	fclose(in);
}

static void put_library(FILE *f)
{
	static char text[8192 + 1];
	int n = 0;
	if (P_MPI_Get_library_version && P_MPI_Get_library_version(text, &n) == 0 && n > 0)
		put_text(f, "library", text, (size_t)n);
}

static void put_handles(FILE *f)
{
	for (int i = 0; i < sp_npredefined; i++) {
		const struct sp_predefined *p = &sp_predefined[i];
		intptr_t value;
		if (sp_predefined_value(p, &value))
			fprintf(f, "handle %s %d 0x%" PRIxPTR "\n", p->kind, p->abi, (uintptr_t)value);
	}
}

static FILE *create(const char *name, char *path, size_t room)
{
	snprintf(path, room, "%s/%s.new", sp_scratch_dir(), name);
	return fopen(path, "we");
}

/* Readers see the whole file or none. */
static int publish(FILE *f, const char *name, char *path)
{
	char final[4096];
	int ok = !ferror(f);
	ok = fclose(f) == 0 && ok;
	snprintf(final, sizeof final, "%s/%s", sp_scratch_dir(), name);
	return ok && rename(path, final) == 0;
}

static int write_maps(void)
{
	char path[4096], part[4096];
	FILE *out = create("maps", path, sizeof path);
	if (!out)
		return 0;
	int in = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	ssize_t n;
	while (in >= 0 && (n = read(in, part, sizeof part)) > 0)
		fwrite(part, 1, (size_t)n, out);
	if (in >= 0)
		close(in);
	return publish(out, "maps", path);
}

int sp_context_write(void)
{
	char path[4096], lives[4096], host[256] = "";
	const char *layer;
	if (!sp_scratch_dir())
		return 1;
	FILE *f = create("context", path, sizeof path);
	if (!f)
		return 0;
	gethostname(host, sizeof host - 1);
	fprintf(f, "spoor-context 1\nflavour %s\n", sp_layouts[sp_fl.number].name);
	put_library(f);
	fprintf(f, "rank %d\nranks %d\nspawned %d\nalone %d\n", sp_run.rank, sp_run.ranks, sp_run.spawned, sp_run.alone);
	put_text(f, "host", host, sizeof host);
	fprintf(f, "pid %d\nnamespace %" PRIu64 "\n", (int)getpid(), sp_lives_namespace());
	put_link(f, "exe", "/proc/self/exe");
	sp_context_folder();
	put_text(f, "cwd", first_folder, sizeof first_folder);
	fprintf(f, "clock %s\nticks-per-ns %.12g\n", sp_use_tsc ? "tsc" : "monotonic", sp_run.ticks_per_ns);
	fprintf(f, "start %" PRIu64 " %" PRId64 "\n", sp_run.start_ticks, sp_run.start_ns);
	put_args(f);
	for (int i = 0; (layer = sp_layer_path(i)); i++)
		put_text(f, "layer", layer, strlen(layer));
	put_handles(f);
	snprintf(lives, sizeof lives, "%s/lives", sp_scratch_dir());
	sp_lives_lock(lives, O_CREAT);
	return publish(f, "context", path);
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *arg)
{
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
		*(unsigned long long *)arg = info->dlpi_adds + info->dlpi_subs;
	return 1; /* the first object knows */
}

uint64_t sp_context_loads(void)
{
	unsigned long long loads = 0;
	dl_iterate_phdr(count_loads, &loads);
	return loads;
}

int sp_context_refresh(uint64_t loads)
{
	static uint64_t seen;
	if (loads == seen)
		return 1;
	seen = loads;
	sp_stack_refresh();
	return !sp_scratch_dir() || write_maps();
}

void sp_context_finished(int yes)
{
	char path[4096];
	if (!sp_scratch_dir())
		return;
	snprintf(path, sizeof path, "%s/finished", sp_scratch_dir());
	if (!yes) {
		unlink(path);
		return;
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
}
