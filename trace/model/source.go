// SourceSite writes lines of source code as call sites, which otherwise are places in binaries: lines of languages with
// an interpreter, and those that other tools recorded. Such a site has the file for a module, the line for an offset, and
// a mark for a build id, with the function behind it if that is known.

package model

import (
	"strings"
)

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
