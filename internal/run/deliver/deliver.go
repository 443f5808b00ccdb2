// Package deliver brings a merged trace into its file, with the times of every call if
// they were kept, and tells all ranks whether it is there. Only then may they remove
// what they recorded.
//
// The ranks talk over the tree of the merge. Up it go sizes and checksums of the times,
// down it where the file is and from which byte on it is whose; then each rank writes its
// own part, all side by side. Ranks that can't reach the file send their part up in chunks.
// If anything goes wrong, rank 0 tries the next place. At last the verdict goes down.
//
// Invariants:
//
//  1. No rank holds more of others' times than a chunk, whatever there is.
//  2. A rank MUST send its children a verdict, whatever goes wrong; otherwise they would
//     wait for it in their MPI_Finalize.
//  3. A rank that has not heard of a whole trace MUST keep its records.
//
// It does not record or merge, and does not know how messages travel.
package deliver

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/merge"
)

// A RankPart is what one rank brings into the delivery of a trace's file.
type RankPart struct {
	merge.Transport
	*merge.SeriesGathering
	// Host is equal for ranks on the same kernel, which see the same files.
	Host uint64
	// Times are the rank's times of all calls; nil without such times. Trouble is the error because of which they are
	// missing, or nil.
	Times              *SeriesPiece
	MissingTimesReason error
	// Open opens the file that another rank made, if this rank can write to it. nil: OpenShared, except in tests.
	Open func(name string, token []byte, sameHost bool) (io.WriterAt, func() error, error)
}

// A SeriesPiece is the times of all calls of a rank, as its part of the series.
type SeriesPiece struct {
	Size     int64
	Checksum uint32
	Write    func(w io.Writer) error
}

// A Destination is a path for the trace. If the path is taken, the trace gets a numbered name, or replaces the file
// if Overwrite is set.
type Destination struct {
	Name             string
	Overwrite        bool
	MakeFolder       bool // make the folder if it doesn't exist
	NumberedNameOnly bool // the plain name is reserved for another trace, so this one gets a number
}

// Kinds of messages, in their first byte. A rank that sends another kind than expected is out of step, and its
// messages are ignored from then on.
const (
	sizesMessage   = 's' // sent to the parent in the tree of ranks: an encoded parts
	placeMessage   = 'p' // sent to a child: an encoded writeOrder
	dataMessage    = 'd' // sent to the parent: uint64 offset in the series of all ranks' times, then the bytes
	endMessage     = 'e' // sent to the parent: string, the error that occurred, or ""
	verdictMessage = 'v' // sent to a child: uint8, 1 if the trace has everything
)

var errMessage = errors.New("unexpected message")

// parts is the sizes and checksums of the times of a block of ranks: a rank and all below it in the tree.
type parts struct {
	sizes   column.Column // bytes of each rank's times
	total   int64
	sum     uint32
	trouble string
}

func (p *parts) add(o *parts) {
	p.sizes.Concat(o.sizes)
	p.sum = wire.JoinChecksums(p.sum, o.sum, o.total)
	p.total += o.total
	p.trouble = cmp.Or(p.trouble, o.trouble)
}

func (p *parts) encode() []byte {
	b := wire.AppendUint32([]byte{sizesMessage}, p.sum)
	b = wire.AppendString(b, p.trouble)
	return p.sizes.AppendRuns(b)
}

func decodeParts(msg []byte, width int) (*parts, error) {
	r := wire.NewReader(msg, "sizes of times")
	if r.Byte() != sizesMessage {
		return nil, errMessage
	}
	p := &parts{sum: r.Uint32(), trouble: r.String()}
	p.sizes = column.DecodeRuns(r, width)
	if err := r.Finish(); err != nil {
		return nil, err
	}
	for n := range p.sizes.All() {
		if n < 0 || n > most-p.total {
			return nil, fmt.Errorf("sizes of times: %d bytes of one rank", n)
		}
		p.total += n
	}
	return p, nil
}

