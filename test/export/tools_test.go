package export

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/test/inputs"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// TestOTF2Programs has OTF2's tools read archives of programs that nobody here wrote, and of one
// in which threads communicate one-sided, with files and with messages at a time.
func TestOTF2Programs(t *testing.T) {
	const melt = "/usr/share/lammps/examples/melt/in.melt"
	installed := mpis.Need(t)
	debians := installed[max(0, slices.IndexFunc(installed, func(m *mpis.MPI) bool { return m.Name == "openmpi" }))] // what Debian's programs are linked with
	for _, p := range []struct {
		name  string
		m     *mpis.MPI
		ranks int
		line  func(dir string) ([]string, error)
	}{
		{"hpcc", debians, 2, func(dir string) ([]string, error) {
			return []string{tool(t, "hpcc")}, os.WriteFile(filepath.Join(dir, "hpccinf.txt"), []byte(inputs.HPCCFor(2)), 0o666)
		}},
		{"lammps", debians, 4, func(dir string) ([]string, error) {
			text, err := os.ReadFile(melt)
			if err != nil {
				need.Absent(t, "%v", err)
			}
			short := strings.Replace(string(text), "run\t\t250", "run 10", 1)
			return []string{tool(t, "lmp"), "-in", "in", "-log", "none"}, os.WriteFile(filepath.Join(dir, "in"), []byte(short), 0o666)
		}},
		{"everything", installed[0], 3, func(dir string) ([]string, error) {
			return []string{filepath.Join(dir, "app"), "blocks"}, installed[0].Compile(filepath.Join(dir, "app"), filepath.Join("testdata", "everything.c"))
		}},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			otf2(t, run(t, p.m, p.name, p.ranks, p.line))
		})
	}
}

// A thousand ranks have two files each. One of them made no call.
func TestOTF2Ranks(t *testing.T) {
	t.Parallel()
	const ranks, silent = 1024, 1000
	stencil := tracktest.Stencil(2)
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		if r.Rank != silent {
			stencil(r)
		}
	})
	x := traced{name: "stencil", dir: t.TempDir()}
	path := filepath.Join(x.dir, "app.spoor")
	if err := os.WriteFile(path, mergetest.File(t, tracks, nil), 0o666); err != nil {
		t.Fatal(err)
	}
	x.r = open(t, path)
	archive := x.export(t, "otf2")
	list := events(t, filepath.Join(archive, "traces.otf2"))
	balanced(t, list)
	counted(t, x, list)
	seen := make(map[int]bool)
	for _, e := range list {
		seen[e.rank()] = true
	}
	if len(seen) != ranks-1 || seen[silent] {
		t.Errorf("%d ranks have events, want all but rank %d", len(seen), silent)
	}
	python(t, x, filepath.Join(archive, "traces.otf2"))
	marked(t, snapshots(t, archive, list))
}

// snapshots has OTF2's own tool match all events, in a copy since it adds to the archive, and returns that.
// otf2-snapshots 3.0.2 takes a request that is cancelled for another rank's with the same number, and warns.
func snapshots(t *testing.T, archive string, list []event) (matched string) {
	t.Helper()
	matched = filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(matched, os.DirFS(archive)); err != nil {
		t.Fatal(err)
	}
	out := otf2Tool(t, "otf2-snapshots", "-n", "3", filepath.Join(matched, "traces.otf2"))
	if slices.ContainsFunc(list, func(e event) bool { return e.kind == "MPI_REQUEST_CANCELLED" }) {
		out = strings.TrimSpace(strings.ReplaceAll(out+"\n", "otf2-snapshots: warning: no matching event found\n", ""))
	}
	if out != "" {
		t.Errorf("otf2-snapshots: %s", mpis.Tail(out))
	}
	return matched
}

