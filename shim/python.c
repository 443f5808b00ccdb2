/*
 * python.c: call sites of programs that call MPI from Python, by mpi4py or by other libraries.
 *
 * The C code that calls MPI is mpi4py's in most programs, the same for all calls. What
 * tells calls apart is the line of Python that called mpi4py: the innermost frame
 * of the thread that is not mpi4py's own. It gets a number and a SOURCE record, and the
 * number stands in the ENTER record where the call site would. With SPOOR_STACK the
 * frames around it follow, as a STACK record of such numbers.
 *
 * Other extension modules call MPI from C libraries, and C libraries call back into Python. With SPOOR_STACK the stack is followed
 * for these calls too (stack.c), and the Python frames take the place of the interpreter's C frames, each group where the
 * interpreter's loop runs it. Both parts are recognised on their own at each call; how they fit together is found once for each pair.
 *
 * The interpreter's lock is not taken, as mpi4py gives it away before it calls MPI,
 * and taking it could hang the program. Nothing is changed or counted: the thread's own
 * frames stay as they are while it is in MPI, its frames keep their code, and code
 * keeps its names. Of the interpreter's functions only those are called that
 * look at such things alone.
 *
 * Where things are in the interpreter's structures depends on its version. From 3.13 on it
 * says so itself. Before a layout is believed, the frames of the first call are read in a way that can't fail
 * (from /proc/self/mem), and what should be code and text must be objects of these
 * types; else calls have mpi4py's sites, and it is said once.
 */
#define _GNU_SOURCE
#include "python.h"
#include "python_layout.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"
#include "runtime.h"
#include "stack.h"
#include "unwind.h"

#define MAX_TEXT 400 /* bytes of a file's or function's name */
#define MAX_WALK 256 /* frames looked at */
#define SITES 4096   /* per thread; calls of further lines have mpi4py's site */
#define CODES 2048
#define PAIRS 32768 /* per thread; further calls have their Python frames alone */
#define MEMOS 64
#define MEMO_FRAMES 24 /* deeper ones are looked up one by one at each call */

/* In keys of a chain: how many groups of frames are further in. A group is what one loop of the interpreter runs. */
#define GROUP_SHIFT 48
#define MAX_GROUP 127u
#define GROUP_OF(key) ((uint32_t)((key) >> GROUP_SHIFT) & MAX_GROUP)
#define WITHOUT_GROUP(key) ((key) & ~((uint64_t)MAX_GROUP << GROUP_SHIFT))

static struct layout where;
static struct {
	void *(*thread)(void);
	int (*line)(void *, int);
	int (*initialised)(void);
	long (*length)(void *);
	uint32_t (*letter)(void *, long);
	const char *(*version)(void);
	uint64_t code, text; /* the types */
	const uint64_t *account;
} py;
static uint64_t lo, hi; /* mpi4py's code, 0 until it is loaded */
static int depth = 1;
static int on;
static uint64_t loop;        /* the interpreter's function that runs Python code; 0: not known */
static uint64_t interpreter; /* a function in the same module */

struct code {
	uint64_t code, file; /* whose it was, in case there is another in its place */
	int skip;
};

/* Code that was made at run time may be where other code was before. */
struct site {
	uint64_t code, file, name, at;
	uint32_t line;
	uint32_t number;
};

struct chain {
	uint32_t n;
	uint64_t keys[SP_MAX_FRAMES];
};

/* A stack of C frames with the Python frames of the same call. */
struct pair {
	uint64_t stack, lines;
	uint64_t key; /* of both together */
};

/* A frame as it was, and the frames from the innermost one on with what followed from them. */
struct seen {
	uint64_t frame, code, at, file, name;
	uint32_t line;
	uint8_t entry; /* a loop of the interpreter begins with it */
};

struct memo {
	uint32_t n, groups;
	uint64_t lines;      /* 0: none are the program's */
	uint64_t stack, key; /* the last pair with these lines */
	struct seen frames[MEMO_FRAMES];
};

