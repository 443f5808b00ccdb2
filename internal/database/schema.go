package database

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites"
)

// schema creates the tables of a new database. Times are in ns, sizes in bytes, and counts are sums over all calls.
const schema = `
create table run (
	id integer primary key,
	sha256 text not null unique,   -- of the trace
	path text not null,            -- where it was when it was added
	command text not null,
	app text not null,             -- base name of the program
	mpi text not null,             -- mpich, openmpi, abi
	library text not null,         -- what the MPI says of itself
	recorder text not null,        -- spoor's version
	options text not null,         -- the recorder's
	machine text not null,         -- the host, or what the names of several begin with
	hosts integer not null,
	started_ns integer not null,   -- since 1970
	ranks integer not null,
	threads integer not null,      -- of the rank with most
	calls integer not null,
	bytes_out integer not null,
	bytes_in integer not null,
	has_times integer not null,    -- 0: all times are 0
	end_ns integer not null,       -- from rank 0's first call to the end of the last rank
	span_ns integer not null,      -- of the rank that took longest
	total_ns integer not null,     -- of all ranks
	mpi_ns integer not null,       -- in MPI, of all ranks
	parallel real,                 -- efficiencies as spoor efficiency has them; null: not known
	load_balance real,
	communication real,
	classes integer not null,
	file_bytes integer not null,
	problems text not null,
	waited_ns integer,             -- of all ranks, for others; null: not known
	iteration_ns integer,          -- median of the iterations that info names; null: not known
	slow_iteration_ns integer      -- their 99th percentile
);
create table tag (
	run integer not null references run on delete cascade,
	name text not null,
	value text not null,
	primary key (run, name)
) without rowid;
create table rank (
	run integer not null references run on delete cascade,
	rank integer not null,
	class integer,                 -- null: it left no track
	host text not null,
	calls integer not null,
	span_ns integer not null,
	mpi_ns integer not null,
	bytes_out integer not null,
	bytes_in integer not null,
	primary key (run, rank)
) without rowid;
create table function (
	run integer not null references run on delete cascade,
	name text not null,
	calls integer not null,
	ns integer not null,
	min_ns integer not null,
	max_ns integer not null,
	deviation_ns real not null,
	primary key (run, name)
) without rowid;
-- A call site is the same one in all builds of a program.
create table site (
	id integer primary key,
	function text not null,        -- of MPI
	module text not null,          -- base name of program or library
	symbol text not null,          -- function that calls, what that was called from behind it; empty: not known
	file text not null,            -- base name
	place integer not null,        -- among calls of the same function from there, in the order of addresses, from 0
	unique (function, module, symbol, file, place)
);
create table callsite (
	run integer not null references run on delete cascade,
	class integer not null,
	site integer not null references site,
	line integer,
	module_offset integer not null,
	build_id text not null,
	ranks integer not null,        -- of the class
	calls integer not null,
	ns integer not null,
	min_ns integer not null,
	max_ns integer not null,
	deviation_ns real not null,    -- of a call
	gap_ns integer not null,       -- outside MPI, before the calls
	bytes_out integer not null,
	bytes_in integer not null,
	primary key (run, class, site)
) without rowid;
create index callsite_site on callsite (site, run);
-- What ranks waited for others, at the call sites with most of it.
` + waiting + `-- How long iterations took, one by one or several together, and which differ from others.
` + iterations + `-- Numbers that counters and plugins attached to calls.
create table value (
	run integer not null references run on delete cascade,
	class integer not null,
	site integer not null references site,
	name text not null,
	count integer not null,
	sum integer not null,
	min integer not null,
	max integer not null,
	primary key (run, class, site, name)
) without rowid;
create table communicator (
	run integer not null references run on delete cascade,
	number integer not null,
	made_by text not null,
	parent integer,
	size integer not null,
	remote integer,                -- the other side of an intercommunicator
	name text,                     -- that MPI_Comm_set_name gave it
	primary key (run, number)
) without rowid;
-- Messages between ranks as spoor matrix counts them: point-to-point and one-sided, and collectives by
-- who needs whose data. Of many ranks, source and destination are the first of so many.
create table traffic (
	run integer not null references run on delete cascade,
	kind text not null,            -- point-to-point, collective, one-sided
	source integer not null,
	destination integer not null,
	each integer not null,         -- ranks in source and destination
	messages integer not null,
	bytes integer not null,
	primary key (run, kind, source, destination)
) without rowid;
-- What ranks of a class look like: the structure of one of them, times means. Nodes are numbered as they stand.
create table thread (
	run integer not null references run on delete cascade,
	class integer not null,
	thread integer not null,
	rank integer not null,         -- whose counts and bytes these and the nodes' are
	varies integer not null,       -- 1: ranks of the class run loops another number of times
	times text not null,           -- mean, histogram, bounded, exact, unknown
	times_of integer not null,     -- ranks whose times these are
	shared integer not null,       -- places that have the mean of several that look alike
	calls integer not null,
	gap_ns real not null,
	ns real not null,
	bytes_out integer not null,
	bytes_in integer not null,
	primary key (run, class, thread)
) without rowid;
create table node (
	run integer not null references run on delete cascade,
	class integer not null,
	number integer not null,       -- in the class
	thread integer not null,
	parent integer,                -- the loop, part or function that it stands in
	kind text not null,            -- call, loop, part (of several places), function
	site integer references site,  -- of a call
	part integer,
	entered integer not null,      -- how often a loop is begun
	rounds integer not null,       -- all of them together
	least integer not null,        -- rounds once it is begun
	most integer not null,
	step integer not null,         -- how many more rounds each time, if it is always so
	calls integer not null,        -- in it, with all below, as the sums behind
	gap_ns real not null,
	ns real not null,
	bytes_out integer not null,
	bytes_in integer not null,
	entry_gap_ns real,             -- before a loop's first call
	further_gap_ns real,           -- before that in further rounds, if it is known apart
	first_gap_ns real,             -- before the first call, or entry, of all, if it is far longer
	first_ns real,                 -- in the first call, if it is far longer
	peers text,                    -- of a call: whom it is about
	lanes text,                    -- JSON: values that are others each time
	attached text,                 -- JSON: what counters and plugins attached
	function text,
	called_from text,
	by_code integer not null default 0, -- 1: of the tree by the machine code; 0: by the order of calls. Either has all calls of the class
	place text,                    -- by the machine code: of a loop or call
	at_least integer not null default 0, -- 1: rounds without calls of MPI aren't counted
	unsure integer not null default 0,   -- 1: the calls don't tell which of several loops went round
	branches text,                 -- JSON: alternatives among the nodes in it by their order from 0, and in how many rounds each was taken
	primary key (run, class, number)
) without rowid;
-- Call sites of a class as its profile numbers and names them.
create table called (
	run integer not null references run on delete cascade,
	class integer not null,
	number integer not null,       -- from 1
	site integer not null references site,
	text text not null,
	short text not null,           -- within the functions around it; empty: there are none
	primary key (run, class, number)
) without rowid;
create view loop as
	select run, class, thread, number, parent, place, entered, rounds, least, most, calls, gap_ns, ns, bytes_out, bytes_in from node
	where kind = 'loop' and by_code = (select max(by_code) from node as of where of.run = node.run and of.class = node.class);
-- What spoor simulate says of the run on other machines. Times but end_ns and traced_ns are means of the ranks.
create table prediction (
	run integer not null references run on delete cascade,
	machine text not null,
	mapping text not null,         -- of ranks to nodes
	cpu real not null,             -- how many times as fast as traced is computed
	gaps text not null,
	source text not null,          -- of the machine's figures
	end_ns real not null,          -- of the last rank
	traced_ns integer not null,
	compute_ns real not null,
	overhead_ns real not null,
	wait_ns real not null,
	transfer_ns real not null,
	recorded_ns real not null,     -- in calls that have no model and take what they took
	not_modelled real not null,    -- share of the traced time of all ranks in such calls
	primary key (run, machine, mapping, cpu, gaps)
) without rowid;
pragma user_version = 8;
`