// most is the largest accepted size, in bytes, of all ranks' times.
const most = 1 << 60

// A writeOrder is the instruction for a block of ranks where in the file to write its times.
type writeOrder struct {
	name  string
	token []byte
	host  uint64
	begin int64 // offset of the series in the file
	at    int64 // offset in the series of the block's times
}

func (o *writeOrder) encode() []byte {
	b := wire.AppendString([]byte{placeMessage}, o.name)
	b = append(b, o.token...)
	b = wire.AppendUint64(b, o.host)
	b = wire.AppendUint64(b, uint64(o.begin))
	return wire.AppendUint64(b, uint64(o.at))
}

func decodeOrder(msg []byte) (*writeOrder, error) {
	r := wire.NewReader(msg, "place of times")
	r.Byte()
	o := &writeOrder{name: r.String(), token: r.Bytes(sections.DraftTokenSize), host: r.Uint64(), begin: int64(r.Uint64()), at: int64(r.Uint64())}
	return o, r.Finish()
}

// A crew is a rank, with what it knows of the ranks below it in the tree.
type crew struct {
	*RankPart
	below []*parts // by index of RankPart.Children: times of the child's block; nil if the child never reported
	gone  []bool   // by index of RankPart.Children: the child is out of step, so its messages are ignored
	all   parts
}

// muster collects the sizes of the times of the rank and of all ranks below it.
func muster(k *RankPart) *crew {
	c := &crew{RankPart: k, below: make([]*parts, len(k.Children)), gone: make([]bool, len(k.Children))}
	own := parts{}
	if k.Times != nil {
		own = parts{total: k.Times.Size, sum: k.Times.Checksum}
	}
	if k.MissingTimesReason != nil {
		own.trouble = fmt.Sprintf("rank %d: %v", k.Rank(), k.MissingTimesReason)
	}
	own.sizes = column.ColumnOf(own.total)
	c.all.add(&own)
	for _, block := range merge.Children(k.Rank(), k.Size()) {
		p := &parts{sizes: column.Constant(0, block.RankCount)}
		for i, child := range k.Children {
			if child == block {
				p = c.sizesOf(i)
			}
		}
		c.all.add(p)
	}
	return c
}

func (c *crew) sizesOf(i int) *parts {
	child := c.Children[i]
	msg, err := c.Recv(child.FirstRank)
	if err == nil {
		c.below[i], err = decodeParts(msg, child.RankCount)
	}
	if err != nil {
		return &parts{sizes: column.Constant(0, child.RankCount), trouble: fmt.Sprintf("rank %d: %v", child.FirstRank, err)}
	}
	return c.below[i]
}

// DeliverOnRank delivers the trace on a rank other than 0. It reports whether the trace is complete; err is the
// reason if the rank can't know that.
func DeliverOnRank(k *RankPart) (whole bool, err error) {
	defer func() {
		for _, child := range merge.Children(k.Rank(), k.Size()) {
			if e := k.Send(child.FirstRank, verdict(whole)); e != nil && err == nil {
				err = fmt.Errorf("deliver: verdict for rank %d: %w", child.FirstRank, e)
			}
		}
	}()
	parent := merge.Parent(k.Rank())
	var c *crew
	if k.IsNeeded() {
		c = muster(k)
		if err := k.Send(parent, c.all.encode()); err != nil {
			return false, fmt.Errorf("deliver: %w", err)
		}
	}
	for {
		msg, err := k.Recv(parent)
		if err != nil {
			return false, fmt.Errorf("deliver: %w", err)
		}
		switch {
		case len(msg) == 2 && msg[0] == verdictMessage:
			return msg[1] == 1, nil
		case c != nil && len(msg) > 0 && msg[0] == placeMessage:
			o, err := decodeOrder(msg)
			if err != nil {
				return false, fmt.Errorf("deliver: %w", err)
			}
			if err := c.pass(o, func(at int64, data []byte) error {
				return k.Send(parent, dataFor(at, data))
			}, func(trouble error) error {
				return k.Send(parent, end(trouble))
			}); err != nil {
				return false, fmt.Errorf("deliver: %w", err)
			}
		default:
			return false, fmt.Errorf("deliver: %w", errMessage)
		}
	}
}

