package rsd

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// mostShown is the largest number of different values of a slot that are listed.
const mostShown = 4

// WriteText writes nests as text. place returns the text of a call site.
func (n *Nests) WriteText(w io.Writer, place func(trace.Site) string) {
	head := "ranks " + RanksText(n.Ranks)
	if len(n.Ranks) == 1 {
		head = "rank " + RanksText(n.Ranks)
	}
	if n.Thread > 0 {
		head += fmt.Sprintf(", thread %d", n.Thread)
	}
	calls := show.FormatGrouped(uint64(n.CallsPerRank.Sum)) + " calls"
	if v, same := n.CallsPerRank.SingleValue(); same && len(n.Ranks) > 1 {
		calls = show.FormatGrouped(v) + " calls each"
	}
	fmt.Fprintf(w, "%s: %s\n", head, calls)
	(&printer{w, place}).nodes(n.Nodes, n.Ranks, 1)
}

type printer struct {
	w     io.Writer
	place func(trace.Site) string
}

func (p *printer) nodes(list []*Node, ranks []int, depth int) {
	for _, n := range list {
		line := strings.Repeat("  ", depth)
		if n.IsLoop() {
			line += "loop " + TripCountsText(n.TripCounts)
		} else {
			line += n.Event.Text() + " @ " + p.place(n.Event.Site)
		}
		if !slices.Equal(n.Ranks, ranks) {
			line += " {" + RanksText(n.Ranks) + "}"
		}
		if depth > 1 && n.Executions < n.PossibleExecutions {
			line += fmt.Sprintf(" in %s of %s iterations", show.FormatGrouped(n.Executions), show.FormatGrouped(n.PossibleExecutions))
		}
		if e := n.Event; e != nil {
			for _, m := range e.Merged {
				line += fmt.Sprintf(" # %s was %d..%d", m.Param, m.Low, m.High)
			}
			line += reduce.SyntheticMessageText(e.Drawn)
		}
		fmt.Fprintln(p.w, line)
		p.nodes(n.Body, n.Ranks, depth+1)
	}
}

// TripCountsText returns a loop's trip counts as text (e.g. 10, or 3..12, mean 7.5 of 64).
func TripCountsText(n *stats.NumberDistribution) string {
	if v, same := n.SingleValue(); same {
		return show.FormatGrouped(v)
	}
	return fmt.Sprintf("%s..%s, mean %s of %s", show.FormatGrouped(n.Min.Value), show.FormatGrouped(n.Max.Value), mean(n), show.FormatGrouped(n.Count))
}

// mean returns the mean of a distribution as a short text.
func mean(n *stats.NumberDistribution) string {
	m := n.Mean()
	if math.Abs(m) >= 1000 {
		return show.FormatGrouped(int64(math.Round(m)))
	}
	return strconv.FormatFloat(m, 'g', 3, 64)
}

// Text returns the event as a call with the values of its slots, without its call site.
func (e *Event) Text() string {
	var names, list []string
	array := false // the last whole parameter isn't the same text in all calls: if it is an array, its elements follow
	between := ""
	for _, s := range e.Slots {
		switch text := s.text(e.Ranks); s.part {
		case offset:
			if v, same := s.Numbers.SingleValue(); same && v == 0 || len(list) == 0 {
				continue
			} else if !same || v > 0 {
				text = "+" + text
			}
			list[len(list)-1] += text
		case length:
			if array {
				list[len(list)-1] = text
			}
			between = " of "
		case within:
			base, field := s.Name, ""
			if at := strings.LastIndex(s.Name, "[]"); at >= 0 {
				if !array {
					continue
				}
				base, field = s.Name[:at], strings.TrimPrefix(s.Name[at+2:], ".")
			}
			if base == s.Name || len(names) == 0 || names[len(names)-1] != base {
				names, list = append(names, s.Name), append(list, text)
				continue
			}
			list[len(list)-1] += between + strings.TrimPrefix(field+" "+text, " ")
			between = ", "
		default:
			_, constant := s.only()
			array = !constant
			names, list = append(names, s.Name), append(list, text)
		}
	}
	for i, name := range names {
		names[i] = name + "=" + list[i]
	}
	return fmt.Sprintf("%s(%s)", e.Func.Name, strings.Join(names, ", "))
}

// only returns the text of a slot whose value is the same text in all calls; false for other slots.
func (s *Slot) only() (text string, ok bool) {
	for text = range s.Texts {
	}
	return text, len(s.Texts) == 1 && s.Numbers.Count == 0 && text != "…"
}

// text describes a slot's values: a constant, a formula, a few values, or bounds and mean. If the values are few, each
// is followed by the ranks that have it, unless all of ranks do.
func (s *Slot) text(ranks []int) string {
	var list []string
	if s.Numbers.Count > 0 {
		list = append(list, s.numbersText(ranks))
	}
	texts := slices.Sorted(maps.Keys(s.Texts))
	for i, text := range texts {
		if i == mostShown {
			more := fmt.Sprintf("%d others", len(texts)-i)
			if s.OmittedTexts > 0 {
				more = "many others"
			}
			list = append(list, more)
			break
		}
		list = append(list, text+ofRanks(s.named.of[text], ranks))
	}
	return strings.Join(list, " | ")
}

// ofRanks describes the ranks that have a value of an event (some); "" if they are all ranks of the event.
func ofRanks(some, all []int) string {
	if len(some) == 0 || len(some) == len(all) {
		return ""
	}
	return " {" + RanksText(some) + "}"
}

