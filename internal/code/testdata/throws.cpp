// As loops.c: each call of a function inN_x is in N loops, one of upN_x in N or more.
extern "C" {
void in1_try(int), in1_catch(int), up2_try(int), up1_outer(int), in0_end(int), in0_rescue(int);

void thrown(int n) {
  for (int i = 0; i < n; i++) {
    try {
      in1_try(i);
    } catch (int) {
      in1_catch(i);
    }
  }
  in0_end(n);
}

void through(int n) {
  try {
    for (int i = 0; i < n; i++) {
      try {
        for (int j = 0; j < i; j++) up2_try(j);
      } catch (long) {
        up1_outer(i);
      }
    }
  } catch (...) {
    in0_rescue(n);
  }
}
}
