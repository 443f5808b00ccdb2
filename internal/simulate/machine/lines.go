package machine

import (
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// keyLines is, by key, the key's line in a machine file from 1, for errors about values.
type keyLines map[string]int

// of returns a key's line. For a missing key it returns the line of the nearest key or table around it, or 1.
func (l keyLines) of(key string) int {
	for {
		if n, ok := l[key]; ok {
			return n
		}
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return 1
		}
		key = key[:i]
	}
}

// linesOf finds the keys' lines in a machine file that was decoded without an error.
func linesOf(text []byte) keyLines {
	l := make(keyLines)
	var p unstable.Parser
	p.Reset(text)
	within, tables := "", make(map[string]int)
	for p.NextExpression() {
		e := p.Expression()
		key, line := keyOf(&p, e)
		switch e.Kind {
		case unstable.ArrayTable:
			within = fmt.Sprintf("%s.%d.", key, tables[key])
			tables[key]++
			l[strings.TrimSuffix(within, ".")] = line
		case unstable.Table:
			within = key + "."
		case unstable.KeyValue:
			l[within+key] = line
			if v := e.Value(); v.Kind == unstable.Array {
				rows := v.Children()
				for i := 0; rows.Next(); i++ {
					if n := firstLine(&p, rows.Node()); n > 0 {
						l[fmt.Sprintf("%s%s.%d", within, key, i)] = n
					}
				}
			}
		}
	}
	return l
}

func keyOf(p *unstable.Parser, e *unstable.Node) (key string, line int) {
	var parts []string
	for it := e.Key(); it.Next(); {
		n := it.Node()
		parts = append(parts, string(n.Data))
		if line == 0 {
			line = p.Shape(n.Raw).Start.Line
		}
	}
	return strings.Join(parts, "."), line
}

// firstLine returns the line of the first value in a row of a table; 0 if the row is empty.
func firstLine(p *unstable.Parser, n *unstable.Node) int {
	if n.Kind != unstable.Array {
		if n.Raw.Length == 0 {
			return 0
		}
		return p.Shape(n.Raw).Start.Line
	}
	for it := n.Children(); it.Next(); {
		if line := firstLine(p, it.Node()); line > 0 {
			return line
		}
	}
	return 0
}
