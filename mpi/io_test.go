package mpi

import (
	"slices"
	"testing"
)

// Every call and constant of io.txt parses; ids stay; a symbol is recorded as one call.
func TestFileCalls(t *testing.T) {
	list := PosixFileCalls()
	if len(list) < 75 {
		t.Fatalf("%d calls", len(list))
	}
	calls := make(map[string]string)
	for _, c := range list {
		if !c.Has(AttrPosix|AttrLocal) || c.ID < FirstPosixFileCallID || c.Section == "" {
			t.Errorf("%s: id %d, section %q, attributes %s", c.Name, c.ID, c.Section, c.Attrs)
		}
		if back, ok := CallByID(c.ID); !ok || back != c {
			t.Errorf("%s: id %d leads elsewhere", c.Name, c.ID)
		}
		if back, ok := CallNamed(c.Name); !ok || back != c {
			t.Errorf("%s: the name leads elsewhere", c.Name)
		}
		for _, s := range c.LibcFunctions() {
			if calls[s.Name] != "" {
				t.Errorf("%s is recorded as %s and as %s", s.Name, calls[s.Name], c.Name)
			}
			calls[s.Name] = c.Name
		}
		moved := c.Has(AttrPosixReads) || c.Has(AttrPosixWrites)
		if moved && !c.ReturnsValue() {
			t.Errorf("%s moves data, and nothing says how much", c.Name)
		}
		if c.Has(AttrPosixOpens) != c.ReturnKind.IsHandle() {
			t.Errorf("%s: opens %v, returns %s", c.Name, c.Has(AttrPosixOpens), c.ReturnKind)
		}
	}
	for _, name := range []string{"open64", "__open64_2", "__fprintf_chk", "__fxstat64", "pread64", "fopen64", "__xstat"} {
		if calls[name] == "" {
			t.Errorf("%s is recorded as nothing", name)
		}
	}
	for _, k := range Kinds() {
		if _, ok := NullHandle(k); !ok && k.IsPosix() && k.IsHandle() && len(Constants(k)) == 0 {
			t.Errorf("%s: nothing stands for none", k)
		}
	}
}

// What a form does not pass is known, or it is none.
func TestForms(t *testing.T) {
	parse := func(form string) (*calls, error) {
		p := newCallParser("x", 0)
		p.system = true
		err := p.parseText("section 1 Streams\ncall 2048 fputs regular local writes returns outcome\n  text in text\n  stream in stream\n" + form)
		return p.table, err
	}
	table, err := parse("form puts text stream=stdout int:flag")
	if err != nil {
		t.Fatal(err)
	}
	want := []LibcArgument{{Name: "text"}, {Name: "stream", CValue: "stdout"}, {Name: "flag", CType: "int"}}
	if got := table.byName["fputs"].LibcFunctions()[0].Args; !slices.Equal(got, want) {
		t.Errorf("arguments %+v, not %+v", got, want)
	}
	for _, bad := range []string{"form", "form puts nothing", "form puts text stream=", "form puts at=stdout", "form puts ... text"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestFileConstants(t *testing.T) {
	for _, c := range []struct {
		kind  Kind
		value int64
		want  string
	}{
		{KindOpenFlags, 0x241, "O_WRONLY|O_CREAT|O_TRUNC"}, {KindOpenFlags, 0, "O_RDONLY"}, {KindOpenFlags, 0x101002, "O_RDWR|O_SYNC"},
		{KindErrno, 28, "ENOSPC"}, {KindErrno, 11, "EAGAIN"}, {KindPosixWhence, 2, "SEEK_END"}, {KindFileDescriptor, 2, "AT_FDCWD"},
	} {
		if got := ConstantName(c.kind, c.value); got != c.want {
			t.Errorf("%s %d: %s, want %s", c.kind, c.value, got, c.want)
		}
	}
	for _, bad := range []string{"errno E", "rank A 1", "errno E x", "errno E 1 2 3"} {
		if _, err := parseFileConstants("x", bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
