// SourceLineSite makes call sites of source lines instead of addresses in binaries: lines of interpreted languages, and
// those recorded by other tools. The site's module is the file, its offset the line. Its build id is a mark,
// followed by the function if known.

package model

import (
	"path/filepath"
	"strconv"
	"strings"
)

// A Site is a place in the program that called MPI. Two sites of one reader are equal (==) if all of their frames
// are; for sites of different readers use Equal.
type Site struct {
	Module  string // path of the executable or library
	BuildID string // hex, may be empty
	Offset  uint64 // relative to the module's load address
	Caller  *Site  // call site of the enclosing function; nil: not known
}

// PhaseBuildID is the build id of a phase's entry among the sites of a file. The entry encloses the frames of the call
// that begins the phase; its module is the phase's name.
const PhaseBuildID = "phase"

// ThreadBuildIDPrefix begins the build id of the entry for a thread's start function, followed by the module's own build id.
// The entry encloses the frames of the thread's first call.
const ThreadBuildIDPrefix = "thread "

// TurnBuildID is the build id of an entry for the loop that began another iteration before a call. It encloses the
// call's frames; the offset is Call.Turn.
const TurnBuildID = "turn"

// Frames returns the site and its callers, innermost first.
func (s Site) Frames() []Site {
	list := []Site{s}
	for o := s.Caller; o != nil; o = o.Caller {
		list = append(list, *o)
	}
	return list
}

// WithoutCallers returns the site without its callers.
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

// EnclosingSourceLine returns the innermost source line among the callers of a site that is in a binary.
func EnclosingSourceLine(call Site) (line Site, ok bool) {
	for i, frame := range call.Frames() {
		if _, ok = SourceFunction(frame.BuildID); ok {
			return frame, i > 0
		}
	}
	return Site{}, false
}
