package files

import (
	"iter"
	"path"
	"strings"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// An opened is an open file of a rank. Several descriptors, streams or handles may refer to it.
type opened struct {
	name   string // absolute path if the folder is known, else the name passed
	use    *Usage
	unit   int64 // MPI-IO: bytes per unit of offsets; 0: offsets can't be converted to bytes
	base   int64 // MPI-IO: the byte of the file that offset 0 refers to
	at     int64 // byte at which the next access without an offset begins; -1: not known
	append bool  // writes go to the end of the file

	began bool  // an access at a known offset has been made; the fields below are about the last one
	last  int64 // its first byte
	end   int64 // the byte after its last one
	step  int64 // distance between its first byte and that of the access before; 0: it began where that ended
	alone bool  // step has occurred only once, so the access counts as random; as strided once step occurs again
}

// A follower goes through the calls of a rank on files, and knows at each call which files are open.
type follower struct {
	rank int
	k    *trace.Rank
	// use returns where the rank's use of a file through an interface (by) is counted.
	use func(name, by string) *Usage
	// moved is called for each read or write through POSIX; may be nil.
	moved  func(name string, written bool, bytes, start, end int64)
	folder string // current working folder; "": not known
	// open has the open files by kind (descriptor, stream, handle) and number of what refers to them.
	open map[mpi.Kind]map[int64]*opened
	kind trace.SampleKind
	defs map[*trace.Function]*mpi.Call
	io   *mpiIO // nil: the trace has no MPI-IO calls
}

func newFollower(k *trace.Rank, folder string) *follower {
	f := &follower{rank: k.Number(), k: k, folder: folder, open: make(map[mpi.Kind]map[int64]*opened), kind: trace.ExactSample, defs: make(map[*trace.Function]*mpi.Call)}
	for _, k := range []mpi.Kind{mpi.KindFileDescriptor, mpi.KindFileStream, mpi.KindDirStream, mpi.KindMappedFileAddress, mpi.KindFile} {
		f.open[k] = make(map[int64]*opened)
	}
	return f
}

// follow goes through the rank's calls on files, of all threads in the order of time. Without times, it goes through
// one thread after the other.
func (f *follower) follow(r *trace.Reader) error {
	k, timed := f.k, r.HasTimes()
	var err error
	if f.io, err = newMPIIO(r, k); err != nil {
		return err
	}
	type thread struct {
		next func() (trace.TimedCall, error, bool)
		call trace.TimedCall
		ok   bool
	}
	var list []*thread
	for s := range k.Streams() {
		seq := k.TimedCalls(s)
		if !timed {
			seq = untimed(k, s)
		}
		next, stop := iter.Pull2(seq)
		defer stop()
		list = append(list, &thread{next: next})
	}
	advance := func(t *thread) (err error) {
		for {
			if t.call, err, t.ok = t.next(); err != nil || !t.ok || f.def(t.call.Func).Has(mpi.AttrPosix) || isMPIIO(f.def(t.call.Func)) {
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
			if t.ok && (first == nil || t.call.StartNs < first.call.StartNs) {
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
	return once.GetOrMake(f.defs, fn, func() *mpi.Call {
		d, _ := mpi.CallNamed(fn.Name)
		return d
	})
}

func number(c *trace.TimedCall, param string) (int64, bool) {
	p := c.Param(param)
	if p == nil || p.In.Type != trace.TypeInt {
		return 0, false
	}
	return p.In.Num, true
}

// pathOf returns the parameter in which a call passes a file's name; nil if it passes none but works on an open file.
func pathOf(c *trace.TimedCall) *trace.Param {
	for _, name := range []string{"path", "filename", "template"} {
		if p := c.Param(name); p != nil {
			return p
		}
	}
	return nil
}

// resolve returns the absolute path of the file that parameter p names. If the folder isn't known, it returns the name.
func (f *follower) resolve(c *trace.TimedCall, p *trace.Param) string {
	from := f.folder
	if dir := c.Param("dir"); dir != nil && dir.In.Num != mpi.AtFDCWD {
		from = ""
		if o := f.open[dir.Kind()][dir.In.Num]; o != nil && path.IsAbs(o.name) {
			from = o.name
		}
	}
	name := p.In.Text
	if p.Name() == "filename" {
		name = mpi.StripFileSystemPrefix(name)
	}
	if name == "" { // "" with a folder's descriptor means the folder itself
		return from
	}
	return absolute(from, name)
}

func byOf(c *trace.TimedCall) string {
	if c.Func.Has(trace.AttrPosix) {
		return APIPosix
	}
	return APIMPIIO
}

// handle returns the open file to which a value of a parameter refers. If no recorded call opened it, handle makes a
// file with UnknownFileName. It returns nil if the parameter is no descriptor, stream or handle of a file.
func (f *follower) handle(c *trace.TimedCall, p *trace.Param, v *trace.Value) *opened {
	m := f.open[p.Kind()]
	if m == nil || v.Type != trace.TypeHandle {
		return nil
	}
	o := m[v.Num]
	if o == nil {
		name := UnknownFileName
		if v.Predefined() {
			name = v.Render(p.Kind())
		}
		o = &opened{name: name, use: f.use(name, byOf(c)), at: -1}
		m[v.Num] = o
	}
	return o
}

// subject returns the open file that a call works on; nil if the call passes a file's name, or no file.
func (f *follower) subject(c *trace.TimedCall) *opened {
	if pathOf(c) != nil {
		return nil
	}
	for i := range c.Params {
		if p := &c.Params[i]; p.Name() != "newfd" && p.Name() != "info" {
			if o := f.handle(c, p, &p.In); o != nil {
				return o
			}
		}
	}
	return nil
}

// A move is one read or write (written) of one file.
type move struct {
	o       *opened
	use     *Usage
	written bool
	bytes   int64
	at      int64 // offset in bytes, or one of the constants below
}

const (
	noPlace = -1 - iota
	unknown
)

func (f *follower) call(c *trace.TimedCall) {
	def := f.def(c.Func)
	returned := c.Return != trace.ReturnCodeNeverReturned && c.Return != trace.ReturnCodeLeftByJump
	o := f.subject(c)
	var u *Usage
	name := ""
	switch p := pathOf(c); {
	case o != nil:
		name, u = o.name, o.use
	case p != nil && p.In.Type == trace.TypeString:
		name = f.resolve(c, p)
		u = f.use(name, byOf(c))
	case def.Name != "lio_listio":
		return // no file is known: the call flushes all streams, or makes a temporary file without a name
	}
	f.kind = min(f.kind, c.Timing.Duration.Kind)
	moves, data := f.moves(c, def, o)
	ns := float64(c.Timing.Duration.Ns)
	if !data || !returned {
		if u == nil {
			return
		}
		f.note(c, u)
		u.MetaCalls++
		u.MetaNs += ns
		if returned {
			f.change(c, def, o, name, u)
		}
		return
	}
	if len(moves) == 0 && u != nil { // the call waits for an asynchronous operation, which counted when it was started
		f.note(c, u)
		u.TransferNs += ns
	}
	for i := range moves {
		m := &moves[i]
		f.note(c, m.use)
		part := ns / float64(len(moves))
		m.use.TransferNs += part
		to := &m.use.Reads
		if m.written {
			to = &m.use.Writes
		}
		to.count(m.bytes, part)
		if m.o != nil {
			if f.moved != nil && c.Func.Has(trace.AttrPosix) {
				f.moved(m.o.name, m.written, m.bytes, c.StartNs, c.EndNs())
			}
			m.o.access(m)
		}
	}
}

// note updates a Usage with what counts for calls of any kind: first and last time, slowest call, failures, and calls
// that the MPI library made.
func (f *follower) note(c *trace.TimedCall, u *Usage) {
	if u.FirstNs == 0 && u.LastNs == 0 || c.StartNs < u.FirstNs {
		u.FirstNs = c.StartNs
	}
	u.LastNs = max(u.LastNs, c.EndNs())
	if ns := float64(c.Timing.Duration.Ns); ns > u.Slowest.Ns {
		u.Slowest = SlowestCall{f.rank, c.Text(), ns}
	}
	if c.Return != 0 {
		u.FailedCalls++
	}
	if reissue.IsMPILibrary(c.Site.Module) {
		u.MPILibraryCalls++
	}
}

// moves lists a call's reads and writes. It returns false if the call's function moves no data.
func (f *follower) moves(c *trace.TimedCall, def *mpi.Call, o *opened) ([]move, bool) {
	switch {
	case !def.Has(mpi.AttrPosix):
		return f.io.moves(c, def, o)
	case c.Param("in") != nil && c.Param("out") != nil:
		return f.copied(c), true
	case strings.HasPrefix(def.Name, "aio_") || def.Name == "lio_listio":
		return f.queued(c, def, o)
	case !def.Has(mpi.AttrPosixReads) && !def.Has(mpi.AttrPosixWrites):
		return nil, false
	case o == nil || c.Result.Type == trace.TypeNone:
		return nil, false
	}
	n := max(0, c.Result.Num)
	if size, ok := number(c, "size"); ok && def.ReturnKind == mpi.KindSize {
		n *= size
	}
	if def.ReturnKind == mpi.KindZeroOrMinusOne { // e.g. fputs: the length is that of the text passed, not the result
		n, _ = number(c, "text")
		if c.Result.Num < 0 {
			n = 0
		}
	}
	at, ok := number(c, "offset")
	if !ok {
		at = noPlace
	}
	return []move{{o, o.use, def.Has(mpi.AttrPosixWrites), n, at}}, true
}

// copied lists the read and the write of a call that copies from one descriptor to another (e.g. sendfile).
func (f *follower) copied(c *trace.TimedCall) (list []move) {
	bytes := max(0, c.Result.Num)
	for _, side := range []struct{ name, at string }{{"in", "inoff"}, {"out", "outoff"}} {
		p := c.Param(side.name)
		if p.In.Num == trace.UnknownHandle {
			continue // a pipe, or another descriptor whose calls aren't recorded
		}
		at, ok := number(c, side.at)
		if !ok && side.name == "in" {
			at, ok = number(c, "offset")
		}
		if !ok || at < 0 {
			at = noPlace
		}
		o := f.handle(c, p, &p.In)
		list = append(list, move{o, o.use, side.name == "out", bytes, at})
	}
	return list
}

// queued lists the reads and writes of a call that starts asynchronous operations (aio_read). They count with the sizes
// asked for. When the program gets a result that is smaller (aio_return), queued subtracts the difference.
func (f *follower) queued(c *trace.TimedCall, def *mpi.Call, o *opened) (list []move, data bool) {
	count, _ := number(c, "count")
	at, _ := number(c, "offset")
	switch def.Name {
	case "aio_read", "aio_write":
		if c.Return == 0 {
			list = append(list, move{o, o.use, def.Name == "aio_write", count, at})
		}
		return list, true
	case "lio_listio":
		fds, operations, counts, offsets := c.Param("fds"), c.Param("operations"), c.Param("counts"), c.Param("offsets")
		for i := range fds.In.Elems {
			op := operations.In.Elems[i].Num
			if o := f.handle(c, fds, &fds.In.Elems[i]); o != nil && c.Return == 0 && op < 2 {
				list = append(list, move{o, o.use, op == 1, counts.In.Elems[i].Num, offsets.In.Elems[i].Num})
			}
		}
		return list, true
	case "aio_return":
		if op, _ := number(c, "operation"); op < 2 && o != nil && c.Result.Type == trace.TypeInt {
			to := &o.use.Reads
			if op == 1 {
				to = &o.use.Writes
			}
			to.Bytes = max(0, to.Bytes-max(0, count-max(0, c.Result.Num)))
		}
	}
	return nil, false
}

// access counts a read or write as sequential, strided or random, by its offset and that of accesses before it.
func (o *opened) access(m *move) {
	at := m.at
	switch at {
	case unknown:
		return
	case noPlace:
		at = o.at
		if o.append && m.written && o.began {
			at = o.end
		}
		if at >= 0 {
			o.at = at + m.bytes
		}
	}
	if at < 0 || m.bytes == 0 {
		return
	}
	u := o.use
	if at%AlignmentBytes != 0 {
		u.UnalignedAccesses++
	}
	u.FurthestByte = max(u.FurthestByte, at+m.bytes)
	step := at - o.last
	switch {
	case !o.began || at == o.end:
		u.SequentialAccesses++
	case step == o.step:
		u.StridedAccesses++
		if o.alone {
			u.StridedAccesses++
			u.RandomAccesses--
		}
		o.alone = false
	default:
		u.RandomAccesses++
		o.alone, o.step = true, step
	}
	if o.began && at == o.end {
		o.step, o.alone = 0, false
	}
	o.began, o.last, o.end = true, at, at+m.bytes
}

// change updates, after a call, which descriptors, streams and handles refer to which files, and the position in a
// file.
func (f *follower) change(c *trace.TimedCall, def *mpi.Call, o *opened, name string, u *Usage) {
	switch {
	case !def.Has(mpi.AttrPosix):
		f.io.change(f, c, def, o, name, u)
	case c.Func.Name == "chdir" && c.Return == 0:
		f.folder = name
	case c.Func.Name == "fchdir" && o != nil && c.Return == 0:
		f.folder = ""
		if path.IsAbs(o.name) {
			f.folder = o.name
		}
	case def.Has(mpi.AttrPosixOpens):
		if c.Return != 0 {
			return
		}
		if o == nil {
			o = &opened{name: name, use: u, append: opensToAppend(c)}
			u.Opens++
		}
		f.open[def.ReturnKind][c.Result.Num] = o
	case o == nil || c.Return != 0:
	case def.Has(mpi.AttrPosixCloses):
		for i := range c.Params {
			if m := f.open[c.Params[i].Kind()]; m != nil {
				delete(m, c.Params[i].In.Num)
			}
		}
	case def.ReturnKind == mpi.KindOffT: // e.g. lseek: the result is the new position in the file
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
		return flags&0x400 != 0 // O_APPEND on Linux
	}
	p := c.Param("mode")
	return p != nil && p.In.Type == trace.TypeString && strings.HasPrefix(p.In.Text, "a")
}
