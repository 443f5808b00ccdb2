package database

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/tracktest"
)

// A database of an older version is read once something is added to it, and has what it had.
func TestUpgrade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	name, r := file(t, "a.spoor", 2, nil, func(r *tracktest.Recorder) {
		r.Begin()
		r.End()
	})
	if _, _, err := d.Add(name, r, Options{NamePlace: nowhere}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.db.Exec("drop view calls_by_site; drop table total; create view calls_by_site as select 1; drop view loop; drop table waiting; drop table iteration; drop table finding; alter table run drop column iteration_ns; alter table run drop column slow_iteration_ns; alter table run drop column waited_ns; alter table communicator drop column name; alter table node drop column by_code; alter table node drop column place; alter table node drop column at_least; alter table node drop column unsure; alter table node drop column branches; alter table node drop column further_gap_ns; alter table node drop column first_gap_ns; alter table node drop column first_ns; create view loop as select 1; pragma user_version = 2"); err != nil {
		t.Fatal(err)
	}
	d.Close()
	if d, err = OpenReadOnly(path); err == nil || !strings.Contains(err.Error(), "spoor db add brings them to 8") {
		t.Fatalf("%v, %v", d, err)
	}
	if d, err = Open(path); err != nil {
		t.Fatal(err)
	}
	d.Close()
	if d, err = OpenReadOnly(path); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if row := one(t, d, "select (select count(*) from run), (select name from communicator where number = 0), (select sum(calls) from total), (select sum(calls) from callsite)"); row[0] != int64(1) || row[1] != nil || row[2] != row[3] {
		t.Errorf("it has %v", row)
	}
}

// A database of a release that knew fewer columns of call sites gets the others when something is added to it, and is read until then.
func TestComplete(t *testing.T) {
	d := empty(t)
	if _, err := d.db.Exec("alter table total drop column median_message_bytes"); err != nil {
		t.Fatal(err)
	}
	d.Close()
	old, err := OpenReadOnly(d.path)
	if err != nil {
		t.Fatal(err)
	}
	have, err := old.measured()
	if err != nil || len(have) != len(measures)-1 {
		t.Errorf("it has %q, %v", have, err)
	}
	old.Close()
	now, err := Open(d.path)
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	if have, err = now.measured(); err != nil || len(have) != len(measures) {
		t.Errorf("now it has %q, %v", have, err)
	}
}
