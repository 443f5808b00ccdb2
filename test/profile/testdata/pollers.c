/* recursive: 6 steps of an interpreter's loop node; its body polls a differing number of times: 1,2,3,0,5,2, body otherwise Irecv, Send, Wait */
#include <mpi.h>
#include <stdlib.h>
typedef struct n { void (*f)(struct n *); struct n *k[4]; int n; } n;
static int b[64], r, it; static MPI_Request q; static const int polls[6] = {1, 2, 3, 0, 5, 2};
__attribute__((noinline)) static void loop(n *x) { for (it = 0; it < x->n; it++) x->k[0]->f(x->k[0]); b[9]++; }
__attribute__((noinline)) static void seq(n *x) { for (int i = 0; i < x->n; i++) x->k[i]->f(x->k[i]); b[9]++; }
static void recv(n *x) { (void)x; MPI_Irecv(b, 1, MPI_INT, r, 0, MPI_COMM_WORLD, &q); b[9]++; }
static void send(n *x) { (void)x; MPI_Send(b, 1, MPI_INT, r, 0, MPI_COMM_WORLD); b[9]++; }
static void poll(n *x) { int f; (void)x; for (int i = 0; i < polls[it]; i++) { MPI_Iprobe(r, 9, MPI_COMM_WORLD, &f, MPI_STATUS_IGNORE); MPI_Iprobe(r, 8, MPI_COMM_WORLD, &f, MPI_STATUS_IGNORE); } b[9]++; }
static void wait(n *x) { (void)x; MPI_Wait(&q, MPI_STATUS_IGNORE); b[9]++; }
int main(int c, char **v) {
  MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &r);
  n a = {recv}, s = {send}, p = {poll}, w = {wait}; n body = {seq, {&a, &s, &p, &w}, 4}, l = {loop, {&body}, 6}, top = {seq, {&l}, 1};
  top.f(&top);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize(); return 0;
}
