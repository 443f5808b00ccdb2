package extrapolate

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// A place is one call site as reached by one call path, with one layout of values.
type place struct {
	function *trace.Function
	site     uint64 // in tables
	fields   []field
}

// A field is a part of a call's values that is fitted separately: single values, or a list whose length may differ.
type field struct {
	param int // of the function, or one of signature's special ones
	out   bool
	kind  fieldKind
	width int // values, or values of an element of a list
}

type fieldKind uint8

const (
	words    fieldKind = iota
	list               // a length, then elements
	absent             // a list that is not there: a negative length
	requests           // a list of requests, each as its place and how many that place made since
	pending            // the requests that are pending, all, in the order in which they were made
	statuses           // a list of statuses that are those that the requests' places have
)

// A run is one of the traces.
type run struct {
	ranks int
	r     *trace.Reader
	way   *way // nil: the machine code is not known
}

// A call is one call of a rank: its place, its values in the program's table, and the turn from the call before it.
type call struct {
	place, values int32
	turn
}

// A program is what is known of all runs: places and values are numbered over all of them.
type program struct {
	runs   []*run
	tables *track.Track // strings and sites
	sites  map[string]uint64
	name   func(trace.Site) string // of a call site
	names  map[uint64]string       // of sites

	places   []place
	placeOf  map[string]int32
	values   [][]int64
	valuesOf map[string]int32
	times    []map[int32]*sums   // by run and place; none if a run has no times
	samples  map[[2]int32]sample // by place and values

	outline *outline
	uncoded error // why the machine code doesn't say which loops there are
}

// A sample is where a call was made.
type sample struct {
	run            int
	rank, terminal int32
}

func newProgram(name func(trace.Site) string) *program {
	return &program{
		tables: &track.Track{Strings: make(map[uint64]string), Sites: make(map[uint64]track.Site), Outer: make(map[uint64]uint64), Inner: make(map[uint64]uint64)},
		sites:  make(map[string]uint64), placeOf: make(map[string]int32), valuesOf: make(map[string]int32),
		samples: make(map[[2]int32]sample), name: name, names: make(map[uint64]string),
		outline: newOutline(),
	}
}

// site numbers a call site with the frames around it.
func (p *program) site(s *trace.Site) uint64 {
	var b strings.Builder
	for x := s; x != nil; x = x.Outer {
		id := x.BuildID
		if id == "" {
			id = x.Module
		}
		fmt.Fprintf(&b, "%s+%x<", id, x.Offset)
	}
	if n, ok := p.sites[b.String()]; ok {
		return n
	}
	if s.Module == "" && s.Offset == 0 && s.Outer == nil {
		return 0
	}
	n := uint64(len(p.sites) + 1)
	p.sites[b.String()] = n
	p.names[n] = p.name(*s)
	p.tables.Sites[n] = track.Site{Module: s.Module, BuildID: s.BuildID, Offset: s.Offset}
	if s.Outer != nil {
		p.tables.Outer[n] = p.site(s.Outer)
		alone := s.Alone()
		p.tables.Inner[n] = p.site(&alone)
	}
	return n
}

func (p *program) intern(vals []int64) int32 {
	var b []byte
	for _, v := range vals {
		b = binary.AppendVarint(b, v)
	}
	n, ok := p.valuesOf[string(b)]
	if !ok {
		n = int32(len(p.values))
		p.valuesOf[string(b)] = n
		p.values = append(p.values, slices.Clone(vals))
	}
	return n
}

// A request is one that a rank made, until it is complete.
type request struct {
	call  int     // of the rank
	nth   int     // of its place
	ended []int64 // its status, once it is known
}

// A reading takes the calls of a rank apart.
type reading struct {
	p       *program
	k       *trace.Rank
	calls   []call
	raw     [][]int64 // values so far, of calls whose requests are pending
	made    []request
	pending []int // of made
	nth     map[int32]int

	vertices []int // by terminal
	last     int   // vertex of the call before; -1: none
}

