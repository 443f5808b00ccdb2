package insn

import (
	"bufio"
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/need"
)

// TestStarts compares where instructions begin with what objdump says, in .text of one library, or of those
// that SPOOR_TEST_LIBRARIES names, separated by colons.
func TestStarts(t *testing.T) {
	need.Command(t, "objdump")
	list := filepath.SplitList(os.Getenv("SPOOR_TEST_LIBRARIES"))
	if len(list) == 0 {
		for _, pattern := range []string{"/usr/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6"} {
			if _, err := os.Stat(pattern); err == nil {
				list = []string{pattern}
			}
		}
	}
	if len(list) == 0 {
		need.Absent(t, "no library to compare")
	}
	for _, path := range list {
		t.Run(filepath.Base(path), func(t *testing.T) { compareStarts(t, path) })
	}
}

func compareStarts(t *testing.T, path string) {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".text")
	if f.Machine != elf.EM_X86_64 || s == nil {
		t.Skip("no code of x86-64")
	}
	code, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	starts := make([]bool, len(code))
	m := NewX86()
	undecoded := 0
	for at := 0; at < len(code); {
		starts[at] = true
		i, ok := m.Next(code[at:], s.Addr+uint64(at))
		if !ok {
			undecoded++
			at++
			continue
		}
		at += i.Len
	}
	cmd := exec.Command("objdump", "-d", "-j", ".text", "--no-show-raw-insn", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	compared, missed := 0, 0
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		field, text, ok := bytes.Cut(lines.Bytes(), []byte(":\t"))
		if !ok {
			continue
		}
		addr, err := strconv.ParseUint(strings.TrimSpace(string(field)), 16, 64)
		if err != nil || addr < s.Addr || addr >= s.Addr+uint64(len(code)) {
			continue
		}
		if compared++; !starts[addr-s.Addr] {
			if missed++; missed <= 10 {
				at := addr - s.Addr
				t.Errorf("objdump begins an instruction at %x: %s (% x)", addr, text, code[at:min(at+12, uint64(len(code)))])
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if compared == 0 {
		t.Fatal("objdump says nothing")
	}
	t.Logf("%d instructions, %d of them not found, %d places undecoded", compared, missed, undecoded)
}