struct table {
	struct memo memos[MEMOS];
	struct code codes[CODES];
	struct site sites[2 * SITES];
	uint32_t nsites, nchains;
	uint32_t slots[2 * SITES];
	struct chain chains[SITES];
	uint32_t npairs;
	struct pair pairs[2 * PAIRS];
};

static struct table *tables[SP_MAX_THREADS];

/* ---- reading ---- */

/* How a word is read: 0 if it can't be. */
typedef int reader(uint64_t at, uint64_t *v);

static int read_plainly(uint64_t at, uint64_t *v)
{
	*v = *(const uint64_t *)(uintptr_t)at;
	return 1;
}

static int memory = -1; /* while layouts are tried */

static int read_safely(uint64_t at, uint64_t *v)
{
	return at % 4 == 0 && pread(memory, v, sizeof *v, (off_t)at) == (ssize_t)sizeof *v;
}

static inline __attribute__((always_inline)) int innermost(reader *get, uint64_t *frame)
{
	uint64_t state = (uint64_t)(uintptr_t)py.thread();
	if (!state || !get(state + where.frame, frame))
		return 0;
	if (where.indirect >= 0 && *frame && !get(*frame + (uint32_t)where.indirect, frame))
		return 0;
	return *frame != 0;
}

/* The code that a frame runs, 0 if it runs none of Python's. */
static inline __attribute__((always_inline)) int code_of(reader *get, uint64_t frame, uint64_t *code)
{
	uint64_t type;
	if (!get(frame + where.code, code))
		return 0;
	*code &= ~7ull; /* what marks a borrowed reference */
	if (*code && !get(*code + 8, &type))
		return 0;
	if (*code && type != py.code)
		*code = 0;
	return 1;
}

/* Copies a text; of a long one the end. */
static size_t text_of(uint64_t object, char *to)
{
	size_t n = 0;
	long length = py.length((void *)(uintptr_t)object);
	for (long i = length > MAX_TEXT / 4 * 3 ? length - MAX_TEXT / 4 * 3 : 0; i < length && n + 4 <= MAX_TEXT; i++) {
		uint32_t c = py.letter((void *)(uintptr_t)object, i);
		if (c < 0x80) {
			to[n++] = (char)c;
		} else if (c < 0x800) {
			to[n++] = (char)(0xc0 | c >> 6);
			to[n++] = (char)(0x80 | (c & 63));
		} else if (c < 0x10000) {
			to[n++] = (char)(0xe0 | c >> 12);
			to[n++] = (char)(0x80 | (c >> 6 & 63));
			to[n++] = (char)(0x80 | (c & 63));
		} else {
			to[n++] = (char)(0xf0 | c >> 18);
			to[n++] = (char)(0x80 | (c >> 12 & 63));
			to[n++] = (char)(0x80 | (c >> 6 & 63));
			to[n++] = (char)(0x80 | (c & 63));
		}
	}
	to[n] = 0;
	return n;
}

/* ---- beginning ---- */

static int find_mpi4py(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	if (!info->dlpi_name || !strstr(info->dlpi_name, "/mpi4py/MPI."))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
			lo = info->dlpi_addr + p->p_vaddr;
			__atomic_store_n(&hi, lo + p->p_memsz, __ATOMIC_RELEASE);
			return 1;
		}
	}
	return 0;
}

static int find_functions(void)
{
	const struct {
		const char *name;
		void *to;
	} wanted[] = {
		{"PyGILState_GetThisThreadState", &py.thread}, {"PyCode_Addr2Line", &py.line}, {"Py_IsInitialized", &py.initialised}, {"PyUnicode_GetLength", &py.length},
		{"PyUnicode_ReadChar", &py.letter}, {"Py_GetVersion", &py.version},
		{"PyCode_Type", &py.code}, {"PyUnicode_Type", &py.text}, {"_PyRuntime", &py.account},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		void *at = dlsym(RTLD_DEFAULT, wanted[i].name);
		if (!at)
			return 0;
		memcpy(wanted[i].to, &at, sizeof at);
	}
	loop = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
	interpreter = (uint64_t)(uintptr_t)py.version;
	return 1;
}

