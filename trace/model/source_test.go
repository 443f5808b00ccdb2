package model

import (
	"testing"
)

// TestAbove: the nearest line around a call in a binary, and none for a call that is at a line itself.
func TestAbove(t *testing.T) {
	at := func(line uint32, outer *Site) *Site {
		s := Site{Caller: outer}
		s.Module, s.BuildID, s.Offset = SourceLineSite("app.py", line, "solve")
		return &s
	}
	inC := func(outer *Site) Site { return Site{Module: "libsolver.so", Offset: 7, Caller: outer} }
	between := inC(at(3, at(9, nil)))
	for _, x := range []struct {
		call Site
		want uint64 // 0: none
	}{{inC(&between), 3}, {inC(nil), 0}, {*at(3, at(9, nil)), 0}} {
		if line, ok := EnclosingSourceLine(x.call); ok != (x.want != 0) || ok && line.Offset != x.want {
			t.Errorf("%v, %v, want line %d", line, ok, x.want)
		}
	}
}
