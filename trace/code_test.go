package trace

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

func sampleCode() *Code {
	return &Code{
		Vertices: []Vertex{
			{Kind: FunctionVertex, Parent: -1, Name: "main", RecursionOf: -1},
			{Kind: LoopVertex, Parent: 0, File: "main.c", Line: 12, Offset: 0x1204, RecursionOf: -1, RoundsAreLowerBound: true},
			{Kind: FunctionVertex, Parent: 1, Name: "step", File: "main.c", Line: 13, Offset: 0x1210, Inlined: []string{"pack halo.h:3"}, RecursionOf: -1},
			{Kind: FunctionVertex, Parent: 2, Name: "step", Offset: 0x1100, RecursionOf: 2, TailCall: true},
			{Kind: CallVertex, Parent: 3, Name: "MPI_Send", Offset: 0x1120, RecursionOf: -1},
			{Kind: LoopVertex, Parent: 1, Offset: 0x1000, RecursionOf: -1, EntriesAreLowerBound: true},
			{Kind: CallVertex, Parent: 5, Name: "MPI_Send", File: "main.c", Line: 20, Offset: 0x1300, RecursionOf: -1},
		},
		CallSiteVertices:    []CallSiteVertex{{FunctionID: 5, SiteIndex: 0, VertexIndex: 4}, {FunctionID: 5, SiteIndex: 1, VertexIndex: 6}},
		ExplicitTransitions: []CallTransition{{FromVertex: 4, ToVertex: 4, Loop: 1}, {FromVertex: 6, ToVertex: 6, Loop: 2}, {FromVertex: 6, ToVertex: 4, Loop: UnknownIteratedLoop}},
		ExclusivePairs:      [][2]int{{2, 5}},
	}
}

// sampleCalls are those of a trace with sampleCode.
func sampleCalls() []sections.CodeCall {
	return []sections.CodeCall{
		{FunctionID: 5, SiteIndex: 1, Name: "MPI_Send", Location: Site{Offset: 0x1300}},
		{FunctionID: 5, SiteIndex: 0, Name: "MPI_Send", Location: Site{Offset: 0x1120, Caller: &Site{Offset: 0x1210}}},
	}
}

func TestCodeIsReadAsWritten(t *testing.T) {
	c := sampleCode()
	b := sections.AppendCode(c, sampleCalls(), nil)
	r := wire.NewReader(b, "code")
	got := sections.DecodeCode(r, sampleCalls())
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c, got); d != "" {
		t.Error(d)
	}
	if got.VertexOf(5, 1) != 6 || got.VertexOf(5, 2) != -1 || got.VertexOf(4, 1) != -1 {
		t.Error("contexts aren't found")
	}
	if d := cmp.Diff(b, sections.AppendCode(got, sampleCalls(), nil)); d != "" {
		t.Error("other bytes again")
	}
	for what, break_ := range map[string]func(c *Code){
		"a step round no loop":       func(c *Code) { c.ExplicitTransitions[0].Loop = 2 },
		"a step that can't be":       func(c *Code) { c.ExplicitTransitions[0].Loop = -2 },
		"a context twice":            func(c *Code) { c.CallSiteVertices[1] = c.CallSiteVertices[0] },
		"a vertex in a call":         func(c *Code) { c.Vertices[5].Parent = 4 },
		"a loop that is again":       func(c *Code) { c.Vertices[5].RecursionOf = 0 },
		"a function within its loop": func(c *Code) { c.Vertices[3].RecursionOf = 1 },
		"apart from itself":          func(c *Code) { c.ExclusivePairs[0][1] = 2 },
		"apart in two bodies":        func(c *Code) { c.ExclusivePairs[0][1] = 6 },
		"apart from no vertex":       func(c *Code) { c.ExclusivePairs[0][1] = 7 },
		"apart twice":                func(c *Code) { c.ExclusivePairs = append(c.ExclusivePairs, c.ExclusivePairs[0]) },
		"a negative line":            func(c *Code) { c.Vertices[1].Line = -5 },
	} {
		c := sampleCode()
		break_(c)
		r := wire.NewReader(sections.AppendCode(c, sampleCalls(), nil), "code")
		sections.DecodeCode(r, sampleCalls())
		if r.Finish() == nil {
			t.Errorf("%s is read", what)
		}
	}
}

// addable is a sample with functions as sampleCode has them.
func addable(t testing.TB) (path string, c *Code, sites []Site) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.spoor")
	if err := os.WriteFile(path, encoded(t), 0o640); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if sites, err = r.Sites(); err != nil || len(sites) < 2 {
		t.Fatalf("%d sites, error %v", len(sites), err)
	}
	own, err := r.tables()
	if err != nil {
		t.Fatal(err)
	}
	c = sampleCode()
	c.CallSiteVertices = nil
	for i, at := range sections.CodeCalls(own.sigs, own.sites, r.byID)[:2] {
		c.CallSiteVertices = append(c.CallSiteVertices, CallSiteVertex{FunctionID: at.FunctionID, SiteIndex: at.SiteIndex, VertexIndex: 4 + 2*i})
	}
	slices.SortFunc(c.CallSiteVertices, CallSiteVertex.Compare)
	return path, c, sites
}

