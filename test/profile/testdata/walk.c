/* A recursive walk of a tree of degree 3, depth 3 (1+3+9+27 nodes): leaves do 2 Allreduces in a loop, inner nodes after their children 4 times { Bcast, Reduce }.
   27 leaves · 2 Allreduce = 54; 13 inner · 4 = 52 Bcast and Reduce */
#include <mpi.h>
static int b[64];
__attribute__((noinline)) static void walk(int depth) {
  if (depth == 0) { for (int i = 0; i < 2; i++) MPI_Allreduce(b, b + 8, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); return; }
  for (int k = 0; k < 3; k++) walk(depth - 1);
  for (int i = 0; i < 4; i++) { MPI_Bcast(b, 1, MPI_INT, 0, MPI_COMM_WORLD); MPI_Reduce(b, b + 8, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); }
}
int main(int c, char **v) { MPI_Init(&c, &v); walk(3); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 0; }
