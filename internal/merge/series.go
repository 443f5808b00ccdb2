package merge

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"spoor/internal/timing/series"
	"spoor/internal/track"
	"spoor/mpi"
)

// WriteSeries writes the times of every call of a track, for trace.Series. It
// returns how many bytes it wrote; nothing if the track has no such times.
func WriteSeries(tr *track.Track, to io.Writer) (int64, error) {
	if tr == nil || tr.Log == nil {
		return 0, nil
	}
	buffer := bufio.NewWriterSize(to, 1<<16)
	l := tr.Log
	w, err := series.NewWriter(buffer, series.Rank{Mode: l.Options.Mode, TicksPerNs: l.TicksPerNs, StartNs: l.StartNs})
	if err != nil {
		return 0, err
	}
	names, sigs := make([]string, len(tr.Sigs)), make([]series.Signature, len(tr.Sigs))
	for t, s := range tr.Sigs {
		if c, ok := mpi.ByID(s.Call); ok {
			names[t] = c.Name
		}
		sigs[t] = series.Signature{Call: uint64(s.Call), Site: s.Site, Vals: s.Vals}
	}
	of, kinds := series.KindsOf(l.Options, l.TicksPerNs, names, sigs)
	for i := range tr.Streams {
		c := tr.Streams[i].Grammar.Cursor()
		err := w.Stream(l.Streams[i], func(n int) series.Kinds {
			k := kinds
			k.Of = make([]uint32, n)
			for j := range k.Of {
				t, _ := c.Next()
				k.Of[j] = of[t]
			}
			return k
		})
		if err != nil {
			return 0, err
		}
	}
	n, err := w.Close()
	if err != nil {
		return 0, err
	}
	return n, buffer.Flush()
}

// A Gathering is what is left to do after a merge: pieces of data too large for the
// states, which go to rank 0 one after the other over the same tree. It knows which
// ranks of its subtree have some; a rank without may still have to pass on others'.
type Gathering struct {
	t        Transport
	own      bool
	children []child // that have pieces in their subtrees
}

// A child is the block of ranks that a message came from.
type child struct{ from, width int }

// Needed reports whether the rank has anything to do with it.
func (g *Gathering) Needed() bool { return g.own || len(g.children) > 0 }

// chunk is how much of a piece a message has. No rank holds more of others' pieces
// than that.
const chunk = 1 << 20

// Send takes part: on rank 0, put is called with all pieces, in order of ranks, each
// as many bytes at a time; on the others they are sent on. piece is the rank's
// own, of so many bytes; all ranks that have pieces must call Send.
//
//	message = rank uint32, data; a byte at the end of a subtree
func (g *Gathering) Send(piece io.ReaderAt, size int64, put func(rank int, data []byte) error) error {
	rank := g.t.Rank()
	var failed error // of put; ranks below must be listened to all the same
	pass := func(msg []byte) error {
		if rank > 0 {
			return g.t.Send(parent(rank), msg)
		}
		if failed == nil {
			failed = put(int(binary.LittleEndian.Uint32(msg)), msg[messageHead:])
		}
		return nil
	}
	if g.own {
		if err := g.sendOwn(rank, piece, size, pass); err != nil {
			return fmt.Errorf("merge: rank %d: %w", rank, err)
		}
	}
	for _, c := range g.children {
		for {
			msg, err := g.t.Recv(c.from)
			if err != nil {
				return fmt.Errorf("merge: rank %d: %w", rank, err)
			}
			if len(msg) < messageHead {
				break // the end of the subtree
			}
			if r := int(binary.LittleEndian.Uint32(msg)); r < c.from || r >= c.from+c.width {
				return fmt.Errorf("merge: rank %d: piece of rank %d from rank %d", rank, r, c.from)
			}
			if err := pass(msg); err != nil {
				return fmt.Errorf("merge: rank %d: %w", rank, err)
			}
		}
	}
	if rank > 0 {
		return g.t.Send(parent(rank), []byte{0})
	}
	return failed
}

const messageHead = 4

func (g *Gathering) sendOwn(rank int, piece io.ReaderAt, size int64, pass func(msg []byte) error) error {
	for at := int64(0); at < size; {
		n := min(chunk, size-at)
		msg := make([]byte, messageHead+n)
		binary.LittleEndian.PutUint32(msg, uint32(rank))
		if _, err := piece.ReadAt(msg[messageHead:], at); err != nil && err != io.EOF {
			return err
		}
		if err := pass(msg); err != nil {
			return err
		}
		at += n
	}
	return nil
}
