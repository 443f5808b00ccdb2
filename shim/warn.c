/* warn.c: what users are told, on stderr. */
#include "runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void warn(const char *format, va_list args)
{
	char line[512];
	int n = snprintf(line, sizeof line, "spoor: ");
	vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
	strcat(line, "\n");
	/* write, not stdio: the program may be inside stdio itself */
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		return;
}

void sp_warn(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	warn(format, args);
	va_end(args);
}

void sp_warn_once(const char *format, ...)
{
	static int done;
	if (__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED))
		return;
	va_list args;
	va_start(args, format);
	warn(format, args);
	va_end(args);
}

void sp_give_up(const char *format, ...)
{
	int was = __atomic_exchange_n(&sp_mode, SP_OFF, __ATOMIC_SEQ_CST);
	if (was == SP_OFF)
		return;
	va_list args;
	va_start(args, format);
	warn(format, args);
	va_end(args);
}
