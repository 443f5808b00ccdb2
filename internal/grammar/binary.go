package grammar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// The binary form is the start rule's body; a rule's body is written where the rule is first used, so that new rules
// need no numbers and the order is always that of first use.
//
//	grammar = body
//	body    = uvarint(number of items) item…
//	        | uvarint(0) uvarint(back)
//	item    = uvarint(what<<2 | rule<<1 | repeated)
//	          [uvarint(count-2) if repeated] [body if rule and what = 0]
//	        | uvarint(1<<2) uvarint(symbols-4) uvarint(what of the first)
//	        | uvarint(1<<2 | repeated) uvarint(width<<1 | numbered) uvarint(rounds)
//	          varint(step of the count)… [varint(step of the terminal)… if numbered]
//
// The flag rule says what names: for a rule, 0 a new one, else how many rules back from the newest it is (1: the
// newest). For a terminal, how far it is from the one that is new next, one above the highest so far (0: just that
// one): even 2d for d below, odd 2d+1 for d above. Numbered by first use, terminals so take a byte each in all small
// grammars, and a byte's value doesn't depend on distant ones. An item with what = 1 is four terminals or more, up to
// maxRun, each one above the one before: calls in a row that come for the first time. Such an item that is repeated is
// rounds of a progression: the last width symbols of the body come again in each round. A step is added to the count of
// each (modulo 2^64), and one to its terminal, which is 0 for rules.
//
// A body of no items, which otherwise only the start rule has, continues the progression from the bodies of the rules
// back and 2·back before it.
const (
	flagRepeated = 1 << 0
	flagRule     = 1 << 1
	flagBits     = 2
)

// Limits of runs and progressions: a reader takes at most a few hundred times the memory of its input. A longer
// progression takes several items.
const (
	minRun    = 4
	maxRun    = 64
	isRun     = 1   // value of what for an item that is a run
	maxRounds = 256 // largest number of symbols in all rounds of one item

	codeRun    = isRun << flagBits
	codeRounds = isRun<<flagBits | flagRepeated
)

// run returns how many symbols at the start of a body make one item.
func run(body []Symbol) int {
	n := 1
	for n < len(body) && n < maxRun && body[0].TerminalOrRule >= 0 && body[n-1].Count == 1 && body[n].Count == 1 && body[n].TerminalOrRule == body[n-1].TerminalOrRule+1 {
		n++
	}
	if n < minRun {
		return 1
	}
	return n
}

// A splitter divides a body into items.
type splitter struct {
	rest  []Symbol
	two   []Symbol // the first two rounds of the current progression; nil: none so far
	first int      // number of symbols of the progression's first round that were not yet returned
	more  int      // number of the progression's further rounds that were not yet returned
}

// next returns the symbols of the next item; none at the end. The item is either a run, or a progression with this
// many rounds.
func (s *splitter) next() (item []Symbol, rounds int) {
	if s.more == 0 {
		if w, n := FindProgression(s.rest); n > 0 {
			s.two, s.first, s.more = s.rest[:2*w], w, n-1
		}
	}
	n := 0
	switch w := len(s.two) / 2; {
	case s.first > 0:
		n = run(s.rest[:s.first])
		s.first -= n
	case s.more > 0:
		rounds = min(s.more, maxRounds/w)
		n = rounds * w
		s.more -= rounds
	case len(s.rest) > 0:
		n = run(s.rest)
	}
	item, s.rest = s.rest[:n], s.rest[n:]
	return item, rounds
}

func items(body []Symbol) uint64 {
	s, n := splitter{rest: body}, uint64(0)
	for {
		if item, _ := s.next(); len(item) == 0 {
			return n
		}
		n++
	}
}

// distance returns what the file has for terminal id: its distance from next, which is one above the highest terminal
// so far.
func distance(id int32, next int64) uint64 {
	switch d := next - int64(id); {
	case d > 0:
		return uint64(2 * d)
	case d < 0:
		return uint64(1 - 2*d)
	}
	return 0
}

