package files

import (
	"errors"
	"iter"
	"strings"

	"github.com/spoor-hpc/spoor/internal/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

func isGone(err error) bool { return errors.Is(err, trace.ErrNoTrack) }

// An opened is an open file, as descriptors and streams of a rank stand for it.
type opened struct {
	name   string
	use    *Use
	at     int64 // where the next access is that names no place; -1: not known
	append bool  // writes go to the end

	began bool  // there was an access
	last  int64 // where it was
	end   int64 // where it ended
	step  int64 // from the one before to it, where it did not follow that
	alone bool  // one such step was seen, which counts as random unless another one is like it
}

// A follower goes through the calls of a rank.
type follower struct {
	rank int
	use  func(path string) (name string, use *Use)
	heat *Heat                        // may be nil
	open map[string]map[int64]*opened // by kind of handle, by number
	kind trace.SampleKind
	defs map[*trace.Function]*mpi.Call
}

func newFollower(rank int, use func(path string) (string, *Use)) *follower {
	f := &follower{rank: rank, use: use, open: make(map[string]map[int64]*opened), kind: trace.ExactSample, defs: make(map[*trace.Function]*mpi.Call)}
	for _, k := range []mpi.Kind{mpi.KindDescriptor, mpi.KindStream, mpi.KindDirectory, mpi.KindMapping} {
		f.open[k.Name()] = make(map[int64]*opened)
	}
	return f
}

// follow takes the calls of all threads, in the order of time where there are times.
func (f *follower) follow(k *trace.Rank, timed bool) error {
	type thread struct {
		next func() (trace.TimedCall, error, bool)
		call trace.TimedCall
		ok   bool
	}
	var list []*thread
	for s := range k.Streams() {
		seq := k.Timed(s)
		if !timed {
			seq = untimed(k, s)
		}
		next, stop := iter.Pull2(seq)
		defer stop()
		list = append(list, &thread{next: next})
	}
	advance := func(t *thread) (err error) {
		for {
			if t.call, err, t.ok = t.next(); err != nil || !t.ok || t.call.Func.Has(trace.Posix) {
				return err
			}
		}
	}
	for _, t := range list {
		if err := advance(t); err != nil {
			return err
		}
	}
	for {
		var first *thread
		for _, t := range list {
			if t.ok && (first == nil || t.call.Start < first.call.Start) {
				first = t
			}
		}
		if first == nil {
			return nil
		}
		f.call(&first.call)
		if err := advance(first); err != nil {
			return err
		}
	}
}

func untimed(k *trace.Rank, stream int) iter.Seq2[trace.TimedCall, error] {
	return func(yield func(trace.TimedCall, error) bool) {
		for c, err := range k.Calls(stream) {
			if !yield(trace.TimedCall{Call: c}, err) {
				return
			}
		}
	}
}

func (f *follower) def(fn *trace.Function) *mpi.Call {
	d, ok := f.defs[fn]
	if !ok {
		d, _ = mpi.Lookup(fn.Name)
		f.defs[fn] = d
	}
	return d
}

func number(c *trace.TimedCall, param string) (int64, bool) {
	p := c.Param(param)
	if p == nil || p.In.Type != trace.Int {
		return 0, false
	}
	return p.In.Num, true
}

// subject is the open file that a call is about; nil if it is about a name.
func (f *follower) subject(c *trace.TimedCall) *opened {
	if c.Param("path") != nil {
		return nil
	}
	for i := range c.Params {
		p := &c.Params[i]
		m := f.open[p.Kind()]
		if m == nil || p.Name() == "newfd" {
			continue
		}
		o := m[p.In.Num]
		if o == nil {
			name := Unknown
			if p.In.Predefined() {
				name = p.In.Render(p.Kind())
			}
			o = &opened{at: -1}
			o.name, o.use = f.use(name)
			m[p.In.Num] = o
		}
		return o
	}
	return nil
}

func (f *follower) call(c *trace.TimedCall) {
	def := f.def(c.Func)
	if def == nil {
		return
	}
	o := f.subject(c)
	var u *Use
	name := ""
	switch p := c.Param("path"); {
	case o != nil:
		name, u = o.name, o.use
	case p != nil:
		name, u = f.use(p.In.Text)
	default:
		return // flushes all streams, or makes a file without a name
	}
	ns := float64(c.Timing.Duration.Ns)
	f.kind = min(f.kind, c.Timing.Duration.Kind)
	if u.First == 0 && u.Last == 0 || c.Start < u.First {
		u.First = c.Start
	}
	u.Last = max(u.Last, c.End())
	if ns > u.Slowest.Ns {
		u.Slowest = Slow{f.rank, c.Text(), ns}
	}
	if c.Return != 0 {
		u.Failed++
	}
	if reissue.IsLibrary(c.Site.Module) {
		u.Library++
	}
	returned := c.Result.Type != trace.None
	if bytes, ok := moved(c, def); ok && returned {
		u.DataTime += ns
		m := &u.Reads
		if def.Has(mpi.Writes) {
			m = &u.Writes
		}
		m.count(bytes, ns)
		if f.heat != nil {
			f.heat.Add(f.rank, name, def.Has(mpi.Writes), bytes, c.Start, c.End())
		}
		if o != nil {
			o.access(c, def, bytes)
		}
		return
	}
	u.Meta++
	u.MetaTime += ns
	if returned {
		f.change(c, def, o, name, u)
	}
}

// moved is how many bytes a call read or wrote; false if that is not what it does.
func moved(c *trace.TimedCall, def *mpi.Call) (int64, bool) {
	if !def.Has(mpi.Reads) && !def.Has(mpi.Writes) {
		return 0, false
	}
	n := max(0, c.Result.Num)
	if size, ok := number(c, "size"); ok && def.Returns == mpi.KindSize {
		n *= size
	}
	if def.Returns == mpi.KindOutcome { // it has the length instead
		n, _ = number(c, "text")
		if c.Result.Num < 0 {
			n = 0
		}
	}
	return n, true
}

// access notes where a call read or wrote.
func (o *opened) access(c *trace.TimedCall, def *mpi.Call, bytes int64) {
	at, explicit := number(c, "offset")
	if explicit && c.Param("offset").Kind() == mpi.KindPosAt.Name() {
		explicit = at >= 0
	}
	if !explicit {
		at = o.at
		if o.append && def.Has(mpi.Writes) && o.began {
			at = o.end
		}
		if at >= 0 {
			o.at = at + bytes
		}
	}
	if at < 0 || bytes == 0 {
		return
	}
	u := o.use
	if at%Block != 0 {
		u.Unaligned++
	}
	u.Extent = max(u.Extent, at+bytes)
	step := at - o.last
	switch {
	case !o.began || at == o.end:
		u.Sequential++
	case step == o.step:
		u.Strided++
		if o.alone {
			u.Strided++
			u.Random--
		}
		o.alone = false
	default:
		u.Random++
		o.alone, o.step = true, step
	}
	if o.began && at == o.end {
		o.step, o.alone = 0, false
	}
	o.began, o.last, o.end = true, at, at+bytes
}

// change follows what handles stand for, and where files are read and written next.
func (f *follower) change(c *trace.TimedCall, def *mpi.Call, o *opened, name string, u *Use) {
	switch {
	case def.Has(mpi.Opens):
		if c.Return != 0 {
			return
		}
		if o == nil {
			o = &opened{name: name, use: u, append: opensToAppend(c)}
			u.Opens++
		}
		f.open[def.Returns.Name()][c.Result.Num] = o
	case o == nil || c.Return != 0:
	case def.Has(mpi.Closes):
		for i := range c.Params {
			if m := f.open[c.Params[i].Kind()]; m != nil {
				delete(m, c.Params[i].In.Num)
			}
		}
	case def.Returns == mpi.KindPos: // where it is now
		o.at = c.Result.Num
	case c.Func.Name == "fseek":
		at, _ := number(c, "offset")
		switch whence, _ := number(c, "whence"); {
		case whence == 0:
			o.at = at
		case whence == 1 && o.at >= 0:
			o.at += at
		default:
			o.at = -1
		}
	case c.Func.Name == "rewind":
		o.at = 0
	case c.Func.Name == "fsetpos" || c.Func.Name == "fscanf":
		o.at = -1
	}
}

func opensToAppend(c *trace.TimedCall) bool {
	if flags, ok := number(c, "flags"); ok {
		return flags&0x400 != 0 // O_APPEND
	}
	p := c.Param("mode")
	return p != nil && p.In.Type == trace.String && strings.HasPrefix(p.In.Text, "a")
}
