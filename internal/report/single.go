package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/convert"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
	"github.com/spoor-hpc/spoor/trace/model"
)

// SingleCalls is the calls of a part of a run one by one, with what each did, which messages went
// between them, and what they waited.
//
// The long lists are packed: numbers as uvarints, those with a sign as zigzag.
//
// A form is what tooltips of equal calls show, see appearance; calls name it by number.
//
//	calls = (count, count × start − end of the call before or StartNs, count × duration, count × form)… by row
//	forms = (function, site, comm, file, act, peer+1, other+1, tag, out, in, completed, state)…
//	links = (row, call, row, call)… from, to; sorted, the row a call is received in as difference
//	waits = (row, call, kind, ns, rank)… the row as difference
type SingleCalls struct {
	StartNs            int64    `json:"from"` // ns since the start of the timeline
	EndNs              int64    `json:"to"`
	FunctionNames      []string `json:"names"` // names of functions; "": the one in Timeline.Functions
	FunctionOfName     []int    `json:"of"`    // for each of FunctionNames: index in Timeline.Functions
	Sites              []string `json:"sites"`
	Comms              []string `json:"comms"` // communicators, with named windows and datatypes
	Files              []string `json:"files"`
	PackedTooltips     string   `json:"forms"`
	PackedCalls        string   `json:"calls"`
	PackedMessageLinks string   `json:"links"`
	PackedWaits        string   `json:"waits"`
	Count              int      `json:"count"`
}

// An appearance is what a call's tooltip shows. It is stored once for all calls with the same.
type appearance struct {
	name, site, comm, file int
	act                    act
	peer, other            int // world ranks, −1 none; if a call sends to peer and receives from another rank, other is that rank
	tag                    int64
	out, in                uint64
	completed              int
	state                  int // 0: returned, 1: never returned, 2: the program left the call by a jump or an exception
}

// An act is the kind of a call on the page.
type act int

const (
	nothing act = iota
	sends
	receives
	exchanges
	together // a collective; peer is the root
	completes
	reaches // accesses another rank's memory
	moves   // moves data of a file
)

// Bounds of single calls.
const (
	maxSingle = 100000  // calls of one part
	maxForms  = 1 << 14 // largest number of forms; beyond it, calls have only function and site
)

// A spell is one call, or one aside, on a row of the timeline.
type spell struct {
	start, ns int64
	form      int
}

// A callIndex locates a call: its row, and its number there.
type callIndex struct{ row, call int }

// A collector collects the calls of a part of the run. It provides an ops.Sink for each rank.
type collector struct {
	ops.NopSink
	single   SingleCalls
	s        *ops.Source
	rows     [][]spell
	row      map[thread]int
	offset   int64 // ns to add to times of an ops.Call, so that they count from the timeline's start
	start    int64 // timeline's start, in ns of the run's time line
	over     int64 // end of the current rank, in ns since the timeline's start
	where    func(function string, s trace.Site) string
	function func(name string) int
	aside    [asides]int

	forms  map[appearance]int
	packed []byte
	names  map[string]int
	sites  map[trace.Site]int
	comms  map[string]int
	about  string               // communicator of the current call; empty: none
	given  *handles.ObjectNames // names that the current rank gave to its objects
	files  map[string]int
	sent   map[uint64]callIndex
	got    map[uint64]callIndex
	last   []int64 // by row: end of the previous call; -1: no call yet
}

// singles reads the calls of a part of the run, for the threads in rows. starts, if set, gives the call of each thread
// at which to begin; then messages are not matched.
func (t *Timeline) singles(r *trace.Reader, rows [][]thread, from, to int64, o Options, starts func(rank, stream int) uint64) (*SingleCalls, error) {
	opts := ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime, NumberMessages: starts == nil, StartPosition: starts}
	if from > 0 || to < t.EndNs-t.StartNs {
		opts.FromNs, opts.ToNs = from+t.StartNs, to+t.StartNs
	}
	s, err := ops.NewSource(r, opts)
	if err != nil {
		return nil, err
	}
	c := &collector{
		single: SingleCalls{StartNs: from, EndNs: to, FunctionNames: []string{}, FunctionOfName: []int{}, Sites: []string{}, Comms: []string{}, Files: []string{}},
		s:      s, rows: make([][]spell, len(rows)), row: make(map[thread]int), offset: s.StartNs - t.StartNs, start: t.StartNs,
		where:    o.called,
		function: t.function, aside: t.pseudo,
		forms: make(map[appearance]int), names: make(map[string]int), sites: make(map[trace.Site]int), comms: make(map[string]int),
		files: make(map[string]int), sent: make(map[uint64]callIndex), got: make(map[uint64]callIndex), last: make([]int64, len(rows)),
	}
	for i, list := range rows {
		for _, x := range list {
			c.row[x] = i
		}
		c.last[i] = -1
	}
	if err := s.Run(c); err != nil {
		return nil, err
	}
	return c.pack(t.waited), nil
}

