package capture

import (
	"cmp"
	"fmt"
	"iter"
	"path/filepath"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
)

// A valueLog records each number attached to a call of a stream, in order of calls. The record of a number is
//
//	index of the call, minus that of the frame's previous record varint, number of the name uvarint, value varint
type valueLog struct {
	frames
	last uint64                  // index of the call in the frame's previous record; 0: no record yet
	held []timing.AttachedNumber // numbers attached to calls that were made within a call still unfinished
}

// add records a number. Calls that are made within another call end before it, but come after it in order. So their
// numbers wait in held until the outermost call ends. whole is set for numbers of an outermost call.
func (l *valueLog) add(v timing.AttachedNumber, whole bool) {
	if !whole || len(l.held) > 0 {
		l.held = append(l.held, v)
		return
	}
	l.append(v)
}

// settle writes the numbers in held, sorted by call. All numbers of the outermost call must have been added.
func (l *valueLog) settle() {
	slices.SortStableFunc(l.held, func(a, b timing.AttachedNumber) int { return cmp.Compare(a.CallIndex, b.CallIndex) })
	for _, v := range l.held {
		l.append(v)
	}
	l.held = l.held[:0]
}

func (l *valueLog) append(v timing.AttachedNumber) {
	l.pending = wire.AppendVarint(l.pending, int64(v.CallIndex-l.last))
	l.pending = wire.AppendUvarint(l.pending, uint64(v.NameIndex))
	l.pending = wire.AppendVarint(l.pending, v.Value)
	l.last = v.CallIndex
	if l.count++; l.count >= frameItems {
		l.flush()
	}
}

func (l *valueLog) flush() {
	l.frames.flush()
	l.last = 0
}

func (l *valueLog) code(c *wire.Coder) {
	if c.Reader != nil {
		l.last = 0
	}
	l.frames.code(c)
	wire.CodeList(c, &l.held, 3, func(_ int, v *timing.AttachedNumber) {
		wire.CodeUints(c, &v.CallIndex)
		wire.CodeIndex(c, &v.NameIndex, maxNames)
		wire.CodeIntegers(c, &v.Value)
	})
}

func (l *valueLog) empty() bool { return l.frames.empty() && len(l.held) == 0 }

// all yields all numbers; no more may be added.
func (l *valueLog) all() iter.Seq2[[]timing.AttachedNumber, error] {
	return func(yield func([]timing.AttachedNumber, error) bool) {
		l.settle()
		each(&l.frames, parseAttached)(yield)
	}
}

func parseAttached(data []byte, items uint32) ([]timing.AttachedNumber, error) {
	r := wire.NewReader(data, "attached values")
	if int64(items)*3 > int64(len(data)) {
		return nil, errFrame
	}
	list, last := make([]timing.AttachedNumber, items), uint64(0)
	for i := range list {
		last += uint64(r.Varint())
		list[i] = timing.AttachedNumber{CallIndex: last, NameIndex: r.Int(maxNames - 1), Value: r.Varint()}
	}
	return list, r.Finish()
}

func valuePath(dir string, thread int) string {
	return filepath.Join(dir, fmt.Sprintf("values.%d", thread))
}
