package profile

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/trace"
)

// A View limits what is shown of a profile.
type View struct {
	Width int // columns of the terminal
	// MinTimeNs is the time in ns below which neighbouring nodes share a line. Negative: a limit with which a thread's
	// lines fit.
	MinTimeNs         float64
	ExpandedLoopDepth int // number of nested loops that are shown open; deeper ones are one line; negative: no limit
}

// fitting is the number of lines of a thread to which a negative View.MinTimeNs limits the text, if possible.
const fitting = 60

// A row is one line of the printed tree.
type row struct {
	text  string
	chain []string // functions that follow the text, each called by the one before
	after string   // text after the chain
	note  string   // text for a line of its own below this one
	site  string
	sums  *calltree.Sums
	calls string
	per   uint64
}

// whole returns the text with unshortened names.
func (x *row) whole() string { return x.text + chained(x.chain) + x.after }

// Text writes the profile as an indented tree.
func (p *Profile) Text(w io.Writer, v View) {
	for i := range p.Threads {
		if i > 0 {
			fmt.Fprintln(w)
		}
		t := &p.Threads[i]
		p.lines(w, p.HeadText(t), t.Body, t.Total.TotalNs(), v)
	}
}

// lines writes nodes and their subtrees as a table below a title line. total is the thread's time in ns.
func (p *Profile) lines(w io.Writer, title string, body []*calltree.Node, total float64, v View) {
	hidden := v.MinTimeNs
	lister := rows{p: p, callers: p.Threads == nil, depth: v.ExpandedLoopDepth}
	if hidden >= 0 {
		lister.min = hidden
		lister.body(body, 0, 0)
	} else {
		for _, share := range []float64{0, 0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05} {
			hidden = share * total
			lister = rows{p: p, callers: p.Threads == nil, depth: v.ExpandedLoopDepth, min: hidden, imports: total / 100}
			if lister.body(body, 0, 0); len(lister.list) <= fitting {
				break
			}
		}
	}
	out := table{w: w, width: v.Width, total: total, timeless: p.Timeless(),
		files: slices.ContainsFunc(body, func(n *calltree.Node) bool { return n.Sums.FileNs > 0 }),
	}
	out.write(title, lister.list)
	if lister.closed && hidden == 0 {
		fmt.Fprintln(w, "What imports call is put together; --min-time 0 shows each call.")
	}
	if lister.left > 0 && v.MinTimeNs < 0 && hidden > 0 {
		fmt.Fprintf(w, "Lines below %s are put together; --min-time 0 shows each.\n", show.FormatDuration(hidden))
	}
	p.legend(w, body)
}

// legend explains the loop marks that occur.
func (p *Profile) legend(w io.Writer, body []*calltree.Node) {
	any := func(mark func(*calltree.Node) bool) bool {
		var look func(list []*calltree.Node) bool
		look = func(list []*calltree.Node) bool {
			return slices.ContainsFunc(list, func(n *calltree.Node) bool { return mark(n) || look(n.Body) })
		}
		return look(body)
	}
	for _, x := range []struct {
		mark func(*calltree.Node) bool
		text string
	}{
		{func(n *calltree.Node) bool { return n.RoundsAreLowerBound && n.Kind == "recursion" }, "≥ of recursive calls: stacks that were cut short are not counted."},
		{func(n *calltree.Node) bool { return p.FromMachineCode && n.Kind == "loop" && n.Place == "" }, "loops without a place: by the order of calls, as their function calls itself."},
		{func(n *calltree.Node) bool { return n.RoundsAreLowerBound && n.Kind == "loop" }, "≥: the code has iterations in which MPI is not called; these are not counted."},
		{func(n *calltree.Node) bool { return n.EntriesAreLowerBound }, "(?): perhaps entered more often, with fewer iterations each time: the calls do not show which of several loops iterated."},
		{func(n *calltree.Node) bool { return len(n.Branches) > 0 }, "either, or, if: alternatives in the code, and in how many iterations their calls were made, and which, counted from 0."},
		{func(n *calltree.Node) bool { return countedText(n) != "" }, "counted: by the program itself, all iterations of the loop together."},
		{func(n *calltree.Node) bool { return n.Kind == "elsewhere" }, p.elsewhere()},
	} {
		if any(x.mark) {
			fmt.Fprintln(w, x.text)
		}
	}
}

// elsewhere returns the legend for calls whose place in the code is not known.
func (p *Profile) elsewhere() string {
	text := "elsewhere: calls whose place in the code isn't known"
	if p.ExceededStackLimit > 0 {
		text += fmt.Sprintf("; of some only %d frames of the stack", p.ExceededStackLimit)
	}
	if p.ExceededStackLimit > 0 && p.ExceededStackLimit < tree.MaxFrames {
		text += fmt.Sprintf(", spoor run --stack %d keeps more", min(tree.MaxFrames, max(32, 2*p.ExceededStackLimit)))
	}
	return text + "."
}

