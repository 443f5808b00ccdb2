// Perfetto writes traces in the format of ui.perfetto.dev and its trace processor: packets of protocol buffers. A rank
// is a process, a thread a thread, a call a slice. A message is a flow from the sending call to the call in which it
// arrived.

package convert

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// Numbers of fields in Perfetto's protocol-buffer messages, from its .proto files.
const (
	packet = 1 // field of Trace: a TracePacket

	packetTimestamp  = 8
	packetSequence   = 10
	packetEvent      = 11
	packetInterned   = 12
	packetFlags      = 13
	packetDescriptor = 60

	eventAnnotation  = 4
	eventType        = 9
	eventName        = 10
	eventTrack       = 11
	eventPlainName   = 23
	eventLocation    = 34
	eventFlow        = 47
	eventFlowEnd     = 48
	internedName     = 2
	internedDetail   = 3
	internedLocation = 4

	locationFile = 2
	locationLine = 4

	annotationName   = 1
	annotationInt    = 4
	annotationString = 6
	annotationPlain  = 10

	trackID      = 1
	trackName    = 2
	trackProcess = 3
	trackThread  = 4
	trackParent  = 5

	processID   = 1
	processName = 6
	threadOf    = 1
	threadID    = 2
	threadName  = 5
)

const (
	sliceBegin = 1
	sliceEnd   = 2
	instant    = 3

	firstOfAll = 1 // packet flag SEQ_INCREMENTAL_STATE_CLEARED: what earlier packets interned is forgotten
	usesState  = 2 // packet flag SEQ_NEEDS_INCREMENTAL_STATE: the packet refers to interned data
)

// PerfettoWriter writes calls and messages as packets of Perfetto's trace format. It is an ops.Sink.
type PerfettoWriter struct {
	ops.NopSink
	w     io.Writer
	s     *ops.Source
	o     Options
	out   []byte // buffer of the current packet
	event []byte // buffer of the event or descriptor in the packet
	other []byte // buffer of a message inside event, or around out
	state []byte // names and source locations that the next packet defines (InternedData)

	functions map[*trace.Function]uint64 // by function: its number in interned data, less one
	names     map[string]uint64
	sites     []uint64 // by call site, as an index in ops.Source.Places: number of its interned source location
	details   []EventDetail
}

