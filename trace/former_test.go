package trace

import (
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/mpi"
)

// Traces of format 2 hold some constants under the numbers of a draft of the standard.
func TestFormerConstants(t *testing.T) {
	handler, _ := mpi.Lookup("MPI_Comm_set_errhandler")
	send, _ := mpi.Lookup("MPI_Send")
	var terms sections.List
	b := grammar.NewBuilder()
	for i, vals := range [][]int64{{0, 257, 0x142}, {0, 0, 0, 4, 0x2c3, 1, 7, 257}} {
		term := sections.Terminal{Call: []uint16{handler.ID, send.ID}[i], Times: Times{Duration: stat(1, 5, 5, 5)}}
		for _, v := range vals {
			term.Vals = append(term.Vals, column.Of(v))
		}
		terms = append(terms, term)
		b.Append(uint32(i))
	}
	class := sections.Class{Ranks: column.Of(0), Terminals: terms, Streams: []*grammar.Grammar{b.Grammar()}}
	c := &sections.Content{Ranks: 1, Classes: []sections.Class{class}, Meta: map[string]string{}}
	c.Processes.Append(Process{Host: "n0", PID: 100, End: "finished", Threads: 1, SpanNs: 1e9, Calls: 2})
	file, err := sections.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	for former, want := range map[bool][]string{
		true:  {"errhandler=MPI_ERRORS_RETURN", "datatype=MPI_CHARACTER"},
		false: {"errhandler=MPI_ERRORS_ABORT"},
	} {
		r := mustOpen(t, file)
		r.former = former
		text, err := dump(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("former %v: no %s in\n%s", former, w, text)
			}
		}
	}
}

func mustOpen(t *testing.T, file []byte) *Reader {
	t.Helper()
	r, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
