//go:build !linux

package codecs

import "time"

func processor() time.Duration { return time.Duration(time.Now().UnixNano()) }