/* Whether the frames of this thread are what the layout says, each to the outermost one; −1: it has none. */
static int believable(void)
{
	uint64_t frame, code, text[2], type[2];
	int n = 0;
	if (!innermost(read_safely, &frame))
		return -1;
	for (int i = 0; frame && i < MAX_WALK; i++) {
		if (!code_of(read_safely, frame, &code))
			return 0;
		if (code) {
			if (!read_safely(code + where.file, &text[0]) || !read_safely(code + where.name, &text[1]) || !read_safely(text[0] + 8, &type[0])
			    || !read_safely(text[1] + 8, &type[1]) || type[0] != py.text || type[1] != py.text)
				return 0;
			n++;
		}
		if (!read_safely(frame + where.back, &frame))
			return 0;
	}
	return n > 0;
}

int sp_python_start(void)
{
	static int tried, strange;
	static char version[32];
	if (!tried) {
		const char *wanted = getenv("SPOOR_PYTHON"), *stack = getenv("SPOOR_STACK");
		int minor = 0;
		if (wanted && strcmp(wanted, "0") == 0)
			tried = 1;
		if (tried || !find_functions() || !py.initialised())
			return 0; /* it may come */
		snprintf(version, sizeof version, "%s", py.version());
		version[strcspn(version, " ")] = 0;
		memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
		int known = sscanf(version, "3.%d", &minor) == 1 && !strstr(py.version(), "free-threading") && sp_python_layout(minor, py.account, &where) ? believable() : 0;
		if (memory >= 0)
			close(memory);
		if (known < 0)
			return 0;
		tried = 1;
		if (known) {
			long n = stack ? strtol(stack, NULL, 10) : 1;
			depth = n < 1 ? 1 : n < SP_MAX_FRAMES ? (int)n : SP_MAX_FRAMES;
			on = 1;
			__atomic_fetch_or(&sp_extra, SP_PYTHON, __ATOMIC_RELEASE);
		} else {
			strange = 1;
		}
	}
	if (strange && sp_run.rank == 0 && sp_run.ranks > 0) {
		strange = 0;
		sp_warn_once("Python %s is not one whose frames can be read: calls have the sites of C code", version);
	}
	return on;
}

/* ---- sites ---- */

static struct table *table_of(int thread)
{
	if (!tables[thread]) {
		void *p = mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p != MAP_FAILED)
			tables[thread] = p;
	}
	return tables[thread];
}