// rank returns the calls of a rank's first thread.
func (p *program) rank(k *trace.Rank) ([]call, error) {
	if k.Streams() > 1 {
		return nil, fmt.Errorf("rank %d has several threads that call MPI", k.Number())
	}
	x := &reading{p: p, k: k, nth: make(map[int32]int), last: -1}
	functions := make([]*trace.Call, k.Terminals())
	sites := make([]uint64, k.Terminals())
	var terminals []int32 // of the calls
	for t, vals := range k.Signatures(0) {
		if functions[t] == nil {
			c := k.Called(t)
			functions[t], sites[t] = c, p.site(&c.Site)
		}
		if len(x.calls) >= mostCalls {
			return nil, fmt.Errorf("rank %d makes more than %d calls", k.Number(), mostCalls)
		}
		if err := x.call(functions[t].Func, sites[t], vals); err != nil {
			return nil, err
		}
		terminals = append(terminals, int32(t))
		if p.uncoded == nil {
			p.uncoded = x.turn(t)
		}
	}
	for i := range x.calls {
		if x.calls[i].values < 0 {
			x.calls[i].values = p.intern(append(x.raw[i], make([]int64, statusWords)...)) // how its request ended is not known
		}
		x.raw[i] = nil
		key := [2]int32{x.calls[i].place, x.calls[i].values}
		if _, ok := p.samples[key]; !ok {
			p.samples[key] = sample{len(p.runs) - 1, int32(k.Number()), terminals[i]}
		}
	}
	return x.calls, nil
}

// turn keeps how the last call, of a terminal, follows the one before it in the machine code, and where it is there.
func (x *reading) turn(terminal int) error {
	w := x.p.runs[len(x.p.runs)-1].way
	if w == nil {
		return errNoWay
	}
	if x.vertices == nil {
		x.vertices = tree.Vertices(x.k, w.code)
	}
	v := x.vertices[terminal]
	if v < 0 {
		return errNoWay
	}
	c := &x.calls[len(x.calls)-1]
	var err error
	if c.turn, err = w.turn(x.last, v); err != nil {
		return err
	}
	x.last = v
	if at := &x.p.outline.nodes[w.nodes[v]].places; !slices.Contains(*at, c.place) {
		*at = append(*at, c.place)
	}
	return nil
}

// mostCalls of a rank are looked at one by one.
const mostCalls = 1 << 22

func (x *reading) call(f *trace.Function, site uint64, vals []int64) error {
	spans, err := sections.SpansOf(f, nil, vals)
	if err != nil {
		return err
	}
	var fields []field
	var out []int64
	out = append(out, vals[0])
	fields = append(fields, field{param: signature.Result, kind: words, width: 1})
	var done []int // requests of the call, by element; -1: none, or not one that is known
	makes := false
	for i := range spans {
		s := &spans[i]
		v := vals[s.At:s.End]
		var def *trace.ParamDef
		if s.Param != signature.Made {
			def = sections.DefOf(f, s)
		}
		switch {
		case def != nil && def.Type == trace.Request && s.Out && f.Has(trace.Nonblocking) && len(v) == 1 && v[0] == 2:
			makes = true
			fields, out = append(fields, field{s.Param, s.Out, words, 1}), append(out, 2)
		case def != nil && def.Type == trace.Request && !s.Out && f.Has(trace.Completes):
			list := v
			if s.Dims > 0 {
				list = v[1:]
			}
			done = x.requests(list)
			fields, out = x.requestField(fields, out, s, v, list, done)
		case def != nil && def.Type == trace.Status && done != nil && waits(f) && x.derived(s, vals, done):
			fields = append(fields, field{s.Param, s.Out, statuses, min(s.Dims, 1)})
		case s.Dims == 1 && len(v) > 0 && v[0] >= 0 && (v[0] == 0 || (len(v)-1)%int(v[0]) == 0):
			width := 1
			if v[0] > 0 {
				width = (len(v) - 1) / int(v[0])
			}
			fields, out = append(fields, field{s.Param, s.Out, list, width}), append(out, v...)
		case s.Dims == 1 && len(v) == 1:
			fields, out = append(fields, field{s.Param, s.Out, absent, 1}), append(out, v...)
		default:
			fields, out = append(fields, field{s.Param, s.Out, words, len(v)}), append(out, v...)
		}
	}
	n := x.p.place(f, site, fields)
	at := len(x.calls)
	x.calls, x.raw = append(x.calls, call{place: n, values: -1}), append(x.raw, nil)
	if makes {
		x.raw[at] = out
		x.made = append(x.made, request{call: at, nth: x.nth[n]})
		x.nth[n]++
		x.pending = append(x.pending, len(x.made)-1)
	} else {
		x.calls[at].values = x.p.intern(out)
	}
	x.complete(f, vals, done)
	return nil
}

