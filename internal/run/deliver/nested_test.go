package deliver

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestNested(t *testing.T) {
	own, around, further := os.Getpid(), os.Getppid(), Parent(os.Getppid())
	for _, c := range []struct {
		own    string
		others []string
		want   bool
	}{
		{fmt.Sprintf("node1-%d", own), nil, false},
		{fmt.Sprintf("node1-%d", own), []string{fmt.Sprintf("node1-%d", around)}, true},
		{fmt.Sprintf("node1.cluster-%d", own), []string{fmt.Sprintf("node1.cluster-%d", further)}, true},
		{fmt.Sprintf("node1-%d.3", own), []string{fmt.Sprintf("node1-%d", around)}, true}, // others had that number before
		{fmt.Sprintf("node1-%d", own), []string{fmt.Sprintf("node2-%d", around), fmt.Sprintf("node1-%d1", around)}, false},
		{"elsewhere", []string{fmt.Sprintf("elsewhere-%d", around)}, false},
	} {
		dir := t.TempDir()
		for _, name := range append(c.others, c.own) {
			if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if got := StartedByRecordedProgram(filepath.Join(dir, c.own)); got != c.want {
			t.Errorf("%s beside %q: %v", c.own, c.others, got)
		}
	}
	if StartedByRecordedProgram("") {
		t.Error("a process without a folder")
	}
}
