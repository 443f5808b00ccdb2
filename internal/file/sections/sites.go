package sections

import (
	"cmp"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A siteTable numbers the sites of a trace. 0 is an unknown place; places without a stack come next, then sites
// with a stack. A site's caller has a lower number than the site.
type siteTable struct {
	places []model.Site
	stacks []stacked
	number map[uint64]int  // by hash of a site: its number
	named  map[uint64]bool // hashes of sites that occur as values of parameters, e.g. of callback functions
}

// A stacked is a site with a stack, by the numbers of its place and of its caller's site.
type stacked struct{ place, outer int }

// newSiteTable numbers the places in order of module and offset, then the sites
// with a stack in order of depth.
func newSiteTable(sites map[uint64]model.Site, outer map[uint64]uint64) *siteTable {
	t := &siteTable{places: []model.Site{{}}, number: make(map[uint64]int), named: make(map[uint64]bool)}
	hashes := slices.Collect(maps.Keys(sites))
	slices.SortFunc(hashes, func(a, b uint64) int {
		s, u := sites[a], sites[b]
		return cmp.Or(cmp.Compare(s.Module, u.Module), cmp.Compare(s.BuildID, u.BuildID),
			cmp.Compare(s.Offset, u.Offset), cmp.Compare(a, b))
	})
	for _, h := range hashes {
		s := sites[h]
		if p := s.WithoutCallers(); p != t.places[len(t.places)-1] {
			t.places = append(t.places, p)
		}
		t.number[h] = len(t.places) - 1
	}
	t.addStacks(hashes, sites, outer)
	return t
}

// addStacks numbers the sites that have a caller, first those whose caller has none, then level by level. outer has
// the hash of each site's caller. Sites that call each other in a circle, as in damaged data, are left out.
func (t *siteTable) addStacks(hashes []uint64, sites map[uint64]model.Site, outer map[uint64]uint64) {
	var level, rest []uint64
	known := func(h uint64) bool { _, ok := sites[h]; return ok }
	waits := make(map[uint64]bool)
	for _, h := range hashes {
		if o, ok := outer[h]; ok && known(o) {
			rest = append(rest, h)
			waits[h] = true
		}
	}
	for len(rest) > 0 {
		level = level[:0]
		later := rest[:0:0]
		for _, h := range rest {
			if waits[outer[h]] {
				later = append(later, h)
			} else {
				level = append(level, h)
			}
		}
		if len(level) == 0 {
			return
		}
		of := func(h uint64) stacked { return stacked{t.number[h], t.number[outer[h]]} }
		pairs := make(map[uint64]stacked, len(level))
		for _, h := range level {
			pairs[h] = of(h)
		}
		slices.SortFunc(level, func(a, b uint64) int {
			s, u := pairs[a], pairs[b]
			return cmp.Or(cmp.Compare(s.outer, u.outer), cmp.Compare(s.place, u.place), cmp.Compare(a, b))
		})
		for _, h := range level {
			s := pairs[h]
			if n := len(t.stacks); n == 0 || t.stacks[n-1] != s {
				t.stacks = append(t.stacks, s)
			}
			t.number[h] = len(t.places) + len(t.stacks) - 1
			delete(waits, h)
		}
		rest = later
	}
}

// place returns the number of a site without its callers.
func (t *siteTable) place(site int) int {
	if site < len(t.places) {
		return site
	}
	return t.stacks[site-len(t.places)].place
}

// A siteValue is a place whose hash occurs as a value of a parameter.
type siteValue struct {
	place int
	hash  uint64
}

// codePlaces codes the table of sites except for the sites with a stack: modules, then places by module and offset,
// then the hashes of those places that occur as values of parameters.
//
//	sites  = count, (path string, build id)…,
//	         per module: count, offset difference uvarint…
//	         count, (place uvarint, hash uint64)…
//	         [stacks]
func codePlaces(c *wire.Coder, places *[]model.Site, values *[]siteValue) {
	type module struct {
		path, id string
		offsets  []uint64
	}
	var modules []module
	if c.Reader == nil {
		for _, s := range (*places)[1:] {
			if n := len(modules); n == 0 || modules[n-1].path != s.Module || modules[n-1].id != s.BuildID {
				modules = append(modules, module{path: s.Module, id: s.BuildID})
			}
			m := &modules[len(modules)-1]
			m.offsets = append(m.offsets, s.Offset)
		}
	}
	wire.CodeList(c, &modules, 2, func(_ int, m *module) {
		c.String(&m.path)
		codeBuildID(c, &m.id)
	})
	for i := range modules {
		m, last := &modules[i], uint64(0)
		wire.CodeList(c, &m.offsets, 1, func(_ int, offset *uint64) {
			further := *offset - last
			wire.CodeUints(c, &further)
			last += further
			*offset = last
		})
	}
	if c.Reader != nil {
		*places = []model.Site{{}}
		for _, m := range modules {
			for _, offset := range m.offsets {
				*places = append(*places, model.Site{Module: m.path, BuildID: m.id, Offset: offset})
			}
		}
	}
	wire.CodeList(c, values, 9, func(_ int, v *siteValue) {
		wire.CodeIndex(c, &v.place, len(*places))
		c.Uint64(&v.hash)
	})
}

// append appends the encoded table of sites to b.
func (t *siteTable) append(b []byte) []byte {
	values := make([]siteValue, 0, len(t.named))
	for _, h := range slices.Sorted(maps.Keys(t.named)) {
		values = append(values, siteValue{t.number[h], h})
	}
	b = wire.AppendEncoded(b, func(c *wire.Coder) { codePlaces(c, &t.places, &values) })
	if len(t.stacks) == 0 {
		return b
	}
	return t.appendStacks(b)
}

// shape returns, by number of a site, the numbers of its caller and of its place. 0 is no caller.
func (t *siteTable) shape() (outer, place []int) {
	n := len(t.places) + len(t.stacks)
	outer, place = make([]int, n), make([]int, n)
	for i := range n {
		if place[i] = t.place(i); i >= len(t.places) {
			outer[i] = t.stacks[i-len(t.places)].outer
		}
	}
	return outer, place
}

// codeBuildID codes a build id, a text that nearly always is hexadecimal.
//
//	build id = 2·bytes + hexadecimal uvarint, bytes
func codeBuildID(c *wire.Coder, id *string) {
	b, isHex := []byte(*id), 0
	if raw, err := hex.DecodeString(*id); err == nil && hex.EncodeToString(raw) == *id {
		b, isHex = raw, 1
	}
	n, most := len(b)<<1|isHex, 0
	if c.Reader != nil {
		most = 2*c.Reader.RemainingLen() + 1
	}
	wire.CodeBounded(c, &n, most)
	c.Bytes(&b, n>>1)
	switch {
	case c.Reader == nil:
	case n&1 != 0:
		*id = hex.EncodeToString(b)
	default:
		*id = string(b)
	}
}

// SiteTable are the sites of a file. Marks for phases, threads and turns are not part of their frames.
type SiteTable struct {
	List             []model.Site
	CallerOf         []int                 // by site: number of its caller, or of its mark (see marks); 0: none
	InnermostFrameOf []int                 // by site: number of the site that is its place without callers
	Phases           map[int]string        // by site: the phase that begins with calls from it
	ThreadFunctions  map[int]model.Site    // by site: the start function of threads whose first call is from it
	Turns            map[int]int           // by site: the loop that began another iteration before its calls
	ByHash           map[uint64]model.Site // sites that occur as values of parameters, by the hash that is the value

	once    sync.Once
	numbers []int
}

// DecodeSites reads the section of sites.
func DecodeSites(r *wire.Reader) *SiteTable {
	t := &SiteTable{ByHash: make(map[uint64]model.Site)}
	var values []siteValue
	codePlaces(&wire.Coder{Reader: r}, &t.List, &values)
	for _, v := range values {
		t.ByHash[v.hash] = t.List[v.place]
	}
	places := len(t.List)
	t.CallerOf, t.InnermostFrameOf = make([]int, places), make([]int, places)
	for i := range places {
		t.InnermostFrameOf[i] = i
	}
	if r.RemainingLen() > 0 && r.Err() == nil {
		outer, place := decodeStacks(r, places)
		if r.Err() != nil {
			return t
		}
		t.CallerOf, t.InnermostFrameOf = outer, place
	}
	// Sites point at each other from here on, so they must not move.
	t.List = append(make([]model.Site, 0, len(t.InnermostFrameOf)), t.List...)
	// By site: the lowest number with its frames. Another number may have these with another phase, thread or turn.
	first := make(map[model.Site]int)
	for i, s := range t.List {
		if _, known := first[s]; !known {
			first[s] = i
		}
	}
	for n := places; n < len(t.InnermostFrameOf); n++ {
		s, outer := t.List[t.InnermostFrameOf[n]], t.CallerOf[n]
		o := &t.List[outer]
		t.mark(n, outer, o)
		if !marks(o) {
			s.Caller = o
			if i, known := first[*o]; known {
				s.Caller = &t.List[i]
			}
		}
		if _, known := first[s]; !known {
			first[s] = n
		}
		t.List = append(t.List, s)
	}
	return t
}

// marks reports whether a site is the entry for a phase, a thread or a turn instead of a call site.
func marks(s *model.Site) bool {
	return s.BuildID == model.PhaseFrameBuildID || s.BuildID == model.TurnFrameBuildID || strings.HasPrefix(s.BuildID, model.ThreadFrameBuildIDPrefix)
}

// mark sets the phase, thread and turn of site n to those of its caller, which has the number outer and is o. If o is a
// mark instead of a caller, it sets the phase, thread or turn that o names.
func (t *SiteTable) mark(n, outer int, o *model.Site) {
	phase, begins := t.Phases[outer]
	if o.BuildID == model.PhaseFrameBuildID {
		phase, begins = o.Module, true
	}
	if begins {
		if t.Phases == nil {
			t.Phases = make(map[int]string)
		}
		t.Phases[n] = phase
	}
	turn, turned := t.Turns[outer]
	if o.BuildID == model.TurnFrameBuildID {
		turn, turned = int(min(o.Offset, maxTurn)), true
	}
	if turned {
		if t.Turns == nil {
			t.Turns = make(map[int]int)
		}
		t.Turns[n] = turn
	}
	thread, first := t.ThreadFunctions[outer]
	if id, is := strings.CutPrefix(o.BuildID, model.ThreadFrameBuildIDPrefix); is {
		thread, first = model.Site{Module: o.Module, BuildID: id, Offset: o.Offset}, true
	}
	if first {
		if t.ThreadFunctions == nil {
			t.ThreadFunctions = make(map[int]model.Site)
		}
		t.ThreadFunctions[n] = thread
	}
}

// maxTurn is the largest number in SiteTable.Turns, where it means an unknown loop.
const maxTurn = 255

// CanonicalSite returns the largest number of a site with the same frames and turn as the given site.
func (t *SiteTable) CanonicalSite(site int) int {
	t.once.Do(func() {
		last := make(map[turned]int, len(t.List))
		for i, s := range t.List {
			last[turned{s, t.Turns[i]}] = i
		}
		t.numbers = make([]int, len(t.List))
		for i, s := range t.List {
			t.numbers[i] = last[turned{s, t.Turns[i]}]
		}
	})
	return t.numbers[site]
}

type turned struct {
	site model.Site
	turn int
}

// ThreadFunction returns the start function of threads whose first call is from a site; nil if unknown.
func (t *SiteTable) ThreadFunction(site int) *model.Site {
	s, first := t.ThreadFunctions[site]
	if !first {
		return nil
	}
	own := s // a copy, so that only a function that was found is allocated on the heap
	return &own
}
