package trace

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing"
)

// ErrFormat is wrapped by all errors which say that a file is no valid trace.
var ErrFormat = container.ErrFormat

// A Reader gives access to a trace. It is safe for concurrent use. Most sections are read when they are first used, and
// kept in memory.
type Reader struct {
	name     string
	src      io.ReaderAt
	size     int64 // bytes of src
	close    func() error
	sections container.Sections

	meta    map[string]string
	schema  []*Function
	byID    map[uint16]*Function
	ranks   *sections.ClassMap
	members []int // by class: its number of ranks
	places  func() *sections.ClassMembership
	lists   func() [][]int

	tables    func() (*tables, error)
	procs     func() (*sections.Processes, error)
	mu        sync.Mutex
	class     map[int]*sections.DecodedClass
	timing    func() ([][]byte, error)
	series    func() (*sections.SeriesIndex, error)
	values    func() (*sections.AttachedValues, error)
	totals    func() ([]*timing.ClassTotals, error)
	valued    func() (map[string][]*timing.ClassTotals, error)
	clocks    func() (*sections.ClockTable, error)
	origin    func() (int64, error)
	start     func() (float64, error)
	allocs    func() (*sections.AllocTable, error)
	handovers func() (*sections.AllocTable, error)
	lanes     func() ([][]byte, error)
	code      func() (*Code, error)
	waits     func() (*Waits, error)
	when      func() (*When, error)
	drawn     func() (*grammar.SyntheticTripCounts, error)
	bases     sync.Map                        // by class: the *sections.TimeCodes that baseTimes returned
	slow      map[byte]func() ([]byte, error) // by ID of a section that takes long to decompress: returns its content
	shared    sync.Map                        // by key: the values of Memoize
	layouts   sync.Map                        // by ID of a function: the *signature.Layout that layout returned
	spent     sync.Map                        // by class: the *ClassTotals that Totals returned
	latest    latestTimes
}

// tables are the contents of the sections that are read only when calls of ranks are needed.
type tables struct {
	lookup
	sigs     *sections.SignatureTable
	classes  [][]byte
	together []sections.ClassCommon // by class; nil in files that store each class separately, which classes has then
	columns  [][]byte
}

// Open opens a trace file.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("trace: %w", err)
	}
	r, err := NewReader(f, info.Size(), path)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.close = f.Close
	return r, nil
}

// ReadBytes returns a reader of a trace file that is in memory. Errors contain name.
func ReadBytes(file []byte, name string) (*Reader, error) {
	return NewReader(bytes.NewReader(file), int64(len(file)), name)
}

// NewReader returns a reader of a trace that has size bytes. Errors contain name.
func NewReader(src io.ReaderAt, size int64, name string) (*Reader, error) {
	r := &Reader{name: name, src: src, size: size, class: make(map[int]*sections.DecodedClass)}
	var err error
	if r.sections, err = container.ReadDirectory(src, size); err != nil {
		return nil, fmt.Errorf("trace: %s: %w", name, err)
	}
	if err := r.small(); err != nil {
		return nil, err
	}
	r.slow = make(map[byte]func() ([]byte, error))
	for i := range r.sections {
		if s := &r.sections[i]; s.Codec == container.CodecContextMixing || s.Codec == container.CodecPrimedMixing {
			r.slow[s.ID] = sync.OnceValues(func() ([]byte, error) { return s.Load(src) })
		}
	}
	r.series = sync.OnceValues(r.readSeries)
	r.lists = sync.OnceValue(r.listMembers)
	r.tables = sync.OnceValues(r.readTables)
	r.timing = sync.OnceValues(func() ([][]byte, error) { return r.byClass(container.SectionTimes) })
	r.procs = sync.OnceValues(func() (p *sections.Processes, err error) {
		calls, err := r.lengths()
		if err != nil {
			return nil, err
		}
		err = r.section(container.SectionProcess, func(w *wire.Reader) {
			table := sections.DecodeProcessSection(w, r.ranks.Ranks, calls, r.ranked)
			p = &table
		})
		if err == nil {
			err = r.optional(container.SectionAsides, func(w *wire.Reader) { p.ReadAsides(w, r.ranks.Ranks) })
		}
		if err == nil {
			p.ReadFolders(r.Meta())
		}
		return p, err
	})
	r.values = sync.OnceValues(r.readValues)
	r.totals = sync.OnceValues(r.readTotals)
	r.valued = sync.OnceValues(r.readRankValues)
	r.clocks = sync.OnceValues(r.readClocks)
	r.origin = sync.OnceValues(r.findOrigin)
	r.start = sync.OnceValues(r.meanStart)
	r.allocs = sync.OnceValues(r.readAllocs)
	r.handovers = sync.OnceValues(r.readHandovers)
	r.lanes = sync.OnceValues(func() ([][]byte, error) { return r.byClass(container.SectionLanes) })
	r.code = sync.OnceValues(r.readCode)
	r.waits = sync.OnceValues(r.readWaits)
	r.when = sync.OnceValues(r.readWhen)
	r.drawn = sync.OnceValues(r.readDrawn)
	return r, nil
}

