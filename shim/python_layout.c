/*
 * python_layout.c: where things are in the interpreter's structures, by version. From 3.13 on the interpreter says so itself.
 */
#include "python_layout.h"

#include <string.h>

/* By minor version of Python 3. */
static const struct layout layouts[] = {
	[9] = {.frame = 24, .indirect = -1, .code = 32, .back = 24, .at = 104, .step = 1, .file = 104, .name = 112, .line = 40},
	[10] = {.frame = 24, .indirect = -1, .code = 32, .back = 24, .at = 96, .step = 2, .file = 104, .name = 112, .line = 40},
	[11] = {.frame = 56, .indirect = 8, .code = 32, .back = 48, .at = 56, .entry = 68, .file = 112, .name = 128, .line = 72, .start = 184},
	[12] = {.frame = 56, .indirect = 0, .code = 0, .back = 8, .at = 56, .file = 112, .name = 128, .line = 68, .start = 192},
};

/* Where the interpreter has its own account: words of _PyRuntime. */
static const struct {
	uint8_t frame, back, code, at, file, name, line, start;
} accounts[] = {
	[13] = {23, 29, 30, 31, 35, 37, 39, 43},
	[14] = {26, 32, 33, 34, 40, 42, 44, 48},
};

int sp_python_layout(int minor, const uint64_t *account, struct layout *to)
{
	struct layout where;
	if (minor >= 13) {
		if (minor >= (int)(sizeof accounts / sizeof *accounts) || memcmp(account, "xdebugpy", 8) != 0 || account[2] != 0)
			return 0;
		where = (struct layout){
			.frame = (uint32_t)account[accounts[minor].frame], .indirect = -1, .code = (uint32_t)account[accounts[minor].code],
			.back = (uint32_t)account[accounts[minor].back], .at = (uint32_t)account[accounts[minor].at], .file = (uint32_t)account[accounts[minor].file],
			.name = (uint32_t)account[accounts[minor].name], .line = (uint32_t)account[accounts[minor].line], .start = (uint32_t)account[accounts[minor].start],
		};
		if (where.code >= 4096 || where.back >= 4096 || where.at >= 4096 || where.file >= 4096 || where.name >= 4096 || where.line >= 4096 || where.start >= 4096)
			return 0;
	} else if (minor >= 9) {
		where = layouts[minor];
	} else {
		return 0;
	}
	*to = where;
	return 1;
}
