package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// parseList reads a list such as 0,4-7,10- of numbers below n, and returns the numbers in rising order. An empty text
// means all of them.
func parseList(text string, n int) ([]int, error) {
	list := []int{}
	if text == "" {
		for i := range n {
			list = append(list, i)
		}
		return list, nil
	}
	for _, part := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.Atoi(from)
		last := first
		if err == nil && isRange {
			if last = n - 1; to != "" {
				last, err = strconv.Atoi(to)
			}
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q is not a list such as 0,4-7,10-", text)
		case first >= n || last >= n:
			return nil, fmt.Errorf("%s: there are %d, from 0 to %d", part, n, n-1)
		case first > last:
			return nil, fmt.Errorf("%s: an empty range", part)
		}
		for i := first; i <= last; i++ {
			list = append(list, i)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// parseSpan reads a range i:j of numbers from i up to, but without, j. Without i it begins at 0, without j it has no
// end.
func parseSpan(text string) (first, end uint64, err error) {
	from, to, ok := strings.Cut(text, ":")
	end = math.MaxUint64
	if from != "" {
		first, err = strconv.ParseUint(from, 10, 64)
	}
	if err == nil && to != "" {
		end, err = strconv.ParseUint(to, 10, 64)
	}
	if !ok || err != nil || first > end {
		return 0, 0, fmt.Errorf("%q is not a range such as 100:200, :50 or 1000:", text)
	}
	return first, end, nil
}
