package proxy

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/outcomes"
	"github.com/spoor-hpc/spoor/trace"
)

// Long runs: SPOOR_TEST_PROXY_TIMES repeats each program, SPOOR_TEST_PROXY_KEEP
// is a folder for traces and proxies that differ, and outcomes go to a file, see package outcomes;
// `go run ./bench/proxy -results FILE` counts.

func times() int {
	n, err := strconv.Atoi(os.Getenv("SPOOR_TEST_PROXY_TIMES"))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// keep copies what a difference was seen in.
func keep(t *testing.T, dir, original string) {
	t.Helper()
	to := os.Getenv("SPOOR_TEST_PROXY_KEEP")
	if to == "" {
		return
	}
	to, err := os.MkdirTemp(to, strings.ReplaceAll(t.Name(), "/", "_")+"-*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{original, filepath.Join(dir, "b.spoor"), filepath.Join(dir, "proxy.c")} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(name)), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

var results = outcomes.Of("SPOOR_TEST_PROXY")

// memory says where the memory of two traces differs: "same", or the first
// difference in size or in where a block of the heap is freed.
func memory(t *testing.T, a, b *trace.Reader) string {
	t.Helper()
	type event struct {
		At   uint64
		Free bool
		ID   int64
		Size uint64
	}
	events := func(r *trace.Reader, rank int) (all [][]event) {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		l, err := k.Allocs()
		if err != nil {
			t.Fatal(err)
		}
		for s := range k.Streams() {
			var list []event
			if l != nil {
				for at, x := range l.All(s) {
					if x.Segment.Class == trace.AddressHeap {
						list = append(list, event{at, x.IsFree, x.Segment.ID, x.Size})
					}
				}
			}
			all = append(all, list)
		}
		return all
	}
	for rank := range a.Ranks() {
		x, y := events(a, rank), events(b, rank)
		for s := range x {
			for i := range min(len(x[s]), len(y[s])) {
				if x[s][i] != y[s][i] {
					return fmt.Sprintf("rank %d, stream %d: %+v, %+v", rank, s, x[s][i], y[s][i])
				}
			}
			if len(x[s]) != len(y[s]) {
				return fmt.Sprintf("rank %d, stream %d: %d and %d allocation events", rank, s, len(x[s]), len(y[s]))
			}
		}
	}
	return "same"
}
