package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/bysite"
	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A file may have its calls by site: the section by-site in place of three others. When these are asked for, all calls are gone
// through once, and the sections made again of them; everything else works on these.
//
//	by-site = bytes that the three sections took uvarint, shares uint8, calls

// hasColumns reports whether there are any.
func (r *Reader) hasColumns() bool {
	if !r.hasSection(container.BySite) {
		return r.hasSection(container.Columns)
	}
	x, err := r.again()
	return err != nil || x.raw[container.Columns] != nil
}

// A remade file is what calls by site say: sections by id, and the bytes that they took.
type remade struct {
	raw   [container.End][]byte
	bytes int64
}

// remake makes the sections again.
func (r *Reader) remake() (x *remade, err error) {
	err = r.section(container.BySite, func(w *wire.Reader) {
		var e error
		if x, e = r.remadeOf(w); e != nil {
			w.Check(e)
		}
	})
	return x, err
}

func (r *Reader) remadeOf(w *wire.Reader) (*remade, error) {
	x := &remade{bytes: int64(w.Int(math.MaxInt32))}
	shares := w.Int(1) > 0
	var sites *sections.Sites
	if err := r.section(container.Sites, func(w *wire.Reader) { sites = sections.DecodeSites(w, r.version) }); err != nil {
		return nil, err
	}
	ranks := bysite.Decode(w, r.Ranks(), r.byID, sections.InOrder(sites.Outer, sites.Place))
	if err := w.Err(); err != nil {
		return nil, err
	}
	for rank, k := range ranks {
		if of := r.ClassOf(rank); of < 0 && len(k.Streams) > 0 {
			return nil, fmt.Errorf("calls of rank %d, which has no class", rank)
		}
	}
	classes, err := bysite.Classes(r.lists(), func(rank int) *bysite.Rank { return ranks[rank] })
	if err != nil {
		return nil, err
	}
	c := r.contentOf(sites)
	c.Classes = classes
	x.raw, err = sections.Calls(c, shares)
	return x, err
}

// contentOf is what a trace holds besides its classes, as far as these need it: sites have their numbers in place of hashes.
func (r *Reader) contentOf(sites *sections.Sites) *sections.Content {
	c := &sections.Content{Ranks: r.Ranks(), Sites: make(map[uint64]model.Site), Outer: make(map[uint64]uint64)}
	for _, f := range r.schema {
		c.Schema = append(c.Schema, *f)
	}
	for i, s := range sites.List {
		if i == 0 {
			continue // an unknown place
		}
		c.Sites[uint64(i)] = model.Site{Module: s.Module, BuildID: s.BuildID, Offset: s.Offset}
		if o := sites.Outer[i]; o != 0 {
			c.Outer[uint64(i)] = uint64(o)
		}
	}
	return c
}

// BySite reports whether the file has its calls by site, and how many bytes the sections took by distinct calls.
func (r *Reader) BySite() (by bool, bytes int64, err error) {
	if !r.hasSection(container.BySite) {
		return false, 0, nil
	}
	x, err := r.again()
	if err != nil {
		return true, 0, err
	}
	return true, x.bytes, nil
}

// ErrOtherwise is what a check of calls by site comes to if the sections that are made of them aren't those that there were.
var ErrOtherwise = errors.New("the sections can't be made again of the calls")

// Frames tells of each number of a site which one is around it, 0 for none, and which is its place alone. They must not be changed.
func (r *Reader) Frames() (outer, place []int, err error) {
	t, err := r.tables()
	if err != nil {
		return nil, nil, err
	}
	return t.sites.Outer, t.sites.Place, nil
}

// WithCallsBySite makes a file that has its calls by site, as coded, and compares: all that the three sections say is the same then. It returns
// the file's bytes and how many there were less in the sections.
func (r *Reader) WithCallsBySite(coded []byte) (section []byte, saved int64, err error) {
	if r.hasSection(container.BySite) || r.version != container.Version {
		return nil, 0, ErrOtherwise
	}
	stored := int64(0)
	var there [container.End][]byte
	for i := range r.sections {
		if s := &r.sections[i]; container.InBySite(s.ID) {
			stored += s.Stored
			if there[s.ID], err = r.raw(s.ID); err != nil {
				return nil, 0, err
			}
		}
	}
	for _, shares := range []byte{0, 1} {
		section = append(append(wire.AppendUvarint(nil, uint64(stored)), shares), coded...)
		w := wire.NewReader(section, "data")
		x, err := r.remadeOf(w)
		if err != nil {
			return nil, 0, err
		}
		same, err := r.sameCalls(&there, &x.raw)
		if err != nil {
			return nil, 0, err
		}
		if same {
			packed, _ := container.Pack(container.BySite, section)
			return section, stored - int64(len(packed)), nil
		}
	}
	return nil, 0, ErrOtherwise
}

// sameCalls compares sections: classes by what they say, as they have several ways of being written, the others byte by byte.
func (r *Reader) sameCalls(a, b *[container.End][]byte) (bool, error) {
	if !bytes.Equal(a[container.Signatures], b[container.Signatures]) || !bytes.Equal(a[container.Columns], b[container.Columns]) {
		return false, nil
	}
	t, err := r.tables()
	if err != nil {
		return false, err
	}
	other := *t
	w := wire.NewReader(b[container.Classes], "data")
	other.classes, other.together = r.decodeClasses(w, t.sigs)
	if err := w.Done(); err != nil {
		return false, err
	}
	for n := range r.Classes() {
		x, err := r.common(t, n)
		if err != nil {
			return false, err
		}
		y, err := r.common(&other, n)
		if err != nil {
			return false, err
		}
		if !slices.Equal(x.Varying, y.Varying) || !slices.Equal(x.Sigs, y.Sigs) || len(x.Streams) != len(y.Streams) {
			return false, nil
		}
		for i, g := range x.Streams {
			if !g.Equal(y.Streams[i]) {
				return false, nil
			}
		}
	}
	return true, nil
}

// PutCallsBySite puts a section that WithCallsBySite made into the file, in place of those that it stands for.
func PutCallsBySite(path string, section []byte) error {
	err := rewrite(path, func(w io.Writer, src io.ReaderAt, size int64) error {
		return container.Exchange(w, src, size, container.BySite, section, container.Signatures, container.Classes, container.Columns)
	})
	if err != nil {
		return fmt.Errorf("trace: %s: section %q: %w", path, container.Names[container.BySite], err)
	}
	return nil
}
