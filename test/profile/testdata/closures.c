/* Closures compiled from a program: repeat(8, seq(send, repeat(4, recvtest), reduce)); barrier; repeat(6, bcast). Loop closures call closures through pointers. */
#include <mpi.h>
#include <stdlib.h>
typedef struct clo { void (*f)(struct clo *); struct clo *a, *b; int n; } clo;
static int x[64], r; static MPI_Request q;
static clo *mk(void (*f)(clo *), clo *a, clo *b, int n) { clo *c = malloc(sizeof *c); c->f = f; c->a = a; c->b = b; c->n = n; return c; }
#define run(c) ((c)->f(c))
static void repeat(clo *c) { for (int i = 0; i < c->n; i++) run(c->a); x[60]++; }
static void pair(clo *c) { run(c->a); run(c->b); x[61]++; }
static void post(clo *c) { MPI_Irecv(x, 1, MPI_INT, r, 0, MPI_COMM_WORLD, &q); (void)c; x[62]++; }
static void snd(clo *c) { MPI_Send(x + 4, 1, MPI_INT, r, 0, MPI_COMM_WORLD); (void)c; x[62]++; }
static void probe(clo *c) { int f; MPI_Iprobe(r, 7, MPI_COMM_WORLD, &f, MPI_STATUS_IGNORE); (void)c; x[62]++; }
static void await(clo *c) { MPI_Wait(&q, MPI_STATUS_IGNORE); (void)c; x[62]++; }
static void bcast(clo *c) { MPI_Bcast(x, 1, MPI_INT, 0, MPI_COMM_WORLD); (void)c; x[62]++; }
static void barrier(clo *c) { MPI_Barrier(MPI_COMM_WORLD); (void)c; x[62]++; }
int main(int c, char **v) {
  MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &r);
  clo *body = mk(pair, mk(post, 0, 0, 0), mk(pair, mk(snd, 0, 0, 0), mk(pair, mk(repeat, mk(probe, 0, 0, 0), 0, 4), mk(await, 0, 0, 0), 0), 0), 0);
  run(mk(pair, mk(repeat, body, 0, 8), mk(pair, mk(barrier, 0, 0, 0), mk(repeat, mk(bcast, 0, 0, 0), 0, 6), 0), 0));
  MPI_Finalize(); return 0;
}
