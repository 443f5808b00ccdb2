package sections

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// EncodeFile returns the file that holds c.
func EncodeFile(c *Content) ([]byte, error) {
	e, err := prepare(c)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	b := bytes.NewBuffer(e.head)
	if c.Series != nil {
		if err := c.Series.CopyTo(b); err != nil {
			return nil, fmt.Errorf("trace: %w", err)
		}
	}
	b.Write(e.index)
	return b.Bytes(), nil
}

// EncodeFileWithoutSeries returns a file with c without the times of single calls, uncompressed: for a reader in the same
// run.
func EncodeFileWithoutSeries(c *Content) ([]byte, error) {
	untimed := *c
	untimed.Series = nil
	raw, err := RawSections(&untimed, wire.QuickEstimatePackedSize, true)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	return container.Assemble(raw, func(_ int, raw []byte) ([]byte, byte) { return raw, container.CodecRaw }, nil), nil
}

// EstimateEncodedCallBytes returns approximately how many bytes c's calls take in a file, in less time than writing it takes.
func EstimateEncodedCallBytes(c *Content) (int, error) {
	return sizeOfCalls(c, wire.QuickEstimatePackedSize)
}

// EstimateFileSize is EstimateEncodedCallBytes in the time that writing takes: it is exact except for sections of more than 32 KiB.
func EstimateFileSize(c *Content) (int, error) { return sizeOfCalls(c, wire.EstimatePackedSize) }

func sizeOfCalls(c *Content, packed func([]byte) int) (int, error) {
	raw, err := RawSections(c, packed, false)
	if err != nil {
		return 0, fmt.Errorf("trace: %w", err)
	}
	n := 0
	for _, id := range []int{container.SectionClassOfRank, container.SectionSignatures, container.SectionClasses, container.SectionColumns, container.SectionLanes} {
		n += packed(raw[id])
	}
	return n, nil
}

// RawSections returns the uncompressed sections by id. Of several possible forms it takes the one for which packed
// returns the least. times selects whether times are included.
func RawSections(c *Content, packed func([]byte) int, times bool) (raw [container.SectionCount][]byte, err error) {
	if c.Ranks < 0 || c.Ranks > model.MaxRanks {
		return raw, fmt.Errorf("%d ranks, at most %d can be stored", c.Ranks, model.MaxRanks)
	}
	if n := c.Processes.Len(); n != c.Ranks {
		return raw, fmt.Errorf("%d processes for %d ranks", n, c.Ranks)
	}
	schema, err := schemaOf(c)
	if err != nil {
		return raw, err
	}
	e := encoder{c: c, timeless: !times || c.NoTimes, plain: !times, sites: newSiteTable(c.Sites, c.CallerSites), functions: make(map[uint16]*model.Function)}
	for i := range schema {
		e.functions[schema[i].ID] = &schema[i]
	}
	if err := e.calls(&raw, packed); err != nil {
		return raw, err
	}
	raw[container.SectionMeta] = appendMeta(c.Meta)
	raw[container.SectionSchema] = appendSchema(nil, schema)
	if len(c.Strings) > 0 {
		raw[container.SectionStrings] = wire.AppendEncoded(nil, func(x *wire.Coder) { codeStrings(x, c.Strings) })
	}
	raw[container.SectionSites] = e.sites.append(nil)
	raw[container.SectionClassOfRank] = appendRanks(nil, c)
	if !c.NoTimes {
		raw[container.SectionTimes] = e.times()
	}
	if raw[container.SectionLanes], err = appendLanes(c.Classes); err != nil {
		return raw, err
	}
	if times {
		procs := c.Processes
		if c.NoTimes {
			procs = procs.withoutTimes()
		}
		raw[container.SectionProcess] = procs.AppendSection(nil, c.ranked())
		raw[container.SectionAttachedValues], raw[container.SectionLeafAttachedSums] = appendValues(c.Classes), appendPlacedValues(c.Classes)
		if !c.NoTimes {
			raw[container.SectionLeafTimes] = appendSome(nil, e.places)
			raw[container.SectionFirstCallTimes] = appendFirsts(c.Classes)
			if c.Series == nil {
				raw[container.SectionUnknownLeafTimes] = appendMixed(c.Classes)
			}
			raw[container.SectionAsides] = c.Processes.appendAsideSection(c.MergeNs)
		}
		for _, x := range []struct {
			id     int
			there  bool
			check  func() error
			append func(b []byte) []byte
		}{
			{container.SectionAllocs, len(c.Allocs) > 0, c.checkAllocs(c.Allocs), appendAllocs(c.Allocs)},
			{container.SectionHandovers, len(c.Handovers) > 0, c.checkAllocs(c.Handovers), appendAllocs(c.Handovers)},
			{container.SectionMergedSizes, len(c.MergedSizes) > 0, c.checkThinned, c.appendThinned},
			{container.SectionSyntheticMessages, len(c.SyntheticMessages) > 0, c.checkPartners, c.appendPartners},
			{container.SectionSyntheticLoops, c.SyntheticLoops != nil, c.checkDrawn, c.AppendSyntheticLoops},
			{container.SectionClocks, c.Clocks != nil && !c.NoTimes, c.checkClocks, c.Clocks.Append},
		} {
			if !x.there {
				continue
			}
			if err := x.check(); err != nil {
				return raw, err
			}
			raw[x.id] = x.append(nil)
		}
		for i := range c.Classes {
			if err := c.Classes[i].checkRanked(); err != nil {
				return raw, fmt.Errorf("class %d: %w", i, err)
			}
		}
		rest := sync.OnceValue(func() (n int64) {
			if c.Series != nil {
				n = c.Series.size()
			}
			for id, b := range raw {
				if id != container.SectionTotals {
					n += int64(wire.QuickEstimatePackedSize(b))
				}
			}
			return n
		})
		if !c.NoTimes {
			raw[container.SectionTotals] = appendTotals(c.Classes, rest)
		}
		raw[container.SectionRankAttachedSums] = appendRankValues(c.Classes, rest)
	}
	return raw, nil
}

