/* cfi.c: reading call frame information, DWARF 5 section 6.4, as far as
   compilers use it at calls. */
#include "cfi.h"

#include <string.h>

/* ---- reading ---- */

struct input {
	const uint8_t *at, *end; /* at > end: read too far */
};

static uint64_t fixed(struct input *in, int bytes)
{
	uint64_t v = 0;
	if (in->end - in->at < bytes) {
		in->at = in->end + 1;
		return 0;
	}
	memcpy(&v, in->at, (size_t)bytes);
	in->at += bytes;
	return v;
}

static uint64_t uleb(struct input *in)
{
	uint64_t v = 0;
	for (int shift = 0; in->at < in->end && shift < 64; shift += 7) {
		uint8_t b = *in->at++;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	in->at = in->end + 1;
	return 0;
}

static int64_t sleb(struct input *in)
{
	uint64_t v = 0;
	for (int shift = 0; in->at < in->end && shift < 64;) {
		uint8_t b = *in->at++;
		v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
		if (!(b & 0x80))
			return (int64_t)(shift < 64 && (b & 0x40) ? v | ~0ull << shift : v);
	}
	in->at = in->end + 1;
	return 0;
}

static void skip(struct input *in, uint64_t bytes)
{
	in->at = bytes <= (uint64_t)(in->end - in->at) ? in->at + bytes : in->end + 1;
}

/* Size of a pointer in one of the encodings of DW_EH_PE; 0: unknown. */
static int encoded_size(uint8_t encoding)
{
	if (encoding == 0xff || encoding == 0x50)
		return 0;
	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c:
		return 8;
	case 0x02:
	case 0x0a:
		return 2;
	case 0x03:
	case 0x0b:
		return 4;
	}
	return 0;
}

/* ---- common information entries ---- */

struct cie {
	struct input program;
	uint64_t code_align;
	int64_t data_align;
	int pointer; /* size of addresses in the FDE */
	int augmented, signal;
};

static struct input entry(const uint8_t *p)
{
	uint32_t n;
	memcpy(&n, p, 4);
	struct input in = {p + 4, p + 4 + n};
	if (n == 0xffffffff) /* the 64-bit form, which nobody uses in .eh_frame */
		in.end = in.at;
	return in;
}

static int read_cie(const uint8_t *p, struct cie *c)
{
	struct input in = entry(p);
	fixed(&in, 4);
	unsigned version = (unsigned)fixed(&in, 1);
	const char *augmentation = (const char *)in.at;
	while (in.at < in.end && *in.at)
		in.at++;
	skip(&in, 1);
	c->code_align = uleb(&in);
	c->data_align = sleb(&in);
	uint64_t ra = version == 1 ? fixed(&in, 1) : uleb(&in);
	if ((version != 1 && version != 3) || ra != REG_RA || in.at > in.end)
		return 0;
	c->pointer = 8;
	c->augmented = c->signal = 0;
	if (*augmentation == 'z') {
		c->augmented = 1;
		uint64_t n = uleb(&in);
		struct input data = {in.at, in.at + n};
		skip(&in, n);
		if (in.at > in.end)
			return 0;
		for (const char *a = augmentation + 1; *a; a++) {
			switch (*a) {
			case 'R':
				c->pointer = encoded_size((uint8_t)fixed(&data, 1));
				break;
			case 'P':
				skip(&data, (uint64_t)encoded_size((uint8_t)fixed(&data, 1)));
				break;
			case 'L':
				fixed(&data, 1);
				break;
			case 'S':
				c->signal = 1;
				break;
			}
		}
		if (data.at > data.end)
			return 0;
	} else if (*augmentation) {
		return 0;
	}
	c->program = in;
	return c->pointer != 0;
}

/* ---- programs ---- */

enum where { SAME = 0, AT_CFA, AT_FP, LOST };

struct place {
	enum where from;
	int64_t offset;
};

struct state {
	enum sp_cfa_from from;
	int64_t cfa;
	struct place kept[SP_KEPT], ra;
};

#define FP (SP_KEPT - 1)

