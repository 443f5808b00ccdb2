/*
 * record.h: how calls are laid out in a thread's ring.
 *
 * Writer: the shim. Readers: internal/record/event in Go, in the same process while the
 * program runs, and `spoor recover` after it died. A test in internal/record/event
 * compares these constants with Go's; when anything here changes, raise
 * SP_RING_VERSION.
 *
 * A ring is a file: one page of header, then `capacity` bytes (a power of two).
 * Positions count bytes from the start of the run and never wrap; the place of
 * position p is p % capacity. Everything is a little-endian 64-bit word.
 *
 * Invariants
 *  1. Bytes before `head` are complete records. The owner thread alone moves
 *     head, with release order; otherwise a reader sees half a record.
 *  2. kept <= drained <= head <= kept + capacity. Only the engine moves drained
 *     and kept; bytes before `kept` are covered by the engine's saved state and
 *     may be overwritten.
 *  3. A record never straddles the end of the ring: SKIP fills the rest.
 *  4. When a ring grows its new capacity is a multiple of the old one, and the
 *     bytes from `kept` to `head` are copied to their new places, so positions
 *     and invariant 3 stay true. It grows only while no engine call runs.
 */
#ifndef SPOOR_RECORD_H
#define SPOOR_RECORD_H

#include <stdint.h>

#define SP_RING_MAGIC 0x474e52524f4f5053ull /* "SPOORRNG" */
#define SP_RING_VERSION 9
#define SP_RING_PAGE 4096

/* Word 0: size in words (32 bits), call id (16), kind (8), flags (8). */
#define SP_WORD0(words, call, kind, flags) \
	((uint64_t)(uint32_t)(words) | (uint64_t)(call) << 32 | (uint64_t)(kind) << 48 | (uint64_t)(flags) << 56)

enum sp_kind {
	SP_ENTER = 1,   /* ticks, return address or key, input parts */
	SP_LEAVE = 2,   /* ticks, [return code], [returned value, where a call returns
	                   no code: a part of that kind], output parts, aux words */
	SP_SKIP = 3,    /* nothing, to the end of the ring */
	SP_SEGMENT = 4, /* ticks, serial, size, device, class */
	SP_FREED = 5,   /* ticks, serial */
	SP_SWITCH = 6,  /* ticks, 1 on or 0 off */
	SP_LOST = 7,    /* ticks, how many records could not be written */
	SP_STACK = 8,   /* ticks, key, return addresses or keys of lines, innermost first */
	SP_NAME = 9,    /* ticks, number, length, text: what values are called */
	SP_VALUES = 10, /* ticks, ticks that went by since the last record and are no gap,
	                   (number of the name, value)… of the call that ended last */
	SP_LEFT = 11,   /* ticks, how many calls are still under way: those begun after them
	                   were left by a jump or an exception */
	SP_SOURCE = 12, /* ticks, key, line, lengths of file and function, both texts */
	SP_PHASE = 13,  /* ticks, key, address or key of the call site, length, text: a phase
	                   begins with calls of that key */
	SP_THREAD = 14, /* ticks, outermost return addresses of a thread that goes on with the
	                   ring, innermost first */
	SP_DELAY = 15,  /* ticks, ns in which the thread was ready to run and had no processor, outside
	                   of calls before the one that ended last, and in that */
};

/* What stands for the return address in ENTER records of calls with a stack that
   a STACK record of the same thread told of. No address has the highest bit. */
#define SP_STACK_KEY(thread, number) (1ull << 63 | (uint64_t)(thread) << 32 | (uint64_t)(number))
/* The same for lines of a language with an interpreter, that SOURCE records told of, and stacks of such. */
#define SP_SOURCE_KEY(thread, number) SP_STACK_KEY(thread, 1u << 31 | (uint32_t)(number))

/* The same for calls with which a phase begins, that PHASE records told of. */
#define SP_PHASE_KEY(thread, number) SP_STACK_KEY(thread, 1u << 30 | (uint32_t)(number))

/* The same for calls with a stack before which another loop went round than the order of the code
   has one think: the stack's key, and which of the loops around both, counted outwards from 1. */
#define SP_TURN_KEY(key, turn) ((key) | (uint64_t)(turn) << 20)
#define SP_TURN_UNKNOWN 255

enum sp_enter_flag {
	SP_FORTRAN_FLAG = 1, /* called through a Fortran binding */
	SP_MUTED_FLAG = 2,   /* tracing is switched off: only the handles matter */
};

enum sp_leave_flag {
	SP_RC_FLAG = 1,   /* the word after ticks is the non-zero return code */
	SP_NOOUT_FLAG = 2, /* no output parts: the call failed */
};

/* First word of an address: class << 56 | payload. */
enum sp_class {
	SP_RAW = 0,     /* second word is the address */
	SP_SPECIAL = 1, /* second word is an sp_special */
	SP_HEAP = 3,    /* payload is the segment's serial, second word the offset */
	SP_DEVICE = 4,
	SP_MPIMEM = 5,
};

enum sp_special {
	SP_BOTTOM = 0, /* NULL and MPI_BOTTOM */
	SP_IN_PLACE = 1,
	SP_BUFFER_AUTOMATIC = 2,
};

/* Array lengths that are not lengths. */
enum sp_length {
	SP_LEN_NULL = -1,
	SP_LEN_UNWEIGHTED = -2,
	SP_LEN_WEIGHTS_EMPTY = -3,
	SP_LEN_ABSENT = -4, /* in place, or not significant at this rank */
	SP_LEN_IGNORED = -5, /* MPI_STATUSES_IGNORE and the like */
};

enum sp_status_form {
	SP_STATUS_ABSENT = 0,
	SP_STATUS_FILLED = 1,
	SP_STATUS_IGNORED = 2, /* filled, but the program passed MPI_STATUS_IGNORE */
	SP_STATUS_EMPTY = 3,
};
#define SP_STATUS_WORDS 6 /* form, source, tag, bytes, cancelled, error */

struct sp_ring {
	uint64_t magic;
	uint32_t version;
	uint32_t thread;
	uint64_t capacity;
	uint64_t head;    /* published by the owner thread */
	uint64_t drained; /* the engine has read up to here */
	uint64_t kept;    /* the engine has saved everything up to here */
	uint64_t stack_lo, stack_hi;
	uint64_t stack_ref; /* frame address at the thread's first MPI call */
	uint64_t tid;
	uint64_t start_ticks;
	uint64_t wanted; /* bytes that the owner thread waits for before kept + capacity; 0: none */
};

#endif
