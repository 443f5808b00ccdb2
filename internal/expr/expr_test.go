package expr

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/need"
)

// drawn is a random formula.
func drawn(r *rand.Rand, depth int) *Expr {
	if depth == 0 || r.IntN(6) == 0 {
		if r.IntN(2) == 0 {
			return Number(r.Int64N(200) - 60)
		}
		return VariableExpr(Variable(r.IntN(int(NumVariables))))
	}
	below := func() *Expr { return drawn(r, depth-1) }
	switch o := op(r.IntN(int(opNot) + 4)); {
	case o > opNot, o <= opParameter, o == opCall:
		list := slices.Concat(natives, defined)
		f := list[r.IntN(len(list))]
		var args []*Expr
		for i, p := range f.parameters {
			switch {
			case p == "g": // a grid
				g := r.IntN(len(grids))
				args = append(args, NamedNumber(grids[g].Name, int64(g)))
			case p == "d" || p == "order" || p == "at" && f.name != "inside":
				args = append(args, Number(r.Int64N(3)))
			case p == "total" || p == "n" && i == 0: // so that no loop takes long
				args = append(args, Number(r.Int64N(500)))
			case p == "power":
				args = append(args, Number(2+r.Int64N(2)))
			default:
				args = append(args, below())
			}
		}
		return CallFunction(f.name, args...)
	case o == opIf:
		return Conditional(below(), below(), below())
	case o == opNegative || o == opNot:
		return &Expr{op: o, args: []*Expr{below()}}
	case o == opPlus:
		return Sum(below(), below(), below())
	case o == opTimes:
		return Product(below(), below())
	default:
		return two(o, below(), below())
	}
}

func someEnv(r *rand.Rand) *VariableValues {
	at := &VariableValues{VariableRankCount: 1 + r.Int64N(100)}
	at[VariableRank] = r.Int64N(at[VariableRankCount])
	for v := VariableLoopIteration; v < NumVariables; v++ {
		at[v] = r.Int64N(40)
	}
	return at
}

// A formula has the values of its text, read again, and of its C, compiled.
func TestText(t *testing.T) {
	define()
	r := rand.New(rand.NewPCG(1, 2))
	var program strings.Builder
	program.WriteString("#include <stdint.h>\n#include <stdio.h>\nint64_t mod(int64_t a, int64_t m) { a %= m; return a < 0 ? a + m : a; }\n")
	fmt.Fprintf(&program, "static int64_t env[%d];\n", NumVariables)
	program.WriteString("#define ranks env[0]\n#define rank env[1]\n" + CHeader() + "int64_t sides[GRIDS][3];\n\nint main(void)\n{\n")
	style := CStyle{
		Variable: func(v Variable) string { return fmt.Sprintf("env[%d]", v) },
		Number:   func(n int64) string { return fmt.Sprintf("INT64_C(%d)", n) },
	}
	var want []string
	of := make(map[string]*Expr)
	for len(want) < 1500 {
		e := drawn(r, 4)
		again, err := Parse(e.String())
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			at := someEnv(r)
			v, ok := e.Eval(at)
			if w, same := again.Eval(at); v != w || ok != same {
				t.Fatalf("%s: %d, %v; read again %d, %v", e, v, ok, w, same)
			}
			if !ok { // C may end there
				continue
			}
			program.WriteString("\t")
			for v, x := range at {
				fmt.Fprintf(&program, "env[%d] = %d; ", v, x)
			}
			fmt.Fprintf(&program, "lay_out();\n\tprintf(\"%%lld\\n\", (long long)(%s));\n", e.CText(style))
			line := fmt.Sprint(v)
			of[fmt.Sprint(len(want))] = e
			want = append(want, line)
			break
		}
	}
	program.WriteString("}\n")
	cc := need.Command(t, "cc")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "formulas.c"), []byte(program.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-fwrapv", "-Werror=parentheses", "-o", filepath.Join(dir, "formulas"), filepath.Join(dir, "formulas.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.4000s", err, out)
	}
	out, err := exec.Command(filepath.Join(dir, "formulas")).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(out))
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s is %s in C, want %s", of[fmt.Sprint(i)], got[i], want[i])
		}
	}
}
