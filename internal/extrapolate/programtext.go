package extrapolate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
)

// numbers is an expression of values that differ in nothing but the iteration, with %s for that.
func (w *programmer) numbers(texts []string, cases map[string][]int64) (string, bool) {
	var list []int64
	for _, text := range texts {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return "", false
		}
		for _, n := range cases[text] {
			for int64(len(list)) <= n {
				list = append(list, 0)
			}
			list[n] = v
		}
	}
	even := len(list) > 1
	for i := range list {
		even = even && list[i] == list[0]+int64(i)*(list[1]-list[0])
	}
	if even {
		return fmt.Sprintf("%d + %d * (%%s)", list[0], list[1]-list[0]), true
	}
	body := strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
	return w.defined(body, func(name string) string { return fmt.Sprintf("static const int64_t %s[] = {%s};\n\n", name, body) }) + "[%s]", true
}

// defined is the name of what has a body, which is defined at the top when it first occurs.
func (w *programmer) defined(body string, text func(name string) string) string {
	return once.Of(w.functions, body, func() string {
		name := fmt.Sprintf("value%d", len(w.functions))
		w.top = append(w.top, proxy.Definition{Name: name, Text: text(name)})
		return name
	})
}

// text is what a slot is as an expression of the names in forms. What the traces don't determine is a parameter.
func (w *programmer) text(f fitted, inLoop bool) string {
	forms := f.forms
	if !inLoop { // forms that say the same, with the iteration 0 of no loop
		if list := slices.DeleteFunc(slices.Clone(forms), func(f form) bool { return f.Uses(expr.Iteration, expr.Length, expr.Outer) }); len(list) > 0 {
			forms = list
		}
	}
	if f.wrong == "" && len(forms) == 1 {
		return forms[0].String()
	}
	if name, ok := w.names[f.tried]; ok {
		return name
	}
	macro := fmt.Sprintf("P%d", len(w.names)+1)
	var value, why, table string
	rows := 0
	switch {
	case len(forms) == 0:
		table, rows, value = w.lookUp(macro, f)
		why = "no form fits"
	case f.wrong != "":
		value, why = fmt.Sprintf("only_traced(%q, %s)", f.text, forms[0].String()), f.wrong
	default:
		value, why = fmt.Sprintf("agreed(%q, %d, (const int64_t[]){%s})", f.text, len(forms), joined(forms)), "all of these fit the traces; where they differ the program ends"
	}
	w.top = append(w.top, proxy.Definition{
		Name: macro, Rows: rows, Parameter: true,
		Text: table + fmt.Sprintf("/* Parameter: %s; %s. */\n#define %s(i, n, j, k, m) %s\n\n", f.text, why, macro, value),
	})
	name := macro + "(i, n, j, k, m)"
	w.names[f.tried] = name
	return name
}

func joined(forms []form) string {
	list := make([]string, len(forms))
	for i := range forms {
		list[i] = forms[i].String()
	}
	return strings.Join(list, ", ")
}

// lookUp writes a table of what was seen.
func (w *programmer) lookUp(name string, f fitted) (text string, values int, expression string) {
	columns := []int{0, 1, 2, 3, 4, 5, 6} // of variables but the last
	table := func() (rows [][]int64, ok bool) {
		known := make(map[string]int64)
		for i := range f.obs {
			var row []int64
			for _, c := range columns {
				row = append(row, f.obs[i][c])
			}
			v, seen := known[fmt.Sprint(row)]
			if seen && v != f.vals[i] {
				return nil, false
			}
			if known[fmt.Sprint(row)] = f.vals[i]; !seen {
				rows = append(rows, append(row, f.vals[i]))
			}
		}
		return rows, true
	}
	for i := len(columns) - 1; i > 0; i-- { // those that the value depends on
		all := columns
		columns = slices.Delete(slices.Clone(columns), i, i+1)
		if _, ok := table(); !ok {
			columns = all
		}
	}
	rows, _ := table()
	slices.SortFunc(rows, slices.Compare)
	var names, lines []string
	for _, c := range columns {
		names = append(names, expr.Variable(c).String())
	}
	for _, r := range rows {
		lines = append(lines, strings.Trim(strings.ReplaceAll(fmt.Sprint(r), " ", ", "), "[]"))
	}
	text = fmt.Sprintf("static const int64_t table_%s[] = { /* %s, value */\n    %s};\n", name, strings.Join(names, ", "), strings.Join(lines, ",\n    "))
	return text, len(rows), fmt.Sprintf("looked_up(%q, %d, %d, table_%s, (const int64_t[]){%s})", f.text, len(columns), len(rows), name, strings.Join(names, ", "))
}

// bound is an expression that is at least as large as a number that ranks need. Without a form it grows with the number of ranks.
func (w *programmer) bound(b *bounds) string {
	f := w.m.fit("", b.obs, b.vals)
	if len(f.forms) > 0 {
		text := variables.ReplaceAllString(joined(f.forms), "0")
		if len(f.forms) > 1 {
			text = fmt.Sprintf("largest(%d, (const int64_t[]){%s})", len(f.forms), text)
		}
		return text
	}
	return fmt.Sprintf("ceil_div(%d * ranks, %d)", slices.Max(b.vals), w.m.runs[0].ranks)
}
