// SourceLineSite makes call sites of source lines instead of addresses in binaries: lines of interpreted languages, and
// those recorded by other tools. The site's module is the file, its offset the line. Its build id is a mark,
// followed by the function if known.

package model

import (
	"path/filepath"
	"strconv"
	"strings"
)

// A Site is a place in the program that called MPI: a frame of the call stack, and with Caller the frames around it.
// Two sites of one reader are equal (==) if all of their frames are; for sites of different readers use Equal.
type Site struct {
	Module  string // path of the executable or library
	BuildID string // build ID of the module in hexadecimal digits; "": unknown
	Offset  uint64 // address of the call in bytes, relative to where the module is loaded
	Caller  *Site  // call site of the enclosing function; nil: not known
}

// PhaseFrameBuildID is the build ID of an artificial frame for a marked phase. It is around the frames of the call that
// begins the phase. Its module is the phase's name.
const PhaseFrameBuildID = "phase"

// ThreadFrameBuildIDPrefix begins the build ID of an artificial frame for a thread's start function; the module's own build
// ID follows. The frame is around those of the thread's first call.
const ThreadFrameBuildIDPrefix = "thread "

// TurnFrameBuildID is the build ID of an artificial frame that says which loop began another iteration before a call. It is
// around the call's frames, and its offset is Call.Turn.
const TurnFrameBuildID = "turn"

// Frames returns the frames of the site's call stack, innermost first: the site itself and its callers.
func (s Site) Frames() []Site {
	list := []Site{s}
	for o := s.Caller; o != nil; o = o.Caller {
		list = append(list, *o)
	}
	return list
}

// WithoutCallers returns the site's innermost frame, without its callers.
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

// String renders the site's innermost frame as module+offset, without the module's directory (e.g. cg+0x1a40).
func (s *Site) String() string {
	if s.Module == "" {
		return "?"
	}
	return filepath.Base(s.Module) + "+0x" + strconv.FormatUint(s.Offset, 16)
}

const sourceMark = "source"

// SourceLineSite returns Module, BuildID and Offset of the site that represents a source line: the file, a mark with
// the function's name, and the line's number.
func SourceLineSite(file string, line uint32, function string) (module, buildID string, offset uint64) {
	if function != "" {
		return file, sourceMark + " " + function, uint64(line)
	}
	return file, sourceMark, uint64(line)
}

// SourceLineFunction reports whether a site with this build ID is a source line, and returns the line's function, "" if
// unknown.
func SourceLineFunction(buildID string) (function string, ok bool) {
	function, ok = strings.CutPrefix(buildID, sourceMark)
	if !ok || function != "" && function[0] != ' ' {
		return "", false
	}
	return strings.TrimPrefix(function, " "), true
}

// EnclosingSourceLine returns the innermost source line among the callers of a site in a binary. It returns false
// without one, or if the site is itself a source line.
func EnclosingSourceLine(call Site) (line Site, ok bool) {
	for i, frame := range call.Frames() {
		if _, ok = SourceLineFunction(frame.BuildID); ok {
			return frame, i > 0
		}
	}
	return Site{}, false
}
