// What Python and Julia do: a program without MPI loads a plugin, and with it the MPI, with RTLD_LOCAL, or as the second
// argument says.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    int flags = argc > 2 && strcmp(argv[2], "lazy") == 0 ? RTLD_LAZY : RTLD_NOW;
    if (argc > 2)
        flags |= RTLD_DEEPBIND;
    void *plugin = argc > 1 ? dlopen(argv[1], flags | RTLD_LOCAL) : NULL;
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*run)(int *, char ***);
    *(void **)&run = dlsym(plugin, "plugin_main");
    return run(&argc, &argv);
}
