package imported

import (
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace/model"
)

// place makes a place in source code known.
func (r *recorder) place(file string, line uint32, function string) uint64 {
	if file == "" && function == "" {
		return 0
	}
	module, id, offset := model.SourceSite(file, line, function)
	if name, at, ok := moduleOffset(file); ok && line == 0 && function == "" {
		module, id, offset = name, "", at
	}
	h := symbol.HashString([]byte(fmt.Sprintf("%s\x00%s\x00%d", module, id, offset)))
	r.out.Site(h, track.Site{Module: module, BuildID: id, Offset: offset})
	return h
}

// moduleOffset reads what exports write of a place that they know no line of: module+0xoffset.
func moduleOffset(s string) (module string, offset uint64, ok bool) {
	i := strings.LastIndex(s, "+0x")
	if i <= 0 {
		return "", 0, false
	}
	n, err := fmt.Sscanf(s[i+1:], "0x%x", &offset)
	return s[:i], offset, n == 1 && err == nil
}
