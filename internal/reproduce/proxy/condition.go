package proxy

import (
	"fmt"
	"math"
	"strconv"
)

// condition tells some ranks from others.
func (f *fitter) condition(who, rest []int) (string, bool) {
	if len(rest) == 0 {
		return "1", true
	}
	if len(who) == 0 {
		return "0", true
	}
	if len(who) == 1 {
		return fmt.Sprintf("rank == %d", who[0]), true
	}
	if len(rest) == 1 {
		return fmt.Sprintf("rank != %d", rest[0]), true
	}
	switch {
	case who[len(who)-1] < rest[0]:
		return fmt.Sprintf("rank < %d", rest[0]), true
	case who[0] > rest[len(rest)-1]:
		return fmt.Sprintf("rank > %d", rest[len(rest)-1]), true
	}
	size := f.g.r.Ranks()
	for d := 2; d <= size; d++ {
		if size%d != 0 && d > 64 {
			continue
		}
		if c, ok := split("rank % "+strconv.Itoa(d), who, rest, func(r int) int { return r % d }); ok {
			return c, true
		}
		if c, ok := split("rank / "+strconv.Itoa(d), who, rest, func(r int) int { return r / d }); ok {
			return c, true
		}
	}
	return "", false
}

// split tells ranks apart by a number of theirs.
func split(text string, who, rest []int, of func(int) int) (string, bool) {
	lo, hi := math.MaxInt, math.MinInt
	for _, r := range who {
		lo, hi = min(lo, of(r)), max(hi, of(r))
	}
	below, above, inside := true, true, false
	for _, r := range rest {
		v := of(r)
		inside = inside || v >= lo && v <= hi
		below = below && v > hi
		above = above && v < lo
	}
	switch {
	case inside:
		return "", false
	case lo == hi:
		return fmt.Sprintf("%s == %d", text, lo), true
	case below:
		return fmt.Sprintf("%s <= %d", text, hi), true
	case above:
		return fmt.Sprintf("%s >= %d", text, lo), true
	}
	return "", false
}
