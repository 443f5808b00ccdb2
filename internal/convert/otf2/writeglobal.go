package otf2

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/convert"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// Close writes the definitions, and the anchor file.
func (a *Writer) Close() error {
	size := defChunk
	if a.s.Reader.Ranks() > defChunk/16 { // a group must fit into a chunk
		size = largestChunk
	}
	f, err := create(filepath.Join(a.dir, "traces.def"), size, false)
	if err != nil {
		return err
	}
	d := &definitions{f, make(map[string]uint32)}
	for _, write := range []func(*definitions) error{a.run, a.system, a.regionsAndLines, a.groups, a.windowsAndFiles} {
		if err := write(d); err != nil {
			return err
		}
	}
	if err := f.close(); err != nil {
		return err
	}
	if err := a.markers(size); err != nil {
		return err
	}
	return a.anchor(f.records, size)
}

// markers writes Options.Marks to the archive's file of markers.
func (a *Writer) markers(size int) error {
	if len(a.o.Marks) == 0 {
		return nil
	}
	f, err := create(filepath.Join(a.dir, "traces.marker"), size, false)
	if err != nil {
		return err
	}
	const (
		medium    = 2
		ofAll     = 0 // scope of a marker: all locations
		nowhere   = uint64(0)
		anInstant = uint64(0)
	)
	err = f.add(0, MarkerDef, 0, "spoor", "finding", uint8(medium))
	for _, m := range a.o.Marks {
		if err == nil {
			err = f.add(0, MarkerAt, uint64(max(0, m.Ns)), anInstant, uint8(ofAll), nowhere, 0, m.Text)
		}
	}
	return cmp.Or(err, f.close())
}

// run defines the clock and the properties of the run.
func (a *Writer) run(d *definitions) error {
	began := uint64(math.MaxUint64)
	if ns, err := strconv.ParseInt(a.s.Reader.Meta()[trace.MetaStart], 10, 64); err == nil && ns > 0 {
		began = uint64(ns + a.s.StartNs)
	}
	// otf2-snapshots takes 4096 samples of a 4097th of the length, rounded down, and fails if there are more.
	const samples = 4097
	length := (a.last + samples) / samples * samples
	if err := d.add(DefClock, uint64(1e9), uint64(0), length, began); err != nil {
		return err
	}
	if err := d.add(DefParadigm, uint8(ParadigmMPI), "MPI", uint8(0)); err != nil {
		return err
	}
	if err := d.add(DefIoParadigm, uint8(0), "MPI-IO", "MPI-IO", uint8(1), 0, uint8(0)); err != nil {
		return err
	}
	if err := d.add(DefAttribute, 0, "call site", uint8(TypeSourceLocation), "where the function was called"); err != nil {
		return err
	}
	const (
		relativeToLast = 2 | 2<<4
		decimal        = 1
		strict         = 0
		onThread       = 2
	)
	for i, name := range a.names {
		if err := d.add(DefMetricMember, i, name, "attached to the call; a mean over calls at its place where the trace has no more", uint8(0), uint8(relativeToLast), uint8(TypeDouble),
			uint8(decimal), uint64(0), "#"); err != nil {
			return err
		}
		if err := d.add(DefMetricClass, i, uint8(1), i, uint8(strict), uint8(onThread)); err != nil {
			return err
		}
	}
	return nil
}

// system defines hosts, processes and threads.
func (a *Writer) system(d *definitions) error {
	if err := d.add(DefSystemTreeNode, 0, "machine", "machine", uint32(UndefinedRef)); err != nil {
		return err
	}
	if err := d.properties(DefNodeProperty, 0, a.o.Metadata); err != nil {
		return err
	}
	procs, err := a.s.Reader.Processes()
	if err != nil {
		return err
	}
	hosts := make(map[string]int)
	for rank, p := range procs.All() {
		p.Host = cmp.Or(p.Host, "unknown host")
		host, fresh := once.NumberOf(hosts, p.Host)
		host++ // 0 is the machine
		if fresh {
			if err := d.add(DefSystemTreeNode, host, p.Host, "node", 0); err != nil {
				return err
			}
		}
		if err := d.add(DefLocationGroup, rank, fmt.Sprintf("MPI Rank %d", rank), uint8(1), host, uint32(UndefinedRef)); err != nil {
			return err
		}
		if p.EndState != "finished" {
			end := cmp.Or(map[string]string{"": "left no track"}[p.EndState], p.EndState)
			if err := d.properties(DefGroupProperty, rank, map[string]string{"end": end}); err != nil {
				return err
			}
		}
	}
	for rank := range procs.Len() {
		for stream := 0; ; stream++ {
			at := location(rank, stream)
			n, here := a.events[at]
			if !here && stream > 0 {
				break
			}
			name := "Master thread"
			if stream > 0 {
				name = fmt.Sprintf("Thread %d", stream)
			}
			if err := d.add(DefLocation, at, name, uint8(1), n, rank); err != nil {
				return err
			}
			if err := a.empty(at, here); err != nil {
				return err
			}
		}
	}
	return nil
}

