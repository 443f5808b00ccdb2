package sections

import (
	"cmp"
	"iter"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Processes is the table of processes (model.Process), in columns over the ranks. Names are in order of the first rank
// that has them, so that the order in which parts of the table were joined does not matter.
type Processes struct {
	hosts, ends names
	folders     names // templates, see signature.FileTemplate
	cols        [processColumns]column.Column
	asides      [][]model.Aside // by rank; ranks without an element have none
	MergeNs     int64           // see trace.Reader.MergeNs
}

const (
	hostColumn     = 0
	endColumn      = 2
	threadsColumn  = 4
	untilColumn    = 5 // start plus span, which is about the same on all ranks
	spanColumn     = 6
	mpiColumn      = 7
	callsColumn    = 8 // files omit it, as it follows from the streams
	folderColumn   = 9 // stored in the meta section of files instead
	processColumns = 10
)

// Len returns the number of processes in the table: one for each rank.
func (p *Processes) Len() int { return p.cols[0].Len() }

// A trace stores only significant digits of a process's times: the last digits differ between ranks, and would make
// up most of a trace of many ranks. Durations have ten significant bits on up to 64 ranks and one less for each
// factor of three above that, but at least five (3 %). Ends, which ranks have in common, are rounded to a
// millisecond; on more than manyRanks ranks they are rounded like the span.
const manyRanks = 256

// extraDigits is how many more bits than a file has are sent to rank 0, so that values can still be rounded in several
// ways.
const extraDigits = 4

// RoundProcess returns a process in the accuracy that is sent to rank 0. Digits are truncated, so that rounding the
// result equals rounding the original. The process id is kept only if the process did not finish: otherwise it is
// of no use.
func RoundProcess(x model.Process, ranks int) model.Process {
	digits := digitsFor(ranks) + extraDigits
	end := x.InitWallClockNs + x.FirstThreadNs
	end -= mod(end, endUnit(x.FirstThreadNs, ranks)>>extraDigits)
	x.FirstThreadNs -= mod(x.FirstThreadNs, unitOf(x.FirstThreadNs, digits))
	x.AllThreadsMPINs -= mod(x.AllThreadsMPINs, unitOf(x.AllThreadsMPINs, digits))
	// All ranks end together, so that the end is rounded and the start follows.
	x.InitWallClockNs = end - x.FirstThreadNs
	x.Asides = coarseAsides(x.Asides, ranks)
	if x.EndState == "finished" {
		x.PID = 0
	}
	return x
}

func mod(v, unit int64) int64 { return (v%unit + unit) % unit }

// digitsFor returns the number of significant bits of durations in a trace with this number of ranks.
func digitsFor(ranks int) int {
	digits := 10
	for n := 64; n < ranks && digits > 5; n *= 3 {
		digits--
	}
	return digits
}

// ProcessRoundingErrorNs returns the rounding error of a process's duration in ns, in a trace with the given number of
// ranks.
func ProcessRoundingErrorNs(ns int64, ranks int) int64 {
	by := unitOf(ns, digitsFor(ranks)) / 2
	if ranks > manyRanks {
		by = max(by, int64(totalsWithin*float64(ns))) // the time in MPI may be the total, see followsForm
	}
	return by
}

// unitOf returns the unit to which a number is rounded to keep this many significant bits.
func unitOf(v int64, digits int) int64 {
	if v < 1<<digits {
		return 1
	}
	return int64(1) << (bits.Len64(uint64(v)) - digits)
}

// endUnit returns the unit, in ns, to which end times are rounded, for processes with this span.
func endUnit(span int64, ranks int) int64 {
	unit := int64(1e6)
	if ranks > manyRanks {
		unit = max(unit, unitOf(span, digitsFor(ranks)))
	}
	return unit
}

func round(v, unit int64) int64 { return v + unit/2 - mod(v+unit/2, unit) }

// withoutTimes returns the table of a trace that has no times.
func (p Processes) withoutTimes() Processes {
	for _, col := range []int{untilColumn, spanColumn, mpiColumn} {
		p.cols[col] = column.Constant(0, p.Len())
	}
	p.asides = nil
	return p
}

// names numbers strings by first occurrence.
type names struct {
	list  []string
	index map[string]int64
}

func (n *names) number(s string) int64 {
	if n.index == nil {
		n.index = make(map[string]int64)
		for i, name := range n.list {
			n.index[name] = int64(i)
		}
	}
	i, ok := n.index[s]
	if !ok {
		i = int64(len(n.list))
		n.list, n.index[s] = append(n.list, s), i
	}
	return i
}

// namesOf returns the table of names that a column's values index; nil if they are numbers.
func (p *Processes) namesOf(col int) *names {
	switch col {
	case hostColumn:
		return &p.hosts
	case endColumn:
		return &p.ends
	case folderColumn:
		return &p.folders
	}
	return nil
}

// Append adds an entry at the end.
func (p *Processes) Append(x model.Process) {
	p.setAsides(p.Len(), x.Asides)
	for i, v := range [processColumns]int64{
		p.hosts.number(x.Host), int64(x.PID), p.ends.number(x.EndState), int64(x.LostCalls), int64(x.Threads),
		x.InitWallClockNs + x.FirstThreadNs, x.FirstThreadNs, x.AllThreadsMPINs, x.Calls, p.folders.number(x.WorkingFolder),
	} {
		p.cols[i].Append(v)
	}
}

// AppendNone adds entries for ranks of which nothing is known.
func (p *Processes) AppendNone(ranks int) {
	for i := range p.cols {
		v := int64(0)
		if names := p.namesOf(i); names != nil {
			v = names.number("")
		}
		p.cols[i].Concat(column.Constant(v, ranks))
	}
}

// Concat adds all entries of q at the end.
func (p *Processes) Concat(q *Processes) {
	before := p.Len()
	for rank, list := range q.asides {
		p.setAsides(before+rank, list)
	}
	for i := range p.cols {
		names := p.namesOf(i)
		if names == nil {
			p.cols[i].Concat(q.cols[i])
			continue
		}
		from := q.namesOf(i).list
		for v := range q.cols[i].All() {
			p.cols[i].Append(names.number(from[v]))
		}
	}
}

// At returns the entry of a rank.
func (p *Processes) At(rank int) model.Process {
	var x model.Process
	for c := range p.cols {
		p.set(&x, c, p.cols[c].At(rank))
	}
	x.Asides = p.asidesOf(rank)
	return x
}

// All yields the entries by rank.
func (p *Processes) All() iter.Seq2[int, model.Process] {
	return func(yield func(int, model.Process) bool) {
		var at [processColumns]struct {
			run  int
			done uint64
		}
		for rank := range p.Len() {
			var x model.Process
			for c := range p.cols {
				runs, k := p.cols[c].Runs(), &at[c]
				p.set(&x, c, runs[k.run].At(k.done))
				if k.done++; k.done == runs[k.run].Count {
					k.run, k.done = k.run+1, 0
				}
			}
			x.Asides = p.asidesOf(rank)
			if !yield(rank, x) {
				return
			}
		}
	}
}

// set sets the field of a process from a column's value.
func (p *Processes) set(x *model.Process, col int, v int64) {
	switch col {
	case hostColumn:
		x.Host = p.hosts.list[v]
	case 1:
		x.PID = int(v)
	case endColumn:
		x.EndState = p.ends.list[v]
	case 3:
		x.LostCalls = uint64(v)
	case threadsColumn:
		x.Threads = int(v)
	case untilColumn:
		x.InitWallClockNs = v
	case spanColumn:
		x.InitWallClockNs -= v
		x.FirstThreadNs = v
	case mpiColumn:
		x.AllThreadsMPINs = v
	case callsColumn:
		x.Calls = v
	case folderColumn:
		x.WorkingFolder = p.folders.list[v]
	}
}

// AppendBinary appends the table as in messages between ranks, which DecodeProcesses reads.
//
//	processes = names, per column its runs, asides
//	names     = hosts, ends, folders, each: count, string…
func (p *Processes) AppendBinary(b []byte) []byte {
	b = wire.AppendEncoded(b, func(c *wire.Coder) { c.Strings(&p.hosts.list, &p.ends.list, &p.folders.list) })
	for i := range p.cols {
		b = p.cols[i].AppendRuns(b)
	}
	return wire.AppendEncoded(b, func(c *wire.Coder) { codeAsides(c, &p.asides, p.Len()) })
}

// DecodeProcesses reads a table of n entries.
func DecodeProcesses(r *wire.Reader, n int) Processes {
	var p Processes
	(&wire.Coder{Reader: r}).Strings(&p.hosts.list, &p.ends.list, &p.folders.list)
	p = p.decode(r, func() column.Column { return column.DecodeRuns(r, n) })
	codeAsides(&wire.Coder{Reader: r}, &p.asides, n)
	return p
}

// decode reads the columns, which next returns one after the other. The names must have been read.
func (p *Processes) decode(r *wire.Reader, next func() column.Column) Processes {
	for i := range p.cols {
		p.cols[i] = next()
		if r.Err() != nil {
			return Processes{}
		}
		names := p.namesOf(i)
		if names == nil {
			continue
		}
		for _, run := range p.cols[i].Runs() {
			// Only monotonic runs are accepted: their first and last values bound the others.
			if !names.has(run.Start) || !names.has(run.At(run.Count-1)) || !run.IsOverflowFree() {
				r.Fail("process table: no name for an entry")
			}
		}
	}
	if r.Err() != nil {
		return Processes{}
	}
	return *p
}

func (n *names) has(i int64) bool { return i >= 0 && i < int64(len(n.list)) }

// MemoryBytes returns approximately how many bytes of memory the table takes.
func (p *Processes) MemoryBytes() int {
	n := 64*(len(p.hosts.list)+len(p.ends.list)+len(p.folders.list)) + 24*len(p.asides)
	for _, list := range p.asides {
		n += len(list) * int(unsafe.Sizeof(model.Aside{}))
	}
	for i := range p.cols {
		n += int(unsafe.Sizeof(p.cols[i])) + len(p.cols[i].Runs())*int(unsafe.Sizeof(column.Run{}))
	}
	return n
}

// WriteFolders writes the working folders of processes into a trace's meta section: one entry for each rank whose
// folder differs from the previous rank's. A folder that contains the rank's number becomes a template, so that all
// ranks share it (signature.FileTemplate).
func (p *Processes) WriteFolders(meta map[string]string) {
	last := p.folders.number("")
	rank := uint64(0)
	for _, run := range p.cols[folderColumn].Runs() {
		for i := range run.Count {
			if v := run.At(i); v != last {
				meta[model.MetaFolderPrefix+strconv.FormatUint(rank+i, 10)] = p.folders.list[v]
				last = v
			} else if run.Start == run.At(run.Count-1) {
				break
			}
		}
		rank += run.Count
	}
}

// ReadFolders reads the working folders of processes from a trace's meta section. It ignores invalid entries.
func (p *Processes) ReadFolders(meta map[string]string) {
	type start struct {
		rank int
		name string
	}
	var starts []start
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		number, ok := strings.CutPrefix(key, model.MetaFolderPrefix)
		if rank, err := strconv.Atoi(number); ok && err == nil && rank >= 0 && rank < p.Len() {
			starts = append(starts, start{rank, meta[key]})
		}
	}
	slices.SortStableFunc(starts, func(a, b start) int { return cmp.Compare(a.rank, b.rank) })
	n := p.Len()
	p.folders = names{}
	col := column.Column{}
	name := p.folders.number("")
	for _, s := range starts {
		col.Concat(column.Constant(name, s.rank-col.Len()))
		name = p.folders.number(s.name)
	}
	col.Concat(column.Constant(name, n-col.Len()))
	p.cols[folderColumn] = col
}
