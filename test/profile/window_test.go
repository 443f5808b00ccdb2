package profile

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// A part of a run has the bytes that the program moves in it, to the ranks that its communicator means, though that
// and the datatype were made before.
func TestWindows(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := traceWith(t, m, "window.c", []string{"--timing", "lossless"})
			rounds := func(first, end int) (bytes int) {
				for i := first; i < end; i++ {
					bytes += 12 * (i + 1)
				}
				return bytes
			}
			for _, x := range []struct {
				flags          []string
				there, back, n int // bytes from 0 to 1, and from 1 to 0, messages
			}{
				{nil, rounds(0, 10) + 1200, rounds(0, 10), 21},
				{[]string{"--without-init"}, rounds(0, 10) + 1200, rounds(0, 10), 21},
				{[]string{"--phase", "1"}, rounds(0, 10), rounds(0, 10), 20},
				{[]string{"--phase", "2"}, 1200, 0, 1},
				{[]string{"--loop", "MPI_Isend", "--iteration", "3:5"}, rounds(3, 5), rounds(3, 5), 4},
				{[]string{"--loop", "MPI_Waitall@window.c", "--iteration", "8:9"}, rounds(9, 10), rounds(9, 10), 2},
			} {
				var got struct {
					Total struct{ Messages int }
					Cells []struct{ From, To, Bytes int }
				}
				args := slices.Concat([]string{"matrix", "--json"}, x.flags, []string{"app.spoor"})
				if err := json.Unmarshal([]byte(spoor(t, dir, args...)), &got); err != nil {
					t.Fatal(err)
				}
				there, back := 0, 0
				for _, c := range got.Cells {
					if c.From == 0 {
						there += c.Bytes
					} else {
						back += c.Bytes
					}
				}
				if there != x.there || back != x.back || got.Total.Messages != x.n {
					t.Errorf("%q: %d bytes from 0 to 1 and %d back in %d messages, want %d, %d, %d", x.flags, there, back, got.Total.Messages, x.there, x.back, x.n)
				}
			}
			spoor(t, dir, "waits", "--phase", "1", "app.spoor")
			spoor(t, dir, "diff", "--phase", "1", "app.spoor", "app.spoor")
			calls := func(args ...string) int {
				var x struct{ Calls int }
				if err := json.Unmarshal([]byte(spoor(t, dir, args...)), &x); err != nil {
					t.Fatal(err)
				}
				return x.Calls
			}
			whole, part := calls("info", "--json", "app.spoor"), calls("info", "--json", "--phase", "2", "app.spoor")
			if n := calls("simulate", "--machine", "ideal", "--json", "--phase", "2", "app.spoor"); n != part || n >= whole || n == 0 {
				t.Errorf("%d calls are simulated of a phase, which has %d of %d", n, part, whole)
			}
			spoor(t, dir, "cut", "--phase", "1", "app.spoor", "-o", "part.spoor")
			spoor(t, dir, "check", "part.spoor")
		})
	}
}

// Parts of a run and predictions of it keep the functions around calls, and the program's loops.
func TestStacksOfParts(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := traceWith(t, m, "nests.c", []string{"--stack", "8"}, "-g", "-O1")
			spoor(t, dir, "cut", "--without-init", "app.spoor", "-o", "part.spoor")
			spoor(t, dir, "simulate", "--machine", "ideal", "app.spoor", "-o", "ideal.spoor")
			calls := func(file string) (list []string) {
				for line := range strings.Lines(spoor(t, dir, "dump", "--sites", "--rank", "0", file)) {
					if _, call, _ := strings.Cut(line, " "); !strings.HasPrefix(call, "MPI_Init") && !strings.HasPrefix(call, "MPI_Finalize") {
						list = append(list, call)
					}
				}
				return list
			}
			structure := func(file string) string {
				_, s, _ := strings.Cut(spoor(t, dir, "info", file), "\nstructure ")
				line, _, _ := strings.Cut(s, "\n")
				return line
			}
			want := calls("app.spoor")
			if !strings.Contains(strings.Join(want, ""), " < main nests.c:") || !strings.Contains(structure("app.spoor"), "loop") {
				t.Fatalf("no stacks or loops: %s\n%s", want, structure("app.spoor"))
			}
			for _, file := range []string{"part.spoor", "ideal.spoor"} {
				spoor(t, dir, "check", file)
				if d := cmp.Diff(want, calls(file)); d != "" {
					t.Errorf("%s: -want +got:\n%s", file, d)
				}
				if s := structure(file); !strings.Contains(s, "loop") {
					t.Errorf("%s: %s", file, s)
				}
			}
		})
	}
}
