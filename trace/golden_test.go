package trace

import (
	"flag"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const golden = "testdata/version1.spoor"

// A file of version 1, kept since the format was settled, still reads the same.
// Its bytes may change only if compression gets better; then run with -update
// and look at the text.
func TestGolden(t *testing.T) {
	if *update {
		if err := WriteFile(golden, sample(t), true); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(golden)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
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

// The schema dictionary is part of the format: traces out there need it.
func TestDictionaryIsFrozen(t *testing.T) {
	if got := crc32.Checksum(schemaDict, castagnoli); got != 0xe4eccb07 || len(schemaDict) != 7802 {
		t.Errorf("schema.dict has %d bytes with checksum %08x: it must never change", len(schemaDict), got)
	}
}

// The document lists every section and every type by number.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	for id, name := range sectionNames {
		if row := "| " + string(rune('0'+id)) + " | " + name + " |"; name != "" && id < 10 && !strings.Contains(doc, row) {
			t.Errorf("no row %q", row)
		}
	}
	for kind, name := range map[Type]string{
		None: "none", Int: "integer", Time: "time", Handle: "handle", Request: "request", Object: "tool object",
		Address: "address", FunctionRef: "function", String: "string",
	} {
		if row := "| " + string(rune('0'+kind)) + " | " + name + " |"; !strings.Contains(doc, row) {
			t.Errorf("no row %q", row)
		}
	}
}
