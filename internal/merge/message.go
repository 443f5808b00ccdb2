package merge

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A message is a state on its way to the parent. It lives within one run, so
// both sides are the same build; it is decoded defensively all the same, since
// an error there must not take the program down.
//
//	message = codec uint8, [raw size uvarint], body, compressed if codec is 1
//	body    = first uvarint, ranks uvarint, problems, classes, strings, sites, outer sites, processes, allocation events
const (
	plainMessage      = 0
	compressedMessage = 1
	compressFrom      = 1 << 14 // smaller messages travel faster than they compress
)

func (s *State) encode() []byte {
	b := s.appendBody([]byte{plainMessage})
	if len(b) < compressFrom {
		return b
	}
	frame, ok := wire.Compress(b[1:], false)
	if !ok {
		return b
	}
	return append(wire.AppendUvarint([]byte{compressedMessage}, uint64(len(b)-1)), frame...)
}

func (s *State) appendBody(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(s.first))
	b = wire.AppendUvarint(b, uint64(s.ranks))
	b = wire.AppendUvarint(b, uint64(len(s.Problems)))
	for _, p := range s.Problems {
		b = wire.AppendUvarint(b, uint64(p.Rank))
		b = wire.AppendUvarint(b, uint64(p.Ranks))
		b = wire.AppendString(b, p.What)
	}
	b = wire.AppendUvarint(b, uint64(len(s.classes)))
	for _, c := range s.classes {
		b = c.append(b)
	}
	b = wire.AppendUvarint(b, uint64(len(s.strings)))
	for _, h := range slices.Sorted(maps.Keys(s.strings)) {
		b = wire.AppendUint64(b, h)
		b = wire.AppendString(b, s.strings[h])
	}
	b = wire.AppendUvarint(b, uint64(len(s.sites)))
	for _, h := range slices.Sorted(maps.Keys(s.sites)) {
		site := s.sites[h]
		b = wire.AppendUint64(b, h)
		b = wire.AppendString(b, site.Module)
		b = wire.AppendString(b, site.BuildID)
		b = wire.AppendUvarint(b, site.Offset)
	}
	b = wire.AppendUvarint(b, uint64(len(s.outer)))
	for _, h := range slices.Sorted(maps.Keys(s.outer)) {
		b = wire.AppendUint64(b, h)
		b = wire.AppendUint64(b, s.outer[h])
	}
	return s.allocs.append(s.processes.AppendBinary(b))
}

func (c *class) append(b []byte) []byte {
	split := byte(0)
	if c.split {
		split = 1
	}
	b = wire.AppendString(append(b, split), c.key)
	b = wire.AppendUvarint(b, uint64(c.ranks.Len()))
	b = c.ranks.AppendRuns(b)
	for i := range c.counts {
		b = c.counts[i].AppendRuns(b)
	}
	b = c.values.append(b)
	for i := range c.steps {
		b = c.steps[i].AppendRuns(b)
	}
	return c.appendOwn(c.appendRanked(c.appendAttached(appendCourses(c.appendHists(c.appendTimes(b)), c.courses))))
}

// decode reads a message. What the keys of classes say is taken from the state that it
// joins, if that has the same ones.
func decode(msg []byte, into *State) (*State, error) {
	r := wire.NewReader(msg, "merge message")
	switch codec := r.Byte(); codec {
	case plainMessage:
	case compressedMessage:
		size := r.Uvarint()
		if r.Err() != nil {
			return nil, r.Err()
		}
		raw, err := wire.Expand(r.Remaining(), size)
		if err != nil {
			return nil, fmt.Errorf("merge message: %w", err)
		}
		r = wire.NewReader(raw, "merge message")
	default:
		r.Fail("unknown codec %d", codec)
	}
	s := decodeBody(r, into)
	return s, r.Done()
}

func decodeBody(r *wire.Reader, into *State) *State {
	s := &State{first: r.Int(model.MaxRanks), ranks: r.Int(model.MaxRanks)}
	for range r.Count(3) {
		s.Problems = append(s.Problems, Problem{r.Int(model.MaxRanks), r.Int(model.MaxRanks), r.String()})
	}
	taken := 0
	for range r.Count(1) {
		c := decodeClass(r, s, into)
		if c == nil {
			return nil
		}
		taken += c.ranks.Len()
		s.add(c)
	}
	if taken > s.ranks {
		r.Fail("%d ranks in classes, %d in all", taken, s.ranks)
	}
	s.strings = make(map[uint64]string)
	for range r.Count(9) {
		h := r.Uint64()
		s.strings[h] = r.String()
	}
	s.sites = make(map[uint64]model.Site)
	for range r.Count(11) {
		h := r.Uint64()
		s.sites[h] = model.Site{Module: r.String(), BuildID: r.String(), Offset: r.Uvarint()}
	}
	if n := r.Count(16); n > 0 {
		s.outer = make(map[uint64]uint64, n)
		for range n {
			h := r.Uint64()
			s.outer[h] = r.Uint64()
		}
	}
	s.processes = sections.DecodeProcesses(r, s.ranks)
	s.allocs = decodeAllocs(r, s.first, s.ranks)
	return s
}

func decodeClass(r *wire.Reader, s, into *State) *class {
	c := &class{split: r.Byte() != 0, key: r.String()}
	n := r.Int(s.ranks)
	if r.Err() != nil {
		return nil
	}
	if s.index[c.key] != nil || n == 0 {
		r.Fail("class occurs twice or has no ranks")
		return nil
	}
	shape, err := into.shapeOf(c.key)
	if err == nil && (shape.repeats > r.Rest() || shape.steps > r.Rest()) {
		err = errors.New("class with more columns than the message holds")
	}
	if r.Check(err); err != nil {
		return nil
	}
	c.ranks = column.DecodeRuns(r, n)
	last := int64(s.first) - 1
	for _, run := range c.ranks.Runs() {
		end := run.At(run.Count - 1)
		if run.Start <= last || run.Stride < 0 || !run.Monotonic() || run.Count > 1 && run.Stride == 0 ||
			end >= int64(s.first+s.ranks) {
			r.Fail("ranks of a class out of order")
			return nil
		}
		last = end
	}
	c.counts = make([]column.Column, shape.repeats)
	for i := range c.counts {
		c.counts[i] = column.DecodeRuns(r, n)
		for _, run := range c.counts[i].Runs() {
			if run.Start < 2 || run.At(run.Count-1) < 2 || !run.Monotonic() {
				r.Fail("part of a stream is repeated %d times", run.Start)
				return nil
			}
		}
	}
	c.decoded = shape
	c.values = decodeValues(r, shape.width, n)
	c.steps = make([]column.Column, shape.steps)
	for i := range c.steps {
		c.steps[i] = column.DecodeRuns(r, n)
	}
	c.decodeTimes(r, shape)
	c.decodeHists(r, shape)
	c.courses = decodeCourses(r, shape)
	c.decodeAttached(r, shape)
	c.decodeRanked(r)
	c.decodeOwn(r, shape)
	if r.Err() != nil {
		return nil
	}
	return c
}
