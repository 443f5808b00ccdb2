package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/papers/codecs"
	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/inputs"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// A program is what was measured on one recorded run of a program.
type program struct {
	Name       string
	Ranks      int
	Calls, All int64 // number of measured calls, and of all calls
	Results    []result
	Hist       histogramErrors
}

// A result is one codec's result for a program's times.
type result struct {
	Codec                   string
	Ratio, Gaps, Durations  float64
	GapNoise, DurationNoise float64 // PSNR of the decoded gaps and durations in decibels; 0: all are exact
	Worst                   float64 // largest relative error of a decoded gap or duration
	EncodeNs, DecodeNs      float64 // mean processor time for encoding, and for decoding, one gap or duration
}

func resultOf(r *codecs.Result) result {
	noise := func(v float64) float64 {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return 0
		}
		return v
	}
	return result{
		Codec: r.Codec, Ratio: r.Ratio(), Gaps: r.Gaps.Ratio(r), Durations: r.Durations.Ratio(r),
		GapNoise: noise(r.Gaps.PSNR(r)), DurationNoise: noise(r.Durations.PSNR(r)), Worst: r.MaxRelativeError,
		EncodeNs: r.NsPerValue(r.Encode), DecodeNs: r.NsPerValue(r.Decode),
	}
}

// measured tries all codecs on the first calls of each thread of a trace: on whole blocks, until these have as many
// calls as the parameter calls, or more.
func measured(path string, o *timing.Options, calls int) (*program, error) {
	r, err := trace.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p := &program{Name: strings.TrimSuffix(filepath.Base(path), ".spoor")}
	all := series.Codecs()
	var results []*codecs.Result
	for _, c := range all {
		results = append(results, codecs.New(c))
	}
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return nil, err
		}
		p.Ranks++
		for stream := range k.Streams() {
			p.All += int64(k.CallCount(stream))
			var whole codecs.Block
			for block, err := range codecs.Blocks(k, stream, o) {
				if err != nil {
					return nil, err
				}
				p.Calls += int64(len(block.Calls.Keys))
				for i, c := range all {
					if err := results[i].Add(c, block); err != nil {
						return nil, fmt.Errorf("%s: rank %d: %w", path, k.Number(), err)
					}
				}
				whole.Calls.Keys = append(whole.Calls.Keys, block.Calls.Keys...)
				whole.Batch.Gaps = append(whole.Batch.Gaps, block.Batch.Gaps...)
				whole.Batch.Durations = append(whole.Batch.Durations, block.Batch.Durations...)
				if len(whole.Calls.Keys) >= calls {
					break
				}
			}
			p.Hist.add(whole.Calls.Keys, whole.Batch)
		}
	}
	for _, x := range results {
		p.Results = append(p.Results, resultOf(x))
	}
	return p, nil
}

// A cache is a file with the measurements of programs, all made with the same options (file.How).
type cache struct {
	path string
	file struct {
		How      string
		Programs []*program
	}
}

// openCache reads a cache. A file that can't be read, or was made with options other than how, counts as empty.
func openCache(path, how string) *cache {
	c := &cache{path: path}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &c.file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "%s: %v; begun anew\n", path, err)
	}
	if err != nil || c.file.How != how {
		c.file.How, c.file.Programs = how, nil
	}
	return c
}

func (c *cache) program(name string) *program {
	for _, p := range c.file.Programs {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func (c *cache) add(p *program) error {
	c.file.Programs = append(c.file.Programs, p)
	text, err := json.MarshalIndent(&c.file, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(c.path, text, 0o644)
}

// names lists the programs that are recorded unless told otherwise.
var names = []string{"heat2d", "cg", "lu", "nbody", "master", "sort", "checkpoint", "lmp", "hpcc"}

// A recorder runs programs under spoor, with all times.
type recorder struct {
	dir     string
	ranks   int
	seconds float64
	limit   time.Duration
}

// record runs a program and returns its trace.
func (r *recorder) record(name string) (string, error) {
	installed := mpis.Installed()
	if len(installed) == 0 {
		return "", errors.New("no MPI is installed")
	}
	m := installed[0]
	work, err := os.MkdirTemp(r.dir, name+"-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	var line []string
	switch name {
	case "lmp":
		line = m.Command(r.ranks, "lmp", "-in", "/usr/share/lammps/examples/melt/in.melt", "-log", "none")
	case "hpcc":
		line = m.Command(r.ranks, "hpcc")
		if err := os.WriteFile(filepath.Join(work, "hpccinf.txt"), []byte(inputs.HPCCFor(r.ranks)), 0o644); err != nil {
			return "", err
		}
	default:
		app, ok := compile.ByName(name)
		if !ok {
			return "", fmt.Errorf("no program %s", name)
		}
		path, err := app.Build(m, work)
		if err != nil {
			return "", err
		}
		line = m.Command(r.ranks, path, "-t", fmt.Sprint(r.seconds))
	}
	spoor, err := filepath.Abs("bin/spoor")
	if err != nil {
		return "", err
	}
	out, err := filepath.Abs(filepath.Join(r.dir, name+".spoor"))
	if err != nil {
		return "", err
	}
	c := exec.Command(spoor, append([]string{"run", "-q", "--force", "--timing", "lossless", "-o", out}, line...)...)
	var text bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr = work, m.Environ("OMP_NUM_THREADS=1"), &text, &text
	if err := mpis.RunWithin(r.limit, c); err != nil {
		return "", fmt.Errorf("%w\n%s", err, text.String())
	}
	return out, nil
}
