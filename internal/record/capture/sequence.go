package capture

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// From how many bytes on the grammar of a stream is packed, put aside, and a new one begun. A program whose calls never
// repeat so takes two or three bytes for each, not forty; one that repeats more calls than that in a lap of a loop has
// the lap several times in its trace. MaxLive are some 260,000 symbols; LeanLive, for who would rather have little
// memory used than all repetition found, some 40,000.
const (
	MaxGrammarBytes     = 16 << 20
	LeanMaxGrammarBytes = 2 << 20
)

// A sequence is the terminals of a stream.
type sequence struct {
	*grammar.Builder        // takes what comes
	parts            frames // grammars of what came before, in order, an item each
	before           uint64 // how many terminals that is
	most             int    // see MaxLive
}

// newSequence makes an empty sequence. Its parts go to the file at path, or stay in memory if path is "".
func newSequence(path string, most int) sequence {
	return sequence{Builder: grammar.NewBuilder(), parts: frames{path: path}, most: most}
}

// newGrammar makes the sequence of a thread.
func (c *Capture) newGrammar(thread int) sequence {
	most := cmp.Or(c.cfg.MaxGrammarBytes, MaxGrammarBytes)
	if c.cfg.ProcessDir == "" {
		return newSequence("", most)
	}
	return newSequence(grammarPath(c.cfg.ProcessDir, thread), most)
}

func grammarPath(dir string, thread int) string {
	return filepath.Join(dir, fmt.Sprintf("grammar.%d", thread))
}

// Len returns how many terminals there are.
func (q *sequence) Len() uint64 { return q.before + q.Builder.Len() }

// Size returns the bytes held.
func (q *sequence) Size() int { return q.Builder.Size() + len(q.parts.memory) }

// settle packs the grammar if it has become large.
func (q *sequence) settle() {
	if q.Builder.Size() < q.most {
		return
	}
	q.before += q.Builder.Len()
	q.parts.pending = q.Builder.AppendBinary(q.parts.pending)
	q.Builder = grammar.NewBuilder()
	q.parts.count++
	q.parts.flush()
	q.parts.pending = nil
}

// Grammar returns the grammar of all terminals, which are below n. No more can come if it is the last one.
func (q *sequence) Grammar(n int, last bool) (*grammar.Grammar, error) {
	rest := q.Builder.Grammar
	if last {
		rest = q.Builder.TakeGrammar
	}
	if q.before == 0 {
		return rest(), nil
	}
	var all []*grammar.Grammar
	before := uint64(0)
	for parts, err := range each(&q.parts, parseGrammar) {
		if err != nil {
			return nil, err
		}
		for _, g := range parts {
			all = append(all, g)
			before += g.Len()
		}
	}
	if before != q.before {
		return nil, fmt.Errorf("grammar: %d terminals in its parts, not %d", before, q.before)
	}
	g := grammar.Concatenate(append(all, rest())...)
	return g, g.CheckTerminals(n)
}

func parseGrammar(data []byte, items uint32) ([]*grammar.Grammar, error) {
	g, n, err := grammar.Decode(data)
	if err == nil && (n < len(data) || items != 1) {
		err = errFrame
	}
	return []*grammar.Grammar{g}, err
}

// code is the sequence, of terminals below n, read into a new one.
func (q *sequence) code(c *wire.Coder, n int) {
	wire.CodeUints(c, &q.before)
	q.parts.code(c)
	q.Builder = q.Builder.CodeSequence(c, n)
}
