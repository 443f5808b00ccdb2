package otf2

import (
	"fmt"
)

// Definitions are the objects that events refer to. If an id is defined twice, the first definition counts.
type Definitions struct {
	Clock               Clock
	Strings             map[uint32]string
	Groups              []Group // in the order of the file
	Locations           []Location
	LocationGroups      []LocationGroup
	SystemTreeNodes     map[uint32]SystemTreeNode
	Regions             map[uint32]Region
	Comms               []Comm // in the order of the file, intercommunicators too
	Windows             map[uint32]Window
	SourceCodeLocations map[uint32]SourceCodeLocation
	CallingContexts     map[uint32]CallingContext
	Files               map[uint32]uint32 // by file id: id of the string with the file's name
	IoHandles           map[uint32]IoHandle
	Metrics             map[uint32][]Metric // by id of a metric class or instance
	members             map[uint32]Metric
}

// A Metric is a measured quantity.
type Metric struct {
	Name string
	Mode uint8 // MetricModeAccumulated, MetricModeAbsolute or MetricModeRelative
}

// Modes of metrics.
const (
	MetricModeAccumulated = 0 // counted since the beginning of the run
	MetricModeAbsolute    = 1 // the quantity at the time of the measurement
	MetricModeRelative    = 2 // counted since the previous measurement
)

// Clock converts times to ns.
type Clock struct {
	Resolution  uint64 // ticks per second
	Offset      uint64 // ticks at the beginning of the trace
	TraceLength uint64
	StartUnixNs uint64 // ns since 1970 at Offset; all ones: unknown
}

// A Group is a set of numbers: of locations if its type is GroupTypeCommLocations, else of indices into that group.
type Group struct {
	ID       uint32
	Type     uint8
	Paradigm uint8
	Members  []uint64
}

// A Location is a thread, in general. Name is the id of a string, Group that of a LocationGroup.
type Location struct {
	ID    uint64
	Name  uint32
	Type  uint8
	Group uint32
}

// A LocationGroup is a process, in general. Name is the id of a string, Node that of a Node.
type LocationGroup struct {
	ID, Name uint32
	Type     uint8
	Node     uint32
}

// A SystemTreeNode is a host, or a group of hosts. Name and Class are ids of strings, Parent is the id of the Node around it.
type SystemTreeNode struct{ Name, Class, Parent uint32 }

// A Region is a function. Name and File are ids of strings.
type Region struct {
	Name, File uint32
	Line       uint32
	Paradigm   uint8
}

// A Comm is a communicator. Name is the id of a string, Group that of a Group, Parent that of a Comm.
type Comm struct {
	ID, Name, Group, Parent uint32
	RemoteGroup             uint32 // group of the other side; Undefined for an intracommunicator
}

// A Window is memory for one-sided communication. Name is the id of a string, Comm that of a Comm.
type Window struct{ Name, Comm uint32 }

// A SourceCodeLocation is a line of source code. File is the id of a string.
type SourceCodeLocation struct{ File, Line uint32 }

// A CallingContext is a region with the place that it was called from: ids of a Region, a Source and the Context around it.
type CallingContext struct{ Region, SourceCodeLocation, Parent uint32 }

// An IoHandle is a file that was opened. Name is the id of a string, File that of a file, Comm that of a Comm.
type IoHandle struct{ Name, File, Comm uint32 }

// String returns a string that was defined, "" if none was.
func (d *Definitions) String(id uint32) string { return d.Strings[id] }

func (d *Definitions) make() {
	d.Strings, d.SystemTreeNodes, d.Regions = make(map[uint32]string), make(map[uint32]SystemTreeNode), make(map[uint32]Region)
	d.Windows, d.SourceCodeLocations, d.CallingContexts = make(map[uint32]Window), make(map[uint32]SourceCodeLocation), make(map[uint32]CallingContext)
	d.Files, d.IoHandles = make(map[uint32]uint32), make(map[uint32]IoHandle)
	d.Metrics, d.members = make(map[uint32][]Metric), make(map[uint32]Metric)
}

// global reads the definitions of all locations.
func (a *Archive) global(path string) error {
	a.make()
	c, err := openChunked(path, a.defChunk)
	if err != nil {
		return err
	}
	defer c.close()
	for {
		id, ok, err := c.next()
		if err != nil || !ok {
			return err
		}
		n := c.length()
		r := byteReader{b: c.take(n), order: c.order}
		if c.err != nil {
			return c.wrong(fmt.Errorf("definition %d: %w", id, c.err))
		}
		a.define(id, &r)
		if r.err != nil {
			return c.wrong(fmt.Errorf("definition %d: %w", id, r.err))
		}
	}
}

