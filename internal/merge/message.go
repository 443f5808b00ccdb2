package merge

import (
	"errors"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A message is a state on its way to the parent. Both sides are the same build, as it exists within one run only.
// It is nevertheless decoded defensively: an error there must not crash the program.
//
//	message = codec uint8, [raw size uvarint], body, compressed if codec is 1
//	body    = first uvarint, ranks uvarint, problems, classes, strings, sites, outer sites,
//	          processes, allocation events, handovers
const (
	plainMessage      = 0
	compressedMessage = 1
	compressFrom      = 1 << 14 // bytes; compressing smaller messages takes longer than it saves
)

func (s *MergedBlock) encode() []byte {
	b := s.appendBody([]byte{plainMessage})
	if len(b) < compressFrom {
		return b
	}
	frame, ok := wire.CompressZstd(b[1:], false)
	if !ok {
		return b
	}
	return append(wire.AppendUvarint([]byte{compressedMessage}, uint64(len(b)-1)), frame...)
}

func (s *MergedBlock) appendBody(b []byte) []byte {
	return wire.AppendEncoded(b, func(c *wire.Coder) { s.code(c, nil) })
}

// code codes the body of a message. When reading, it takes the shapes of classes with known keys from into, the
// state that the message will join.
func (s *MergedBlock) code(c *wire.Coder, into *MergedBlock) {
	wire.CodeBounded(c, &s.first, model.MaxRanks)
	wire.CodeBounded(c, &s.ranks, model.MaxRanks)
	wire.CodeList(c, &s.Problems, 3, func(_ int, p *Problem) {
		wire.CodeBounded(c, &p.FirstRank, model.MaxRanks)
		wire.CodeBounded(c, &p.Ranks, model.MaxRanks)
		c.String(&p.Text)
	})
	n, taken := len(s.classes), 0
	c.Count(&n, 1)
	for i := range n {
		if c.Reader == nil {
			c.Buf = s.classes[i].append(c.Buf)
			continue
		}
		x := decodeClass(c.Reader, s, into)
		if x == nil {
			return
		}
		taken += x.ranks.Len()
		s.add(x)
	}
	c.RefuseIf(taken > s.ranks, "%d ranks in classes, %d in all", taken, s.ranks)
	if c.Reader != nil {
		s.strings, s.sites = make(map[uint64]string), make(map[uint64]model.Site)
	}
	wire.CodeMap(c, s.strings, 9, func(h *uint64, text *string) {
		c.Uint64(h)
		c.String(text)
	})
	wire.CodeMap(c, s.sites, 11, func(h *uint64, site *model.Site) {
		c.Uint64(h)
		c.String(&site.Module)
		c.String(&site.BuildID)
		wire.CodeUints(c, &site.Offset)
	})
	outer := s.outer
	if c.Reader != nil {
		outer = make(map[uint64]uint64)
	}
	if wire.CodeMap(c, outer, 16, func(inner, h *uint64) { c.Uint64(inner, h) }); len(outer) > 0 {
		s.outer = outer
	}
	if c.Reader == nil {
		c.Buf = s.handovers.append(s.allocs.append(s.processes.AppendBinary(c.Buf)))
	} else {
		s.processes = sections.DecodeProcesses(c.Reader, s.ranks)
		s.allocs = decodeAllocs(c.Reader, s.first, s.ranks)
		s.handovers = decodeAllocs(c.Reader, s.first, s.ranks)
	}
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
	return wire.AppendEncoded(b, func(x *wire.Coder) { c.codeFurther(x, bounds{}) })
}

// bounds limits the numbers in a class that is read, by its shape.
type bounds struct{ streams, terminals, sites, summaries int }

func (c *class) codeFurther(x *wire.Coder, n bounds) {
	c.codeTimes(x, n)
	c.codeHists(x, n)
	codeCourses(x, &c.courses, n)
	c.attached.code(x, n.sites)
	c.codeRanked(x)
	c.codeOwn(x, n)
}

// decode reads a message. It takes the shapes of classes with known keys from into, the state that the message will
// join.
func decode(msg []byte, into *MergedBlock) (*MergedBlock, error) {
	r := wire.NewReader(msg, "merge message")
	switch codec := r.Byte(); codec {
	case plainMessage:
	case compressedMessage:
		size := r.Uvarint()
		if r.Err() != nil {
			return nil, r.Err()
		}
		raw, err := wire.DecompressZstd(r.Remaining(), size)
		if err != nil {
			return nil, fmt.Errorf("merge message: %w", err)
		}
		r = wire.NewReader(raw, "merge message")
	default:
		r.Fail("unknown codec %d", codec)
	}
	s := new(MergedBlock)
	s.code(&wire.Coder{Reader: r}, into)
	return s, r.Finish()
}

func decodeClass(r *wire.Reader, s, into *MergedBlock) *class {
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
	if err == nil && (shape.repeats > r.RemainingLen() || shape.steps > r.RemainingLen()) {
		err = errors.New("class with more columns than the message holds")
	}
	if r.RecordError(err); err != nil {
		return nil
	}
	c.ranks = column.DecodeRuns(r, n)
	last := int64(s.first) - 1
	for _, run := range c.ranks.Runs() {
		end := run.At(run.Count - 1)
		if run.Start <= last || run.Stride < 0 || !run.IsOverflowFree() || run.Count > 1 && run.Stride == 0 ||
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
			if run.Start < 2 || run.At(run.Count-1) < 2 || !run.IsOverflowFree() {
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
	_, sites := shape.sites()
	if c.codeFurther(&wire.Coder{Reader: r}, bounds{len(shape.streams), shape.terminals(), sites, shape.summaries}); r.Err() != nil {
		return nil
	}
	return c
}