// Close closes the file that Open opened; other readers need no Close.
func (r *Reader) Close() error {
	if r.close == nil {
		return nil
	}
	return r.close()
}

// Memoize returns the value of a key, which make returned when the key was first used. Packages use it to cache results
// about the whole trace, so that all users of the reader share them.
func (r *Reader) Memoize(key any, make func() any) any {
	v, _ := r.shared.LoadOrStore(key, sync.OnceValue(make))
	return v.(func() any)()
}

// Name returns the name under which the trace was opened.
func (r *Reader) Name() string { return r.name }

// section reads the section with the given ID, and calls decode with its content. It is an error if the trace lacks it.
func (r *Reader) section(id byte, decode func(w *wire.Reader)) error {
	data, err := r.raw(id)
	if err != nil {
		return err
	}
	return r.decode(id, "data", data, decode)
}

// decode calls decode with data: the content of the section with the given ID, or its part about one class. what is the
// name of data in errors. It is an error if decode fails or leaves bytes unread.
func (r *Reader) decode(id byte, what string, data []byte, decode func(w *wire.Reader)) error {
	w := wire.NewReader(data, what)
	decode(w)
	if err := w.Finish(); err != nil {
		return r.failed(id, fmt.Errorf("%w: %w", err, ErrFormat))
	}
	return nil
}

func (r *Reader) hasSection(id byte) bool { return r.sections.Find(id) != nil }

// optional does what section does, but returns nil if the trace lacks the section.
func (r *Reader) optional(id byte, decode func(w *wire.Reader)) error {
	if !r.hasSection(id) {
		return nil
	}
	return r.section(id, decode)
}

// byClass returns, by class, the part of a section that is about the class. All parts are nil if the trace lacks the
// section.
func (r *Reader) byClass(id byte) (blobs [][]byte, err error) {
	if !r.hasSection(id) {
		return make([][]byte, r.ranks.Classes), nil
	}
	err = r.section(id, func(w *wire.Reader) { blobs = sections.DecodeBlobs(w, r.ranks.Classes) })
	return blobs, err
}

// ofClass calls decode with blob, the part of a section that is about one class.
func (r *Reader) ofClass(id byte, class int, blob []byte, decode func(w *wire.Reader)) error {
	return r.decode(id, fmt.Sprintf("class %d", class), blob, decode)
}

// raw returns the decompressed content of the section with the given ID. It is an error if the trace lacks it.
func (r *Reader) raw(id byte) ([]byte, error) {
	if s := r.sections.Find(id); s != nil {
		data, err := r.load(s)
		if err != nil {
			err = r.failed(id, err)
		}
		return data, err
	}
	return nil, r.failed(id, fmt.Errorf("missing: %w", ErrFormat))
}

// load returns the decompressed content of a section. The caller must not change it.
func (r *Reader) load(s *container.Section) ([]byte, error) {
	if load := r.slow[s.ID]; load != nil {
		return load()
	}
	return s.Load(r.src)
}