// empty writes the files that each location must have, even without content.
func (a *Writer) empty(location uint64, events bool) error {
	kinds := []string{"def", "evt"}
	if events {
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		size := defChunk
		if kind == "evt" {
			size = eventChunk
		}
		f, err := create(a.file(location, kind), size, false)
		if err != nil {
			return err
		}
		if err := f.close(); err != nil {
			return err
		}
	}
	return nil
}

func (a *Writer) regionsAndLines(d *definitions) error {
	for i, f := range a.s.Reader.Schema() {
		if err := d.add(DefRegion, i, f.Name, "", uint8(0), uint32(UndefinedRef), 0, 0, f.Name, role(f), uint8(ParadigmMPI), 0); err != nil {
			return err
		}
	}
	for i, site := range a.s.Sites {
		file, line := a.o.SourceLine(site)
		if err := d.add(DefSourceCodeLocation, i, file, line); err != nil {
			return err
		}
	}
	return nil
}

// role returns the role of a function's region.
func role(f *trace.Function) uint8 {
	m := meaning.DataMovementOf(f.Name)
	switch {
	case ops.HasAttr(f, mpi.AttrBarrier):
		return 15
	case m == nil && f.Has(trace.AttrCompletes) || m == nil && f.Has(trace.AttrStarts):
		return 28
	case m == nil:
		return 1
	}
	switch m.Pattern {
	case meaning.PatternToPeer, meaning.PatternReceive:
		return 28
	case meaning.PatternOneSided:
		return 29
	case meaning.PatternFile:
		return 27
	case meaning.PatternFromRoot, meaning.PatternPartFromRoot:
		return 23
	case meaning.PatternToRoot:
		return 24
	case meaning.PatternToAll, meaning.PatternPartToAll, meaning.PatternPartReduced:
		return 25
	}
	return 26
}

