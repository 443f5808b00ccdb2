/* One recursive eval() over an AST with while, for, seq, call: nested loops of lengths 3, 5 and 2.
   3 times: { Bcast; 5 times: { Allreduce; Barrier }; 2 times: Reduce }; then Gather */
#include <mpi.h>
#include <stdlib.h>
enum op {SEQ, FOR, CALL, IF};
typedef struct ast { enum op op; int n; struct ast *kid[5]; int what; } ast;
static int b[64], r;
static ast *mk(enum op op, int n, int what, ast *a, ast *bb, ast *c) { ast *x = calloc(1, sizeof *x); x->op = op; x->n = n; x->what = what; x->kid[0] = a; x->kid[1] = bb; x->kid[2] = c; return x; }
static void call(int w) {
  switch (w) {
  case 0: MPI_Bcast(b, 1, MPI_INT, 0, MPI_COMM_WORLD); break;
  case 1: MPI_Allreduce(b, b + 8, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); break;
  case 2: MPI_Barrier(MPI_COMM_WORLD); break;
  case 3: MPI_Reduce(b, b + 8, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); break;
  case 4: MPI_Gather(b, 1, MPI_INT, b + 8, 1, MPI_INT, 0, MPI_COMM_WORLD); break;
  }
}
static int eval(ast *x) {
  switch (x->op) {
  case SEQ: for (int i = 0; i < 3; i++) if (x->kid[i]) eval(x->kid[i]); return 0;
  case FOR: for (int i = 0; i < x->n; i++) eval(x->kid[0]); return 1;
  case IF: if (x->n) return eval(x->kid[0]); return 2;
  case CALL: call(x->what); return 3;
  }
  return 4;
}
int main(int c, char **v) {
  MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &r);
  ast *inner = mk(FOR, 5, 0, mk(SEQ, 0, 0, mk(CALL, 0, 1, 0, 0, 0), mk(CALL, 0, 2, 0, 0, 0), 0), 0, 0);
  ast *two = mk(FOR, 2, 0, mk(CALL, 0, 3, 0, 0, 0), 0, 0);
  ast *outer = mk(FOR, 3, 0, mk(SEQ, 0, 0, mk(CALL, 0, 0, 0, 0, 0), inner, two), 0, 0);
  eval(mk(SEQ, 0, 0, outer, mk(IF, 1, 0, mk(CALL, 0, 4, 0, 0, 0), 0, 0), 0));
  MPI_Finalize(); return 0;
}
