/* A plugin that attaches the number that the program names, another to every third call and two of one name
   to every fifth, and writes down for each call what it attached: place, function, name=value… */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <spoor.h>

static const spoor_api *spoor;
static int32_t number, third, twice;
static const char **place;
static const long *known;
static FILE *log_;

int spoor_init(const spoor_api *api)
{
	char name[64];
	spoor = api;
	number = api->value("number");
	third = api->value("third");
	twice = api->value("twice");
	place = dlsym(RTLD_DEFAULT, "known_place");
	known = dlsym(RTLD_DEFAULT, "known_number");
	snprintf(name, sizeof name, "attached.%d", api->rank);
	log_ = fopen(name, "w");
	return api->abi != SPOOR_PLUGIN_ABI || !place || !known || !log_;
}

static void put(const spoor_call *call, const char *name, int32_t value, long v)
{
	spoor->attach(call, value, v);
	fprintf(log_, " %s=%ld", name, v);
}

void spoor_post(const spoor_call *call)
{
	fprintf(log_, "%s %s", *place, call->name);
	put(call, "number", number, *known);
	if (call->sequence % 3 == 0)
		put(call, "third", third, -(long)call->sequence);
	if (call->sequence % 5 == 0) {
		put(call, "twice", twice, 5);
		put(call, "twice", twice, -2);
	}
	fprintf(log_, "\n");
}

void spoor_fini(void) { fclose(log_); }
