// TailCalls restores functions that are missing in call stacks because of tail calls. If the last action of a
// function is a call, optimised code jumps instead: the callee returns to the function's caller, and recorded
// stacks show the caller calling the callee.
//
// A frame shows this if its call names another function than the one of the next frame. Paths of jumps from the one
// to the other are then searched in the binaries of the traced run. A single path is inserted. With several, all
// are listed, as they are equally likely. Without any, because of a call through a pointer or a library without
// frames, the stack stays as recorded.

package tree

import (
	"slices"
	"strings"
	"sync"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

const (
	maxJumps = 6    // largest number of consecutive jumps on one path
	maxWays  = 8    // largest number of paths listed for one pair of frames
	maxTried = 4096 // largest number of jumps examined for one pair of frames
)

// A TailCalls adds to call stacks the functions that are missing because of tail calls. It is safe for use by several
// goroutines at once.
type TailCalls struct {
	symbols *symbolise.Symboliser
	mu      sync.Mutex
	images  map[module]*code.Image // by module; nil: it has no readable binary
	between map[framePair][]symbolise.Frame
}

type module struct{ path, buildID string }

// A framePair is a frame (outer) and what its stack shows as called from there: the next frame (inner), or an MPI
// function.
type framePair struct {
	outer, inner model.Site // without their callers; inner is zero if function is set
	function     string
}

// NewTailCalls returns a TailCalls that finds binaries and source lines with s.
func NewTailCalls(s *symbolise.Symboliser) *TailCalls {
	return &TailCalls{symbols: s, images: make(map[module]*code.Image), between: make(map[framePair][]symbolise.Frame)}
}

// Place returns the functions and lines at a call site, as the symboliser does, with the functions that are missing
// in the stack. Those missing between the site and the MPI function come first, those between it and its caller last.
// function is "" for a frame of a caller. For a site without a stack it is the symboliser's result alone.
func (f *TailCalls) Place(function string, s model.Site) symbolise.Place {
	p := f.symbols.PlaceOfReturnOffset(s.Module, s.BuildID, s.Offset)
	if len(p.Frames) == 0 || function != "" && s.Caller == nil {
		return p
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var inner, outer []symbolise.Frame
	if function != "" {
		inner = f.find(framePair{outer: alone(s), function: function})
	}
	if s.Caller != nil {
		outer = f.find(framePair{outer: alone(*s.Caller), inner: alone(s)})
	}
	if inner != nil || outer != nil {
		p.Frames = slices.Concat(inner, p.Frames, outer)
	}
	return p
}

func alone(s model.Site) model.Site {
	return model.Site{Module: s.Module, BuildID: s.BuildID, Offset: s.Offset}
}

// image returns the binary of a site's module; nil if there is no readable one.
func (f *TailCalls) image(s *model.Site) *code.Image {
	k := module{s.Module, s.BuildID}
	return once.GetOrMake(f.images, k, func() (m *code.Image) {
		if path := f.symbols.BinaryPath(k.path, k.buildID); path != "" {
			m, _ = code.Open(path) // on an error the stacks remain as recorded
		}
		return m
	})
}

// find returns the frames missing between the frames of a pair, innermost first.
func (f *TailCalls) find(k framePair) []symbolise.Frame {
	return once.GetOrMake(f.between, k, func() []symbolise.Frame { return f.search(k) })
}

// A jump is a tail call on a path between two frames.
type jump struct {
	image *code.Image
	from  *code.Function
	site  *model.Site // any site in the module of from
	call  *code.Call
	exact bool // there is no other jump from this function to the next one on the path
}

// A TailCall is a function missing in a stack, and the jump with which it ended. If the function has several jumps to
// the next one, Call is the first of these.
type TailCall struct {
	Image      *code.Image
	From       *code.Function
	Call       *code.Call
	ModuleSite model.Site // any site in the same module, without callers
}

// PathsBetween lists the paths of jumps from the call that returns to outer to the function that contains inner. If
// function is not "" the paths lead to that MPI function, and inner is ignored. There are no paths if no frame is
// missing, or if it is unknown which one is.
func (f *TailCalls) PathsBetween(function string, outer, inner model.Site) (ways [][]TailCall) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := framePair{outer: alone(outer), function: function}
	if function == "" {
		k.inner = alone(inner)
	}
	for _, way := range f.ways(k) {
		var list []TailCall
		for _, j := range way {
			list = append(list, TailCall{j.image, j.from, j.call, alone(*j.site)})
		}
		ways = append(ways, list)
	}
	return ways
}

// Image returns the binary of a site's module; nil if there is no readable one with the recorded build ID. Only one
// goroutine may use the result at a time.
func (f *TailCalls) Image(s model.Site) *code.Image {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.image(&s)
}

// A search follows jumps to function to or, if mpi is not "", to that MPI function.
type search struct {
	inner *code.Image // binary with the function to, which the outer frame's binary may call by name; nil with mpi
	site  *model.Site // any site of inner
	to    *code.Function
	mpi   string
	tried int
	ways  [][]jump
}

func (f *TailCalls) search(k framePair) []symbolise.Frame { return f.frames(f.ways(k)) }

func (f *TailCalls) ways(k framePair) [][]jump {
	m := f.image(&k.outer)
	if m == nil {
		return nil
	}
	ret := k.outer.Offset + m.LinkBias
	caller := m.FunctionAt(ret - 1)
	if caller == nil {
		return nil
	}
	body, err := caller.Body()
	if err != nil {
		return nil
	}
	c := body.CallByReturnAddr(ret)
	if c == nil || !c.IsResolved {
		return nil
	}
	s := search{mpi: k.function}
	if k.function == "" {
		if s.inner = f.image(&k.inner); s.inner == nil {
			return nil
		}
		s.site = &k.inner
		if s.to = s.inner.FunctionAt(k.inner.Offset + s.inner.LinkBias - 1); s.to == nil {
			return nil
		}
	}
	first, image, site := s.target(c, m, &k.outer)
	if first == nil || first == s.to || mpi.FunctionOfSymbol(c.CalleeSymbol) != "" {
		return nil
	}
	s.follow(first, image, site, nil)
	return s.ways
}

// target returns the function that a call or jump in image m leads to, with its own image and a site in that. site is
// a site in m.
func (s *search) target(c *code.Call, m *code.Image, site *model.Site) (*code.Function, *code.Image, *model.Site) {
	if c.Callee != nil || c.CalleeSymbol == "" || s.inner == nil {
		return c.Callee, m, site
	}
	return s.inner.ExportedFunction(c.CalleeSymbol), s.inner, s.site
}

// reached reports whether jump c, which leads to function to, reaches what is searched for.
func (s *search) reached(c *code.Call, to *code.Function) bool {
	if s.mpi == "" {
		return to != nil && to == s.to
	}
	return strings.TrimPrefix(mpi.FunctionOfSymbol(c.CalleeSymbol), "P") == strings.TrimPrefix(s.mpi, "P")
}

// follow tries the jumps out of function from; way is the jumps that led there.
func (s *search) follow(from *code.Function, m *code.Image, site *model.Site, way []jump) {
	body, err := from.Body()
	if err != nil || len(way) >= maxJumps {
		return
	}
	type span struct{ from, to int }
	took := make(map[*code.Function]span) // by function jumped to: the range of s.ways that goes through it
	for i := range body.Calls {
		c := &body.Calls[i]
		if !c.IsTail || !c.IsResolved || !body.IsReachable(c) {
			continue
		}
		if s.tried++; s.tried > maxTried || len(s.ways) > maxWays {
			return
		}
		to, image, at := s.target(c, m, site)
		if ways, again := took[to]; again {
			// This jump leads to a function that another jump of from leads to, so the paths are the same, but which
			// jump was taken is unknown.
			for k := ways.from; k < ways.to; k++ {
				s.ways[k][len(way)].exact = false
			}
			continue
		}
		here := append(slices.Clone(way), jump{m, from, site, c, true})
		ways := span{from: len(s.ways)}
		switch {
		case s.reached(c, to):
			s.ways = append(s.ways, here)
		case to == nil || slices.ContainsFunc(here, func(j jump) bool { return j.from == to }):
			continue
		default:
			s.follow(to, image, at, here)
		}
		ways.to = len(s.ways)
		took[to] = ways
	}
}

// frames returns the frames that paths of jumps add to a stack, innermost first. A single path gives one frame for
// each of its functions, several paths give one frame that names them all.
func (f *TailCalls) frames(ways [][]jump) []symbolise.Frame {
	var list []symbolise.Frame
	switch {
	case len(ways) == 0:
		return nil
	case len(ways) == 1:
		for _, j := range slices.Backward(ways[0]) {
			list = append(list, f.frame(&j)...)
		}
	default:
		var names []string
		for _, way := range ways[:min(len(ways), maxWays)] {
			var steps []string
			for _, j := range way {
				steps = append(steps, f.name(&j))
			}
			if s := strings.Join(steps, " > "); !slices.Contains(names, s) {
				names = append(names, s)
			}
		}
		slices.Sort(names)
		if len(ways) > maxWays {
			names = append(names, "others")
		}
		list = []symbolise.Frame{{Function: strings.Join(names, " or "), IsTailCaller: true}}
	}
	return list
}

// frame returns the functions at a jump: with source line and inlined functions if it is the only possible jump, else
// only the function itself.
func (f *TailCalls) frame(j *jump) []symbolise.Frame {
	if j.exact {
		if frames := slices.Clone(f.symbols.PlaceOfReturnOffset(j.site.Module, j.site.BuildID, j.call.ReturnAddr-j.image.LinkBias).Frames); len(frames) > 0 {
			for i := range frames {
				frames[i].IsTailCaller = true
			}
			return frames
		}
	}
	return []symbolise.Frame{{Function: f.name(j), Symbol: j.from.Symbol(), FunctionStart: j.from.Start(), IsTailCaller: true}}
}

func (f *TailCalls) name(j *jump) string {
	frames := f.symbols.PlaceOfCodeOffset(j.site.Module, j.site.BuildID, j.from.Start()-j.image.LinkBias).Frames
	if len(frames) == 0 {
		return symbolise.Demangle(j.from.Symbol())
	}
	return frames[len(frames)-1].Name()
}
