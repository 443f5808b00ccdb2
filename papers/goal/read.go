package goal

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// Open reads a file in GOAL's text form, which gzip may have compressed.
func Open(path string) (*Schedule, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, longestLine)
	if head, _ := in.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		in = bufio.NewReaderSize(z, longestLine)
	}
	if head, _ := in.Peek(sample); slices.ContainsFunc(head, binary) {
		return nil, fmt.Errorf("%s: %w", path, ErrBinary)
	}
	return Read(in, path)
}

// ErrBinary is returned for a file that isn't text.
var ErrBinary = errors.New("GOAL's binary form, as txt2bin makes it, or another binary file: only the text form can be read; give the file that txt2bin was given")

// sample is the number of bytes read to check whether a file is text.
const sample = 512

// binary reports whether a byte never occurs in text.
func binary(c byte) bool { return c < ' ' && (c < '\t' || c > '\r') && c != 0x1b }

// longestLine is the largest length of a line.
const longestLine = 1 << 16

// Read reads GOAL's text; errors begin with name and the line. Memory grows with the length of the
// text, never with a number in it.
func Read(in io.Reader, name string) (*Schedule, error) {
	r := reader{in: bufio.NewReaderSize(in, longestLine), declared: -1, labels: make(map[string]uint32)}
	if err := r.readLines(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, r.line, err)
	}
	return r.b.Schedule(), nil
}

type reader struct {
	in        *bufio.Reader
	line      int
	rest      []byte // unread part of the line
	commented bool   // in a comment of several lines
	declared  int64  // declared number of ranks, -1 until known
	ranks     int64  // number of ranks begun
	open      bool   // inside a rank
	labels    map[string]uint32
	b         Builder
}

func (r *reader) readLines() error {
	for {
		text, err := r.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			r.line++
			return fmt.Errorf("a line of more than %d bytes", longestLine)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		last := err != nil
		if len(text) > 0 {
			r.line++
		}
		r.rest = text
		for r.more() {
			if err := r.statement(); err != nil {
				return err
			}
		}
		if last {
			return r.end()
		}
	}
}

// end returns an error if the file ends too early.
func (r *reader) end() error {
	switch {
	case r.commented:
		return errors.New("the file ends inside a comment")
	case r.open:
		return fmt.Errorf("the file ends inside rank %d: } is missing", r.ranks-1)
	case r.declared < 0:
		return errors.New("num_ranks is missing")
	case r.ranks < r.declared:
		return fmt.Errorf("the file ends after %d of %d ranks", r.ranks, r.declared)
	}
	return nil
}

func (r *reader) statement() error {
	word := r.takeWord()
	switch string(word) {
	case "num_ranks":
		return r.numRanks()
	case "rank":
		return r.beginRank()
	}
	if !r.open {
		return fmt.Errorf("%q outside of a rank", word)
	}
	switch string(word) {
	case "}":
		r.open = false
		clear(r.labels)
		return nil
	case "send", "recv", "calc":
		_, err := r.operation(word)
		return err
	}
	if !isLetter(word[0]) {
		return fmt.Errorf("%q, where a label, send, recv, calc or } is expected", word)
	}
	label := word
	switch then := r.takeWord(); string(then) {
	case ":":
		if _, known := r.labels[string(label)]; known {
			return fmt.Errorf("rank %d has a label %s already", r.ranks-1, label)
		}
		op, err := r.operation(r.takeWord())
		r.labels[string(label)] = op
		return err
	case "requires":
		return r.dependency(label, r.b.AfterEnd)
	case "irequires":
		return r.dependency(label, r.b.AfterStart)
	default:
		return fmt.Errorf("%q after label %s, where :, requires or irequires is expected", then, label)
	}
}

func (r *reader) numRanks() error {
	if r.declared >= 0 {
		return errors.New("num_ranks a second time")
	}
	n, err := r.number("num_ranks", math.MaxUint32-1)
	r.declared = int64(n)
	return err
}

// beginRank checks that ranks are in order, so that each occurs exactly once.
func (r *reader) beginRank() error {
	n, err := r.number("rank", math.MaxUint32-1)
	switch {
	case err != nil:
		return err
	case r.declared < 0:
		return fmt.Errorf("rank %d before num_ranks", n)
	case r.open:
		return fmt.Errorf("rank %d inside rank %d: } is missing", n, r.ranks-1)
	case int64(n) != r.ranks:
		return fmt.Errorf("rank %d, where rank %d is expected", n, r.ranks)
	case r.ranks == r.declared:
		return fmt.Errorf("rank %d, but num_ranks is %d", n, r.declared)
	}
	if brace := r.takeWord(); string(brace) != "{" {
		return fmt.Errorf("%q after rank %d, where { is expected", brace, n)
	}
	r.open = true
	r.ranks++
	r.b.BeginRank()
	return nil
}