// ahead starts to decompress sections that will be needed soon, in parallel.
func (r *Reader) ahead(ids ...byte) {
	for _, id := range ids {
		if load := r.slow[id]; load != nil {
			go load()
		}
	}
}

func (r *Reader) failed(id byte, err error) error {
	return fmt.Errorf("trace: %s: section %q: %w", r.name, container.SectionNames[id], err)
}

// small reads the sections that every reader needs: meta, schema and ranks.
func (r *Reader) small() error {
	for _, id := range []byte{container.SectionMeta, container.SectionSchema} {
		if s := r.sections.Find(id); s != nil {
			if err := s.CheckSmall(); err != nil {
				return r.failed(id, err)
			}
		}
	}
	err := r.section(container.SectionMeta, func(w *wire.Reader) { r.meta = sections.DecodeMeta(w) })
	if err != nil {
		return err
	}
	err = r.section(container.SectionSchema, func(w *wire.Reader) { r.schema = sections.DecodeSchema(w) })
	if err != nil {
		return err
	}
	r.byID = make(map[uint16]*Function)
	for _, f := range r.schema {
		r.byID[f.ID] = f
	}
	err = r.section(container.SectionClassOfRank, func(w *wire.Reader) {
		if r.ranks = sections.DecodeClassMap(w); r.ranks == nil {
			return
		}
		// As each class takes at least a byte, a larger number is an error. It would allocate too much memory.
		if n := r.rawSize(container.SectionClasses); uint64(r.ranks.Classes) > n {
			w.Fail("%d classes in %d bytes", r.ranks.Classes, n)
			return
		}
		r.members = r.ranks.Check(w)
	})
	if err != nil {
		return err
	}
	r.places = sync.OnceValue(r.ranks.Membership)
	return nil
}

// rawSize returns the size of a section before compression; 0 if the trace lacks it.
func (r *Reader) rawSize(id byte) uint64 {
	if s := r.sections.Find(id); s != nil {
		return s.RawSize
	}
	return 0
}

func (r *Reader) readTables() (*tables, error) {
	r.ahead(container.SectionSites, container.SectionSignatures, container.SectionClasses, container.SectionColumns)
	t := &tables{}
	t.strings = map[uint64]string{}
	if err := r.optional(container.SectionStrings, func(w *wire.Reader) { t.strings = sections.DecodeStrings(w) }); err != nil {
		return nil, err
	}
	if err := r.section(container.SectionSites, func(w *wire.Reader) { t.sites = sections.DecodeSites(w) }); err != nil {
		return nil, err
	}
	err := r.section(container.SectionSignatures, func(w *wire.Reader) { t.sigs = sections.DecodeSignatures(w, r.byID, t.sites, nil) })
	if err != nil {
		return nil, err
	}
	err = r.section(container.SectionClasses, func(w *wire.Reader) { t.classes, t.together = r.decodeClasses(w, t.sigs) })
	if err != nil {
		return nil, err
	}
	if t.columns, err = r.byClass(container.SectionColumns); err != nil {
		return nil, err
	}
	return t, nil
}

// decodeClasses reads section classes. In one of its two formats each class is encoded separately (blobs), in the other
// all are encoded together.
func (r *Reader) decodeClasses(w *wire.Reader, sigs *sections.SignatureTable) (blobs [][]byte, together []sections.ClassCommon) {
	if r.ranks.Classes > w.RemainingLen() {
		w.Fail("%d classes in %d bytes", r.ranks.Classes, w.RemainingLen())
		return nil, nil
	}
	if b := w.Remaining(); len(b) > 0 && b[0] == sections.SharedSignaturesMark {
		return nil, sections.DecodeClasses(w, r.ranks.Classes, sigs)
	}
	return sections.DecodeBlobs(w, r.ranks.Classes), nil
}

// Meta returns the properties of the run as text, by key; see the Meta… constants.
func (r *Reader) Meta() map[string]string { return maps.Clone(r.meta) }

