/* Functions whose last call is a jump at -O2. */
void MPI_Barrier(int), MPI_Send(int), work(int);
#define FUNCTION __attribute__((noipa)) void

FUNCTION relay(int n) {
  work(n);
  MPI_Barrier(n); /* line 7 */
}
FUNCTION forward(int n) {
  work(n);
  relay(n + 1); /* line 11 */
}
FUNCTION chain(int n) {
  forward(n); /* line 14 */
  work(n);
}

FUNCTION left(int n) {
  work(n);
  MPI_Barrier(n);
}
FUNCTION right(int n) {
  work(n + 1);
  MPI_Barrier(n);
}
FUNCTION other(int n) {
  work(n + 2);
  MPI_Send(n);
}
FUNCTION either(int n) {
  if (n > 7) left(n);
  else if (n > 3) right(n);
  else other(n);
}
FUNCTION undecided(int n) {
  either(n);
  work(n);
}

FUNCTION bottom(int n) {
  MPI_Send(n); /* line 41 */
  work(n);
}
FUNCTION hop(int n) {
  work(n);
  bottom(n); /* line 46 */
}
FUNCTION top(int n) {
  hop(n); /* line 49 */
  work(n);
}

FUNCTION pointed(int n, void (*to)(int)) {
  to(n);
  work(n);
}
FUNCTION entry(int n) {
  chain(n);
  undecided(n);
  top(n);
  pointed(n, relay);
  work(n);
}
