package symbol

import (
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// A StackRange is the address range of a thread's stack. Ref is an address in it whose position is the same in every
// run.
type StackRange struct{ Lo, Hi, Ref uint64 }

// Addresses converts addresses to segments and offsets.
type Addresses struct {
	Segments
	Modules *Modules
	Stacks  []StackRange // by thread
	unknown Map          // address → 1 + number in order of first use
	strays  int64
}

// maxStrays limits the table of addresses in unknown memory; all later ones get the same name.
const maxStrays = 1 << 16

// Name returns the segment and offset of an address, given as the two words of a record.
func (a *Addresses) Name(w0, w1 uint64, thread int) (seg, off int64) {
	switch w0 >> 56 {
	case event.AddressClassSpecial:
		return signature.PackSegName(0, 0, signature.SegClassSpecial), int64(w1)
	case event.AddressClassHeap, event.AddressClassDevice, event.AddressClassMPIMem:
		if seg, ok := a.Segments.Name(w0 << 8 >> 8); ok {
			return seg, int64(w1)
		}
		return a.stray(w0), 0 // the segment's record was lost with a damaged checkpoint
	}
	return a.raw(w1, thread)
}

func (a *Addresses) raw(addr uint64, thread int) (seg, off int64) {
	if thread < len(a.Stacks) {
		if s := &a.Stacks[thread]; addr >= s.Lo && addr < s.Hi {
			return signature.PackSegName(int64(thread), 0, signature.SegClassStack), int64(addr - s.Ref)
		}
	}
	if seg, off, ok := a.Modules.static(addr); ok {
		return seg, off
	}
	for i := range a.Stacks {
		if s := &a.Stacks[i]; addr >= s.Lo && addr < s.Hi {
			return signature.PackSegName(int64(i), 0, signature.SegClassStack), int64(addr - s.Ref)
		}
	}
	return a.stray(addr), 0
}

func (a *Addresses) stray(addr uint64) int64 {
	id := a.unknown.Get(addr)
	if id == 0 {
		if a.strays < maxStrays {
			a.strays++
			a.unknown.Set(addr, a.strays)
		}
		id = a.strays
	}
	return signature.PackSegName(id-1, 0, signature.SegClassUnknown)
}

// Code codes the state, without that of Modules.
func (a *Addresses) Code(c *wire.Coder) {
	a.Segments.code(c)
	wire.CodeList(c, &a.Stacks, 24, func(_ int, s *StackRange) { c.Uint64(&s.Lo, &s.Hi, &s.Ref) })
	wire.CodeIntegers(c, &a.strays)
	a.unknown.code(c, maxStrays)
}