// Begin is called before the calls of rank k.
func (c *collector) Begin(k *trace.Rank) (err error) {
	if c.given, err = handles.TableOf(c.s.Reader).Names(k); err != nil {
		return err
	}
	c.over, err = k.EndNs()
	c.over -= c.start
	return err
}

// Enter records a call with its appearance.
func (c *collector) Enter(x *ops.Call) error {
	row, ok := c.row[thread{x.Rank, x.Stream}]
	if !ok {
		return nil
	}
	start, end := x.StartNs+c.offset, x.EndNs+c.offset
	before := c.last[row]
	if before < 0 {
		before = start // first call of the row
	}
	for _, a := range x.Timing.AsidesBeforeCall(x.Index, before, start) {
		if f := c.aside[which(a)]; f >= 0 {
			c.rows[row] = append(c.rows[row], spell{a.StartNs, a.Ns, c.form(appearance{name: c.name("", f), site: -1, comm: -1, file: -1, peer: -1, other: -1})})
		}
	}
	c.last[row] = end
	f := c.describe(x)
	if f.state == 1 {
		end = max(end, c.over)
	}
	at := callIndex{row, len(c.rows[row])}
	c.rows[row] = append(c.rows[row], spell{start, end - start, c.form(f)})
	for i := range x.Acts {
		a := &x.Acts[i]
		if a.MessageNumber == 0 {
			continue
		}
		switch a.Kind {
		case ops.ActSend, ops.ActSendBegin:
			c.sent[a.MessageNumber] = at
		case ops.ActRecv, ops.ActRecvEnd:
			c.got[a.MessageNumber] = at
		}
	}
	return nil
}

// describe returns the appearance of a call.
func (c *collector) describe(x *ops.Call) appearance {
	f := appearance{name: c.name(x.Name(), c.function(x.Name())), comm: -1, file: -1, peer: -1, other: -1}
	n, fresh := once.NumberOf(c.sites, x.Site)
	if fresh {
		c.single.Sites = append(c.single.Sites, c.where(x.Name(), x.Site))
	}
	f.site = n
	switch x.Return {
	case trace.ReturnCodeNeverReturned:
		f.state = 1
	case trace.ReturnCodeLeftByJump:
		f.state = 2
	}
	c.about = ""
	for i := range x.Acts {
		c.take(&f, &x.Acts[i])
	}
	c.given.EachNamed(x.Call, func(handle, name string) {
		if kind := strings.TrimRight(handle, "0123456789"); kind != "comm" {
			c.about = strings.TrimPrefix(c.about+fmt.Sprintf(", %s %q", kind, name), ", ")
		}
	})
	if c.about != "" {
		n, fresh := once.NumberOf(c.comms, c.about)
		if fresh {
			c.single.Comms = append(c.single.Comms, c.about)
		}
		f.comm = n
	}
	return f
}

// take adds an act to an appearance. What a call begins takes precedence over what it completes.
func (c *collector) take(f *appearance, a *ops.Act) {
	switch a.Kind {
	case ops.ActSend, ops.ActSendBegin:
		f.out += a.SentBytes
		switch to := a.PeerWorldRank(); f.act {
		case receives:
			f.act, f.peer, f.other = exchanges, to, f.peer
		case sends: // one of several sends
			f.peer = same(f.peer, to)
		default:
			f.act, f.peer, f.tag = sends, to, a.Tag
		}
	case ops.ActRecv, ops.ActRecvBegin:
		f.in += a.ReceivedBytes
		from := -1
		if a.PeerInComm >= 0 {
			from = a.PeerWorldRank()
		}
		switch f.act {
		case sends:
			f.act, f.other = exchanges, from
		case receives:
			f.peer = same(f.peer, from)
		default:
			f.act, f.peer, f.tag = receives, from, a.Tag
		}
	case ops.ActCollective, ops.ActCollectiveBegin:
		f.act, f.peer = together, -1
		if a.Root >= 0 {
			f.peer = a.Comm.PeerWorldRank(a.Root)
		}
		f.out, f.in = f.out+a.SentBytes, f.in+a.ReceivedBytes
	case ops.ActPut, ops.ActGet, ops.ActAtomic:
		f.act, f.peer = reaches, a.Comm.WorldRank(a.PeerInComm)
		f.out, f.in = f.out+a.SentBytes, f.in+a.ReceivedBytes
	case ops.ActRead, ops.ActReadBegin, ops.ActWrite, ops.ActWriteBegin, ops.ActFileOpened, ops.ActFileClosed:
		f.act = moves
		f.out, f.in = f.out+a.SentBytes, f.in+a.ReceivedBytes
		if a.File != nil {
			n, fresh := once.NumberOf(c.files, a.File.Name)
			if fresh {
				c.single.Files = append(c.single.Files, a.File.Name)
			}
			f.file = n
		}
	case ops.ActSendEnd, ops.ActRecvEnd, ops.ActCollectiveEnd, ops.ActRMAEndByRequest, ops.ActReadEnd, ops.ActWriteEnd:
		if f.completed++; f.act == nothing {
			f.act = completes
		}
		if f.act == completes && a.Kind == ops.ActRecvEnd {
			f.in += a.ReceivedBytes
			if f.other = -1; f.completed == 1 {
				f.other, f.tag = a.PeerWorldRank(), a.Tag
			}
		} else if f.act == completes {
			f.other = -1
		}
	default:
		return
	}
	if a.Comm != nil && c.about == "" {
		c.about = convert.CommName(a.Comm)
	}
}

