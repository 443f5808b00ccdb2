package standard

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
)

// probe is what a header says of a constant.
type probe struct {
	value int64
	text  string // the macro's expansion
}

// probeConstants asks an MPI's header for all constants of the table that it has.
func probeConstants(t *testing.T, l library) map[string]probe {
	words := wordSet(l.preprocess(t))
	var b strings.Builder
	b.WriteString("#include <mpi.h>\n#include <stdio.h>\n#define TEXT_(x) #x\n#define TEXT(x) TEXT_(x)\nint main(void) {\n")
	for _, c := range mpi.AllConstants() {
		line := fmt.Sprintf("printf(\"%s %%lld %%s\\n\", (long long)(%s), TEXT(%s));\n", c.Name, c.Name, c.Name)
		if !words[c.Name] { // no enumerator: a macro, if anything
			line = "#ifdef " + c.Name + "\n" + line + "#endif\n"
		}
		b.WriteString(line)
	}
	b.WriteString("return 0; }\n")
	found := make(map[string]probe)
	for line := range strings.Lines(l.run(t, b.String())) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		number, text, _ := strings.Cut(rest, " ")
		value, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			t.Fatalf("probe said %q", line)
		}
		found[name] = probe{value, text}
	}
	return found
}

func wordSet(text string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range regexp.MustCompile(`\w+`).FindAllString(text, -1) {
		set[w] = true
	}
	return set
}

var addressed = regexp.MustCompile(`&\s*\(?(ompi_\w+)`)

func TestConstants(t *testing.T) {
	each(t, func(t *testing.T, l library) {
		found := probeConstants(t, l)
		if len(found) < 250 {
			t.Errorf("the header has only %d of the constants", len(found))
		}
		for _, c := range mpi.AllConstants() {
			p, ok := found[c.Name]
			if !ok {
				continue // newer than the library
			}
			if want := c.SymbolIn(l.flavour); want != "" {
				if m := addressed.FindStringSubmatch(p.text); m == nil || m[1] != want {
					t.Errorf("%s is %s, want the address of %s", c.Name, p.text, want)
				}
				continue
			}
			want, ok := c.ValueIn(l.flavour)
			if !ok {
				t.Errorf("%s is %#x, and the table says there is none", c.Name, p.value)
				continue
			}
			got := p.value
			if c.Kinds[0].IsHandle() && mpi.LayoutOf(l.flavour).HandleSize(c.Kinds[0]) == 4 {
				got = int64(uint32(got))
			}
			if got != want && !unsupported(l, c, got) {
				t.Errorf("%s is %#x, want %#x", c.Name, got, want)
			}
		}
	})
}

// unsupported reports whether the library gives the null handle for a datatype
// that its compiler lacks.
func unsupported(l library, c mpi.Constant, got int64) bool {
	null, _ := mpi.ConstantNamed("MPI_DATATYPE_NULL")
	v, ok := null.ValueIn(l.flavour)
	return c.Kinds[0] == mpi.KindDatatype && ok && got == v
}

// unlisted are names that look like constants and are none that a parameter
// can hold, or that a library has beyond the standard.
var unlisted = regexp.MustCompile(strings.Join([]string{
	`^MPI_(VERSION|SUBVERSION|Fint|(PROTO_H_)?INCLUDED|H_ABI|FILE_DEFINED|ABI_\w+)$`,
	`^MPI_AINT_FMT_\w+$`,
	`_T$`,               // MPICH numbers its functions
	`_FN(_NULL)?(_C)?$`, // predefined functions
	`^MPI_(BOTTOM|IN_PLACE|ARGVS?_NULL|BUFFER_AUTOMATIC|UNWEIGHTED|WEIGHTS_EMPTY)$`, // see Layout
	`^MPI_(STATUS|STATUSES|ERRCODES)_IGNORE$`,
	`^MPI_F_(STATUS_SIZE|SOURCE|TAG|ERROR)$`,
	`^MPI_F(08)?_STATUS(ES)?_IGNORE$`,
	`^MPI_T_(\w+_)?(NULL|ALL_HANDLES)$`, // tool objects are opaque
	`^MPI_T_\w+_INVALID$`,               // MPICH's zeroes of its enums
	`^MPI_ATTR_PREDEFINED_KEY_MAX$`,
	`^MPI_FT$`,           // see constants.txt
	`^MPI_INFO_KEY_\w+$`, // strings
}, "|"))

var enumerator = regexp.MustCompile(`\b(MPI_(?:T_)?[A-Z0-9][A-Z0-9_]*)\s*(?:=\s*[-\w]+\s*)?[,}]`)
var macro = regexp.MustCompile(`(?m)^#define (MPI_[A-Z0-9][A-Z0-9_]*) (.*)$`)

