package extrapolate

import "sync"

// A glance is the values of all listed forms for one env. Different values of a program are observed for the same envs,
// and most forms already fail at the first observation.
type glance struct {
	values []int64    // by form.number; expr.NoValue: undefined
	parts  [][2]int64 // by index in parts: number of parts, and index of the part
}

// glances caches glances, by env of a first or last observation. truths caches truths, by env of any observation.
var (
	knownLock sync.Mutex
	glances   = make(map[env]*glance)
	truths    = make(map[env]*truth)
)

// The largest numbers of entries of glances and truths.
const (
	mostGlances = 1 << 8
	mostTruths  = 1 << 16
)

// A truth has a bit for each of tests, by index: whether it holds for one env.
type truth [8]uint64

func (t *truth) holds(test int) bool { return t[test/64]>>(test%64)&1 != 0 }

// glanceAt returns the glance for an env.
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

// truthAt returns the truth for an env.
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

// An outlook is the glances at the first and the last observation of a fitted value.
type outlook struct{ first, last *glance }

func outlookOf(obs []env) outlook { return outlook{glanceAt(&obs[0]), glanceAt(&obs[len(obs)-1])} }

// may reports whether form f, one of listed, has the value vals[0] at the first observation and the last of vals at the
// last one. Otherwise f can't fit.
func (o *outlook) may(f *form, vals []int64) bool {
	return o.first.values[f.number] == vals[0] && o.last.values[f.number] == vals[len(vals)-1]
}
