/* files.c: calls on files, which the replayer makes as proxies do. */
#include "under.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../internal/reproduce/proxy/runtime/posix.h"

#define EXPORT __attribute__((visibility("default")))

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "spoor-replay: %s: %s\n", what, why);
	exit(1);
}

/* in_it: calls are made in the folder, not with names alone. */
static void files_begin(const char *folder, int rank, int in_it)
{
	(in_it ? again_begin : again_root)(folder, rank, fail);
}

/* Makes a call that is made again, and says what errno was then. */
static int64_t files_call(void *function, const int64_t *w, int64_t *error)
{
	int64_t (*f)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
	*(void **)&f = function;
	errno = 0;
	int64_t result = f(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9]);
	*error = errno;
	return result;
}

EXPORT void *under_files(const char *name)
{
#define OWN(name) {#name, (void *)name},
#define ENTRY(name) {#name, (void *)again_##name},
	static const struct {
		const char *name;
		void *function;
	} table[] = {OWN(files_begin) OWN(again_file) OWN(files_call) AGAIN_CALLS(ENTRY)};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (strcmp(table[i].name, name) == 0)
			return table[i].function;
	return NULL;
}
