/* 20 iterations: save() ends in a jump through a pointer to rest(), which ends in a jump to MPI_Barrier; then 6 in which the call itself goes
   through a pointer. */
#include <mpi.h>
struct s { void (*go)(struct s *); };
static int b[8];
static __attribute__((noinline)) void rest(struct s *x) { MPI_Allreduce(b, b + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); MPI_Barrier(MPI_COMM_WORLD); (void)x; }
static __attribute__((noinline)) void save(struct s *x) { MPI_Bcast(b, 1, MPI_INT, 0, MPI_COMM_WORLD); x->go(x); }
int main(int c, char **v) {
	struct s x = {rest};
	void (*volatile p)(struct s *) = rest;
	MPI_Init(&c, &v);
	for (int i = 0; i < 20; i++) {
		save(&x);
		MPI_Scan(b, b + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	for (int i = 0; i < 6; i++) {
		p(&x);
		MPI_Exscan(b, b + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
