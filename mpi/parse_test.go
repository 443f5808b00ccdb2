package mpi

import (
	"strings"
	"testing"
)

const sample = `
# a comment
section 3.2 Blocking send and receive
call 1 MPI_Send regular
  buf       in   buffer
  count     in   count
  datatype  in   datatype
  dest      in   rank
  comm      in   comm   # last
large 2 MPI_Send_c
section 7.4 Somewhere
call 5 MPI_Testsome irregular completes local
  incount            in    int
  array_of_requests  inout request[incount]
  outcount           out   int
  array_of_indices   out   index[outcount]
call 4 MPI_Graph_create regular creates-comm collective
  comm   in  comm
  nnodes in  int
  index  in  int[nnodes]
  edges  in  int[last(index)]
  weights in int[3*nnodes+size(comm)] only-root unless-inplace(buf)
  buf    in  buffer
  flag   out logical
  name   out string[MPI_MAX_OBJECT_NAME] if(flag)
  argvs  in  string[nnodes,null]
call 3 MPI_Wtime unwrapped "not a (message) passing call" local returns time
call 9 MPI_Comm_free regular
  comm free comm
`

func TestParseCalls(t *testing.T) {
	table, err := parseCalls("sample", sample)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range table.list {
		names = append(names, c.Name)
	}
	want := "MPI_Send MPI_Send_c MPI_Wtime MPI_Graph_create MPI_Testsome MPI_Comm_free"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("calls by id:\n got %s\nwant %s", got, want)
	}
	send, large := table.byName["MPI_Send"], table.byName["MPI_Send_c"]
	if send.Section != "3.2" || send.SectionTitle != "Blocking send and receive" {
		t.Errorf("section %q %q", send.Section, send.SectionTitle)
	}
	if !large.Large || large.SmallForm != send || send.LargeForm != large || len(large.Params) != 5 {
		t.Errorf("large form: %+v", large)
	}
	count := &large.Params[1]
	if send.Width(count) != Width32 || large.Width(count) != Width64 {
		t.Errorf("count is %d and %d bits wide", send.Width(count), large.Width(count))
	}
	wtime := table.byName["MPI_Wtime"]
	if wtime.WrapperClass != WrapperAbsent || wtime.UnwrappedReason != "not a (message) passing call" || wtime.ReturnKind != KindTime || !wtime.Has(AttrLocal) {
		t.Errorf("wtime: %+v", wtime)
	}
	graph := table.byName["MPI_Graph_create"]
	if graph.Attrs.String() != "creates-comm collective" {
		t.Errorf("attributes %q", graph.Attrs)
	}
	weights := graph.Params[4]
	if got := weights.Len.String(); got != "3*nnodes+size(comm)" || !weights.OnlyRoot || weights.IgnoredIfInPlace != "buf" {
		t.Errorf("weights: %s %+v", got, weights)
	}
	name := graph.Params[7]
	if name.Array || name.Len.String() != "MPI_MAX_OBJECT_NAME" || name.ValidIfNonZero != "flag" {
		t.Errorf("name: %+v", name)
	}
	if argvs := graph.Params[8]; !argvs.Array || argvs.InnerLen != (NullTerminatedExpr{}) {
		t.Errorf("argvs: %+v", argvs)
	}
	some := table.byName["MPI_Testsome"]
	if r := &some.Params[1]; !r.HasEnterPart() || r.HasLeavePart() || !r.IsPassedByAddress() {
		t.Errorf("inout requests: in %v out %v", r.HasEnterPart(), r.HasLeavePart())
	}
	if c := &table.byName["MPI_Comm_free"].Params[0]; !c.HasEnterPart() || c.HasLeavePart() {
		t.Errorf("freed handle: in %v out %v", c.HasEnterPart(), c.HasLeavePart())
	}
}

