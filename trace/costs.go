package trace

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// A StorageCost is how many bytes of a trace one kind of content takes (e.g. all values of one parameter of a function
// that follow one kind of formula over the ranks).
type StorageCost struct {
	Section     string
	Function    string  // function, "" if the bytes belong to no single one
	Parameter   string  // parameter, or another kind of content
	Form        string  // how the content is stored, e.g. "column, …" or the kind of formula
	Occurrences int     // how many values, symbols or table entries the bytes are for
	RawBytes    int64   // bytes before the section was compressed
	StoredBytes float64 // the cost's share of the compressed section, in proportion to RawBytes
}

// StorageCosts returns how many bytes each kind of content takes in the sections signatures, classes, columns, lanes,
// ranks and times, largest first.
func (r *Reader) StorageCosts() ([]StorageCost, error) {
	t, err := r.tables()
	if err != nil {
		return nil, err
	}
	c := costs{byKey: make(map[costKey]*StorageCost)}
	if err := r.formCosts(&c); err != nil {
		return nil, err
	}
	for n := range r.Classes() {
		if _, err := r.classAt(n); err != nil {
			return nil, err
		}
		c.classes(t, n)
		r.columnCosts(&c, t, n)
		if err := r.laneCosts(&c, n); err != nil {
			return nil, err
		}
		if err := r.timeCosts(&c, n); err != nil {
			return nil, err
		}
	}
	var list []StorageCost
	for i := range r.sections {
		s := &r.sections[i]
		sum := int64(0)
		for _, x := range c.order {
			if x.Section == s.Name() {
				x.StoredBytes = float64(x.RawBytes) * float64(s.StoredSize) / float64(max(s.RawSize, 1))
				sum += x.RawBytes
				list = append(list, *x)
			}
		}
		if rest := int64(s.RawSize) - sum; rest > 0 && (s.ID == container.SectionSignatures || s.ID == container.SectionClasses || s.ID == container.SectionColumns || s.ID == container.SectionClassOfRank || s.ID == container.SectionLanes || s.ID == container.SectionTimes) {
			what := "lengths"
			switch s.ID {
			case container.SectionSignatures:
				what = "functions, call sites and kinds of forms"
			case container.SectionLanes:
				what = "terminals and values with lanes"
			case container.SectionClassOfRank:
				what = "class of each rank"
			}
			list = append(list, StorageCost{
				Section: s.Name(), Parameter: what, Occurrences: 1, RawBytes: rest, StoredBytes: float64(rest) * float64(s.StoredSize) / float64(s.RawSize),
			})
		}
	}
	slices.SortStableFunc(list, func(a, b StorageCost) int { return cmp.Compare(b.StoredBytes, a.StoredBytes) })
	return list, nil
}

type costKey struct{ section, call, value, form string }

type costs struct {
	byKey map[costKey]*StorageCost
	order []*StorageCost
}

func (c *costs) add(section int, call, value, form string, count, bytes int) {
	if bytes == 0 {
		return
	}
	k := costKey{container.SectionNames[section], call, value, form}
	x := once.GetOrAppend(c.byKey, k, &c.order, func() *StorageCost {
		return &StorageCost{Section: k.section, Function: call, Parameter: value, Form: form}
	})
	x.Occurrences += count
	x.RawBytes += int64(bytes)
}

// timeCosts adds the bytes that class n takes in section times.
func (r *Reader) timeCosts(c *costs, n int) error {
	x, err := r.classAt(n)
	if err != nil {
		return err
	}
	blobs, err := r.timing()
	if err != nil {
		return err
	}
	counts, err := r.calls(n, x)
	if err != nil {
		return err
	}
	if !r.HasTimes() {
		return nil
	}
	w := wire.NewReader(blobs[n], "times")
	if _, _, err := r.decodeTimes(w, n, counts, func(what string, n, bytes int) {
		form := "count, mean"
		if what == sections.TimesPartExtremes || what == sections.TimesPartSpreads {
			form = "most, least, deviation"
			if x.Ranks > 1 {
				form += ", ranks"
			}
		}
		c.add(container.SectionTimes, "", what, form, n, bytes)
	}); err != nil {
		return err
	}
	if w.RemainingLen() > 1 {
		c.add(container.SectionTimes, "", "histograms", "bins", 1, w.RemainingLen())
	}
	return nil
}

