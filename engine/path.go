package main

// #include "../shim/engine.h"
import "C"

import (
	"os"
	"strconv"
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/code"
	symbols "github.com/spoor-hpc/spoor/internal/record/symbol"
)

// paths computes, for call stacks, the functions and loops of the machine code that lead to the call. It reads the
// binaries on disk.
type paths struct {
	modules symbols.Modules
	images  map[string]*code.Image // binaries by path; nil: the file can't be read
	planner code.PathBuilder
}

func newPaths() *paths {
	p := &paths{images: make(map[string]*code.Image)}
	p.modules.Init(nil, maps)
	return p
}

// onDisk is the path of a file that is opened and closed for each read, so that the program has all its file
// descriptors.
type onDisk string

func (f onDisk) ReadAt(b []byte, at int64) (int, error) {
	file, err := os.Open(string(f))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.ReadAt(b, at)
}

// of returns the loops and calls that lead to a call of MPI. pcs are the return addresses of its stack, innermost first.
// It returns nil if an address is in no binary, or in one that can't be read.
func (p *paths) of(pcs []uint64) []code.PathPlace {
	p.modules.AllowReload()
	frames := make([]code.Frame, len(pcs))
	for i, pc := range pcs {
		path, offset := p.modules.FileAt(pc)
		if path == "" {
			return nil
		}
		m, known := p.images[path]
		if !known {
			m, _ = code.Read(path, onDisk(path))
			p.images[path] = m
		}
		if m == nil {
			return nil
		}
		frames[i] = code.Frame{Image: m, ReturnAddr: offset + m.LinkBias}
	}
	return p.planner.Path(frames)
}

// fill writes the path of a call stack into list, an array of struct spoor_place with room for room elements. It
// returns the path's length; 0 if there is no path, or no room for it.
func (p *paths) fill(pcs []uint64, list unsafe.Pointer, room int) int {
	path := p.of(pcs)
	if len(path) > room {
		return 0
	}
	out := unsafe.Slice((*C.struct_spoor_place)(list), room)
	for i := range path {
		out[i] = placeOf(&path[i])
	}
	return len(path)
}

// placeOf converts a place of a path to the shim's struct spoor_place.
func placeOf(x *code.PathPlace) C.struct_spoor_place {
	out := C.struct_spoor_place{id: C.uint32_t(x.PrefixID), frame: C.uint8_t(x.FrameIndex), order: C.uint64_t(x.PositionInFunction)}
	if x.IsLoop {
		out.loop = 1
	}
	k := &x.Counter
	if k.Step == 0 {
		return out
	}
	if k.Register != "" {
		reg, known := registers[k.Register]
		if !known {
			return out
		}
		out.in_register, out.reg = 1, C.uint8_t(reg)
	}
	out.offset, out.step, out.add, out.base = C.int32_t(k.CFAOffset), C.int32_t(k.Step), C.int32_t(k.AddedBeforeCall), C.int32_t(k.BaseCounterIndex)
	return out
}

// registers has the DWARF numbers of callee-saved registers, by name, of x86-64 and AArch64.
var registers = func() map[string]int {
	list := map[string]int{"rbx": 3, "rbp": 6, "r12": 12, "r13": 13, "r14": 14, "r15": 15}
	for r := 19; r <= 29; r++ {
		list["x"+strconv.Itoa(r)] = r
	}
	return list
}()
