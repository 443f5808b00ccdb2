package trace

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// Code is what the program's machine code says of its calls: functions, loops and calls of MPI as a tree, one
// vertex for each context, that is for each place with all that is around it. It is found out after the run, from the binaries.
type Code struct {
	// Vertices in preorder: what is around one stands before it, and those of one body are in the order in
	// which the code has them.
	Vertices []Vertex
	// Contexts by rising site and function. A call whose context is not here could not be placed.
	Contexts []Context
	// Odd lists the steps from one call to the next that don't follow from the order of vertices, see Step.
	Odd []Step
}

// A VertexKind says what a Vertex is.
type VertexKind uint8

// The kinds of vertices.
const (
	FunctionVertex VertexKind = iota // a function as it is called from one place
	LoopVertex
	CallVertex // a call of MPI
)

// A Vertex is a function, a loop or a call in its context.
type Vertex struct {
	Kind   VertexKind
	Parent int // number of the vertex around; -1: none
	// Name of the function or of the MPI function; of a loop "".
	Name string
	// The place of the loop, or from where the function is called: file and line, 0 if that isn't known; functions
	// that are inlined there, innermost first, each with its place; offset in the module.
	File    string
	Line    int
	Offset  uint64
	Inlined []string
	// Again is the vertex of the same function further out, if this one is called by itself, else -1.
	Again int
	Tail  bool // a jump calls it: call stacks didn't show the function around
	// AtLeast: there may have been more rounds of this loop, ones without a call of MPI.
	AtLeast bool
	// Unsure: the loop may have been entered more often, with fewer rounds each time; all rounds together are right.
	Unsure bool
}

// Where is the place as text: file:line, or the offset where lines aren't known, behind those of functions that were inlined. Of
// a thread's outermost function it is "".
func (v *Vertex) Where() string {
	if v.Parent < 0 {
		return ""
	}
	where := fmt.Sprintf("+0x%x", v.Offset)
	if v.Line > 0 {
		where = fmt.Sprintf("%s:%d", path.Base(v.File), v.Line)
	}
	return strings.Join(append(slices.Clone(v.Inlined), where), " < ")
}

// A Context is the vertex of a call of a function from a site.
type Context struct {
	Function uint16 // id
	Site     int    // number in Sites
	Vertex   int
}

// A Step says what lies between a call and the next one. Where the vertices of both part, the second may
// just come later in the code: the way leads forward. Else some loop around both has begun another round. Steps
// that aren't listed lead forward if they can by the order of vertices, else once round the innermost loop around both.
type Step struct {
	From, To int // vertices of calls
	Way      Way
}

// A Way is Forward, Lost, or the number of the loop that goes round, counted outwards from the innermost, from 1.
type Way int

// Ways that aren't rounds.
const (
	Forward Way = 0
	Lost    Way = -1 // the code has no way between the two
)

// texts numbers texts by first occurrence, from 1; "" is 0.
type texts struct {
	list   []string
	number map[string]int
}

func (t *texts) add(s string) uint64 {
	if s == "" {
		return 0
	}
	n, ok := t.number[s]
	if !ok {
		t.list = append(t.list, s)
		n = len(t.list)
		t.number[s] = n
	}
	return uint64(n)
}

