package main

import (
	"maps"
	"slices"
	"strconv"

	"github.com/spoor-hpc/spoor/trace"
)

// An attachedValue is what was attached to calls under a name.
type attachedValue struct {
	name string
	stat trace.ValueStat
}

// attachedCache keeps what was attached to a rank's distinct calls.
type attachedCache struct {
	rank  *trace.Rank
	known map[int][]attachedValue
}

// of returns what was attached to calls like a terminal, by name.
func (a *attachedCache) of(k *trace.Rank, terminal int) ([]attachedValue, error) {
	if a.rank != k {
		a.rank, a.known = k, make(map[int][]attachedValue)
	}
	if list, ok := a.known[terminal]; ok {
		return list, nil
	}
	all, err := k.ValuesOf(terminal)
	if err != nil {
		return nil, err
	}
	var list []attachedValue
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, attachedValue{name, all[name]})
	}
	a.known[terminal] = list
	return list, nil
}

// appendValues renders values as text: # name mean [least, greatest].
func appendValues(b []byte, list []attachedValue) []byte {
	for i, v := range list {
		if b = append(b, " # "...); i > 0 {
			b = append(b[:len(b)-3], ", "...)
		}
		b = append(append(b, v.name...), ' ')
		b = strconv.AppendFloat(b, v.stat.Mean(), 'f', -1, 32)
		if v.stat.Min != v.stat.Max {
			b = strconv.AppendInt(append(b, " ["...), v.stat.Min, 10)
			b = append(strconv.AppendInt(append(b, ", "...), v.stat.Max, 10), ']')
		}
	}
	return b
}

// appendValuesJSON renders values as an object of objects.
func appendValuesJSON(b []byte, list []attachedValue) []byte {
	b = append(b, '{')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, v.name)
		b = strconv.AppendUint(append(b, `:{"count":`...), v.stat.Count, 10)
		b = strconv.AppendInt(append(b, `,"sum":`...), v.stat.Sum, 10)
		b = strconv.AppendInt(append(b, `,"min":`...), v.stat.Min, 10)
		b = strconv.AppendInt(append(b, `,"max":`...), v.stat.Max, 10)
		b = append(b, '}')
	}
	return append(b, '}')
}