// HeadText returns the head line of a thread's profile.
func (p *Profile) HeadText(t *calltree.Thread) string {
	who := fmt.Sprintf("rank %d", p.Rank)
	if n := len(p.ClassRanks); n > 1 {
		who += fmt.Sprintf(", as all %s ranks of class %d", show.FormatGrouped(uint64(n)), p.Class)
		if n == p.WorldRanks {
			who = fmt.Sprintf("rank %d, as all ranks", p.Rank)
		}
		if p.TripCountsVary {
			who += ", which run loops unequally often"
		}
	}
	if t.Number > 0 {
		who += fmt.Sprintf(", thread %d", t.Number)
		if t.StartFunction != "" {
			who += " (" + t.StartFunction + ")"
		}
	}
	switch {
	case len(p.ClassRanks) == 1, p.Timeless():
	case len(p.TimedRanks) == len(p.ClassRanks):
		who += ", mean times"
	case len(p.TimedRanks) == 1:
		who += ", own times"
	default:
		who += fmt.Sprintf(", mean times of %s of them", show.FormatGrouped(uint64(len(p.TimedRanks))))
	}
	if p.TimesKind == "bounded" {
		who += " within their bounds"
	}
	if t.SharedMeanCalls > 0 {
		who += fmt.Sprintf(" (at %s the mean of equal calls)", show.FormatPlural(t.SharedMeanCalls, "place"))
	}
	if p.Timeless() {
		return fmt.Sprintf("%s: %s calls, %v", who, show.FormatGrouped(t.Total.Calls), trace.ErrNoTimes)
	}
	return fmt.Sprintf("%s: %s calls, %s computing, %s", who, show.FormatGrouped(t.Total.Calls), show.FormatDuration(t.Total.ComputeNs), t.Total.InCallsText())
}

// rows makes the rows of the printed table from a tree's nodes.
type rows struct {
	p       *Profile
	callers bool // depth limits nested functions, not nested loops
	depth   int
	min     float64
	imports float64 // ns: the import of a module is one row if none of its nodes takes longer
	closed  bool    // the import of some module is one row
	left    int     // number of nodes without a row of their own
	list    []row
}

// body adds rows for nodes and their subtrees. level is their indentation, loops the number of loops around them, which
// r.depth limits.
func (r *rows) body(nodes []*calltree.Node, level, loops int) {
	var small []*calltree.Node
	flush := func() {
		if len(small) == 1 {
			r.node(small[0], level, loops)
		} else if len(small) > 1 {
			r.left += len(small)
			r.several(small, level)
		}
		small = nil
	}
	for _, n := range nodes {
		if max(n.Sums.TotalNs(), n.AllArmsNs) < r.min {
			small = append(small, n)
			continue
		}
		flush()
		r.node(n, level, loops)
	}
	flush()
}

// several puts neighbouring nodes that take little time on one line.
func (r *rows) several(nodes []*calltree.Node, level int) {
	var sum calltree.Sums
	for _, n := range nodes {
		sum.Add(&n.Sums)
	}
	r.list = append(r.list, row{text: indent(level) + r.names(nodes), sums: &sum, calls: show.FormatGrouped(sum.Calls)})
}

// names lists the functions called below some nodes, most frequent first.
func (r *rows) names(nodes []*calltree.Node) string {
	const room = 3
	calls := make(map[string]uint64)
	for _, n := range nodes {
		r.functions(n, calls)
	}
	names := slices.SortedFunc(maps.Keys(calls), func(a, b string) int {
		return cmp.Or(cmp.Compare(calls[b], calls[a]), strings.Compare(a, b))
	})
	text := "… " + strings.Join(names[:min(len(names), room)], ", ")
	if len(names) > room {
		text += " and others"
	}
	return text
}

// functions adds the numbers of calls in a node's subtree to calls, by function.
func (r *rows) functions(n *calltree.Node, calls map[string]uint64) {
	if n.SiteNumber > 0 {
		calls[r.p.Sites[n.SiteNumber-1].Function] += n.Sums.Calls
	}
	for _, c := range n.Body {
		r.functions(c, calls)
	}
}

// deepest is the largest level of indentation: beyond it there would be no room for text.
const deepest = 20

func indent(level int) string { return strings.Repeat("  ", min(level, deepest)) }

