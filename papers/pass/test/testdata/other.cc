// other.cc: has the template of cxx.h, too.
#include "cxx.h"

int other(int n) { return twice(n); }
