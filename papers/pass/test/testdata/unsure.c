/* unsure.c: loops of which neither the machine code nor the order of calls tells how often they went round. */
#include <mpi.h>

#include "counted.h"

static void nest(int a, int b, int c)
{
	for (int i = 0; i < a; i++) { R;
		for (int j = 0; j < b; j++) { R;
			for (int k = 0; k < c; k++) { R;
				MPI_Barrier(MPI_COMM_WORLD);
			}
		}
	}
}

static void seldom(int n)
{
	for (int i = 0; i < n; i++) { R;
		if (i % 10 == 7)
			MPI_Barrier(MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 3; i++) { R;
		nest(1, 2, 2);
		seldom(25);
	}
	MPI_Finalize();
	return 0;
}
