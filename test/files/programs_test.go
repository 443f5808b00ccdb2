package files

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/files"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/trace"
)

// used is what was done with a file.
type used struct {
	opens, reads, writes int
	read, written        int64
}

// straceOf adds up by file what strace saw of all processes: absolute names as they are.
func straceOf(t *testing.T, dir string) map[string]*used {
	t.Helper()
	out, err := filepath.Glob(filepath.Join(dir, "out.*"))
	if err != nil || len(out) == 0 {
		t.Fatal("strace wrote nothing: ", err)
	}
	name := regexp.MustCompile(`"([^"]*)"`)
	all := make(map[string]*used)
	for _, file := range out {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		open := make(map[string]*used)
		for line := range strings.Lines(string(text)) {
			m := call.FindStringSubmatch(line)
			if m == nil || m[4] != "" {
				continue
			}
			args := split(m[2])
			n, _ := strconv.ParseInt(m[3], 10, 64)
			switch u := open[args[0]]; {
			case m[1] == "openat":
				path := name.FindStringSubmatch(args[1])[1]
				if all[path] == nil {
					all[path] = &used{}
				}
				all[path].opens++
				open[m[3]] = all[path]
			case m[1] == "close":
				delete(open, args[0])
			case u != nil && strings.HasPrefix(m[1], "write") || u != nil && strings.HasPrefix(m[1], "pwrite"):
				u.writes++
				u.written += n
			case u != nil && (strings.HasPrefix(m[1], "read") || strings.HasPrefix(m[1], "pread")):
				u.reads++
				u.read += n
			}
		}
	}
	return all
}

// filesOf is the same as spoor io has it.
func filesOf(t *testing.T, file string) map[string]*used {
	t.Helper()
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rep, err := files.Analyse(r, files.Options{SeparateRankFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]*used)
	for _, f := range rep.Files {
		u := &f.Total
		if f.API != files.APIPosix {
			continue
		}
		all[f.Path] = &used{int(u.Opens), int(u.Reads.Calls), int(u.Writes.Calls), u.Reads.Bytes, u.Writes.Bytes}
	}
	return all
}

// A program of others is run three times: as it is, under strace, and under spoor.
type program struct {
	line   []string
	ranks  int
	inputs map[string]string                 // text by name
	mask   *regexp.Regexp                    // what differs from run to run in its output and files
	sum    func(file string) (string, error) // what of a file is compared; nil: all of it
}

