package database

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/once"
)

// shape inserts the profile of a class of ranks: its call sites, threads, and the nodes of their call trees in
// preorder. sites are the row ids of the profile's call sites.
func (w *writer) shape(run int64, p *profile.Profile, sites []int64) {
	thread := w.insert("thread", "run", "class", "thread", "rank", "varies", "times", "times_of", "shared", "calls", "gap_ns", "ns", "bytes_out", "bytes_in")
	called := w.insert("called", "run", "class", "number", "site", "text", "short")
	if w.err == nil && len(sites) != len(p.Sites) {
		w.err = fmt.Errorf("class %d: %d call sites, and %d in its profile", p.Class, len(sites), len(p.Sites))
		return
	}
	for i, s := range p.Sites {
		called(run, p.Class, i+1, sites[i], s.Text, s.ShortText)
	}
	for i := range p.Threads {
		t := &p.Threads[i]
		thread(run, p.Class, t.Number, p.Rank, p.TripCountsVary, p.TimesKind, len(p.TimedRanks), t.SharedMeanCalls, t.Total.Calls, t.Total.ComputeNs, t.Total.InCallsNs(),
			t.Total.BytesOut, t.Total.BytesIn)
	}
	w.number = 0
	w.nodes(run, p, sites)
}

// nodes inserts the nodes of a profile's call trees. Their numbers in the class continue at w.number.
func (w *writer) nodes(run int64, p *profile.Profile, sites []int64) {
	node := w.insert("node", "run", "class", "number", "thread", "parent", "kind", "site", "part", "entered", "rounds", "least", "most", "step",
		"calls", "gap_ns", "ns", "bytes_out", "bytes_in", "entry_gap_ns", "further_gap_ns", "first_gap_ns", "first_ns", "peers", "lanes", "attached", "function", "called_from",
		"by_code", "place", "at_least", "unsure", "branches")
	for i := range p.Threads {
		t := &p.Threads[i]
		var body func(list []*calltree.Node, parent any)
		body = func(list []*calltree.Node, parent any) {
			for _, n := range list {
				w.number++
				of := w.number
				var at, part any
				if n.SiteNumber > 0 {
					at = sites[n.SiteNumber-1]
				}
				if n.PartNumber > 0 {
					part = n.PartNumber
				}
				s := &n.Sums
				node(run, p.Class, of, t.Number, parent, n.Kind, at, part, n.Entries, n.Rounds, n.LeastRounds, n.MostRounds, n.RoundsStep, s.Calls, s.ComputeNs, s.InCallsNs(),
					s.BytesOut, s.BytesIn, n.EntryComputeNs, n.LaterIterationComputeNs, n.FirstComputeNs, n.FirstCallNs, text(n.PeerFormulas), w.json(n.VaryingValues), w.json(s.Values), text(n.Function), text(n.CallerPlace),
					p.FromMachineCode, text(n.Place), n.RoundsAreLowerBound, n.EntriesAreLowerBound, w.json(n.Branches))
				body(n.Body, of)
			}
		}
		body(t.Body, nil)
	}
}

// text returns s for SQL, with null for "".
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// json encodes a list as JSON text; a nil list becomes SQL null.
func (w *writer) json(list any) any {
	b, err := json.Marshal(list)
	w.err = cmp.Or(w.err, err)
	if string(b) == "null" {
		return nil
	}
	return string(b)
}

// Profiles returns the profiles of a run's classes, as spoor calltree shows them: of one class, or of all if class is
// -1. If code is set and the machine code was known, loops are those of the code. Else they are those found in the
// order of calls.
func (d *DB) Profiles(run Run, class int, code bool) ([]*profile.Profile, error) {
	x := &restored{run: run, of: make(map[int]*profile.Profile), nodes: make(map[[2]int]*calltree.Node), numbers: make(map[[2]int64]int)}
	first, last := class, class
	if class < 0 {
		first, last = 0, math.MaxInt32
	}
	for _, ask := range []struct {
		statement string
		row       func(rows *sql.Rows) error
	}{
		{"select class, rank from rank where run = ?1 and class between ?2 and ?3 order by rank", x.rank},
		{`select called.class, called.number, called.site, function, text, short from called join site on site.id = called.site
			where run = ?1 and class between ?2 and ?3 order by class, number`, x.called},
		{`select class, thread, rank, varies, times, times_of, shared, calls, gap_ns, ns, bytes_out, bytes_in from thread
			where run = ?1 and class between ?2 and ?3 order by class, thread`, x.thread},
		{`select class, number, thread, parent, kind, site, part, entered, rounds, least, most, step, calls, gap_ns, ns, bytes_out, bytes_in, entry_gap_ns, further_gap_ns, first_gap_ns, first_ns,
			coalesce(peers, ''), lanes, attached, coalesce(function, ''), coalesce(called_from, ''), by_code, coalesce(place, ''), at_least, unsure, branches from node
			where run = ?1 and class between ?2 and ?3 and by_code = (select max(by_code) from node as of where of.run = ?1 and of.class = node.class and of.by_code <= ?4)
			order by class, number`, x.node},
	} {
		args := []any{run.ID, first, last}
		if strings.Contains(ask.statement, "?4") {
			args = append(args, code)
		}
		if err := d.each(ask.statement, args, ask.row); err != nil {
			return nil, d.failed(err)
		}
	}
	if len(x.list) == 0 && class >= 0 {
		return nil, fmt.Errorf("%s: run %d has no class %d", d.path, run.ID, class)
	}
	slices.SortFunc(x.list, func(a, b *profile.Profile) int { return cmp.Compare(a.Class, b.Class) })
	return x.list, nil
}

