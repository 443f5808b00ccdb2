package proxy

import (
	"bytes"
	"embed"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

//go:embed runtime scaled
var templates embed.FS

// setup writes the C function that declares the memory blocks used by a variant's calls. It returns the function's
// name.
func (g *generator) setup(v *variant) string {
	type entry struct {
		class                string
		first, n             int64
		low, high, size, key string
	}
	var list []entry
	at := make([]map[reissue.MemorySegment]reissue.TouchedSegment, len(v.plans))
	for i, p := range v.plans {
		at[i] = make(map[reissue.MemorySegment]reissue.TouchedSegment, len(p.Segments))
		for _, s := range p.Segments {
			at[i][s.MemorySegment] = s
		}
	}
	for _, s := range v.plan.Segments {
		low, high := make([]int64, len(at)), make([]int64, len(at))
		for i := range at {
			low[i], high[i] = at[i][s.MemorySegment].Low, at[i][s.MemorySegment].High
		}
		if s.Class == trace.AddressStatic {
			// The proxy's main function declares static data, see statics.
			continue
		}
		e := entry{class: strings.ToUpper(segments[s.Class]), first: s.ID, n: 1}
		if size, ok := v.sizes(s.MemorySegment, low, high); ok {
			e.size = v.fitter.expr(mpi.KindNone, size)
		} else {
			e.low, e.high = v.fitter.expr(mpi.KindNone, low), v.fitter.expr(mpi.KindNone, high)
		}
		e.key = e.class + e.low + "," + e.high + "," + e.size
		if n := len(list); n > 0 && list[n-1].key == e.key && list[n-1].first+list[n-1].n == e.first {
			list[n-1].n++
			continue
		}
		list = append(list, e)
	}
	var b strings.Builder
	for _, e := range list {
		switch {
		case e.size != "" && e.n == 1:
			fmt.Fprintf(&b, "    block(%s, %d, %s);\n", e.class, e.first, e.size)
			continue
		case e.size != "":
			fmt.Fprintf(&b, "    blocks(%s, %d, %d, %s);\n", e.class, e.first, e.n, e.size)
			continue
		}
		fmt.Fprintf(&b, "    area(%s, %d, %d, %s, %s);\n", e.class, e.first, e.n, e.low, e.high)
	}
	return g.function("memory", b.String())
}

// function returns the name of the C function whose body is the given statements. It writes the function if there is
// none yet. The name begins with what; it is "" if body is empty.
func (g *generator) function(what, body string) string {
	n, ok := g.setupOf[body]
	if !ok && body != "" {
		n = fmt.Sprintf("%s_%d", what, len(g.setups))
		g.setupOf[body] = n
		g.setups = append(g.setups, fmt.Sprintf("static void %s(void)\n{\n%s}\n", n, body))
	}
	return n
}

// sizes returns a segment's size in bytes on each member, if all are known. low and high bound, by member, the bytes
// that calls touch. If one datatype number means two types, their extents may exceed the segment.
func (v *variant) sizes(p reissue.MemorySegment, low, high []int64) ([]int64, bool) {
	list := make([]int64, len(low))
	known := false
	for i := range list {
		size, ok := v.allocs.size[i][p]
		if !ok && high[i] > 0 || low[i] < 0 {
			return nil, false
		}
		known = known || ok
		list[i] = max(int64(size), high[i])
	}
	return list, known
}

// maxStatic is a size in bytes. Static segments of the traced program of that size or more are allocated at run time;
// smaller ones are static arrays in C.
const maxStatic = 1 << 30

// program writes the C program of all variants.
func (g *generator) program() *Program {
	var b bytes.Buffer
	meta := g.r.Meta()
	fmt.Fprintf(&b, "/*\n * The MPI calls of: %s\n * Ranks: %d, %d calls. Made by `spoor proxy` from %s.\n", comment(meta[trace.MetaCommand]),
		g.r.Ranks(), g.calls(), comment(filepath.Base(g.r.Name())))
	fmt.Fprintf(&b, " *\n * A line is DO(microseconds since the call before, call). runtime/runtime.h explains the rest.\n */\n#include \"runtime/runtime.h\"\n\n")
	g.gapTexts()
	g.declarations(&b)
	var body bytes.Buffer
	parts := 0
	for _, p := range g.parts {
		for _, c := range p.copies {
			c.number = parts
			parts++
			g.part(&body, p, c)
		}
	}
	for _, s := range g.setups {
		body.WriteString(s + "\n")
	}
	for _, v := range g.list {
		if len(v.roots) > 1 {
			names := make([]string, 0, len(v.roots)-1)
			for _, r := range v.roots[1:] {
				names = append(names, g.copy(r))
			}
			// The function declarations has declared this array, since functions that start threads come before it.
			fmt.Fprintf(&body, "void (*const threads_%d[])(void) = {%s};\n\n", v.number, strings.Join(names, ", "))
		}
	}
	g.main(&body)
	// An expression that was replaced later may have left a table that no line uses.
	used := make(map[string]bool)
	for _, name := range tableName.FindAll(body.Bytes(), -1) {
		used[string(name)] = true
	}
	some := false
	for i, t := range g.tables {
		if used[fmt.Sprintf("table%d", i)] {
			b.WriteString(t + "\n")
			some = true
		}
	}
	if some {
		b.WriteByte('\n')
	}
	b.Write(body.Bytes())
	p := &Program{Files: g.written(b.Bytes(), fmt.Sprint(g.r.Ranks()), "runtime"), StructureFunctions: parts, RankVariants: len(g.list)}
	p.Lines = bytes.Count(b.Bytes(), []byte("\n"))
	return p
}

// written returns the files of a program, by name: its text as proxy.c, and the embedded files of the folders. Each
// @RANKS@ in these becomes ranks, the statement about the number of ranks.
func (g *generator) written(text []byte, ranks string, folders ...string) map[string][]byte {
	meta := g.r.Meta()
	files := map[string][]byte{"proxy.c": text, "runtime/again.h": reissue.FileCallsHeader()}
	for _, folder := range folders {
		list, err := templates.ReadDir(folder)
		if err != nil {
			panic(err) // can't fail: the folder is embedded
		}
		for _, f := range list {
			text, err := templates.ReadFile(folder + "/" + f.Name())
			if err != nil {
				panic(err) // can't fail: the file is embedded
			}
			text = bytes.ReplaceAll(text, []byte("@RANKS@"), []byte(ranks))
			text = bytes.ReplaceAll(text, []byte("@COMMAND@"), []byte(comment(meta[trace.MetaCommand])))
			library, _, _ := strings.Cut(meta[trace.MetaMPILibraryVersion], "\n")
			text = bytes.ReplaceAll(text, []byte("@LIBRARY@"), []byte(comment(library)))
			name := f.Name()
			if ext := filepath.Ext(name); ext == ".c" || ext == ".h" {
				name = "runtime/" + name
			}
			files[name] = text
		}
	}
	return files
}

var tableName = regexp.MustCompile(`\btable\d+\b`)

func comment(s string) string {
	return strings.NewReplacer("*/", "* /", "/*", "/ *", "\n", " ", "\\", "/").Replace(s)
}

func (g *generator) calls() (n uint64) {
	for _, v := range g.list {
		for _, k := range v.ranks {
			n += k.TotalCallCount()
		}
	}
	return n
}

// declarations writes the C declarations of arrays for handles, static data, attribute keys and thread functions.
func (g *generator) declarations(b *bytes.Buffer) {
	byName := func(a, b mpi.Kind) int { return strings.Compare(a.Name(), b.Name()) }
	for _, kind := range slices.SortedFunc(maps.Keys(handleArrays), byName) {
		if g.plan.HandleSlots[kind] == 0 {
			continue
		}
		fmt.Fprintf(b, "%s %s[%d];\n", handleTypes[kind], handleArrays[kind], g.plan.HandleSlots[kind])
	}
	for _, s := range g.plan.Segments {
		if n := s.High - s.Low&^63; s.Class == trace.AddressStatic && n < maxStatic {
			fmt.Fprintf(b, "static char data_%d[%d] __attribute__((aligned(64)));\n", s.ID, n)
		}
	}
	if len(g.keyvals) > 0 {
		fmt.Fprintf(b, "int keyval[%d];\n", len(g.keyvals))
	}
	fmt.Fprintf(b, "MPI_Request kept[%d];\n", g.plan.PersistentRequests+1)
	if strings.Contains(g.text(), "(void *)got") {
		fmt.Fprintf(b, "static int64_t got[%d];\n", g.plan.LongestOutputArray+16)
	}
	for _, v := range g.list {
		if len(v.roots) > 1 {
			fmt.Fprintf(b, "extern void (*const threads_%d[])(void);\n", v.number)
		}
	}
	b.WriteByte('\n')
}

// text joins the C text of all lines, so that declarations can search it for names that lines use.
func (g *generator) text() string {
	var b strings.Builder
	for _, l := range g.lines {
		b.WriteString(l.text(""))
	}
	return b.String()
}

// copy returns the C name of a copy of a function: of is the function's index in g.parts, and the copy's index in the
// function.
func (g *generator) copy(of [2]int) string {
	return g.parts[of[0]].partName(g.parts[of[0]].copies[of[1]])
}

func (g *generator) part(b *bytes.Buffer, p *ruleFunction, c *copied) {
	if p.named != nil {
		fmt.Fprintf(b, "/* %s */\n", p.named.comment())
	}
	fmt.Fprintf(b, "static void %s(void)\n{\n", p.partName(c))
	for _, text := range p.first {
		b.WriteString("    " + text + "\n")
	}
	loops, indent, left := p.loops, "    ", 0
	for i := range p.steps {
		if len(loops) > 0 && loops[0].first == i {
			fmt.Fprintf(b, "    for (int64_t round = 0; round < %s; round++) {\n", loops[0].rounds)
			loops, indent, left = loops[1:], "        ", loops[0].width
		}
		g.step(b, &p.steps[i], c, i, indent)
		if left--; left == 0 {
			b.WriteString("    }\n")
			indent = "    "
		}
	}
	b.WriteString("}\n\n")
}

// step writes the C of one step, a call of MPI or of another generated function: the loop that repeats it, and the
// allocations and frees around it. c is the copy of the generated function, k the index of s in it.
func (g *generator) step(b *bytes.Buffer, s *step, c *copied, k int, indent string) {
	put := func(list []string) {
		for _, t := range list {
			b.WriteString(indent + t + "\n")
		}
	}
	if t := c.steps[k].entry; t != nil {
		fmt.Fprintf(b, "%sENTER(%s);\n", indent, t.text)
	}
	text, note := "", ""
	repeat := s.count != ""
	switch {
	case s.line == nil:
		text = g.copy([2]int{s.part, c.below[k]}) + "();"
		if n := g.parts[s.part].named; n != nil && n.loop != "" {
			note = " // loop " + comment(n.loop)
		}
	default:
		text = s.line.text(c.steps[k].gap.text)
		if s.line.site != "" && s.line.skip == "" {
			note = " // " + s.line.site
		}
	}
	between := s.between.all()
	switch {
	case !repeat:
		b.WriteString(indent + text + note + "\n")
	case len(s.head)+len(s.tail)+len(between) > 0:
		fmt.Fprintf(b, "%sREPEAT(%s)\n%s{\n", indent, s.count, indent)
		indent += "    "
		for _, t := range between {
			fmt.Fprintf(b, "%sif (i_ > 0) %s\n", indent, t)
		}
		put(s.head)
		b.WriteString(indent + text + note + "\n")
		put(s.tail)
		indent = indent[4:]
		b.WriteString(indent + "}\n")
	default:
		if s.line != nil && (strings.Count(text, ";") > 1 || s.line.skip != "") {
			text = "{ " + text + " }"
		}
		fmt.Fprintf(b, "%sREPEAT(%s) %s%s\n", indent, s.count, text, note)
	}
	put(s.after)
}

// ending writes the C statement that says how many calls each rank makes; "" if the traced program finished.
func (g *generator) ending() string {
	if g.ends == nil {
		return ""
	}
	threads := 1
	for _, list := range g.ends {
		threads = max(threads, len(list))
	}
	entries := make([]string, 0, threads*len(g.ends))
	for _, list := range g.ends {
		for stream := range threads {
			n := uint64(0)
			if stream < len(list) {
				n = list[stream]
			}
			entries = append(entries, fmt.Sprint(n))
		}
	}
	return fmt.Sprintf("    ends(%d, %s);\n", threads, g.table("int64_t", entries))
}

// mostTurns is the largest number of dependencies between threads, over all ranks, that a proxy has in a table.
const mostTurns = 1 << 16

// findTurns finds which calls of threads must wait for calls of other threads.
func (g *generator) findTurns(r *trace.Reader) error {
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return err
		}
		if k.Streams() == 1 {
			continue
		}
		lists, err := handles.ThreadDependencies(k)
		if err != nil {
			return err
		}
		for stream, list := range lists {
			for _, t := range list {
				g.turns = append(g.turns, fmt.Sprintf("{%d, %d, %d, %d, %d}", k.Number(), stream, t.LaterCall, t.EarlierStream, t.EarlierCall))
			}
		}
		if len(g.turns) > mostTurns {
			g.turns = nil
			return nil
		}
	}
	return nil
}

