package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/mpi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden is a file of the version that is written now; what is in it stands beside it.
const golden = "testdata/golden.spoor"

// latest is what the golden file holds: a sample, and on
// rank 1 displacements that are left out.
func latest(t *testing.T) *sections.Content {
	c := sample(t)
	call, _ := mpi.CallNamed("MPI_Alltoallv")
	exchange := sections.Terminal{FunctionID: call.ID, Site: 1, Times: Times{Duration: stat(1, 50, 50, 50), Gap: stat(1, 7, 7, 7)}}
	for _, v := range []int64{0, 1<<8 | 1, 0, 4, 5, 6, 0, 2, -10, 1, 0, 0, 0, 0x209, 2<<8 | 1, 0, 4, 5, 6, 0, 2, 4, 0, 5, 12, 11, 0x209, 257} {
		exchange.Values = append(exchange.Values, column.ColumnOf(v))
	}
	single := &c.Classes[1]
	single.Terminals = append(single.Terminals.(sections.TerminalList), exchange)
	b := grammar.NewBuilder()
	b.Append(0)
	b.Append(1)
	single.Streams = []*grammar.Grammar{b.Grammar()}
	return c
}

// A file kept since the format was settled still reads the same. Its bytes may change only if compression gets better; then run with
// -update and look at the text.
func TestGolden(t *testing.T) {
	if *update {
		b, err := sections.EncodeFile(latest(t))
		if err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		if err := container.WriteCopyWithSection(&all, bytes.NewReader(b), int64(len(b)), container.SectionWhen, sections.AppendWhen(nil, sampleWhen())); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, all.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(r); err != nil {
		t.Fatal(err)
	}
	all, err := dump(r)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for i, line := range strings.SplitAfter(all, "\n") {
		if i < 40 || i > 290 && i < 330 { // the loops in between say nothing new
			got += line
		}
	}
	w, err := r.When()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	got += string(text) + "\n"
	if *update {
		if err := os.WriteFile(golden+".txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

// Versions that nobody knows are refused.
func TestVersions(t *testing.T) {
	file := encoded(t)
	for _, v := range []byte{0, container.FormatVersion + 1, 7, 255} {
		file[len(container.FileMagic)] = v
		if _, err := open(file); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "version") {
			t.Errorf("version %d: error %v", v, err)
		}
	}
}

// The document lists every section and every type by number.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	for id, name := range container.SectionNames {
		if row := fmt.Sprintf("| %d | %s |", id, name); name != "" && !strings.Contains(doc, row) {
			t.Errorf("no row %q", row)
		}
	}
	for kind, name := range map[Type]string{
		TypeNone: "none", TypeInt: "integer", TypeTime: "time", TypeHandle: "handle", TypeRequest: "request", TypeMPITObject: "tool object",
		TypeAddress: "address", TypeFunctionRef: "function", TypeString: "string",
	} {
		if row := "| " + string(rune('0'+kind)) + " | " + name + " |"; !strings.Contains(doc, row) {
			t.Errorf("no row %q", row)
		}
	}
}
