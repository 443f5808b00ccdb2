package code

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/need"
)

// compile makes a shared library of a source in testdata.
func compile(t testing.TB, compiler, source string, flags ...string) string {
	t.Helper()
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("compilers here make code of another architecture")
	}
	need.Command(t, compiler)
	path := filepath.Join(t.TempDir(), "lib.so")
	args := append([]string{"-shared", "-fPIC", "-o", path, filepath.Join("testdata", source)}, flags...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", compiler, args, err, out)
	}
	return path
}

func open(t testing.TB, path string) *Image {
	t.Helper()
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// says reports whether a function's name says in how many loops its calls are.
func says(name string) bool {
	return len(name) > 4 && (name[:2] == "in" || name[:2] == "up") && name[3] == '_'
}

// wanted are the names of the functions that a library calls and that say in how many loops.
func wanted(t *testing.T, path string) map[string]bool {
	e, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	list, err := e.ImportedSymbols()
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, s := range list {
		if says(s.Name) {
			names[s.Name] = true
		}
	}
	if len(names) < 5 {
		t.Fatalf("only %d names", len(names))
	}
	return names
}

func checkLoops(t *testing.T, path string) {
	m := open(t, path)
	names := wanted(t, path)
	for _, f := range m.Functions() {
		b, err := f.Body()
		if err != nil {
			t.Error(err)
			continue
		}
		if b.UnresolvedJumps > 0 || b.UndecodedCount > 0 {
			t.Errorf("%s: %d jumps lost, %d places undecoded", f.Symbol(), b.UnresolvedJumps, b.UndecodedCount)
		}
		for _, c := range b.Calls {
			if !says(c.CalleeSymbol) {
				continue
			}
			delete(names, c.CalleeSymbol)
			if b.Graph.ReversePostorder[c.Block] == NoIndex {
				t.Errorf("%s: nothing leads to the call of %s", f.Symbol(), c.CalleeSymbol)
			}
			loops := 0
			if l := b.Graph.InnermostLoop[c.Block]; l != NoIndex {
				loops = b.Graph.Loops[l].NestingDepth + 1
			}
			if want := int(c.CalleeSymbol[2] - '0'); loops < want || loops > want && c.CalleeSymbol[:2] == "in" {
				t.Errorf("%s calls %s in %d loops", f.Symbol(), c.CalleeSymbol, loops)
			}
		}
	}
	for name := range names {
		t.Errorf("no call of %s", name)
	}
}

func TestLoops(t *testing.T) {
	for i, flags := range []string{"-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -s", "-O2 -fno-plt", "-O2 -fcf-protection=full", "-O2 -fno-jump-tables", "-O2 -fno-reorder-blocks-and-partition"} {
		if testing.Short() && i > 5 {
			break
		}
		if runtime.GOARCH != "amd64" && strings.Contains(flags, "-fcf") {
			continue
		}
		t.Run(flags, func(t *testing.T) { checkLoops(t, compile(t, "gcc", "loops.c", strings.Fields(flags)...)) })
	}
}

// TestArm64 is the same with a compiler for arm64.
func TestArm64(t *testing.T) {
	for i, flags := range []string{"-O2", "-O0", "-O2 -s", "-O1", "-O3", "-Os", "-O2 -fno-plt", "-O2 -mbranch-protection=standard", "-O2 -fno-jump-tables"} {
		if testing.Short() && i > 2 {
			break
		}
		t.Run(flags, func(t *testing.T) {
			checkLoops(t, compile(t, "aarch64-linux-gnu-gcc", "loops.c", strings.Fields(flags)...))
		})
	}
}

func TestExceptions(t *testing.T) {
	for _, flags := range []string{"-O0", "-O2", "-O2 -s", "-O3"} {
		t.Run(flags, func(t *testing.T) { checkLoops(t, compile(t, "g++", "throws.cpp", strings.Fields(flags)...)) })
	}
}

func named(t *testing.T, m *Image, name string) (*Function, *Body) {
	t.Helper()
	for _, f := range m.Functions() {
		if f.Symbol() == name {
			b, err := f.Body()
			if err != nil {
				t.Fatal(err)
			}
			return f, b
		}
	}
	t.Fatalf("no function %s", name)
	return nil, nil
}

func TestFunctions(t *testing.T) {
	m := open(t, compile(t, "gcc", "loops.c", "-O2"))
	for name, want := range map[string]bool{"give_up": false, "complain": false, "complain_again": false, "fails": true, "nested": true, "report": true} {
		if f, _ := named(t, m, name); f.MayReturn() != want {
			t.Errorf("%s returns: %v", name, !want)
		}
	}
	if f, _ := named(t, m, "rarely"); len(parts(f)) != 2 {
		t.Errorf("rarely has %d parts", len(parts(f)))
	} else if r := parts(f); m.FunctionAt(r[0].lo+1) != f || m.FunctionAt(r[1].lo+1) != f {
		t.Error("rarely isn't found by addresses in it")
	}
	_, b := named(t, m, "tail")
	if c := b.Calls[len(b.Calls)-1]; c.CalleeSymbol != "in0_last" || !c.IsTail {
		t.Errorf("tail ends in %+v", c)
	}
	_, b = named(t, m, "middle")
	if len(b.Graph.Loops) != 1 {
		t.Errorf("middle has %d loops", len(b.Graph.Loops))
	}
}

// TestLazy: what is asked about by address alone is the same as what is found when all are looked at.
func TestLazy(t *testing.T) {
	path := compile(t, "gcc", "loops.c", "-O2", "-s")
	all := open(t, path).Functions()
	for _, f := range all {
		for _, r := range parts(f) {
			g := open(t, path).FunctionAt(r.hi - 1)
			if g == nil || g.Start() != f.Start() {
				t.Errorf("%x is in %v, not %x", r.hi-1, g, f.Start())
			}
		}
	}
}

func TestNoBinary(t *testing.T) {
	dir := t.TempDir()
	good, err := os.ReadFile(compile(t, "gcc", "loops.c"))
	if err != nil {
		t.Fatal(err)
	}
	with := func(at int, b ...byte) []byte {
		c := bytes.Clone(good)
		copy(c[at:], b)
		return c
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"text", []byte("#!/bin/sh\n"), "not a binary"},
		{"short", good[:70], "not a binary"},
		{"risc", with(18, 243, 0), "EM_RISCV"},
		{"object", with(16, 1, 0), "ET_REL"},
		{"bare", with(40, 0, 0, 0, 0, 0, 0, 0, 0), ""}, // no table of sections
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", c.name, err)
		}
		if errors.Is(err, ErrUnsupportedArch) != (c.name == "risc") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Open(dir); err == nil {
		t.Error("a folder was opened")
	}
}

// parts are a function's stretches of code by ascending addresses.
func parts(f *Function) []*codeRange {
	f.gather()
	return f.parts
}
