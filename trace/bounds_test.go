package trace

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/mpi"
)

// wide is a trace in which so many ranks make so many distinct calls, all alike, each in a
// loop of its own: the fewest bytes that say the most.
func wide(t testing.TB, ranks, calls int) []byte {
	t.Helper()
	f, _ := mpi.CallNamed("MPI_Send")
	g := &grammar.Grammar{Rules: [][]grammar.Symbol{nil}}
	c := &sections.Content{Ranks: ranks, Sites: map[uint64]Site{1: {Module: "/usr/bin/app"}}}
	var class sections.Class
	var list sections.TerminalList
	for i := range ranks {
		class.Ranks.Append(int64(i))
	}
	for i := range calls {
		g.Rules[0] = append(g.Rules[0], grammar.Symbol{TerminalOrRule: int32(i), Count: 1 << 30})
		term := sections.Terminal{FunctionID: f.ID, Site: 1}
		for _, v := range []int64{0, 1, 0, 4, 0x209, 1, int64(i), 257} {
			term.Values = append(term.Values, column.Constant(v, ranks))
		}
		n := uint64(ranks) << 30
		term.Times = Times{Duration: stat(n, n, 1, 1), Gap: stat(n, n, 1, 1)}
		list = append(list, term)
	}
	class.Terminals = list
	class.Streams = []*grammar.Grammar{g}
	c.Classes = []sections.Class{class}
	for range ranks {
		c.Processes.Append(Process{Host: "n", EndState: "finished", Threads: 1, InitWallClockNs: 1e18, FirstThreadNs: 1e9, Calls: int64(calls) << 30})
	}
	b, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// allocated is how many bytes a function allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// Opening a trace takes memory in proportion to its file, whatever the file says.
func TestMemoryToOpen(t *testing.T) {
	if testing.Short() {
		t.Skip("a long loop of one goroutine")
	}
	const slack = 1 << 19 // what decompressing takes, and a dictionary of the standard
	files := map[string][]byte{"many ranks": wide(t, 1<<18, 3), "many calls": wide(t, 2, 20000)}
	files["golden"] = testdata(t, "golden.spoor")
	c := sample(t)
	for i := range 20 {
		c.Meta[fmt.Sprint("text", i)] = string(bytes.Repeat([]byte{'x'}, 1<<20))
	}
	if b, err := sections.EncodeFile(c); err == nil {
		files["twenty megabytes of text"] = b
	}
	for name, b := range files {
		if _, err := ReadBytes(b, name); err != nil { // what happens once
			t.Log(err)
		}
		n := allocated(func() { ReadBytes(b, name) })
		t.Logf("%s: %d bytes, %d allocated", name, len(b), n)
		if n > 50*int64(len(b))+slack {
			t.Errorf("%s: opening %d bytes allocates %d", name, len(b), n)
		}
	}
}

// What verifying looks at follows from the size of the file, not from how many ranks it
// says made how many calls.
func TestCheckIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("a long loop of one goroutine")
	}
	for _, x := range []struct{ ranks, calls int }{{1 << 18, 3}, {1 << 15, 300}, {64, 10}} {
		b := wide(t, x.ranks, x.calls)
		r, err := open(b)
		if err != nil {
			t.Fatal(err)
		}
		ranks, err := CheckCountingRanks(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d ranks, %d calls: %d bytes, %d ranks looked at", x.ranks, x.calls, len(b), ranks)
		if most := checkEach*len(b) + checkSlack; ranks*x.calls > most || ranks < 1 || x.ranks == 64 && ranks != 64 {
			t.Errorf("%d bytes: %d calls of %d ranks looked at", len(b), x.calls, ranks)
		}
	}
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
