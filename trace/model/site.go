// SourceSite writes lines of source code as call sites, which otherwise are places in binaries: lines of languages with
// an interpreter, and those that other tools recorded. Such a site has the file for a module, the line for an offset, and
// a mark for a build id, with the function behind it if that is known.

package model

import (
	"path/filepath"
	"strconv"
	"strings"
)

// A Site is a place in the program that MPI was called from. Sites of one
// reader are equal if all of their frames are; otherwise see Equal.
type Site struct {
	Module  string // path of the executable or library
	BuildID string // hex, may be empty
	Offset  uint64 // from the module's load base
	Outer   *Site  // where the function around it was called from; nil: not known
}

// PhaseMark is the build id of what stands for a phase among the sites of a file, where it is around the frames of
// calls with which the phase begins: the module is its name.
const PhaseMark = "phase"

// ThreadMark begins the build id of what stands for a thread's first function, in the same way, around the frames of
// the thread's first call; the module's own follows.
const ThreadMark = "thread "

// TurnMark is the build id of what stands for a loop that went round, in the same way, around the frames of calls before which it did: the offset
// is Call.Turn.
const TurnMark = "turn"

// Frames returns the site and those around it, innermost first.
func (s Site) Frames() []Site {
	list := []Site{s}
	for o := s.Outer; o != nil; o = o.Outer {
		list = append(list, *o)
	}
	return list
}

// Alone returns the site without what is around it.
func (s Site) Alone() Site { return Site{Module: s.Module, BuildID: s.BuildID, Offset: s.Offset} }

// Equal reports whether two sites, of any two traces, have the same frames.
func (s Site) Equal(t Site) bool {
	a, b := &s, &t
	for a != b && a != nil && b != nil {
		if a.Alone() != b.Alone() {
			return false
		}
		a, b = a.Outer, b.Outer
	}
	return a == b
}

// String renders a site as module+offset, without the module's directory.
func (s *Site) String() string {
	if s.Module == "" {
		return "?"
	}
	return filepath.Base(s.Module) + "+0x" + strconv.FormatUint(s.Offset, 16)
}

const sourceMark = "source"

// SourceSite returns the site that stands for a line of source code.
func SourceSite(file string, line uint32, function string) (module, buildID string, offset uint64) {
	if function != "" {
		return file, sourceMark + " " + function, uint64(line)
	}
	return file, sourceMark, uint64(line)
}

// SourceFunction tells whether a build id is that of such a site, and returns the function, "" if that isn't known.
func SourceFunction(buildID string) (function string, ok bool) {
	function, ok = strings.CutPrefix(buildID, sourceMark)
	if !ok || function != "" && function[0] != ' ' {
		return "", false
	}
	return strings.TrimPrefix(function, " "), true
}

// SourceAbove returns the innermost such line around a call that is in a binary itself.
func SourceAbove(call Site) (line Site, ok bool) {
	for i, frame := range call.Frames() {
		if _, ok = SourceFunction(frame.BuildID); ok {
			return frame, i > 0
		}
	}
	return Site{}, false
}
