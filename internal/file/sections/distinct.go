package sections

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/once"
)

// Distinct calls of a trace with stacks are a signature and a site with its stack. They are in the order in which
// they follow each other at first occurrence; the first class comes first. So they are roughly in the order of the
// program's code, and signatures recur as with the previous stack.
//
//	calls = calls uvarint, per call: site varint, per call: signature uvarint
//
// Sites whose places have signatures are in the order of their frames' places, outermost first. A site is coded as
// its distance from the previous call's. A signature is one of those at the site's place:
//
//	0                the next signature that is new at the place, of the same group as the last new one there;
//	                 at first of the first group
//	n ≤ recent       the signature that occurred n signatures ago at the place, each counted once
//	recent + 1 + g   the next signature that is new at the place, of group number g there
//	after these      any other, by number
const recent = 64

// A siteOrder numbers the wanted sites in the order of their frames' places, outermost first.
type siteOrder struct {
	number []int32 // by site; for an unwanted site, how many wanted ones precede it
	sites  []int32
}

// orderSites returns the order of the wanted sites. outer has each site's caller (0: none) and place its place. Sites
// must be in the order of a table: callers first, and sites with equal callers in the order of their places.
func orderSites(outer, place []int, wanted func(site int) bool) *siteOrder {
	n := len(place)
	size := make([]int32, n) // by site: number of wanted sites with this one in their stack, including itself
	for i := n - 1; i >= 0; i-- {
		if wanted(i) {
			size[i]++
		}
		if o := outer[i]; o != 0 {
			size[o] += size[i]
		}
	}
	x := &siteOrder{number: make([]int32, n)}
	next := make([]int32, n) // by site: number for the next wanted site that has this one as caller
	total := int32(0)
	for i := range n {
		at := &total
		if o := outer[i]; o != 0 {
			at = &next[o]
		}
		x.number[i], next[i] = *at, *at
		*at += size[i]
		if wanted(i) {
			next[i]++
		}
	}
	x.sites = make([]int32, total)
	for i := range n {
		if wanted(i) {
			x.sites[x.number[i]] = int32(i)
		}
	}
	return x
}

// signaturesAt is the state of coding the signatures at one place.
type signaturesAt struct {
	groups []*SignatureGroup
	first  []int // by group: number of its first signature
	used   []int // by group: how many of its signatures have occurred
	last   int   // group of the last new signature
	recent []int // recent signatures, the latest one last
}

// take records the occurrence of a signature, and returns its code. A new signature must be the next one of its
// group.
func (p *signaturesAt) take(sig int) int {
	if i := slices.Index(p.recent, sig); i >= 0 {
		n := len(p.recent) - i
		p.came(sig, i)
		return n
	}
	g, first := slices.BinarySearch(p.first, sig)
	if !first {
		g--
	}
	at := sig - p.first[g]
	if at < p.used[g] {
		p.came(sig, -1)
		return recent + 1 + len(p.groups) + p.index(g) + at
	}
	how := 0
	if g != p.last {
		how = recent + 1 + g
	}
	p.new(sig, g)
	return how
}

// find returns the signature with this code, and records its occurrence. It returns false if the code has no signature.
func (p *signaturesAt) find(how int) (sig int, ok bool) {
	if how > 0 && how <= recent {
		if how > len(p.recent) {
			return 0, false
		}
		i := len(p.recent) - how
		sig = p.recent[i]
		p.came(sig, i)
		return sig, true
	}
	g := p.last
	if how > recent {
		if g = how - recent - 1; g >= len(p.groups) {
			at := g - len(p.groups)
			for g = 0; g < len(p.groups) && at >= p.groups[g].size; g++ {
				at -= p.groups[g].size
			}
			if g == len(p.groups) {
				return 0, false
			}
			p.came(p.first[g]+at, slices.Index(p.recent, p.first[g]+at))
			return p.first[g] + at, true
		}
	}
	if p.used[g] >= p.groups[g].size {
		return 0, false
	}
	sig = p.first[g] + p.used[g]
	p.new(sig, g)
	return sig, true
}

// new records the first occurrence of a group's next signature.
func (p *signaturesAt) new(sig, group int) {
	p.used[group]++
	p.last = group
	p.came(sig, -1)
}

// index returns how many signatures of the place are in the groups before this one.
func (p *signaturesAt) index(group int) (n int) {
	for _, g := range p.groups[:group] {
		n += g.size
	}
	return n
}

