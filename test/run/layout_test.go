package run

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// A layout asked for is that of the file, with the same calls in it; info says what the sections took that it stands for.
func TestLayout(t *testing.T) {
	eachSource(t, mpis.Root("test", "apps", "ocean.c"), func(s *shell) {
		said := make(map[string]int64) // by layout
		for _, layout := range []string{"classes", "sites"} {
			code, _, stderr := s.traced([]string{"-q", "--layout", layout, "-o", layout + ".spoor"}, 4, "-n", "32", "-i", "10")
			if code != 0 {
				s.t.Fatalf("code %d: %s", code, stderr)
			}
			out, _ := s.spoor("info", "--json", layout+".spoor")
			var info struct {
				Bytes int64 `json:"by_distinct_call_bytes"`
			}
			if err := json.Unmarshal([]byte(out), &info); err != nil {
				s.t.Fatal(err)
			}
			said[layout] = info.Bytes
		}
		s.spoor("verify", "sites.spoor")
		s.spoor("diff", "--any-address", "classes.spoor", "sites.spoor")
		r, err := trace.Open(s.dir + "/classes.spoor")
		if err != nil {
			s.t.Fatal(err)
		}
		defer r.Close()
		want := int64(0)
		for _, x := range r.Sections() {
			switch x.Name {
			case "signatures", "classes", "columns":
				want += x.Stored
			}
		}
		if said["classes"] != 0 || said["sites"] != want {
			s.t.Errorf("info says %v; sections by distinct calls take %d bytes", said, want)
		}
		text, _ := s.spoor("info", "sites.spoor")
		if !strings.Contains(text, "\ncalls are laid out by call site, in place of signatures, classes and columns of ") {
			s.t.Error(text)
		}
		if code, _, stderr := s.traced([]string{"--layout", "rows", "-o", "x.spoor"}, 2); code == 0 || !strings.Contains(stderr, "--layout: ") {
			s.t.Errorf("code %d: %s", code, stderr)
		}
	}, "-O2")
}