func (s *Slot) numbersText(ranks []int) string {
	v, same := s.Numbers.SingleValue()
	if same {
		return s.written(v)
	}
	if s.Formula != "" {
		return s.Formula
	}
	if s.kind == mpi.KindRank {
		if list, ok := s.relative.DistinctNumbers(2 * mostShown); ok {
			if own, ok := s.Numbers.DistinctNumbers(len(list)); !ok || len(list) < len(own) {
				return "rank" + braced(list, func(v int64) string { return fmt.Sprintf("%+d", v) + ofRanks(s.distant.of[v], ranks) })
			}
		}
	}
	if list, ok := s.Numbers.DistinctNumbers(mostShown); ok {
		return braced(list, func(v int64) string { return s.written(v) + ofRanks(s.sets.of[v], ranks) })
	}
	if s.VariesByCall {
		return fmt.Sprintf("[%d..%d, moving, %s]", s.Numbers.Min.Value, s.Numbers.Max.Value, show.FormatGrouped(s.Numbers.Count))
	}
	return fmt.Sprintf("[%d..%d, mean %s of %s]", s.Numbers.Min.Value, s.Numbers.Max.Value, mean(&s.Numbers), show.FormatGrouped(s.Numbers.Count))
}

// written returns a number of the slot as it is printed in calls (e.g. file modes in octal).
func (s *Slot) written(v int64) string {
	x := trace.Value{Type: trace.TypeInt, Num: v}
	return x.Render(s.kind)
}

func braced(list []int64, text func(int64) string) string {
	var parts []string
	for _, v := range list {
		parts = append(parts, text(v))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// The types of Nests and its parts in JSON output.
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
		Rounds *jsonNumbers        `json:"rounds,omitempty"` // of a loop: its trip counts
		Body   []jsonNode          `json:"body,omitempty"`
		Call   string              `json:"call,omitempty"` // of an event: the function's name
		Site   string              `json:"site,omitempty"`
		Params map[string]jsonSlot `json:"params,omitempty"`
		Merged map[string][2]int64 `json:"merged,omitempty"`
		Drawn  []int64             `json:"partner_drawn,omitempty"`
	}
	jsonSlot struct {
		Formula string            `json:"formula,omitempty"`
		Numbers *jsonNumbers      `json:"numbers,omitempty"`
		Texts   map[string]uint64 `json:"texts,omitempty"` // by value that isn't a number: number of calls that have it
		Others  uint64            `json:"others,omitempty"`
		Sets    []jsonSet         `json:"sets,omitempty"` // if the values are few: for each the ranks that have it
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
		Histogram []jsonBin `json:"histogram,omitempty"` // empty if all numbers are equal
	}
	jsonBin struct {
		Min   int64   `json:"min"`
		Mean  float64 `json:"mean"`
		Max   int64   `json:"max"`
		Count uint64  `json:"count"`
	}
)

// JSON returns the nests for JSON output. place returns the text of a call site.
func (n *Nests) JSON(place func(trace.Site) string) any {
	return jsonNests{n.Thread, spanTexts(n.Ranks), *numbersOf(&n.CallsPerRank), nodesOf(n.Nodes, place)}
}

func nodesOf(list []*Node, place func(trace.Site) string) []jsonNode {
	out := []jsonNode{}
	for _, n := range list {
		x := jsonNode{Ranks: spanTexts(n.Ranks), Times: n.Executions, Around: n.PossibleExecutions}
		if e := n.Event; e != nil {
			x.Call, x.Site, x.Params = e.Func.Name, place(e.Site), make(map[string]jsonSlot)
			for _, s := range e.Slots {
				y := jsonSlot{s.Formula, numbersOf(&s.Numbers), maps.Clone(s.Texts), s.OmittedTexts, nil}
				if len(s.sets.of)+len(s.named.of) > 1 {
					y.Sets = append(setsOf(s.sets.of), setsOf(s.named.of)...)
				}
				if s.VariesByCall {
					y.Numbers.Mean, y.Numbers.Histogram = nil, nil
				}
				x.Params[s.Name] = y
			}
			if p := e.Drawn; p != nil {
				x.Drawn = []int64{p.RankDistances.Least.Value, p.RankDistances.Most.Value}
			}
			for _, m := range e.Merged {
				if x.Merged == nil {
					x.Merged = make(map[string][2]int64)
				}
				x.Merged[m.Param] = [2]int64{m.Low, m.High}
			}
		} else {
			x.Rounds, x.Body = numbersOf(n.TripCounts), nodesOf(n.Body, place)
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

// mostBins is the largest number of bins of a histogram.
const mostBins = 8

func numbersOf(n *stats.NumberDistribution) *jsonNumbers {
	if n.Count == 0 {
		return nil
	}
	mean := n.Mean()
	out := &jsonNumbers{n.Count, n.Min.Value, &mean, n.Max.Value, n.Min.Rank, n.Max.Rank, nil}
	if _, same := n.SingleValue(); same {
		return out
	}
	for _, b := range stats.JoinBins(n.AllBins(), mostBins) {
		out.Histogram = append(out.Histogram, jsonBin{b.Min, b.Mean(), b.Max, b.Count})
	}
	return out
}

func spanTexts(ranks []int) []string {
	var out []string
	for _, s := range StridedRanges(ranks) {
		out = append(out, fmt.Sprint(s))
	}
	return slices.Clip(out)
}