// schemaOf returns the schema of the functions that occur, by id.
func schemaOf(c *Content) ([]model.Function, error) {
	used := make(map[uint16]bool)
	var t Terminal
	last := -1
	for i := range c.Classes {
		for k := range c.Classes[i].Terminals.Len() {
			if c.Classes[i].Terminals.Describe(k, &t); int(t.FunctionID) != last {
				last = int(t.FunctionID)
				used[t.FunctionID] = true
			}
		}
	}
	var schema []model.Function
	if c.Schema != nil {
		for _, f := range c.Schema {
			if used[f.ID] {
				schema = append(schema, f)
				delete(used, f.ID)
			}
		}
	}
	for id := range used {
		call, ok := mpi.CallByID(id)
		if !ok || c.Schema != nil {
			return nil, fmt.Errorf("function %d is unknown", id)
		}
		schema = append(schema, FunctionOf(call))
	}
	slices.SortFunc(schema, func(a, b model.Function) int { return cmp.Compare(a.ID, b.ID) })
	return schema, nil
}

// An encoder is the state of encoding a content.
type encoder struct {
	c         *Content
	sites     *siteTable
	functions map[uint16]*model.Function
	table     signatureWriter
	refs      [][]signatureRef        // by class and terminal: its signature
	counts    []column.CountedStreams // by class: its grammars and the counts that vary
	stored    [][]byte                // by class: its columns without a closed form, encoded
	pooled    []*ClassPools           // by class: its times by pool
	codes     []*TimeCodes            // by class: its times, rounded
	places    [][]byte                // by class: the times of its leaves, encoded
	timeless  bool
	plain     bool    // columns get no forms that are block sizes
	shares    bool    // some column got a form that is block sizes
	vals      []int64 // values of the current terminal on the first rank of its class
}

// calls encodes the sections about calls. Block sizes have a form of their own, which is not always shorter: if
// some are found, the sections are also encoded without it.
func (e *encoder) calls(raw *[container.SectionCount][]byte, packed func([]byte) int) error {
	if err := e.callsOnce(raw, packed); err != nil || !e.shares {
		return err
	}
	list := []int{container.SectionSignatures, container.SectionClasses, container.SectionColumns}
	other := encoder{c: e.c, timeless: e.timeless, plain: true, sites: e.sites, functions: e.functions}
	var alternative [container.SectionCount][]byte
	if err := other.callsOnce(&alternative, packed); err != nil {
		return err
	}
	with, without := 0, 0
	for _, id := range list {
		with += packed(raw[id])
		without += packed(alternative[id])
	}
	if without < with {
		*e = other
		for _, id := range list {
			raw[id] = alternative[id]
		}
	}
	return nil
}

