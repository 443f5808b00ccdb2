/* unwind.c: finding the tables of a return address, and what to guess without. */
#define _GNU_SOURCE
#include "unwind.h"

#include <dlfcn.h>
#include <stddef.h>

#include "cfi.h"

struct bases {
	void *text, *data, *function;
};

static const void *(*find_fde)(void *pc, struct bases *bases);

int sp_unwind_open(void)
{
	void *h = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (h && REG_SP >= 0)
		*(void **)&find_fde = dlsym(h, "_Unwind_Find_FDE");
	return find_fde != NULL;
}

uint64_t sp_unwind_function(uint64_t pc)
{
	struct bases bases = {0};
	return find_fde && find_fde((void *)(uintptr_t)(pc - 1), &bases) ? (uint64_t)(uintptr_t)bases.function : 0;
}

void sp_unwind_saved(uint64_t pc, struct sp_saved *s)
{
	struct bases bases = {0};
	const uint8_t *fde = find_fde ? find_fde((void *)(uintptr_t)(pc - 1), &bases) : NULL;
	*s = (struct sp_saved){.pc = pc};
	s->known = fde && sp_cfi_saved(pc, fde, (uint64_t)(uintptr_t)bases.function, s);
}

void sp_unwind_rule(uint64_t pc, struct sp_rule *r)
{
	struct bases bases = {0};
	const uint8_t *fde = find_fde ? find_fde((void *)(uintptr_t)(pc - 1), &bases) : NULL;
	*r = (struct sp_rule){.pc = pc};
	if (fde) {
		sp_cfi_rule(pc, fde, (uint64_t)(uintptr_t)bases.function, r);
		return;
	}
	/* Made at run time, or compiled without tables. */
	r->guess = 1;
	r->cfa_from = SP_CFA_FP;
	r->fp_from = SP_FP_AT_CFA;
	r->cfa = 16;
	r->fp = -16;
	r->ra = -8;
}
