/*
 * object.h: what the dynamic section of a loaded object says.
 *
 * All of it is inline and calls nothing: dlsym.c reads tables before a sanitizer can do without its own functions.
 */
#ifndef SPOOR_OBJECT_H
#define SPOOR_OBJECT_H

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct sp_object {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const uint32_t *sysv_hash;
	const uint16_t *versions;
	const ElfW(Rela) * rela[2];
	size_t rela_bytes[2];
	int constructors, now;
};

static inline void sp_object_read(struct sp_object *o, uintptr_t base, const ElfW(Dyn) * d)
{
	*o = (struct sp_object){.base = base};
	for (; d && d->d_tag != DT_NULL; d++) {
		uintptr_t p = d->d_un.d_ptr < base ? d->d_un.d_ptr + base : d->d_un.d_ptr;
		switch (d->d_tag) {
		case DT_SYMTAB:
			o->symbols = (const ElfW(Sym) *)p;
			break;
		case DT_STRTAB:
			o->strings = (const char *)p;
			break;
		case DT_GNU_HASH:
			o->gnu_hash = (const uint32_t *)p;
			break;
		case DT_HASH:
			o->sysv_hash = (const uint32_t *)p;
			break;
		case DT_VERSYM:
			o->versions = (const uint16_t *)p;
			break;
		case DT_RELA:
			o->rela[0] = (const ElfW(Rela) *)p;
			break;
		case DT_RELASZ:
			o->rela_bytes[0] = d->d_un.d_val;
			break;
		case DT_JMPREL:
			o->rela[1] = (const ElfW(Rela) *)p;
			break;
		case DT_PLTRELSZ:
			o->rela_bytes[1] = d->d_un.d_val;
			break;
		case DT_INIT_ARRAYSZ: /* one is the compiler's */
			o->constructors = d->d_un.d_val > sizeof(void *);
			break;
		case DT_BIND_NOW:
			o->now = 1;
			break;
		case DT_FLAGS:
			o->now |= (d->d_un.d_val & DF_BIND_NOW) != 0;
			break;
		case DT_FLAGS_1:
			o->now |= (d->d_un.d_val & DF_1_NOW) != 0;
			break;
		}
	}
}

static inline int sp_same_name(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* Where the object defines a function of the name, in its newest version; NULL if it doesn't. */
static inline void *sp_object_function(const struct sp_object *o, const char *name)
{
	const uint32_t *table = o->gnu_hash;
	if (!o->symbols || !o->strings || !table || !table[0])
		return NULL;
	uint32_t hash = 5381;
	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	const uint32_t *buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / 4), *chains = buckets + table[0];
	for (uint32_t i = buckets[hash % table[0]]; i >= table[1] && i; i++) {
		const ElfW(Sym) *s = &o->symbols[i];
		if ((chains[i - table[1]] | 1) == (hash | 1) && s->st_shndx != SHN_UNDEF && (s->st_info & 15) == STT_FUNC
		    && !(o->versions && o->versions[i] & 0x8000) && sp_same_name(o->strings + s->st_name, name))
			return (void *)(o->base + s->st_value);
		if (chains[i - table[1]] & 1)
			break;
	}
	return NULL;
}

/* The highest number that relocations name, plus 1: where nothing is exported, no table has the number of symbols. */
static inline uint32_t sp_object_relocated(const struct sp_object *o)
{
	uint32_t n = 0;
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; o->rela[k] && i < o->rela_bytes[k] / sizeof(ElfW(Rela)); i++) {
			uint32_t symbol = (uint32_t)(o->rela[k][i].r_info >> 32);
			n = symbol >= n ? symbol + 1 : n;
		}
	return n;
}

/* The number of the last symbol that the hash table has; 0 if it is empty. */
static inline uint32_t sp_object_hashed(const struct sp_object *o)
{
	const uint32_t *table = o->gnu_hash, *buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / 4), *chains = buckets + table[0];
	uint32_t last = 0;
	for (uint32_t i = 0; i < table[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	while (last >= table[1] && last && !(chains[last - table[1]] & 1))
		last++;
	return last;
}

/* The symbols before this number hold all that the object refers to and doesn't define. */
static inline uint32_t sp_object_undefined(const struct sp_object *o)
{
	if (!o->symbols || !o->strings)
		return 0;
	if (!o->gnu_hash)
		return o->sysv_hash ? o->sysv_hash[1] : 0;
	return o->gnu_hash[1] > 1 || sp_object_hashed(o) ? o->gnu_hash[1] : sp_object_relocated(o);
}

/* The number of all symbols. */
static inline uint32_t sp_object_symbols(const struct sp_object *o)
{
	uint32_t n = sp_object_undefined(o), last = n && o->gnu_hash ? sp_object_hashed(o) : 0;
	return last >= n ? last + 1 : n;
}

#endif
