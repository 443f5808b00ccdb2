// What the programs of this folder share: checks that end the job at once. Nothing here calls MPI, so that a trace
// of a program holds the program's own calls only.
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// MPICH declares parameters that may be MPI_STATUSES_IGNORE or MPI_UNWEIGHTED as arrays, and gcc then takes such
// addresses for an overflow.
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"

// _exit, not exit or MPI_Abort: no handler runs, and every launcher ends the other ranks when one fails.
static inline _Noreturn void check_failed(const char *what, const char *file, int line) {
    fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
    fflush(stderr);
    _exit(1);
}

#define CHECK(cond) ((cond) ? (void)0 : check_failed(#cond, __FILE__, __LINE__))

// A call that has to succeed. The error handler of most objects aborts anyway; this catches the others.
#define OK(call) CHECK((call) == MPI_SUCCESS)

// One line of result, from rank 0 only.
__attribute__((format(printf, 2, 3))) static inline void say(int rank, const char *format, ...) {
    if (rank != 0)
        return;
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

// A new, empty scratch file in $TMPDIR; its name goes to path.
enum { SCRATCH_PATH = 256 };
static inline void scratch_file(char path[SCRATCH_PATH]) {
    const char *dir = getenv("TMPDIR");
    int n = snprintf(path, SCRATCH_PATH, "%s/spoor-test-XXXXXX", dir && *dir ? dir : "/tmp");
    CHECK(n > 0 && n < SCRATCH_PATH);
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
}

#endif