// groups defines communicators. Group 0 is the processes in order of ranks; the members of other groups are indices
// in it. The n-th communicator has group n + 1.
func (a *Writer) groups(d *definitions) error {
	list := a.s.Comms.List()
	group := func(id int, kind uint8, members []uint64) error {
		return d.add(DefGroup, id, "", uint8(0), members, kind, uint8(ParadigmMPI), 0)
	}
	all := make([]uint64, a.s.Reader.Ranks())
	for i := range all {
		all[i] = location(i, 0)
	}
	if err := group(0, GroupTypeCommLocations, all); err != nil {
		return err
	}
	for i, c := range list {
		members := make([]uint64, 0, c.Size)
		for _, m := range c.Members() {
			members = append(members, uint64(m)) // -1, not known, is Undefined
		}
		if err := group(i+1, GroupTypeCommGroup, members); err != nil {
			return err
		}
	}
	self := len(list)
	if err := group(self+1, GroupTypeCommSelf, nil); err != nil {
		return err
	}
	for id, c := range a.comms {
		parent, flags, name := uint32(UndefinedRef), madeAndFreed, convert.CommName(c)
		if c.Parent != nil {
			parent = a.comm(c.Parent)
		}
		var err error
		switch {
		case c.Number == selfNumber:
			err = d.add(DefComm, id, "MPI_COMM_SELF", self+1, parent, 0)
		case c.Remote != nil:
			err = d.add(DefInterComm, id, name, c.Number+1, c.Remote.Number+1, uint32(UndefinedRef), flags)
		default:
			if c.Number == 0 {
				flags, name = 0, "MPI_COMM_WORLD"
			}
			err = d.add(DefComm, id, name, c.Number+1, parent, flags)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func windowName(w *ops.Window) string {
	if w.Name != "" {
		return fmt.Sprintf("%s (window %d)", w.Name, w.Number)
	}
	return fmt.Sprintf("window %d (%s)", w.Number, w.MadeBy)
}

func (a *Writer) windowsAndFiles(d *definitions) error {
	for _, w := range a.s.Windows {
		if err := d.add(DefRmaWin, w.Number, windowName(w), a.comm(w.Comm), madeAndFreed); err != nil {
			return err
		}
	}
	for _, f := range a.s.Files {
		a.path(f.Name)
	}
	names := make([]string, len(a.paths))
	for name, i := range a.paths {
		names[i] = name
	}
	for i, name := range names {
		if err := d.add(DefIoRegularFile, i, name, uint32(UndefinedRef)); err != nil {
			return err
		}
	}
	for _, f := range a.s.Files {
		if err := d.add(DefIoHandle, f.Number, f.Name, a.path(f.Name), uint8(0), 0, a.comm(f.Comm), uint32(UndefinedRef)); err != nil {
			return err
		}
	}
	return nil
}

// anchor writes the file that a reader opens.
func (a *Writer) anchor(definitions uint64, size int) error {
	b := append([]byte{BufferChunkHeader, LittleEndian}, "OTF2\x00"...)
	b = append(b, 3, 2, 3, 0, 2) // format of the file and of the trace, as written by version 3.0.2
	b = binary.LittleEndian.AppendUint64(b, eventChunk)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	b = append(b, 1, 1) // plain files, not compressed
	locations := len(a.events)
	for rank := range a.s.Reader.Ranks() {
		if _, ok := a.events[location(rank, 0)]; !ok {
			locations++
		}
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(locations))
	b = binary.LittleEndian.AppendUint64(b, definitions)
	id := fnv.New64()
	text := func(s string) {
		b = append(append(b, s...), 0)
		id.Write([]byte(s))
	}
	text("")
	text("spoor " + show.Version)
	text(a.s.Reader.Meta()[trace.MetaCommand])
	b = binary.LittleEndian.AppendUint32(b, uint32(len(a.o.Metadata)))
	for _, name := range slices.Sorted(maps.Keys(a.o.Metadata)) {
		text("SPOOR::" + name)
		text(a.o.Metadata[name])
	}
	b = binary.LittleEndian.AppendUint64(b, id.Sum64())
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0) // no snapshots, no thumbnails
	b = append(b, BufferEndOfFile, BufferEndOfBuffer, 0)
	return os.WriteFile(filepath.Join(a.dir, "traces.otf2"), b, 0o666)
}

// metrics writes the values attached to a call.
func (a *Writer) metrics(f *file, time uint64, list []trace.AttachedValue) error {
	for i := range list {
		v := &list[i]
		if err := f.add(time, EvMetric, a.class[v.Name], uint8(1), uint8(TypeDouble), math.Float64bits(v.Sum)); err != nil {
			return err
		}
	}
	return nil
}

// madeAndFreed is a flag of communicators and windows: events record their creation and end.
const madeAndFreed = 1

// A definitions is the file of global definitions.
type definitions struct {
	*file
	texts map[string]uint32
}

// text returns the number of a string, and defines it at its first use. As that writes a record, it must not be
// called while another record is being written.
func (d *definitions) text(s string) (uint32, error) {
	id, fresh := once.NumberOf(d.texts, s)
	if !fresh {
		return id, nil
	}
	d.start(DefString)
	d.u32(id)
	d.file.text(s)
	return id, d.end(0)
}

// add writes a definition. A string among its fields is written as its number.
func (d *definitions) add(id byte, fields ...field) error {
	for i, v := range fields {
		if s, ok := v.(string); ok {
			n, err := d.text(s)
			if err != nil {
				return err
			}
			fields[i] = n
		}
	}
	return d.file.add(0, id, fields...)
}

// properties writes texts, by name, as properties of the object with number of. id is the kind of the property's
// record.
func (d *definitions) properties(id byte, of int, texts map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := d.add(id, of, name, texts[name], uint8(TypeString), texts[name]); err != nil {
			return err
		}
	}
	return nil
}
