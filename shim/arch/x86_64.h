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
#define SP_GOROUTINES 1    /* their stacks can be followed from C on */
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

/* `name` jumps through a slot, see trampoline.h. R11 is nobody's between a call and its function. */
#define SP_TRAMPOLINE_CODE(name, wrapper)                                                    \
	__asm__(".pushsection .data.sp_slots,\"aw\",@progbits\n.balign 8\n"                  \
		"sp_slot_" #name ": .quad 1f\n.long " #wrapper " - .\n.long 2f - .\n"         \
		".popsection\n.pushsection .rodata.sp_slots,\"a\",@progbits\n2: .string \"" #name "\"\n" \
		".popsection\n.text\n.balign 16\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
		".cfi_startproc\n"                                                          \
		"endbr64\n"                                                                 \
		"jmp *sp_slot_" #name "(%rip)\n"                                            \
		"1: endbr64\n"                                                              \
		"leaq sp_slot_" #name "(%rip), %r11\n"                                      \
		"jmp sp_trampoline_first\n"                                                 \
		".cfi_endproc\n.size " #name ", .-" #name "\n")

/* Keeps all registers that may hold arguments, with XSAVE where there is one: the parts of its standard layout
   up to AVX-512's end at 2,688 bytes. */
#define SP_TRAMPOLINE_FIRST \
	__asm__(".text\n.hidden sp_trampoline_first\n.globl sp_trampoline_first\n.type sp_trampoline_first, @function\n" \
	"sp_trampoline_first:\n" \
	".cfi_startproc\n" \
	"pushq %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n" \
	"movq %rsp, %rbp\n.cfi_def_cfa_register %rbp\n" \
	"pushq %rbx\n.cfi_offset %rbx, -24\n" \
	"pushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %rdi\npushq %r8\npushq %r9\npushq %r10\npushq %r11\n" \
	"andq $-64, %rsp\n" \
	"subq $2752, %rsp\n" \
	"movq %r11, %rdi\n" \
	"movq 8(%rbp), %rsi\n" \
	"movl $1, %eax\nxorl %ecx, %ecx\ncpuid\n" \
	"xorl %ebx, %ebx\n" \
	"btl $27, %ecx\n" \
	"jnc 1f\n" \
	"incl %ebx\n" \
	"xorl %eax, %eax\n" \
	"movq %rax, 512(%rsp)\nmovq %rax, 520(%rsp)\nmovq %rax, 528(%rsp)\nmovq %rax, 536(%rsp)\n" \
	"movq %rax, 544(%rsp)\nmovq %rax, 552(%rsp)\nmovq %rax, 560(%rsp)\nmovq %rax, 568(%rsp)\n" \
	"movl $0xe7, %eax\nxorl %edx, %edx\nxsave (%rsp)\n" \
	"jmp 2f\n" \
	"1: fxsave (%rsp)\n" \
	"2: call sp_trampoline_target\n" \
	"movq %rax, -80(%rbp)\n" \
	"testl %ebx, %ebx\n" \
	"jz 3f\n" \
	"movl $0xe7, %eax\nxorl %edx, %edx\nxrstor (%rsp)\n" \
	"jmp 4f\n" \
	"3: fxrstor (%rsp)\n" \
	"4: leaq -80(%rbp), %rsp\n" \
	"popq %r11\npopq %r10\npopq %r9\npopq %r8\npopq %rdi\npopq %rsi\npopq %rdx\npopq %rcx\npopq %rax\npopq %rbx\n" \
	"popq %rbp\n.cfi_def_cfa %rsp, 8\n" \
	"jmp *%r11\n" \
	".cfi_endproc\n.size sp_trampoline_first, .-sp_trampoline_first\n")
