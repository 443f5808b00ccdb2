/*
 * segments.h: which live allocation does an address belong to?
 *
 * Every tracked allocation is a segment: base, size, class, device. MPI calls
 * ask for the segment of a buffer; a segment gets its serial number, and a
 * SEGMENT record, the first time one does, so programs whose allocations never
 * meet MPI cost the trace nothing.
 *
 * The table is a hash of granules. A segment whose room is in [2^g, 2^(g+1))
 * touches one or two aligned blocks of 2^(g+2) bytes, and is entered under each
 * of them; an interior address is found by one probe per size class in use.
 * Counting filters, read without a lock, answer most probes.
 */
#ifndef SPOOR_SEGMENTS_H
#define SPOOR_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

/* Smaller heap allocations are not segments: SPOOR_ALLOC_MIN changes it. */
#define SP_SEGMENT_MIN 1024

/* Enter [base, base+size). Any thread, at any time, also before main. `room`,
   not less than size, is what the allocator will say of the block when it goes. */
void sp_segment_add(const void *base, size_t size, size_t room, unsigned class, unsigned device);

/* The segment that starts at base is gone; no effect if none does. `room` as
   above, or 0 if that is not known any more. */
void sp_segment_remove(const void *base, size_t room);

/* alloc.c: when the library is loaded. */
void sp_alloc_open(void);

/* Fill out[2] as a buffer's address part: the segment's class and serial and
   the offset, or class SP_RAW. Writes a SEGMENT record before the open one. */
void sp_locate(const void *addr, uint64_t out[2]);

/* After fork, in the child: touch nothing any more. */
void sp_segments_off(void);

#endif