func verdict(whole bool) []byte {
	if whole {
		return []byte{verdictMessage, 1}
	}
	return []byte{verdictMessage, 0}
}

func end(trouble error) []byte {
	text := ""
	if trouble != nil {
		text = trouble.Error()
	}
	return wire.AppendString([]byte{endMessage}, text)
}

// A Delivery is what rank 0 knows after the trace was delivered.
type Delivery struct {
	Path               string  // where the trace is; "" if it could not be written
	DestinationIndex   int     // index, in the list of destinations, of the one used
	DestinationErrors  []error // errors of the destinations tried before
	MissingTimesReason error   // why the times of some calls are missing
	Complete           bool    // the trace has everything: ranks may remove their records
}

// DeliverOnRoot delivers the trace on rank 0, to the first of the places that can be written. content makes the
// trace's content. If it reports that this is not whole, ranks keep their records even though there is a trace.
func DeliverOnRoot(k *RankPart, content func(times *sections.Series) (c *sections.Content, whole bool, err error), places []Destination) (d Delivery) {
	defer func() {
		for _, child := range merge.Children(0, k.Size()) {
			if err := k.Send(child.FirstRank, verdict(d.Complete)); err != nil {
				d.DestinationErrors = append(d.DestinationErrors, fmt.Errorf("verdict for rank %d: %w", child.FirstRank, err))
			}
		}
	}()
	var crew *crew
	var times *sections.Series
	if k.IsNeeded() {
		crew = muster(k)
		if crew.all.trouble != "" {
			d.MissingTimesReason = errors.New(crew.all.trouble)
		}
		times = &sections.Series{Sizes: slices.Collect(crew.all.sizes.All()), Checksum: crew.all.sum}
	}
	c, whole, err := content(times)
	var e *sections.EncodedFile
	if err == nil {
		e, err = sections.PrepareFile(c)
	}
	if err != nil {
		d.DestinationErrors = append(d.DestinationErrors, err)
		return d
	}
	for i, place := range places {
		path, err := place.deliver(crew, e)
		if err == nil {
			d.Path, d.DestinationIndex, d.Complete = path, i, whole && d.MissingTimesReason == nil
			return d
		}
		d.DestinationErrors = append(d.DestinationErrors, err)
	}
	return d
}

// deliver makes the trace's file at p, and returns its path.
func (p *Destination) deliver(c *crew, e *sections.EncodedFile) (path string, err error) {
	if p.MakeFolder {
		dir := filepath.Dir(p.Name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		defer os.Remove(dir) // fails if the folder is not empty
	}
	d, err := e.CreateDraft(p.Name)
	if err != nil {
		return "", err
	}
	if c != nil {
		if err := c.fill(d); err != nil {
			d.Discard()
			return "", err
		}
	}
	n := 1
	if p.NumberedNameOnly {
		n = 2
	}
	for ; ; n++ {
		path := NumberedName(p.Name, n)
		err := d.Finish(path, p.Overwrite)
		if errors.Is(err, fs.ErrExist) && !p.Overwrite && n < maxNames {
			continue
		}
		if err != nil {
			d.Discard()
			return "", err
		}
		return path, nil
	}
}

// maxNames is the number of numbered names that are tried for one destination.
const maxNames = 1000

// fill has all ranks write their times into a draft of the file.
func (c *crew) fill(d *sections.Draft) error {
	if err := d.PublishToken(); err != nil {
		return err
	}
	o := &writeOrder{name: d.Name(), token: d.Token(), host: c.Host, begin: d.SeriesOffset()}
	var trouble error
	err := c.pass(o, func(at int64, data []byte) error {
		_, err := d.WriteAt(data, o.begin+at)
		return err
	}, func(err error) error {
		trouble = err
		return nil
	})
	return errors.Join(err, trouble)
}
