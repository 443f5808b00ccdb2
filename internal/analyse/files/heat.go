package files

import (
	"cmp"
	"maps"
	"slices"
)

// Limits of a HeatMap's size.
const (
	heatBins  = 2048 // number of intervals of time
	heatRows  = 128  // largest number of rows of ranks
	heatFiles = 1024 // largest number of rows of files; further files have no row
)

// A HeatMap is the number of bytes read and written over time, by rank and by file. The bytes of a call are spread
// evenly over the call's duration.
type HeatMap struct {
	FromNs, ToNs int64                  // the part of the time line that the map covers
	RanksPerRow  int                    // number of consecutive ranks that share a row of Ranks
	Ranks        []HeatMapRow           // rows of ranks; row i begins with rank i × RanksPerRow
	Files        map[string]*HeatMapRow // rows of files, by printed name
}

// A HeatMapRow is numbers of bytes read and written in each interval of time; nil: none.
type HeatMapRow struct{ ReadBytes, WrittenBytes []float64 }

// NewHeatMap returns an empty map for a number of ranks and for a part of the time line, in ns.
func NewHeatMap(ranks int, from, to int64) *HeatMap {
	each := max(1, (ranks+heatRows-1)/heatRows)
	return &HeatMap{FromNs: from, ToNs: max(to, from+1), RanksPerRow: each, Ranks: make([]HeatMapRow, (ranks+each-1)/each), Files: make(map[string]*HeatMapRow)}
}

// Add adds a read or write of a rank. start and end are times on the time line in ns.
func (h *HeatMap) Add(rank int, file string, written bool, bytes, start, end int64) {
	if bytes <= 0 {
		return
	}
	h.Ranks[rank/h.RanksPerRow].add(h, written, bytes, start, end)
	r := h.Files[file]
	if r == nil {
		if len(h.Files) == heatFiles {
			return
		}
		r = &HeatMapRow{}
		h.Files[file] = r
	}
	r.add(h, written, bytes, start, end)
}

func (r *HeatMapRow) add(h *HeatMap, written bool, bytes, start, end int64) {
	bins := &r.ReadBytes
	if written {
		bins = &r.WrittenBytes
	}
	if *bins == nil {
		*bins = make([]float64, heatBins)
	}
	width := float64(h.ToNs-h.FromNs) / heatBins
	place := func(at int64) float64 { return min(max(float64(at-h.FromNs)/width, 0), heatBins) }
	from, to := place(start), place(end)
	first, last := min(int(from), heatBins-1), min(int(to), heatBins-1)
	if first == last {
		(*bins)[first] += float64(bytes)
		return
	}
	for i := first; i <= last; i++ {
		part := min(to, float64(i+1)) - max(from, float64(i))
		(*bins)[i] += float64(bytes) * part / (to - from)
	}
}

// TrimToActiveTime cuts a map to the time in which data was read or written. It joins consecutive intervals so that at most most
// are left, and returns their number.
func (h *HeatMap) TrimToActiveTime(most int) int {
	first, last := heatBins, -1
	rows := make([]*HeatMapRow, 0, len(h.Ranks)+len(h.Files))
	for i := range h.Ranks {
		rows = append(rows, &h.Ranks[i])
	}
	rows = slices.AppendSeq(rows, maps.Values(h.Files))
	for _, r := range rows {
		for i := range heatBins {
			if r.ReadBytes != nil && r.ReadBytes[i] > 0 || r.WrittenBytes != nil && r.WrittenBytes[i] > 0 {
				first, last = min(first, i), max(last, i)
			}
		}
	}
	if last < 0 {
		return 0
	}
	each := (last - first + most) / most
	bins := (last-first)/each + 1
	for _, r := range rows {
		r.ReadBytes, r.WrittenBytes = cut(r.ReadBytes, first, each, bins), cut(r.WrittenBytes, first, each, bins)
	}
	width := float64(h.ToNs-h.FromNs) / heatBins
	h.FromNs += int64(float64(first) * width)
	h.ToNs = h.FromNs + int64(float64(bins*each)*width)
	return bins
}

// cut returns a list of length bins. Each element is the sum of each (a number) consecutive elements of list, from
// index first on.
func cut(list []float64, first, each, bins int) []float64 {
	if list == nil {
		return nil
	}
	out := make([]float64, bins)
	for i := range out {
		for _, v := range list[first+i*each : min(first+(i+1)*each, heatBins)] {
			out[i] += v
		}
	}
	return out
}

// TotalBytes returns the number of bytes read and written in all intervals of a row.
func (r *HeatMapRow) TotalBytes() float64 {
	sum := 0.0
	for _, bins := range [][]float64{r.ReadBytes, r.WrittenBytes} {
		for _, v := range bins {
			sum += v
		}
	}
	return sum
}

// TopFilesByBytes lists the names of up to most files with the most bytes read and written, in falling order.
func (h *HeatMap) TopFilesByBytes(most int) []string {
	bytes := make(map[string]float64, len(h.Files))
	var names []string
	for name, r := range h.Files {
		bytes[name] = r.TotalBytes()
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(bytes[b], bytes[a]), cmp.Compare(a, b)) })
	return names[:min(len(names), most)]
}
