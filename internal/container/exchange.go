package container

import (
	"fmt"
	"io"
)

// Exchange writes a file with one section in place of some others. What stays is as it was, byte by byte. The file must be of this version.
func Exchange(w io.Writer, src io.ReaderAt, size int64, id byte, raw []byte, instead ...byte) error {
	list, version, err := Read(src, size)
	if err != nil {
		return err
	}
	if version != Version {
		return fmt.Errorf("format version %d: sections can be exchanged in version %d", version, Version)
	}
	var all [End][]byte
	var stored [End][]byte
	var codecs [End]byte
	var series *Tail
	var behind *Section
	for i := range list {
		s := &list[i]
		if s.ID == Series {
			series, behind = &Tail{uint64(s.Stored), s.sum}, s
			continue
		}
		if all[s.ID], err = s.Load(src); err != nil {
			return fmt.Errorf("section %q: %w", s.Name(), err)
		}
		stored[s.ID], codecs[s.ID] = make([]byte, s.Stored), s.Codec
		if n, err := src.ReadAt(stored[s.ID], s.Offset); n < len(stored[s.ID]) {
			return err
		}
	}
	all[id] = raw
	stored[id], codecs[id] = Pack(int(id), raw)
	for _, x := range instead {
		all[x] = nil
	}
	file := Assemble(all, func(id int, _ []byte) ([]byte, byte) { return stored[id], codecs[id] }, series)
	if _, err := w.Write(file); err != nil || behind == nil {
		return err
	}
	_, err = io.Copy(w, io.NewSectionReader(src, behind.Offset, behind.Stored))
	return err
}
