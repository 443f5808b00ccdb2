package proxy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// exchangeLine writes a step that is an exchange.
func (g *generator) exchangeLine(v *variant, f *finish) *line {
	kinds := f.exchange[0].kinds
	var body strings.Builder
	table := func(width int, of func(m int) [][]int64) int { return g.rows(v, width, len(f.exchange), of) }
	counts := table(len(kinds), func(m int) [][]int64 { return f.exchange[m].counts })
	lists := make(map[string][]int) // by text of a test of several requests: numbers of the kinds of these requests
	for n, k := range kinds {
		c := *k.calls(f, n)
		w := &writer{g: g, v: v, c: &c, sinks: make(map[string]int), live: true}
		at, values := f.varying(n)
		c.lane = make(map[int]string)
		rows := -1
		found := (*call)(nil)
		if k.found >= 0 {
			found = f.exchange[0].v.calls[k.found]
		}
		probed := found != nil && meaning.WaitBehaviourOf(found.def).Probes
		if probed {
			for name, text := range map[string]string{"source": "status.MPI_SOURCE", "tag": "status.MPI_TAG", "count": "sent(" + w.argument(c.def.Index("datatype")) + ")"} {
				i := c.in[c.def.Index(name)].at
				if j := slices.Index(at, i); j >= 0 {
					at = slices.Delete(at, j, j+1)
					for m := range values {
						for r := range values[m] {
							values[m][r] = slices.Delete(values[m][r], j, j+1)
						}
					}
					c.lane[i] = text
				} else if name == "source" && c.vals[0][i] >= 0 {
					c.lane[i] = text
				}
			}
		}
		if len(at) > 0 {
			rows = table(len(at), func(m int) [][]int64 { return values[m] })
			for j, i := range at {
				c.lane[i] = fmt.Sprintf("ROW(%d, %d)", rows, j)
			}
		}
		call, _ := w.call()
		next := ""
		if rows >= 0 {
			next = fmt.Sprintf(" next_row(%d);", rows)
		}
		if probed {
			probe, args := g.live(v, f, k.found)
			vain := "0"
			if !found.def.Has(mpi.AttrPolls) {
				vain = fmt.Sprintf("nothing_from(%s, %s, %s)", args[0], args[1], args[2])
			}
			fmt.Fprintf(&body, "        TAKES(%d, %s, %s,%s DO(0, %s);%s%s)\n", n, vain, probe, g.asked(v, f, k.asks), call, g.asked(v, f, k.later), next)
			continue
		}
		where := "NULL"
		if b := c.buffer(); b != nil && !k.overlaps {
			where = w.memory(b.at, "NULL")
		}
		call = strings.Replace(call, "new_request()", fmt.Sprintf("opening(%d)", n), 1)
		fmt.Fprintf(&body, "        MAKES(%d, %d, %s, DO(0, %s);%s)\n", n, max(k.open, 1), where, call, next)
		if found == nil {
			continue
		}
		asked := g.asked(v, f, k.asks)
		is := meaning.WaitBehaviourOf(found.def)
		if is.Choice == meaning.ChooseOneRequest {
			guard := ""
			if is.Blocks {
				guard = "if (!none_done(1, opened_request())) "
			}
			fmt.Fprintf(&body, "        TESTS(%d, %sDO(0, %s);,%s)\n", n, guard, g.finishCall(v, found, "", "opened_request()"), asked)
			continue
		}
		key := "0, DO(0, "
		switch {
		case is.Choice == meaning.ChooseAllRequests:
			key = "not_all(), DO(0, "
		case is.Blocks:
			key = "none_done(gathered_open(), opened_requests()), DO(0, "
		}
		key += g.finishCall(v, found, "gathered_open()", "opened_requests()")
		if asked != "" {
			key += "\x00" + asked
		}
		lists[key] = append(lists[key], n)
	}
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		of := 0
		for _, n := range lists[key] {
			of |= 1 << n
		}
		call, asked, _ := strings.Cut(key, "\x00")
		fmt.Fprintf(&body, "        TESTS_OF(%#x, %s);,%s)\n", of, call, asked)
	}
	text := strings.TrimSuffix(body.String(), "\n")
	return g.shared(&line{text: func(gap string) string {
		return fmt.Sprintf("EXCHANGE(%d, %d, %s,\n%s);", counts, len(kinds), gap, text)
	}})
}

