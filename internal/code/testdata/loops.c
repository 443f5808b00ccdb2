/* Each call of a function inN_x is in N loops, whatever the compiler makes of it; one of upN_x in N or more, where
   it makes several loops of one or runs a first round before the loop. */
#include <setjmp.h>
#include <stdlib.h>

void in0_a(int), in0_b(int), in0_c(int), in0_d(int), in0_e(int), in0_f(int), in0_g(int), in0_last(int);
void in1_a(int), in1_b(int), in1_c(int), in1_d(int), in1_e(int), in1_f(int), in1_g(int), in1_cold(int);
void in1_s0(int), in1_s1(int), in1_s2(int), in1_s3(int), in1_s4(int), in1_s5(int), in1_s6(int), in1_s7(int);
void up1_m0(int), up0_m1(int);
void in2_a(int), in3_a(int), in3_b(int);
int in1_test(int), in3_test(int), in1_next(int), up0_next(int), up1_next(int), up2_next(int), up0_test(int);
void up1_t0(int), up1_t1(int), up1_t2(int);

void nested(int n) {
  in0_a(n);
  while (up0_next(0)) {
    in1_a(n);
    for (int j = 0; j < up1_next(1); j++) {
      while (up2_next(2)) {
        in3_a(n);
        if (in3_test(n)) in3_b(n);
      }
      in2_a(j);
    }
  }
  in0_b(n);
}

void backwards(int n) {
again:
  in1_b(n);
  if (n-- > 0) goto again;
  do {
    in1_c(n);
  } while (in1_test(n));
  in0_c(n);
}

void chosen(int n) {
  for (int i = 0; i < n; i++)
    switch (in1_next(i)) {
    case 0: in1_s0(i); break;
    case 1: in1_s1(i); break;
    case 2: in1_s2(i + 3); break;
    case 3: in1_s3(2 * i);
    case 4: in1_s4(i); break;
    case 5: in1_s5(i - 1); break;
    case 6: in1_s6(7); break;
    case 8: in1_s7(i); break;
    case 9: return;
    }
  in0_d(n);
}

void threaded(int n) {
  static void *const to[] = {&&zero, &&one, &&two, &&out};
next:
  goto *to[up0_next(n)];
zero:
  up1_t0(n);
  goto next;
one:
  up1_t1(n);
  goto next;
two:
  up1_t2(n);
  goto next;
out:
  in0_e(n);
}

/* Nothing tells a compiler that sees one function at a time that these don't come back. */
__attribute__((noipa)) void give_up(int n) { exit(n); }
__attribute__((noipa)) void complain(int n) {
  if (n > 3) give_up(n + 1);
  give_up(n);
}
__attribute__((noipa)) void complain_again(int n) {
  if (n > 3) complain_again(n - 1);
  complain(n);
}

void fails(int n) {
  for (int i = 0; i < n; i++) {
    in1_d(i);
    if (in1_test(i)) {
      in0_f(i);
      complain_again(i);
    }
  }
}

void report(int n) __attribute__((cold, noipa));
void report(int n) { in0_g(n); }

void rarely(int n) {
  for (int i = 0; i < n; i++) {
    if (__builtin_expect(in1_test(i), 0)) {
      report(i);
      in1_cold(i);
      report(i + 1);
    }
    in1_e(i);
  }
}

void middle(int n) {
  if (n & 1) goto inside;
  do {
    up1_m0(n);
  inside:
    up0_m1(n);
  } while (up0_test(n));
}

jmp_buf place;
void returns_twice(int n) {
  if (setjmp(place)) return;
  for (int i = 0; i < n; i++) in1_f(i);
}

void tail(int n) {
  for (int i = 0; i < n; i++) in1_g(i);
  in0_last(n);
}