var (
	errShort   = errors.New("grammar: cut short")
	errVarint  = errors.New("grammar: number too long")
	errBody    = errors.New("grammar: body longer than the data")
	errOnward  = errors.New("grammar: no rules that a body goes on from")
	errRule    = errors.New("grammar: no such rule")
	errRange   = errors.New("grammar: terminal out of range")
	errCount   = errors.New("grammar: count out of range")
	errTooMany = errors.New("grammar: too many rules")
	errRun     = errors.New("grammar: row of terminals of impossible length")
	errRounds  = errors.New("grammar: rounds of impossible length")
)

// AppendBinary appends the binary form of g to dst. It writes only rules that are used, in the order of first use,
// whatever their numbers in g.
func (g *Grammar) AppendBinary(dst []byte) []byte {
	if len(g.Rules) == 0 {
		return append(dst, 0)
	}
	start := g.Rules[0]
	return appendBinary(dst, new(scratch), len(g.Rules), func(r int32, _ int) []Symbol {
		if r == 0 {
			part := start
			start = nil
			return part
		}
		return g.Rules[r]
	})
}

// appendBinary appends the binary form of rules. body must return slices that stay valid until it is called for the
// same or a lower depth. It may return the start rule in parts, the last one empty.
func appendBinary(dst []byte, w *scratch, rules int, body func(rule int32, depth int) []Symbol) []byte {
	w.number = slices.Grow(w.number[:0], rules)[:rules]
	clear(w.number)
	number, stack := w.number, append(w.stack[:0], splitter{rest: body(0, 0)})
	newest, next := int32(0), int64(0)
	before := len(dst)
	dst = append(dst, make([]byte, binary.MaxVarintLen64)...) // room for the number of items
	begin, count := len(dst), uint64(0)
	for len(stack) > 0 {
		p := &stack[len(stack)-1]
		if len(p.rest) == 0 && len(stack) == 1 {
			p.rest = body(0, 0)
		}
		item, rounds := p.next()
		if len(item) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		if len(stack) == 1 {
			count++
		}
		if rounds > 0 {
			dst = appendRounds(dst, p.two, rounds)
			for _, s := range item {
				next = max(next, int64(s.TerminalOrRule)+1)
			}
			continue
		}
		s := item[0]
		if n := len(item); n > 1 {
			dst = append(dst, codeRun, byte(n-minRun))
			dst = binary.AppendUvarint(dst, distance(s.TerminalOrRule, next))
			next = max(next, int64(s.TerminalOrRule)+int64(n))
			continue
		}
		var what uint64
		var flags uint64
		fresh := false
		if s.TerminalOrRule >= 0 {
			what = distance(s.TerminalOrRule, next)
			next = max(next, int64(s.TerminalOrRule)+1)
		} else {
			flags |= flagRule
			if n := number[-s.TerminalOrRule]; n != 0 {
				what = uint64(newest - n + 1)
			} else {
				newest++
				number[-s.TerminalOrRule] = newest
				fresh = true
			}
		}
		if s.Count != 1 {
			flags |= flagRepeated
		}
		dst = binary.AppendUvarint(dst, what<<flagBits|flags)
		if s.Count != 1 {
			dst = binary.AppendUvarint(dst, s.Count-2)
		}
		if fresh {
			below := body(-s.TerminalOrRule, len(stack))
			if back := w.past.begin(newest, below, number); back > 0 {
				dst = append(dst, 0, byte(back))
				continue
			}
			dst = binary.AppendUvarint(dst, items(below))
			stack = append(stack, splitter{rest: below})
		}
	}
	w.stack = stack
	head := binary.PutUvarint(dst[before:], count)
	return append(dst[:before+head], dst[begin:]...)
}

