package mpi

import (
	"strconv"
	"strings"
	"sync"
)

// stanzas is calls.txt or io.txt. Each call in it is parsed at its first use. A recorder is part of each process
// of a program, and needs only a few of the hundreds of calls. So do most readers.
type stanzas struct {
	file string
	text string
	base uint16   // lowest id of a call in the file
	byID []stanza // by id minus base: where the call is defined; zero: no call has this id

	mu     sync.Mutex
	parsed []*Call // by id minus base: the call; nil: not parsed yet, or no such call

	names func() map[string]uint16
	all   func() []*Call
}

// A stanza is where the definition of a call is in the text, with its parameters and its large form: from byte from
// up to byte to. The zero stanza has no call.
type stanza struct {
	from, to int32
	line     int32 // number of the first line, from 0
	section  int32 // offset in the text of the line of the call's section
	head     int32 // offset in the text of the line with id and name, of the call itself or of its large form
}

// findStanzas finds where calls are defined in a table, without parsing them. An error in a definition shows only
// when the call is parsed.
func findStanzas(file, text string, base uint16, room int) *stanzas {
	s := &stanzas{file: file, text: text, base: base, byID: make([]stanza, 0, room)}
	var now stanza
	var of [2]uint16 // ids of the current call and of its large form; 0: none
	end := func(at int) {
		for _, id := range of {
			if id > 0 {
				s.byID[id-base].to = int32(at)
			}
		}
		of = [2]uint16{}
	}
	at, section := 0, 0
	for line := 0; at < len(text); line++ {
		next := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			next = at + n + 1
		}
		switch form := 0; text[at] {
		case 's':
			end(at)
			section = at
		case 'l':
			form = 1
			fallthrough
		case 'c':
			if form == 0 {
				end(at)
				now = stanza{from: int32(at), line: int32(line), section: int32(section)}
			}
			id, _ := headOf(text[at:next])
			for int(id-base) >= len(s.byID) {
				s.byID = append(s.byID, stanza{})
			}
			now.head, of[form] = int32(at), id
			s.byID[id-base] = now
		}
		at = next
	}
	end(at)
	s.parsed = make([]*Call, len(s.byID))
	s.names = sync.OnceValue(func() map[string]uint16 {
		names := make(map[string]uint16, len(s.byID))
		for id, x := range s.byID {
			if x.to > 0 {
				_, name := headOf(text[x.head:x.to])
				names[name] = base + uint16(id)
			}
		}
		return names
	})
	s.all = sync.OnceValue(func() (list []*Call) {
		for id := range s.byID {
			if c := s.call(base + uint16(id)); c != nil {
				list = append(list, c)
			}
		}
		return list
	})
	return s
}

// call returns the call with this id, which it parses at the first use; nil if there is no such call.
func (s *stanzas) call(id uint16) *Call {
	i := int(id) - int(s.base)
	if i < 0 || i >= len(s.byID) || s.byID[i].to == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parsed[i] == nil {
		if err := s.parse(&s.byID[i]); err != nil {
			panic(err) // the table is part of the program, and tests parse all of it
		}
	}
	return s.parsed[i]
}

// parse parses the call at x together with its large form, and stores both in s.parsed.
func (s *stanzas) parse(x *stanza) error {
	section, _, _ := strings.Cut(s.text[x.section:], "\n")
	p := newCallParser(s.file, int(x.line))
	p.system = s.base > 0
	if err := p.parseLine(section); err != nil {
		return p.errorf("%w", err)
	}
	if err := p.parseText(s.text[x.from:x.to]); err != nil {
		return err
	}
	for _, c := range p.table.list {
		s.parsed[c.ID-s.base] = c
	}
	return nil
}

// headOf returns the id and the name in a line that begins a call or a large form.
func headOf(line string) (id uint16, name string) {
	_, line, _ = strings.Cut(line, " ")
	number, line, _ := strings.Cut(line, " ")
	n, _ := strconv.ParseUint(number, 10, 16)
	if end := strings.IndexAny(line, " \n"); end >= 0 {
		line = line[:end]
	}
	return uint16(n), line
}
