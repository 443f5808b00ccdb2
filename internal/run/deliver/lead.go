package deliver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
)

// A Delivery is what became of a trace.
type Delivery struct {
	Path   string  // where it is; "" if there is none
	Place  int     // which of the places that is in
	Failed []error // why it is not in the places before
	Lost   error   // why the times of some calls are not in it
	Whole  bool    // it has all there is: what ranks recorded need not be kept
}

// Lead takes part on rank 0. content makes what the trace is to hold. Unless it says
// that this is whole, ranks keep what they recorded even if there is a trace.
func Lead(k *Rank, content func(times *sections.Series) (c *sections.Content, whole bool, err error), places []Place) (d Delivery) {
	defer func() {
		for _, child := range merge.Children(0, k.Size()) {
			if err := k.Send(child.From, verdict(d.Whole)); err != nil {
				d.Failed = append(d.Failed, fmt.Errorf("verdict for rank %d: %w", child.From, err))
			}
		}
	}()
	var crew *crew
	var times *sections.Series
	if k.Needed() {
		crew = muster(k)
		if crew.all.trouble != "" {
			d.Lost = errors.New(crew.all.trouble)
		}
		times = &sections.Series{Sizes: slices.Collect(crew.all.sizes.All()), Sum: crew.all.sum}
	}
	c, whole, err := content(times)
	var e *sections.Encoded
	if err == nil {
		e, err = sections.Prepare(c)
	}
	if err != nil {
		d.Failed = append(d.Failed, err)
		return d
	}
	for i, place := range places {
		path, err := place.deliver(crew, e)
		if err == nil {
			d.Path, d.Place, d.Whole = path, i, whole && d.Lost == nil
			return d
		}
		d.Failed = append(d.Failed, err)
	}
	return d
}

// deliver makes the file.
func (p *Place) deliver(c *crew, e *sections.Encoded) (path string, err error) {
	if p.Make {
		dir := filepath.Dir(p.Name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		defer os.Remove(dir) // if it is empty
	}
	d, err := e.Draft(p.Name)
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
	if p.Spare {
		n = 2
	}
	for ; ; n++ {
		path := Numbered(p.Name, n)
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

// maxNames bounds the search for one that no file has.
const maxNames = 1000

// fill has all ranks write their times into a draft.
func (c *crew) fill(d *sections.Draft) error {
	if err := d.Publish(); err != nil {
		return err
	}
	o := &order{name: d.Name(), token: d.Token(), host: c.Host, begin: d.Offset()}
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
