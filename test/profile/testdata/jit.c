// Code compiled as it runs, as Julia's: a function copied into an anonymous mapping calls a library's functions, which call MPI.
#define _GNU_SOURCE
#include <mpi.h>
#include <string.h>
#include <sys/mman.h>
void __attribute__((noinline)) lib_step(int i) { int y; MPI_Allreduce(&i, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); __asm__ volatile(""); }
void __attribute__((noinline)) lib_sync(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__ volatile(""); }
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	unsigned char *p = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	// push rbp; mov rbp,rsp; push rbx; push r12; mov ebx,edi; L: mov edi,ebx; mov rax,lib_step; call rax; mov rax,lib_sync; call rax; dec ebx; jnz L; pop r12; pop rbx; pop rbp; ret
	unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x53, 0x41, 0x54, 0x89, 0xfb, 0x89, 0xdf, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0xff, 0xcb, 0x75, 0xe2, 0x41, 0x5c, 0x5b, 0x5d, 0xc3};
	void *a = lib_step, *b = lib_sync;
	memcpy(code + 13, &a, 8);
	memcpy(code + 25, &b, 8);
	memcpy(p, code, sizeof code);
	memcpy(p + 256, code, sizeof code);
	int n = 3;
	__asm__ volatile("" : "+r"(n)); // else compilers unroll the loop
	for (int k = 0; k < n; k++)
		((void (*)(int))p)(4);
	((void (*)(int))(p + 256))(2);
	MPI_Finalize();
	return 0;
}
