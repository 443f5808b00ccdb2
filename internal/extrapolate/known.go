package extrapolate

import "sync"

// A glance is the values of all listed forms at one place. Slots are observed at the same places repeatedly, and most
// forms already fail at the first.
type glance struct {
	values []int64    // by number of a form; expr.NoValue: undefined
	parts  [][2]int64 // number of parts and index, by rule
}

// glances caches glances at first and last observations. truths caches the tests that hold at all observations.
var (
	knownLock sync.Mutex
	glances   = make(map[env]*glance)
	truths    = make(map[env]*truth)
)

// Limits of these caches.
const (
	mostGlances = 1 << 8
	mostTruths  = 1 << 16
)

// A truth has a bit for each test that holds.
type truth [8]uint64

func (t *truth) holds(test int) bool { return t[test/64]>>(test%64)&1 != 0 }

// glanceAt returns the glance at a place.
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

// truthAt returns the tests that hold at a place.
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

// An outlook is the glances at a slot's first and last observation.
type outlook struct{ first, last *glance }

func outlookOf(obs []env) outlook { return outlook{glanceAt(&obs[0]), glanceAt(&obs[len(obs)-1])} }

// may reports whether a form fits these two observations.
func (o *outlook) may(f *form, vals []int64) bool {
	return o.first.values[f.number] == vals[0] && o.last.values[f.number] == vals[len(vals)-1]
}
