package sections

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Sites with stacks of any shape come back as they were, whatever order they
// are found in.
func TestStackedSites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sites, outer := make(map[uint64]model.Site), make(map[uint64]uint64)
		want, phases, turns := make(map[uint64]model.Site), make(map[uint64]string), make(map[uint64]int)
		n := rapid.IntRange(0, 30).Draw(t, "sites")
		for i := range n {
			h := uint64(i)*0x9e3779b97f4a7c15 + 1
			s := model.Site{Module: rapid.SampledFrom([]string{"/bin/a", "/lib/b", ""}).Draw(t, "module")}
			if s.Module != "" {
				s.Offset = rapid.Uint64Range(1, 4).Draw(t, "offset")
			}
			if rapid.IntRange(0, 9).Draw(t, "phase") == 0 {
				s = model.Site{Module: rapid.SampledFrom([]string{"solve", "setup"}).Draw(t, "name"), BuildID: model.PhaseFrameBuildID}
			}
			if rapid.IntRange(0, 9).Draw(t, "turn") == 0 {
				s = model.Site{BuildID: model.TurnFrameBuildID, Offset: rapid.Uint64Range(1, 300).Draw(t, "turn")}
			}
			sites[h] = s
			if i > 0 && s.BuildID != model.PhaseFrameBuildID && rapid.Bool().Draw(t, "outer") {
				o := uint64(rapid.IntRange(0, i-1).Draw(t, "which"))*0x9e3779b97f4a7c15 + 1
				outer[h] = o
				switch around := want[o]; around.BuildID {
				case model.PhaseFrameBuildID:
					phases[h] = around.Module
				case model.TurnFrameBuildID:
					turns[h], phases[h] = int(min(around.Offset, 255)), phases[o]
				default:
					s.Caller, phases[h], turns[h] = &around, phases[o], turns[o]
				}
			}
			want[h] = s
		}
		table := newSiteTable(sites, outer)
		for h := range sites {
			if _, ok := outer[h]; !ok && want[h].Module != "" {
				table.named[h] = true
			}
		}
		b := table.append(nil)
		r := wire.NewReader(b, "sites")
		read := DecodeSites(r)
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		seen := make(map[model.Site]uint64)
		for h, w := range want {
			got := read.List[table.number[h]]
			if p := read.Phases[table.number[h]]; p != phases[h] {
				t.Fatalf("site %#x begins phase %q, want %q", h, p, phases[h])
			}
			if n := read.Turns[table.number[h]]; n != turns[h] {
				t.Fatalf("before site %#x loop %d went round, want %d", h, n, turns[h])
			}
			if n := read.CanonicalSite(table.number[h]); n < table.number[h] || read.List[n] != got || read.Turns[n] != turns[h] {
				t.Fatalf("site %#x is like number %d, %v", h, n, read.List[n])
			}
			if o := read.CallerOf[table.number[h]]; o != table.number[outer[h]] {
				t.Fatalf("site %#x is inside of %d, want %d", h, o, table.number[outer[h]])
			}
			if d := cmp.Diff(w, got); d != "" || !got.Equal(w) {
				t.Fatalf("site %#x: -want +got:\n%s", h, d)
			}
			// Of one reader, equal sites are equal by ==.
			if o, ok := seen[got]; !ok {
				for s := range seen {
					if s.Equal(got) {
						t.Fatalf("%v is there twice", got)
					}
				}
				seen[got] = h
			} else if !want[o].Equal(w) {
				t.Fatalf("%v and %v are one", want[o], w)
			}
			if table.named[h] && !read.ByHash[h].Equal(w) {
				t.Fatalf("named %v, want %v", read.ByHash[h], w)
			}
		}
	})
}

// Only damage makes a circle of sites; it is no reason to lose the trace.
func TestSitesInACircle(t *testing.T) {
	sites := map[uint64]model.Site{1: {Module: "/bin/a", Offset: 1}, 2: {Module: "/bin/a", Offset: 2}, 3: {Module: "/bin/a", Offset: 3}}
	table := newSiteTable(sites, map[uint64]uint64{1: 2, 2: 1, 3: 4})
	list := DecodeSites(wire.NewReader(table.append(nil), "sites")).List
	if len(list) != 4 || list[table.number[3]].Offset != 3 || list[table.number[1]].Caller != nil {
		t.Errorf("sites %v", list)
	}
}
