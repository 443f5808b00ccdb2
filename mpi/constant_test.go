package mpi

import (
	"strings"
	"testing"
)

func TestParseConstantsErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"rank MPI_ROOT -4 -3", "x:1: want kinds, name"},
		{"# fine\nthing MPI_ROOT -4 -3 -4", `x:2: unknown kind "thing"`},
		{"rank,rank MPI_ROOT -4 -3 -4", "x:1: kind rank is named twice"},
		{"rank 2ROOT -4 -3 -4", `x:1: "2ROOT" is no name`},
		{"rank MPI_ROOT - -3 -4", "x:1: MPI_ROOT: needs a number for the standard ABI"},
		{"rank MPI_ROOT -4 root -4", `x:1: MPI_ROOT: mpich value: "root" is no number`},
		{"comm MPI_COMM_BIG 1024 1 2", "x:1: MPI_COMM_BIG: handle 1024 is outside"},
		{"rank MPI_ROOT -4 -3 -4 mpich=3", `x:1: MPI_ROOT: "mpich=3" is no`},
		{"rank MPI_ROOT -4 -3 -4 lam-fortran=3", `x:1: MPI_ROOT: "lam-fortran=3" is no`},
		{"rank MPI_ROOT -4 -3 -4 size=3", `x:1: MPI_ROOT: "size=3" is no`},
		{"datatype MPI_INT 0x209 1 2 size=-3", `x:1: MPI_INT: "-3" is no number of bytes`},
	}
	for _, test := range tests {
		_, err := parseConstants("x", test.text)
		if err == nil {
			t.Errorf("no error for %q, want %q", test.text, test.want)
		} else if !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q:\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

func TestConstantsStandOnce(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range AllConstants() {
		if seen[c.Name] {
			t.Errorf("%s stands there twice", c.Name)
		}
		seen[c.Name] = true
	}
}

// Two names may share a number in one flavour only if they do in the ABI.
func TestConstantsAreUnambiguous(t *testing.T) {
	for _, f := range Flavours() {
		for _, k := range Kinds() {
			if k == KindLimitConstant {
				continue // sizes, not identities
			}
			seen := make(map[any]*Constant)
			for _, c := range Constants(k) {
				var key any = c.SymbolIn(f)
				if key == "" {
					v, ok := c.ValueIn(f)
					if !ok {
						continue
					}
					key = v
				}
				if old, ok := seen[key]; ok && old.Value != c.Value {
					t.Errorf("%s in %s: %s and %s are both %v", k, f, old.Name, c.Name, key)
				}
				seen[key] = c
			}
		}
	}
}

func TestConstantName(t *testing.T) {
	tests := []struct {
		kind  Kind
		value int64
		want  string
	}{
		{KindRank, -1, "MPI_ANY_SOURCE"},
		{KindRank, 5, ""},
		{KindDatatype, 0x20b, "MPI_LONG_LONG"},
		{KindAmode, 2 | 256, "MPI_MODE_CREATE|MPI_MODE_WRONLY"},
		{KindAmode, 2 | 1<<20, "MPI_MODE_CREATE|0x100000"},
		{KindAmode, 0, ""},
		{KindAssert, 1 << 20, ""},
		{KindError, 0, "MPI_SUCCESS"},
	}
	for _, test := range tests {
		if got := ConstantName(test.kind, test.value); got != test.want {
			t.Errorf("%s %d is %q, want %q", test.kind, test.value, got, test.want)
		}
	}
}

func TestTranslation(t *testing.T) {
	tests := []struct {
		f        Flavour
		kind     Kind
		raw, abi int64
	}{
		{FlavourMPICH, KindRank, -2, -1}, {FlavourMPICH, KindRank, -1, -3}, {FlavourMPICH, KindRank, -3, -4}, {FlavourMPICH, KindRank, 7, 7},
		{FlavourOpenMPI, KindRank, -1, -1}, {FlavourOpenMPI, KindRank, -2, -3}, {FlavourOpenMPI, KindRank, -4, -4},
		{FlavourMPICH, KindTag, -1, -2}, {FlavourOpenMPI, KindTag, 3, 3}, {FlavourABI, KindTag, -2, -2},
		{FlavourMPICH, KindAmode, 1 | 4, 2 | 256},
		{FlavourOpenMPI, KindAssert, 1 | 16, 1024 | 16384},
		{FlavourOpenMPI, KindFileDisp, -54278278, -1},
		{FlavourMPICH, KindKeyval, 0x64400001, 501}, {FlavourOpenMPI, KindKeyval, 0, 501}, {FlavourOpenMPI, KindKeyval, -1, 0},
		{FlavourMPICH, KindError, 0, 0}, {FlavourOpenMPI, KindError, 18, 19},
		{FlavourMPICH, KindInt, 1 << 40, 1 << 40},
	}
	for _, test := range tests {
		table := NumberTableOf(test.f, test.kind)
		if got := table.ToABI(test.raw); got != test.abi {
			t.Errorf("%s %s: %d is %d in the ABI, want %d", test.f, test.kind, test.raw, got, test.abi)
		}
		if got := table.FromABI(test.abi); got != test.raw {
			t.Errorf("%s %s: %d of the ABI is %d, want %d", test.f, test.kind, test.abi, got, test.raw)
		}
	}
	// many to one
	if got := NumberTableOf(FlavourMPICH, KindKeyval).ToABI(0x64400002); got != 501 {
		t.Errorf("Fortran's MPI_TAG_UB of MPICH is %d, want 501", got)
	}
	if got := NumberTableOf(FlavourMPICH, KindError).ToABI(0x0e7f4a0e); got != 15 {
		t.Errorf("an MPICH code of class 14 is %d, want 15", got)
	}
	if got := NumberTableOf(FlavourMPICH, KindError).ToABI(0x40000001); got != 0x40000001 {
		t.Errorf("an error code of the program's is %#x, want it unchanged", got)
	}
	if !NumberTableOf(FlavourABI, KindError).IsIdentity() || !NumberTableOf(FlavourMPICH, KindCount).IsIdentity() {
		t.Error("translation where nothing differs")
	}
}

// Every number in reach of a constant, constant or not, comes back.
func TestTranslationIsLossless(t *testing.T) {
	for _, f := range Flavours() {
		for _, k := range Kinds() {
			table := NumberTableOf(f, k)
			if table.strip {
				continue
			}
			back := make(map[int64]int64)
			for v := int64(-1100); v < 20000; v++ {
				abi := table.ToABI(v)
				if other, ok := back[abi]; ok {
					t.Fatalf("%s %s: %d and %d are both %d", f, k, v, other, abi)
				}
				back[abi] = v
				if got := table.FromABI(abi); got != v {
					t.Fatalf("%s %s: %d became %d and then %d", f, k, v, abi, got)
				}
			}
			for _, c := range Constants(k) {
				v, ok := c.ValueIn(f)
				if !ok || k.IsHandle() || k == KindLimitConstant {
					continue
				}
				if got := table.ToABI(v); got != c.Value {
					t.Errorf("%s: %s is %d, want %d", f, c.Name, got, c.Value)
				}
			}
		}
	}
}

func TestHandles(t *testing.T) {
	mpich := NewPredefinedHandles(FlavourMPICH, KindDatatype, nil)
	if v, ok := mpich.ToABI(0x4c000405); !ok || v != 0x209 {
		t.Errorf("MPICH's MPI_INT is %#x, %v", v, ok)
	}
	if _, ok := mpich.ToABI(0x84000000); ok {
		t.Error("a new handle passes as a predefined one")
	}
	openmpi := NewPredefinedHandles(FlavourOpenMPI, KindComm, func(symbol string) (uint64, bool) {
		return 0x7000, symbol == "ompi_mpi_comm_world"
	})
	if v, ok := openmpi.ToABI(0x7000); !ok || ConstantName(KindComm, v) != "MPI_COMM_WORLD" {
		t.Errorf("Open MPI's MPI_COMM_WORLD is %#x, %v", v, ok)
	}
	if raw, ok := openmpi.FromABI(0x101); !ok || raw != 0x7000 {
		t.Errorf("MPI_COMM_WORLD back in Open MPI is %#x, %v", raw, ok)
	}
	if _, ok := openmpi.FromABI(0x102); ok {
		t.Error("a handle without address has a value")
	}
	for _, k := range Kinds() {
		null, ok := NullHandle(k)
		if ok != k.IsHandle() {
			t.Errorf("%s: null handle %v", k, ok)
		}
		if ok && !k.IsPosix() && !strings.HasSuffix(ConstantName(k, null), "_NULL") {
			t.Errorf("the null %s is called %q", k, ConstantName(k, null))
		}
	}
	symbols := HandleSymbols(FlavourOpenMPI)
	if len(symbols) < 90 || len(HandleSymbols(FlavourMPICH)) != 0 {
		t.Errorf("%d symbols in Open MPI, %d in MPICH", len(symbols), len(HandleSymbols(FlavourMPICH)))
	}
}

func TestFlavourNames(t *testing.T) {
	for _, f := range Flavours() {
		if got, ok := FlavourNamed(f.String()); !ok || got != f || LayoutOf(f).Flavour != f {
			t.Errorf("flavour %s: %v %v, layout of %s", f, got, ok, LayoutOf(f).Flavour)
		}
	}
	if _, ok := FlavourNamed("lam"); ok {
		t.Error("an unknown flavour is known")
	}
	mpich := LayoutOf(FlavourMPICH)
	if mpich.HandleSize(KindComm) != 4 || mpich.HandleSize(KindFile) != 8 {
		t.Error("MPICH's handles are ints, but for files")
	}
}
