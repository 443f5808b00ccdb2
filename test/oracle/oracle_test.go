package oracle

import (
	"fmt"
	"os"
	"testing"
)

// The oracle itself has to be transparent, and its logs complete: else what it
// says of the recorder is worth nothing.
func TestOracleAlone(t *testing.T) {
	for _, m := range installed(t) {
		for _, p := range programs(t) {
			if !p.runsOn(m) || !p.sampled(5) && os.Getenv("SPOOR_TEST_RANKS") != "all" {
				continue
			}
			t.Run(m.Name+"/"+p.Name, func(t *testing.T) {
				t.Parallel()
				ranks := p.ranks[min(1, len(p.ranks)-1)]
				dir := t.TempDir()
				plain := p.launch(m, ranks)
				if plain.err != nil {
					t.Fatalf("without the oracle: %v", plain)
				}
				logged := p.launch(m, ranks, "LD_PRELOAD="+m.preload(t), "ORACLE_DIR="+dir)
				if logged.err != nil {
					t.Fatalf("with the oracle: %v", logged)
				}
				if plain.output != logged.output && !p.nondet {
					t.Errorf("output changed from\n%s\nto\n%s", plain.output, logged.output)
				}
				if plain.stderr != logged.stderr {
					t.Errorf("standard error changed from\n%s\nto\n%s", plain.stderr, logged.stderr)
				}
				if err := checkLogs(dir, ranks); err != nil {
					t.Error(err)
				}
				if err := noteCalls(m, dir); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// checkLogs tests what holds for the log of any program that ends well: it has
// all ranks, or as many processes if they never had a common world.
func checkLogs(dir string, ranks int) error {
	list, err := ReadLogs(dir)
	if err != nil {
		return err
	}
	first, worldless := 0, 0
	for _, p := range list {
		if p.Rank < 0 {
			worldless++
			continue
		}
		if p.Spawned {
			continue
		}
		if p.Rank != first || p.Size != ranks {
			return fmt.Errorf("rank %d of %d, want %d of %d", p.Rank, p.Size, first, ranks)
		}
		first++
		finalize := 0
		for _, calls := range p.Threads {
			for _, c := range calls {
				if !c.Done {
					return fmt.Errorf("rank %d: %s never returned", p.Rank, c.Name)
				}
				if len(c.In) != len(c.Out) {
					return fmt.Errorf("rank %d: %s has %d arguments at entry, %d at exit", p.Rank, c.Name, len(c.In), len(c.Out))
				}
				if c.Name == "MPI_Finalize" {
					finalize++
				}
			}
		}
		if finalize != 1 {
			return fmt.Errorf("rank %d: %d calls of MPI_Finalize", p.Rank, finalize)
		}
	}
	if first != ranks && (first > 0 || worldless != ranks) {
		return fmt.Errorf("logs of %d ranks, want %d", first, ranks)
	}
	return nil
}

var _ = os.Getenv
