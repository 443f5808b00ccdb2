package capture

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// Size in bytes at which the grammar of a stream is packed, and a new one is begun. A program without repetition
// then takes two or three bytes for each call instead of forty. If an iteration of a loop has more calls than
// that, the trace contains the iteration several times. MaxGrammarBytes is about 260,000 symbols. LeanMaxGrammarBytes,
// about 40,000, is for users who prefer little memory over finding all repetition.
const (
	MaxGrammarBytes     = 16 << 20
	LeanMaxGrammarBytes = 2 << 20
)

// A sequence is the terminals of a stream, as several grammars.
type sequence struct {
	*grammar.Builder        // the current grammar
	parts            frames // earlier grammars, packed, in order; each is one item
	before           uint64 // number of terminals in parts
	most             int    // size in bytes at which the current grammar is packed, see MaxGrammarBytes
}

// newSequence returns an empty sequence. Its parts go to the file at path, or stay in memory if path is "".
func newSequence(path string, most int) sequence {
	return sequence{Builder: grammar.NewBuilder(), parts: frames{path: path}, most: most}
}

// newGrammar returns the sequence for a thread.
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

// Len returns the number of terminals in the sequence: one for each call.
func (q *sequence) Len() uint64 { return q.before + q.Builder.Len() }

// Size returns the memory used in bytes.
func (q *sequence) Size() int { return q.Builder.HeldBytes() + len(q.parts.memory) }

// settle packs the grammar if it has become large.
func (q *sequence) settle() {
	if q.Builder.HeldBytes() < q.most {
		return
	}
	q.before += q.Builder.Len()
	q.parts.pending = q.Builder.AppendBinary(q.parts.pending)
	q.Builder = grammar.NewBuilder()
	q.parts.count++
	q.parts.flush()
	q.parts.pending = nil
}

// Grammar returns one grammar of the whole sequence, whose terminals must be below n. With last set the sequence
// becomes unusable, which saves a copy.
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

// code codes the sequence, whose terminals are below n. Reading requires an empty sequence.
func (q *sequence) code(c *wire.Coder, n int) {
	wire.CodeUints(c, &q.before)
	q.parts.code(c)
	q.Builder = q.Builder.CodeSequence(c, n)
}
