package machine

import (
	"math"
	"slices"
)

// What is written and read in one go, and how often. File systems do things beside a program: the median is taken, however much times vary.
const (
	fewBytes, manyBytes = 8, 4 << 20
	fileSamples         = 15
)

// files measures what the MPI's files take: data goes to the system's memory and comes from there, MPI_File_sync
// has it written out.
func (b *bench) files(ranks int) (*Files, error) {
	var err error
	usual := func(kind ExperimentKind, bytes int64) float64 {
		if err != nil {
			return 0
		}
		var samples []int64
		if samples, err = b.Run(Experiment{Kind: kind, Bytes: bytes, Samples: fileSamples, Inner: 1}); err != nil {
			return 0
		}
		slices.Sort(samples)
		return max(0, float64(samples[len(samples)/2])-b.clock)
	}
	// perByte is what each byte adds, in ps.
	perByte := func(few, many float64) float64 {
		return math.Round(max(0, many-few)*1000*1000/(manyBytes-fewBytes)) / 1000
	}
	write, read, sync := usual(FileWrites, fewBytes), usual(FileReads, fewBytes), usual(FileSyncs, fewBytes)
	f := &Files{
		Open: ps(usual(FileOpens, 0) / 2), Latency: ps((write + read) / 2), Sync: ps(sync),
		Write: perByte(write, usual(FileWrites, manyBytes)), Read: perByte(read, usual(FileReads, manyBytes)), SyncByte: perByte(sync, usual(FileSyncs, manyBytes)),
	}
	f.Shared = math.Round(perByte(usual(FileAlls, fewBytes), usual(FileAlls, manyBytes))*1000/float64(ranks)) / 1000
	return f, err
}
