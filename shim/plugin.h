/* plugin.h: the plugin that is loaded, if any. */
#ifndef SPOOR_PLUGIN_LOADED_H
#define SPOOR_PLUGIN_LOADED_H

#include "shim.h"
#include "spoor_plugin.h"

#pragma GCC visibility push(hidden)

extern struct sp_plugin {
	int (*init)(const spoor_api *);
	void (*pre)(const spoor_call *);
	void (*post)(const spoor_call *);
	void (*fini)(void);
} sp_plugin;

/* Load a plugin and call its init, which may crash; `attach` is what it is given to
   attach values with. 0 if that failed: there is none then, and why says what is wrong. */
int sp_plugin_load(const char *path, void (*attach)(const spoor_call *, int32_t, int64_t), char *why, size_t room);

#pragma GCC visibility pop

#endif
