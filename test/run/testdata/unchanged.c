// Says what a process can find out about itself, before, within and after MPI. Fewer files may
// be open than could be.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void look(const char *when) {
    struct rlimit limit;
    sigset_t mask;
    stack_t stack;
    cpu_set_t cpus;
    mode_t mode = umask(0);
    umask(mode);
    printf("%s: umask %o, limits", when, (unsigned)mode);
    for (int i = 0; i < RLIMIT_NLIMITS; i++)
        if (getrlimit(i, &limit) == 0)
            printf(" %llu/%llu", (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
    printf("\n%s: blocked", when);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int i = 1; i < NSIG; i++)
        if (sigismember(&mask, i) == 1)
            printf(" %d", i);
    printf(", handled");
    for (int i = 1; i < NSIG; i++) {
        struct sigaction a;
        if (sigaction(i, NULL, &a) == 0 && a.sa_handler != SIG_DFL)
            printf(" %d%s/%x", i, a.sa_handler == SIG_IGN ? " ignored" : "", (unsigned)a.sa_flags);
    }
    sigaltstack(NULL, &stack);
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf(", stack for them %d, %d cpus, slack %d, dumpable %d\n", stack.ss_flags, CPU_COUNT(&cpus), prctl(PR_GET_TIMERSLACK),
           prctl(PR_GET_DUMPABLE));
}

int main(int argc, char **argv) {
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max / 2;
    setrlimit(RLIMIT_NOFILE, &files);
    look("before");
    MPI_Init(&argc, &argv);
    look("within");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    look("after");
    return 0;
}
