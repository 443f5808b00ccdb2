/* x86_64.h: what the shim has to know of the processor; see arch.h. */
#include <elf.h>
#include <stdint.h>

/* ---- the counter that ticks are ---- */

#include <cpuid.h>

static inline uint64_t sp_arch_ticks(void) { return __builtin_ia32_rdtsc(); }

static inline int sp_arch_steady(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

/* ---- call stacks: numbers of registers in call frame information ---- */

#define REG_SP 7
#define REG_FP 6
#define REG_RA 16
#define SP_KEPT 6 /* registers that calls keep, the frame pointer last */
#define SP_PC_BITS 47
#define SP_BACK_ON_STACK 1 /* a call puts its return address right below the CFA */

static inline int sp_arch_kept(uint64_t reg)
{
	return reg == 3 ? 0 : reg >= 12 && reg <= 15 ? (int)reg - 11 : -1;
}

static inline uint64_t sp_arch_pc(uint64_t pc) { return pc; }

/* ---- relocations ---- */

#define SP_RELOC_PLT R_X86_64_JUMP_SLOT
#define SP_RELOC_GOT R_X86_64_GLOB_DAT
#define SP_RELOC_DATA R_X86_64_64

/* ---- functions in assembly ---- */

/* A function that asks sp_NAME_own, with its caller, and goes on to sp_NAME_next where that decides nothing. */
#define SP_ENTRY(name)                                                \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
		".cfi_startproc\n"                                 \
		"endbr64\n"                                        \
		"pushq %rdi\n.cfi_adjust_cfa_offset 8\n"           \
		"pushq %rsi\n.cfi_adjust_cfa_offset 8\n"           \
		"pushq %rdx\n.cfi_adjust_cfa_offset 8\n"           \
		"movq 24(%rsp), %rdx\n"                            \
		"call sp_" #name "_own\n"                          \
		"movq %rdx, %rcx\n"                                \
		"popq %rdx\n.cfi_adjust_cfa_offset -8\n"           \
		"popq %rsi\n.cfi_adjust_cfa_offset -8\n"           \
		"popq %rdi\n.cfi_adjust_cfa_offset -8\n"           \
		"testq %rcx, %rcx\n"                               \
		"jnz 1f\n"                                         \
		"jmp *sp_" #name "_next(%rip)\n"                   \
		"1: ret\n"                                         \
		".cfi_endproc\n.size " #name ", .-" #name "\n")

/* vfork, whose frame the child shares: what is to be kept is in a register or with sp_io_vfork_begin. */
#define SP_VFORK \
	__asm__(".text\n.globl vfork\n.type vfork, @function\nvfork:\n" \
	".cfi_startproc\n" \
	"endbr64\n" \
	"subq $8, %rsp\n.cfi_adjust_cfa_offset 8\n" \
	"call sp_io_vfork_begin\n" \
	"addq $8, %rsp\n.cfi_adjust_cfa_offset -8\n" \
	"popq %rdi\n.cfi_adjust_cfa_offset -8\n" \
	"movl $58, %eax\n" \
	"syscall\n" \
	"pushq %rdi\n.cfi_adjust_cfa_offset 8\n" \
	"testq %rax, %rax\n" \
	"jz 1f\n" \
	"movq %rax, %rdi\n" \
	"subq $8, %rsp\n.cfi_adjust_cfa_offset 8\n" \
	"call sp_io_vfork_end\n" \
	"addq $8, %rsp\n.cfi_adjust_cfa_offset -8\n" \
	"1: ret\n" \
	".cfi_endproc\n.size vfork, .-vfork\n")
