package run

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// Names of functions, call sites and names of files take at most 80 bytes for a program of ten functions
// at a path of some thirty letters, and ten more for each further one. Header and directory do not count:
// on a busy machine a file may have one more section of times.
func TestNamesAreShort(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"master", "cg"} {
		app, _ := compile.ByName(name)
		t.Run(name, func(t *testing.T) {
			eachSource(t, mpis.Root("test", "apps", app.Source), func(s *shell) {
				dir, err := os.MkdirTemp("", "project")
				if err != nil {
					s.t.Fatal(err)
				}
				s.t.Cleanup(func() { os.RemoveAll(dir) })
				if err := os.Rename(filepath.Join(s.dir, "app"), filepath.Join(dir, "app")); err != nil {
					s.t.Fatal(err)
				}
				s.dir = dir
				if code, _, stderr := s.traced([]string{"-q", "-o", "app.spoor"}, 4, app.Quick...); code != 0 {
					s.t.Fatalf("code %d: %s", code, stderr)
				}
				path := filepath.Join(s.dir, "app.spoor")
				r, err := trace.Open(path)
				if err != nil {
					s.t.Fatal(err)
				}
				defer r.Close()
				bytes, functions := int64(0), len(r.Schema())
				for _, x := range r.Sections() {
					switch x.Name {
					case "schema", "sites", "strings":
						bytes += x.StoredBytes
					}
				}
				if s.t.Logf("%d functions, %d bytes", functions, bytes); bytes > int64(80+10*max(0, functions-10)) { // the folder has up to ten digits in its name
					s.t.Errorf("%d functions take %d bytes", functions, bytes)
				}
			}, "-O2")
		})
	}
}

// With stacks, and what the binaries say, files are at most a quarter larger than without. Times make them some percent larger or smaller
// from run to run: these programs have room for that.
func TestStacksTakeAQuarter(t *testing.T) {
	t.Parallel()
	arguments := map[string][]string{"cg.c": {"-n", "32", "-i", "10"}, "checkpoint.c": {"-n", "32", "-i", "3"}, "lu.f90": {"-n", "16", "-i", "5"}}
	for source, args := range arguments {
		t.Run(source, func(t *testing.T) {
			eachSource(t, mpis.Root("test", "apps", source), func(s *shell) {
				size := func(options ...string) int64 {
					if code, _, stderr := s.traced(append(options, "-q", "-f", "-o", "app.spoor"), 4, args...); code != 0 {
						s.t.Fatalf("code %d: %s", code, stderr)
					}
					info, err := os.Stat(filepath.Join(s.dir, "app.spoor"))
					if err != nil {
						s.t.Fatal(err)
					}
					return info.Size()
				}
				without, with := size("--stack", "0"), size()
				if s.t.Logf("%d bytes without, %d with", without, with); 4*with > 5*without {
					s.t.Errorf("%d bytes without stacks, %d with them", without, with)
				}
				r, err := trace.Open(filepath.Join(s.dir, "app.spoor"))
				if err != nil {
					s.t.Fatal(err)
				}
				defer r.Close()
				if c, err := r.Code(); err != nil || c == nil {
					s.t.Errorf("nothing of what the binary says: %v", err)
				}
			}, "-O2", "-g")
		})
	}
}
