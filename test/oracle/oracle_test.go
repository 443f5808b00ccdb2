package oracle

import (
	"fmt"
	"os"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// The oracle itself has to be transparent, and its logs complete: else what it
// says of the recorder is worth nothing.
func TestOracleAlone(t *testing.T) {
	for _, m := range mpis.Need(t) {
		for _, p := range mpis.NeedPrograms(t) {
			if !p.RunsOn(m) || !sampled(p, 5) && os.Getenv("SPOOR_TEST_RANKS") != "all" {
				continue
			}
			t.Run(m.Name+"/"+p.Name, func(t *testing.T) {
				t.Parallel()
				ranks := p.Ranks[min(1, len(p.Ranks)-1)]
				dir := t.TempDir()
				plain := launch(p, m, ranks)
				if plain.Err != nil {
					t.Fatalf("without the oracle: %v", plain)
				}
				logged := launch(p, m, ranks, "LD_PRELOAD="+preload(t, m), "ORACLE_DIR="+dir)
				if logged.Err != nil {
					t.Fatalf("with the oracle: %v", logged)
				}
				if plain.Stdout != logged.Stdout && !p.Nondet {
					t.Errorf("output changed from\n%s\nto\n%s", plain.Stdout, logged.Stdout)
				}
				if plain.Stderr != logged.Stderr {
					t.Errorf("standard error changed from\n%s\nto\n%s", plain.Stderr, logged.Stderr)
				}
				list, err := ReadLogs(dir)
				if err != nil {
					t.Fatal(err)
				}
				if err := checkLogs(list, ranks); err != nil {
					t.Error(err)
				}
				noteCalls(m, list)
			})
		}
	}
}

// checkLogs tests what holds for the logs of any program that ends well: it has
// all ranks, or as many processes if they never had a common world.
func checkLogs(list []*Process, ranks int) error {
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
