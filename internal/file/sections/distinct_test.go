package sections

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// drawStacks draws sites with stacks, as a writer numbers them: some functions are called from several places.
func drawStacks(t *rapid.T) *siteTable {
	sites, outer := map[uint64]model.Site{}, map[uint64]uint64{}
	n := rapid.IntRange(1, 200).Draw(t, "sites")
	offsets := rapid.Uint64Range(1, uint64(rapid.IntRange(1, 90).Draw(t, "places")))
	for i := range n {
		h := uint64(i) + 1
		sites[h] = model.Site{Module: "/bin/a", Offset: offsets.Draw(t, "offset")}
		if i > 0 && rapid.IntRange(0, 9).Draw(t, "stack") > 0 {
			outer[h] = uint64(rapid.IntRange(0, i-1).Draw(t, "outer")) + 1
		}
	}
	return newSiteTable(sites, outer)
}

// read decodes the table of sites.
func (t *siteTable) read(fail func(string, ...any)) *SiteTable {
	r := wire.NewReader(t.append(nil), "sites")
	s := DecodeSites(r)
	if err := r.Finish(); err != nil {
		fail("%v", err)
	}
	return s
}

// The numbers of sites are in the order of their places, outermost first.
func TestOrderOfSites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStacks(t).read(t.Fatalf)
		wanted := rapid.SliceOfN(rapid.Bool(), len(s.List), len(s.List)).Draw(t, "wanted")
		path := func(site int) (list []int) {
			for ; ; site = s.CallerOf[site] {
				if list = append(list, s.InnermostFrameOf[site]); s.CallerOf[site] == 0 {
					slices.Reverse(list)
					return list
				}
			}
		}
		var want []int32
		for i := range s.List {
			if wanted[s.InnermostFrameOf[i]] {
				want = append(want, int32(i))
			}
		}
		slices.SortStableFunc(want, func(a, b int32) int { return slices.Compare(path(int(a)), path(int(b))) })
		x := orderSites(s.CallerOf, s.InnermostFrameOf, func(site int) bool { return wanted[s.InnermostFrameOf[site]] })
		if !slices.Equal(x.sites, want) {
			t.Fatalf("order %v, want %v", x.sites, want)
		}
		for n, site := range want {
			if x.number[site] != int32(n) {
				t.Fatalf("site %d has number %d, want %d", site, x.number[site], n)
			}
		}
	})
}

// drawCalls draws the calls of some classes: signatures of a few groups, from sites at the places of these.
func drawCalls(t *rapid.T, sites *siteTable) (*signatureWriter, [][]signatureRef) {
	_, place := sites.shape()
	at := map[int][]int32{}
	for i := 1; i < len(place); i++ {
		at[place[i]] = append(at[place[i]], int32(i))
	}
	w := &signatureWriter{}
	for range rapid.IntRange(1, 4).Draw(t, "groups") {
		g := &SignatureGroup{Site: rapid.IntRange(1, len(sites.places)-1).Draw(t, "place"), ValueCount: 1}
		for n := range rapid.IntRange(1, 150).Draw(t, "signatures") {
			if n == 0 {
				g.start = []uint32{0}
			}
			g.number([]byte{0, byte(n), byte(n >> 8)}, 0)
		}
		w.groups = append(w.groups, g)
	}
	draw := rapid.Custom(func(t *rapid.T) signatureRef {
		g := rapid.IntRange(0, len(w.groups)-1).Draw(t, "group")
		sig := rapid.IntRange(0, w.groups[g].signatures()-1).Draw(t, "signature")
		return signatureRef{int32(g), uint32(sig), rapid.SampledFrom(at[w.groups[g].Site]).Draw(t, "site")}
	})
	classes := make([][]signatureRef, rapid.IntRange(1, 4).Draw(t, "classes"))
	for i := range classes {
		classes[i] = rapid.SliceOfN(draw, 0, 300).Draw(t, "calls")
	}
	for g, x := range w.groups { // a signature that no call has isn't there
		for n := range x.signatures() {
			classes[0] = append(classes[0], signatureRef{int32(g), uint32(n), at[x.Site][0]})
		}
	}
	return w, classes
}

// What classes call comes back, whichever signatures and sites it has; that of the first in order, as long as nothing comes again.
func TestDistinctCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sites := drawStacks(t)
		w, classes := drawCalls(t, sites)
		key := func(c signatureRef) string {
			g := w.groups[c.group]
			return string(g.keys[g.start[c.sig]:g.start[c.sig+1]])
		}
		type call struct {
			group, site int
			key         string
		}
		var want [][]call
		x := newDistinctCalls()
		var lists [][]int
		for _, refs := range classes {
			var list []call
			for _, c := range refs {
				list = append(list, call{int(c.group), int(c.site), key(c)})
			}
			want = append(want, list)
			lists = append(lists, x.add(refs))
		}
		number := x.sort()
		w.sort(x.calls)
		table := &SignatureTable{sites: sites.read(t.Fatalf), groups: w.groups}
		for _, g := range w.groups {
			g.size = g.signatures()
			table.first = append(table.first, table.SignatureCount)
			table.SignatureCount += g.size
		}
		r := wire.NewReader(x.append(nil, w.groups, table.first, sites), "calls")
		table.decodeCalls(r)
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		if len(table.stacked) != len(x.calls) {
			t.Fatalf("%d calls of %d", len(table.stacked), len(x.calls))
		}
		for i, list := range lists {
			last, seen, again := -1, map[int]bool{}, false
			for k, n := range list {
				n = int(number[n])
				g, sig, site := table.DistinctCall(n)
				got := call{slices.Index(w.groups, g), site, string(g.keys[g.start[sig]:g.start[sig+1]])}
				if got != want[i][k] {
					t.Fatalf("class %d: call %d is %v, want %v", i, k, got, want[i][k])
				}
				if again = again || seen[n]; i == 0 && !again && n < last {
					t.Fatalf("call %d comes behind %d", n, last)
				}
				last, seen[n] = n, true
			}
		}
	})
}

// Damaged calls and stacks are errors, or some calls of the table.
func TestDistinctCallsDamaged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := &SignatureTable{sites: &SiteTable{CallerOf: []int{0, 0, 0, 1, 1, 3}, InnermostFrameOf: []int{0, 1, 2, 1, 2, 2}}}
		for i := range 3 {
			g := &SignatureGroup{Site: 1 + i%2, size: 1 + i}
			table.groups, table.first = append(table.groups, g), append(table.first, table.SignatureCount)
			table.SignatureCount += g.size
		}
		b := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.ByteRange(0, 4), rapid.ByteRange(60, 76)), 1, 40).Draw(t, "bytes")
		r := wire.NewReader(b, "calls")
		if table.decodeCalls(r); r.Err() != nil {
			return
		}
		for n, c := range table.stacked {
			if g, sig, site := table.DistinctCall(n); sig < 0 || sig >= g.size || table.sites.InnermostFrameOf[site] != g.Site {
				t.Fatalf("call %d is %v", n, c)
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(1, 5).Draw(t, "places")
		b := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.ByteRange(0, 4)), 1, 40).Draw(t, "bytes")
		r := wire.NewReader(b, "sites")
		outer, place := decodeStacks(r, places)
		if r.Err() != nil {
			return
		}
		for i := places; i < len(outer); i++ {
			if outer[i] < 0 || outer[i] >= i || place[i] < 0 || place[i] >= places {
				t.Fatalf("site %d is place %d in %d", i, place[i], outer[i])
			}
		}
	})
}