int sp_cfi_kept(uint64_t reg)
{
	if (reg == REG_FP)
		return FP;
	return sp_arch_kept(reg);
}

static struct place *of(struct state *s, uint64_t reg)
{
	int kept = sp_cfi_kept(reg);
	return kept >= 0 ? &s->kept[kept] : reg == REG_RA ? &s->ra : NULL;
}

/* As it is where the function begins. */
static void restore(struct state *s, uint64_t reg, const struct state *first)
{
	struct place *p = of(s, reg);
	if (p)
		*p = *of((struct state *)(uintptr_t)first, reg);
}

static void set(struct state *s, uint64_t reg, enum where from, int64_t offset)
{
	struct place *p = of(s, reg);
	if (p)
		*p = (struct place){from, offset};
}

static void set_cfa(struct state *s, uint64_t reg, int64_t offset)
{
	s->from = reg == REG_SP ? SP_CFA_SP : reg == REG_FP ? SP_CFA_FP : SP_CFA_NONE;
	s->cfa = offset;
}

/* An expression of the form "frame pointer + offset", perhaps followed by the
   reading of what is there. 0 if it is any other. */
static int simple(struct input e, int64_t *offset, int *deref)
{
	if (fixed(&e, 1) != 0x70 + (REG_FP & 31)) /* DW_OP_breg */
		return 0;
	*offset = sleb(&e);
	*deref = e.at < e.end && *e.at == 0x06;
	e.at += *deref;
	return e.at == e.end;
}

static struct input block(struct input *in)
{
	uint64_t n = uleb(in);
	struct input b = {in->at, in->at + n};
	skip(in, n);
	if (in->at > in->end)
		b.end = b.at;
	return b;
}

#define REMEMBERED 4

/* Follow a program up to the instruction `until` bytes into the function. */
static int execute(struct input in, const struct cie *c, uint64_t until, struct state *s, const struct state *first)
{
	struct state saved[REMEMBERED];
	int nsaved = 0, deref;
	uint64_t at = 0, reg;
	int64_t offset;
	struct input e;
	while (in.at < in.end) {
		uint8_t op = *in.at++;
		uint64_t low = op & 0x3f;
		uint64_t delta = 0;
		switch (op >> 6) {
		case 1: /* advance_loc */
			delta = low;
			goto advance;
		case 2: /* offset */
			set(s, low, AT_CFA, (int64_t)uleb(&in) * c->data_align);
			continue;
		case 3: /* restore */
			restore(s, low, first);
			continue;
		}
		switch (op) {
		case 0x00: /* nop */
		case 0x2d: /* negate_ra_state */
			break;
		case 0x02: /* advance_loc1, 2, 4 */
			delta = fixed(&in, 1);
			goto advance;
		case 0x03:
			delta = fixed(&in, 2);
			goto advance;
		case 0x04:
			delta = fixed(&in, 4);
			goto advance;
		case 0x05: /* offset_extended */
			reg = uleb(&in);
			set(s, reg, AT_CFA, (int64_t)uleb(&in) * c->data_align);
			break;
		case 0x11: /* offset_extended_sf */
			reg = uleb(&in);
			set(s, reg, AT_CFA, sleb(&in) * c->data_align);
			break;
		case 0x06: /* restore_extended */
			restore(s, uleb(&in), first);
			break;
		case 0x07: /* undefined */
			set(s, uleb(&in), LOST, 0);
			break;
		case 0x08: /* same_value */
			set(s, uleb(&in), SAME, 0);
			break;
		case 0x09: /* register */
			set(s, uleb(&in), LOST, 0);
			uleb(&in);
			break;
		case 0x0a: /* remember_state */
			if (nsaved == REMEMBERED)
				return 0;
			saved[nsaved++] = *s;
			break;
		case 0x0b: /* restore_state */
			if (nsaved == 0)
				return 0;
			*s = saved[--nsaved];
			break;
		case 0x0c: /* def_cfa */
			reg = uleb(&in);
			set_cfa(s, reg, (int64_t)uleb(&in));
			break;
		case 0x12: /* def_cfa_sf */
			reg = uleb(&in);
			set_cfa(s, reg, sleb(&in) * c->data_align);
			break;
		case 0x0d: /* def_cfa_register */
			set_cfa(s, uleb(&in), s->cfa);
			break;
		case 0x0e: /* def_cfa_offset */
			s->cfa = (int64_t)uleb(&in);
			break;
		case 0x13: /* def_cfa_offset_sf */
			s->cfa = sleb(&in) * c->data_align;
			break;
		case 0x0f: /* def_cfa_expression */
			e = block(&in);
			s->from = SP_CFA_NONE;
			if (simple(e, &offset, &deref)) {
				s->from = deref ? SP_CFA_AT_FP : SP_CFA_FP;
				s->cfa = offset;
			}
			break;
		case 0x10: /* expression */
			reg = uleb(&in);
			e = block(&in);
			if (simple(e, &offset, &deref) && !deref)
				set(s, reg, AT_FP, offset);
			else
				set(s, reg, LOST, 0);
			break;
		case 0x14: /* val_offset */
			set(s, uleb(&in), LOST, 0);
			uleb(&in);
			break;
		case 0x15: /* val_offset_sf */
			set(s, uleb(&in), LOST, 0);
			sleb(&in);
			break;
		case 0x16: /* val_expression */
			set(s, uleb(&in), LOST, 0);
			block(&in);
			break;
		case 0x2e: /* GNU_args_size */
			uleb(&in);
			break;
		case 0x2f: /* GNU_negative_offset_extended */
			reg = uleb(&in);
			set(s, reg, AT_CFA, -(int64_t)uleb(&in) * c->data_align);
			break;
		default:
			return 0;
		}
		continue;
	advance:
		at += delta * c->code_align;
		if (at > until)
			return in.at <= in.end;
	}
	return in.at == in.end;
}

