package insn

import (
	"encoding/binary"
	"testing"
)

func words(list ...uint32) []byte {
	var b []byte
	for _, w := range list {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func TestNext(t *testing.T) {
	for _, c := range []struct {
		word   uint32
		what   string
		kind   Kind
		target uint64
	}{
		{0xd503201f, "nop", KindPlain, 0},
		{0x14000002, "b +8", KindJump, 0x1008},
		{0x17ffffff, "b -4", KindJump, 0xffc},
		{0x97fffffe, "bl -8", KindCall, 0xff8},
		{0x54000040, "b.eq +8", KindBranch, 0x1008},
		{0x54ffffe1, "b.ne -4", KindBranch, 0xffc},
		{0xb4000060, "cbz x0, +12", KindBranch, 0x100c},
		{0x35ffffc1, "cbnz w1, -8", KindBranch, 0xff8},
		{0x36180040, "tbz w0, #3, +8", KindBranch, 0x1008},
		{0xb7f80040, "tbnz x0, #63, +8", KindBranch, 0x1008},
		{0xd61f0220, "br x17", KindIndirectJump, 0},
		{0xd63f0040, "blr x2", KindIndirectCall, 0},
		{0xd71f0811, "braa x0, x17", KindIndirectJump, 0},
		{0xd65f03c0, "ret", KindReturn, 0},
		{0xd65f0bff, "retaa", KindReturn, 0},
		{0xd4200020, "brk #1", KindTrap, 0},
		{0x00000000, "udf #0", KindTrap, 0},
		{0xd4000001, "svc #0", KindPlain, 0},
		{0xa9bf7bfd, "stp x29, x30, [sp, #-16]!", KindPlain, 0},
		{0x58000040, "ldr x0, +8", KindPlain, 0},
	} {
		code := words(c.word)
		x, ok := NewA64().Next(code, 0x1000)
		if !ok || x.Len != 4 || x.Kind != c.kind || x.Target != c.target {
			t.Errorf("%s: %v, %+v", c.what, ok, *x)
		}
		if _, ok := NewA64().Next(code[:3], 0x1000); ok {
			t.Errorf("%s: three bytes are decoded", c.what)
		}
	}
}

// TestA64Via decodes a few instructions and looks at the last.
func TestA64Via(t *testing.T) {
	for _, c := range []struct {
		what string
		code []byte
		want IndirectTarget
	}{
		{"the linker's table: bti c; adrp x16; ldr x17, [x16, #24]; add x16, x16, #24; br x17",
			words(0xd503245f, 0xb0000010, 0xf9400e11, 0x91006210, 0xd61f0220), IndirectTarget{Origin: TargetFromSlot, SlotAddr: 0x2018}},
		{"GCC's switch: cmp w0, #5; b.hi; adrp x1; add x1, x1, #16; ldrb w1, [x1, w0, uxtw]; adr x0, +12; add x1, x0, w1, sxtb #2; br x1",
			words(0x7100141f, 0x54000108, 0xb0000001, 0x91004021, 0x38604821, 0x10000060, 0x8b218801, 0xd61f0020),
			IndirectTarget{Origin: TargetFromTable, Table: JumpTable{Addr: 0x2010, EntryBytes: 1, SignedEntries: true, Base: 0x1020, Shift: 2, EntryCount: 6}}},
		{"a larger one: ldrh w1, [x1, w0, uxtw #1]; adr x0; add x1, x0, w1, sxth #2",
			words(0xb0000001, 0x78605821, 0x10000060, 0x8b21a801, 0xd61f0020),
			IndirectTarget{Origin: TargetFromTable, Table: JumpTable{Addr: 0x2000, EntryBytes: 2, SignedEntries: true, Base: 0x1014, Shift: 2}}},
		{"Clang's: adrp x8; add x8, x8, #64; adr x9, +12; ldrb w10, [x8, x0]; add x9, x9, x10, lsl #2; br x9",
			words(0xb0000008, 0x91010108, 0x10000069, 0x3860690a, 0x8b0a0929, 0xd61f0120),
			IndirectTarget{Origin: TargetFromTable, Table: JumpTable{Addr: 0x2040, EntryBytes: 1, Base: 0x1014, Shift: 2}}},
		{"Clang's with words: adrp x8; add x8, x8, #64; ldrsw x9, [x8, x0, lsl #2]; add x8, x8, x9; br x8",
			words(0xb0000008, 0x91010108, 0xb8a07909, 0x8b090108, 0xd61f0100),
			IndirectTarget{Origin: TargetFromTable, Table: JumpTable{Addr: 0x2040, EntryBytes: 4, SignedEntries: true, Base: 0x2040}}},
		{"a table of addresses: adrp x1; ldr x0, [x1, x0, lsl #3]; br x0",
			words(0xb0000001, 0xf8607820, 0xd61f0000), IndirectTarget{Origin: TargetFromTable, Table: JumpTable{Addr: 0x2000, EntryBytes: 8}}},
		{"a virtual function: ldr x0, [x0]; ldr x1, [x0, #16]; br x1", words(0xf9400000, 0xf9400801, 0xd61f0020), IndirectTarget{}},
		{"a call between: adrp x1; bl; ldr x1, [x1]; br x1", words(0xb0000001, 0x94000010, 0xf9400021, 0xd61f0020), IndirectTarget{}},
		{"a table that isn't known: ldr x0, [x1, x0, lsl #3]; br x0", words(0xf8607820, 0xd61f0000), IndirectTarget{Origin: TargetFromUnknownTable}},
	} {
		m := NewA64()
		var last Instruction
		for at := 0; at < len(c.code); at += 4 {
			x, _ := m.Next(c.code[at:], 0x1000+uint64(at))
			last = *x
		}
		if last.IndirectTarget != c.want {
			t.Errorf("%s: %+v", c.what, last.IndirectTarget)
		}
	}
}

// FuzzA64Next: words of any kind are decoded.
func FuzzA64Next(f *testing.F) {
	f.Add(words(0x7100141f, 0x54000108, 0xb0000001, 0x91004021, 0x38604821, 0x10000060, 0x8b218801, 0xd61f0020))
	f.Add(words(0xb0000008, 0x91010108, 0xb8a07909, 0x8b090108, 0xd61f0100))
	f.Fuzz(func(t *testing.T, code []byte) {
		m := NewA64()
		for at := 0; at+4 <= len(code); at += 4 {
			if x, ok := m.Next(code[at:], uint64(at)); !ok || x.Len != 4 {
				t.Fatalf("%+v", x)
			}
		}
		if _, ok := m.Next(code[len(code)&^3:], 0); ok {
			t.Fatal("less than a word is decoded")
		}
	})
}
