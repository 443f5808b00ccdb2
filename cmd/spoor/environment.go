package main

// A setting is something that the manual page lists, with its description: an environment variable that users may set,
// a file that remains, or an exit code.
type setting struct{ name, what string }

// settings are the environment variables of `spoor run`. Further variables that the tool passes to ranks are
// internal; users set flags instead.
var settings = []setting{
	{"SPOOR_LIB", "the folder with libspoor.so and the other libraries, where it is neither the tool's nor ../lib/spoor beside it"},
	{"SPOOR_PATIENCE", "for how many seconds a rank waits for one that says nothing while the trace is merged, 600 if it isn't set; and for how many, a minute at most, the launcher may bring together what ranks of a job that died left on its hosts"},
	{"SPOOR_PYTHON", "0: calls from Python have the call sites of C code, not the lines of Python"},
	{"SPOOR_RING", "bytes of each thread's ring of records, 1 MiB if it isn't set: from 64 KiB on, powers of two"},
	{"SPOOR_THROUGH", "beginnings of library names between colons: a call of MPI from one of these is taken for one from inside of an MPI library, and isn't recorded of its own"},
	{"TMPDIR", "where records go if /dev/shm has no room, and the trace if it can't be written where it should be"},
}

// left are the files and folders that may remain after spoor run.
var left = []setting{
	{"PROGRAM.spoor", "the trace, unless -o names another file"},
	{"PROGRAM.spoor.partial/", "what the ranks recorded, if they didn't come to the end together: for spoor recover"},
	{"/dev/shm/spoor-*", "records of programs that are running, below --scratch if that is given"},
}

// statuses are the exit codes of all verbs but run.
var statuses = []setting{
	{"0", "done"},
	{"1", "it could not be done, or the answer is no: traces differ, a trace is damaged, a limit is exceeded"},
	{"2", "wrong usage"},
}
