package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
)

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
