// Handlers that the program set before MPI_Init are there afterwards, those that it didn't set aren't; a profiling
// timer fires all the time, and its handler runs on the thread's own stack and needs 200 KB of it.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t profiled, oddities;
static char *low;

static void on_prof(int sig) {
    (void)sig;
    char big[200 << 10];
    memset(big, profiled, sizeof big);
    oddities += big[sizeof big - 1] != (char)profiled || big > low;
    profiled++;
}

static void on_segv(int sig) { (void)sig; }

int main(int argc, char **argv) {
    char here;
    low = &here;
    struct sigaction act = {.sa_handler = on_prof, .sa_flags = SA_RESTART | SA_ONSTACK}, now;
    sigaction(SIGPROF, &act, NULL);
    act.sa_handler = on_segv;
    sigaction(SIGSEGV, &act, NULL);
    signal(SIGUSR1, SIG_IGN);
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &often, NULL);

    int rank, size, flag, sum = 0, kept = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 300000 || profiled < 10; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    sigaction(SIGPROF, NULL, &now);
    kept += now.sa_handler == on_prof;
    sigaction(SIGSEGV, NULL, &now);
    kept += now.sa_handler == on_segv;
    sigaction(SIGUSR1, NULL, &now);
    kept += now.sa_handler == SIG_IGN;
    sigaction(SIGURG, NULL, &now);
    kept += now.sa_handler == SIG_DFL;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int s = 1; s < 32; s++)
        oddities += sigismember(&mask, s);
    stack_t stack;
    sigaltstack(NULL, &stack);
    oddities += !(stack.ss_flags & SS_DISABLE);
    setitimer(ITIMER_PROF, &never, NULL);
    kept = kept * 100 + oddities;
    MPI_Reduce(&kept, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d handlers a rank, %d oddities\n", sum / 100 / size, sum % 100);
    MPI_Finalize();
}