func (e *encoder) callsOnce(raw *[container.SectionCount][]byte, packed func([]byte) int) error {
	e.table.index = make(map[skeleton]int32)
	if err := e.classes(); err != nil {
		return err
	}
	sigs := make([][]int, len(e.c.Classes))
	var f *followed
	if len(e.sites.stacks) > 0 {
		calls := newDistinctCalls()
		for i := range sigs {
			sigs[i] = calls.add(e.refs[i])
			e.refs[i] = nil
		}
		if len(calls.calls) > maxStacked {
			return errStacked
		}
		number := calls.sort()
		for i := range sigs {
			for k, n := range sigs[i] {
				sigs[i][k] = int(number[n])
			}
		}
		e.table.sort(calls.calls)
		b, first := e.table.append(nil)
		raw[container.SectionSignatures] = calls.append(b, e.table.groups, first, e.sites)
		if packed != nil {
			f = &followed{}
		}
	} else {
		var first []int
		raw[container.SectionSignatures], first = e.table.append(nil)
		for i := range sigs {
			sigs[i] = make([]int, len(e.refs[i]))
			for k, ref := range e.refs[i] {
				sigs[i][k] = first[ref.group] + int(ref.sig)
			}
			e.refs[i] = nil
		}
		if packed != nil {
			f = followedOf(e.sites.append(nil), raw[container.SectionSignatures], e.functions)
		}
	}
	e.table = signatureWriter{} // frees memory, as the table may be large
	raw[container.SectionClasses] = appendClasses(nil, e.counts, sigs, f, packed)
	if slices.ContainsFunc(e.stored, func(b []byte) bool { return len(b) > 0 }) {
		raw[container.SectionColumns] = appendBlobs(nil, e.stored)
	}
	return nil
}

// classes encodes the classes, large ones first: their forms are based on more ranks, and small classes can share
// them.
func (e *encoder) classes() error {
	n := len(e.c.Classes)
	e.counts = make([]column.CountedStreams, n)
	e.refs, e.stored = make([][]signatureRef, n), make([][]byte, n)
	e.pooled, e.codes, e.places = make([]*ClassPools, n), make([]*TimeCodes, n), make([][]byte, n)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(e.c.Classes[b].Ranks.Len(), e.c.Classes[a].Ranks.Len())
	})
	taken := make([]bool, e.c.Ranks)
	for _, i := range order {
		if err := e.class(i, taken); err != nil {
			return fmt.Errorf("class %d: %w", i, err)
		}
	}
	return nil
}

