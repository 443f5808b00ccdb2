/* main.c: loops as programs have them, each counted by the program too: nests of which the calls don't tell what went round, rounds
   without MPI, jumps out of frames, other stacks, threads, recursion, a library that is loaded, unloaded and loaded again. */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "counted.h"

#define MPI MPI_Barrier(MPI_COMM_SELF)

void library(int n);
void unit(int n);
#ifdef CXX
void cxx(void);
#endif

static void nest(int a, int b, int c)
{
	for (int i = 0; i < a; i++) { R;
		for (int j = 0; j < b; j++) { R;
			for (int k = 0; k < c; k++) { R;
				MPI;
			}
		}
	}
}

void never_called(int n)
{
	for (int i = 0; i < n; i++) { R;
		MPI;
	}
}

static int silent(int n) { return n >= 0; }

static int asks(int n)
{
	MPI;
	return n;
}

static void forms(int n)
{
	int i = 0;
	while (i < n && i != 7) { R;
		if (i++ % 3 == 0)
			continue;
		if (i == 6)
			MPI;
	}
	while (i > 5 || (i > 2 && i != 4)) { R;
		MPI;
		i--;
	}
	while (i < 8 && silent(i)) { R;
		i++;
	}
	while (asks(i < 11)) { R;
		i++;
	}
	for (; i < 13 && asks(1); i++) { R;
	}
	do { R;
		MPI;
	} while (--i > 2);
	for (;;) { R;
		switch (i++) {
		case 4:
			MPI;
			break;
		case 9:
			return;
		}
	}
}

static int deep(int n)
{
	int sum = n;
	for (int i = 0; i < n; i++) { R;
		sum += deep(n - 1 - i);
	}
	if (n == 2)
		MPI;
	return sum;
}

static jmp_buf back;

static void jump(int n)
{
	for (int i = 0; ; i++) { R;
		if (i == n)
			longjmp(back, 1);
		MPI;
	}
}

static void between(int n)
{
	for (int i = 0; i < 5; i++) { R;
		if (i == 2)
			jump(n);
	}
}

static void jumps(void)
{
	for (volatile int n = 0; n < 4; n++) { R;
		if (setjmp(back) == 0)
			between(n);
	}
	MPI;
}

static ucontext_t outside, inside;
static char stack[1 << 18];

static void fibre(void)
{
	for (int i = 0; i < 6; i++) { R;
		if (i % 2)
			MPI;
		swapcontext(&inside, &outside);
	}
}

static void fibres(void)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof stack;
	inside.uc_link = &outside;
	makecontext(&inside, fibre, 0);
	for (int i = 0; i < 7; i++) { R;
		swapcontext(&outside, &inside);
	}
}

static int compare(const void *a, const void *b)
{
	MPI;
	return *(const int *)a - *(const int *)b;
}

/* The loop leads to MPI only through what qsort calls back. */
static void callbacks(void)
{
	int list[2] = {2, 1};
	for (int i = 0; i < 4; i++) qsort(list, 2, sizeof *list, compare); printf("rounds main.c:%d 4\n", __LINE__);
}

static void *thread(void *p)
{
	for (long i = 0; i < (long)p; i++) { R;
		nest(1, (int)i, 2);
	}
	MPI;
	return NULL;
}

static void threads(void)
{
	pthread_t t[5];
	for (long i = 0; i < 5; i++) { R;
		pthread_create(&t[i], NULL, thread, (void *)(i + 3));
	}
	for (int i = 0; i < 5; i++) { R;
		pthread_join(t[i], NULL);
	}
}

static void loaded(const char *path)
{
	for (int i = 0; i < 3; i++) { R;
		void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!h) {
			puts(dlerror());
			exit(1);
		}
		void (*f)(int);
		*(void **)&f = dlsym(h, "loaded_work");
		f(i + 2);
		dlclose(h);
	}
}

int main(int argc, char **argv)
{
	int level;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	for (int i = 0; i < 3; i++) { R;
		nest(1, 2, 2);
		nest(2, 1, 2);
		nest(2, 2, 1);
	}
	forms(20);
	printf("deep %d\n", deep(4));
	jumps();
	fibres();
	callbacks();
	library(4);
	unit(6);
	loaded(argv[1]);
	if (level == MPI_THREAD_MULTIPLE)
		threads();
#ifdef CXX
	cxx();
#endif
	MPI_Finalize();
	puts("done");
	return 0;
}