// appendCode and decodeCode: the section of code.
//
//	code    = texts, vertices, contexts, steps
//	texts   = count, string…
//	vertices= count, per vertex:
//	          kind + 4·jump + 8·at least + 16·unsure + 32·again uvarint,
//	          levels back uvarint, name, file, (line - that before) varint, (offset - that before) varint,
//	          inlined uvarint, text…, levels to the same function if again uvarint
//	contexts= count, per context: (site - that before) uvarint, function uvarint, vertex uvarint
//	steps   = count, per step: from uvarint, to uvarint, way varint
//
// Levels back: 0 if the vertex is in the one before it, 1 if in what is around that, and so on.
func appendCode(c *Code, b []byte) []byte {
	t := texts{number: make(map[string]int)}
	var body []byte
	body = wire.AppendUvarint(body, uint64(len(c.Vertices)))
	depth := make([]int, len(c.Vertices))
	line, offset := 0, uint64(0)
	for i := range c.Vertices {
		v := &c.Vertices[i]
		before := -1
		if i > 0 {
			before = depth[i-1]
		}
		if v.Parent >= 0 {
			depth[i] = depth[v.Parent] + 1
		}
		flags := uint64(v.Kind)
		for k, set := range []bool{v.Tail, v.AtLeast, v.Unsure, v.Again >= 0} {
			if set {
				flags |= 4 << k
			}
		}
		body = wire.AppendUvarint(body, flags)
		body = wire.AppendUvarint(body, uint64(before+1-depth[i]))
		body = wire.AppendUvarint(body, t.add(v.Name))
		body = wire.AppendUvarint(body, t.add(v.File))
		body = wire.AppendVarint(body, int64(v.Line-line))
		body = wire.AppendVarint(body, int64(v.Offset-offset))
		line, offset = v.Line, v.Offset
		body = wire.AppendUvarint(body, uint64(len(v.Inlined)))
		for _, s := range v.Inlined {
			body = wire.AppendUvarint(body, t.add(s))
		}
		if v.Again >= 0 {
			body = wire.AppendUvarint(body, uint64(depth[i]-depth[v.Again]))
		}
	}
	b = wire.AppendUvarint(b, uint64(len(t.list)))
	for _, s := range t.list {
		b = wire.AppendString(b, s)
	}
	b = append(b, body...)
	b = wire.AppendUvarint(b, uint64(len(c.Contexts)))
	site := 0
	for _, x := range c.Contexts {
		b = wire.AppendUvarint(b, uint64(x.Site-site))
		b = wire.AppendUvarint(b, uint64(x.Function))
		b = wire.AppendUvarint(b, uint64(x.Vertex))
		site = x.Site
	}
	b = wire.AppendUvarint(b, uint64(len(c.Odd)))
	for _, s := range c.Odd {
		b = wire.AppendUvarint(b, uint64(s.From))
		b = wire.AppendUvarint(b, uint64(s.To))
		b = wire.AppendVarint(b, int64(s.Way))
	}
	return b
}

// maxLevels bounds how deep vertices are: each frame of a stack has loops around it.
const maxLevels = 1 << 12