// waiting creates the table waiting, which databases of older versions lack.
const waiting = `create table waiting (
	run integer not null references run on delete cascade,
	site integer not null references site,
	kind text not null,            -- reason, as spoor waits has it
	calls integer not null,
	waited_ns integer not null,
	ranks integer not null,        -- that waited
	late_rank integer,             -- that they waited longest for, if that is more than half
	computed real,                 -- share of the time that the late ranks computed; null: not known
	primary key (run, site, kind)
) without rowid;
`

// iterations creates the tables iteration and finding, which databases of older versions lack.
const iterations = `create table iteration (
	run integer not null references run on delete cascade,
	iteration integer not null,    -- the first of them, from 0
	iterations integer not null,
	ns integer not null,           -- of each, the mean of the ranks
	primary key (run, iteration)
) without rowid;
create table finding (
	run integer not null references run on delete cascade,
	number integer not null,       -- from what costs most
	kind text not null,            -- slow, step, drift, period, noisy, without a processor
	iteration integer not null,    -- the first
	every integer not null,        -- and after how many the next one is; 0: there is no next one
	ranks integer not null,        -- that compute longer; 0: iterations take longer
	rank integer,                  -- if it is one
	before_ns integer not null,    -- what an iteration takes else, or ranks compute in one
	after_ns integer not null,     -- and then
	cost_ns integer not null,      -- of the run
	text text not null,
	primary key (run, number)
) without rowid;
`

