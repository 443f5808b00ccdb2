package code

import (
	"sort"
	"strings"

	"github.com/spoor-hpc/spoor/internal/code/insn"
)

// A returning is what is known so far of whether a function ever returns to its caller.
type returning uint8

const (
	notAsked returning = iota
	asking
	comesBack
	neverBack
)

const (
	maxDepth = 400     // largest depth of callees
	maxAsked = 1 << 16 // largest number of functions examined for one call of MayReturn
)

// neverReturns reports whether a function of the run-time libraries never returns.
func neverReturns(name string) bool {
	switch name {
	case "abort", "exit", "_exit", "_Exit", "quick_exit", "pthread_exit", "thrd_exit", "__assert_fail", "__assert_perror_fail",
		"__assert", "__stack_chk_fail", "__chk_fail", "__fortify_fail", "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "err",
		"errx", "verr", "verrx", "__cxa_throw", "__cxa_rethrow", "__cxa_bad_cast", "__cxa_bad_typeid",
		"__cxa_throw_bad_array_new_length", "__cxa_throw_bad_array_length", "__cxa_call_unexpected", "__cxa_call_terminate",
		"__clang_call_terminate", "__cxa_pure_virtual", "__cxa_deleted_virtual", "_Unwind_Resume", "_ZSt9terminatev",
		"_ZSt10unexpectedv", "_gfortran_stop_string", "_gfortran_stop_numeric", "_gfortran_error_stop_string",
		"_gfortran_error_stop_numeric", "_gfortran_runtime_error", "_gfortran_runtime_error_at", "_gfortran_os_error",
		"_gfortran_os_error_at", "_gfortran_exit_i4", "_gfortran_exit_i8", "_gfortran_abort", "_FortranAStopStatement",
		"_FortranAStopStatementText", "_FortranAFailImageStatement", "_FortranAExit", "_FortranAReportFatalUserError",
		"__libc_start_main":
		return true
	}
	return false
}

// comesBackByName reports whether a function may return, judged by its name. It is true for g, a function in the image,
// whose code then decides, unless the name begins with _: such names are reserved for implementations.
func comesBackByName(g *Function, name string) bool {
	if g != nil && !strings.HasPrefix(name, "_") {
		return true
	}
	return !neverReturns(name) && !(strings.HasPrefix(name, "_ZSt") && strings.Contains(name, "__throw_"))
}

// MayReturn reports whether the function can return to its caller on any path. It is true if unknown.
func (f *Function) MayReturn() bool {
	if f.state == notAsked {
		f.image.budget = maxAsked
		f.ask(0)
	}
	return f.state != neverBack
}

// ask determines whether the function returns, assuming that calls of functions that never return end their path. A
// function that calls this one, and is still being examined, counts as never returning: recursion alone never ends.
// That assumption may be wrong, so that only results which do not depend on it are cached. lowest is the depth of the
// outermost such function on which the result depends; depth or more if it depends on no such function.
func (f *Function) ask(depth int) (back bool, lowest int) {
	const free = int(^uint(0) >> 1)
	switch f.state {
	case comesBack:
		return true, free
	case neverBack:
		return false, free
	case asking:
		return false, f.depth
	}
	m := f.image
	f.gather()
	if m.budget--; depth > maxDepth || m.budget < 0 || f.first.bad > 0 {
		f.state = comesBack
		return true, free
	}
	if !comesBackByName(f, f.first.name) {
		f.state = neverBack
		return false, free
	}
	f.state, f.depth = asking, depth
	back, lowest = f.walk(depth)
	switch {
	case back:
		f.state, lowest = comesBack, free
	case lowest >= depth:
		f.state, lowest = neverBack, free
	default:
		f.state = notAsked
	}
	return back, lowest
}

// walk follows the paths through a function until one returns.
func (f *Function) walk(depth int) (back bool, lowest int) {
	lowest = int(^uint(0) >> 1)
	m := f.image
	seen := make([]bool, len(f.moves))
	work := []uint64{f.first.lo}
	leave := func(g *Function) bool {
		if g == nil {
			return true
		}
		r, low := g.ask(depth + 1)
		lowest = min(lowest, low)
		return r
	}
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		p := f.partAt(at)
		if p == nil {
			continue
		}
		i := sort.Search(len(f.moves), func(i int) bool { return f.moves[i].addr >= at })
		if i == len(f.moves) || f.moves[i].addr >= p.hi || seen[i] {
			continue
		}
		seen[i] = true
		switch v := &f.moves[i]; v.kind {
		case insn.KindReturn:
			return true, lowest
		case insn.KindBranch, insn.KindJump:
			if f.Contains(v.target) {
				work = append(work, v.target)
			} else if g, name := m.callee(v); comesBackByName(g, name) && leave(g) {
				return true, lowest
			}
			if v.kind == insn.KindBranch {
				work = append(work, v.end)
			}
		case insn.KindCall, insn.KindIndirectCall:
			if g, name := m.callee(v); comesBackByName(g, name) && leave(g) {
				work = append(work, v.end)
			}
			for _, s := range p.pads {
				if v.addr >= s.Lo && v.addr < s.Hi {
					work = append(work, s.Pad)
				}
			}
		case insn.KindIndirectJump:
			if v.via.Origin != insn.TargetFromTable {
				if g, name := m.callee(v); comesBackByName(g, name) && leave(g) {
					return true, lowest
				}
				continue
			}
			work = append(work, f.tables[v.target]...)
		}
	}
	return false, lowest
}

// callee returns the target of a call, or of a jump out of a function: the function if it is in the image, and its
// name, if it has one.
func (m *Image) callee(v *move) (*Function, string) {
	switch v.kind {
	case insn.KindIndirectCall, insn.KindIndirectJump:
		if v.via.Origin != insn.TargetFromSlot {
			return nil, ""
		}
		if name := m.slots[v.via.SlotAddr]; name != "" {
			return m.ExportedFunction(name), name
		}
		if to, ok := m.moved[v.via.SlotAddr]; ok {
			return m.function(to)
		}
		return nil, ""
	}
	return m.function(v.target)
}

func (m *Image) function(addr uint64) (*Function, string) {
	if f := m.at(addr); f != nil {
		return f, f.first.name
	}
	if name, known := m.stubNames[addr]; known {
		return m.ExportedFunction(name), name
	}
	name := m.stub(addr)
	m.stubNames[addr] = name
	return m.ExportedFunction(name), name
}

// ExportedFunction is the function that the image exports under a name; nil if none.
func (m *Image) ExportedFunction(name string) *Function {
	if addr, ok := m.exports[name]; ok && name != "" {
		return m.at(addr)
	}
	return nil
}