static inline uint64_t mix(uint64_t a, uint64_t b) { return (a ^ b * 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull; }

/* Whether a call is mpi4py's. It may be loaded later than the first library that calls MPI: it is looked for once for each page
   of code that calls. */
static inline int is_mpi4py(uint64_t from)
{
	static uint64_t searched[64];
	uint64_t page = from >> 12, end = __atomic_load_n(&hi, __ATOMIC_ACQUIRE);
	if (sp_unlikely(!end) && searched[page % 64] != page) {
		searched[page % 64] = page;
		dl_iterate_phdr(find_mpi4py, NULL);
		end = hi;
	}
	return from >= lo && from < end;
}

/* Whether code is mpi4py's, or the interpreter's own: no place in the program. */
static int skipped(struct table *b, uint64_t code, uint64_t file)
{
	struct code *c = &b->codes[mix(code, file) >> 20 & (CODES - 1)];
	if (sp_likely(c->code == code && c->file == file))
		return c->skip;
	char text[MAX_TEXT + 1];
	text_of(file, text);
	*c = (struct code){code, file, !*text || strstr(text, "/mpi4py/") || strncmp(text, "<frozen ", 8) == 0 || strncmp(text, "<shim", 5) == 0};
	return c->skip;
}

static void tell_source(struct sp_thread *t, uint64_t key, const struct seen *f, uint64_t offset)
{
	char text[2][MAX_TEXT + 1];
	int line = py.line((void *)(uintptr_t)f->code, (int)offset);
	size_t n0 = text_of(f->file, text[0]), n1 = text_of(f->name, text[1]), words = (n0 + n1 + 7) / 8;
	uint64_t *w = sp_begin(t);
	w[1] = sp_ticks();
	w[2] = key;
	w[3] = line > 0 ? (uint64_t)line : 0;
	w[4] = n0;
	w[5] = n1;
	w[5 + words] = 0;
	memcpy(w + 6, text[0], n0);
	memcpy((char *)(w + 6) + n0, text[1], n1);
	memset((char *)(w + 6) + n0 + n1, 0, words * 8 - n0 - n1);
	sp_commit(t, w + 6 + words, 0, SP_SOURCE, 0);
}

/* The key of the line that a frame is at; 0 if there is no room for more. */
static uint64_t key_of(struct sp_thread *t, struct table *b, const struct seen *f)
{
	uint64_t at = where.step ? (uint64_t)((int64_t)(int32_t)f->at * where.step) : f->at - f->code - where.start;
	for (uint64_t i = mix(mix(f->code, f->file), at) >> 20;; i++) {
		struct site *s = &b->sites[i % (2 * SITES)];
		if (sp_likely(s->code == f->code && s->file == f->file && s->name == f->name && s->at == at && s->line == f->line))
			return SP_SOURCE_KEY(t->number, s->number);
		if (s->code)
			continue;
		if (b->nsites == SITES)
			return 0;
		*s = (struct site){f->code, f->file, f->name, at, f->line, ++b->nsites};
		tell_source(t, SP_SOURCE_KEY(t->number, s->number), f, at);
		return SP_SOURCE_KEY(t->number, s->number);
	}
}

/* The key of lines that called each other. */
static uint64_t key_of_chain(struct sp_thread *t, struct table *b, const uint64_t *keys, uint32_t n)
{
	uint64_t h = n;
	for (uint32_t i = 0; i < n; i++)
		h = mix(h, keys[i]);
	for (uint64_t i = h >> 20;; i++) {
		uint32_t *slot = &b->slots[i % (2 * SITES)];
		if (!*slot) {
			if (b->nchains == SITES)
				return WITHOUT_GROUP(keys[0]);
			struct chain *c = &b->chains[b->nchains];
			c->n = n;
			memcpy(c->keys, keys, n * sizeof *keys);
			*slot = ++b->nchains;
			uint64_t *w = sp_begin(t);
			w[1] = sp_ticks();
			w[2] = SP_SOURCE_KEY(t->number, SITES + *slot);
			for (uint32_t k = 0; k < n; k++)
				w[3 + k] = WITHOUT_GROUP(keys[k]);
			sp_commit(t, w + 3 + n, 0, SP_STACK, 0);
			return SP_SOURCE_KEY(t->number, SITES + *slot);
		}
		const struct chain *c = &b->chains[*slot - 1];
		if (sp_likely(c->n == n && memcmp(c->keys, keys, n * sizeof *keys) == 0))
			return SP_SOURCE_KEY(t->number, SITES + *slot);
	}
}

/* ---- stacks of both languages ---- */

struct frames {
	uint64_t pcs[SP_MAX_FRAMES];
	uint8_t interpreter[SP_MAX_FRAMES];
	int n;
};

/* Marks frames of the interpreter, of its own extension modules, and of what only stands between Python and C: mpi4py, and libffi
   below ctypes. */
static int mark(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct frames *f = arg;
	const char *path = info->dlpi_name, *base = strrchr(path, '/');
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + p->p_vaddr;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)
		    || (interpreter - begin >= p->p_memsz && !strstr(path, "/mpi4py/MPI.") && !strstr(path, "/lib-dynload/")
			&& strncmp(base ? base : "", "/libffi.so", 10) != 0))
			continue;
		for (int k = 0; k < f->n; k++)
			f->interpreter[k] |= f->pcs[k] - begin < p->p_memsz;
	}
	return 0;
}

