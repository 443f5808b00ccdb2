package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/run/recover"
)

// watchHang tells where the ranks of a run are when none of those on this machine has begun or ended
// an MPI call for so long; once, until one does. The function that it returns ends that.
func watchHang(cmd *cobra.Command, scratch string, patience time.Duration) (end func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		look := time.NewTicker(min(max(patience/8, 50*time.Millisecond), 5*time.Second))
		defer look.Stop()
		var recorded uint64
		var arrived string
		since, told := time.Now(), false
		for {
			select {
			case <-stop:
				return
			case <-look.C:
			}
			dirs, err := recover.Dirs(scratch)
			inside := recover.Arrivals(scratch)
			if err != nil || len(dirs)+len(inside) == 0 {
				since, told = time.Now(), false
				continue
			}
			if n, in := recover.Recorded(dirs), fmt.Sprint(inside); n != recorded || in != arrived {
				recorded, arrived, since, told = n, in, time.Now(), false
			}
			if told || time.Since(since) < patience {
				continue
			}
			told = true
			fmt.Fprintf(cmd.ErrOrStderr(), "spoor: no rank here has begun or ended an MPI call for %s\n", time.Since(since).Round(time.Second/10))
			o := whereOptions{settle: 100 * time.Millisecond}
			if _, err := whereDirs(cmd, cmd.ErrOrStderr(), &o, []string{scratch}); err != nil {
				complain(cmd, err) // the ranks may just have ended
			}
		}
	}()
	return func() {
		close(stop)
		<-done
	}
}
