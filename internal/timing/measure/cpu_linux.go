package measure

import (
	"syscall"
	"time"
)

const rusageThread = 1

// processor is how long the thread has had a processor: unlike the time of the
// wall clock, it does not count what others did meanwhile.
func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(rusageThread, &u) != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