// TestConstantsAreComplete looks for constants of the headers that the table lacks.
func TestConstantsAreComplete(t *testing.T) {
	each(t, func(t *testing.T, l library) {
		names := make(map[string]bool)
		for _, enum := range regexp.MustCompile(`(?s)\benum\b[^{;()]*\{.*?\}`).FindAllString(l.preprocess(t), -1) {
			for _, m := range enumerator.FindAllStringSubmatch(enum, -1) {
				names[m[1]] = true
			}
		}
		for _, m := range macro.FindAllStringSubmatch(l.macros(t), -1) {
			names[m[1]] = true
		}
		if len(names) < 250 {
			t.Errorf("found only %d constants in the header", len(names))
		}
		for name := range names {
			if _, ok := mpi.ConstantNamed(name); !ok && !unlisted.MatchString(name) {
				t.Errorf("constants.txt lacks %s", name)
			}
		}
	})
}

// TestLayout compares sizes, offsets and sentinels.
func TestLayout(t *testing.T) {
	each(t, func(t *testing.T, l library) {
		want := mpi.LayoutOf(l.flavour)
		var b strings.Builder
		b.WriteString("#include <mpi.h>\n#include <stdio.h>\n#include <stddef.h>\nint main(void) {\n")
		say := func(name, expr string) {
			fmt.Fprintf(&b, "printf(\"%s %%lld\\n\", (long long)(%s));\n", name, expr)
		}
		expect := make(map[string]int64)
		number := func(name, expr string, v int64) { expect[name] = v; say(name, expr) }
		number("status", "sizeof(MPI_Status)", int64(want.Status.SizeBytes))
		number("source", "offsetof(MPI_Status, MPI_SOURCE)", int64(want.Status.SourceOffset))
		number("tag", "offsetof(MPI_Status, MPI_TAG)", int64(want.Status.TagOffset))
		number("error", "offsetof(MPI_Status, MPI_ERROR)", int64(want.Status.ErrorOffset))
		switch want.Status.CountForm {
		case mpi.StatusCountSplit:
			number("count", "offsetof(MPI_Status, count_lo)", 0)
			number("cancelled", "offsetof(MPI_Status, count_hi_and_cancelled)", 4)
		case mpi.StatusCountWord:
			number("cancelled", "offsetof(MPI_Status, _cancelled)", 12)
			number("count", "offsetof(MPI_Status, _ucount)", 16)
		}
		for _, h := range []struct{ ctype, kind string }{{"Comm", "comm"}, {"Group", "group"}, {"Datatype", "datatype"},
			{"Op", "op"}, {"Request", "request"}, {"Message", "message"}, {"Win", "win"}, {"File", "file"},
			{"Info", "info"}, {"Errhandler", "errhandler"}} {
			kind, _ := mpi.KindNamed(h.kind)
			number(h.kind, "sizeof(MPI_"+h.ctype+")", int64(want.HandleSize(kind)))
		}
		c := want.CSentinels
		for _, s := range []struct {
			name string
			s    mpi.Sentinel
		}{
			{"MPI_BOTTOM", c.Bottom}, {"MPI_IN_PLACE", c.InPlace}, {"MPI_BUFFER_AUTOMATIC", c.BufferAutomatic},
			{"MPI_STATUS_IGNORE", c.StatusIgnore}, {"MPI_STATUSES_IGNORE", c.StatusesIgnore},
			{"MPI_UNWEIGHTED", c.Unweighted}, {"MPI_WEIGHTS_EMPTY", c.WeightsEmpty},
			{"MPI_ERRCODES_IGNORE", c.ErrcodesIgnore}, {"MPI_ARGV_NULL", c.ArgvNull}, {"MPI_ARGVS_NULL", c.ArgvsNull},
		} {
			if s.s.Form == mpi.SentinelValue {
				b.WriteString("#ifdef " + s.name + "\n")
				number(s.name, "(ptrdiff_t)"+s.name, s.s.Value)
				b.WriteString("#endif\n")
			} else { // a pointer object of that very name
				number(s.name, "sizeof(*&"+s.name+") == sizeof(void *) && &"+s.name+" != 0", 1)
			}
		}
		b.WriteString("return 0; }\n")
		seen := 0
		for line := range strings.Lines(l.run(t, b.String())) {
			name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
			if got := fmt.Sprint(expect[name]); got != number {
				t.Errorf("%s is %s, want %s", name, number, got)
			}
			seen++
		}
		if seen < 22 {
			t.Errorf("compared only %d numbers", seen)
		}
	})
}
