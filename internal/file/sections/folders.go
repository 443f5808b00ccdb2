package sections

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/trace/model"
)

// FoldersTo puts the working folders of processes into a trace's meta section: under the number of each rank
// whose folder is another than that of the rank before. A folder of a rank's own, with its number in the name, is
// the same for all of them (signature.Template).
func (p *Processes) FoldersTo(meta map[string]string) {
	last := p.folders.number("")
	rank := uint64(0)
	for _, run := range p.cols[folderColumn].Runs() {
		for i := range run.Count {
			if v := run.At(i); v != last {
				meta[model.MetaFolder+strconv.FormatUint(rank+i, 10)] = p.folders.list[v]
				last = v
			} else if run.Start == run.At(run.Count-1) {
				break
			}
		}
		rank += run.Count
	}
}

// FoldersFrom takes the working folders of processes from a trace's meta section. It leaves out what is no rank's.
func (p *Processes) FoldersFrom(meta map[string]string) {
	type start struct {
		rank int
		name string
	}
	var starts []start
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		number, ok := strings.CutPrefix(key, model.MetaFolder)
		if rank, err := strconv.Atoi(number); ok && err == nil && rank >= 0 && rank < p.Len() {
			starts = append(starts, start{rank, meta[key]})
		}
	}
	slices.SortStableFunc(starts, func(a, b start) int { return cmp.Compare(a.rank, b.rank) })
	n := p.Len()
	p.folders = names{}
	col := column.Column{}
	name := p.folders.number("")
	for _, s := range starts {
		col.Concat(column.Constant(name, s.rank-col.Len()))
		name = p.folders.number(s.name)
	}
	col.Concat(column.Constant(name, n-col.Len()))
	p.cols[folderColumn] = col
}
