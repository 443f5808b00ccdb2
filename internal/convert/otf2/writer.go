package otf2

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spoor-hpc/spoor/internal/convert"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A Writer writes a trace in OTF2 format into a folder. It is an ops.Sink.
type Writer struct {
	s    *ops.Source
	dir  string
	o    convert.Options
	last uint64 // latest end of a call so far, in ns

	threads []*file
	regions map[uint16]uint32
	bases   map[*trace.Function]string

	events map[uint64]uint64 // by location (as func location numbers threads): number of event records
	paths  map[string]uint32
	names  []string          // names of attached values
	class  map[string]uint32 // by name of an attached value: number of its OTF2 metric class
	comms  []*handles.Comm   // communicators, by their OTF2 number
	// by Comm.Number, as the reader numbers communicators: index in comms, which is the OTF2 number
	ids map[int]uint32
}

// NewWriter starts an OTF2 archive in the existing folder dir.
func NewWriter(s *ops.Source, dir string, o convert.Options) (*Writer, error) {
	a := &Writer{
		s: s, dir: dir, o: o, regions: make(map[uint16]uint32), bases: make(map[*trace.Function]string), events: make(map[uint64]uint64),
		paths: make(map[string]uint32), class: make(map[string]uint32), ids: make(map[int]uint32),
	}
	for i, f := range s.Reader.Schema() {
		a.regions[f.ID] = uint32(i)
	}
	a.numberComms()
	var err error
	if a.names, err = s.Reader.AttachedNames(); err != nil {
		return nil, err
	}
	for i, name := range a.names {
		a.class[name] = uint32(i)
	}
	return a, os.Mkdir(filepath.Join(dir, "traces"), 0o777)
}

// location returns the number of a thread as an OTF2 location. A rank's first thread has the rank's number.
func location(rank, stream int) uint64 { return uint64(stream)<<32 | uint64(rank) }

// Begin creates the event files of a rank's threads.
func (a *Writer) Begin(k *trace.Rank) error {
	a.threads = a.threads[:0]
	for stream := range k.Streams() {
		f, err := create(a.file(location(k.Number(), stream), "evt"), eventChunk, true)
		if err != nil {
			return err
		}
		a.threads = append(a.threads, f)
	}
	return nil
}

// End closes the event files of a rank's threads, and notes their numbers of events.
func (a *Writer) End(k *trace.Rank) error {
	for stream, f := range a.threads {
		a.events[location(k.Number(), stream)] = f.records
		if err := f.close(); err != nil {
			return err
		}
	}
	a.threads = a.threads[:0]
	return nil
}

func (a *Writer) file(location uint64, kind string) string {
	return filepath.Join(a.dir, "traces", fmt.Sprintf("%d.%s", location, kind))
}

// Enter writes the beginning of a call.
func (a *Writer) Enter(c *ops.Call) error {
	f, time := a.threads[c.Stream], uint64(c.StartNs)
	if err := a.metrics(f, time, c.Values); err != nil {
		return err
	}
	f.start(BufferAttributeList)
	f.u32(1)
	f.u32(0)
	f.u8(TypeSourceLocation)
	f.u32(uint32(c.SiteIndex))
	f.measure(0)
	f.u8(EvEnter)
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

// Leave writes the end of a call.
func (a *Writer) Leave(c *ops.Call) error {
	f, time := a.threads[c.Stream], uint64(c.EndNs)
	a.last = max(a.last, time)
	for i := range c.Acts {
		if err := a.ended(f, time, &c.Acts[i]); err != nil {
			return err
		}
	}
	f.record = append(f.record[:0], EvLeave)
	f.u32(a.regions[c.Func.ID])
	return f.write(time)
}

// path returns the number of the name of a file that the program used; a new name gets the next number, from 0.
func (a *Writer) path(name string) uint32 {
	n, _ := once.NumberOf(a.paths, name)
	return n
}

func (a *Writer) base(f *trace.Function) string {
	return once.GetOrMake(a.bases, f, func() string { return ops.BaseName(f) })
}

// selfNumber is the Comm.Number of MPI_COMM_SELF.
const selfNumber = -1

// numberComms gives communicators their OTF2 numbers: from 0 without gaps, parents before children. The two groups of
// an intercommunicator share a number.
func (a *Writer) numberComms() {
	self := &handles.Comm{Number: selfNumber}
	var number func(c *handles.Comm)
	number = func(c *handles.Comm) {
		if c.Number < 0 {
			c = self
		} else if c.Remote != nil && c.Remote.Number < c.Number {
			c = c.Remote
		}
		if _, done := a.ids[c.Number]; done {
			return
		}
		if c.Parent != nil {
			number(c.Parent)
		}
		a.ids[c.Number] = uint32(len(a.comms))
		if c.Remote != nil {
			a.ids[c.Remote.Number] = uint32(len(a.comms))
		}
		a.comms = append(a.comms, c)
	}
	for _, c := range a.s.Comms.List() {
		number(c)
	}
	number(self)
}

// comm returns the OTF2 number of a communicator.
func (a *Writer) comm(c *handles.Comm) uint32 { return a.ids[max(c.Number, selfNumber)] }