// appendRounds appends an item of several rounds. two is the first two of them; each further one continues with the
// same steps.
func appendRounds(dst []byte, two []Symbol, rounds int) []byte {
	w := len(two) / 2
	numbered := uint64(0)
	for i := range w {
		if two[i].TerminalOrRule != two[w+i].TerminalOrRule {
			numbered = 1
		}
	}
	dst = append(dst, codeRounds)
	dst = binary.AppendUvarint(dst, uint64(w)<<1|numbered)
	dst = binary.AppendUvarint(dst, uint64(rounds))
	for i := range w {
		dst = binary.AppendVarint(dst, int64(two[w+i].Count-two[i].Count))
	}
	for i := range w * int(numbered) {
		dst = binary.AppendVarint(dst, int64(two[w+i].TerminalOrRule)-int64(two[i].TerminalOrRule))
	}
	return dst
}

// A scratch is reusable memory for writing a grammar.
type scratch struct {
	number []int32    // number of each rule, in order of first use; 0: not yet used
	stack  []splitter // for each body that is begun but not yet complete: the rest of it
	room   []Symbol   // copies of bodies of a Builder's rules
	begins []int      // by depth of nesting: the index in room where the body at this depth begins
	path   []frame
	past   past
}

// CodeGrammars writes or reads n grammars.
func CodeGrammars(c *wire.Coder, list *[]*Grammar, n int) {
	for _, g := range *list {
		if c.Reader == nil {
			c.Buf = g.AppendBinary(c.Buf)
		}
	}
	if c.Reader == nil {
		return
	}
	*list = nil
	for range n {
		g := ReadGrammar(c.Reader)
		if c.Failed() {
			*list = nil
			return
		}
		*list = append(*list, g)
	}
}

// CodeGrammarList writes or reads grammars and their number.
func CodeGrammarList(c *wire.Coder, list *[]*Grammar) {
	n := len(*list)
	c.Count(&n, 1)
	CodeGrammars(c, list, n)
}

// ReadGrammar reads a grammar; nil if the input is damaged.
func ReadGrammar(r *wire.Reader) *Grammar {
	g, n, err := Decode(r.Remaining())
	r.RecordError(err)
	r.Skip(n)
	return g
}

// Decode reads a grammar from the start of src and returns it with the number
// of bytes read. Whatever src holds, the result passes Check and the memory
// taken is at most some hundred times the bytes read; a sequence whose length
// doesn't fit into 64 bits is an error.
func Decode(src []byte) (g *Grammar, n int, err error) {
	d := decoder{src: src}
	if err := d.run(); err != nil {
		return nil, 0, fmt.Errorf("%w at byte %d", err, d.at)
	}
	g = &Grammar{Rules: d.rules}
	if _, err := g.lengths(); err != nil {
		return nil, 0, err
	}
	return g, d.at, nil
}

type decoder struct {
	src   []byte
	at    int
	rules [][]Symbol
	stack []int32 // rules with unfinished bodies
	want  []int   // by index in stack: number of items of the body that are still to be read
	due   int     // number of items of all unfinished bodies that are still to be read: the sum of want
}

func (d *decoder) uvarint() (uint64, error) {
	v, n := binary.Uvarint(d.src[d.at:])
	if n == 0 {
		return 0, errShort
	}
	if n < 0 {
		return 0, errVarint
	}
	d.at += n
	return v, nil
}

func (d *decoder) varint() (int64, error) {
	v, err := d.uvarint()
	return int64(v>>1) ^ -int64(v&1), err
}

// body starts a new rule. All announced items that are still to be read must fit into the remaining data, at one
// byte each. So announcing many items costs the writer as much as the reader.
func (d *decoder) body() error {
	v, err := d.uvarint()
	if err != nil {
		return err
	}
	// due may already exceed the number of unread bytes, as an item may take several bytes.
	if rest := len(d.src) - d.at - d.due; rest < 0 || v > uint64(rest) {
		return errBody
	}
	if len(d.rules) >= 1<<31-1 {
		return errTooMany
	}
	if v == 0 && len(d.rules) > 0 {
		return d.onward()
	}
	d.due += int(v)
	d.stack = append(d.stack, int32(len(d.rules)))
	d.want = append(d.want, int(v))
	d.rules = append(d.rules, make([]Symbol, 0, v))
	return nil
}

