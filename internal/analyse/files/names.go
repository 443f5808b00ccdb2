package files

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/once"
)

// absolute returns the absolute path of a file, given its name and the folder to which that is relative. If the folder
// is "", it returns the name.
func absolute(folder, name string) string {
	switch {
	case name == "" || path.IsAbs(name):
	case folder == "":
		return name
	default:
		name = folder + "/" + name
	}
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return name
}

// below returns a name relative to a folder if it is inside the folder, else unchanged.
func below(folder, name string) string {
	if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(folder, "/")+"/"); ok && folder != "" && rest != "" {
		return rest
	}
	if folder != "" && name == folder {
		return "."
	}
	return name
}

var (
	systemFolders  = []string{"/usr/", "/lib/", "/lib64/", "/etc/", "/opt/", "/var/", "/proc/", "/sys/", "/dev/", "/bin/", "/sbin/", "/boot/", "/run/"}
	importSuffixes = []string{".py", ".pyc", ".pyo", ".pyd", ".pth", ".so", ".ji", ".rdb", ".rdx"}
	importFiles    = []string{"pyvenv.cfg", "pybuilddir.txt", "Setup.local"}
	importFolders  = []string{"__pycache__", "site-packages", "dist-packages", "lib-dynload"}
)

// isSystems reports whether a file is in one of the system's folders, unless the rank was started there.
func isSystems(name, folder string) bool {
	return slices.ContainsFunc(systemFolders, func(f string) bool {
		in := strings.HasPrefix(name+"/", f)
		if f == "/dev/" && strings.HasPrefix(name, "/dev/shm/") {
			in = false
		}
		return in && !(strings.HasPrefix(folder+"/", f) && below(folder, name) != name)
	})
}

// isImport reports whether a file, by its name, is one that interpreters or the dynamic linker read on their own: a
// module, a library, or a list of search paths.
func isImport(name string) bool {
	base := path.Base(name)
	words := strings.Split(name, "/")
	return slices.ContainsFunc(importSuffixes, func(s string) bool { return strings.HasSuffix(base, s) }) ||
		strings.Contains(base, ".so.") || slices.Contains(importFiles, base) || strings.HasSuffix(base, "._pth") ||
		slices.ContainsFunc(words, func(w string) bool { return slices.Contains(importFolders, w) }) ||
		slices.ContainsFunc(words, func(w string) bool {
			version, ok := strings.CutPrefix(w, "python")
			return ok && version != "" && strings.Trim(strings.TrimSuffix(version, ".zip"), "0123456789.") == ""
		})
}

// A claim is the name of a file that only one rank used, and that rank.
type claim struct {
	name string
	rank int
}

// maxForms is how many patterns are tried at most for one name.
const maxForms = 64

// united returns, by name, a printf pattern (e.g. out.%d) that with each rank's number gives the names of several
// ranks' files. Of several patterns it takes the one of most ranks, then the one that replaces fewest numbers. Names
// without a pattern are left out.
func united(claims []claim) map[string]string {
	widths := make(map[int]bool) // the numbers of digits with which ranks' numbers occur with leading zeros
	for _, c := range claims {
		for _, n := range numbersOf(c) {
			if c.name[n.from] == '0' && n.to-n.from > 1 {
				widths[n.to-n.from] = true
			}
		}
	}
	type form struct {
		pattern string
		marks   int
		of      []int
	}
	byPattern := make(map[string]*form)
	var forms []*form
	for i, c := range claims {
		for _, p := range patternsOf(c, widths) {
			f := once.GetOrAppend(byPattern, p.text, &forms, func() *form { return &form{pattern: p.text, marks: p.marks} })
			f.of = append(f.of, i)
		}
	}
	slices.SortFunc(forms, func(a, b *form) int {
		return cmp.Or(cmp.Compare(len(b.of), len(a.of)), cmp.Compare(a.marks, b.marks), cmp.Compare(a.pattern, b.pattern))
	})
	found := make(map[string]string)
	for _, f := range forms {
		left := slices.DeleteFunc(f.of, func(i int) bool { return found[claims[i].name] != "" })
		if len(left) < 2 {
			continue
		}
		for _, i := range left {
			found[claims[i].name] = f.pattern
		}
	}
	return found
}

type numberAt struct{ from, to int }

// numbersOf lists the positions at which the rank's number, perhaps with leading zeros, occurs in a name.
func numbersOf(c claim) (list []numberAt) {
	digits := strconv.Itoa(c.rank)
	for i := 0; i < len(c.name); {
		end := i
		for end < len(c.name) && '0' <= c.name[end] && c.name[end] <= '9' {
			end++
		}
		if run := c.name[i:end]; run != "" && len(run) < 10 && strings.HasSuffix(run, digits) && strings.Trim(run[:len(run)-len(digits)], "0") == "" {
			list = append(list, numberAt{i, end})
		}
		i = max(end, i+1)
	}
	return list
}

type pattern struct {
	text  string
	marks int
}

// patternsOf lists the printf patterns that give a claim's name for its rank: some occurrences of the number are
// replaced. widths are the numbers of digits to which leading zeros may fill.
func patternsOf(c claim, widths map[int]bool) []pattern {
	list := []pattern{{"", 0}}
	last := 0
	for _, n := range numbersOf(c) {
		ways := []string{c.name[n.from:n.to]}
		if c.name[n.from] != '0' || n.to-n.from == 1 {
			ways = append(ways, "%d")
		}
		for w := 2; w <= n.to-n.from; w++ {
			if widths[w] && (w == n.to-n.from || c.name[n.from] != '0') {
				ways = append(ways, fmt.Sprintf("%%0%dd", w))
			}
		}
		var next []pattern
		for _, p := range list {
			for i, way := range ways {
				if len(next) < maxForms {
					next = append(next, pattern{p.text + c.name[last:n.from] + way, p.marks + min(i, 1)})
				}
			}
		}
		list, last = next, n.to
	}
	for i := range list {
		list[i].text += c.name[last:]
	}
	return slices.DeleteFunc(list, func(p pattern) bool { return p.marks == 0 })
}
