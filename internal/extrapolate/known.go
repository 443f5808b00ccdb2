package extrapolate

import "sync"

// A glance is what the forms of the lists are at a place. Slots are seen at the same places again and again, and most forms are wrong at the first.
type glance struct {
	values []int64    // by number of a form; expr.NoValue: one says nothing
	parts  [][2]int64 // what parts have
}

// glances are those at places where slots were seen first or last; truths say which tests hold at all places.
var (
	knownLock sync.Mutex
	glances   = make(map[env]*glance)
	truths    = make(map[env]*truth)
)

// Places of which that is kept.
const (
	mostGlances = 1 << 8
	mostTruths  = 1 << 16
)

// A truth has a bit for each test: whether it holds.
type truth [8]uint64

func (t *truth) holds(test int) bool { return t[test/64]>>(test%64)&1 != 0 }

// glanceAt returns what forms are at a place.
func glanceAt(e *env) *glance {
	return kept(glances, e, mostGlances, func() *glance {
		g := &glance{values: make([]int64, len(listed)), parts: make([][2]int64, len(parts))}
		for i, f := range listed {
			g.values[i], _ = f.Eval(e)
		}
		for i := range parts {
			g.parts[i][0], g.parts[i][1] = parts[i].of(e)
		}
		return g
	})
}

// truthAt returns which tests hold at a place.
func truthAt(e *env) *truth {
	return kept(truths, e, mostTruths, func() *truth {
		t := new(truth)
		for i := range tests {
			if v, _ := tests[i].Eval(e); v != 0 {
				t[i/64] |= 1 << (i % 64)
			}
		}
		return t
	})
}

func kept[T any](m map[env]*T, e *env, most int, made func() *T) *T {
	knownLock.Lock()
	defer knownLock.Unlock()
	v := m[*e]
	if v == nil {
		if v = made(); len(m) == most {
			clear(m)
		}
		m[*e] = v
	}
	return v
}

// An outlook is what forms are where a slot was seen first and last.
type outlook struct{ first, last *glance }

func outlookOf(obs []env) outlook { return outlook{glanceAt(&obs[0]), glanceAt(&obs[len(obs)-1])} }

// may reports whether a form gives the values there.
func (o *outlook) may(f *form, vals []int64) bool {
	return o.first.values[f.number] == vals[0] && o.last.values[f.number] == vals[len(vals)-1]
}
