package extrapolate

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A place is a call site with one call path and one layout of values.
type place struct {
	function *trace.Function
	site     uint64 // key in program.tables.Sites
	fields   []field
}

// A field is a part of a call's values that is fitted separately: single values, or a list of variable length.
type field struct {
	param int // index of the parameter, or signature.ParamResult or ParamNewObject
	out   bool
	kind  fieldKind
	width int // number of values; in a list, of each element
}

type fieldKind uint8

const (
	words  fieldKind = iota
	list             // a length, then elements
	absent           // a missing list: its length is negative
	// a list of requests, each as two values: the place that made it, and the number of requests made there since
	requests
	pending    // all pending requests, in the order in which they were made
	statuses   // a list of statuses; their values are fitted at the places that made the requests
	completes  // a list of the indices of completed requests, if a call may complete only some
	determined // values that MPI determines from the call's inputs and earlier calls, see handles.HandleState
)

// A run is one of the traces.
type run struct {
	ranks int
	r     *trace.Reader
	way   *way // loop transitions by the machine code; nil: no machine code
}

// A call is one call of a rank: the index of its place in program.places, the index of its list of values in
// program.values, and the loop transition before it.
type call struct {
	place, values int32
	turn
}

// A program is the data of all runs. Places and values are numbered over all of them.
type program struct {
	runs   []*run
	tables *track.Track // strings and call sites of all runs
	sites  map[string]uint64
	// build IDs of binaries common to all runs; call sites in other binaries are identified by name
	builds map[string]bool
	name   func(trace.Site) string // returns the text for a call site
	names  map[uint64]string       // by number of a call site

	calls    []call
	callOf   map[call]uint32
	places   []place
	placeOf  map[string]int32
	values   [][]int64
	valuesOf map[string]int32
	times    []map[int32]*sums   // by run, then place; empty unless all runs have times
	samples  map[[2]int32]sample // by place and number of values: where such a call was made

	outline *outline
	uncoded error // why the machine code doesn't give the loops; nil: it does

	// functions whose results are fitted, as they contradict MPI's rules
	fitted map[string]bool
	// by communicator that MPI_Comm_split made in the current run: the parts of its members
	splits map[*handles.Comm][]splitter
}

// A sample identifies a call: the run, the rank, and the rank's terminal.
type sample struct {
	run            int
	rank, terminal int32
}

func newProgram(name func(trace.Site) string) *program {
	return &program{
		tables: &track.Track{Strings: make(map[uint64]string), Sites: make(map[uint64]track.Site), CallerSite: make(map[uint64]uint64), SiteWithoutStack: make(map[uint64]uint64)},
		sites:  make(map[string]uint64), callOf: make(map[call]uint32), placeOf: make(map[string]int32), valuesOf: make(map[string]int32),
		samples: make(map[[2]int32]sample), name: name, names: make(map[uint64]string), splits: make(map[*handles.Comm][]splitter),
		outline: &outline{nodes: make([]outlined, 1), of: make(map[outlineKey]int32)},
	}
}

