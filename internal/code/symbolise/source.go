package symbolise

import "github.com/spoor-hpc/spoor/trace/model"

// sourceLine returns the place of a site that is a line of source code.
func sourceLine(path, buildID string, offset uint64) (Place, bool) {
	function, ok := model.SourceFunction(buildID)
	if !ok {
		return Place{}, false
	}
	f := Frame{Function: function, File: path, Line: int(offset)}
	p := Place{Module: path, Offset: offset, Frames: []Frame{f}, Precision: LineInfo}
	if path == "" || offset == 0 {
		p.Precision = Symbol
	}
	return p, true
}