// runThrice compares output and files of the first and the last, and returns what strace and spoor say of files, and their sizes.
func (p *program) runThrice(t *testing.T, m *mpis.MPI, results *regexp.Regexp) (asked, got map[string]*used, sizes map[string]int64) {
	t.Helper()
	strace, tool, top := need.Command(t, "strace"), mpis.NeedSpoor(t), t.TempDir()
	var printed [3]string
	var sums [3]map[string]string
	sizes = make(map[string]int64)
	for i, before := range [][]string{nil, {tool, "run", "-q", "--io", "-o", filepath.Join(top, "t.spoor")}, nil} {
		dir := filepath.Join(top, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for name, text := range p.inputs {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		line := p.line
		if i == 2 {
			line = append([]string{strace, "-ff", "-o", filepath.Join(top, "out"), "-s", "0", "-X", "raw"}, line...)
		}
		r := mpis.Job{MPI: m, Dir: dir, Temp: top}.Run(append(before, m.Command(p.ranks, line...)...)...)
		if r.Err != nil {
			if i == 2 {
				t.Skipf("strace may not trace here: %v", r)
			}
			t.Fatal(r)
		}
		printed[i] = p.masked(r.Stdout)
		sums[i] = make(map[string]string)
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if !results.MatchString(e.Name()) {
				continue
			}
			path := filepath.Join(dir, e.Name())
			var text string
			if p.sum != nil {
				text, err = p.sum(path)
			} else {
				var b []byte
				b, err = os.ReadFile(path)
				text = p.masked(string(b))
			}
			info, ierr := e.Info()
			if err != nil || ierr != nil {
				t.Fatal(err, ierr)
			}
			sums[i][e.Name()] = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
			if i == 1 {
				sizes[e.Name()] = info.Size()
			}
		}
	}
	if printed[0] != printed[1] {
		t.Errorf("without spoor:\n%s\nwith:\n%s", printed[0], printed[1])
	}
	if len(sums[0]) == 0 || !maps.Equal(sums[0], sums[1]) {
		t.Errorf("files without spoor: %v\nwith: %v", sums[0], sums[1])
	}
	return straceOf(t, top), filesOf(t, filepath.Join(top, "t.spoor")), sizes
}

func (p *program) masked(s string) string {
	if p.mask == nil {
		return lines(s)
	}
	return lines(p.mask.ReplaceAllString(s, "#"))
}

// openMPI is the MPI that Debian's programs are linked to.
func openMPI(t *testing.T) *mpis.MPI {
	t.Helper()
	m, err := mpis.Find("openmpi")
	if err != nil {
		need.Absent(t, "%v", err)
	}
	return m
}

// LAMMPS writes dumps, restarts and data as it does without spoor, and spoor io says of each what ls and strace say of its length.
func TestLAMMPS(t *testing.T) {
	need.Command(t, "lmp")
	m := openMPI(t)
	input, err := os.ReadFile("testdata/in.dump")
	if err != nil {
		t.Fatal(err)
	}
	p := program{
		line: []string{"lmp", "-in", "in.dump", "-log", "log"}, ranks: 2, inputs: map[string]string{"in.dump": string(input)},
		mask: regexp.MustCompile(`(?s)Loop time.*|\d+\.\d+`), // of what is printed and logged, files of numbers are compared below
	}
	p.sum = func(file string) (string, error) {
		b, err := os.ReadFile(file)
		if filepath.Base(file) == "log" {
			return p.masked(string(b)), err
		}
		return string(b), err
	}
	asked, got, sizes := p.runThrice(t, m, regexp.MustCompile(`^(dump|restart|data|log)`))
	if len(sizes) != 11 {
		t.Errorf("files left: %v", sizes)
	}
	for name, size := range sizes {
		g, a := got[name], asked[name]
		if g == nil || a == nil {
			t.Errorf("%s: spoor has %v, strace %v", name, g, a)
			continue
		}
		if name == "data.end" { // a line of each of 864 atoms ends with fputc, which is not recorded
			size -= 864
			a.written -= 864
		}
		if g.written != size || g.opens != a.opens || name != "log" && g.written != a.written {
			t.Errorf("%s has %d bytes; spoor: %+v, strace: %+v", name, size, *g, *a)
		}
	}
	if g := got["in.dump"]; g == nil || g.read != int64(len(input)) {
		t.Errorf("of %d bytes of input were read: %+v", len(input), g)
	}
}

// HDF5's own calls are those that strace sees; what h5dump finds in the files is the same.
func TestHDF5(t *testing.T) {
	dump := need.Command(t, "h5dump")
	const headers, library = "/usr/include/hdf5/openmpi", "/usr/lib/x86_64-linux-gnu/hdf5/openmpi"
	if _, err := os.Stat(filepath.Join(headers, "hdf5.h")); err != nil {
		need.Absent(t, "not installed: HDF5 for Open MPI")
	}
	m := openMPI(t)
	name := filepath.Join(t.TempDir(), "hdf5")
	if err := m.Compile(name, "testdata/hdf5.c", "-I"+headers, "-Wl,--no-as-needed", "-L"+library, "-lhdf5"); err != nil {
		t.Fatal(err)
	}
	p := program{line: []string{name}, ranks: 3, sum: func(file string) (string, error) {
		text, err := exec.Command(dump, file).Output()
		return strings.ReplaceAll(string(text), file, ""), err
	}}
	asked, got, sizes := p.runThrice(t, m, regexp.MustCompile(`\.h5$`))
	if len(sizes) != 4 {
		t.Errorf("files left: %v", sizes)
	}
	for _, own := range slices.Sorted(maps.Keys(sizes)) {
		g, a := got[own], asked[own]
		switch {
		case own == "all.h5": // by MPI-IO, inside of calls of MPI
			if g != nil {
				t.Errorf("what the MPI did for itself: %+v", *g)
			}
		case g == nil || a == nil || *g != *a || g.writes == 0 || g.reads == 0:
			t.Errorf("%s: spoor %+v, strace %+v", own, g, a)
		}
	}
}
