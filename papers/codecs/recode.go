package codecs

import (
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// Recode rewrites a trace that has every call's exact time, with the times in another mode. Calls, summaries of times
// and wait states stay unchanged. progress is called for each rank.
func Recode(r *trace.Reader, o timing.Options, path string, overwrite bool, progress func()) error {
	data, err := sections.CreateSeriesTempFile()
	if err != nil {
		return err
	}
	defer data.Close()
	times := &sections.Series{Data: data, Sizes: make([]int64, r.Ranks())}
	names, err := r.AttachedNames()
	if err != nil {
		return err
	}
	for k, err := range r.RanksWithTrack() {
		if err == nil {
			times.Sizes[k.Number()], err = recodeRank(k, o, names, data)
		}
		if err != nil {
			return err
		}
		progress()
	}
	src, err := os.Open(r.Name())
	if err != nil {
		return err
	}
	defer src.Close()
	return sections.Rewrite(path, src, r.Size(), func(meta map[string]string) { describe(meta, o) }, times, overwrite)
}

// describe replaces the recorded mode and error bounds in the metadata.
func describe(meta map[string]string, o timing.Options) {
	words := strings.Fields(meta[trace.MetaRecorderOptions])
	for i, w := range words {
		if name, _, is := strings.Cut(w, "="); is && (name == "timing" || name == timing.ModeVariable) {
			words[i] = name + "=" + string(o.Mode)
		}
	}
	meta[trace.MetaRecorderOptions] = strings.Join(words, " ")
	for _, v := range o.Environment() {
		if v[0] == timing.ErrorsVariable {
			meta[trace.MetaTimingError] = v[1]
		}
	}
	meta[trace.MetaNotePrefix+".codec"] = fmt.Sprintf("times of calls were coded by %s after the run", o.Mode)
}

// recodeRank writes the times of a rank to a file, and returns how many bytes they take.
func recodeRank(k *trace.Rank, o timing.Options, names []string, to io.Writer) (int64, error) {
	handed, err := k.Track()
	if err != nil {
		return 0, err
	}
	tr := track.Sealed(handed).Track()
	l := &track.TimeLog{Options: o, AttachedNames: names}
	for stream := range k.Streams() {
		for raw, err := range k.RawTimes(stream) {
			if err != nil {
				return 0, err
			}
			l.TicksPerNs, l.StartNs = raw.TicksPerNs, raw.TickZeroWallClockNs
			break
		}
		l.Streams = append(l.Streams, entries(k, stream))
		if len(names) > 0 {
			l.AttachedNumbers = append(l.AttachedNumbers, attached(k, stream, names))
		}
	}
	if l.TicksPerNs == 0 {
		return 0, nil // no calls
	}
	tr.TimeLog = l
	return merge.WriteCallTimes(tr, to)
}

func entries(k *trace.Rank, stream int) iter.Seq2[[]timing.CallTicks, error] {
	return func(yield func([]timing.CallTicks, error) bool) {
		for raw, err := range k.RawTimes(stream) {
			if err != nil {
				yield(nil, err)
				return
			}
			list := make([]timing.CallTicks, len(raw.GapTicks))
			for i := range list {
				list[i] = timing.CallTicks{Gap: raw.GapTicks[i], Duration: raw.DurationTicks[i], BeginOffset: raw.StartJumpTicks[i]}
			}
			if !yield(list, nil) {
				return
			}
		}
	}
}

// attached yields the values attached to the calls of a stream. Of several values with one name only the sum is
// known: the first becomes the sum, the others 0.
func attached(k *trace.Rank, stream int, names []string) iter.Seq2[[]timing.AttachedNumber, error] {
	number := make(map[string]int, len(names))
	for i, name := range names {
		number[name] = i
	}
	return func(yield func([]timing.AttachedNumber, error) bool) {
		line, err := k.AttachedValueCursor(stream)
		if err != nil {
			yield(nil, err)
			return
		}
		var list []timing.AttachedNumber
		for call := range k.CallCount(stream) {
			values, err := line.At(call)
			if err != nil {
				yield(nil, err)
				return
			}
			list = list[:0]
			for _, v := range values {
				list = append(list, timing.AttachedNumber{CallIndex: call, NameIndex: number[v.Name], Value: v.ExactSum})
				for range int(v.Count) - 1 {
					list = append(list, timing.AttachedNumber{CallIndex: call, NameIndex: number[v.Name]})
				}
			}
			if len(list) > 0 && !yield(list, nil) {
				return
			}
		}
	}
}
