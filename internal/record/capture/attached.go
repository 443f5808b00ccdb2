package capture

import (
	"encoding/binary"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/pack"
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace/model"
)

// maxNames bounds the names of attached values, SP_MAX_NAMES in shim/hooks.h.
const maxNames = 64

// attached is the numbers that plugins and counters attached to calls.
type attached struct {
	names []string
	stats [][]model.ValueStat // by name, by terminal
}

// name reads a Name record: what is attached goes by the phases of calls, in every thread.
func (c *Capture) name(rec event.Record) error {
	if c.phases == nil {
		c.phases = newPhases(c.cfg.Timing, &c.sigs.Table)
	}
	if err := c.attached.name(rec); err != nil {
		return err
	}
	for _, s := range c.streams {
		if s.phases == nil && (s.thread == 0 || s.prev == signature.None) { // the first one is in MPI_Init, or behind it
			s.phases = c.phasesOf(s.thread)
		}
	}
	return nil
}

// name reads a Name record.
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
		*list = append(*list, model.ValueStat{})
	}
	(*list)[terminal].Add(v)
}

// attach reads a Values record: of the call that ended last, and what went by
// since the record before.
func (c *Capture) attach(s *stream, rec event.Record) error {
	switch {
	case s.off != 0: // that is part of another time
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
		return nil // the call is missing
	}
	for i := 3; i < len(rec); i += 2 {
		id, v := rec[i], int64(rec[i+1])
		if id >= uint64(len(c.attached.names)) {
			return fmt.Errorf("value number %d of %d: %w", id, len(c.attached.names), event.ErrCorrupt)
		}
		c.attached.add(id, s.prev, v)
		if s.log != nil && s.log.limit == 0 {
			s.log.values.add(timing.Attached{Call: s.log.ended, Name: int(id), Value: v}, s.depth == 0)
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

// byTerminal returns the values by name; order is the old number of each
// terminal, more returns others whose calls it has.
func (a *attached) byTerminal(order []uint32, more func(uint32) []uint32) map[string][]model.ValueStat {
	var m map[string][]model.ValueStat
	for id, stats := range a.stats {
		list := make([]model.ValueStat, len(order))
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
				m = make(map[string][]model.ValueStat)
			}
			m[a.names[id]] = list
		}
	}
	return m
}

func (a *attached) save(w *pack.Writer) {
	w.Uint(uint64(len(a.names)))
	for id, name := range a.names {
		w.String(name)
		w.Uint(uint64(len(a.stats[id])))
		for _, s := range a.stats[id] {
			if w.Uint(s.Count); s.Count > 0 {
				w.Int(s.Sum)
				w.Int(s.Min)
				w.Int(s.Max)
			}
		}
	}
}

func (a *attached) load(r *pack.Reader, terminals int) {
	*a = attached{}
	for range min(r.Count(2), maxNames) {
		a.names = append(a.names, r.String())
		stats := make([]model.ValueStat, r.Count(1))
		if len(stats) > terminals {
			r.Fail("values of %d terminals, there are %d", len(stats), terminals)
			return
		}
		for i := range stats {
			if stats[i].Count = r.Uint(); stats[i].Count > 0 {
				stats[i].Sum, stats[i].Min, stats[i].Max = r.Int(), r.Int(), r.Int()
			}
		}
		a.stats = append(a.stats, stats)
	}
}

// loadChunk reads what was attached since a state, and the names there are now.
func (a *attached) loadChunk(r *pack.Reader, terminals int) {
	n := min(r.Count(1), maxNames)
	for i := range n {
		name := r.String()
		if i == len(a.names) {
			a.names = append(a.names, name)
			a.stats = append(a.stats, nil)
		}
		a.names[i] = name // a lower number may have got its name later
	}
	values := pack.NewReader([]byte(r.String()))
	for values.Rest() > 0 && r.Err() == nil {
		terminal, id, v := values.Index(terminals), values.Index(len(a.names)), values.Int()
		if r.Check(values.Err()); values.Err() == nil {
			a.add(uint64(id), uint32(terminal), v)
		}
	}
}

func (a *attached) saveChunk(w *pack.Writer, values []byte) {
	w.Uint(uint64(len(a.names)))
	for _, name := range a.names {
		w.String(name)
	}
	w.Bytes(values)
}
