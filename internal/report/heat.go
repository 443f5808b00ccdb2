package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/analyse/files"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A PosixFile is the use of a file through POSIX and C.
type PosixFile struct {
	Path                 string      `json:"path"`
	Ranks                int         `json:"ranks"`
	IsFilePerRank        bool        `json:"file_per_rank"`
	SlowestRankBandwidth float64     `json:"bandwidth"` // bytes per second of the rank with most time; 0: not known
	Total                files.Usage `json:"total"`
}

// A HeatMap is the bytes read and written over time, by rank and by file.
type HeatMap struct {
	API          string   `json:"by"`   // interface through which the files were used: "MPI-IO", or "POSIX and C"
	TimesKind    string   `json:"kind"` // accuracy of the calls' times: exact, bounded, histogram or mean
	StartNs      int64    `json:"from"` // ns since the first call
	DurationNs   int64    `json:"ns"`   // time from the first to the last access
	Bins         int      `json:"bins"` // number of bins in DurationNs
	Ranks        int      `json:"ranks"`
	RanksPerRow  int      `json:"each"` // ranks that share a row
	Files        []string `json:"files"`
	FilesOmitted int      `json:"more"` // number of omitted files, which have fewer bytes
	// For each row, first of ranks, then of files, two lists: bytes read, and bytes written. A list is the number of
	// bins with bytes, then for each such bin its distance from the previous one and its bytes; packed.
	PackedCells string `json:"cells"`
}

// Largest number of files and of bins of a HeatMap.
const (
	maxHeatFiles = 40
	maxHeatBins  = 240
)

// span returns the begin of the run's first call and the end of its last one, in ns; ok is false without times.
func span(r *trace.Reader) (from, to int64, ok bool, err error) {
	if !r.HasTimes() {
		return 0, 0, false, nil
	}
	from, to, err = r.TimeExtent()
	return from, to, true, err
}

// posixOf returns the use of files through POSIX and C, the file with most time first. more is how many files it omits.
func posixOf(r *trace.Reader, s *sums.Summary, o Options) (list []PosixFile, more int, heat *HeatMap, err error) {
	list = []PosixFile{}
	uses := slices.ContainsFunc(s.Functions, func(f sums.FunctionSummary) bool {
		c, ok := mpi.CallNamed(f.Name)
		return ok && c.Has(mpi.AttrPosix)
	})
	if !uses || s.Calls > maxFileCalls {
		return list, 0, nil, nil
	}
	o.Progress("looking at files", 0, r.Ranks())
	from, to, timed, err := span(r)
	if err != nil {
		return nil, 0, nil, err
	}
	h := files.NewHeatMap(r.Ranks(), from, to)
	rep, err := files.Analyse(r, files.Options{Heat: h})
	if err != nil {
		return nil, 0, nil, err
	}
	// Files used through MPI-IO are in another table, see filesOf.
	rep.Files = slices.DeleteFunc(rep.Files, func(f *files.File) bool { return f.API != files.APIPosix })
	more = max(0, len(rep.Files)-maxFiles)
	for _, f := range rep.Files[:len(rep.Files)-more] {
		list = append(list, PosixFile{Path: f.Path, Ranks: len(f.UseByRank), IsFilePerRank: f.IsFilePerRank, SlowestRankBandwidth: f.Bandwidth(), Total: f.Total})
	}
	if timed {
		heat = heatOf(h, "POSIX and C", rep.TimesKind, r.Ranks())
	}
	return list, more, heat, nil
}

// heatOf converts a heat map for the page; nil if nothing was read or written.
func heatOf(h *files.HeatMap, by string, kind trace.SampleKind, ranks int) *HeatMap {
	if len(h.Files) == 0 || kind == trace.NoSample {
		return nil
	}
	begin := h.FromNs
	bins := h.TrimToActiveTime(maxHeatBins)
	x := &HeatMap{API: by, TimesKind: kind.String(), StartNs: h.FromNs - begin, DurationNs: h.ToNs - h.FromNs, Bins: bins, Ranks: ranks, RanksPerRow: h.RanksPerRow, Files: h.TopFilesByBytes(maxHeatFiles)}
	x.FilesOmitted = len(h.Files) - len(x.Files)
	var b []byte
	for i := range h.Ranks {
		b = appendHeat(b, &h.Ranks[i])
	}
	for _, name := range x.Files {
		b = appendHeat(b, h.Files[name])
	}
	x.PackedCells = packed(b)
	return x
}

func appendHeat(b []byte, r *files.HeatMapRow) []byte {
	for _, bins := range [][]float64{r.ReadBytes, r.WrittenBytes} {
		var cells []uint64
		last := 0
		for i, v := range bins {
			if v > 0 {
				cells = append(cells, uint64(i-last), uint64(math.Ceil(v)))
				last = i
			}
		}
		b = appendUvarint(b, uint64(len(cells)/2))
		b = appendUvarint(b, cells...)
	}
	return b
}

// looked adds to the page's data how the run used files.
func (d *Data) looked(r *trace.Reader, o Options) (err error) {
	var heats [2]*HeatMap
	if d.PosixFiles, d.PosixFilesOmitted, heats[0], err = posixOf(r, d.Summary, o); err != nil {
		return fmt.Errorf("files of POSIX and C: %w", err)
	}
	if d.Files, d.FilesOmitted, heats[1], err = filesOf(r, d.Summary, o); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	d.HeatMaps = []HeatMap{}
	for _, h := range heats {
		if h != nil {
			d.HeatMaps = append(d.HeatMaps, *h)
		}
	}
	return nil
}
