package main

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/trace"
)

// treesOf takes all calls of a trace apart.
func treesOf(r *trace.Reader, requests bool) ([]*tree, error) {
	s := &shaper{r: r}
	threads := 0
	for k, err := range r.Tracks() {
		if err != nil {
			return nil, err
		}
		s.ranks = append(s.ranks, k.Number())
		threads = max(threads, k.Streams())
	}
	var trees []*tree
	for thread := range threads {
		t, n, err := s.tree(thread)
		if err != nil {
			return nil, err
		}
		for rank := range t.ranks {
			if r.ClassOf(rank) < 0 {
				t.put(0, rank, 0)
				continue
			}
			k, err := r.Rank(rank)
			if err != nil {
				return nil, err
			}
			at, err := n.Places(k)
			if err != nil {
				return nil, err
			}
			if err := t.take(k, thread, at, requests); err != nil {
				return nil, err
			}
		}
		trees = append(trees, t)
	}
	return trees, nil
}

// A coded trace has the bytes of both sections: what there is and how columns follow from each other, and the numbers that
// are kept.
type coded struct{ shape, numbers []byte }

// packed returns the sections as they come out of a file, and how many bytes they take there.
func (c *coded) packed() (out *coded, size int, err error) {
	out = &coded{}
	for _, x := range []struct{ to, from *[]byte }{{&out.shape, &c.shape}, {&out.numbers, &c.numbers}} {
		b, codec := container.Pack(container.Columns, *x.from)
		size += len(b)
		switch n := uint64(len(*x.from)); codec {
		case container.CodecMixed:
			b, err = wire.Unmix(b, n)
		case container.CodecZstd:
			b, err = wire.Expand(b, n)
		}
		if err != nil {
			return nil, 0, err
		}
		*x.to = b
	}
	return out, size, nil
}

// encode codes the calls of all threads.
func encode(trees []*tree, give options) *coded {
	c := &coded{shape: wire.AppendUvarint(nil, uint64(len(trees)))}
	for _, t := range trees {
		c.shape = t.append(c.shape)
		f := newFitter(t, give)
		for n := range t.nodes {
			x := &t.nodes[n]
			if !x.kind.column() {
				f.known(n)
				continue
			}
			m := f.fit(n)
			c.shape = m.append(c.shape)
			if m.way == kept {
				c.numbers = append(c.numbers, keep(f.lists(n, &m))...)
			}
			f.known(n)
		}
	}
	return c
}

// lists are the numbers of a column that are kept, by rank.
func (f *fitter) lists(n int, m *model) [][]int64 {
	out := make([][]int64, f.t.ranks)
	for rank, col := range f.t.nodes[n].cols {
		first, _ := f.first(n, rank, m.whether)
		for i, at := range first {
			if i == at {
				out[rank] = append(out[rank], col[i])
			}
		}
	}
	return out
}

// append writes the sites and loops.
func (t *tree) append(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(len(t.sites)))
	for i := range t.sites {
		b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(t.sites[i].function.ID)), uint64(t.sites[i].place+1))
	}
	b = wire.AppendUvarint(b, uint64(len(t.loops)))
	for _, l := range t.loops {
		b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(l.first)), uint64(l.last-l.first))
	}
	return b
}

// decode reads the calls of all threads. Functions are those of the schema.
func decode(c *coded, ranks int, schema []*trace.Function) ([]*tree, error) {
	r, numbers := wire.NewReader(c.shape, "shape"), wire.NewReader(c.numbers, "numbers")
	var trees []*tree
	for range r.Count(1) {
		t := decodeTree(r, ranks, schema)
		if t == nil {
			return nil, r.Err()
		}
		f := newFitter(t, options{})
		for n := range t.nodes {
			x := &t.nodes[n]
			if !x.kind.column() {
				f.known(n)
				continue
			}
			m := decodeModel(r, len(x.path), n)
			if r.Err() == nil && m.way == kept {
				f.read(n, &m, numbers)
			}
			for rank := range ranks {
				if m.way != kept && r.Err() == nil {
					f.fill(n, rank, &m, r)
				}
			}
			if r.Check(numbers.Err()); r.Err() != nil {
				return nil, r.Err()
			}
			f.known(n)
		}
		trees = append(trees, t)
	}
	r.Check(numbers.Done())
	return trees, r.Done()
}

