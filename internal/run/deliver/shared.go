package deliver

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
)

var errElsewhere = errors.New("not the same file")

// Shared opens a file that another process makes, to write into it beside others. It is
// the same file only if it begins with the token.
func Shared(name string, token []byte, sameHost bool) (io.WriterAt, func() error, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	begin := make([]byte, len(token))
	if _, err := f.ReadAt(begin, 0); err != nil || !bytes.Equal(begin, token) || !sameHost && !coherent(f) {
		f.Close()
		return nil, nil, errElsewhere
	}
	return f, func() (err error) {
		if !sameHost {
			err = f.Sync()
		}
		return errors.Join(err, f.Close())
	}, nil
}

// Magic numbers of file systems whose clients may write more of a page than a process
// wrote, and so undo what another host writes beside it.
const (
	nfs  = 0x6969
	smb  = 0x517b
	cifs = 0xff534d42
	smb2 = 0xfe534d42
	v9fs = 0x01021997
	fuse = 0x65735546
)

// coherent reports whether several hosts can write to a file side by side.
func coherent(f *os.File) bool {
	var s syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &s); err != nil {
		return false
	}
	switch uint32(s.Type) {
	case nfs, smb, cifs, smb2, v9fs, fuse:
		return false
	}
	return true
}
