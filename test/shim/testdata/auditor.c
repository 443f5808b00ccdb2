/* An auditor of the loader's that sees each binding, as tools have it that count calls between libraries. */
#define _GNU_SOURCE
#include <link.h>

unsigned la_version(unsigned version)
{
	return LAV_CURRENT;
}

unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned n, uintptr_t *from, uintptr_t *to, unsigned *flags, const char *name)
{
	return symbol->st_value;
}