// version is the version of the schema, in a database's user_version.
const version = 8

// upgrades has, by version of the schema, the statements that upgrade a database to the next version.
var upgrades = map[int]string{
	2: "alter table communicator add column name text; pragma user_version = 3;",
	3: `alter table node add column by_code integer not null default 0; alter table node add column place text;
		alter table node add column at_least integer not null default 0; alter table node add column unsure integer not null default 0;
		drop view loop; create view loop as
		select run, class, thread, number, parent, place, entered, rounds, least, most, calls, gap_ns, ns, bytes_out, bytes_in from node
		where kind = 'loop' and by_code = (select max(by_code) from node as of where of.run = node.run and of.class = node.class);
		pragma user_version = 4;`,
	4: "alter table run add column waited_ns integer;" + waiting + "pragma user_version = 5;",
	5: "alter table node add column branches text; pragma user_version = 6;",
	6: "drop view calls_by_site; " + totals() + `
		insert into total (run, site, line, ranks, calls, time_ns, min_ns, max_ns, mean_ns, compute_ns, bytes_out, bytes_in, bytes, waited_ns)
		select run, site, min(line), sum(ranks), sum(calls), sum(ns), min(min_ns), max(max_ns), sum(ns) * 1.0 / max(1, sum(calls)), sum(gap_ns), sum(bytes_out), sum(bytes_in),
			sum(bytes_out) + sum(bytes_in), (select sum(waited_ns) from waiting where waiting.run = callsite.run and waiting.site = callsite.site)
		from callsite group by run, site;
		alter table run add column iteration_ns integer; alter table run add column slow_iteration_ns integer;` + iterations + "pragma user_version = 7;",
	7: "alter table node add column further_gap_ns real; alter table node add column first_gap_ns real; alter table node add column first_ns real; pragma user_version = 8;",
}

// measures are all columns that call sites can have, some of them only in traces with times or waits.
var measures = sites.MeasureColumns(sites.KnownFacts{HasTimes: true, HasWaits: true})

// typeOf returns the SQL type of a column with values in a unit.
func typeOf(u show.Unit) string {
	switch u {
	case show.UnitFraction, show.UnitRatio:
		return "real"
	}
	return "numeric"
}

// totals returns the statements that create the table total and a view of it with the sites' names. The table has sums
// by run and call site, in the columns of package sites.
func totals() string {
	var b strings.Builder
	b.WriteString("create table total (run integer not null references run on delete cascade, site integer not null references site, line integer")
	for _, c := range measures {
		fmt.Fprintf(&b, ", %s %s", c.Key(), typeOf(c.Unit))
	}
	b.WriteString(", primary key (run, site)) without rowid; create index total_site on total (site, run);")
	b.WriteString("create view calls_by_site as select total.*, time_ns as ns, compute_ns as gap_ns, function, module, symbol, file from total join site on site.id = site;")
	return b.String()
}

// measured returns the keys of those measures that are columns of the database's table total.
func (d *DB) measured() (have []string, err error) {
	err = d.each("select name from pragma_table_info('total')", nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		if slices.ContainsFunc(measures, func(c show.Column[sites.Site]) bool { return c.Key() == name }) {
			have = append(have, name)
		}
		return err
	})
	return have, err
}

// complete adds the measures that a database from another release lacks to its table total.
func (d *DB) complete() error {
	have, err := d.measured()
	for _, c := range measures {
		if err == nil && !slices.Contains(have, c.Key()) {
			_, err = d.db.Exec(fmt.Sprintf("alter table total add column %s %s", c.Key(), typeOf(c.Unit)))
		}
	}
	return err
}
