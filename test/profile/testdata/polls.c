/* five steps of a solver; in each: Isend, Irecv, poll (Test) until done (differs: 3,0,7,1,12 extra polls), then a residual loop of 4 Allreduces; every step has one outer Barrier */
#include <mpi.h>
static int b[64], r;
int main(int c, char **v) {
  MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &r);
  static const int polls[5] = {3, 0, 7, 1, 12};
  for (int s = 0; s < 5; s++) {
    MPI_Request q[2]; int f;
    MPI_Irecv(b, 1, MPI_INT, r, 0, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(b + 8, 1, MPI_INT, r, 0, MPI_COMM_WORLD, &q[1]);
    for (int i = 0; i < polls[s]; i++) { MPI_Iprobe(r, 9, MPI_COMM_WORLD, &f, MPI_STATUS_IGNORE); MPI_Test(&q[0], &f, MPI_STATUS_IGNORE); if (f) q[0] = MPI_REQUEST_NULL; }
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++) MPI_Allreduce(b, b + 8, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize(); return 0;
}
