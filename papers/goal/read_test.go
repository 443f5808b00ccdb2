package goal

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const small = `// two ranks
num_ranks 2

rank 0 {
a: calc 827 /* a comment
that goes on */ b: send 10b to 1 tag 7 cpu 1 nic 2
  last : recv 5 b from -1 tag -1
b requires a
last irequires b   // at the end of a line, too
last requires a
}
rank 1 { recv 10b from 0 tag 7
x: calc 0 cpu 3 }
`

func read(t testing.TB, text string) *Schedule {
	t.Helper()
	s, err := Read(strings.NewReader(text), "x.goal")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// describe writes a schedule down with all that its methods tell.
func describe(s *Schedule) string {
	var out strings.Builder
	for rank := range s.Ranks() {
		from, to := s.Rank(rank)
		fmt.Fprintf(&out, "rank %d\n", rank)
		for op := from; op < to; op++ {
			fmt.Fprintf(&out, "%d %v needs %d, start %v, end %v\n", op, s.Ops[op], s.Needs(op), s.AfterStart(op), s.AfterEnd(op))
		}
	}
	return out.String()
}

func TestRead(t *testing.T) {
	want := `rank 0
0 calc 827 needs 0, start [], end [1 2]
1 send 10b to 1 tag 7 cpu 1 nic 2 needs 1, start [2], end []
2 recv 5b from -1 tag -1 needs 2, start [], end []
rank 1
3 recv 10b from 0 tag 7 needs 0, start [], end []
4 calc 0 cpu 3 needs 0, start [], end []
`
	if diff := cmp.Diff(want, describe(read(t, small))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, describe(read(t, strings.ReplaceAll(small, "\n", "\r\n")))); diff != "" {
		t.Error("with other ends of lines", diff)
	}
}

func TestOpen(t *testing.T) {
	plain, packed := filepath.Join(t.TempDir(), "x.goal"), filepath.Join(t.TempDir(), "x.goal.gz")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte(small))
	w.Close()
	os.WriteFile(plain, []byte(small), 0o666)
	os.WriteFile(packed, z.Bytes(), 0o666)
	for _, path := range []string{plain, packed} {
		s, err := Open(path)
		if err != nil || len(s.Ops) != 5 {
			t.Error(path, s, err)
		}
	}
	os.WriteFile(packed, z.Bytes()[:z.Len()-9], 0o666)
	if _, err := Open(packed); err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Error("a file that was cut off:", err)
	}
}

func TestReadErrors(t *testing.T) {
	rank := func(lines ...string) string { return "num_ranks 1\nrank 0 {\n" + strings.Join(lines, "\n") + "\n}\n" }
	for _, c := range []struct{ text, want string }{
		{"", "x.goal:0: num_ranks is missing"},
		{"rank 0 {\n}", "x.goal:1: rank 0 before num_ranks"},
		{"num_ranks 4294967295", "x.goal:1: num_ranks 4294967295: at most 4294967294 is possible"},
		{"num_ranks 99999999999999999999", "x.goal:1: num_ranks 99999999999999999999: at most 4294967294 is possible"},
		{"num_ranks 4000000000\n", "x.goal:1: the file ends after 0 of 4000000000 ranks"},
		{"num_ranks 1 num_ranks 1", "x.goal:1: num_ranks a second time"},
		{"num_ranks 1\nrank 1 {", "x.goal:2: rank 1, where rank 0 is expected"},
		{"num_ranks 1\nrank 0 {}\nrank 1 {}", "x.goal:3: rank 1, but num_ranks is 1"},
		{"num_ranks 2\nrank 0 {\nrank 1 {", "x.goal:3: rank 1 inside rank 0: } is missing"},
		{"num_ranks 1\nrank 0 {\nl1: calc 5\n", "x.goal:3: the file ends inside rank 0: } is missing"},
		{"num_ranks 1\nrank 0\nl1: calc 5\n", `x.goal:2: "" after rank 0, where { is expected`},
		{"num_ranks 1\n/*", "x.goal:2: the file ends inside a comment"},
		{"num_ranks 1\ncalc 5", `x.goal:2: "calc" outside of a rank`},
		{"num_ranks 1\n}", `x.goal:2: "}" outside of a rank`},
		{rank("l1: calc"), `x.goal:3: "" after calc, where a number is expected`},
		{rank("l1: calc -5"), `x.goal:3: "-5" after calc, where a number is expected`},
		{rank("l1: calc 9223372036854775808"), "x.goal:3: calc 9223372036854775808: at most 9223372036854775807 is possible"},
		{rank("l1: calc 5 tag 3"), `x.goal:3: "tag" at the end of an operation`},
		{rank("l1: jump 5"), `x.goal:3: "jump", where send, recv or calc is expected`},
		{rank("l1: calc 5", "l1: calc 5"), "x.goal:4: rank 0 has a label l1 already"},
		{rank("l1 calc 5"), `x.goal:3: "calc" after label l1, where :, requires or irequires is expected`},
		{rank("l1: send 5 to 0"), `x.goal:3: "to", where b is expected`},
		{rank("l1: send 5b from 0"), `x.goal:3: "from", where to is expected`},
		{rank("l1: send 5b to 1"), "x.goal:3: to 1: at most 0 is possible"},
		{rank("l1: send 5b to -1"), `x.goal:3: "-1" after to, where a number is expected`},
		{rank("l1: send 5b to 0 tag -1"), `x.goal:3: "-1" after tag, where a number is expected`},
		{rank("l1: recv 5b from 0 tag 4294967295"), "x.goal:3: tag 4294967295: at most 4294967294 is possible"},
		{rank("l1: recv 5b from 0 cpu 256"), "x.goal:3: cpu 256: at most 255 is possible"},
		{rank("l1: calc 5", "l1 requires l2", "l2: calc 5"), `x.goal:4: rank 0 has no label "l2" up to here`},
		{rank("l1: calc 5", "l1 requires l1 l1"), `x.goal:4: "l1" at the end of a dependency`},
		{rank("5: calc 5"), `x.goal:3: "5", where a label, send, recv, calc or } is expected`},
		{rank("// " + strings.Repeat("x", longestLine)), "x.goal:3: a line of more than 65536 bytes"},
	} {
		_, err := Read(strings.NewReader(c.text), "x.goal")
		if err == nil || err.Error() != c.want {
			t.Errorf("%.60q: got %v, want %s", c.text, err, c.want)
		}
	}
}

func TestWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Builder
		ranks := rapid.IntRange(0, 4).Draw(t, "ranks")
		for range ranks {
			b.BeginRank()
			var ops []uint32
			for range rapid.IntRange(0, 6).Draw(t, "ops") {
				o := Op{
					Kind: Kind(rapid.IntRange(1, 3).Draw(t, "kind")), Size: rapid.Uint64Range(0, 1<<63-1).Draw(t, "size"),
					CPU: rapid.Byte().Draw(t, "cpu"), NIC: rapid.Byte().Draw(t, "nic"),
				}
				if o.Kind != Calc {
					o.Peer, o.Tag = uint32(rapid.IntRange(0, ranks-1).Draw(t, "peer")), rapid.Uint32Range(0, AnyPeerOrTag-1).Draw(t, "tag")
				}
				if o.Kind == Recv && rapid.Bool().Draw(t, "any") {
					o.Peer, o.Tag = AnyPeerOrTag, AnyPeerOrTag
				}
				op, err := b.Add(o)
				if err != nil {
					t.Fatal(err)
				}
				ops = append(ops, op)
			}
			for range rapid.IntRange(0, 2*len(ops)).Draw(t, "edges") {
				op, other := rapid.SampledFrom(ops).Draw(t, "op"), rapid.SampledFrom(ops).Draw(t, "other")
				wait := b.AfterEnd
				if rapid.Bool().Draw(t, "start") {
					wait = b.AfterStart
				}
				if err := wait(op, other); err != nil {
					t.Fatal(err)
				}
			}
		}
		s := b.Schedule()
		var text bytes.Buffer
		if err := s.Write(&text); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&text, "written")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(describe(s), describe(again)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("num_ranks 4294967294\nrank 0 {\nl: recv 1b from -1\nl requires l\n}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Read(bytes.NewReader(text), "x")
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := s.Write(&out); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&out, "written")
		if err != nil {
			t.Fatal(err)
		}
		if a, b := describe(s), describe(again); a != b {
			t.Fatalf("%s\nis written as\n%s", a, b)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	text.WriteString("num_ranks 1\nrank 0 {\n")
	for i := range 20000 {
		fmt.Fprintf(&text, "l%d: send %db to 0 tag 1\n", i, i)
	}
	for i := range 20000 - 1 {
		fmt.Fprintf(&text, "l%d requires l%d\n", i+1, i)
	}
	text.WriteString("}\n")
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Read(strings.NewReader(text.String()), "x"); err != nil {
			b.Fatal(err)
		}
	}
}