// marked has OTF2's own tool mark a place in an archive.
func marked(t *testing.T, archive string) {
	t.Helper()
	anchor := filepath.Join(archive, "traces.otf2")
	out := otf2Tool(t, "otf2-marker", "--add-def", "spoor", "test", "LOW", anchor) +
		otf2Tool(t, "otf2-marker", "--add", "spoor", "test", "0", "GLOBAL", "here", anchor) + otf2Tool(t, "otf2-marker", "--defs-only", anchor)
	if want := `MARKER_DEF  Group: "spoor", Category: "test", Severity: LOW`; out != want {
		t.Errorf("otf2-marker: %s, want %s", out, want)
	}
}

// otf2Tool runs a tool and returns what it says.
func otf2Tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(tool(t, name), args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %q: %v", name, args, err)
	}
	return strings.TrimSpace(string(out))
}

// python has Python's reader add up what each rank sends to each other one.
func python(t *testing.T, x traced, archive string) {
	t.Helper()
	const script = `
import otf2, sys
from collections import Counter
messages, sums = Counter(), Counter()
with otf2.reader.open(sys.argv[1]) as trace:
    for location, event in trace.events:
        if isinstance(event, (otf2.events.MpiSend, otf2.events.MpiIsend)):
            to = event.communicator.group.members[event.receiver]
            pair = tuple(int(at.group.name.split()[-1]) for at in (location, to))
            messages[pair] += 1
            sums[pair] += event.msg_length
for pair in messages:
    print(*pair, messages[pair], sums[pair])
`
	out, err := exec.Command("/usr/bin/python3", "-c", script, archive).Output()
	if err != nil {
		need.Absent(t, "python3-otf2: %v", err)
	}
	got := make(map[pair]matrix.Cell)
	for line := range strings.Lines(string(out)) {
		var p pair
		var c matrix.Cell
		if _, err := fmt.Sscan(line, &p.from, &p.to, &c.Messages, &c.Bytes); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		got[p] = c
	}
	if diff := cmp.Diff(traffic(t, x.r), got); diff != "" {
		t.Errorf("messages between ranks, and what Python reads:\n%s", diff)
	}
}

// estimated wants the events of a location to take no more room than OTF2's own tool says that its library would need.
func estimated(t *testing.T, archive string, location uint64, list []event) {
	t.Helper()
	records := map[string]string{"ENTER": "Enter", "LEAVE": "Leave", "MPI_SEND": "MpiSend", "MPI_RECV": "MpiRecv"}
	kinds, regions := make(map[string]int), make(map[string]bool)
	for _, e := range list {
		if e.location == location {
			kinds[e.kind]++
		}
		if m := region.FindStringSubmatch(e.rest); m != nil {
			regions[m[1]] = true
		}
	}
	ask := fmt.Sprintf("set Region %d\nset SourceCodeLocation %d\nset Attribute 1\nset Comm 1\nget Timestamp\nget AttributeList SOURCE_CODE_LOCATION\n", len(regions), len(regions))
	for _, name := range records {
		ask += "get " + name + "\n"
	}
	c := exec.Command(tool(t, "otf2-estimator"))
	c.Stdin = strings.NewReader(ask + "exit\n")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("otf2-estimator: %v\n%s", err, out)
	}
	size := make(map[string]int64)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		n, err := strconv.ParseInt(f[len(f)-1], 10, 64)
		if err != nil {
			t.Fatalf("otf2-estimator: %q", line)
		}
		size[f[0]] = n
	}
	room := int64(0)
	for kind, n := range kinds {
		each := size[records[kind]]
		if each == 0 {
			t.Fatalf("otf2-estimator: nothing of %s\n%s", kind, out)
		}
		if kind == "ENTER" {
			each += size["AttributeList"]
		}
		room += int64(n) * (each + size["Timestamp"])
	}
	st, err := os.Stat(filepath.Join(archive, "traces", fmt.Sprint(location, ".evt")))
	if err != nil {
		t.Fatal(err)
	}
	if st.Size() > room+room/100 { // heads of chunks, and what is left free at their ends
		t.Errorf("%d bytes of events, where OTF2 would need at most %d", st.Size(), room)
	}
}