/* ---- rules ---- */

static int fits(int64_t v)
{
	return v == (int32_t)v;
}

/* What holds at the instruction before pc. */
static int state_at(uint64_t pc, const uint8_t *fde, uint64_t function, struct state *s)
{
	struct input in = entry(fde);
	const uint8_t *id = in.at;
	uint32_t back = (uint32_t)fixed(&in, 4);
	struct cie c;
	if (back == 0 || in.at > in.end || !read_cie(id - back, &c) || c.signal)
		return 0;
	skip(&in, 2 * (uint64_t)c.pointer);
	if (c.augmented)
		block(&in);
	if (in.at > in.end)
		return 0;
	struct state first = {.from = SP_CFA_NONE};
	if (!execute(c.program, &c, UINT64_MAX, &first, &first))
		return 0;
	*s = first;
	return execute(in, &c, pc - 1 - function, s, &first);
}

static uint8_t from_where(const struct place *p)
{
	return (uint8_t)(p->from == AT_CFA ? SP_FP_AT_CFA : p->from == AT_FP ? SP_FP_AT_FP : p->from == SAME ? SP_FP_SAME : SP_FP_LOST);
}

int sp_cfi_rule(uint64_t pc, const uint8_t *fde, uint64_t function, struct sp_rule *r)
{
	struct state s;
	const struct place *fp = &s.kept[FP];
	if (!state_at(pc, fde, function, &s) || s.from == SP_CFA_NONE || s.ra.from != AT_CFA || !fits(s.cfa) || !fits(s.ra.offset) || !fits(fp->offset))
		return 0;
	r->cfa_from = (uint8_t)s.from;
	r->cfa = (int32_t)s.cfa;
	r->ra = (int32_t)s.ra.offset;
	r->fp_from = from_where(fp);
	r->fp = (int32_t)fp->offset;
	return 1;
}

int sp_cfi_saved(uint64_t pc, const uint8_t *fde, uint64_t function, struct sp_saved *saved)
{
	struct state s;
	if (!state_at(pc, fde, function, &s))
		return 0;
	for (int i = 0; i < SP_KEPT; i++) {
		saved->from[i] = fits(s.kept[i].offset) ? from_where(&s.kept[i]) : SP_FP_LOST;
		saved->at[i] = (int32_t)s.kept[i].offset;
	}
	return 1;
}