// NewPerfettoWriter begins a Perfetto trace with the metadata and marks of o.
func NewPerfettoWriter(s *ops.Source, w io.Writer, o Options) (*PerfettoWriter, error) {
	x := &PerfettoWriter{w: w, s: s, o: o, functions: make(map[*trace.Function]uint64), names: make(map[string]uint64)}
	x.event = textField(varintField(x.event[:0], trackID, aboutTrack), trackName, "about this trace")
	if err := x.packet(packetDescriptor, 0, firstOfAll); err != nil {
		return nil, err
	}
	x.event = textField(varintField(varintField(x.event[:0], eventType, instant), eventTrack, aboutTrack), eventPlainName, "about this trace")
	for _, name := range slices.Sorted(maps.Keys(o.Metadata)) {
		x.other = textField(textField(x.other[:0], annotationPlain, name), annotationString, o.Metadata[name])
		x.event = messageField(x.event, eventAnnotation, x.other)
	}
	if err := x.packet(packetEvent, 0, usesState); err != nil {
		return nil, err
	}
	for _, m := range o.Marks {
		x.event = textField(varintField(varintField(x.event[:0], eventType, instant), eventTrack, aboutTrack), eventPlainName, m.Text)
		if err := x.packet(packetEvent, m.Ns, usesState); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// aboutTrack is the number of the Perfetto track for information about the whole trace.
const aboutTrack = 1

func varintField(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func textField(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func messageField(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

func fixedField(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

// packet writes x.event as the given field of a packet. The packet also defines what was interned since the one before.
func (x *PerfettoWriter) packet(field protowire.Number, time int64, flags uint64) error {
	b := varintField(varintField(x.out[:0], packetTimestamp, uint64(time)), packetSequence, 1)
	b = varintField(b, packetFlags, flags)
	if len(x.state) > 0 {
		b = messageField(b, packetInterned, x.state)
		x.state = x.state[:0]
	}
	x.out = messageField(b, field, x.event)
	x.other = messageField(x.other[:0], packet, x.out)
	_, err := x.w.Write(x.other)
	return err
}

// track returns the number of a thread's Perfetto track. Threads count from 1 here, as 0 is the track of the rank's
// process.
func track(rank, thread int) uint64 { return uint64(rank+1)<<20 | uint64(thread) }

// Begin names a rank and its threads. The rank's process number is rank + 1, as Perfetto reserves process 0 for the
// operating system.
func (x *PerfettoWriter) Begin(k *trace.Rank) error {
	rank := k.Number()
	pid := uint64(rank + 1)
	x.other = textField(varintField(x.other[:0], processID, pid), processName, fmt.Sprintf("MPI Rank %d", rank))
	x.event = messageField(varintField(x.event[:0], trackID, track(rank, 0)), trackProcess, x.other)
	if err := x.packet(packetDescriptor, 0, usesState); err != nil {
		return err
	}
	for stream := range k.Streams() {
		name, tid := "first thread", pid // first threads have the process's number, as in operating systems
		if stream > 0 {
			name, tid = fmt.Sprintf("thread %d", stream), pid+uint64(stream*(x.s.Reader.Ranks()+1))
		}
		x.other = textField(varintField(varintField(x.other[:0], threadOf, pid), threadID, tid), threadName, name)
		x.event = varintField(varintField(x.event[:0], trackID, track(rank, stream+1)), trackParent, track(rank, 0))
		x.event = messageField(x.event, trackThread, x.other)
		if err := x.packet(packetDescriptor, 0, usesState); err != nil {
			return err
		}
	}
	return nil
}

// Enter begins a slice for a call, and flows for the messages that the call sends.
func (x *PerfettoWriter) Enter(c *ops.Call) error {
	b := varintField(varintField(x.event[:0], eventType, sliceBegin), eventTrack, track(c.Rank, c.Stream+1))
	b = varintField(varintField(b, eventName, x.function(c.Func)), eventLocation, x.site(c.SiteIndex))
	x.details = EventDetails(c, x.details[:0])
	for _, d := range x.details {
		x.other = varintField(x.other[:0], annotationName, intern(x, x.names, d.Name, internedDetail, d.Name))
		if d.Text != "" {
			x.other = textField(x.other, annotationString, d.Text)
		} else {
			x.other = varintField(x.other, annotationInt, uint64(d.Number))
		}
		b = messageField(b, eventAnnotation, x.other)
	}
	for i := range c.Acts {
		if a := &c.Acts[i]; a.Kind == ops.ActSend || a.Kind == ops.ActSendBegin {
			b = fixedField(b, eventFlow, a.MessageNumber)
		}
	}
	x.event = b
	return x.packet(packetEvent, c.StartNs, usesState)
}

// Leave ends the slice of a call, and the flows of the messages that arrived in the call.
func (x *PerfettoWriter) Leave(c *ops.Call) error {
	b := varintField(varintField(x.event[:0], eventType, sliceEnd), eventTrack, track(c.Rank, c.Stream+1))
	for i := range c.Acts {
		if a := &c.Acts[i]; a.Kind == ops.ActRecv || a.Kind == ops.ActRecvEnd {
			b = fixedField(b, eventFlowEnd, a.MessageNumber)
		}
	}
	x.event = b
	return x.packet(packetEvent, c.EndNs, usesState)
}

func (x *PerfettoWriter) function(f *trace.Function) uint64 {
	return intern(x, x.functions, f, internedName, f.Name)
}

// intern returns the number of a thing in interned data, from 1. If the thing is new, the next packet will define its
// name.
func intern[T comparable](x *PerfettoWriter, known map[T]uint64, thing T, kind protowire.Number, name string) uint64 {
	id, fresh := once.NumberOf(known, thing)
	id++
	if fresh {
		x.state = messageField(x.state, kind, textField(varintField(nil, 1, id), 2, name))
	}
	return id
}

// site returns the number of a call site's source location in interned data, from 1. place is an index in
// ops.Source.Places.
func (x *PerfettoWriter) site(place int) uint64 {
	return ops.GetForSite(x.s, &x.sites, place, func(s trace.Site) uint64 {
		id := uint64(len(x.sites) + 1)
		file, line := x.o.SourceLine(s)
		m := textField(varintField(nil, 1, id), locationFile, file)
		if line > 0 {
			m = varintField(m, locationLine, uint64(line))
		}
		x.state = messageField(x.state, internedLocation, m)
		return id
	})
}