func TestParseCallsErrors(t *testing.T) {
	const head = "section 1 A\ncall 1 MPI_A regular\n"
	tests := []struct{ text, want string }{
		{"", "x:2: no calls"},
		{"call 1 MPI_A regular", "x:1: MPI_A is in no section"},
		{"section 1", "x:1: section needs"},
		{"nonsense", `x:1: unknown line "nonsense"`},
		{"  a in int", `x:1: parameter "a" outside a call`},
		{"section 1 A\ncall 0 MPI_A regular", `x:2: "0" is no id`},
		{"section 1 A\ncall 70000 MPI_A regular", `x:2: "70000" is no id`},
		{"section 1 A\ncall 1 PMPI_A regular", `x:2: "PMPI_A" is no MPI function`},
		{"section 1 A\ncall 1 MPI_A simple", `x:2: unknown class "simple"`},
		{"section 1 A\ncall 1 MPI_A unwrapped", "x:2: MPI_A: an unwrapped call"},
		{"section 1 A\ncall 1 MPI_A regular \"why\"", "x:2: MPI_A: an unwrapped call"},
		{"section 1 A\ncall 1 MPI_A unwrapped \"why", "x:2: unterminated quote"},
		{"section 1 A\ncall 1 MPI_A regular shiny", `x:2: unknown attribute "shiny"`},
		{"section 1 A\ncall 1 MPI_A regular returns", "x:2: returns what?"},
		{"section 1 A\ncall 1 MPI_A regular returns thing", `x:2: unknown kind "thing"`},
		{head + "call 1 MPI_B regular", "x:3: id 1 of MPI_B is taken by line 2"},
		{head + "call 2 MPI_A regular", "x:3: MPI_A appears twice"},
		{head + "large 2 MPI_B_c", "x:3: MPI_B_c is not the large form of MPI_A"},
		{head + "large 2 MPI_A_c\nlarge 3 MPI_A_c_c", "x:4: MPI_A_c_c: a large form follows"},
		{head + "large 2 MPI_A_c\n  a in int", `x:4: parameter "a" after a large form`},
		{head + "  a in", "x:3: parameter needs"},
		{head + "  a upwards int", `x:3: a: unknown direction "upwards"`},
		{head + "  a in limit", `x:3: a: unknown kind "limit"`},
		{head + "  a in int\n  a in int", "x:4: parameter a appears twice"},
		{head + "  a free int", "x:3: a: only handles can be freed"},
		{head + "  a in int[3", "x:3: unbalanced brackets"},
		{head + "  a in int[3-b]", `x:3: a: length "3-b"`},
		{head + "  a in int[area(b)]", `x:3: a: length "area(b)": unknown property "area"`},
		{head + "  a in int sometimes", `x:3: a: unknown modifier "sometimes"`},
		{head + "  a in int[b]", `x:4: MPI_A (line 2): a: length names no parameter "b"`},
		{head + "  a in int[b]\n  b in comm", "x:5: MPI_A (line 2): a: length b is no integer"},
		{head + "  a in int[sum(b)]\n  b in int", "x:5: MPI_A (line 2): a: length sum(b): b is no array"},
		{head + "  a in int[size(b)]\n  b in int", "x:5: MPI_A (line 2): a: length size(b): b is no comm"},
		{head + "  a out int[b] written(nodes(b))\n  b in int", "x:5: MPI_A (line 2): a: length nodes(b): b is no comm"},
		{head + "  a out int[b] written(cvars(c))\n  b in int\n  c in comm", "x:6: MPI_A (line 2): a: length cvars(c): c is no int"},
		{head + "  a out int[b] written(neighbors(c,b))\n  b in int\n  c in comm", "x:6: MPI_A (line 2): a: length neighbors(c,b): b is no rank"},
		{head + "  a out int[b] written(neighbors(c))\n  b in int\n  c in comm", `x:3: a: length "neighbors(c)": "neighbors(c)": neighbors alone has a communicator and a rank`},
		{head + "  a in int[b] written(nodes(c))\n  b in int\n  c in comm", "x:6: MPI_A (line 2): a: written(nodes(c)), but this is no array that comes out"},
		{head + "  a out int if(b)\n  b in int", "x:5: MPI_A (line 2): a: if(b) names no output"},
		{head + "  a in int unless-inplace(b)\n  b in int", "x:5: MPI_A (line 2): a: unless-inplace(b) names no buffer"},
		{head + "  a out string", "x:4: MPI_A (line 2): a: an output string needs a capacity"},
		{head + "  a in int large-only", "x:4: MPI_A (line 2): a: large-only, but there is no large form"},
	}
	for _, test := range tests {
		_, err := parseCalls("x", test.text)
		if err == nil {
			t.Errorf("no error for %q, want %q", test.text, test.want)
		} else if !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q:\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

func TestLargeOnly(t *testing.T) {
	table, err := parseCalls("x", "section 1 A\ncall 1 MPI_A regular\n  a in int\n  b in int large-only\nlarge 2 MPI_A_c\n")
	if err != nil {
		t.Fatal(err)
	}
	if small, large := table.list[0], table.list[1]; len(small.Params) != 1 || len(large.Params) != 2 {
		t.Errorf("%d parameters, %d in the large form; want 1 and 2", len(small.Params), len(large.Params))
	}
}

func TestKinds(t *testing.T) {
	names := make(map[string]Kind)
	for _, k := range Kinds() {
		if k.Name() == "" {
			t.Errorf("kind %d has no name", uint8(k))
		}
		if other, ok := names[k.Name()]; ok {
			t.Errorf("kinds %d and %d are both called %s", uint8(other), uint8(k), k)
		}
		names[k.Name()] = k
		if got, ok := KindNamed(k.Name()); !ok || got != k {
			t.Errorf("KindNamed(%q) = %v, %v", k.Name(), got, ok)
		}
		if k.ValueForm() == ValueFormInt && k.Width(false) != Width32 && k.Width(false) != Width64 {
			t.Errorf("%s: an integer of width %d", k, k.Width(false))
		}
	}
	if len(attrNames) != attrCount() {
		t.Errorf("%d attributes, %d names", attrCount(), len(attrNames))
	}
}

func attrCount() int {
	n := 0
	for a := Attr(1); a != attrEnd; a <<= 1 {
		n++
	}
	return n
}
