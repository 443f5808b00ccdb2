package deliver

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// chunk is the largest number of bytes of times in a message.
const chunk = 1 << 20

// pass executes a writeOrder on this rank and the ranks below. Bytes that a rank could not write to the file itself go
// to up. At last it calls end with the error that occurred, if any. It returns an error of up or end: the connection
// to the parent failed.
func (c *crew) pass(o *writeOrder, up func(at int64, data []byte) error, end func(error) error) error {
	places := c.places(o.at)
	for i, p := range c.below {
		if p == nil || c.gone[i] {
			continue
		}
		below := *o
		below.at = places[i]
		if err := c.Send(c.Children[i].FirstRank, below.encode()); err != nil {
			c.gone[i] = true
		}
	}
	trouble, err := c.own(o, up)
	for i, p := range c.below {
		if p == nil {
			continue
		}
		var t error
		failed := errGone
		if !c.gone[i] {
			t, failed = c.listen(i, places[i], places[i]+p.total, func(at int64, data []byte) {
				// After an error of up, the messages of the ranks below must still be received.
				if err == nil {
					err = up(at, data)
				}
			})
		}
		if failed != nil {
			c.gone[i] = true
			t = fmt.Errorf("times of rank %d: %w", c.Children[i].FirstRank, failed)
		}
		trouble = cmp.Or(trouble, t)
	}
	if err != nil {
		return err
	}
	return end(trouble)
}

var errGone = errors.New("it is not there any more")

// places returns, by child, the offset in the series of the times of the child's block. The rank's own times, at
// offset at, come first.
func (c *crew) places(at int64) []int64 {
	if c.Times != nil {
		at += c.Times.Size
	}
	list := make([]int64, len(c.below))
	for i, p := range c.below {
		list[i] = at
		if p != nil {
			at += p.total
		}
	}
	return list
}

// own writes the rank's own times into the file, or sends them by up. trouble is why they are incomplete; err is an
// error of up.
func (c *crew) own(o *writeOrder, up func(at int64, data []byte) error) (trouble, err error) {
	if c.Times == nil || c.Times.Size == 0 {
		return nil, nil
	}
	name := func(err error) error {
		return fmt.Errorf("times of rank %d: %w", c.RankPart.Rank(), CauseWithoutTempNames(err))
	}
	open := c.Open
	if open == nil {
		open = OpenShared
	}
	if c.RankPart.Rank() > 0 {
		f, closed, err := open(o.name, o.token, o.host == c.Host)
		if err == nil {
			w := &limited{to: io.NewOffsetWriter(f, o.begin+o.at), left: c.Times.Size}
			if err = errors.Join(w.take(c.Times), closed()); err != nil {
				return name(err), nil
			}
			return nil, nil
		}
	}
	s := &sender{up: up, at: o.at}
	w := &limited{to: s, left: c.Times.Size}
	if t := w.take(c.Times); t != nil && s.err == nil {
		return name(t), nil
	}
	return nil, s.err
}

// A limited is a writer that accepts at most left bytes.
type limited struct {
	to   io.Writer
	left int64
}

var errSize = errors.New("not as many bytes as before")

func (l *limited) Write(b []byte) (int, error) {
	if int64(len(b)) > l.left {
		return 0, errSize
	}
	l.left -= int64(len(b))
	return l.to.Write(b)
}

func (l *limited) take(p *SeriesPiece) error {
	b := bufio.NewWriterSize(l, chunk)
	if err := p.Write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if l.left != 0 {
		return errSize
	}
	return nil
}

// A sender passes what is written to up, with the offset in the series.
type sender struct {
	up  func(at int64, data []byte) error
	at  int64
	err error
}

func (s *sender) Write(b []byte) (int, error) {
	for n := 0; n < len(b) && s.err == nil; {
		part := b[n:min(len(b), n+chunk)]
		s.err = s.up(s.at, part)
		s.at += int64(len(part))
		n += len(part)
	}
	return len(b), s.err
}

func dataFor(at int64, data []byte) []byte {
	b := wire.AppendUint64(append(make([]byte, 0, dataHead+len(data)), dataMessage), uint64(at))
	return append(b, data...)
}

const dataHead = 1 + 8

// listen receives the times of child i's block, which cover the series between two offsets, until the child's end
// message. trouble is the error that this message reports.
func (c *crew) listen(i int, from, to int64, put func(at int64, data []byte)) (trouble, err error) {
	for {
		msg, err := c.Recv(c.Children[i].FirstRank)
		switch {
		case err != nil:
			return nil, err
		case len(msg) > dataHead && msg[0] == dataMessage:
			at, data := int64(binary.LittleEndian.Uint64(msg[1:])), msg[dataHead:]
			if at < from || at > to-int64(len(data)) {
				return nil, errMessage
			}
			put(at, data)
		case len(msg) > 0 && msg[0] == endMessage:
			r := wire.NewReader(msg[1:], "end of times")
			if text := r.String(); text != "" {
				trouble = errors.New(text)
			}
			return trouble, r.Finish()
		default:
			return nil, errMessage
		}
	}
}
