// What known.c says of the call that it is about to make, and what below.c saw of it.
struct expected {
	const char *name; // NULL when it has come by
	long sleep;       // ns that it takes longer
	double from, to;  // when it came by, ns
};

extern struct expected below_call;
double below_now(void);