func (r *rows) node(n *calltree.Node, level, loops int) {
	x := row{text: indent(level), sums: &n.Sums, calls: show.FormatGrouped(n.Sums.Calls)}
	open := false
	switch n.Kind {
	case "call":
		site := &r.p.Sites[n.SiteNumber-1]
		if n.MostRounds > 1 {
			x.text += TripCountText(n) + " × "
		}
		x.text += site.Function
		x.onset(n, level)
		if n.PeerFormulas != "" {
			x.text += " " + n.PeerFormulas
		}
		if len(n.VaryingValues) > 0 {
			x.text += " (" + strings.Join(n.VaryingValues, ", ") + ")"
		}
		if size := perCall(&n.Sums); size != "" {
			x.text += "  " + size
		}
		for i := range n.Sums.Values {
			x.text += "  " + n.Sums.Values[i].String()
		}
		x.site, x.per = site.Place(), n.Sums.Calls
		if n.Place != "" {
			x.site = n.Place
		}
		if x.site == symbolise.InterpretedFrameName { // the row above names the code
			x.site = ""
		}
	case "function":
		if n.Entries > 1 {
			x.text += show.FormatGrouped(n.Entries) + " × "
		}
		x.per = n.Entries
		x.chain = []string{n.Function}
		if r.callers {
			loops++
		}
		// Number of directly nested calls of the same function. Above 1 the text has "…", as the recorder may leave
		// some out.
		again := 0
		for len(n.Body) == 1 && n.Body[0].Kind == "function" && n.Body[0].Entries == n.Entries {
			if !strings.HasPrefix(n.CallerPlace, "+0x") {
				x.site = n.CallerPlace
			}
			inner := n.Body[0]
			if again++; inner.Function != n.Function {
				again = 0
			}
			switch again {
			case 0, 1:
				x.chain = append(x.chain, inner.Function)
			case 2:
				x.chain = append(x.chain, "…")
			}
			n = inner
		}
		// Of the places from which the functions are called, show the innermost whose source line is known.
		if x.site == "" || !strings.HasPrefix(n.CallerPlace, "+0x") {
			x.site = n.CallerPlace
		}
		open = true
	case "loop":
		x.text += TripCountText(n) + " times"
		x.onset(n, level)
		if n.LeastRounds == 1 && n.MostRounds == 1 && !n.RoundsAreLowerBound && !n.EntriesAreLowerBound {
			x.text = indent(level) + "once"
		}
		nested := 1
		for len(n.Body) == 1 && n.Body[0].Kind == "loop" && countedText(n) == "" && countedText(n.Body[0]) == "" && TripCountText(n) == TripCountText(n.Body[0]) {
			nested++
			n = n.Body[0]
		}
		if nested > 1 {
			x.text += fmt.Sprintf(", in each of %d nested loops", nested)
		}
		x.text += countedText(n)
		x.per, x.site = n.Rounds, n.Place
		open = true
		loops += nested
	case "recursion":
		x.text += TripCountText(n) + " recursive calls each time"
		x.per = n.Rounds
		open = true
		loops++
	case "elsewhere":
		x.text += "elsewhere"
		open = true
	case "way":
		x.text += n.Function
		x.per = n.Rounds
		open = true
	case "part":
		loops++
		if x.text += fmt.Sprintf("part %d", n.PartNumber); n.Body == nil {
			x.text += ", see above"
		}
		x.per = n.Entries
		open = n.Body != nil
	}
	large := func(c *calltree.Node) bool { return c.Sums.TotalNs() >= r.min }
	closed := open && n.Kind != "way" && (r.depth >= 0 && loops > r.depth || len(n.Body) > 1 && !slices.ContainsFunc(n.Body, large))
	if r.imports > 0 && open && !closed && strings.HasPrefix(n.Function, symbolise.PythonImportPrefix) {
		closed = !slices.ContainsFunc(n.Body, func(c *calltree.Node) bool { return c.Sums.TotalNs() >= r.imports })
		r.closed = r.closed || closed
	}
	if closed {
		x.after = ": " + r.names([]*calltree.Node{n})
		r.left++
	}
	r.list = append(r.list, x)
	if open && !closed {
		r.body(n.ShownBody(), level+1, loops)
	}
}

// onset writes how the first occurrence of a loop or call differs from the others.
func (x *row) onset(n *calltree.Node, level int) {
	if n.FirstComputeNs == nil && n.FirstCallNs == nil {
		x.text += n.EntryNote()
	} else if text := n.EntryNote(); text != "" {
		x.note = indent(level) + "  " + strings.TrimPrefix(text, ", ")
	}
}

// TripCountText returns a loop's trip count as text (e.g. "≥ 10–12").
func TripCountText(n *calltree.Node) string {
	text := rounds(n)
	if n.RoundsAreLowerBound {
		text = "≥ " + text
	}
	if n.EntriesAreLowerBound {
		text += " (?)"
	}
	return text
}

