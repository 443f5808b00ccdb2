package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

type histogramOptions struct {
	calls       []string
	site        string
	ranks       string // value of --rank, which has to be a single rank
	rank        int
	gaps, paths bool
	output
	debug []string
}

// histogramFlags are the flags of spoor profile that may be given only with --histogram.
var histogramFlags = []string{"site", "before", "by-previous"}

func (o *histogramOptions) flags(f *pflag.FlagSet) {
	f.StringSliceVarP(&o.calls, "call", "c", nil, "only these `functions`; * and ? match, MPI_ may be left out")
	f.StringVarP(&o.site, "site", "s", "", "only this call `site`: its number, or a place such as solver.c:120")
	f.BoolVar(&o.gaps, "before", false, "the times before calls instead; JSON and CSV have both")
	f.BoolVar(&o.paths, "by-previous", false, "separate calls by the call before them")
}

func runHistogram(cmd *cobra.Command, r *trace.Reader, o *histogramOptions) error {
	if err := parseCalls(o.calls); err != nil {
		return &usageError{cmd, err}
	}
	o.rank = -1
	if o.ranks != "" {
		list, err := parseList(o.ranks, r.Ranks())
		if err == nil && len(list) > 1 {
			err = fmt.Errorf("%s: with --histogram only one rank", o.ranks)
		}
		if err != nil {
			return &usageError{cmd, fmt.Errorf("--rank: %w", err)}
		}
		o.rank = list[0]
	}
	if err := r.RequireTimes(); err != nil {
		return err
	}
	where, err := placesOf(r, o.debug)
	if err != nil {
		return err
	}
	named, sited, both, sites := false, false, false, 0
	p := newProgress(cmd.ErrOrStderr(), "counting times", r.Ranks())
	rep, err := profile.HistogramsOf(r, profile.HistogramOptions{
		OnlyRank: o.rank, ByPrecedingCall: o.paths, NameSite: where.text,
		Wanted: func(s *profile.HistogramSite) bool {
			byName, bySite := matchesName(o.calls, s.Function), o.site == "" || where.matches(o.site, s.Number, s.Site)
			named, sited, both, sites = named || byName, sited || bySite, both || byName && bySite, s.Number
			return byName && bySite
		},
		Progress: func(done, total int) { p.done, p.total = done-1, total; p.step() },
	})
	p.end()
	switch {
	case errors.Is(err, profile.ErrNoHistograms):
		return fmt.Errorf("%s: no histograms, and no times of single calls to make them of; record them: spoor run --timing hist or lossless", r.Name())
	case err != nil:
		return err
	case !named:
		return fmt.Errorf("--call: %s: no call of %s", r.Name(), strings.Join(o.calls, ", "))
	case !sited:
		return fmt.Errorf("--site: %s: no call site %s; there are %d, listed by spoor profile --histogram --top 0", r.Name(), o.site, sites)
	case !both:
		return fmt.Errorf("%s: call site %s is of no function that --call asks for", r.Name(), o.site)
	case len(rep.Sites) == 0:
		return fmt.Errorf("%s: rank %d made no such call", r.Name(), o.rank)
	}
	defer where.complain(cmd)
	return o.print(cmd, rep, func(w io.Writer) { printHistograms(w, rep, o, terminalWidth(cmd)) },
		func(w io.Writer, _ show.View) error { histogramCSV(w, rep); return nil })
}

// matches reports whether call site s, with its number in tables, is the one that the user named by text: the number,
// or a place (e.g. solver.c:120).
func (p *places) matches(text string, number int, s trace.Site) bool {
	if n, err := strconv.Atoi(text); err == nil {
		return n == number
	}
	where := p.of(s)
	shown := where.String()
	return text == shown || text == where.ModuleOffset() || slices.Contains(strings.Fields(shown), filepath.Base(text))
}

