package main

import (
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// A drawnRounds is a family of loops with synthetic trip counts, as it is printed.
type drawnRounds struct {
	Of           string `json:"of"`
	Precision    int    `json:"precision"`
	Seed         uint64 `json:"seed"`
	Runs         uint64 `json:"runs"`
	distribution        // distribution of the trip counts in the original trace
}

// drawnOf lists the families of loops in a trace that have synthetic trip counts, with the first call of each family.
func drawnOf(r *trace.Reader, where *places) ([]drawnRounds, error) {
	list, err := r.SyntheticLoops()
	if err != nil || list == nil {
		return nil, err
	}
	seed, err := r.SyntheticSeed()
	if err != nil {
		return nil, err
	}
	out := make([]drawnRounds, len(list))
	for i, x := range list {
		out[i] = drawnRounds{Precision: x.PrecisionPercent, Seed: seed, Runs: x.LoopRuns, distribution: distributionOf(x.Least, x.Most, x.Bins)}
	}
	for class := range r.Classes() {
		k, err := r.Rank(r.Members(class)[0])
		if err != nil {
			return nil, err
		}
		for t := range k.Terminals() {
			family := k.SyntheticLoopsIndex(t)
			if family < 0 || out[family].Of != "" {
				continue
			}
			c := k.CallWithoutParams(t)
			out[family].Of = fmt.Sprintf("%s at %s", c.Name(), where.text(c.Site))
		}
	}
	return out, nil
}

// text describes the family of loops in a line.
func (d *drawnRounds) text() string {
	return fmt.Sprintf("trip counts of loops with %s, as one of %d: %d (rank %d) to %d (rank %d) in %s before; tolerance %s, seed %d", d.Of, len(d.Bins),
		d.Least, d.LeastRank, d.Most, d.MostRank, show.FormatPlural(d.Runs, "run"), toleranceText(d.Precision), d.Seed)
}

// keptText lists why a reduction left trip counts or intervals unchanged, and how many for each reason.
func keptText(list []reduce.KeptReason, of, what string) string {
	return strings.Join(several(list, mostKept, "other reasons", func(k reduce.KeptReason) string {
		if k.Count == 0 {
			return k.Why
		}
		return k.Why + ", " + of + " " + show.FormatPlural(k.Count, what)
	}), "; ")
}

// mostKept is how many reasons keptText lists at most.
const mostKept = 4

// drawnMark returns the remark printed after a call in a loop with a synthetic trip count. family is the index of the
// loop's family in list; -1: the call is in no such loop.
func drawnMark(list []trace.SyntheticLoops, family int) string {
	if family < 0 {
		return ""
	}
	x := &list[family]
	return fmt.Sprintf(" # trip count synthetic, of %s..%s", show.FormatGrouped(uint64(x.Least.Value)), show.FormatGrouped(uint64(x.Most.Value)))
}

// A drawnMessages is a family of synthetic messages, as it is printed.
type drawnMessages struct {
	Seed      uint64       `json:"seed"`
	Intervals uint64       `json:"intervals"`
	Rounds    uint64       `json:"exchanges"`
	Different int          `json:"different"`
	Ring      bool         `json:"ring"`
	Messages  uint64       `json:"messages"` // number of the family's messages in the original trace
	Relative  distribution `json:"relative_ranks"`
	Sizes     distribution `json:"sizes"`
	Tags      distribution `json:"tags"`
	Numbers   distribution `json:"messages_of_a_rank"`
}

// A distribution is the least and greatest of some values, with ranks that have them, and a histogram, as it is
// printed.
type distribution struct {
	Least     int64       `json:"least"`
	LeastRank int         `json:"least_rank"`
	Most      int64       `json:"most"`
	MostRank  int         `json:"most_rank"`
	Bins      []mergedBin `json:"bins"`
}

func drawnMessagesOf(list []trace.SyntheticMessages) (out []drawnMessages) {
	of := func(d *trace.Distribution) distribution { return distributionOf(d.Least, d.Most, d.Bins) }
	for i := range list {
		p := &list[i]
		out = append(out, drawnMessages{
			Seed: p.Seed, Intervals: p.Intervals, Rounds: p.ExchangeCount, Different: p.DistinctExchanges, Ring: p.WrapsAround, Messages: p.RankDistances.Count(),
			Relative: of(&p.RankDistances), Sizes: of(&p.Sizes), Tags: of(&p.Tags), Numbers: of(&p.MessagesPerInterval),
		})
	}
	return out
}

type mergedBin struct {
	Low   int64  `json:"low"`
	Mean  int64  `json:"mean"`
	High  int64  `json:"high"`
	Count uint64 `json:"count"`
}

func distributionOf(least, most trace.Extreme, bins []trace.Bin) distribution {
	out := distribution{Least: least.Value, LeastRank: least.Rank, Most: most.Value, MostRank: most.Rank}
	for _, b := range bins {
		out.Bins = append(out.Bins, mergedBin{b.Low, b.ReplacingValue, b.High, b.Count})
	}
	return out
}

// text describes the family of messages in a line.
func (d *drawnMessages) text() string {
	around := ""
	if d.Ring {
		around = ", around a ring"
	}
	return fmt.Sprintf("%s in %s between collective calls, as %s of %d; distances %+d (rank %d) to %+d (rank %d)%s; sizes %s (rank %d) to %s (rank %d); tags %d to %d; %s to %s from a rank in an interval before; seed %d",
		show.FormatPlural(d.Messages, "message"), show.FormatPlural(d.Intervals, "interval"), show.FormatPlural(d.Rounds, "exchange"), d.Different,
		d.Relative.Least, d.Relative.LeastRank, d.Relative.Most, d.Relative.MostRank, around,
		show.FormatBytes(d.Sizes.Least), d.Sizes.LeastRank, show.FormatBytes(d.Sizes.Most), d.Sizes.MostRank,
		d.Tags.Least, d.Tags.Most, show.FormatGrouped(uint64(d.Numbers.Least)), show.FormatGrouped(uint64(d.Numbers.Most)), d.Seed)
}

// appendPartnersJSON completes a call's JSON object, which lacks the closing brace, with the ranges from which
// partners, sizes and tags were drawn.
func appendPartnersJSON(b []byte, p *trace.SyntheticMessages) []byte {
	return fmt.Appendf(b, `,"partner_drawn":[%d,%d],"bytes_drawn":[%d,%d],"tag_drawn":[%d,%d]}`, p.RankDistances.Least.Value, p.RankDistances.Most.Value,
		p.Sizes.Least.Value, p.Sizes.Most.Value, p.Tags.Least.Value, p.Tags.Most.Value)
}
