// Package words reads what people read: help, messages, pages and comments. It holds them to short sentences and plain
// phrases, as far as a pattern can find what is neither.
package words

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// Limits of what people read.
const (
	mostWords     = 30    // of a sentence
	mostInPackage = 35    // of one in a package comment
	mostCommas    = 5     // of a sentence that is no list
	mostColumns   = 100   // of a line of help
	mostPageWords = 45000 // of all pages
)

// habits are phrases that need a second reading.
var habits = regexp.MustCompile(`(?i)\b(so many|as many as|behind|by itself|is none|told|tells?|stands?|in the meantime)\b`)

// check reports phrases and sentences that are hard to read.
func check(t *testing.T, where, text string) {
	t.Helper()
	for _, found := range habits.FindAllStringIndex(text, -1) {
		t.Errorf("%s: %q in %q", where, text[found[0]:found[1]], text[max(0, found[0]-30):min(len(text), found[1]+30)])
	}
	for _, s := range sentences(text) {
		if n := len(strings.Fields(s)); n > mostWords && strings.Count(s, ",") < mostCommas {
			t.Errorf("%s: a sentence of %d words: %.100q", where, n, s)
		}
	}
}

var ends = regexp.MustCompile(`[.!?:;]["')]*\s+|\s\||\n\s*\n|\n\s*[-*] |\n\s*\d+\. `)

func sentences(text string) []string { return ends.Split(text, -1) }

var (
	fenced  = regexp.MustCompile("(?s)```.*?```|<!--.*?-->")
	code    = regexp.MustCompile("`[^`\n]*`")
	link    = regexp.MustCompile(`\]\([^)]*\)`)
	heading = regexp.MustCompile(`(?m)^#.*$`)
	rows    = regexp.MustCompile(`(?m)^(\|.*)$`)
	cells   = regexp.MustCompile(`\s*\|\s*`)
)

// prose is a page without code, tables of numbers and addresses.
func prose(page string) string {
	page = rows.ReplaceAllString(fenced.ReplaceAllString(page, "\n\n"), "\n$1\n")
	page = cells.ReplaceAllString(page, "\n\n")
	page = link.ReplaceAllString(code.ReplaceAllString(page, "x"), "]")
	return heading.ReplaceAllString(page, "\n\n")
}

func pages(t *testing.T) (list []string) {
	err := filepath.WalkDir(mpis.Root(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "build") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestPages(t *testing.T) {
	words := 0
	for _, path := range pages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		words += len(strings.Fields(string(text)))
		name, _ := filepath.Rel(mpis.Root(), path)
		check(t, name, prose(string(text)))
	}
	if words > mostPageWords {
		t.Errorf("all pages have %d words, more than %d", words, mostPageWords)
	}
}

var verb = regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`)

// help returns the help of the tool and of all its verbs, by command.
func help(t *testing.T, command ...string) map[string]string {
	t.Helper()
	out, err := exec.Command(mpis.NeedSpoor(t), append(command, "--help")...).Output()
	if err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	all := map[string]string{strings.Join(append([]string{"spoor"}, command...), " "): string(out)}
	if strings.Contains(string(out), " VERB ") {
		for _, m := range verb.FindAllStringSubmatch(string(out), -1) {
			for name, text := range help(t, append(command[:len(command):len(command)], m[1])...) {
				all[name] = text
			}
		}
	}
	return all
}

// page is a page that help names.
var page = regexp.MustCompile(`\b(?:docs|papers)/[-a-zA-Z]+\.md`)

// item is the first line of a verb or flag in a list.
var item = regexp.MustCompile(`\n  (\S)`)

func TestHelp(t *testing.T) {
	all := help(t)
	if len(all) < 30 {
		t.Fatalf("help of %d commands alone", len(all))
	}
	for name, text := range all {
		for line := range strings.Lines(text) {
			if n := len([]rune(line)) - 1; n > mostColumns {
				t.Errorf("%s: a line of %d columns: %s", name, n, line)
			}
		}
		if name != "spoor part" && !strings.Contains(text, "Examples:\n  spoor") && !strings.Contains(text, "Examples:\n  mpiexec") {
			t.Errorf("%s: no examples", name)
		}
		for _, page := range page.FindAllString(text, -1) {
			if _, err := os.Stat(mpis.Root(page)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, explained, _ := strings.Cut(text, "Examples:\n")
		_, explained, _ = strings.Cut(explained, "\n\n") // after the examples
		check(t, name, item.ReplaceAllString(explained, "\n\n$1"))
	}
}

// sources are the files of the code but for tests.
func sources(t *testing.T, read func(name string, at func(token.Pos) int, file *ast.File)) {
	for _, root := range []string{"cmd", "internal", "mpi", "trace", "engine", "replayer", "papers"} {
		err := filepath.WalkDir(mpis.Root(root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test/") || strings.Contains(path, "bench/") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			name, _ := filepath.Rel(mpis.Root(), path)
			read(name, func(p token.Pos) int { return set.Position(p).Line }, file)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestMessages reads the texts in the code.
func TestMessages(t *testing.T) {
	n := 0
	sources(t, func(name string, at func(token.Pos) int, file *ast.File) {
		ast.Inspect(file, func(x ast.Node) bool {
			if lit, ok := x.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, err := strconv.Unquote(lit.Value)
				if err == nil && strings.Count(text, " ") > 1 && !strings.Contains(text, "\n") && !strings.Contains(text, ");") {
					n++
					check(t, fmt.Sprintf("%s:%d", name, at(lit.Pos())), text)
				}
			}
			return true
		})
	})
	if n < 1000 {
		t.Errorf("only %d texts were found", n)
	}
}

// commentHabits are phrases that need a second reading in comments. Names in code may be such words.
var commentHabits = regexp.MustCompile(`(?i)\b(so many|behind|by itself|is none|told|tells?|telling|stands? |standing|stood|in the meantime|(comes?|came|coming) (by|to)|(gives?|gave|given|giving) up|(goes|go|went|going) round)\b|(^|[^a-z] )of which\b`)

// TestComments reads comments. Layouts of bytes are no sentences; a package comment may be longer.
func TestComments(t *testing.T) {
	n := 0
	sources(t, func(name string, at func(token.Pos) int, file *ast.File) {
		declared := make(map[*ast.CommentGroup]string)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				declared[f.Doc] = f.Name.Name
			}
		}
		for _, g := range file.Comments {
			n++
			text := strings.TrimPrefix(layout.ReplaceAllString(g.Text(), "\n\n"), declared[g]+" ")
			most := mostWords
			if g == file.Doc {
				most = mostInPackage
			} else {
				for _, found := range commentHabits.FindAllStringIndex(text, -1) {
					t.Errorf("%s:%d: %q in %q", name, at(g.Pos()), text[found[0]:found[1]], text[max(0, found[0]-30):min(len(text), found[1]+30)])
				}
			}
			for _, s := range sentences(text) {
				if words := len(strings.Fields(s)); words > most && strings.Count(s, ",") < mostCommas {
					t.Errorf("%s:%d: a sentence of %d words: %.100q", name, at(g.Pos()), words, s)
				}
			}
		}
	})
	if n < 10_000 {
		t.Errorf("only %d comments were found", n)
	}
}

// layout is the lines of a comment that are set apart.
var layout = regexp.MustCompile(`(?m)^\t.*$`)
