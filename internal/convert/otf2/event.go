package otf2

import (
	"errors"
	"fmt"
)

// An Event is one record of a location's events.
type Event struct {
	ID                uint8
	TimeTicks         uint64    // ticks of the common clock
	Values            [6]uint64 // the record's values, in order; references are of the global definitions
	CallSiteLocation  uint32    // of an Enter: the call site, if an attribute has it
	MetricValues      []float64 // of an EvMetric; valid until the next event is read
	ProgramStringRefs []uint32  // of an EvProgramBegin: program and arguments; valid until the next event is read
}

// EventReader reads the events of one location in order.
type EventReader struct {
	Event
	c     *chunked
	local *local
	d     *Definitions
	time  uint64 // ticks of the location's own clock at the latest event
	err   error
}

// Events opens the events of a location.
func (a *Archive) Events(location uint64) (*EventReader, error) {
	l, err := a.local(location)
	if err != nil {
		return nil, err
	}
	c, err := openChunked(a.file(location, "evt"), a.eventChunk)
	if err != nil {
		return nil, err
	}
	return &EventReader{c: c, local: l, d: &a.Definitions}, nil
}

// Close ends the reading.
func (e *EventReader) Close() error { return e.c.close() }

// Err returns why Next returned false; nil at the end.
func (e *EventReader) Err() error { return e.err }

// Next reads the next event.
func (e *EventReader) Next() bool {
	if e.err != nil {
		return false
	}
	e.CallSiteLocation = UndefinedRef
	for {
		id, ok, err := e.c.next()
		if err != nil || !ok {
			e.err = err
			return false
		}
		switch id {
		case BufferTimestamp:
			t := e.c.full64()
			if t < e.time {
				e.c.fail(errors.New("time goes backwards"))
			}
			e.time = t
		case BufferAttributeList:
			n := e.c.length()
			r := byteReader{b: e.c.take(n), order: e.c.order}
			e.attributes(&r)
			if r.err != nil {
				e.c.fail(r.err)
			}
		default:
			e.record(id)
			if e.c.err == nil {
				e.TimeTicks = e.local.correct(e.time)
				return true
			}
		}
		if e.c.err != nil {
			e.err = e.c.wrong(fmt.Errorf("event %d: %w", id, e.c.err))
			return false
		}
	}
}

func (e *EventReader) record(id byte) {
	e.ID, e.Values = id, [6]uint64{}
	layout := RecordLayouts[id].Layout
	r := &e.c.byteReader
	if layout == "" || layout[0] != '-' {
		n := r.length()
		whole := byteReader{b: r.take(n), order: r.order}
		switch e.fields(layout, &whole); id {
		case EvMetric:
			e.metric(&whole)
		case EvProgramBegin:
			e.program(&whole)
		}
		if whole.err != nil {
			r.fail(whole.err)
		}
		return
	}
	e.fields(layout[1:], r)
}

func (e *EventReader) fields(layout string, r *byteReader) {
	for i := range len(layout) {
		v := &e.Values[i]
		switch k := layout[i]; k {
		case 'b':
			*v = uint64(r.u8())
		case 'w':
			*v = uint64(r.u32())
		case 'q':
			*v = r.u64()
		case 'i':
			*v = uint64(r.i64())
		case 't':
			*v = r.full64()
		default:
			*v = uint64(e.local.global(kinds[k], r.u32()))
		}
	}
}

// metric reads the values of a measurement.
func (e *EventReader) metric(r *byteReader) {
	e.MetricValues = e.MetricValues[:0]
	for n := r.u8(); n > 0 && r.err == nil; n-- {
		kind := r.u8()
		e.MetricValues = append(e.MetricValues, number(kind, r.u64()))
	}
}

// program reads which program began, and its arguments.
func (e *EventReader) program(r *byteReader) {
	e.ProgramStringRefs = append(e.ProgramStringRefs[:0], uint32(e.Values[0]))
	for n := e.Values[1]; n > 0 && r.err == nil; n-- {
		e.ProgramStringRefs = append(e.ProgramStringRefs, e.local.global(mapString, r.u32()))
	}
}

// attributes looks for a call site among the next event's attributes.
func (e *EventReader) attributes(r *byteReader) {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		r.u32() // attribute
		switch kind := r.u8(); kind {
		case 1, 5:
			r.u8()
		case 2, 6:
			r.take(2)
		case 9:
			r.full32()
		case TypeDouble:
			r.full64()
		case 4, 8, 13:
			r.u64()
		case TypeSourceLocation:
			e.CallSiteLocation = e.local.global(mapSource, r.u32())
		default:
			r.u32()
		}
	}
}
