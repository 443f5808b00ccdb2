package trace

import "slices"

// MadeFor returns where the functions are that the threads of a stream were made for, in the order in which they
// began to call MPI: what the program passed to pthread_create, the body of a parallel region, and the like. A stream is
// that of one thread after the other where these don't live at the same time. Of the thread that initialised MPI, and where the recorder could
// not tell, there is nothing.
func (k *Rank) MadeFor(stream int) (list []Site) {
	t := k.tables
	if len(t.sites.Threads) == 0 {
		return nil
	}
	firsts := k.Occurrences(stream, func(terminal int) bool { return t.sites.Thread(k.class.Terminals[terminal].Site) != nil })
	for n := range min(firsts.Total(), maxMadeFor) {
		_, terminal := firsts.Nth(n)
		if s := t.sites.Thread(k.class.Terminals[terminal].Site); !slices.Contains(list, *s) {
			list = append(list, *s)
		}
	}
	return list
}

// maxMadeFor bounds how many threads of a stream are looked at.
const maxMadeFor = 1000
