/* python_layout.h: where the interpreter of Python has what the frames of a thread are read from. */
#ifndef SPOOR_PYTHON_LAYOUT_H
#define SPOOR_PYTHON_LAYOUT_H

#include <stdint.h>

/* Offsets in bytes. */
struct layout {
	uint32_t frame;            /* in the state of a thread: its innermost frame, */
	int32_t indirect;          /* or what has it there; −1: the frame itself */
	uint32_t code, back, at;   /* in a frame */
	uint32_t entry;            /* in a frame, a byte: the interpreter's loop began with it; 0: see on_stack */
	uint32_t step;             /* bytes of an instruction that `at` counts; 0: it is an address, and loops run several frames */
	uint32_t file, name, line, start; /* in code; line: its first one; start: the first instruction */
};

/* Finds the layout of Python 3.minor; account is its _PyRuntime. 0 if that version is not known. */
int sp_python_layout(int minor, const uint64_t *account, struct layout *to);

#endif
