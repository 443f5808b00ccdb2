package database

// schema makes the tables of a new file. Times are nanoseconds, sizes bytes, counts sums over all calls.
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
	parallel real,                 -- efficiencies as spoor imbalance has them; null: not known
	load_balance real,
	communication real,
	classes integer not null,
	file_bytes integer not null,
	problems text not null
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
-- Numbers that counters and plugins attached to calls.
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
create view calls_by_site as
	select run, site, function, module, symbol, file, min(line) as line, sum(ranks) as ranks, sum(calls) as calls, sum(ns) as ns,
		min(min_ns) as min_ns, max(max_ns) as max_ns, sum(gap_ns) as gap_ns, sum(bytes_out) as bytes_out, sum(bytes_in) as bytes_in
	from callsite join site on site.id = callsite.site group by run, site;
pragma user_version = 1;
`

// version is that of the schema above.
const version = 1
