package profile

import (
	"encoding/json"
	"slices"
	"testing"

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
			spoor(t, dir, "cut", "--phase", "1", "app.spoor", "-o", "part.spoor")
			spoor(t, dir, "verify", "part.spoor")
		})
	}
}
