package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ofFlags are the variables by which the tool tells ranks what its flags say, and what it knows.
var ofFlags = []string{
	"SPOOR_ALLOC_MIN", "SPOOR_CODE", "SPOOR_COUNTERS", "SPOOR_FORCE", "SPOOR_HOME_OF", "SPOOR_LINK", "SPOOR_LOOP_COUNTERS", "SPOOR_MODEL", "SPOOR_OUT", "SPOOR_PHASE_NAMES", "SPOOR_PLUGIN", "SPOOR_PROBED", "SPOOR_REPLAY", "SPOOR_SCRATCH",
	"SPOOR_STACK", "SPOOR_IO", "SPOOR_LEAN", "SPOOR_IO_INCLUDE", "SPOOR_IO_EXCLUDE", "SPOOR_IO_SPECIAL", "SPOOR_SERIAL", "SPOOR_START_OFF", "SPOOR_TAGS", "SPOOR_TELL", "SPOOR_TIMING", "SPOOR_TIMING_BINS", "SPOOR_TIMING_ERROR", "SPOOR_WAITS", "SPOOR_WHEN", "SPOOR_TIMING_SAMPLE",
}

// ofTests are those that only tests set, and SPOOR_TRACING, a key of MPI_Info.
var ofTests = []string{"SPOOR_CGROUPS", "SPOOR_CLOCK_SKEW", "SPOOR_ENGINE", "SPOOR_NO_DELAYS", "SPOOR_TRACING"}

var variable = regexp.MustCompile(`"(SPOOR_[A-Z_]*[A-Z])"`)

// Each variable that something reads is told of, or known to be nothing that users set.
func TestSettings(t *testing.T) {
	var known []string
	for _, s := range settings {
		known = append(known, s.name)
	}
	known = slices.Concat(known, ofFlags, ofTests)
	read := make(map[string]bool)
	for _, dir := range []string{"shim", "engine", "internal", "cmd/spoor", "replayer"} {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(path string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err != nil || strings.HasSuffix(path, "_test.go") || ext != ".go" && ext != ".c" || d.Name() == "environment.go" {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range variable.FindAllSubmatch(text, -1) {
				if name := string(m[1]); !read[name] {
					read[name] = true
					if !slices.Contains(known, name) {
						t.Errorf("%s: %s is read, and nothing tells users of it", path, name)
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range known {
		if strings.HasPrefix(name, "SPOOR_") && !read[name] {
			t.Errorf("nothing reads %s", name)
		}
	}
}