// site returns the number of a call site with its callers, from 1; 0 for an unknown site.
func (p *program) site(s *trace.Site) uint64 {
	var b strings.Builder
	for x := s; x != nil; x = x.Caller {
		if p.builds[x.BuildID] {
			fmt.Fprintf(&b, "%s+%x<", cmp.Or(x.BuildID, x.Module), x.Offset)
		} else {
			b.WriteString(p.name(x.WithoutCallers()) + "<")
		}
	}
	if n, ok := p.sites[b.String()]; ok {
		return n
	}
	if s.Module == "" && s.Offset == 0 && s.Caller == nil {
		return 0
	}
	n := uint64(len(p.sites) + 1)
	p.sites[b.String()] = n
	p.names[n] = p.name(*s)
	p.tables.Sites[n] = track.Site{Module: s.Module, BuildID: s.BuildID, Offset: s.Offset}
	if s.Caller != nil {
		p.tables.CallerSite[n] = p.site(s.Caller)
		alone := s.WithoutCallers()
		p.tables.SiteWithoutStack[n] = p.site(&alone)
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

// A held is a call that can't be numbered yet: some of its values are unknown, or those of a call before it.
type held struct {
	call
	terminal int
	raw      []int64                    // known values of a call whose request is pending, else nil
	asks     *signature.ReceiveEnvelope // what its receive asks for; nil: it is no receive
}

// A request is a request of a rank, until it is complete.
type request struct {
	number int64 // number among the rank's requests, from 0
	nth    int   // number among its place's requests, from 0
	by     *held
	ended  []int64 // final status; nil: not known yet
	posted signature.ReceiveEnvelope
}

// A step is what is known of a terminal's calls.
type step struct {
	places []int32 // places of the calls
	fixed  bool    // all calls are at places[0] and have the same values
	values int32
}

// A reading is the state while a rank's calls are read.
type reading struct {
	p       *program
	k       *trace.Rank
	walk    *trace.Walk // set if values differ between a terminal's calls; else nil
	steps   []step      // by terminal
	out     *grammar.Builder
	began   *round   // the current iteration of an outermost loop; nil: none
	lap     []uint32 // calls, by number, of the iteration that began describes
	held    []*held
	made    int64         // number of requests that the rank made so far
	nth     map[int32]int // by place: number of requests made there so far
	pending []*request
	// by number of a persistent request: what its receive asks for
	posted map[int64]signature.ReceiveEnvelope

	objects *handles.HandleState
	comms   *handles.Comms

	vertices []int // by terminal: the call's vertex in the run's machine code
	last     int   // vertex of the previous call; -1: none
}

// rank returns the calls of a rank's first thread, and what is known of its terminals.
func (p *program) rank(k *trace.Rank) (*grammar.Grammar, []step, error) {
	if k.Streams() > 1 {
		return nil, nil, fmt.Errorf("rank %d has several threads that call MPI", k.Number())
	}
	x := &reading{
		p: p, k: k, steps: make([]step, k.Terminals()), out: grammar.NewBuilder(), nth: make(map[int32]int), last: -1,
		objects: handles.NewHandleState(k.Number(), worldOf(p.runs[len(p.runs)-1].ranks)),
	}
	err := x.read()
	for _, h := range x.held {
		x.settle(h, nil) // the request's outcome is unknown
	}
	x.flush()
	return x.out.Grammar(), x.steps, err
}

func (x *reading) read() (err error) {
	for t := range x.steps {
		c, failed := x.k.Terminal(t)
		if err = cmp.Or(err, failed); err == nil && x.walk == nil && (x.k.Lane(t) != nil || c.RequestsFromEarlierCall()) {
			x.walk, err = x.k.Walk(0, 0)
		}
	}
	if x.walk == nil || err != nil {
		return cmp.Or(err, x.node(x.k.Structure(0)))
	}
	for t, vals := range x.k.Signatures(0) {
		if !x.walk.Next() {
			return x.walk.Err()
		}
		if err := x.call(t, x.walk.Call(), vals); err != nil {
			return err
		}
	}
	return nil
}

// node reads the calls of a loop or call in the rank's structure.
func (x *reading) node(n trace.Node) error {
	if n.Kind == trace.CallNode {
		c, err := x.k.Terminal(n.Terminal)
		if err != nil {
			return err
		}
		return x.call(n.Terminal, c, x.k.Signature(n.Terminal))
	}
	body := n.Children()
	for left := n.Count; left > 0; left-- {
		outermost := n.Count > 2 && x.began == nil
		if outermost {
			x.began, x.lap = &round{x.state(), x.made, maps.Clone(x.nth)}, x.lap[:0]
		}
		for _, c := range body {
			if err := x.node(c); err != nil {
				return err
			}
		}
		if outermost && x.again(int(left-1)) {
			return nil
		}
	}
	return nil
}

// A round is the state at the beginning of an iteration of an outermost loop.
type round struct {
	state []int64
	made  int64
	nth   map[int32]int
}

// mostLap is the largest number of calls that are kept of an iteration of an outermost loop.
const mostLap = 1 << 20

// again ends an iteration. If it ended in the state in which it began, all remaining iterations make the same calls.
// Their calls are then copied, and again returns true.
func (x *reading) again(left int) bool {
	from := x.began
	x.began = nil
	if len(x.lap) >= mostLap || !slices.Equal(from.state, x.state()) {
		return false
	}
	x.out.AppendRepeated(x.lap, uint64(left))
	for _, m := range x.pending {
		m.number += (x.made - from.made) * int64(left)
		m.nth += (x.nth[m.by.place] - from.nth[m.by.place]) * left
	}
	x.made += (x.made - from.made) * int64(left)
	for place, n := range x.nth {
		x.nth[place] += (n - from.nth[place]) * left
	}
	return true
}

// state returns the state on which the next calls depend.
func (x *reading) state() []int64 {
	list := []int64{int64(x.last), int64(len(x.pending))}
	for _, m := range x.pending {
		list = append(list, x.made-m.number, int64(m.by.place), int64(x.nth[m.by.place]-m.nth), int64(len(m.by.raw)))
	}
	for _, h := range x.held {
		turn := int64(h.kept) << 1
		if h.round {
			turn++
		}
		list = append(append(list, int64(h.place), int64(h.values), turn, int64(len(h.raw))), h.raw...)
	}
	return list
}

// turn records the loop transition before a call of a terminal, and the call's vertex.
func (x *reading) turn(c *call, terminal int) error {
	w := x.p.runs[len(x.p.runs)-1].way
	if w == nil {
		return errNoWay
	}
	if x.vertices == nil {
		x.vertices = tree.VertexByTerminal(x.k, w.code)
	}
	v := x.vertices[terminal]
	if v < 0 {
		return errNoWay
	}
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

// call reads a call of terminal t with the signature vals.
func (x *reading) call(t int, c *trace.Call, vals []int64) error {
	s := &x.steps[t]
	if s.fixed {
		x.follow(t, s.places[0], s.values, nil)
		return nil
	}
	done := ops.RequestsCompleted(c)
	// It completes all requests that it names.
	all := c.Func.Has(trace.AttrCompletes) && c.Return == 0 && ops.CompletesAll(c)
	spans, err := sections.SpansOf(c.Func, nil, vals)
	if err != nil {
		return err
	}
	posting := signature.PostedRequest{}
	of, ok := mpi.CallByID(c.Func.ID)
	if ok {
		l := signature.LayoutOf(of)
		if posting = l.PostedRequest(spans, vals); posting.Kind == signature.RequestPersistent {
			if x.posted == nil {
				x.posted = make(map[int64]signature.ReceiveEnvelope)
			}
			x.posted[posting.ID] = posting.Envelope
		}
		whole, ok := l.AppendRestoringStatuses(nil, spans, vals, x.receive)
		if !ok {
			return errRequest
		}
		if len(whole) != len(vals) {
			vals = whole
			if spans, err = sections.SpansOf(c.Func, spans[:0], vals); err != nil {
				return err
			}
		}
	}
	fields := []field{{param: signature.ParamResult, kind: words, width: 1}}
	known, err := x.determined(t, c, spans, vals)
	if err != nil {
		return err
	}
	out := []int64{vals[0]}
	var named []*request // by index among the call's requests; nil: null or unknown
	makes := false
	for i := range spans {
		p := &spans[i]
		v := vals[p.First:p.End]
		var def *trace.ParamDef
		if p.Param != signature.ParamNewObject {
			def = sections.ParamOf(c.Func, p)
		}
		switch {
		case known != nil && known(p):
			fields = append(fields, field{p.Param, p.IsOutput, determined, 0})
		case def != nil && def.Type == trace.TypeRequest && p.IsOutput && c.Func.Has(trace.AttrNonblocking) && len(v) == 1 && v[0] == 2:
			makes = true
			fields, out = append(fields, field{p.Param, p.IsOutput, words, 1}), append(out, 2)
		case def != nil && def.Type == trace.TypeRequest && !p.IsOutput && c.Func.Has(trace.AttrCompletes):
			named = x.requests(&c.Params[p.Param].In)
			fields, out = x.requestField(fields, out, p, v, named)
		case def != nil && def.Type == trace.TypeStatus && named != nil && all && x.derived(p, vals, named):
			fields = append(fields, field{p.Param, p.IsOutput, statuses, min(p.Dims, 1)})
		case p.Dims == 1 && len(v) > 0 && v[0] >= 0 && (v[0] == 0 || (len(v)-1)%int(v[0]) == 0):
			width := 1
			if v[0] > 0 {
				width = (len(v) - 1) / int(v[0])
			}
			fields, out = append(fields, field{p.Param, p.IsOutput, list, width}), append(out, v...)
		case p.Dims == 1 && len(v) == 1:
			fields, out = append(fields, field{p.Param, p.IsOutput, absent, 1}), append(out, v...)
		default:
			fields, out = append(fields, field{p.Param, p.IsOutput, words, len(v)}), append(out, v...)
			if def != nil && def.Type == trace.TypeStatus && p.Dims == 0 && len(v) == statusWords && c.Return == 0 {
				// The cancelled bit was not queried, so that it says nothing.
				if !p.IsOutput || ok && meaning.WaitBehaviourOf(of).Probes {
					out[len(out)-len(v)+signature.StatusCancelledPosition] = 0
				}
				told(receiveOf(c), out[len(out)-len(v):])
			}
		}
	}
	if named != nil && !all {
		fields, out = append(fields, field{signature.ParamResult, true, completes, 1}), append(out, int64(len(done)))
		for _, d := range done {
			out = append(out, int64(d.ArrayIndex))
		}
	}
	n := x.p.place(c.Func, x.p.site(&c.Site), fields)
	x.splitAt(t, c, n)
	if !slices.Contains(s.places, n) {
		s.places = append(s.places, n)
	}
	if makes {
		by := x.follow(t, n, -1, out)
		by.asks = receiveOf(c)
		x.pending = append(x.pending, &request{number: x.made, nth: x.nth[n], by: by, posted: posting.Envelope})
		x.made++
		x.nth[n]++
		return nil
	}
	s.values = x.p.intern(out)
	s.fixed = named == nil && x.k.Lane(t) == nil && !handles.ChangesHandles(c.Func)
	x.follow(t, n, s.values, nil)
	for _, d := range done {
		if m := named[d.ArrayIndex]; m != nil {
			x.settle(m.by, m.ended)
			x.pending = slices.DeleteFunc(x.pending, func(p *request) bool { return p == m })
		}
	}
	x.flush()
	return nil
}

// mostHeld is the largest number of held calls.
const mostHeld = 1 << 16

// follow adds the next call: at once, or to those held.
func (x *reading) follow(t int, place, values int32, raw []int64) *held {
	c := call{place, values, turn{}}
	if x.p.uncoded == nil {
		x.p.uncoded = x.turn(&c, t)
	}
	if raw == nil && len(x.held) == 0 {
		x.number(t, c)
		return nil
	}
	h := &held{call: c, terminal: t, raw: raw}
	x.held = append(x.held, h)
	if len(x.held) > mostHeld {
		x.settle(x.held[0], nil)
	}
	x.flush()
	return h
}

// settle sets the final status of a call's request, nil if it is not known.
func (x *reading) settle(h *held, status []int64) {
	if h.raw != nil {
		if status == nil {
			status = make([]int64, statusWords)
		}
		told(h.asks, status)
		h.values = x.p.intern(append(h.raw, status...))
		h.raw = nil
	}
}

// flush numbers the held calls up to the first one with unknown values.
func (x *reading) flush() {
	for len(x.held) > 0 && x.held[0].raw == nil {
		x.number(x.held[0].terminal, x.held[0].call)
		x.held = x.held[1:]
	}
}

func (x *reading) number(terminal int, c call) {
	n, fresh := once.NumberOf(x.p.callOf, c)
	if fresh {
		x.p.calls = append(x.p.calls, c)
		key := [2]int32{c.place, c.values}
		if _, ok := x.p.samples[key]; !ok {
			x.p.samples[key] = sample{len(x.p.runs) - 1, int32(x.k.Number()), int32(terminal)}
		}
	}
	x.out.Append(n)
	if x.began != nil && len(x.lap) < mostLap {
		x.lap = append(x.lap, n)
	}
}

// requests returns the pending requests that a call names. An element is nil for MPI_REQUEST_NULL and for requests that
// are not one-shot.
func (x *reading) requests(v *trace.Value) []*request {
	list := v.Elems
	if v.Type == trace.TypeRequest {
		list = []trace.Value{*v}
	}
	named := make([]*request, len(list))
	for i := range list {
		number := list[i].RequestID
		if x.walk == nil { // the signature has the number of requests made since
			number = x.made - number
		}
		at, ok := slices.BinarySearchFunc(x.pending, number, func(m *request, n int64) int { return cmp.Compare(m.number, n) })
		if ok && list[i].RequestForm == trace.RequestOneShot {
			named[i] = x.pending[at]
		}
	}
	return named
}

// requestField encodes the requests that a call names by the places that made them, so that requests of other places
// don't matter.
func (x *reading) requestField(fields []field, out []int64, s *signature.Span, raw []int64, named []*request) ([]field, []int64) {
	switch {
	case s.Dims > 0 && raw[0] > 0 && slices.Equal(named, x.pending):
		return append(fields, field{s.Param, s.IsOutput, pending, 0}), out
	case s.Dims > 0 && raw[0] < 0:
		return append(fields, field{s.Param, s.IsOutput, absent, 1}), append(out, raw[0])
	}
	kind := words
	if s.Dims > 0 {
		kind = requests
		out, raw = append(out, raw[0]), raw[1:]
	}
	for i, m := range named {
		if m == nil {
			out = append(out, -1, raw[i])
			continue
		}
		out = append(out, int64(m.by.place), int64(x.nth[m.by.place]-1-m.nth))
	}
	return append(fields, field{s.Param, s.IsOutput, kind, 2}), out
}

// statusWords is the number of values of a final status: form, source, tag, bytes, cancelled.
const statusWords = 5

// derived moves the statuses of a call to the calls that made its requests, if they depend only on these. Else it
// returns false.
func (x *reading) derived(s *signature.Span, vals []int64, named []*request) bool {
	var list [][]int64
	if s.Dims == 0 {
		list = append(list, vals[s.First:s.End])
	} else {
		if vals[s.First] != int64(len(named)) {
			return false
		}
		for e := range s.Elements(vals) {
			list = append(list, vals[e.First:e.End])
		}
	}
	if len(list) != len(named) {
		return false
	}
	for i, v := range list {
		if named[i] == nil || len(v) > statusWords || named[i].by.raw == nil {
			return false
		}
	}
	for i, v := range list {
		full := make([]int64, statusWords)
		if v[0] == signature.StatusFormOfSend {
			full[0], full[4] = v[0], v[1]
		} else {
			copy(full, v)
		}
		named[i].ended = full
	}
	return true
}
