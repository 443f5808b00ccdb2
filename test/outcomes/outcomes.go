// Package outcomes keeps how the programs of a long test came out in a file, so that
// the test can be made in pieces: what stands there is not run again. It does not say
// what an outcome is worth.
//
// For a test whose variables begin with PREFIX, PREFIX_RESULTS names the file, and a
// piece begins no program once PREFIX_SECONDS have passed. A line has five columns
// between tabs: MPI, program, ranks, outcome, and why, quoted.
package outcomes

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A File is the outcomes of one test.
type File struct {
	prefix string
	begun  time.Time

	mu   sync.Mutex
	done map[string]bool // nil: not read yet
}

// Of returns the file of the test whose variables begin with prefix.
func Of(prefix string) *File { return &File{prefix: prefix, begun: time.Now()} }

func (f *File) path() string { return os.Getenv(f.prefix + "_RESULTS") }

func key(mpi, program string, ranks int) string {
	return mpi + "\t" + program + "\t" + strconv.Itoa(ranks)
}

// Known reports whether the outcome stands in the file.
func (f *File) Known(mpi, program string, ranks int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done == nil {
		f.done = make(map[string]bool)
		if r, err := os.Open(f.path()); err == nil {
			defer r.Close()
			in := bufio.NewScanner(r)
			in.Buffer(nil, 1<<20)
			for in.Scan() {
				if w := strings.SplitN(in.Text(), "\t", 4); len(w) == 4 {
					f.done[strings.Join(w[:3], "\t")] = true
				}
			}
		}
	}
	return f.done[key(mpi, program, ranks)]
}

// Late reports whether the piece is over.
func (f *File) Late() bool {
	n, err := strconv.Atoi(os.Getenv(f.seconds()))
	return err == nil && time.Since(f.begun) > time.Duration(n)*time.Second
}

func (f *File) seconds() string { return f.prefix + "_SECONDS" }

// InTime leaves out what would begin when the piece is over. Without PREFIX_SECONDS, as in CI, it never is.
func (f *File) InTime(t testing.TB) {
	t.Helper()
	if f.Late() {
		t.Skipf("%s=%s are over", f.seconds(), os.Getenv(f.seconds()))
	}
}

// Note appends an outcome.
func (f *File) Note(t testing.TB, mpi, program string, ranks int, what, why string) {
	t.Helper()
	if f.path() == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w, err := os.OpenFile(f.path(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := fmt.Fprintf(w, "%s\t%s\t%q\n", key(mpi, program, ranks), what, why); err != nil {
		t.Fatal(err)
	}
}
