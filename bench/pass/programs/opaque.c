/* opaque.c: as little as can be called. */
void opaque(long n) { (void)n; }
