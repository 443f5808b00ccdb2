package capture

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace/model"
)

// maxNames is the largest number of names of attached values: SP_MAX_NAMES in shim/hooks.h.
const maxNames = 64

// attached is statistics of the numbers that plugins and counters attached to calls.
type attached struct {
	names []string
	stats [][]model.AttachedStat // by name, then by terminal
}

// name reads a record of kind event.KindAttachedValueName. From the first name on, all threads collect phases, as attached
// values are stored by phase.
func (c *Capture) name(rec event.Record) error {
	if c.phases == nil {
		c.phases = newPhases(c.cfg.Timing, &c.sigs.Table)
	}
	if err := c.attached.name(rec); err != nil {
		return err
	}
	for _, s := range c.streams {
		// The first thread may have made calls before, such as MPI_Init. Other threads collect phases only if they
		// have not made a call yet.
		if s.phases == nil && (s.thread == 0 || s.prev == signature.NoTerminal) {
			s.phases = c.phasesOf(s.thread)
		}
	}
	return nil
}

// name reads a record of kind event.KindAttachedValueName.
func (a *attached) name(rec event.Record) error {
	id, n := rec[2], rec[3]
	if id >= maxNames || n > uint64(len(rec)-4)*8 {
		return fmt.Errorf("name %d of %d bytes: %w", id, n, event.ErrCorrupt)
	}
	var text []byte
	for _, w := range rec[4:] {
		text = binary.LittleEndian.AppendUint64(text, w)
	}
	for len(a.names) <= int(id) {
		a.names = append(a.names, "")
		a.stats = append(a.stats, nil)
	}
	a.names[id] = string(text[:n])
	return nil
}

func (a *attached) add(id uint64, terminal uint32, v int64) {
	list := &a.stats[id]
	for len(*list) <= int(terminal) {
		*list = append(*list, model.AttachedStat{})
	}
	(*list)[terminal].Add(v)
}

// attach reads a record of kind event.KindAttachedValues. The values belong to the thread's call that ended last. The record
// also has the number of ticks since the previous record that belong to no gap.
func (c *Capture) attach(s *stream, rec event.Record) error {
	if s.depth > 0 {
		if f := &s.frames[s.depth-1]; f.left != 0 { // the call remains unfinished: the values wait
			f.values = append(f.values, slices.Clone(rec))
			return nil
		}
	}
	switch {
	case s.off != 0: // tracing is off, whose time is an aside anyway
	case s.depth > 0:
		s.owed += rec[2]
	default:
		s.spent(rec[2])
		c.spend(s, rec[2], false)
	}
	if len(rec)%2 == 0 {
		return fmt.Errorf("values in %d words: %w", len(rec), event.ErrCorrupt)
	}
	if s.prev >= uint32(c.sigs.Len()) {
		return nil // the call was not recorded
	}
	for i := 3; i < len(rec); i += 2 {
		id, v := rec[i], int64(rec[i+1])
		if id >= uint64(len(c.attached.names)) {
			return fmt.Errorf("value number %d of %d: %w", id, len(c.attached.names), event.ErrCorrupt)
		}
		c.attached.add(id, s.prev, v)
		if s.log != nil && s.log.limit == 0 {
			s.log.values.add(timing.AttachedNumber{CallIndex: s.log.ended, NameIndex: int(id), Value: v}, s.depth == 0)
		}
		if s.phases != nil {
			if a, ok := amountOf(rec, i); ok {
				s.phases.attach(s.prev, int(id), a)
			}
		}
		if k := &c.checkpoints; k.chunks {
			k.values = binary.AppendUvarint(k.values, uint64(s.prev))
			k.values = binary.AppendUvarint(k.values, id)
			k.values = binary.AppendVarint(k.values, v)
		}
	}
	if s.log != nil && s.depth == 0 {
		s.log.values.settle()
	}
	return nil
}

// byTerminal returns the values by name, then by terminal of the track. order is the capture's number of each of these
// terminals; more returns further terminals of the capture whose calls became part of one.
func (a *attached) byTerminal(order []uint32, more func(uint32) []uint32) map[string][]model.AttachedStat {
	var m map[string][]model.AttachedStat
	for id, stats := range a.stats {
		list := make([]model.AttachedStat, len(order))
		used := false
		for i, n := range order {
			for _, m := range append([]uint32{n}, more(n)...) {
				if int(m) < len(stats) {
					list[i].Merge(stats[m])
					used = used || stats[m].Count > 0
				}
			}
		}
		if used {
			if m == nil {
				m = make(map[string][]model.AttachedStat)
			}
			m[a.names[id]] = list
		}
	}
	return m
}

func (a *attached) code(c *wire.Coder, terminals int) {
	wire.CodeList(c, &a.names, 2, func(id int, name *string) {
		if c.Reader != nil {
			a.stats = append(a.stats, nil)
		}
		c.String(name)
		wire.CodeList(c, &a.stats[id], 1, func(_ int, s *model.AttachedStat) {
			if wire.CodeUints(c, &s.Count); s.Count > 0 {
				wire.CodeIntegers(c, &s.Sum, &s.Min, &s.Max)
			}
		})
		c.RefuseIf(len(a.stats[id]) > terminals, "values of terminals that there aren't")
	})
	c.RefuseIf(len(a.names) > maxNames, "too many names")
}

// codeChunk codes all names of values, as one may have been set late, and the values attached since the last
// checkpoint.
func (a *attached) codeChunk(c *wire.Coder, terminals int, values []byte) {
	wire.CodeList(c, &a.names, 1, func(_ int, name *string) { c.String(name) })
	if c.RefuseIf(len(a.names) < len(a.stats) || len(a.names) > maxNames, "other names"); c.Failed() {
		return
	}
	a.stats = append(a.stats, make([][]model.AttachedStat, len(a.names)-len(a.stats))...)
	codeNoted(c, values, func(x *wire.Coder) {
		var terminal uint32
		var id uint64
		var v int64
		wire.CodeIndex(x, &terminal, terminals)
		wire.CodeIndex(x, &id, len(a.names))
		if wire.CodeIntegers(x, &v); !x.Failed() {
			a.add(id, terminal, v)
		}
	})
}
