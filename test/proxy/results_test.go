package proxy

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Long runs: SPOOR_TEST_PROXY_TIMES repeats each program, SPOOR_TEST_PROXY_KEEP
// is a folder for traces and proxies that differ, SPOOR_TEST_PROXY_RESULTS a file
// that outcomes are appended to. What stands there already is not run again, so
// that a run can be made in pieces; `go run ./bench/proxy -results FILE` counts.

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

var results struct {
	sync.Mutex
	read bool
	done map[string]bool
}

func resultKey(mpi, program, ranks string) string { return mpi + "\t" + program + "\t" + ranks }

// known reports whether the outcome stands in the results file.
func known(mpi, program, ranks string) bool {
	results.Lock()
	defer results.Unlock()
	if !results.read {
		results.read = true
		results.done = make(map[string]bool)
		if f, err := os.Open(os.Getenv("SPOOR_TEST_PROXY_RESULTS")); err == nil {
			defer f.Close()
			for in := bufio.NewScanner(f); in.Scan(); {
				if w := strings.SplitN(in.Text(), "\t", 4); len(w) == 4 {
					results.done[resultKey(w[0], w[1], w[2])] = true
				}
			}
		}
	}
	return results.done[resultKey(mpi, program, ranks)]
}

// note appends an outcome to the results file.
func note(t *testing.T, mpi, program, ranks string, got outcome, why string) {
	t.Helper()
	name := os.Getenv("SPOOR_TEST_PROXY_RESULTS")
	if name == "" {
		return
	}
	results.Lock()
	defer results.Unlock()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\t%s\t%s\n", resultKey(mpi, program, ranks), got, strconv.Quote(why))
}
