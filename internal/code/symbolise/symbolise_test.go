package symbolise

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestDemangle(t *testing.T) {
	for symbol, want := range map[string]string{
		"main":                            "main",
		"solve_":                          "solve",
		"pdgesv_":                         "pdgesv",
		"my_solve__":                      "my_solve",
		"MAIN__":                          "main program",
		"__halo_MOD_exchange":             "halo::exchange",
		"__halo_MOD_pack_all":             "halo::pack_all",
		"halo_mp_exchange_":               "halo::exchange",
		"halo_MP_exchange":                "halo::exchange",
		"__halo_MOD_exchange.constprop.0": "halo::exchange",
		"inner.4021":                      "inner",
		"work.isra.0.part.3":              "work",
		"work.cold":                       "work",
		"write@@GLIBC_2.2.5":              "write",
		"_start":                          "_start",
		"__libc_start_main":               "__libc_start_main",
		"_ZN9LAMMPS_NS4Comm5setupEv":      "LAMMPS_NS::Comm::setup",
		"_ZN4grid5FieldIdE6updateEd":      "grid::Field<double>::update",
		"_ZNoSuchThing":                   "_ZNoSuchThing",
		"X_":                              "X_",
	} {
		if got := Demangle(symbol); got != want {
			t.Errorf("Demangle(%q) = %q, want %q", symbol, got, want)
		}
	}
}

// A binary that was written by another compiler than C's: this test, made anew, since
// the one that runs has been stripped by go test.
func TestOwnFunctions(t *testing.T) {
	self := filepath.Join(t.TempDir(), "test")
	if out, err := exec.Command("go", "test", "-c", "-o", self, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := openImage(self)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	main, err := b.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	m := newModule(b, nil)
	for _, s := range main {
		if s.Name != "github.com/spoor-hpc/spoor/internal/code/symbolise.Demangle" {
			continue
		}
		frames, _ := m.lookup(s.Value-m.bias+5, true)
		if len(frames) == 0 || frames[0].Function != s.Name {
			t.Errorf("%x: %+v", s.Value, frames)
		}
		return
	}
	t.Error("Demangle is not in the test")
}

func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := New(Options{})
	for _, path := range []string{text, dir, filepath.Join(dir, "nothing"), "/opt/[vdso]"} {
		for range 2 {
			if p := s.PlaceOfReturnOffset(path, "aa", 17); p.Precision != PrecisionModule || p.String() != filepath.Base(path)+"+0x11" {
				t.Errorf("%s: %s", path, p.String())
			}
		}
	}
	if p := s.PlaceOfReturnOffset("", "", 0); p.String() != "?" {
		t.Errorf("nowhere: %s", p.String())
	}
	if notes := s.ImprecisionNotes(); len(notes) != 4 || !strings.Contains(notes[2], "is not there") {
		t.Errorf("notes %q", notes)
	}
}
