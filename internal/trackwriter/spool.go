package trackwriter

import (
	"bufio"
	"encoding/binary"
	"io"
	"iter"
	"os"

	"github.com/spoor-hpc/spoor/internal/timing"
)

// A spool keeps times in files without names, one for each thread.
type spool struct {
	files []*os.File
	bufs  []*bufio.Writer
	err   error
	room  []byte
}

func (s *spool) add(thread int, e timing.Entry) {
	for len(s.files) <= thread && s.err == nil {
		f, err := os.CreateTemp("", "spoor-times-")
		if err != nil {
			s.err = err
			return
		}
		s.err = os.Remove(f.Name())
		s.files, s.bufs = append(s.files, f), append(s.bufs, bufio.NewWriterSize(f, 1<<16))
	}
	if s.err != nil {
		return
	}
	s.room = binary.AppendUvarint(s.room[:0], e.Duration)
	s.room = binary.AppendUvarint(s.room, e.Gap)
	s.room = binary.AppendVarint(s.room, e.Jump)
	_, s.err = s.bufs[thread].Write(s.room)
}

// entries yields the times of a thread.
func (s *spool) entries(thread int) iter.Seq2[[]timing.Entry, error] {
	return func(yield func([]timing.Entry, error) bool) {
		if thread >= len(s.files) {
			return
		}
		err := s.err
		if err == nil {
			err = s.bufs[thread].Flush()
		}
		if err == nil {
			_, err = s.files[thread].Seek(0, io.SeekStart)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		r := bufio.NewReaderSize(s.files[thread], 1<<16)
		list := make([]timing.Entry, 0, 1024)
		for {
			list = list[:0]
			for len(list) < cap(list) {
				duration, err := binary.ReadUvarint(r)
				if err == io.EOF {
					break
				}
				gap, _ := binary.ReadUvarint(r)
				jump, failed := binary.ReadVarint(r)
				if err != nil || failed != nil {
					yield(nil, io.ErrUnexpectedEOF)
					return
				}
				list = append(list, timing.Entry{Duration: duration, Gap: gap, Jump: jump})
			}
			if len(list) == 0 || !yield(list, nil) {
				return
			}
		}
	}
}

// close lets the files go.
func (s *spool) close() {
	for _, f := range s.files {
		f.Close()
	}
}