func (e *encoder) class(i int, taken []bool) error {
	class := &e.c.Classes[i]
	if class.Ranks.Len() == 0 {
		return errors.New("no ranks")
	}
	last := int64(-1)
	for r := range class.Ranks.All() {
		if r <= last || r >= int64(e.c.Ranks) || taken[r] {
			return fmt.Errorf("rank %d is out of order, out of range or in two classes", r)
		}
		last, taken[r] = r, true
	}
	for _, g := range class.Streams {
		if err := g.Check(); err != nil {
			return err
		}
	}
	terminals, ok := grammar.CountTerminals(class.Streams)
	if !ok || terminals != class.Terminals.Len() {
		return fmt.Errorf("streams don't have the %d terminals by first occurrence", class.Terminals.Len())
	}
	fitter := column.NewFitter(class.Ranks, e.c.Ranks)
	fitter.ExcludeBlockSizes = e.plain
	var err error
	if e.counts[i], err = column.NewCountedStreams(class.Streams, class.RepetitionCounts, class.Ranks.Len()); err != nil {
		return err
	}
	for k := range e.counts[i].VaryingCounts {
		e.stored[i] = column.EncodeSeq(e.stored[i], &e.counts[i].VaryingCounts[k], &class.Ranks)
	}
	e.table.begin(terminals)
	e.refs[i] = make([]signatureRef, terminals)
	var t Terminal
	for k := range terminals {
		class.Terminals.Describe(k, &t)
		if e.refs[i][k], err = e.terminal(fitter, &t, class.Ranks.Len(), &e.stored[i]); err != nil {
			return fmt.Errorf("terminal %d: %w", k, err)
		}
	}
	e.shares = e.shares || fitter.FoundBlockSizes()
	if e.timeless {
		return nil
	}
	groups := make([]int32, terminals)
	for k, ref := range e.refs[i] {
		groups[k] = ref.group
	}
	calls, err := e.c.calls(i, &e.counts[i], terminals)
	if err != nil {
		return err
	}
	places := 0
	if len(class.Histograms) > 0 {
		list := make([]*SignatureGroup, terminals)
		for k, n := range groups {
			list[k] = e.table.groups[n]
		}
		_, places = NumberPlaces(list)
	}
	for _, h := range class.Histograms {
		if h.Terminal < 0 || h.Terminal >= terminals || h.PreviousPlace < model.NoPreviousFunctionSite || h.PreviousPlace >= places {
			return fmt.Errorf("histogram of terminal %d from %d", h.Terminal, h.PreviousPlace)
		}
	}
	key := func(n int) PoolKey { return PoolKey{e.refs[i][n].group, int(e.refs[i][n].sig)} }
	var like []int32
	if len(e.sites.stacks) > 0 {
		like = FirstsAlikeButForStack(terminals, func(n int) CallKey {
			ref := &e.refs[i][n]
			return CallKey{ref.group, int(ref.sig), int(ref.site)}
		})
	}
	e.pooled[i] = poolTimes(class.Terminals.Times, groups, like, key, calls, class.Ranks.Len())
	placed := class.LeafMeanTimes
	if len(placed) > 0 || like != nil {
		leaves := LeafTerminals(class.Streams)
		if like != nil {
			placed = e.pooled[i].placeStacks(class, leaves, groups, like, calls)
		}
		if e.places[i], err = appendPlacesOf(nil, placed, leaves); err != nil {
			return err
		}
	}
	e.codes[i] = e.pooled[i].Encode(indexes(&class.Ranks))
	e.pooled[i].Stats = [2][]model.Stat{}
	return nil
}

// times returns the section of times.
func (e *encoder) times() []byte {
	blobs := AppendTimes(e.pooled, e.codes, e.c.Ranks, func(class int) map[int32]uint64 { return indexes(&e.c.Classes[class].Ranks) })
	if !e.timeless {
		for i := range blobs {
			blobs[i] = AppendHistograms(blobs[i], e.c.Classes[i].Histograms)
		}
	}
	return appendBlobs(nil, blobs)
}

// terminal checks a terminal and adds its signature. Columns that the class stores are appended to stored.
func (e *encoder) terminal(f *column.Fitter, t *Terminal, members int, stored *[]byte) (signatureRef, error) {
	e.vals = e.vals[:0]
	for i := range t.Values {
		c := &t.Values[i]
		if c.Len() != members {
			return signatureRef{}, fmt.Errorf("value %d of %d ranks, %d expected", i, c.Len(), members)
		}
		e.vals = append(e.vals, c.Runs()[0].Start)
		e.callbacks(c)
	}
	site := e.sites.number[t.Site]
	n := e.table.group(t, e.sites.place(site), e.functions[t.FunctionID])
	g := e.table.groups[n]
	// The first member's values determine which values are ranks. Where this is wrong for another member, e.g. as its
	// arrays have other lengths, forms only become longer.
	ranks, err := g.shape.ranks(g.Function, e.vals)
	if err != nil {
		return signatureRef{}, err
	}
	sig, err := e.table.add(g, f, t, ranks, stored)
	return signatureRef{n, sig, int32(site)}, err
}

// callbacks records the values that are hashes of sites. Hashes are large and unrelated, so a run of more than two
// values contains none.
func (e *encoder) callbacks(c *column.Column) {
	for _, r := range c.Runs() {
		for k := range min(r.Count, 2) {
			if v := uint64(r.At(k)); v > math.MaxUint32 {
				if _, ok := e.sites.number[v]; ok {
					e.sites.named[v] = true
				}
			}
		}
	}
}