// calls returns the first call of a kind, the n-th of the exchange, with its values on each member.
func (k *kind) calls(f *finish, n int) *call {
	c := *f.exchange[0].v.calls[k.makers[0]]
	c.vals = nil
	for _, e := range f.exchange {
		c.vals = append(c.vals, e.v.calls[e.kinds[n].makers[0]].vals[e.member])
	}
	return &c
}

// varying returns the positions of the values that differ between calls of the n-th kind on some member, and these
// values by member and call.
func (f *finish) varying(n int) (at []int, values [][][]int64) {
	first := f.exchange[0].v.calls[f.exchange[0].kinds[n].makers[0]]
	for i := range first.in {
		p := first.in[i].at
		switch first.in[i].typ {
		case trace.TypeAddress:
			p++
		case trace.TypeInt:
		default:
			continue
		}
		for _, e := range f.exchange {
			list := e.kinds[n].makers
			if slices.ContainsFunc(list, func(t int) bool { return e.v.calls[t].vals[e.member][p] != e.v.calls[list[0]].vals[e.member][p] }) {
				at = append(at, p)
				break
			}
		}
	}
	for _, e := range f.exchange {
		rows := make([][]int64, 0, len(e.kinds[n].makers))
		for _, t := range e.kinds[n].makers {
			row := make([]int64, len(at))
			for j, p := range at {
				row[j] = e.v.calls[t].vals[e.member][p]
			}
			rows = append(rows, row)
		}
		values = append(values, rows)
	}
	return at, values
}

// asked writes the calls, given by their terminals, that read the status of the message that was just found.
func (g *generator) asked(v *variant, f *finish, list []int) (text string) {
	for _, t := range list {
		call, _ := g.live(v, f, t)
		text += fmt.Sprintf(" DO(0, %s);", call)
	}
	return text
}

// live writes a call about the message that was just found, and returns its arguments.
func (g *generator) live(v *variant, f *finish, t int) (text string, args []string) {
	c := *f.exchange[0].v.calls[t]
	c.vals = slices.Repeat([][]int64{c.vals[f.exchange[0].member]}, len(f.exchange))
	w := &writer{g: g, v: v, c: &c, t: t, sinks: make(map[string]int), live: true}
	return w.call()
}

// rows writes tables of the values that each member uses in order: the distinct rows, and their order. It returns the
// tables' number.
func (g *generator) rows(v *variant, width, members int, of func(m int) [][]int64) int {
	n := v.rows
	v.rows++
	rows, often := make(map[string][]int64), make(map[string]int)
	for m := range members {
		for _, row := range of(m) {
			key := fmt.Sprint(row)
			rows[key] = row
			often[key]++
		}
	}
	number := make(map[string]int) // number of each distinct row: frequent rows get small ones, which are short as text
	var values, order, first []string
	for k, key := range slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(often[b], often[a]), slices.Compare(rows[a], rows[b]))
	}) {
		number[key] = k
		for _, x := range rows[key] {
			values = append(values, literal(mpi.KindNone, x))
		}
	}
	for m := range members {
		first = append(first, fmt.Sprint(len(order)))
		last, repeated := -1, 0
		for _, row := range of(m) {
			k := number[fmt.Sprint(row)]
			if k == last {
				repeated++
				continue
			}
			if repeated > 0 {
				order = append(order, fmt.Sprint(-repeated))
			}
			order = append(order, fmt.Sprint(k))
			last, repeated = k, 0
		}
		if repeated > 0 {
			order = append(order, fmt.Sprint(-repeated))
		}
	}
	order = append(order, "0") // the table is read once more after the last row
	from := ""
	if members > 1 {
		from = fmt.Sprintf(" + %s[member]", g.table("int", first))
	}
	v.tables = append(v.tables, fmt.Sprintf("    rows(%d, %d, %s, %s%s);\n", n, width, g.table("int64_t", values), g.table("int", order), from))
	return n
}
