package goal

import "bytes"

// more skips blanks and comments and reports whether the line goes on.
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

// ended reports whether a statement ends here: with the line, or with its rank.
func (r *reader) ended() bool { return !r.more() || r.rest[0] == '}' }

// ahead reports whether a text comes next, blanks aside.
func (r *reader) ahead(text string) bool {
	r.blanks()
	return len(r.rest) >= len(text) && string(r.rest[:len(text)]) == text
}

func (r *reader) blanks() {
	for len(r.rest) > 0 && (r.rest[0] == ' ' || r.rest[0] == '\t' || r.rest[0] == '\r' || r.rest[0] == '\n') {
		r.rest = r.rest[1:]
	}
}

// takeWord takes a word, a number with its sign or another character; nothing at the end of the line.
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
