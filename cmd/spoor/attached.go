package main

import (
	"strconv"

	"github.com/spoor-hpc/spoor/trace"
)

// An attachedValue is a value attached to a call under a name.
type attachedValue struct {
	trace.AttachedValue
	alike trace.AttachedStat // statistics over all calls of the terminal, unless the call's own value is known
}

// attachedLine reads the values attached to a thread's calls, one call after the other.
type attachedLine struct {
	k     *trace.Rank
	line  *trace.AttachedValueCursor
	known map[int]map[string]trace.AttachedStat // statistics of attached values, by terminal and name
	list  []attachedValue
}

func newAttachedLine(k *trace.Rank, stream int) (*attachedLine, error) {
	line, err := k.AttachedValueCursor(stream)
	return &attachedLine{k: k, line: line, known: make(map[int]map[string]trace.AttachedStat)}, err
}

// of returns the values attached to call c, sorted by name. Calls must be passed in the order of the thread.
func (a *attachedLine) of(c *trace.Call) ([]attachedValue, error) {
	values, err := a.line.At(c.Index)
	if err != nil {
		return nil, err
	}
	a.list = a.list[:0]
	for _, v := range values {
		x := attachedValue{AttachedValue: v}
		if !v.IsExact {
			if _, ok := a.known[c.Terminal]; !ok {
				if a.known[c.Terminal], err = a.k.ClassAttachedStatsOf(c.Terminal); err != nil {
					return nil, err
				}
			}
			x.alike = a.known[c.Terminal][v.Name]
		}
		a.list = append(a.list, x)
	}
	return a.list, nil
}

// appendValues renders a call's attached values as text: "# name number", or "# name mean [least, greatest]".
func appendValues(b []byte, list []attachedValue) []byte {
	for i := range list {
		v := &list[i]
		if b = append(b, " # "...); i > 0 {
			b = append(b[:len(b)-3], ", "...)
		}
		b = append(append(b, v.Name...), ' ')
		if v.IsExact {
			b = strconv.AppendInt(b, v.ExactSum, 10)
			if v.Count != 1 {
				b = append(strconv.AppendFloat(append(b, " in "...), v.Count, 'f', -1, 64), " numbers"...)
			}
			continue
		}
		if v.IsEstimate {
			b = append(b, '~')
		}
		b = strconv.AppendFloat(b, v.Mean(), 'f', -1, 32)
		if v.alike.Min != v.alike.Max {
			b = strconv.AppendInt(append(b, " ["...), v.alike.Min, 10)
			b = append(strconv.AppendInt(append(b, ", "...), v.alike.Max, 10), ']')
		}
	}
	return b
}

// appendValuesJSON renders a call's attached values as a JSON object, with an object for each name.
func appendValuesJSON(b []byte, list []attachedValue) []byte {
	b = append(b, '{')
	for i := range list {
		v := &list[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, v.Name)
		if v.IsExact {
			b = strconv.AppendFloat(append(b, `:{"own":true,"count":`...), v.Count, 'f', -1, 64)
			b = strconv.AppendInt(append(b, `,"sum":`...), v.ExactSum, 10)
		} else {
			b = strconv.AppendFloat(append(b, `:{"own":false,"mean":`...), v.Mean(), 'g', -1, 64)
			if v.IsEstimate {
				b = append(b, `,"estimate":true`...)
			} else if v.ErrorBound > 0 {
				b = strconv.AppendFloat(append(b, `,"within":`...), v.ErrorBound/v.Count, 'g', -1, 64)
			}
			b = strconv.AppendUint(append(b, `,"count":`...), v.alike.Count, 10)
			b = strconv.AppendInt(append(b, `,"sum":`...), v.alike.Sum, 10)
			b = strconv.AppendInt(append(b, `,"min":`...), v.alike.Min, 10)
			b = strconv.AppendInt(append(b, `,"max":`...), v.alike.Max, 10)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}
