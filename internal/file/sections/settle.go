package sections

import (
	"os"
	"slices"
	"syscall"
)

// Magic numbers of file systems on disks or in memory of this host. What they took they write.
var local = []uint32{
	0x0000ef53, // ext4
	0x01021994, // tmpfs
	0x2fc12fc1, // zfs
	0x58465342, // xfs
	0x794c7630, // overlay
	0x9123683e, // btrfs
}

// Settle is called when all of a file is written, before it gets its name. File systems of other hosts may refuse only
// now what they had no room for; a local one begins to write. To wait until it has written takes several milliseconds,
// and helps only if the machine fails within the next seconds.
func Settle(f *os.File) error {
	var s syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &s); err != nil || !slices.Contains(local, uint32(s.Type)) {
		return f.Sync()
	}
	const write = 2 // SYNC_FILE_RANGE_WRITE
	if syscall.SyncFileRange(int(f.Fd()), 0, 0, write) != nil {
		return f.Sync()
	}
	return nil
}
