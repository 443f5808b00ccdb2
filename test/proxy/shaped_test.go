package proxy

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
)

// lines are the lines of a program that have names.
func lines(t *testing.T, source string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	list := make(map[string]int)
	for i, line := range strings.Split(string(text), "\n") {
		if _, name, ok := strings.Cut(line, "/* line "); ok {
			list[strings.TrimSuffix(name, " */")] = i + 1
		}
	}
	return list
}

// TestShape: the functions and loops of a program are those of its proxy.
func TestShape(t *testing.T) {
	const source = "testdata/shape.c"
	line := lines(t, source)
	for _, m := range installed(t) {
		t.Run(m.Name, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "shape")
			if err := m.Compile(binary, source, "-O0"); err != nil {
				t.Fatal(err)
			}
			a := deep(t, m, t.TempDir(), "a.spoor", 2, binary)
			o := proxy.Options{Code: code(t, a)}
			p, err := proxy.GenerateProgram(a, o)
			if err != nil {
				t.Fatal(err)
			}
			// Gaps don't count, nor that a function may be there for each time that it takes.
			text := regexp.MustCompile(`part\d+`).ReplaceAllString(string(p.Files["proxy.c"]), "part")
			for _, want := range []string{
				fmt.Sprintf("/* exchange(), called at shape.c:%d */\nstatic void part_exchange(void)\n{\n    DO(", line["exchange"]),
				fmt.Sprintf("/* a round of the loop at shape.c:%d in main() */\nstatic void part_main_loop(void)\n{\n    part_exchange();\n", line["steps"]),
				fmt.Sprintf("    REPEAT(20) part_main_loop(); // loop shape.c:%d\n", line["steps"]),
				fmt.Sprintf("    part_main_loop(); // loop shape.c:%d\n", line["growing"]),
				"    for (int64_t round = 0; round < 6; round++) {\n        REPEAT(1 + round) DO(",
				"/* main() */\nstatic void part_main(void)\n{\n",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if got, why := proxied(t, m, a, 2, o); got != equal {
				t.Errorf("%s\n%s", got, why)
			}
		})
	}
}