func first[V any](m map[uint32]V, id uint32, v V) {
	if _, ok := m[id]; !ok {
		m[id] = v
	}
}

// define stores one record. Unknown trailing values are skipped.
func (d *Definitions) define(id byte, r *byteReader) {
	switch id {
	case DefClock:
		d.Clock = Clock{r.u64(), r.u64(), r.u64(), 1<<64 - 1}
		if r.at < len(r.b) { // format 2 had no date
			d.Clock.StartUnixNs = r.u64()
		}
		return
	case DefLocation:
		d.Locations = append(d.Locations, Location{r.u64(), r.u32(), r.u8(), 0})
		r.u64() // number of events; some writers don't set it
		d.Locations[len(d.Locations)-1].Group = r.u32()
		return
	}
	switch id {
	case DefString, DefSystemTreeNode, DefLocationGroup, DefRegion, DefGroup, DefMetricMember, DefMetricClass, DefMetricInstance, DefComm, DefInterComm,
		DefRmaWin, DefSourceCodeLocation, DefCallingContext, DefIoRegularFile, DefIoDirectory, DefIoHandle:
	default:
		return // other definitions are not needed
	}
	self := r.u32()
	switch id {
	case DefString:
		first(d.Strings, self, r.text())
	case DefSystemTreeNode:
		first(d.SystemTreeNodes, self, SystemTreeNode{r.u32(), r.u32(), r.u32()})
	case DefLocationGroup:
		d.LocationGroups = append(d.LocationGroups, LocationGroup{self, r.u32(), r.u8(), r.u32()})
	case DefRegion:
		x := Region{Name: r.u32()}
		r.u32() // description
		r.u8()
		x.File, x.Line = r.u32(), r.u32()
		r.u32()              // last line
		if r.at < len(r.b) { // format 1 had no more
			r.u32()
			r.u8()
			x.Paradigm = r.u8()
		}
		first(d.Regions, self, x)
	case DefGroup:
		d.group(self, r)
	case DefComm:
		d.Comms = append(d.Comms, Comm{self, r.u32(), r.u32(), r.u32(), UndefinedRef})
	case DefInterComm:
		x := Comm{ID: self, Name: r.u32(), Group: r.u32(), RemoteGroup: r.u32()}
		x.Parent = r.u32()
		d.Comms = append(d.Comms, x)
	case DefRmaWin:
		first(d.Windows, self, Window{r.u32(), r.u32()})
	case DefSourceCodeLocation:
		first(d.SourceCodeLocations, self, SourceCodeLocation{r.u32(), r.u32()})
	case DefCallingContext:
		first(d.CallingContexts, self, CallingContext{r.u32(), r.u32(), r.u32()})
	case DefIoRegularFile, DefIoDirectory:
		first(d.Files, self, r.u32())
	case DefIoHandle:
		x := IoHandle{Name: r.u32(), File: r.u32()}
		r.u8()
		r.u32()
		x.Comm = r.u32()
		first(d.IoHandles, self, x)
	case DefMetricMember:
		x := Metric{Name: d.Strings[r.u32()]}
		r.u32() // description
		r.u8()
		x.Mode = r.u8() >> 4
		first(d.members, self, x)
	case DefMetricClass:
		n := int(r.u8())
		list := make([]Metric, n)
		for i := range list {
			list[i] = d.members[r.u32()]
		}
		first(d.Metrics, self, list)
	case DefMetricInstance:
		if list, ok := d.Metrics[r.u32()]; ok {
			first(d.Metrics, self, list)
		}
	}
}

func (d *Definitions) group(self uint32, r *byteReader) {
	g := Group{ID: self}
	r.u32()         // name
	g.Type = r.u8() // in the encoding before format 1.2; later formats have another type after the members
	n := r.u32()
	if uint64(n) > uint64(len(r.b)-r.at) { // each member takes at least a byte
		r.fail(errShort)
		return
	}
	g.Members = make([]uint64, n)
	for i := range g.Members {
		g.Members[i] = r.u64()
	}
	if g.Paradigm = ParadigmMPI; r.at < len(r.b) {
		g.Type, g.Paradigm = r.u8(), r.u8()
	}
	d.Groups = append(d.Groups, g)
}
