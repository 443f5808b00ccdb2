package files

import "testing"

// A number of a name becomes a pattern only where the files of several ranks have theirs there.
func TestUnited(t *testing.T) {
	all := func(names ...string) (list []claim) { // that of rank 0, of rank 1, …
		for rank, name := range names {
			list = append(list, claim{name, rank})
		}
		return list
	}
	for _, c := range []struct {
		about  string
		claims []claim
		want   map[string]string
	}{
		{"one rank alone", []claim{{"d.0", 0}, {"d.0/x", 0}}, nil},
		{"each its own", all("out.0", "out.1"), map[string]string{"out.0": "out.%d", "out.1": "out.%d"}},
		{"filled with zeros, and no more", append(all("o/007", "o/001"), claim{"o/000", 0}, claim{"o/123", 123}),
			map[string]string{"o/000": "o/%03d", "o/001": "o/%03d", "o/123": "o/%03d"}},
		{"two numbers", []claim{{"f.0.0", 0}, {"f.0.1", 0}, {"f.1.0", 1}, {"f.1.1", 1}},
			map[string]string{"f.0.0": "f.%d.0", "f.1.0": "f.%d.0", "f.0.1": "f.%d.1", "f.1.1": "f.%d.1"}},
		{"the number twice", all("0/0", "1/1", "2/2"), map[string]string{"0/0": "%d/%d", "1/1": "%d/%d", "2/2": "%d/%d"}},
		{"a step that is a rank's number", all("s1/r0", "s1/r1"), map[string]string{"s1/r0": "s1/r%d", "s1/r1": "s1/r%d"}},
		{"no number", all("a", "b"), nil},
		{"part of another number", all("10", "21"), nil},
		{"most ranks", []claim{{"a0.0", 0}, {"a1.0", 1}, {"a2.0", 2}, {"a0.1", 1}},
			map[string]string{"a0.0": "a%d.0", "a1.0": "a%d.0", "a2.0": "a%d.0"}},
	} {
		got := united(c.claims)
		for _, cl := range c.claims {
			if got[cl.name] != c.want[cl.name] {
				t.Errorf("%s: %s is %q, want %q", c.about, cl.name, got[cl.name], c.want[cl.name])
			}
		}
	}
}

func TestOwnFiles(t *testing.T) {
	for _, c := range []struct {
		name, folder    string
		system, import_ bool
	}{
		{"/usr/lib/x", "/home/me", true, false},
		{"/usr", "/home/me", true, false},
		{"/usrlocal/x", "/home/me", false, false},
		{"/opt/app/run/out", "/opt/app/run", false, false},
		{"/opt/app/lib/out", "/opt/app/run", true, false},
		{"/dev/shm/x", "/", false, false},
		{"/dev/null", "/", true, false},
		{"data/x.h5", "", false, false},
		{"/home/me/solver.py", "/home/me", false, true},
		{"/home/me/v/lib/python3.11/site-packages/a/data.json", "/home/me", false, true},
		{"/home/me/libx.so.3", "/home/me", false, true},
		{"/home/me/python", "/home/me", false, false},
		{"/home/me/python3.zip", "/home/me", false, true},
	} {
		if got := isSystems(c.name, c.folder); got != c.system {
			t.Errorf("%s from %s: of the system: %v", c.name, c.folder, got)
		}
		if got := isImport(c.name); got != c.import_ {
			t.Errorf("%s: import: %v", c.name, got)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, c := range [][3]string{
		{"/a/b", "c", "/a/b/c"}, {"/a/b", "../c", "/a/c"}, {"/a/b", "/c//d/.", "/c/d"}, {"", "c/../d", "c/../d"}, {"/", "c", "/c"}, {"/a", "", ""},
	} {
		if got := absolute(c[0], c[1]); got != c[2] {
			t.Errorf("%s from %s is %s, want %s", c[1], c[0], got, c[2])
		}
	}
	for _, c := range [][3]string{
		{"/a/b", "/a/b/c", "c"}, {"/a/b", "/a/bc", "/a/bc"}, {"/a/b", "/a/b", "."}, {"", "x", "x"}, {"/", "/x", "x"},
	} {
		if got := below(c[0], c[1]); got != c[2] {
			t.Errorf("%s below %s is %s, want %s", c[1], c[0], got, c[2])
		}
	}
}
