/* An engine that records nothing. At its end rank 0 waits for a message of rank 1, which
   sends none before rank 0 gave up, as the file GAVEUP says; the one it sends then
   has to arrive whole. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine.h"

#define SP_EXPORT __attribute__((visibility("default")))

static const struct spoor_host *host;

SP_EXPORT int32_t spoor_engine_start(const struct spoor_host *h)
{
	host = h;
	return 0;
}

SP_EXPORT int32_t spoor_engine_sync(void)
{
	return 0;
}

SP_EXPORT int32_t spoor_engine_drain(void)
{
	return 0;
}

SP_EXPORT int32_t spoor_engine_finish(void)
{
	const char *file = getenv("GAVEUP");
	uint64_t word = 7;
	if (host->rank == 0) {
		int rc = host->recv(1, &word, sizeof word);
		fprintf(stderr, "first %d %d\n", rc, (int)word);
		close(open(file, O_CREAT | O_WRONLY, 0600));
		rc = host->recv(1, &word, sizeof word);
		fprintf(stderr, "then %d %d\n", rc, (int)word);
	} else {
		while (access(file, F_OK) != 0)
			usleep(10000);
		word = 9;
		host->send(0, &word, sizeof word);
	}
	return 0;
}

SP_EXPORT void spoor_engine_stop(void)
{
}

SP_EXPORT const char *spoor_engine_error(void)
{
	return "";
}