// each runs an SQL statement with arguments, and calls row for each row of the result.
func (d *DB) each(statement string, args []any, row func(rows *sql.Rows) error) error {
	rows, err := d.db.Query(statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// restored is the profiles of a run while they are rebuilt from the database.
type restored struct {
	run     Run
	list    []*profile.Profile
	of      map[int]*profile.Profile
	nodes   map[[2]int]*calltree.Node // by class and the node's number in it, from 1
	numbers map[[2]int64]int          // by class and row id of a site: the site's number in the class's profile, from 1
}

func (x *restored) rank(rows *sql.Rows) error {
	var class, rank int
	if err := rows.Scan(&class, &rank); err != nil {
		return err
	}
	p := once.GetOrAppend(x.of, class, &x.list, func() *profile.Profile {
		return &profile.Profile{Tree: &calltree.Tree{Trace: x.run.Path, Command: x.run.Command, WorldRanks: x.run.Ranks, Class: class, Threads: []calltree.Thread{}}}
	})
	p.ClassRanks = append(p.ClassRanks, rank)
	return nil
}

func (x *restored) called(rows *sql.Rows) error {
	var class, number int
	var site int64
	var s calltree.Site
	if err := rows.Scan(&class, &number, &site, &s.Function, &s.Text, &s.ShortText); err != nil {
		return err
	}
	x.numbers[[2]int64{int64(class), site}] = number
	x.of[class].Sites = append(x.of[class].Sites, s)
	return nil
}

func (x *restored) thread(rows *sql.Rows) error {
	var class, of int
	var t calltree.Thread
	var p calltree.Tree
	if err := rows.Scan(&class, &t.Number, &p.Rank, &p.TripCountsVary, &p.TimesKind, &of, &t.SharedMeanCalls, &t.Total.Calls, &t.Total.ComputeNs, &t.Total.MPINs,
		&t.Total.BytesOut, &t.Total.BytesIn); err != nil {
		return err
	}
	to := x.of[class]
	to.Rank, to.TripCountsVary, to.TimesKind, to.TimedRanks = p.Rank, p.TripCountsVary, p.TimesKind, to.ClassRanks[:min(of, len(to.ClassRanks))]
	to.Threads = append(to.Threads, t)
	return nil
}

func (x *restored) node(rows *sql.Rows) error {
	var class, number, thread int
	var parent, site, part *int64
	var lanes, attached, branches []byte
	var coded bool
	n := &calltree.Node{}
	s := &n.Sums
	if err := rows.Scan(&class, &number, &thread, &parent, &n.Kind, &site, &part, &n.Entries, &n.Rounds, &n.LeastRounds, &n.MostRounds, &n.RoundsStep, &s.Calls, &s.ComputeNs,
		&s.MPINs, &s.BytesOut, &s.BytesIn, &n.EntryComputeNs, &n.LaterIterationComputeNs, &n.FirstComputeNs, &n.FirstCallNs, &n.PeerFormulas, &lanes, &attached, &n.Function, &n.CallerPlace, &coded, &n.Place, &n.RoundsAreLowerBound, &n.EntriesAreLowerBound, &branches); err != nil {
		return err
	}
	x.of[class].FromMachineCode = coded
	if site != nil {
		n.SiteNumber = x.numbers[[2]int64{int64(class), *site}]
	}
	if part != nil {
		n.PartNumber = int(*part)
	}
	for _, list := range []struct {
		from []byte
		to   any
	}{{lanes, &n.VaryingValues}, {attached, &s.Values}, {branches, &n.Branches}} {
		if list.from != nil {
			if err := json.Unmarshal(list.from, list.to); err != nil {
				return fmt.Errorf("node %d of class %d: %w", number, class, err)
			}
		}
	}
	x.nodes[[2]int{class, number}] = n
	if parent != nil {
		in := x.nodes[[2]int{class, int(*parent)}]
		in.Body = append(in.Body, n)
		return nil
	}
	threads := x.of[class].Threads
	for i := range threads {
		if threads[i].Number == thread {
			threads[i].Body = append(threads[i].Body, n)
		}
	}
	return nil
}
