// Package packaging unpacks what is made for users and runs it from there.
package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

// root is the top of the tree.
const root = "../.."

// pack calls make for a package and returns the file that it names.
func pack(t *testing.T, what string) string {
	t.Helper()
	out, err := exec.Command("make", "--no-print-directory", "-C", root, what).Output()
	if err != nil {
		t.Fatalf("make %s: %v\n%s", what, err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return filepath.Join(root, lines[len(lines)-1])
}

// works runs a program under the tool that was unpacked to dir, and looks for what belongs to it.
func works(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, f := range append(files, "include/spoor.h", "lib/spoor/spoor-replay", "share/bash-completion/completions/spoor",
		"share/fish/vendor_completions.d/spoor.fish", "share/spoor/modulefile", "share/spoor/valgrind.supp", "share/doc/spoor/run.md") {
		if st, err := os.Stat(filepath.Join(dir, f)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	for _, m := range mpis.Need(t) {
		program := filepath.Join(t.TempDir(), "app")
		if err := m.Compile(program, "testdata/hello.c"); err != nil {
			t.Fatal(err)
		}
		at := t.TempDir()
		line := append([]string{filepath.Join(dir, "bin/spoor"), "run", "-o", "a.spoor"}, m.Command(2, program)...)
		r := mpis.Job{MPI: m, Dir: at, Temp: t.TempDir(), Env: []string{"SPOOR_LIB="}}.Run(line...)
		if r.Err != nil || !strings.Contains(r.Stderr, "spoor: a.spoor: 2 ranks, 6 calls") {
			t.Errorf("%s: %v", m.Name, r)
		}
	}
}

func TestTarball(t *testing.T) {
	file := pack(t, "dist")
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xzf", file, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	top := filepath.Join(dir, strings.TrimSuffix(filepath.Base(file), ".tar.gz"))
	works(t, top, "share/man/man1/spoor-run.1", "share/zsh/site-functions/_spoor", "share/doc/spoor/LICENCES")

	// The module leads to where the tarball was unpacked, also through a link.
	modulecmd := "/usr/lib/x86_64-linux-gnu/modulecmd.tcl"
	if _, err := os.Stat(modulecmd); err != nil {
		need.Absent(t, "no %s is installed: the module can't be loaded", modulecmd)
	}
	modules := t.TempDir()
	if err := os.MkdirAll(filepath.Join(modules, "spoor"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(top, "share/spoor/modulefile"), filepath.Join(modules, "spoor", "0")); err != nil {
		t.Fatal(err)
	}
	load := exec.Command(modulecmd, "sh", "load", "spoor/0")
	load.Env = append(os.Environ(), "MODULEPATH="+modules)
	out, err := load.CombinedOutput()
	if err != nil || !strings.Contains(string(out), filepath.Join(top, "bin")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestDeb(t *testing.T) {
	need.Command(t, "dpkg-deb")
	file := pack(t, "deb")
	dir := t.TempDir()
	if out, err := exec.Command("dpkg-deb", "-x", file, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	works(t, filepath.Join(dir, "usr"), "share/man/man1/spoor-run.1.gz", "share/zsh/vendor-completions/_spoor", "share/doc/spoor/copyright")
	again, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before := contents(t, file)
	if same, err := os.ReadFile(pack(t, "deb")); err != nil || string(same) != string(again) {
		t.Errorf("the same tree gives another package (%v); it had\n%sand has\n%s", err, before, contents(t, file))
	}
}

// contents lists the control file and the files of a package.
func contents(t *testing.T, file string) string {
	t.Helper()
	var all strings.Builder
	for _, what := range []string{"-f", "-c"} {
		out, err := exec.Command("dpkg-deb", what, file).Output()
		if err != nil {
			t.Errorf("dpkg-deb %s: %v", what, err)
		}
		all.Write(out)
	}
	return all.String()
}