// operation reads what follows send, recv or calc, to the end of the line.
func (r *reader) operation(word []byte) (_ uint32, err error) {
	var o Op
	toward := "to"
	switch string(word) {
	case "send":
		o.Kind = Send
	case "recv":
		o.Kind, toward = Recv, "from"
	case "calc":
		o.Kind = Calc
	default:
		return 0, fmt.Errorf("%q, where send, recv or calc is expected", word)
	}
	if o.Size, err = r.number(string(word), math.MaxInt64); err != nil {
		return 0, err
	}
	if o.Kind != Calc {
		for _, want := range []string{"b", toward} {
			if got := r.takeWord(); string(got) != want {
				return 0, fmt.Errorf("%q, where %s is expected", got, want)
			}
		}
		if o.Peer, err = r.orAny(toward, o.Kind == Recv, uint64(max(0, r.declared-1))); err != nil {
			return 0, err
		}
	}
	for !r.ended() {
		var n uint64
		switch word := r.takeWord(); {
		case string(word) == "tag" && o.Kind != Calc:
			o.Tag, err = r.orAny("tag", o.Kind == Recv, math.MaxUint32-1)
		case string(word) == "cpu":
			n, err = r.number("cpu", math.MaxUint8)
			o.CPU = uint8(n)
		case string(word) == "nic":
			n, err = r.number("nic", math.MaxUint8)
			o.NIC = uint8(n)
		default:
			err = fmt.Errorf("%q at the end of an operation", word)
		}
		if err != nil {
			return 0, err
		}
	}
	return r.b.Add(o)
}

func (r *reader) dependency(label []byte, wait func(op, other uint32) error) error {
	op, err := r.operationOf(label)
	if err != nil {
		return err
	}
	other, err := r.operationOf(r.takeWord())
	if err != nil {
		return err
	}
	if !r.ended() {
		return fmt.Errorf("%q at the end of a dependency", r.takeWord())
	}
	return wait(op, other)
}

func (r *reader) operationOf(label []byte) (uint32, error) {
	op, known := r.labels[string(label)]
	if !known {
		return 0, fmt.Errorf("rank %d has no label %q up to here", r.ranks-1, label)
	}
	return op, nil
}

// orAny reads a number. If any is set, it also accepts -1, which means any rank or any tag.
func (r *reader) orAny(what string, any bool, most uint64) (uint32, error) {
	if any && r.ahead("-1") {
		r.takeWord()
		return AnyPeerOrTag, nil
	}
	n, err := r.number(what, most)
	return uint32(n), err
}

// number reads an integer that follows a word.
func (r *reader) number(what string, most uint64) (n uint64, err error) {
	digits := r.takeWord()
	if len(digits) == 0 || !isDigit(digits[0]) {
		return 0, fmt.Errorf("%q after %s, where a number is expected", digits, what)
	}
	for _, c := range digits {
		d := uint64(c - '0')
		if d > most || n > (most-d)/10 {
			return 0, fmt.Errorf("%s %s: at most %d is possible", what, digits, most)
		}
		n = 10*n + d
	}
	return n, nil
}

// more skips blanks and comments, and reports whether the line continues.
func (r *reader) more() bool {
	for {
		if r.commented {
			_, after, ends := bytes.Cut(r.rest, []byte("*/"))
			if !ends {
				return false
			}
			r.rest, r.commented = after, false
		}
		r.blanks()
		switch {
		case r.ahead("//"):
			r.rest = nil
		case r.ahead("/*"):
			r.rest, r.commented = r.rest[2:], true
			continue
		}
		return len(r.rest) > 0
	}
}

// ended reports whether a statement ends here: at the end of the line or of its rank.
func (r *reader) ended() bool { return !r.more() || r.rest[0] == '}' }

// ahead reports whether a text comes next, after blanks.
func (r *reader) ahead(text string) bool {
	r.blanks()
	return len(r.rest) >= len(text) && string(r.rest[:len(text)]) == text
}

func (r *reader) blanks() {
	for len(r.rest) > 0 && (r.rest[0] == ' ' || r.rest[0] == '\t' || r.rest[0] == '\r' || r.rest[0] == '\n') {
		r.rest = r.rest[1:]
	}
}

// takeWord reads a word, a number with its sign, or another character; nothing at the end of the line.
func (r *reader) takeWord() []byte {
	r.blanks()
	if len(r.rest) == 0 {
		return nil
	}
	n := 1
	switch c := r.rest[0]; {
	case isLetter(c):
		for n < len(r.rest) && (isLetter(r.rest[n]) || isDigit(r.rest[n]) || r.rest[n] == '_') {
			n++
		}
	case isDigit(c) || c == '-':
		for n < len(r.rest) && isDigit(r.rest[n]) {
			n++
		}
	}
	word := r.rest[:n]
	r.rest = r.rest[n:]
	return word
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
