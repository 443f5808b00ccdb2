package capture

import (
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/pack"
)

// maxLive is from how many bytes on the grammar of a stream is packed and a new one begun:
// some 260,000 symbols. A program whose calls never repeat so takes two or three bytes for
// each, not forty; one that repeats more calls than that in a lap of a loop has the lap several times
// in its trace.
var maxLive = 16 << 20

// A sequence is the terminals of a stream.
type sequence struct {
	*grammar.Builder          // takes what comes
	parts            [][]byte // grammars of what came before, in order
	before           uint64   // how many terminals that is
}

func newSequence() sequence { return sequence{Builder: grammar.NewBuilder()} }

// Len returns how many terminals there are.
func (q *sequence) Len() uint64 { return q.before + q.Builder.Len() }

// Size returns the bytes held.
func (q *sequence) Size() int {
	n := q.Builder.Size()
	for _, p := range q.parts {
		n += len(p)
	}
	return n
}

// settle packs the grammar if it has become large.
func (q *sequence) settle() {
	if q.Builder.Size() < maxLive {
		return
	}
	q.before += q.Builder.Len()
	b := q.Builder.AppendBinary(nil)
	q.parts = append(q.parts, append(make([]byte, 0, len(b)), b...))
	q.Builder = grammar.NewBuilder()
}

// Grammar returns the grammar of all terminals.
func (q *sequence) Grammar() (*grammar.Grammar, error) {
	if len(q.parts) == 0 {
		return q.Builder.Grammar(), nil
	}
	all := &grammar.Grammar{Rules: make([][]grammar.Symbol, 1)}
	for _, p := range q.parts {
		g, _, err := grammar.Decode(p)
		if err != nil {
			return nil, err
		}
		all.Join(g)
	}
	all.Join(q.Builder.Grammar())
	return all, nil
}

func (q *sequence) save(w *pack.Writer, buffer []byte) []byte {
	w.Uint(uint64(len(q.parts)))
	for _, p := range q.parts {
		w.Bytes(p)
	}
	buffer = q.AppendBinary(buffer[:0])
	w.Bytes(buffer)
	return buffer
}

// loadSequence reads one of terminals below n.
func loadSequence(r *pack.Reader, n int) sequence {
	q := newSequence()
	parts := r.Count(1)
	for i := range parts + 1 {
		text := []byte(r.String())
		g, _, err := grammar.Decode(text)
		if err != nil {
			r.Check(err)
			break
		}
		for _, t := range g.Terminals() {
			if int(t) >= n {
				r.Fail("grammar: terminal %d of %d", t, n)
				return q
			}
		}
		if i == parts {
			q.Builder = grammar.Restore(g)
			break
		}
		q.parts, q.before = append(q.parts, text), q.before+g.Len()
	}
	return q
}