func decodeTree(r *wire.Reader, ranks int, schema []*trace.Function) *tree {
	sites := make([]site, r.Count(2))
	for i := range sites {
		id, place := r.Uvarint(), r.Uvarint()
		at := slices.IndexFunc(schema, func(f *trace.Function) bool { return uint64(f.ID) == id })
		if at < 0 {
			r.Fail("no function %d", id)
			return nil
		}
		sites[i] = site{function: schema[at], place: int(place) - 1}
	}
	loops := make([]span, r.Count(2))
	for i := range loops {
		first := r.Int(len(sites) - 1)
		loops[i] = span{first, first + r.Int(len(sites)-1-first)}
	}
	if r.Err() != nil {
		return nil
	}
	return newTree(ranks, sites, loops)
}

// read makes a column of the numbers that are kept.
func (f *fitter) read(n int, m *model, r *wire.Reader) {
	firsts, sizes := make([][]int, f.t.ranks), make([]int, f.t.ranks)
	for rank := range sizes {
		var ok bool
		if firsts[rank], ok = f.first(n, rank, m.whether); !ok {
			r.Fail("rounds of column %d differ", n)
			return
		}
		for i, at := range firsts[rank] {
			if i == at {
				sizes[rank]++
			}
		}
	}
	lists := readKept(r, sizes)
	if lists == nil {
		return
	}
	for rank, list := range lists {
		col := make([]int64, len(firsts[rank]))
		for i, at := range firsts[rank] {
			if i == at {
				col[i], list = list[0], list[1:]
			} else {
				col[i] = col[at]
			}
		}
		f.t.nodes[n].cols[rank] = col
	}
}

// A walker gives the calls of a rank back.
type walker struct {
	t    *tree
	rank int
	at   []int // by node: how many numbers were read
	vals []int64
	each func(s *site, vals []int64) error

	requests *requests
}

// walk calls each with the calls of a rank in order.
func (t *tree) walk(rank int, requests bool, each func(s *site, vals []int64) error) error {
	w := &walker{t: t, rank: rank, at: make([]int, len(t.nodes)), each: each, requests: newRequests(requests)}
	if w.next(0) == 0 {
		return nil
	}
	return w.round(-1)
}

func (w *walker) next(n int) int64 {
	v := w.t.nodes[n].cols[w.rank][w.at[n]]
	w.at[n]++
	return v
}

func (w *walker) round(loop int) error {
	for _, x := range w.t.items[loop+1] {
		for range w.next(x.node) {
			var err error
			if x.loop >= 0 {
				err = w.round(x.loop)
			} else {
				err = w.call(x.place)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) call(place int) error {
	s := &w.t.sites[place]
	w.vals = append(w.vals[:0], w.next(s.parts[0].nodes[0]))
	outputs := w.next(s.outputs) > 0
	for _, x := range s.parts[1:] {
		switch {
		case x.out && !outputs || x.option && w.next(x.nodes[0]) == 0:
		case x.option:
			for _, n := range x.nodes[1:] {
				w.vals = append(w.vals, w.next(n))
			}
		default:
			w.values(x.nodes)
		}
	}
	if err := w.requests.step(place, s.function, w.vals, true); err != nil {
		return err
	}
	sections.FillIn(s.function, w.vals)
	return w.each(s, w.vals)
}

func (w *walker) values(nodes []int) {
	for _, n := range nodes {
		v := w.next(n)
		w.vals = append(w.vals, v)
		switch w.t.nodes[n].kind {
		case list:
			below := w.t.below(n)
			size, _ := signature.Length(v)
			for range size {
				w.values(below)
			}
		case status:
			switch below := w.t.below(n); v {
			case signature.StatusFilled, signature.StatusIgnored:
				fields := w.t.below(below[0])
				w.values(fields[:signature.StatusCancelled])
				if w.next(fields[signature.StatusCancelled]) > 0 {
					w.values([]int{fields[signature.StatusCancelled] + 1})
				}
			case signature.StatusOfSend:
				w.values([]int{below[1] + 1})
			}
		}
	}
}