// turning writes the C statement with the table of dependencies between threads; "" if there is no table.
func (g *generator) turning() string {
	if g.turns == nil {
		return ""
	}
	return fmt.Sprintf("    turns(%d, %s);\n", len(g.turns), g.table("struct later", g.turns))
}

// statics writes the C statements that declare static data.
func (g *generator) statics() string {
	var b strings.Builder
	for _, s := range g.plan.Segments {
		if s.Class == trace.AddressStatic {
			fmt.Fprintf(&b, "    area(DATA, %d, 1, %d, %d);\n", s.ID, s.Low, s.High)
			if s.High-s.Low&^63 < maxStatic {
				fmt.Fprintf(&b, "    data_is(%d, data_%d);\n", s.ID, s.ID)
			}
		}
	}
	return b.String()
}

// local writes the C statements that provide stack memory; "" if no call uses any.
func local(p *reissue.ResourcePlan) string {
	if slices.ContainsFunc(p.Segments, func(s reissue.TouchedSegment) bool { return s.Class == trace.AddressStack && s.ID == 0 }) {
		return "    char local[stack_size(0) + 1];\n    stack_is(0, local, stack_size(0));\n"
	}
	return ""
}

func (g *generator) main(b *bytes.Buffer) {
	statics := g.statics()
	for _, v := range g.list {
		fmt.Fprintf(b, "static int program%d(void)\n{\n", v.number)
		if v.memory != "" {
			fmt.Fprintf(b, "    %s();\n", v.memory)
		}
		if v.lanes != "" {
			fmt.Fprintf(b, "    %s();\n", v.lanes)
		}
		b.WriteString(local(v.plan))
		fmt.Fprintf(b, "    %s();\n    return finish();\n}\n\n", g.copy(v.roots[0]))
	}
	fmt.Fprintf(b, "int main(void)\n{\n    start(%d, \"%s\", %d);\n", g.r.Ranks(), g.o.GapAction, g.plan.MaxRequestDistance)
	if g.files {
		b.WriteString("    on_files();\n")
	}
	b.WriteString(g.setAside())
	b.WriteString(g.ending())
	b.WriteString(g.turning())
	if g.o.GapModel == GapsRecorded {
		b.WriteString("    follow();\n")
	}
	b.WriteString(statics)
	for _, v := range g.list {
		if len(v.members) == g.r.Ranks() {
			b.WriteString("    member = rank;\n    return program0();\n}\n")
			return
		}
		ranks := columnOf(v.members)
		runs := ranks.Runs()
		list := make([]string, len(runs))
		for i, r := range runs {
			list[i] = fmt.Sprintf("{%d, %d, %d}", r.Start, r.Stride, r.Count)
		}
		fmt.Fprintf(b, "    static const struct run ranks%d[] = {%s};\n", v.number, wrap(list, "        "))
		fmt.Fprintf(b, "    if ((member = position(ranks%d, %d)) >= 0)\n        return program%d();\n", v.number, len(runs), v.number)
	}
	b.WriteString("    return 0;\n}\n")
}
