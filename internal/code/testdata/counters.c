/* Loops around calls of probe, which writes down what the registers and the stack hold and what the rounds of the loops around it
   are, as the program itself counts them: those of the outer and of the inner loop. A function count_x has a counter for each
   loop around its calls, one all_x may, and one none_x has none. */
#include <stdint.h>
#include <stdio.h>

#define WORDS 256 /* of the stack */

struct record {
	uint64_t back, sp; /* where the call returns to, and the stack pointer at the call */
	int64_t outer, inner;
	uint64_t kept[6]; /* rbx, rbp, r12 to r15 */
	uint64_t stack[WORDS];
};

void probe(int64_t outer, int64_t inner);
#ifdef __x86_64__
__asm__(".text\n.globl probe\n.type probe,@function\nprobe:\n"
	"push %r15\npush %r14\npush %r13\npush %r12\npush %rbp\npush %rbx\n"
	"mov %rsp,%rdx\nsub $8,%rsp\ncall write_down\nadd $8,%rsp\n"
	"pop %rbx\npop %rbp\npop %r12\npop %r13\npop %r14\npop %r15\nret\n.size probe,.-probe\n");

__attribute__((used)) void write_down(int64_t outer, int64_t inner, const uint64_t *at)
{
	struct record r = {.back = at[6] - (uint64_t)(uintptr_t)probe, .sp = (uint64_t)(uintptr_t)(at + 7), .outer = outer, .inner = inner};
	for (int i = 0; i < 6; i++)
		r.kept[i] = at[i];
	for (int i = 0; i < WORDS; i++)
		r.stack[i] = at[7 + i];
	fwrite(&r, sizeof r, 1, stdout);
}
#endif

#define FN __attribute__((noinline)) void

/* What the compiler can't see through. */
__attribute__((noinline)) long opaque(long x)
{
	__asm__ volatile("" : "+r"(x) : : "memory");
	return x;
}
__attribute__((noinline)) void touch(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
__attribute__((noinline)) void bump(long *p, long by) { *p += by; touch(p); }
long rounds;

FN count_plain(long n)
{
	for (long i = 0; i < n; i++)
		probe(0, i);
}

FN count_int(int n)
{
	for (int i = n; i > 0; i--)
		probe(0, -i);
}

FN count_nested(long n)
{
	for (long i = 0; i < n; i++)
		for (long j = i; j < n; j++)
			probe(i, j);
}

FN count_skips(long n)
{
	for (long i = 0; i < n; i++) {
		if (opaque(i) % 3 == 1)
			continue;
		probe(0, i);
		if (opaque(i) % 3 == 2)
			probe(0, i);
	}
}

FN count_pressed(long n)
{
	long a = opaque(1), b = opaque(2), c = opaque(3), d = opaque(4), e = opaque(5), f = opaque(6), g = opaque(7);
	for (long i = 0; i < n; i++) {
		for (long j = 0; j < i; j++) {
			probe(i, j);
			a += b; b ^= c; c += d; d ^= e; e += f; f ^= g; g += a;
		}
		b += opaque(a) + opaque(g);
	}
	opaque(a + b + c + d + e + f + g);
}

FN count_pointers(const int *p, const int *end)
{
	const int *first = p;
	for (; p < end; p += 3)
		probe(0, (p - first) / 3);
}

/* More than six arguments: the stack pointer moves between the calls. */
__attribute__((noinline)) long many(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	return opaque(a + b + c + d + e + f + g + h + i);
}
FN count_pushed(long n)
{
	for (long i = 0; i < n; i++)
		for (long j = 0; j < 2 + opaque(i); j++) {
			probe(i, j);
			many(i, j, 3, 4, 5, 6, n, i + j, 9);
			probe(i, j);
		}
}

/* It goes up in some rounds only. */
FN none_sometimes(long n)
{
	long k = 0;
	rounds = 0;
	while (k < n) {
		probe(0, rounds++);
		if (opaque(rounds) % 2)
			k++;
	}
}

/* Others have a pointer to it. */
FN none_shared(long n)
{
	rounds = 0;
	for (long i = 0; i < n; i++) {
		probe(0, rounds++);
		bump(&i, rounds % 3);
	}
}

/* Two ways back to the beginning, with different steps. */
FN none_uneven(long n)
{
	rounds = 0;
	for (long i = 0; i < n; i += opaque(i) % 2 ? 3 : 1)
		probe(0, rounds++);
}

/* Half of a wider word that is written, too. */
FN none_wide(long n)
{
	struct {
		int before, k;
	} x = {0};
	for (rounds = 0; rounds < n;) {
		probe(0, rounds++);
#ifdef __x86_64__
		__asm__ volatile("addl $1,%0" : "+m"(x.k));
		if (opaque(rounds) % 3 == 0)
			__asm__ volatile("movq $0,%0" : "=m"(x));
#endif
	}
}

/* A word of an array is none of a counter's, though it lies beside it. */
FN all_arrays(long n)
{
	volatile long list[5] = {0};
	touch((void *)list);
	for (long i = 0; i < n; i++) {
		for (long j = 0; j < 5; j++) {
			list[j] += opaque(j);
			probe(i, j);
		}
		list[opaque(i) % 5] = 7;
	}
}

/* Entered again where it stopped. */
FN all_goes_on(long n)
{
	long j = 0;
	for (long i = 0; i < n; i++)
		for (; j < 3 * i; j++)
			probe(i, j);
}

int main(void)
{
	static int list[64];
	long n = opaque(7);
	count_plain(n);
	count_int((int)n);
	count_nested(n);
	count_skips(n);
	count_pressed(n);
	count_pointers(list, list + 3 * n);
	count_pushed(n);
	none_sometimes(n);
	none_shared(n);
	none_uneven(n);
	none_wide(n);
	all_arrays(n);
	all_goes_on(n);
	return 0;
}
