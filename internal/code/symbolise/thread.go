package symbolise

import "strings"

// ThreadFunction names the function that a thread was made for by the place in it where the thread called on; of C++'s
// threads what they were passed, in place of the library's functions around that. Module and offset where the function isn't known.
func (p *Place) ThreadFunction() string {
	if len(p.Frames) == 0 || p.Frames[0].Function == "" {
		return p.String()
	}
	if outer := p.Frames[len(p.Frames)-1].Function; strings.HasPrefix(outer, "std::thread::") {
		if i := strings.LastIndex(outer, "std::tuple<"); i >= 0 {
			return upToBracket(outer[i+len("std::tuple<"):])
		}
	}
	return p.Frames[0].Function
}

// upToBracket is a text up to the bracket that closes what is around it.
func upToBracket(s string) string {
	depth := 0
	for i, c := range s {
		switch c {
		case '<':
			depth++
		case '>':
			if depth--; depth < 0 {
				return strings.TrimSpace(s[:i])
			}
		}
	}
	return s
}
