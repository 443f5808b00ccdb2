package proxy

import (
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// TestPartial: of a program that was killed, proxy and replay make the calls that all its
// ranks came to, and end.
func TestPartial(t *testing.T) {
	const ranks = 4
	for _, m := range installed(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := t.TempDir()
			binary := filepath.Join(dir, "killed")
			if err := m.Compile(binary, "testdata/killed.c"); err != nil {
				t.Fatal(err)
			}
			tool := mpis.NeedSpoor(t)
			if out, err := run(t, m, dir, append([]string{tool, "run", "-q", "-o", "k.spoor"}, m.Command(ranks, binary)...)...); err == nil {
				t.Fatalf("the program was not killed:\n%s", out)
			}
			if out, err := run(t, m, dir, tool, "recover", "-o", "k.spoor", "k.spoor.partial"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			a, err := trace.Open(filepath.Join(dir, "k.spoor"))
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			ends, err := reissue.FindStreamEnds(a)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := proxy.GenerateProgram(a, proxy.Options{}); err == nil {
				t.Error("a program was written without --partial")
			}
			p, err := proxy.GenerateProgram(a, proxy.Options{AllowPartial: true})
			if err != nil {
				t.Fatal(err)
			}
			again := t.TempDir()
			if err := p.Write(again); err != nil {
				t.Fatal(err)
			}
			upTo(t, a, traced(t, m, again, "b.spoor", ranks, compiled(t, m, again)), ends)
			if out, err := run(t, m, dir, tool, "replay", "--partial", "-q", "--mpi", m.Name, "--timeout", "40s", "-o", "r.spoor", "k.spoor"); err != nil {
				t.Fatalf("replay: %v\n%s", err, out)
			}
			r, err := trace.Open(filepath.Join(dir, "r.spoor"))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			upTo(t, a, r, ends)
		})
	}
}

// upTo fails unless b has the calls of a up to its ends, which are near the death of a rank
// in its 24th round, and MPI_Finalize.
func upTo(t *testing.T, a, b *trace.Reader, ends reissue.StreamEnds) {
	t.Helper()
	for rank := range ends {
		x, err := a.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		end := ends[rank][0]
		if y.CallCount(0) != end+1 || end < 4+22*6+2 || end > 4+24*6+3 {
			t.Errorf("%s: rank %d made %d calls, of %d the first %d can be made", b.Name(), rank, y.CallCount(0), x.CallCount(0), end)
			continue
		}
		for i := range end + 1 {
			d, err := y.Call(0, i)
			if err != nil {
				t.Fatal(err)
			}
			if i == end {
				if d.Name() != "MPI_Finalize" {
					t.Errorf("rank %d ends with %s", rank, d.Text())
				}
				break
			}
			c, err := x.Call(0, i)
			if err != nil {
				t.Fatal(err)
			}
			for k := range c.Params { // memory of a replay lies elsewhere
				if c.Params[k].Kind() == mpi.KindBuffer {
					d.Params[k] = c.Params[k]
				}
			}
			if c.Text() != d.Text() {
				t.Fatalf("rank %d, call %d: %s, the original made %s", rank, i, d.Text(), c.Text())
			}
		}
	}
}
