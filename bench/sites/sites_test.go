package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
	"github.com/spoor-hpc/spoor/internal/merge/mergetest"
	"github.com/spoor-hpc/spoor/internal/recode"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// traced is the trace file of a program of bench/scale.
func traced(t *testing.T, p *skeleton.Program, ranks int) string {
	t.Helper()
	var tracks []*track.Track
	for rank := range ranks {
		tracks = append(tracks, vmpi.Run(p.Name, rank, ranks, p.Run).Track())
	}
	path := filepath.Join(t.TempDir(), p.Name+".spoor")
	if err := os.WriteFile(path, mergetest.File(t, tracks, nil), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The sections of every program are made again as they were, and those of amr are smaller.
func TestPrograms(t *testing.T) {
	for i := range skeleton.All {
		p := &skeleton.All[i]
		square := 9
		if p.Fits != nil && !p.Fits(square) {
			square = 8
		}
		for _, ranks := range []int{1, square} {
			if p.Fits != nil && !p.Fits(ranks) {
				continue
			}
			r, err := trace.Open(traced(t, p, ranks))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			coded, err := recode.Coded(r)
			if err != nil {
				t.Errorf("%s on %d ranks: %v", p.Name, ranks, err)
				continue
			}
			_, saved, err := r.WithCallsBySite(coded)
			if err != nil || p.Name == "amr" && ranks > 1 && saved < 1000 {
				t.Errorf("%s on %d ranks: %d bytes less, error %v", p.Name, ranks, saved, err)
			}
		}
	}
}