func rounds(n *calltree.Node) string {
	switch {
	case n.LeastRounds == n.MostRounds:
		return show.FormatGrouped(n.LeastRounds)
	case n.RoundsStep > 0:
		return fmt.Sprintf("%s, %s … %s", show.FormatGrouped(n.LeastRounds), show.FormatGrouped(n.LeastRounds+uint64(n.RoundsStep)), show.FormatGrouped(n.MostRounds))
	case n.RoundsStep < 0:
		return fmt.Sprintf("%s, %s … %s", show.FormatGrouped(n.MostRounds), show.FormatGrouped(n.MostRounds+uint64(n.RoundsStep)), show.FormatGrouped(n.LeastRounds))
	}
	return show.FormatGrouped(n.LeastRounds) + "–" + show.FormatGrouped(n.MostRounds)
}

// perCall returns the mean bytes per call as text; "" if no data moved.
func perCall(s *calltree.Sums) string {
	out, in := s.BytesOut/max(1, s.Calls), s.BytesIn/max(1, s.Calls)
	switch {
	case out == 0 && in == 0:
		return ""
	case out == in || in == 0:
		return show.FormatBytes(out)
	case out == 0:
		return show.FormatBytes(in)
	}
	return show.FormatBytes(out) + " out, " + show.FormatBytes(in) + " in"
}

// A table aligns columns of numbers in front of a text that may be shortened.
type table struct {
	w     io.Writer
	width int
	total float64

	timeless bool // without columns of times
	files    bool // the table has calls on files as well as MPI calls
}

const (
	narrowest = 60
	wide      = 112 // least width, in characters, of a table with columns of means
)

func (t *table) write(title string, list []row) {
	width := max(t.width, narrowest)
	means := width >= wide
	inside, short := "inside MPI", "in MPI"
	if t.files {
		inside, short = "  in calls", "in calls"
	}
	if who, rest, ok := strings.Cut(title, ": "); ok && utf8.RuneCountInString(title) > width {
		t.line(cut(who+":", width))
		title = rest
	}
	t.line(cut(title, width))
	if t.timeless {
		t.line("     calls")
	} else if means {
		t.line("")
		t.line("           computing before        " + inside)
		t.line("  share    total     mean     total     mean      calls")
	} else {
		t.line("  share  compute " + fmt.Sprintf("%8s", short) + "      calls")
	}
	longest := 0
	var functions []string
	for i := range list {
		longest = max(longest, utf8.RuneCountInString(list[i].whole()))
		functions = append(functions, list[i].chain...)
	}
	names := show.NewNameShortener(functions)
	for i := range list {
		x := &list[i]
		numbers := t.times(x, means) + fmt.Sprintf("%10s  ", x.calls)
		room := width - utf8.RuneCountInString(numbers)
		text := x.fit(names, room)
		if x.site != "" {
			// Places are aligned in a column if the width allows it. If not, a short place takes precedence over the
			// text before it, except over a function's name.
			column := min(longest, room*3/5)
			if n := utf8.RuneCountInString(text); n < column {
				text += strings.Repeat(" ", column-n)
			}
			beside := room - utf8.RuneCountInString(text) - 2
			site := cut(names.ShortenPlace(x.site, beside), max(beside, room*2/5))
			if over := utf8.RuneCountInString(text) - (room - utf8.RuneCountInString(site) - 2); over > 0 {
				column = utf8.RuneCountInString(text) - over
				text = x.fit(names, column)
				text += strings.Repeat(" ", max(0, column-utf8.RuneCountInString(text)))
			}
			text += "  " + site
		}
		t.line(numbers + cut(text, room))
		if x.note != "" {
			t.line(strings.Repeat(" ", utf8.RuneCountInString(numbers)) + cut(x.note, room))
		}
	}
}

// times writes a row's columns of times, and a blank after them.
func (t *table) times(x *row, means bool) string {
	if t.timeless {
		return ""
	}
	numbers := fmt.Sprintf("%7s %8s", show.Percentage(x.sums.TotalNs(), t.total), show.FormatDuration(x.sums.ComputeNs))
	if !means {
		return numbers + fmt.Sprintf(" %8s ", show.FormatDuration(x.sums.InCallsNs()))
	}
	compute, inside, per := "", "", float64(max(1, x.per))
	if x.per > 0 {
		compute, inside = show.FormatDuration(x.sums.ComputeNs/per), show.FormatDuration(x.sums.InCallsNs()/per)
	}
	return numbers + fmt.Sprintf(" %8s  %8s %8s ", compute, show.FormatDuration(x.sums.InCallsNs()), inside)
}

func (t *table) line(s string) {
	fmt.Fprintln(t.w, strings.TrimRight(s, " "))
}

// cut shortens a text to width characters, the last of which is then "…".
func cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width || width < 1 {
		return s
	}
	r := []rune(s)
	return string(r[:width-1]) + "…"
}