// Ranks returns the number of ranks in MPI_COMM_WORLD, including those without a track.
func (r *Reader) Ranks() int { return r.ranks.Ranks }

// Classes returns the number of classes: sets of ranks that did the same
// calls in the same order.
func (r *Reader) Classes() int { return r.ranks.Classes }

// ClassOf returns the number of a rank's class; -1 if the rank left no track.
func (r *Reader) ClassOf(rank int) int { return int(r.places().ClassOfRank[rank]) }

// Members returns the ranks of a class in rising order.
func (r *Reader) Members(class int) []int {
	return slices.Clone(r.lists()[class])
}

// listMembers returns, by class, its ranks in rising order.
func (r *Reader) listMembers() [][]int {
	lists := make([][]int, len(r.members))
	for c, n := range r.members {
		lists[c] = make([]int, 0, n)
	}
	for rank, c := range r.places().ClassOfRank {
		if c >= 0 {
			lists[c] = append(lists[c], rank)
		}
	}
	return lists
}

// Schema returns the functions that the trace has calls of, in the order of their IDs.
func (r *Reader) Schema() []*Function { return r.schema }

// A Section is the name and the sizes of a section of the file.
type Section struct {
	Name        string
	StoredBytes int64 // bytes in the file
	RawBytes    int64 // bytes before compression
}

// Sections returns the sections with their sizes, in the order of the file.
func (r *Reader) Sections() []Section {
	var list []Section
	for i := range r.sections {
		s := &r.sections[i]
		list = append(list, Section{Name: s.Name(), StoredBytes: s.StoredSize, RawBytes: int64(s.RawSize)})
	}
	return list
}

// Size returns how many bytes the trace has.
func (r *Reader) Size() int64 { return r.size }

// Copy writes an identical copy of the trace file to path. It is an error if a file is there, unless overwrite is set.
func (r *Reader) Copy(path string, overwrite bool) error {
	err := drafted(path, 0o644, overwrite, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(r.src, 0, r.size))
		return err
	})
	if err != nil {
		return fmt.Errorf("trace: write %s: %w", path, err)
	}
	return nil
}

// Strings returns all texts that occur as values of parameters, by the hash that signatures have for them.
func (r *Reader) Strings() (map[uint64]string, error) {
	t, err := r.tables()
	if err != nil {
		return nil, err
	}
	return maps.Clone(t.strings), nil
}

// Sites returns all call sites, their callers, and artificial frames such as those for marked phases; see
// model.PhaseFrameBuildID.
func (r *Reader) Sites() ([]Site, error) {
	t, err := r.tables()
	if err != nil {
		return nil, err
	}
	return append([]Site(nil), t.sites.List[1:]...), nil
}

// SignatureCount returns how many signatures the trace has, where signatures whose values are the same functions of the
// rank count as one.
func (r *Reader) SignatureCount() (int, error) {
	t, err := r.tables()
	if err != nil {
		return 0, err
	}
	return t.sigs.SignatureCount, nil
}

// lengths returns the number of calls of each rank, over all of its streams; 0 for ranks without a track.
func (r *Reader) lengths() (column.Column, error) {
	var c column.Column
	known := make([]int64, r.Classes()) // by class: the calls of each of its ranks; 0: not computed yet, or they differ
	for rank, n := range r.places().ClassOfRank {
		if n < 0 || known[n] > 0 {
			sum := int64(0)
			if n >= 0 {
				sum = known[n]
			}
			c.Append(sum)
			continue
		}
		class, err := r.classAt(int(n))
		if err != nil {
			return c, err
		}
		streams, err := class.StreamsOf(int(r.places().IndexInClass[rank]), rank)
		if err != nil {
			return c, r.failed(container.SectionColumns, fmt.Errorf("rank %d: %w: %w", rank, err, ErrFormat))
		}
		sum := int64(0)
		for _, g := range streams {
			sum += int64(g.Len())
		}
		if len(class.VaryingSymbols) == 0 {
			known[n] = sum
		}
		c.Append(sum)
	}
	return c, nil
}