// came makes a signature the latest one. at is its previous index in recent; -1: it is not there.
func (p *signaturesAt) came(sig, at int) {
	if at < 0 {
		if at = 0; len(p.recent) < recent {
			p.recent = append(p.recent, sig)
			return
		}
	}
	copy(p.recent[at:], p.recent[at+1:])
	p.recent[len(p.recent)-1] = sig
}

// byPlaces collects groups by place. first is the number of each group's first signature.
func byPlaces(groups []*SignatureGroup, first []int) map[int]*signaturesAt {
	at := make(map[int]*signaturesAt)
	for i, g := range groups {
		p := once.GetOrMake(at, g.Site, func() *signaturesAt { return &signaturesAt{} })
		p.groups, p.first, p.used = append(p.groups, g), append(p.first, first[i]), append(p.used, 0)
	}
	return at
}

// A distinctCall is a signature with one of its sites.
type distinctCall struct{ sig, site int32 }

// distinctCalls are the distinct calls of a trace that is being written, numbered by discovery until they are
// sorted.
type distinctCalls struct {
	number map[signatureRef]int32
	calls  []signatureRef
	behind []int32 // at 0 the call that follows the start, at n + 1 the one that follows call n; -1: none
}

func newDistinctCalls() *distinctCalls {
	return &distinctCalls{number: make(map[signatureRef]int32), behind: []int32{-1}}
}

// add adds the calls of a class, and returns their preliminary numbers.
func (x *distinctCalls) add(refs []signatureRef) []int {
	list := make([]int, len(refs))
	last := int32(0) // 0 for the start, n + 1 for call n
	for k, ref := range refs {
		n, fresh := once.NumberOf(x.number, ref)
		if fresh {
			x.calls = append(x.calls, ref)
			x.behind = append(x.behind, x.behind[last])
			x.behind[last] = n
		}
		list[k], last = int(n), n+1
	}
	return list
}

// sort sorts the calls, and returns the new number of each.
func (x *distinctCalls) sort() []int32 {
	x.number = nil
	number := make([]int32, len(x.calls))
	sorted := make([]signatureRef, 0, len(x.calls))
	for n := x.behind[0]; n >= 0; n = x.behind[n+1] {
		number[n] = int32(len(sorted))
		sorted = append(sorted, x.calls[n])
	}
	x.calls, x.behind = sorted, nil
	return number
}

// codeCalls writes or reads the calls of a trace with stacks. outer and place have the caller and the place of each
// site.
func codeCalls(c *wire.Coder, calls *[]distinctCall, groups []*SignatureGroup, first, outer, place []int) {
	at := byPlaces(groups, first)
	order := orderSites(outer, place, func(site int) bool { return at[place[site]] != nil })
	last := 0
	wire.CodeList(c, calls, 2, func(_ int, x *distinctCall) {
		n := int(order.number[x.site])
		if codeFurther(c, &n, last, len(order.sites)); !c.Failed() {
			x.site, last = order.sites[n], n
		}
	})
	for i := range *calls {
		if c.Failed() {
			return
		}
		x := &(*calls)[i]
		p, how := at[place[x.site]], 0
		if c.Reader == nil {
			how = p.take(int(x.sig))
		}
		if wire.CodeBounded(c, &how, maxSignatures+recent); c.Reader != nil {
			sig, ok := p.find(how)
			c.RefuseIf(!ok, "call %d with no signature of its site", i)
			x.sig = int32(sig)
		}
	}
}

// decodeCalls reads the calls of a trace with stacks.
func (t *SignatureTable) decodeCalls(r *wire.Reader) {
	codeCalls(&wire.Coder{Reader: r}, &t.stacked, t.groups, t.first, t.sites.CallerOf, t.sites.InnermostFrameOf)
	if t.stacked == nil {
		t.stacked = []distinctCall{} // not nil: there are stacks
	}
}

// append appends the calls as codeCalls writes them.
func (x *distinctCalls) append(b []byte, groups []*SignatureGroup, first []int, sites *siteTable) []byte {
	calls := make([]distinctCall, len(x.calls))
	for i, c := range x.calls {
		calls[i] = distinctCall{int32(first[c.group] + int(c.sig)), c.site}
	}
	outer, place := sites.shape()
	return wire.AppendEncoded(b, func(c *wire.Coder) { codeCalls(c, &calls, groups, first, outer, place) })
}
