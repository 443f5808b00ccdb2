package proxy

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// TestPolling: a program that polls is a short one, which finishes the same requests; in
// the recorded order it is many times as long.
func TestPolling(t *testing.T) {
	for _, m := range installed(t) {
		for _, ranks := range []int{2, 4} { // with more ranks it is no longer
			t.Run(fmt.Sprint(m.Name, ranks), func(t *testing.T) { polling(t, m, ranks) })
		}
	}
}

func polling(t *testing.T, m *mpis.MPI, ranks int) {
	binary := filepath.Join(t.TempDir(), "polling")
	if err := m.Compile(binary, "testdata/polling.c"); err != nil {
		t.Fatal(err)
	}
	a := traced(t, m, t.TempDir(), "a.spoor", ranks, binary, "500")
	short, err := proxy.GenerateProgram(a, proxy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	long, err := proxy.GenerateProgram(a, proxy.Options{KeepRecordedOrder: true})
	if err != nil {
		t.Fatal(err)
	}
	if short.Lines > 200 || short.RankVariants != 1 || long.Lines < 3*short.Lines {
		t.Errorf("%d programs of %d lines, %d in the recorded order", short.RankVariants, short.Lines, long.Lines)
	}
	dir := t.TempDir()
	if err := short.Write(dir); err != nil {
		t.Fatal(err)
	}
	b := traced(t, m, dir, "b.spoor", ranks, compiled(t, m, dir))
	if got, why := compare(t, a, b); got != equal && got != anyOrder {
		t.Errorf("%s\n%s", got, why)
	}
	// A few rounds in the order in which requests finished.
	few := traced(t, m, t.TempDir(), "a.spoor", ranks, binary, "6")
	if got, why := proxied(t, m, few, ranks, proxy.Options{KeepRecordedOrder: true}); got != equal && got != anyOrder {
		t.Errorf("in the recorded order: %s\n%s", got, why)
	}
}
