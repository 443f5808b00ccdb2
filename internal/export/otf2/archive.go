// Package otf2 writes traces in the Open Trace Format, version 2, which Vampir, Scalasca, the
// tools of Score-P and Python's otf2 read. It has no use for OTF2's library: the format is
// chunks of records, see chunks.go.
//
// A process is a location group, a thread a location. A call is Enter and Leave of a region; what
// it did stands between, as Score-P orders it: sends right behind Enter, receives right before
// Leave. Call sites are attributes of Enter.
package otf2

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spoor-hpc/spoor/internal/export"
	records "github.com/spoor-hpc/spoor/internal/otf2"
	"github.com/spoor-hpc/spoor/trace"
)

// Options say how to write an archive.
type Options struct {
	// Line tells the source line of a call site, or else where it is in which module, and no line.
	Line func(trace.Site) (file string, line int)
	// About is what is known of the trace as a whole.
	About map[string]string
}

// An Archive is a folder that becomes an OTF2 trace. It is an export.Sink.
type Archive struct {
	s    *export.Source
	dir  string
	o    Options
	last uint64 // time of the last event

	threads []*file
	sites   []uint32 // by terminal of the rank; records.Undefined: not looked up yet
	values  [][]value
	regions map[uint16]uint32
	bases   map[*trace.Function]string

	events map[uint64]uint64 // by location
	lines  lines
	paths  map[string]uint32
	names  []string // of attached values
	comms  []uint32 // numbers of communicators, by those that the trace gives them
	self   uint32   // that of MPI_COMM_SELF
}

// A value is the mean of what was attached to calls like one under a name.
type value struct {
	class uint32
	mean  float64
}

// lines numbers call sites.
type lines struct {
	of   map[trace.Site]uint32
	list []trace.Site
}

// New begins an archive in a folder that is there.
func New(s *export.Source, dir string, o Options) (*Archive, error) {
	a := &Archive{
		s: s, dir: dir, o: o, regions: make(map[uint16]uint32), bases: make(map[*trace.Function]string), events: make(map[uint64]uint64),
		lines: lines{of: make(map[trace.Site]uint32)}, paths: make(map[string]uint32),
	}
	for i, f := range s.Reader.Schema() {
		a.regions[f.ID] = uint32(i)
	}
	a.numberComms()
	var err error
	if a.names, err = s.Reader.ValueNames(); err != nil {
		return nil, err
	}
	return a, os.Mkdir(filepath.Join(dir, "traces"), 0o777)
}

// location numbers a thread; first threads have the number of their rank.
func location(rank, stream int) uint64 { return uint64(stream)<<32 | uint64(rank) }

// Begin opens the files of a rank's threads.
func (a *Archive) Begin(k *trace.Rank) error {
	a.threads = a.threads[:0]
	for stream := range k.Streams() {
		f, err := create(a.file(location(k.Number(), stream), "evt"), eventChunk, true)
		if err != nil {
			return err
		}
		a.threads = append(a.threads, f)
	}
	a.sites = make([]uint32, k.Terminals())
	for i := range a.sites {
		a.sites[i] = records.Undefined
	}
	if len(a.names) == 0 {
		return nil
	}
	a.values = make([][]value, k.Terminals())
	for t := range a.values {
		of, err := k.ValuesOf(t)
		if err != nil {
			return err
		}
		for i, name := range a.names {
			if s, ok := of[name]; ok && s.Count > 0 {
				a.values[t] = append(a.values[t], value{uint32(i), s.Mean()})
			}
		}
	}
	return nil
}

// End closes them.
func (a *Archive) End(k *trace.Rank) error {
	for stream, f := range a.threads {
		a.events[location(k.Number(), stream)] = f.records
		if err := f.close(); err != nil {
			return err
		}
	}
	a.threads = a.threads[:0]
	return nil
}

func (a *Archive) file(location uint64, kind string) string {
	return filepath.Join(a.dir, "traces", fmt.Sprintf("%d.%s", location, kind))
}

// Enter writes the beginning of a call.
func (a *Archive) Enter(c *export.Call) error {
	f, time := a.threads[c.Stream], uint64(c.Start)
	if a.values != nil {
		if err := a.metrics(f, time, a.values[c.Terminal]); err != nil {
			return err
		}
	}
	f.start(records.AttributeList)
	f.u32(1)
	f.u32(0)
	f.u8(records.TypeSourceLocation)
	f.u32(a.line(c))
	f.measure(0)
	f.u8(records.EvEnter)
	f.u32(a.regions[c.Func.ID])
	if err := f.write(time); err != nil {
		return err
	}
	for i := range c.Acts {
		if err := a.begun(f, time, &c.Acts[i]); err != nil {
			return err
		}
	}
	return nil
}

// Leave writes its end.
func (a *Archive) Leave(c *export.Call) error {
	f, time := a.threads[c.Stream], uint64(c.End)
	a.last = max(a.last, time)
	for i := range c.Acts {
		if err := a.ended(f, time, &c.Acts[i]); err != nil {
			return err
		}
	}
	f.record = append(f.record[:0], records.EvLeave)
	f.u32(a.regions[c.Func.ID])
	return f.write(time)
}

func (a *Archive) line(c *export.Call) uint32 {
	n := &a.sites[c.Terminal]
	if *n == records.Undefined {
		known, ok := a.lines.of[c.Site]
		if !ok {
			known = uint32(len(a.lines.list))
			a.lines.of[c.Site] = known
			a.lines.list = append(a.lines.list, c.Site)
		}
		*n = known
	}
	return *n
}

// path numbers a file by its name.
func (a *Archive) path(name string) uint32 {
	n, ok := a.paths[name]
	if !ok {
		n = uint32(len(a.paths))
		a.paths[name] = n
	}
	return n
}

func (a *Archive) base(f *trace.Function) string {
	s, ok := a.bases[f]
	if !ok {
		s = export.Base(f)
		a.bases[f] = s
	}
	return s
}

// numberComms numbers communicators without gaps. Both sides of an intercommunicator are one.
func (a *Archive) numberComms() {
	for _, c := range a.s.Comms.List() {
		if c.Remote != nil && c.Remote.Number < c.Number {
			a.comms = append(a.comms, a.comms[c.Remote.Number])
			continue
		}
		a.comms = append(a.comms, a.self)
		a.self++
	}
}

// comm returns the number of a communicator.
func (a *Archive) comm(c *trace.Comm) uint32 {
	if c.Number < 0 {
		return a.self
	}
	return a.comms[c.Number]
}
