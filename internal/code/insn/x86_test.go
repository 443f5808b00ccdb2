package insn

import (
	"encoding/hex"
	"strings"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		code, what string
		kind       Kind
		target     uint64
	}{
		{"55", "push %rbp", KindPlain, 0},
		{"c3", "ret", KindReturn, 0},
		{"f3 c3", "repz ret", KindReturn, 0},
		{"c2 08 00", "ret $8", KindReturn, 0},
		{"74 05", "je", KindBranch, 0x1007},
		{"0f 84 00 01 00 00", "je, far", KindBranch, 0x1106},
		{"eb fe", "jmp to itself", KindJump, 0x1000},
		{"e8 fb ff ff ff", "call", KindCall, 0x1000},
		{"66 48 e8 00 00 00 00", "data16 rex.W call", KindCall, 0x1007},
		{"ff d0", "call *%rax", KindIndirectCall, 0},
		{"41 ff e3", "jmp *%r11", KindIndirectJump, 0},
		{"3e ff e0", "notrack jmp *%rax", KindIndirectJump, 0},
		{"ff 25 00 00 00 00", "jmp *0(%rip)", KindIndirectJump, 0},
		{"f2 ff 25 00 00 00 00", "bnd jmp *0(%rip)", KindIndirectJump, 0},
		{"0f 0b", "ud2", KindTrap, 0},
		{"f4", "hlt", KindTrap, 0},
		{"48 b8 88 77 66 55 44 33 22 11", "movabs", KindPlain, 0},
		{"66 b8 34 12", "mov $0x1234,%ax", KindPlain, 0},
		{"48 8d 84 24 00 01 00 00", "lea 0x100(%rsp),%rax", KindPlain, 0},
		{"f6 c1 01", "test $1,%cl", KindPlain, 0},
		{"f6 d9", "neg %cl", KindPlain, 0},
		{"66 f7 c1 01 00", "test $1,%cx", KindPlain, 0},
		{"c5 f8 77", "vzeroupper", KindPlain, 0},
		{"c5 f8 92 c8", "kmovw %eax,%k1", KindPlain, 0},
		{"c4 e3 7d 39 c1 01", "vextracti128 $1,%ymm0,%xmm1", KindPlain, 0},
		{"62 f1 7c 48 28 44 24 01", "vmovaps 0x40(%rsp),%zmm0", KindPlain, 0},
		{"62 f3 7d 48 3a c1 01", "vinserti32x8", KindPlain, 0},
		{"8f e8 78 c0 c0 04", "vprotb $4,%xmm0,%xmm0 (XOP)", KindPlain, 0},
		{"8f ea 78 10 c0 34 12 00 00", "bextr $0x1234,%eax,%eax (XOP)", KindPlain, 0},
		{"8f 00", "pop (%rax)", KindPlain, 0},
		{"f2 0f 78 c1 05 03", "insertq $3,$5,%xmm1,%xmm0", KindPlain, 0},
		{"a1 88 77 66 55 44 33 22 11", "movabs 0x1122334455667788,%eax", KindPlain, 0},
		{"c8 10 00 00", "enter", KindPlain, 0},
	} {
		code := unhex(t, c.code)
		x, ok := NewX86().Next(append(code, 0x90, 0x90, 0x90), 0x1000)
		if !ok {
			t.Errorf("%s: not decoded", c.what)
			continue
		}
		if x.Len != len(code) || x.Kind != c.kind || x.Target != c.target {
			t.Errorf("%s: %+v", c.what, *x)
		}
		for n := range code {
			if _, ok := NewX86().Next(code[:n], 0x1000); ok {
				t.Errorf("%s: %d of its bytes are decoded", c.what, n)
			}
		}
	}
	for _, code := range []string{"06", "0f 04", "62 f4 7c 08 00 c0", "d5 00 00", "66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90"} {
		if x, ok := NewX86().Next(unhex(t, code), 0); ok {
			t.Errorf("% s: %+v", code, *x)
		}
	}
}

// TestX86Via decodes a few instructions and looks at the last.
func TestX86Via(t *testing.T) {
	for _, c := range []struct {
		what, code string
		want       IndirectTarget
	}{
		{"a switch: cmp $6,%edi; ja; lea 0x100(%rip),%rdx; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax",
			"83 ff 06 77 20 48 8d 15 00 01 00 00 48 63 04 ba 48 01 d0 ff e0",
			IndirectTarget{Origin: TargetFromTable, Table: JumpTable{Addr: 0x110c, EntryBytes: 4, SignedEntries: true, Base: 0x110c, EntryCount: 7}}},
		{"without optimisation: mov (%rdx,%rax,1),%eax; cltq; another lea, add",
			"48 8d 05 00 01 00 00 8b 04 02 48 98 48 8d 15 f4 00 00 00 48 01 d0 ff e0",
			IndirectTarget{Origin: TargetFromTable, Table: JumpTable{Addr: 0x1107, EntryBytes: 4, SignedEntries: true, Base: 0x1107}}},
		{"the table's address was set before what is below wrote to its register: lea, pop %rdx",
			"48 8d 15 00 01 00 00 5a 48 63 04 ba 48 01 d0 ff e0",
			IndirectTarget{Origin: TargetFromTable, Table: JumpTable{Addr: 0x1107, EntryBytes: 4, SignedEntries: true, Base: 0x1107}}},
		{"jmp *0x402000(,%rdi,8)", "ff 24 fd 00 20 40 00", IndirectTarget{Origin: TargetFromTable, Table: JumpTable{Addr: 0x402000, EntryBytes: 8, SignedEntries: true}}},
		{"jmp *(%rdx,%rdi,8)", "ff 24 fa", IndirectTarget{Origin: TargetFromUnknownTable}},
		{"call through the linker's table", "ff 15 10 00 00 00", IndirectTarget{Origin: TargetFromSlot, SlotAddr: 0x1016}},
		{"mov 16(%rip),%rbx; call *%rax; call *%rbx", "48 8b 1d 10 00 00 00 ff d0 ff d3", IndirectTarget{Origin: TargetFromSlot, SlotAddr: 0x1017}},
		{"mov 16(%rip),%rax; call *%rax; call *%rax", "48 8b 05 10 00 00 00 ff d0 ff d0", IndirectTarget{}},
		{"mov 8(%rdi),%rax; jmp *%rax", "48 8b 47 08 ff e0", IndirectTarget{}},
	} {
		m := NewX86()
		code, at := unhex(t, c.code), 0
		var last Instruction
		for at < len(code) {
			x, ok := m.Next(code[at:], 0x1000+uint64(at))
			if !ok {
				t.Fatalf("%s: % x", c.what, code[at:])
			}
			last = *x
			at += x.Len
		}
		if last.IndirectTarget != c.want {
			t.Errorf("%s: %+v", c.what, last.IndirectTarget)
		}
	}
}

// FuzzX86Next: bytes of any kind are decoded without reading beyond them.
func FuzzX86Next(f *testing.F) {
	for _, s := range []string{"83ff067720488d1500010000486304ba4801d0ffe0", "62f17c4828442401c4e37d39c101", "8fe878c0c004f20f78c10503", "ff24fd00204000", "66666648e800000000"} {
		f.Add(unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		m := NewX86()
		for at := 0; at < len(code); {
			x, ok := m.Next(code[at:], uint64(at))
			if !ok {
				at++
				continue
			}
			if x.Len < 1 || x.Len > maxLen || at+x.Len > len(code) {
				t.Fatalf("%d bytes of %d at %d", x.Len, len(code), at)
			}
			at += x.Len
		}
	})
}
