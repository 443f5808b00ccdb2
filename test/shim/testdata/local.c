// What Python and Julia do: a program without MPI loads a plugin, and with it the MPI, with RTLD_LOCAL.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*run)(int *, char ***);
    *(void **)&run = dlsym(plugin, "plugin_main");
    return run(&argc, &argv);
}