// same returns a if both values are equal, else −1.
func same(a, b int) int {
	if a == b {
		return a
	}
	return -1
}

// name returns the index in FunctionNames of a name, which it adds if it is new. function is the index in
// Timeline.Functions of the function with this name; "" means the name there.
func (c *collector) name(name string, function int) int {
	key := cmp.Or(name, string(rune(function)))
	n, fresh := once.NumberOf(c.names, key)
	if fresh {
		c.single.FunctionNames, c.single.FunctionOfName = append(c.single.FunctionNames, name), append(c.single.FunctionOfName, function)
	}
	return n
}

func (c *collector) form(f appearance) int {
	n, ok := c.forms[f]
	if ok {
		return n
	}
	if len(c.forms) >= maxForms {
		f = appearance{name: f.name, site: f.site, comm: -1, file: -1, peer: -1, other: -1, state: f.state}
		if n, ok := c.forms[f]; ok {
			return n
		}
	}
	n = len(c.forms)
	c.forms[f] = n
	c.packed = appendUvarint(c.packed, uint64(f.name), uint64(f.site+1), uint64(f.comm+1), uint64(f.file+1), uint64(f.act), uint64(f.peer+1), uint64(f.other+1),
		zigzag(f.tag), f.out, f.in, uint64(f.completed), uint64(f.state))
	return n
}

func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func (c *collector) pack(waited func(row int) []waits.Wait) *SingleCalls {
	var calls, late []byte
	before := 0
	for row, list := range c.rows {
		calls = appendUvarint(calls, uint64(len(list)))
		at := c.single.StartNs
		for _, x := range list {
			calls = appendUvarint(calls, zigzag(x.start-at))
			at = x.start + x.ns
		}
		for _, x := range list {
			calls = appendUvarint(calls, uint64(max(0, x.ns)))
		}
		for _, x := range list {
			calls = appendUvarint(calls, uint64(x.form))
		}
		c.single.Count += len(list)
		if waited == nil {
			continue
		}
		i := 0
		for _, w := range waited(row) {
			for i < len(list) && list[i].start < w.BeginNs+c.offset {
				i++
			}
			if i < len(list) && list[i].start == w.BeginNs+c.offset {
				late = appendUvarint(late, uint64(row-before), uint64(i), uint64(w.Kind), uint64(w.Ns), uint64(w.LateRank))
				before = row
			}
		}
	}
	c.single.PackedCalls, c.single.PackedWaits, c.single.PackedTooltips, c.single.PackedMessageLinks = packed(calls), packed(late), packed(c.packed), packed(c.links())
	return &c.single
}

// links encodes the messages with both ends in the part.
func (c *collector) links() (b []byte) {
	type link struct{ from, to callIndex }
	var list []link
	for _, number := range slices.Sorted(maps.Keys(c.got)) {
		if from, ok := c.sent[number]; ok {
			list = append(list, link{from, c.got[number]})
		}
	}
	slices.SortFunc(list, func(x, y link) int {
		return cmp.Or(cmp.Compare(x.to.row, y.to.row), cmp.Compare(x.to.call, y.to.call), cmp.Compare(x.from.row, y.from.row), cmp.Compare(x.from.call, y.from.call))
	})
	row := 0
	for _, l := range list {
		b = appendUvarint(b, uint64(l.from.row), uint64(l.from.call), uint64(l.to.row-row), uint64(l.to.call))
		row = l.to.row
	}
	return b
}

// called returns the place of a call without callers, but with the Python line that called into a C library.
func (o *Options) called(function string, site trace.Site) string {
	p := o.SiteNaming.Locate(function, site.WithoutCallers())
	text := p.String()
	if line, ok := model.EnclosingSourceLine(site); ok {
		p = o.SiteNaming.Locate("", line.WithoutCallers())
		text += " < " + p.String()
	}
	return text
}
