/*
 * scaled.h: what a program for any number of ranks is made of. Values are expressions of rank and ranks,
 * of i and n, the iteration of a loop and how many it has, of j, that of the loop around it, and of k and m,
 * the place in a list and its length.
 */
#ifndef SCALED_H
#define SCALED_H

#include "runtime.h"

#pragma GCC visibility push(hidden)

/* An expression that says nothing of this rank. */
#define NOTHING INT64_MIN

/* Ways of laying out ranks; the first side varies fastest. */
enum grid {
	GRID_2D, GRID_2D_LONGEST_FIRST, GRID_SQUARE /* of the first ranks */,
	GRID_3D, GRID_3D_REVERSED, GRID_3D_BALANCED, GRID_3D_BALANCED_LONGEST_FIRST, GRIDS
};
enum { OPEN, PERIODIC };
int64_t side(enum grid, int dimension);
int64_t coordinate(enum grid, int dimension);
int64_t coordinate_of(enum grid, int dimension, int64_t rank);
int64_t neighbour(enum grid, int x, int y, int z, int periodic); /* MPI_PROC_NULL as in traces outside of an open one */
int64_t sheared(enum grid, int dimension, int by, int more); /* moved there by so much for each step in the other, and more, periodic */
int64_t transposed(enum grid);
int64_t transposed_blocks(enum grid); /* of as many ranks in a row as the first side is longer */
int64_t existing_neighbours(enum grid);
int64_t existing_neighbour(enum grid, int order, int64_t number);

int64_t exists(int64_t rank); /* NOTHING if there is no such rank */
int64_t power(int64_t);       /* of two */
int64_t whole(int64_t);       /* the largest power of two up to it */
int64_t floor_log2(int64_t);
int64_t ceil_log2(int64_t);
int64_t lowest_bit(int64_t);
int64_t children(int64_t rank); /* in a binomial tree */
int64_t least(int64_t, int64_t);
int64_t most(int64_t, int64_t);
int64_t share(int64_t total, int64_t parts, int64_t number); /* the first ones have one more if it is uneven */
/* Other ways of sharing: parts between rounded bounds; all alike but the last; all alike as long as there is something. */
int64_t floor_share(int64_t total, int64_t parts, int64_t number);
int64_t rest_share(int64_t total, int64_t parts, int64_t number);
int64_t chunk(int64_t total, int64_t parts, int64_t number);
int64_t share_start(int64_t total, int64_t parts, int64_t number); /* what those before have */
int64_t floor_start(int64_t total, int64_t parts, int64_t number);
int64_t rest_start(int64_t total, int64_t parts, int64_t number);
int64_t chunk_start(int64_t total, int64_t parts, int64_t number);
int64_t floor_div(int64_t, int64_t);
int64_t ceil_div(int64_t, int64_t);

/* Values that the traces don't determine. All of them are right on the numbers of ranks of the traces; the program ends if
   it needs one on another number, and the expressions that fit the traces differ. */
int64_t agreed(const char *what, int n, const int64_t *values);
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

#pragma GCC visibility pop

/* Products of them need 64 bits. */
#define rank ((int64_t)rank)
#define ranks ((int64_t)ranks)

#endif