// formCosts adds the bytes that the forms of values take in section signatures.
func (r *Reader) formCosts(c *costs) error {
	t, err := r.tables()
	if err != nil {
		return err
	}
	type place struct {
		g    *sections.SignatureGroup
		list int
	}
	type part struct {
		place
		kind         column.Kind
		forms, bytes int
	}
	var parts []part
	err = r.section(container.SectionSignatures, func(w *wire.Reader) {
		sections.DecodeSignatures(w, r.byID, t.sites, func(g *sections.SignatureGroup, list int, kind column.Kind, forms, bytes int) {
			parts = append(parts, part{place{g, list}, kind, forms, bytes})
		})
	})
	if err != nil {
		return err
	}
	names := make(map[*sections.SignatureGroup][]string)
	for _, p := range parts {
		f := r.byID[p.g.FunctionID]
		value := "all values"
		if !p.g.HasOneFormList {
			value = once.GetOrMake(names, p.g, func() []string { return valueNames(f, p.g.SampleValues(r.Ranks())) })[p.list]
		}
		c.add(container.SectionSignatures, f.Name, value, p.kind.String(), p.forms, p.bytes)
	}
	return nil
}

// classes adds the bytes that class n takes in section classes.
func (c *costs) classes(t *tables, n int) {
	if t.together != nil {
		x := &t.together[n]
		form := ""
		if x.SignaturesAreEdits {
			form = "edits of another class's"
		}
		c.add(container.SectionClasses, "", "order of calls", "grammar", x.SymbolCount, x.GrammarBytes)
		c.add(container.SectionClasses, "", "signatures of the distinct calls", form, 1, x.SignatureListBytes)
		return
	}
	w := wire.NewReader(t.classes[n], "class")
	head := w.Int(1 << 30)
	for range head >> 1 {
		rest := w.RemainingLen()
		g := grammar.ReadGrammar(w)
		if w.Err() != nil {
			return
		}
		c.add(container.SectionClasses, "", "order of calls", "grammar", g.SymbolCount(), rest-w.RemainingLen())
	}
	what := "varying counts"
	if head&1 == 0 {
		what = "signatures of the distinct calls"
	}
	c.add(container.SectionClasses, "", what, "", 1, w.RemainingLen())
}

// seqCost reads the encoded column of a class with this number of ranks. It returns the column's coding and its size in
// bytes.
func seqCost(w *wire.Reader, ranks int) (coding string, bytes int) {
	rest := w.RemainingLen()
	s := column.DecodeSeq(w, ranks)
	if s == nil {
		return "", 0
	}
	return s.Coding(), rest - w.RemainingLen()
}

// columnCosts adds the bytes that class n takes in section columns.
func (r *Reader) columnCosts(c *costs, t *tables, n int) {
	class := r.class[n]
	w := wire.NewReader(t.columns[n], "columns")
	for range class.VaryingSymbols {
		coding, bytes := seqCost(w, class.Ranks)
		c.add(container.SectionColumns, "", "how often loops ran", coding, 1, bytes)
	}
	names := make(map[*sections.SignatureGroup][]string)
	first := r.Members(n)[0]
	for _, term := range class.Terminals {
		g := term.Group
		f := r.byID[g.FunctionID]
		for p := range g.ValueCount {
			list, at := g.FormsOf(term.SignatureIndex, p)
			kind := list.Kind(at)
			if !kind.NeedsColumn() {
				continue
			}
			of := once.GetOrMake(names, g, func() []string { return valueNames(f, term.EvalSignature(class, 0, first, r.Ranks())) })
			coding, bytes := seqCost(w, class.Ranks)
			form := "column, " + coding
			if kind != column.KindAsStored {
				form = "exceptions, " + coding
			}
			c.add(container.SectionColumns, f.Name, of[p], form, 1, bytes)
		}
	}
}

// laneCosts adds the bytes that class n takes in section lanes.
func (r *Reader) laneCosts(c *costs, n int) error {
	blobs, err := r.lanes()
	if err != nil {
		return err
	}
	class := r.class[n]
	if class.Lanes == nil {
		return nil
	}
	first := r.Members(n)[0]
	w := wire.NewReader(blobs[n], "lanes")
	var coding string
	var bytes int
	return class.Lanes.SplitEncoded(w, func() { coding, bytes = seqCost(w, class.Ranks) }, func(p signature.LanePart) {
		if p.Terminal < 0 {
			c.add(container.SectionLanes, "", "how often steps are taken", coding, 1, bytes)
			return
		}
		t := &class.Terminals[p.Terminal]
		f := r.byID[t.Group.FunctionID]
		if p.ValueIndex < 0 {
			c.add(container.SectionLanes, f.Name, "order of steps", "grammar", 1, p.StepOrderBytes)
			return
		}
		c.add(container.SectionLanes, f.Name, valueNames(f, t.EvalSignature(class, 0, first, r.Ranks()))[p.ValueIndex], "step, "+coding, 1, bytes)
	})
}