// onward adds a rule whose body continues the progression of two earlier rules.
func (d *decoder) onward() error {
	back, err := d.uvarint()
	if err != nil {
		return err
	}
	n := len(d.rules)
	if back == 0 || back > maxBack || 2*int(back) >= n {
		return errOnward
	}
	body := onward(d.rules[n-2*int(back)], d.rules[n-int(back)])
	if !settled(n, body) || len(body) == 0 { // a rule whose body is unfinished refers to later rules
		return errOnward
	}
	d.rules = append(d.rules, body)
	return nil
}

func (d *decoder) run() error {
	if err := d.body(); err != nil {
		return err
	}
	next := int64(0)
	for len(d.stack) > 0 {
		top := len(d.stack) - 1
		r := d.stack[top]
		if d.want[top] == 0 {
			d.stack, d.want = d.stack[:top], d.want[:top]
			continue
		}
		d.want[top]--
		d.due--
		v, err := d.uvarint()
		if err != nil {
			return err
		}
		if v == codeRounds {
			if next, err = d.rounds(r, next); err != nil {
				return err
			}
			continue
		}
		s := Symbol{Count: 1}
		if v&flagRepeated != 0 {
			c, err := d.uvarint()
			if err != nil {
				return err
			}
			if s.Count = c + 2; s.Count < 2 {
				return errCount
			}
		}
		what := v >> flagBits
		fresh := false
		more := uint64(0) // remaining terminals of a run
		if v == codeRun {
			if more, err = d.uvarint(); err != nil {
				return err
			}
			if what, err = d.uvarint(); err != nil {
				return err
			}
			if more += minRun - 1; more >= maxRun || what == isRun {
				return errRun
			}
		} else if v&flagRule == 0 && what == isRun {
			return errRun
		}
		switch rules := uint64(len(d.rules)); {
		case v&flagRule == 0:
			id := next - int64(what/2)
			if what%2 != 0 {
				id = next + int64(what/2)
			}
			if id < 0 || id >= 1<<31-maxRun {
				return errRange
			}
			s.TerminalOrRule = int32(id)
			next = max(next, id+1+int64(more))
		case what == 0:
			s.TerminalOrRule = -int32(rules)
			fresh = true
		case what >= rules:
			return errRule
		default:
			s.TerminalOrRule = -int32(rules - what)
		}
		d.rules[r] = append(d.rules[r], s)
		for range more {
			s.TerminalOrRule++
			d.rules[r] = append(d.rules[r], s)
		}
		if fresh {
			if err := d.body(); err != nil {
				return err
			}
		}
	}
	return nil
}

// rounds reads an item of rounds into the body of rule r, and returns the lowest new terminal after it.
func (d *decoder) rounds(r int32, next int64) (int64, error) {
	width, err := d.uvarint()
	if err != nil {
		return 0, err
	}
	rounds, err := d.uvarint()
	if err != nil {
		return 0, err
	}
	body, numbered := d.rules[r], width&1 != 0
	if width >>= 1; width < 2 || width > uint64(len(body)) || width > maxRounds || rounds == 0 || rounds > maxRounds/width {
		return 0, errRounds
	}
	w := int(width)
	round := slices.Clone(body[len(body)-w:])
	steps := make([]struct{ count, id int64 }, w)
	for i := range steps {
		if steps[i].count, err = d.varint(); err != nil {
			return 0, err
		}
	}
	for i := 0; i < w && numbered; i++ {
		if steps[i].id, err = d.varint(); err != nil {
			return 0, err
		}
	}
	for range rounds {
		for i := range round {
			x, step := &round[i], &steps[i]
			if x.Count += uint64(step.count); x.Count == 0 {
				return 0, errCount
			}
			if step.id == 0 {
				continue
			}
			id := int64(x.TerminalOrRule) + step.id
			if x.TerminalOrRule < 0 || step.id > 1<<31 || id < 0 || id >= 1<<31-maxRun {
				return 0, errRange
			}
			x.TerminalOrRule = int32(id)
			next = max(next, id+1)
		}
		body = append(body, round...)
	}
	d.rules[r] = body
	return next, nil
}
