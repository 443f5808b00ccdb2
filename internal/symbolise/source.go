package symbolise

import "strings"

// Traces of other tools tell call sites as lines of source code. Such a site has the file for
// a module, the line for an offset, and this for a build id, with the function behind it if that is known.
const sourceID = "source"

// SourceSite returns the site that stands for a line of source code.
func SourceSite(file string, line uint32, function string) (module, buildID string, offset uint64) {
	if function != "" {
		return file, sourceID + " " + function, uint64(line)
	}
	return file, sourceID, uint64(line)
}

// source returns the place that such a site is.
func source(path, buildID string, offset uint64) (Place, bool) {
	function, ok := strings.CutPrefix(buildID, sourceID)
	if !ok || function != "" && function[0] != ' ' {
		return Place{}, false
	}
	f := Frame{Function: strings.TrimPrefix(function, " "), File: path, Line: int(offset)}
	p := Place{Module: path, Offset: offset, Frames: []Frame{f}, Precision: LineInfo}
	if path == "" || offset == 0 {
		p.Precision = Symbol
	}
	return p, true
}
