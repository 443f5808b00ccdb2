package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/bench/scale/pilgrim"
	"github.com/spoor-hpc/spoor/bench/scale/real"
	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
)

// A store is a file of results that grows run by run: a text written by hand, the table, the real runs, and a
// summary. Newer runs replace rows of older ones.
type store struct {
	path string
	text string // by hand, up to the table
	rows map[place][]string
	real map[real.Key]string
}

type place struct {
	program string
	ranks   int
}

// tableStart is the beginning of the first line after the text.
const tableStart = "program  ranks"

func openStore(path string) (*store, error) {
	s := &store{path: path, rows: make(map[place][]string), real: make(map[real.Key]string)}
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	file := string(b)
	if at := strings.Index("\n"+file, "\n"+tableStart); at >= 0 {
		s.text, file = file[:at], file[at:]
	} else {
		s.text, file = file, ""
	}
	for line := range strings.Lines(file) {
		if k, ok := real.KeyOf(line); ok {
			s.real[k] = strings.TrimRight(line, "\n")
		}
		if f, ok := fieldsOf(line); ok {
			n, err := parseAmount(f[1])
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", path, line, err)
			}
			s.rows[place{f[0], n}] = f
		}
	}
	return s, nil
}

// reload reads what other runs have written to the file since.
func (s *store) reload() error {
	now, err := openStore(s.path)
	if err == nil {
		*s = *now
	}
	return err
}

// fileAt is the column of the whole file's size.
const fileAt = 8

// baselineAt and baselineTo bound the columns of the baseline. It depends only on the calls, so a run without it
// keeps the old values.
const baselineAt, baselineTo = 9, 12

func (s *store) add(r *Result) error {
	if err := s.reload(); err != nil {
		return err
	}
	f := fields(r)
	k := place{f[0], r.Ranks}
	if old := s.rows[k]; old != nil && !r.Pilgrim.Known {
		copy(f[baselineAt:baselineTo], old[baselineAt:baselineTo])
		f[baselineTo] = ratio(f)
	}
	s.rows[k] = f
	return s.write()
}

// addBaseline puts the baseline into a row that is there.
func (s *store) addBaseline(k place, p pilgrim.Size) error {
	if err := s.reload(); err != nil {
		return err
	}
	f := s.rows[k]
	copy(f[baselineAt:baselineTo], fields(&Result{Pilgrim: p})[baselineAt:baselineTo])
	f[baselineTo] = ratio(f)
	return s.write()
}

func ratio(f []string) string {
	packed, err := parseAmount(f[baselineAt+1])
	content, err2 := parseAmount(f[5])
	if err != nil || err2 != nil || content == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(packed)/float64(content))
}

func (s *store) addReal(r *real.Result) error {
	if err := s.reload(); err != nil {
		return err
	}
	var b strings.Builder
	real.Row(&b, r)
	s.real[r.Key()] = strings.TrimRight(b.String(), "\n")
	return s.write()
}

// write replaces the file.
func (s *store) write() error {
	var b bytes.Buffer
	b.WriteString(s.text)
	if err := s.table(&b); err != nil {
		return err
	}
	tmp := s.path + ".new"
	if err := os.WriteFile(tmp, b.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, s.path)
}

func (s *store) table(b *bytes.Buffer) error {
	start := b.Len()
	printHead(b)
	for _, p := range skeleton.All {
		var list []place
		for k := range s.rows {
			if k.program == p.Name {
				list = append(list, k)
			}
		}
		slices.SortFunc(list, func(a, c place) int { return a.ranks - c.ranks })
		for _, k := range list {
			printFields(b, s.rows[k])
		}
		if len(list) > 0 {
			fmt.Fprintln(b)
		}
	}
	results, err := readTable(bytes.NewReader(b.Bytes()[start:]))
	if err != nil {
		return err
	}
	if len(s.real) > 0 {
		fmt.Fprint(b, "Real runs:\n\n")
		real.Head(b)
		for _, k := range slices.SortedFunc(maps.Keys(s.real), real.Compare) {
			fmt.Fprintln(b, s.real[k])
		}
	}
	printSummary(b, results)
	return nil
}

// missing lists the rows that a complete table has and the file has not, perhaps
// those that lack the baseline, too.
func (s *store) missing(programs []skeleton.Program, sizes []int, baseline bool) (list []place) {
	for _, n := range sizes {
		for _, p := range programs {
			k := place{p.Name, n}
			if f := s.rows[k]; f != nil && (!baseline || f[baselineAt] != "-") {
				continue
			}
			if p.Fits == nil || p.Fits(n) {
				list = append(list, k)
			}
		}
	}
	return list
}

// fieldsOf splits a row of the table.
func fieldsOf(line string) ([]string, bool) {
	if !strings.Contains(line, "|") {
		return nil, false
	}
	f := strings.Fields(strings.ReplaceAll(line, "|", " "))
	if len(f) == columns-1 { // a row from a version without the column of the whole file
		sum := 0
		for _, part := range []string{f[4], f[6], f[7]} {
			n, err := parseAmount(part)
			if err != nil {
				return nil, false
			}
			sum += n
		}
		f = slices.Insert(f, fileAt, strconv.Itoa(sum))
	}
	if len(f) != columns {
		return nil, false
	}
	// Real programs have some of the names, and the MPI in second place.
	_, known := skeleton.ByName(f[0])
	_, err := strconv.Atoi(f[1])
	return f, known && err == nil
}

func printFields(w io.Writer, f []string) {
	list := make([]any, len(f))
	for i, s := range f {
		list[i] = s
	}
	fmt.Fprintf(w, rowFormat, list...)
}

// readTable reads the rows that printRow wrote, as far as plot and summary need
// them, so that long runs can be made one by one. Other lines are skipped.
func readTable(r io.Reader) ([]*Result, error) {
	var list []*Result
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		f, ok := fieldsOf(lines.Text())
		if !ok {
			continue
		}
		p, _ := skeleton.ByName(f[0])
		var err error
		number := func(s string) int {
			n, e := parseAmount(s)
			if e != nil {
				err = e
			}
			return n
		}
		res := &Result{
			Program: p, Ranks: number(f[1]), Classes: number(f[3]), Calls: number(f[4]), Content: number(f[5]),
			Times: number(f[6]), Process: number(f[7]), File: number(f[8]), Message: number(f[16]),
		}
		duration := func(s string) time.Duration {
			d, e := time.ParseDuration(s)
			if e != nil {
				err = e
			}
			return d
		}
		res.Merge, res.Path = duration(f[13]), duration(f[14])
		if f[9] != "-" {
			res.Pilgrim.Known, res.Pilgrim.Bound = true, strings.HasPrefix(f[9], ">")
			res.Pilgrim.Plain, res.Pilgrim.Packed = number(f[9]), number(f[10])
			if f[11] != "-" {
				res.Pilgrim.Named = number(f[11])
			}
		}
		if f[19] != "-" {
			res.Verified = number(f[19])
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		list = append(list, res)
	}
	return list, lines.Err()
}

// columns of the table.
const columns = 20

// parseAmount reads what amount wrote.
func parseAmount(s string) (int, error) {
	s = strings.TrimPrefix(s, ">")
	unit := 1.0
	if s != "" {
		if i := strings.IndexByte("KMG", s[len(s)-1]); i >= 0 {
			unit = math.Pow10(3 * (i + 1))
			s = s[:len(s)-1]
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return int(v*unit + 0.5), err
}