/* Puts lines, innermost first, where the interpreter ran them. If fewer of its loops are on the stack than ran, it isn't known which
   is missing: then all lines are at the innermost place. */
static int combine(const struct frames *f, const uint64_t *keys, int n, uint64_t *to)
{
	uint8_t loops[SP_MAX_FRAMES];
	uint32_t seen = 0;
	int k = 0, size = 0;
	for (int i = 0; i < f->n; i++)
		seen += loops[i] = f->interpreter[i] && loop && sp_unwind_function(f->pcs[i]) == loop;
	int aligned = seen > GROUP_OF(keys[n - 1]) || f->n == SP_MAX_FRAMES;
	seen = 0;
	for (int i = 0; i < f->n; i++) {
		if (!f->interpreter[i]) {
			to[size++] = f->pcs[i];
		} else if (aligned) {
			for (seen += loops[i]; k < n && GROUP_OF(keys[k]) < seen; k++)
				to[size++] = WITHOUT_GROUP(keys[k]);
		} else {
			for (; k < n; k++)
				to[size++] = WITHOUT_GROUP(keys[k]);
		}
	}
	for (; k < n; k++)
		to[size++] = WITHOUT_GROUP(keys[k]);
	return size < depth ? size : depth;
}

/* The key of a call's stack with its lines; 0 if it is new and no keys are given. */
static uint64_t key_of_pair(struct sp_thread *t, struct table *b, uint64_t stack, uint64_t lines, const uint64_t *keys, int n)
{
	for (uint64_t i = mix(stack, lines) >> 20;; i++) {
		struct pair *p = &b->pairs[i % (2 * PAIRS)];
		if (sp_likely(p->stack == stack && p->lines == lines))
			return p->key;
		if (p->stack)
			continue;
		if (!keys)
			return 0;
		if (b->npairs == PAIRS)
			return lines;
		struct frames f = {.n = 0};
		uint64_t both[2 * SP_MAX_FRAMES];
		f.n = sp_stack_frames(t, stack, f.pcs);
		dl_iterate_phdr(mark, &f);
		int size = combine(&f, keys, n, both);
		*p = (struct pair){stack, lines, SP_SOURCE_KEY(t->number, 2 * SITES + ++b->npairs)};
		uint64_t *w = sp_begin(t);
		w[1] = sp_ticks();
		w[2] = p->key;
		memcpy(w + 3, both, (size_t)size * sizeof *both);
		sp_commit(t, w + 3 + size, 0, SP_STACK, 0);
		return p->key;
	}
}

/* A frame by which a loop of the interpreter begins is on the C stack from 3.12 on, and has no line. */
static inline int on_stack(const struct sp_thread *t, uint64_t frame)
{
	return frame - t->ring->stack_lo < t->ring->stack_hi - t->ring->stack_lo;
}

/* Takes down a frame, and returns the code that it runs, 0 if it runs none of Python's. */
static inline uint64_t look(const struct sp_thread *t, uint64_t frame, struct seen *s)
{
	*s = (struct seen){.frame = frame};
	if (!where.step && !where.entry && on_stack(t, frame)) {
		s->entry = 1;
		return 0;
	}
	s->entry = where.step || (where.entry && *(const uint8_t *)(uintptr_t)(frame + where.entry));
	code_of(read_plainly, frame, &s->code);
	if (s->code) {
		read_plainly(frame + where.at, &s->at);
		read_plainly(s->code + where.file, &s->file);
		read_plainly(s->code + where.name, &s->name);
		memcpy(&s->line, (const void *)(uintptr_t)(s->code + where.line), sizeof s->line);
	}
	return s->code;
}

