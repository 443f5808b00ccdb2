/*
 * scaled.h: what a program for any number of ranks is made of. Values are expressions of rank and ranks,
 * of i and n, the iteration of a loop and how many it has, of j, that of the loop around it, and of k and m,
 * the place in a list and its length. formulas.h has the functions that they call.
 */
#ifndef SCALED_H
#define SCALED_H

#include "runtime.h"

#pragma GCC visibility push(hidden)

/* Values that the traces don't determine. All of them are right on the numbers of ranks of the traces; the program ends if
   it needs one on another number, and the expressions that fit the traces differ. */
int64_t agreed(const char *what, int n, const int64_t *values, const int64_t *even);
int64_t only_traced(const char *what, int64_t value);
int64_t looked_up(const char *what, int columns, int64_t rows, const int64_t *table, const int64_t *key);
int64_t largest(int n, const int64_t *values); /* of bounds */

/* A number of the trace as the MPI at hand has it: pairs of these. */
int named(int64_t value, int n, const int64_t *names);
#define RANK(value) named(value, 3, (const int64_t[]){-1, MPI_ANY_SOURCE, -3, MPI_PROC_NULL, -4, MPI_ROOT})

/* Lists of any length. */
#define LIST32(length, value) ({ int64_t m = (length); int32_t *list_ = room(4 * (size_t)m + 8); \
	for (int64_t k = 0; k < m; k++) list_[k] = (int32_t)(value); (void *)list_; })
/* The sum of the elements of a list before this one. */
#define sum_before(value) ({ int64_t end_ = k, sum_ = 0; for (int64_t k = 0; k < end_; k++) sum_ += (value); sum_; })
#define LIST64(length, value) ({ int64_t m = (length); int64_t *list_ = room(8 * (size_t)m + 8); \
	for (int64_t k = 0; k < m; k++) list_[k] = (value); (void *)list_; })

/* Requests by the call that made them, and how many that one made since. */
void made(int place);
int64_t ago(int64_t place, int64_t since);
int64_t request_code(int64_t place, int64_t since); /* as these() has it; place -1: since is the code */
MPI_Request *all_pending(void);

double grown(double constant, double factor, double exponent, int logarithms); /* microseconds: a law of growth */
void scaled(int n, const int *traced); /* numbers of ranks */
void reaches(int64_t distance); /* how many creations ago a request may have been made */

/* Products of them need 64 bits. */
#define rank ((int64_t)rank)
#define ranks ((int64_t)ranks)

#include "formulas.h"

#pragma GCC visibility pop

#endif