func printHistograms(w io.Writer, rep *profile.Histograms, o *histogramOptions, width int) {
	known := map[string]string{
		"exact": "each call's own, exactly", "bounded": "each call's own, within the error that was asked for",
		"histogram": "histograms of the trace, whose single bins are estimates where they were cut or joined",
	}
	fmt.Fprintf(w, "times: %s\n", known[rep.TimesKind])
	if o.rank >= 0 && len(rep.Ranks) > 1 {
		fmt.Fprintf(w, "of rank %d's class, %s: %s\n", o.rank, show.FormatPlural(len(rep.Ranks), "rank"), show.FormatRanges(rep.Ranks))
	}
	what := func(t *profile.CallHistograms) (string, *profile.Histogram) {
		if o.gaps {
			return "gaps before", &t.Gap
		}
		return "durations of", &t.Duration
	}
	for i := range rep.Sites {
		if o.top.Rows > 0 && i == o.top.Rows {
			fmt.Fprintf(w, "\n%s more: --top 0\n", show.FormatPlural(len(rep.Sites)-o.top.Rows, "call site"))
			break
		}
		s := &rep.Sites[i]
		text, spread := what(&s.CallHistograms)
		line := fmt.Sprintf("[%d] %s at %s: %s %s", s.Number, s.Function, s.Place, text, show.FormatPlural(spread.Count, "call"))
		fmt.Fprintf(w, "\n%s\n", show.ShortenPlaces(line, s.Place))
		printSpread(w, spread, "  ", width)
		for j := range s.CallsAfterEach {
			if o.top.Rows > 0 && j == o.top.Rows {
				fmt.Fprintf(w, "\n  after %s more: --top 0\n", show.FormatPlural(len(s.CallsAfterEach)-o.top.Rows, "call site"))
				break
			}
			a := &s.CallsAfterEach[j]
			_, spread := what(&a.CallHistograms)
			head := "first of a thread"
			if a.PrecedingSiteNumber > 0 {
				head = fmt.Sprintf("after [%d] %s at %s", a.PrecedingSiteNumber, a.PrecedingFunction, a.PrecedingPlace)
			}
			fmt.Fprintf(w, "\n%s\n", show.ShortenPlaces(fmt.Sprintf("  %s: %s", head, show.FormatPlural(spread.Count, "call")), a.PrecedingPlace))
			printSpread(w, spread, "    ", width)
		}
	}
}

// longestBar is the largest width of a histogram's bar in characters.
const longestBar = 30

// printSpread writes a line for each bin of a histogram, each with a bar. width is that of the whole output.
func printSpread(w io.Writer, s *profile.Histogram, indent string, width int) {
	rows, most := s.Bins, uint64(0)
	for i := range rows {
		most = max(most, rows[i].Count)
	}
	if len(rows) > 1 {
		rows = append(slices.Clone(rows), s.HistogramBin)
	}
	for i, line := range show.TextLines(rows, func(c *show.Row, b profile.HistogramBin) {
		c.Ns("from", b.MinNs).Value("rank", rankText(b.MinRank)).Ns("to", b.MaxNs).Value("rank", rankText(b.MaxRank))
		c.Count("calls", b.Count).Ns("mean", b.MeanNs).Ns("deviation", b.DeviationNs)
	}) {
		bar := ""
		switch {
		case i == 0:
		case i <= len(s.Bins):
			if room := min(longestBar, width-len(indent)-utf8.RuneCountInString(line)-2); room > 1 && len(s.Bins) > 1 {
				bar = "  " + levelBar(s.Bins[i-1].Count, most, room)
			}
		default:
			bar = "  all"
		}
		fmt.Fprintf(w, "%s%s%s\n", indent, line, bar)
	}
}

// levelBar draws a bar whose length is n/most of width characters, to an eighth of a character, but at least one
// eighth.
func levelBar(n, most uint64, width int) string {
	eighths := max(1, int(float64(n)/float64(most)*float64(8*width)+0.5))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return bar
}

// rankText returns a rank as text, "-" if it is below 0: not known.
func rankText(rank int) string {
	if rank < 0 {
		return "-"
	}
	return strconv.Itoa(rank)
}

// histogramCSV writes a CSV row for each bin of each histogram. The column "after" is the number of the call site of
// the thread's previous call: "" for all together, 0 for first calls of threads.
func histogramCSV(w io.Writer, rep *profile.Histograms) {
	type row struct {
		profile.HistogramBin
		site        profile.HistogramSite
		after, what string
	}
	show.WriteCSV(w, func(add func(row)) {
		for _, s := range rep.Sites {
			table := func(after string, t *profile.CallHistograms) {
				for _, b := range t.Duration.Bins {
					add(row{b, s, after, "duration"})
				}
				for _, b := range t.Gap.Bins {
					add(row{b, s, after, "gap"})
				}
			}
			table("", &s.CallHistograms)
			for j := range s.CallsAfterEach {
				table(strconv.Itoa(s.CallsAfterEach[j].PrecedingSiteNumber), &s.CallsAfterEach[j].CallHistograms)
			}
		}
	}, func(c *show.Row, r row) {
		c.Value("number", r.site.Number).Text("function", r.site.Function).Text("site", r.site.Place).Text("after", r.after).Text("what", r.what)
		c.Value("least_ns", r.MinNs).Value("least_rank", r.MinRank).Value("most_ns", r.MaxNs).Value("most_rank", r.MaxRank)
		c.Value("calls", r.Count).Decimal("mean_ns", r.MeanNs, 1).Decimal("deviation_ns", r.DeviationNs, 1)
	})
}