// requests finds the requests of the rank that a call names; -1 stands for MPI_REQUEST_NULL and for requests that are named another way.
func (x *reading) requests(list []int64) []int {
	done := make([]int, len(list))
	for i, v := range list {
		done[i] = -1
		if n := len(x.made) - int(v>>1); v > 0 && v&1 == 0 && n >= 0 && n < len(x.made) {
			done[i] = n
		}
	}
	return done
}

// requestField writes the requests of a call so that their values don't depend on how many others were made.
func (x *reading) requestField(fields []field, out []int64, s *signature.Span, raw, list []int64, done []int) ([]field, []int64) {
	if s.Dims > 0 && raw[0] > 0 && slices.Equal(done, x.pending) {
		return append(fields, field{s.Param, s.Out, pending, 0}), out
	}
	if s.Dims > 0 && raw[0] < 0 {
		return append(fields, field{s.Param, s.Out, absent, 1}), append(out, raw[0])
	}
	kind := words
	if s.Dims > 0 {
		kind = requests
		out = append(out, raw[0])
	}
	for i, n := range done {
		if n < 0 {
			out = append(out, -1, list[i])
			continue
		}
		m := x.made[n]
		at := x.calls[m.call].place
		out = append(out, int64(at), int64(x.nth[at]-1-m.nth))
	}
	return append(fields, field{s.Param, s.Out, kind, 2}), out
}

// statusWords is how many values say how a request ended: form, source, tag, bytes, cancelled.
const statusWords = 5

// derived moves the statuses of a call to the calls that made its requests, where they depend on nothing but these.
func (x *reading) derived(s *signature.Span, vals []int64, done []int) bool {
	var list [][]int64
	if s.Dims == 0 {
		list = append(list, vals[s.At:s.End])
	} else {
		if vals[s.At] != int64(len(done)) {
			return false
		}
		for e := range s.Elements(vals) {
			list = append(list, vals[e.At:e.End])
		}
	}
	if len(list) != len(done) {
		return false
	}
	for i, v := range list {
		if done[i] < 0 || len(v) > statusWords || x.raw[x.made[done[i]].call] == nil || x.made[done[i]].ended != nil {
			return false
		}
	}
	for i, v := range list {
		full := make([]int64, statusWords)
		if v[0] == signature.StatusOfSend {
			full[0], full[4] = v[0], v[1]
		} else {
			copy(full, v)
		}
		x.made[done[i]].ended = full
	}
	return true
}

// waits reports whether all requests that a call of a function names are complete when it returns.
func waits(f *trace.Function) bool {
	def, _ := mpi.ByID(f.ID)
	w := meaning.WaitingOf(def)
	return w.Blocks && w.Completes && (w.Choice == meaning.OneRequest || w.Choice == meaning.AllRequests)
}

// complete notes that the requests of a call are there no more.
func (x *reading) complete(f *trace.Function, vals []int64, done []int) {
	if !waits(f) || vals[0] != 0 {
		return
	}
	for _, n := range done {
		if n < 0 {
			continue
		}
		m := &x.made[n]
		if v := x.raw[m.call]; v != nil {
			if m.ended == nil {
				m.ended = make([]int64, statusWords)
			}
			x.calls[m.call].values = x.p.intern(append(v, m.ended...))
			x.raw[m.call] = nil
		}
		x.pending = slices.DeleteFunc(x.pending, func(p int) bool { return p == n })
	}
}

// place numbers the places of all runs.
func (p *program) place(f *trace.Function, site uint64, fields []field) int32 {
	key := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(f.ID)), site)
	for _, x := range fields {
		out := byte(0)
		if x.out {
			out = 1
		}
		key = append(binary.AppendVarint(key, int64(x.param)), out, byte(x.kind))
		key = binary.AppendVarint(key, int64(x.width))
	}
	n, ok := p.placeOf[string(key)]
	if !ok {
		n = int32(len(p.places))
		p.placeOf[string(key)] = n
		p.places = append(p.places, place{f, site, fields})
	}
	return n
}
