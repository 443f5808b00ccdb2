package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestInsert(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(file, []byte("a\n<!-- x -->\nold\n<!-- end of x -->\nb\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := insert(file, "x", "new\n"); err != nil {
		t.Fatal(err)
	}
	if err := insert(file, "y", "new\n"); err == nil {
		t.Error("no error where there is no place")
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "a\n<!-- x -->\nnew\n<!-- end of x -->\nb\n" {
		t.Errorf("%q, %v", b, err)
	}
}
