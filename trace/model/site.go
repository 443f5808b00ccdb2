// SourceSite writes source lines as call sites, which otherwise are addresses in binaries: lines of interpreted
// languages, and those recorded by other tools. The module of such a site is the file, its offset the line, and its
// build id a mark, followed by the function if known.

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
	Caller  *Site  // where the function around it was called from; nil: not known
}

// PhaseBuildID is the build id of the entry for a phase among the sites of a file. The entry encloses the frames of the
// call that begins the phase; its module is the phase's name.
const PhaseBuildID = "phase"

// ThreadBuildIDPrefix begins the build id of the entry for a thread's start function, which encloses the frames of the thread's
// first call; the module's own build id follows.
const ThreadBuildIDPrefix = "thread "

// TurnBuildID is the build id of an entry that says which loop began another iteration before a call. It encloses the
// call's frames; the offset is Call.Turn.
const TurnBuildID = "turn"

// Frames returns the site and those around it, innermost first.
func (s Site) Frames() []Site {
	list := []Site{s}
	for o := s.Caller; o != nil; o = o.Caller {
		list = append(list, *o)
	}
	return list
}

// WithoutCallers returns the site without what is around it.
func (s Site) WithoutCallers() Site {
	return Site{Module: s.Module, BuildID: s.BuildID, Offset: s.Offset}
}

// Equal reports whether two sites, of any two traces, have the same frames.
func (s Site) Equal(t Site) bool {
	a, b := &s, &t
	for a != b && a != nil && b != nil {
		if a.WithoutCallers() != b.WithoutCallers() {
			return false
		}
		a, b = a.Caller, b.Caller
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

// SourceLineSite returns the parts of the site for a source line.
func SourceLineSite(file string, line uint32, function string) (module, buildID string, offset uint64) {
	if function != "" {
		return file, sourceMark + " " + function, uint64(line)
	}
	return file, sourceMark, uint64(line)
}

// SourceFunction reports whether a build id marks a source line, and returns the function, or "" if unknown.
func SourceFunction(buildID string) (function string, ok bool) {
	function, ok = strings.CutPrefix(buildID, sourceMark)
	if !ok || function != "" && function[0] != ' ' {
		return "", false
	}
	return strings.TrimPrefix(function, " "), true
}

// EnclosingSourceLine returns the innermost such line around a call that is in a binary itself.
func EnclosingSourceLine(call Site) (line Site, ok bool) {
	for i, frame := range call.Frames() {
		if _, ok = SourceFunction(frame.BuildID); ok {
			return frame, i > 0
		}
	}
	return Site{}, false
}
