package rsd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
)

// What stands in JSON.
type (
	jsonNests struct {
		Thread int         `json:"thread"`
		Ranks  []string    `json:"ranks"`
		Calls  jsonNumbers `json:"calls_per_rank"`
		Nodes  []jsonNode  `json:"nodes"`
	}
	jsonNode struct {
		Ranks  []string            `json:"ranks"`
		Times  uint64              `json:"times"`
		Around uint64              `json:"of"`
		Rounds *jsonNumbers        `json:"rounds,omitempty"` // of a loop
		Body   []jsonNode          `json:"body,omitempty"`
		Call   string              `json:"call,omitempty"` // of an event
		Site   string              `json:"site,omitempty"`
		Params map[string]jsonSlot `json:"params,omitempty"`
		Merged map[string][2]int64 `json:"merged,omitempty"`
		Drawn  []int64             `json:"partner_drawn,omitempty"`
	}
	jsonSlot struct {
		Formula string            `json:"formula,omitempty"`
		Numbers *jsonNumbers      `json:"numbers,omitempty"`
		Texts   map[string]uint64 `json:"texts,omitempty"` // and how many calls have them
		Others  uint64            `json:"others,omitempty"`
		Sets    []jsonSet         `json:"sets,omitempty"` // of few numbers or texts: which ranks have them
	}
	jsonSet struct {
		Value any      `json:"value"`
		Ranks []string `json:"ranks"`
	}
	jsonNumbers struct {
		Count     uint64    `json:"count"`
		Min       int64     `json:"min"`
		Mean      *float64  `json:"mean,omitempty"`
		Max       int64     `json:"max"`
		MinRank   int       `json:"min_rank"`
		MaxRank   int       `json:"max_rank"`
		Histogram []jsonBin `json:"histogram,omitempty"` // of what is not constant
	}
	jsonBin struct {
		Min   int64   `json:"min"`
		Mean  float64 `json:"mean"`
		Max   int64   `json:"max"`
		Count uint64  `json:"count"`
	}
)

// JSON returns what is to be encoded; place names a call site.
func (n *Nests) JSON(place func(trace.Site) string) any {
	return jsonNests{n.Thread, spanTexts(n.Ranks), *numbersOf(&n.Calls), nodesOf(n.Nodes, place)}
}

func nodesOf(list []*Node, place func(trace.Site) string) []jsonNode {
	out := []jsonNode{}
	for _, n := range list {
		x := jsonNode{Ranks: spanTexts(n.Ranks), Times: n.Times, Around: n.Around}
		if e := n.Event; e != nil {
			x.Call, x.Site, x.Params = e.Func.Name, place(e.Site), make(map[string]jsonSlot)
			for _, s := range e.Slots {
				y := jsonSlot{s.Formula, numbersOf(&s.Numbers), maps.Clone(s.Texts), s.Others, nil}
				if len(s.sets.of)+len(s.named.of) > 1 {
					y.Sets = append(setsOf(s.sets.of), setsOf(s.named.of)...)
				}
				if s.Moving {
					y.Numbers.Mean, y.Numbers.Histogram = nil, nil
				}
				x.Params[s.Name] = y
			}
			if p := e.Drawn; p != nil {
				x.Drawn = []int64{p.Relative.Least.Value, p.Relative.Most.Value}
			}
			for _, m := range e.Merged {
				if x.Merged == nil {
					x.Merged = make(map[string][2]int64)
				}
				x.Merged[m.Param] = [2]int64{m.Low, m.High}
			}
		} else {
			x.Rounds, x.Body = numbersOf(n.Rounds), nodesOf(n.Body, place)
		}
		out = append(out, x)
	}
	return out
}

func setsOf[T cmp.Ordered](sets map[T][]int) (out []jsonSet) {
	for _, v := range slices.Sorted(maps.Keys(sets)) {
		out = append(out, jsonSet{v, spanTexts(sets[v])})
	}
	return out
}

// mostBins is how many bins a histogram has.
const mostBins = 8

func numbersOf(n *stats.Numbers) *jsonNumbers {
	if n.Count == 0 {
		return nil
	}
	mean := n.Mean()
	out := &jsonNumbers{n.Count, n.Least.Value, &mean, n.Most.Value, n.Least.Rank, n.Most.Rank, nil}
	if _, same := n.Same(); same {
		return out
	}
	for _, b := range stats.Balanced(n.All(), mostBins) {
		out.Histogram = append(out.Histogram, jsonBin{b.Low, b.Mean(), b.High, b.Count})
	}
	return out
}

func spanTexts(ranks []int) []string {
	var out []string
	for _, s := range Spans(ranks) {
		out = append(out, fmt.Sprint(s))
	}
	return slices.Clip(out)
}