// numbering is a reader of a trace with these sites.
func numbering(sites []Site) *Reader {
	list := append([]Site{{}}, sites...)
	return &Reader{tables: func() (*tables, error) { return &tables{lookup: lookup{sites: &sections.SiteTable{List: list}}}, nil }}
}

// A file to which code is added says the same as before besides, byte for byte in its sections.
func TestAddCode(t *testing.T) {
	path, c, sites := addable(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// of a trace with other sites and functions besides
	more := *c
	more.CallSiteVertices = []CallSiteVertex{{FunctionID: 5000, SiteIndex: 0, VertexIndex: 4}, {FunctionID: c.CallSiteVertices[0].FunctionID, SiteIndex: 0, VertexIndex: 4}}
	for _, x := range c.CallSiteVertices {
		x.SiteIndex++
		more.CallSiteVertices = append(more.CallSiteVertices, x)
	}
	if err := AddCode(path, &more, numbering(append([]Site{{Module: "elsewhere"}}, sites...))); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(after)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(r); err != nil {
		t.Error(err)
	}
	got, err := r.Code()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c, got); d != "" {
		t.Error(d)
	}
	old, err := open(before)
	if err != nil {
		t.Fatal(err)
	}
	if none, err := old.Code(); none != nil || err != nil {
		t.Errorf("%v, %v", none, err)
	}
	for _, s := range old.sections {
		x, err := s.Load(bytes.NewReader(before))
		if err != nil {
			t.Fatal(err)
		}
		y, err := r.sections.Find(s.ID).Load(bytes.NewReader(after))
		if err != nil || !bytes.Equal(x, y) {
			t.Errorf("section %s: error %v, or other bytes", s.Name(), err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := AddCode(path, c, numbering(sites)); err == nil {
		t.Error("the section was added twice")
	}
	if list, _ := filepath.Glob(path + "*"); len(list) != 1 {
		t.Errorf("left are %v", list)
	}
}

// Whatever the bytes, decoding ends, with what can be gone through.
func FuzzCode(f *testing.F) {
	f.Add(sections.AppendCode(sampleCode(), sampleCalls(), nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wire.NewReader(b, "code")
		c := sections.DecodeCode(r, sampleCalls())
		if r.Finish() != nil {
			return
		}
		for i := range c.Vertices {
			if v := &c.Vertices[i]; v.Parent >= i || v.RecursionOf >= i {
				t.Fatalf("vertex %d: %+v", i, v)
			}
		}
		again := sections.DecodeCode(wire.NewReader(sections.AppendCode(c, sampleCalls(), nil), "code"), sampleCalls())
		if d := cmp.Diff(c, again); d != "" {
			t.Fatal(d)
		}
	})
}

func byOffset(s Site) int32 { return int32(s.Offset) }

func TestCodeOfAnyShape(t *testing.T) {
	offset := rapid.Uint64Range(1, 9)
	rapid.Check(t, func(t *rapid.T) {
		c := &Code{Vertices: []Vertex{}}
		around, all := []int{}, []int{}
		var calls []sections.CodeCall
		for i := range rapid.IntRange(0, 30).Draw(t, "vertices") {
			around = around[:rapid.IntRange(0, len(around)).Draw(t, "depth")]
			v := Vertex{Kind: VertexKind(rapid.IntRange(0, 2).Draw(t, "kind")), Parent: -1, RecursionOf: -1, Line: rapid.IntRange(0, 99).Draw(t, "line")}
			v.Offset = rapid.OneOf(rapid.Uint64(), offset, offset).Draw(t, "offset")
			v.Name = rapid.OneOf(rapid.StringN(0, 3, -1), rapid.SampledFrom([]string{"fn@0x40", "fn@0x4", "fn@0xffffffffffffffff", "fn@0xA", "a\x00b"})).Draw(t, "name")
			v.File = rapid.SampledFrom([]string{"", "a.c", "b.c"}).Draw(t, "file")
			v.Inlined = rapid.SampledFrom([][]string{nil, nil, {"x a.h:1"}, {"x a.h:1", "y\x00 b.h:2"}}).Draw(t, "inlined")
			if n := len(around); n > 0 {
				v.Parent = around[n-1]
			}
			if v.Parent < 0 {
				v.File, v.Inlined = "", nil // what is outermost is nowhere
			}
			if v.File == "" {
				v.Line = 0
			}
			switch v.Kind {
			case LoopVertex:
				v.Name = ""
				v.RoundsAreLowerBound, v.EntriesAreLowerBound = rapid.Bool().Draw(t, "at least"), rapid.Bool().Draw(t, "unsure")
			case FunctionVertex:
				v.TailCall = rapid.Bool().Draw(t, "tail")
				if n := len(around); n > 0 && rapid.Bool().Draw(t, "again") {
					if f := around[rapid.IntRange(0, n-1).Draw(t, "which")]; c.Vertices[f].Kind == FunctionVertex {
						v.RecursionOf = f
					}
				}
			default:
				v.TailCall = rapid.Bool().Draw(t, "tail")
				all = append(all, i)
				for range rapid.IntRange(0, 2).Draw(t, "contexts") {
					at := Site{Offset: v.Offset}
					for range rapid.IntRange(0, 3).Draw(t, "frames") {
						at = Site{Offset: offset.Draw(t, "outer"), Caller: &Site{Offset: at.Offset, Caller: at.Caller}}
					}
					c.CallSiteVertices = append(c.CallSiteVertices, CallSiteVertex{FunctionID: 3, SiteIndex: len(calls), VertexIndex: i})
					calls = append(calls, sections.CodeCall{FunctionID: 3, SiteIndex: len(calls), Name: "MPI_Send", Location: at})
				}
			}
			if c.Vertices = append(c.Vertices, v); v.Kind != CallVertex {
				around = append(around, i)
			}
		}
		for range rapid.IntRange(0, min(len(all), 4)).Draw(t, "odd") {
			s := CallTransition{FromVertex: rapid.SampledFrom(all).Draw(t, "from"), ToVertex: rapid.SampledFrom(all).Draw(t, "to")}
			s.Loop = IteratedLoopNumber(rapid.IntRange(-1, c.LoopsAround(s.FromVertex, s.ToVertex)).Draw(t, "way"))
			c.ExplicitTransitions = append(c.ExplicitTransitions, s)
		}
		for i := range c.Vertices {
			for j := range c.Vertices {
				if i < j && c.Vertices[i].Parent == c.Vertices[j].Parent && rapid.Bool().Draw(t, "apart") {
					c.ExclusivePairs = append(c.ExclusivePairs, [2]int{i, j})
				}
			}
		}
		sections.SortCalls(calls, byOffset)
		r := wire.NewReader(sections.AppendCode(c, calls, nil), "code")
		got := sections.DecodeCode(r, calls)
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c, got); d != "" {
			t.Fatal(d)
		}
	})
}

// A function that is called from many places, with loops, jumps back and inner functions, is written down once.
func TestCodeOfAFunctionCalledOften(t *testing.T) {
	section := func(callers int) []byte {
		c := &Code{Vertices: []Vertex{{Parent: -1, RecursionOf: -1, Name: "main"}}}
		var calls []sections.CodeCall
		add := func(kind VertexKind, parent int, name string, offset uint64) int {
			c.Vertices = append(c.Vertices, Vertex{Kind: kind, Parent: parent, Name: name, Offset: offset, RecursionOf: -1})
			return len(c.Vertices) - 1
		}
		call := func(parent int, offset uint64, outer *Site) {
			v := add(CallVertex, parent, "MPI_Send", offset)
			c.CallSiteVertices = append(c.CallSiteVertices, CallSiteVertex{FunctionID: 3, SiteIndex: len(calls), VertexIndex: v})
			calls = append(calls, sections.CodeCall{FunctionID: 3, SiteIndex: len(calls), Name: "MPI_Send", Location: Site{Offset: offset, Caller: outer}})
		}
		for i := range callers {
			at := uint64(0x1000 + 16*i)
			from := &Site{Offset: at}
			f := add(FunctionVertex, 0, "exchange", at)
			call(f, 0x930, from) // the order of the code isn't that of addresses
			loop := add(LoopVertex, f, "", 0x900)
			call(loop, 0x910, from)
			inner := add(FunctionVertex, loop, "fn@0x6a0", 0x918)
			call(inner, 0x6b4, &Site{Offset: 0x918, Caller: from})
			call(f, 0x920, from)
		}
		sections.SortCalls(calls, byOffset)
		b := sections.AppendCode(c, calls, nil)
		r := wire.NewReader(b, "code")
		if d := cmp.Diff(c, sections.DecodeCode(r, calls)); d != "" || r.Finish() != nil {
			t.Fatal(d, r.Err())
		}
		packed, _ := container.PackSection(container.SectionCode, b)
		return packed
	}
	few, many := section(2), section(500)
	if more := len(many) - len(few); more > 40 {
		t.Errorf("498 more callers take %d bytes, two %d", more, len(few))
	}
}
