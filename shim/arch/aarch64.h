/* aarch64.h: what the shim has to know of the processor; see arch.h. */
#include <elf.h>
#include <stdint.h>

/* ---- the counter that ticks are ---- */

static inline uint64_t sp_arch_ticks(void)
{
	uint64_t v;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}

static inline int sp_arch_steady(void) { return 1; }

/* ---- call stacks: numbers of registers in call frame information ---- */

#define REG_SP 31
#define REG_FP 29
#define REG_RA 30
#define SP_KEPT 11 /* registers that calls keep, the frame pointer last */
#define SP_PC_BITS 48
#define SP_GOROUTINES 0
#define SP_BACK_ON_STACK 0 /* the return address is in a register until the function saves it somewhere */

static inline int sp_arch_kept(uint64_t reg)
{
	return reg >= 19 && reg <= 28 ? (int)reg - 19 : -1;
}

static inline uint64_t sp_arch_pc(uint64_t pc)
{
	return pc & 0x0000ffffffffffffull; /* the rest may be a signature */
}

/* ---- relocations ---- */

#define SP_RELOC_PLT R_AARCH64_JUMP_SLOT
#define SP_RELOC_GOT R_AARCH64_GLOB_DAT
#define SP_RELOC_DATA R_AARCH64_ABS64

/* ---- functions in assembly ---- */

/* A function that asks sp_NAME_own, with its caller, and goes on to sp_NAME_next where that decides nothing. */
#define SP_ENTRY(name)                                                \
	__asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" \
		".cfi_startproc\n"                                 \
		"hint #34\n"                                       \
		"stp x29, x30, [sp, #-48]!\n.cfi_def_cfa_offset 48\n.cfi_offset 29, -48\n.cfi_offset 30, -40\n" \
		"stp x0, x1, [sp, #16]\n"                          \
		"str x2, [sp, #32]\n"                              \
		"mov x2, x30\n"                                    \
		"bl sp_" #name "_own\n"                            \
		"mov x3, x0\n"                                     \
		"mov x4, x1\n"                                     \
		"ldp x0, x1, [sp, #16]\n"                          \
		"ldr x2, [sp, #32]\n"                              \
		"ldp x29, x30, [sp], #48\n.cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\n" \
		"cbnz x4, 1f\n"                                    \
		"adrp x16, sp_" #name "_next\n"                    \
		"ldr x16, [x16, #:lo12:sp_" #name "_next]\n"       \
		"br x16\n"                                         \
		"1: mov x0, x3\n"                                  \
		"ret\n"                                            \
		".cfi_endproc\n.size " #name ", .-" #name "\n")

/* vfork, whose frame the child shares: what is to be kept is in a register or with sp_io_vfork_begin. */
#define SP_VFORK \
	__asm__(".text\n.globl vfork\n.type vfork, %function\nvfork:\n" \
	".cfi_startproc\n" \
	"hint #34\n" \
	"stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\n" \
	"bl sp_io_vfork_begin\n" \
	"ldp x29, x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\n" \
	"mov x0, #0x4111\n" /* CLONE_VM | CLONE_VFORK | SIGCHLD */ \
	"mov x1, #0\n" \
	"mov x8, #220\n" \
	"svc #0\n" \
	"cbz x0, 1f\n" \
	"stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\n" \
	"bl sp_io_vfork_end\n" \
	"ldp x29, x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\n" \
	"1: ret\n" \
	".cfi_endproc\n.size vfork, .-vfork\n")

/* `name` jumps through a slot, see trampoline.h. X16 and X17 are nobody's between a call and its function. */
#define SP_TRAMPOLINE_CODE(name, wrapper)                                                    \
	__asm__(".pushsection .data.sp_slots,\"aw\",%progbits\n.balign 8\n"                  \
		"sp_slot_" #name ": .quad 1f\n.long " #wrapper " - .\n.long 2f - .\n"         \
		".popsection\n.pushsection .rodata.sp_slots,\"a\",%progbits\n2: .string \"" #name "\"\n" \
		".popsection\n.text\n.balign 16\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" \
		".cfi_startproc\n"                                                          \
		"hint #34\n"                                                                \
		"adrp x16, sp_slot_" #name "\n"                                             \
		"add x16, x16, :lo12:sp_slot_" #name "\n"                                   \
		"ldr x17, [x16]\n"                                                          \
		"br x17\n"                                                                  \
		"1: hint #34\n"                                                             \
		"b sp_trampoline_first\n"                                                   \
		".cfi_endproc\n.size " #name ", .-" #name "\n")

/* Keeps all registers that may hold arguments, but for what SVE adds to them. */
#define SP_TRAMPOLINE_FIRST \
	__asm__(".text\n.hidden sp_trampoline_first\n.globl sp_trampoline_first\n.type sp_trampoline_first, %function\n" \
	"sp_trampoline_first:\n" \
	".cfi_startproc\n" \
	"hint #34\n" \
	"stp x29, x30, [sp, #-224]!\n.cfi_def_cfa_offset 224\n.cfi_offset 29, -224\n.cfi_offset 30, -216\n" \
	"stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\nstr x8, [sp, #80]\n" \
	"stp q0, q1, [sp, #96]\nstp q2, q3, [sp, #128]\nstp q4, q5, [sp, #160]\nstp q6, q7, [sp, #192]\n" \
	"mov x0, x16\n" \
	"mov x1, x30\n" \
	"bl sp_trampoline_target\n" \
	"mov x17, x0\n" \
	"ldp q0, q1, [sp, #96]\nldp q2, q3, [sp, #128]\nldp q4, q5, [sp, #160]\nldp q6, q7, [sp, #192]\n" \
	"ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\nldp x6, x7, [sp, #64]\nldr x8, [sp, #80]\n" \
	"ldp x29, x30, [sp], #224\n.cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\n" \
	"br x17\n" \
	".cfi_endproc\n.size sp_trampoline_first, .-sp_trampoline_first\n")
