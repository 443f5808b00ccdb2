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
	text string // the part of the file before the table, written by hand
	rows map[place][]string
	real map[real.Key]string
}

type place struct {
	program string
	ranks   int
}

// tableStart is the beginning of the table's first line, with which the text written by hand ends.
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

// reload reads the file again: another process may have added rows since it was read.
func (s *store) reload() error {
	now, err := openStore(s.path)
	if err == nil {
		*s = *now
	}
	return err
}

// fileAt is the number, from 0, of the table column "file": the size of the whole trace.
const fileAt = 8

// Table columns from baselineAt up to, but without, baselineTo hold the sizes by Pilgrim's scheme, the baseline. They
// depend only on the program's calls, so a row measured without the baseline keeps the old values.
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

// addBaseline puts the baseline into a row of the table that has all other values.
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

// write replaces the file by one with the store's content.
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

// missing lists the rows of a complete table that the file lacks. With baseline, it also lists those of the file that
// have no baseline.
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

// fieldsOf splits a row of the table into its fields. It returns false if the line is no row.
func fieldsOf(line string) ([]string, bool) {
	if !strings.Contains(line, "|") {
		return nil, false
	}
	f := strings.Fields(strings.ReplaceAll(line, "|", " "))
	if len(f) == columns-1 { // a row of an old file, whose table had no column "file"
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
	// A row of a real run may have a skeleton's name (e.g. cg), too, but its second field is the MPI, no number.
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

// readTable reads the rows that printRow wrote, but only the values that the plot and the summary need. Lines that are
// no rows are skipped.
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

// columns is the number of columns of the table.
const columns = 20

// parseAmount reads a number as amount writes it, e.g. 12.3K. A > before it, which marks a lower bound, is ignored.
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