func decodeCode(r *wire.Reader, sites int) *Code {
	c := &Code{}
	list := make([]string, 1, 16)
	for range r.Count(1) {
		list = append(list, r.String())
	}
	text := func() string { return list[r.Int(len(list)-1)] }
	var around []int // the vertex before and those around it, outermost first
	line, offset := int64(0), uint64(0)
	for i := range r.Count(7) {
		v := Vertex{Parent: -1, Again: -1}
		flags := r.Int(63)
		if v.Kind = VertexKind(flags & 3); v.Kind > CallVertex {
			r.Fail("vertex %d is of kind %d", i, v.Kind)
		}
		v.Tail, v.AtLeast, v.Unsure = flags&4 != 0, flags&8 != 0, flags&16 != 0
		around = around[:len(around)-r.Int(len(around))]
		v.Name, v.File = text(), text()
		line += r.Varint()
		offset += uint64(r.Varint())
		if v.Line, v.Offset = int(line), offset; line < 0 || line > 1<<31 {
			r.Fail("vertex %d is in line %d", i, line)
		}
		for range r.Count(1) {
			v.Inlined = append(v.Inlined, text())
		}
		if flags&32 != 0 {
			up := r.Int(len(around))
			if up == 0 || v.Kind != FunctionVertex || c.Vertices[around[len(around)-up]].Kind != FunctionVertex {
				r.Fail("vertex %d is no function that is called again", i)
			} else {
				v.Again = around[len(around)-up]
			}
		}
		if n := len(around); n > 0 {
			if v.Parent = around[n-1]; c.Vertices[v.Parent].Kind == CallVertex || n > maxLevels {
				r.Fail("vertex %d in a call, or too deep", i)
			}
		}
		if r.Err() != nil {
			return c
		}
		around = append(around, len(c.Vertices))
		c.Vertices = append(c.Vertices, v)
	}
	call := func() int {
		v := r.Int(len(c.Vertices))
		if r.Err() == nil && (v == len(c.Vertices) || c.Vertices[v].Kind != CallVertex) {
			r.Fail("vertex %d is no call", v)
		}
		return v
	}
	site := 0
	for range r.Count(3) {
		x := Context{}
		x.Site = site + r.Int(max(0, sites-1-site))
		x.Function = r.Uint16()
		x.Vertex = call()
		if n := len(c.Contexts); n > 0 && r.Err() == nil && c.Contexts[n-1].Compare(x) >= 0 {
			r.Fail("contexts out of order")
		}
		if r.Err() != nil {
			return c
		}
		site = x.Site
		c.Contexts = append(c.Contexts, x)
	}
	for range r.Count(3) {
		s := Step{From: call(), To: call(), Way: Way(r.Varint())}
		if r.Err() != nil {
			return c
		}
		if s.Way < Lost || int(s.Way) > c.loopsAround(s.From, s.To) {
			r.Fail("no loop %d around vertices %d and %d", s.Way, s.From, s.To)
		}
		c.Odd = append(c.Odd, s)
	}
	return c
}

// Compare orders contexts as Code has them.
func (x Context) Compare(y Context) int {
	return cmp.Or(cmp.Compare(x.Site, y.Site), cmp.Compare(x.Function, y.Function))
}

// loopsAround counts the loops around two vertices.
func (c *Code) loopsAround(a, b int) (n int) {
	around := make(map[int]bool)
	for v := c.Vertices[a].Parent; v >= 0; v = c.Vertices[v].Parent {
		around[v] = true
	}
	for v := c.Vertices[b].Parent; v >= 0; v = c.Vertices[v].Parent {
		if around[v] && c.Vertices[v].Kind == LoopVertex {
			n++
		}
	}
	return n
}

// Vertex finds the vertex of a call of a function from a site, by its number in Sites; -1 if it could not be placed.
func (c *Code) Vertex(function uint16, site int) int {
	i, ok := slices.BinarySearchFunc(c.Contexts, Context{Function: function, Site: site}, Context.Compare)
	if !ok {
		return -1
	}
	return c.Contexts[i].Vertex
}

// readCode reads the section, nil if there is none.
func (r *Reader) readCode() (c *Code, err error) {
	if !r.hasSection(container.Code) {
		return nil, nil
	}
	t, err := r.tables()
	if err != nil {
		return nil, err
	}
	err = r.section(container.Code, func(w *wire.Reader) { c = decodeCode(w, len(t.siteList)-1) })
	if err != nil {
		return nil, err
	}
	for _, x := range c.Contexts {
		if r.byID[x.Function] == nil {
			return nil, r.failed(container.Code, fmt.Errorf("function %d does not occur: %w", x.Function, ErrFormat))
		}
	}
	return c, nil
}

// AddCode puts what the program's machine code says of its calls into a trace file, in place of which a new one comes.
func AddCode(path string, c *Code) error {
	if err := addCode(path, c); err != nil {
		return fmt.Errorf("trace: %s: section %q: %w", path, container.Names[container.Code], err)
	}
	return nil
}

func addCode(path string, c *Code) error {
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+DraftPattern)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := container.Add(f, src, info.Size(), container.Code, appendCode(c, nil)); err != nil {
		return err
	}
	if err := f.Chmod(info.Mode().Perm()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Code returns what the program's machine code says of its calls; nil if the trace doesn't have that. Don't change it.
func (r *Reader) Code() (*Code, error) { return r.code() }