/* Whether the frames are what they were. */
static inline int unchanged(const struct sp_thread *t, const struct memo *m, uint64_t frame)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct seen now;
		const struct seen *s = &m->frames[i];
		if (frame != s->frame)
			return 0;
		look(t, frame, &now);
		if ((now.code ^ s->code) | (now.at ^ s->at) | (now.file ^ s->file) | (now.name ^ s->name) | (now.line ^ s->line) | (now.entry ^ s->entry))
			return 0;
		read_plainly(frame + where.back, &frame);
	}
	return m->n > 0;
}

/* Follows a thread's frames, and keeps the key of its lines in the memo. */
static void lines_of(struct sp_thread *t, struct table *b, struct memo *m, uint64_t frame, uint64_t *keys, uint32_t *n)
{
	uint32_t same = 0, group = 0;
	struct seen s;
	*n = m->n = 0;
	m->stack = 0;
	for (uint32_t i = 0; frame && i < MAX_WALK && *n < (uint32_t)depth; i++) {
		if (look(t, frame, &s) && !skipped(b, s.code, s.file)) {
			uint64_t key = key_of(t, b, &s);
			if (!key)
				break;
			same = *n > 0 && WITHOUT_GROUP(keys[*n - 1]) == key ? same + 1 : 0;
			if (same < SP_MAX_AGAIN)
				keys[(*n)++] = key | (uint64_t)(group < MAX_GROUP ? group : MAX_GROUP) << GROUP_SHIFT;
		}
		group += s.entry;
		if (i < MEMO_FRAMES)
			m->frames[i] = s;
		m->n = i + 1;
		read_plainly(frame + where.back, &frame);
	}
	if (m->n > MEMO_FRAMES)
		m->n = 0;
	m->groups = *n ? GROUP_OF(keys[*n - 1]) : 0;
	m->lines = *n == 0 ? 0 : *n == 1 && !m->groups ? keys[0] : key_of_chain(t, b, keys, *n);
}

const void *sp_python_site(struct sp_thread *t, const void *site, int any)
{
	uint64_t frame, at, keys[SP_MAX_FRAMES], from = (uint64_t)(uintptr_t)site, stack, key;
	uint32_t n = 0;
	int stacks = __atomic_load_n(&sp_extra, __ATOMIC_RELAXED) & SP_STACKS, own = is_mpi4py(from);
	if ((!any && !own && !stacks) || !innermost(read_plainly, &frame))
		return site;
	sp_prepare(t); /* a new thread has no ring before that */
	struct table *b = t->ring ? table_of(t->number) : NULL;
	if (sp_unlikely(!b))
		return site;
	uint64_t first = frame;
	read_plainly(frame + where.at, &at);
	struct memo *m = &b->memos[mix(frame, at) >> 20 & (MEMOS - 1)];
	if (!unchanged(t, m, frame))
		lines_of(t, b, m, frame, keys, &n);
	if (!m->lines)
		return site;
	/* What mpi4py calls for a line has nothing but the interpreter around it, unless the interpreter was called by something. */
	if (!stacks || (own && !m->groups))
		return (const void *)(uintptr_t)m->lines;
	stack = (uint64_t)(uintptr_t)sp_stack_site(t, site);
	if (stack >> 63)
		stack &= ~SP_TURN_KEY(0, 255);
	if (sp_likely(m->stack == stack))
		return (const void *)(uintptr_t)m->key;
	key = key_of_pair(t, b, stack, m->lines, n ? keys : NULL, (int)n);
	if (sp_unlikely(!key)) {
		lines_of(t, b, m, first, keys, &n);
		key = key_of_pair(t, b, stack, m->lines, keys, (int)n);
	}
	m->stack = stack;
	m->key = key;
	return (const void *)(uintptr_t)key;
}
