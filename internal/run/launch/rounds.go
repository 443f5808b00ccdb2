package launch

import (
	"debug/elf"
	"encoding/binary"
)

// loops counts the loops of a binary that count their rounds (pass/loops.cpp), by its notes: sizes of name and contents and a kind, the name
// "spoor" with zeros up to eight bytes, and the third word of the contents.
func loops(f *elf.File) (n int) {
	s := f.Section(".note.spoor")
	if s == nil {
		return 0
	}
	const size = 12 + 8 + 16
	for data, _ := s.Data(); len(data) >= size && string(data[12:18]) == "spoor\x00"; data = data[size:] {
		n += int(binary.LittleEndian.Uint32(data[28:]))
	}
	return n
}
