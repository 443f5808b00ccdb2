// Squash and Stretch convert between probabilities and the logarithms of odds that
// coders weigh and add when they mix predictions. All is integers from tables, so
// that every machine predicts the same and can decode what another has coded.

package wire

// In the domain of odds 256 is one; values beyond ±LogitLimit are cut.
const LogitLimit = 2047

// Squash is 65536/(1+exp(-d/256)).
func Squash(d int32) int32 {
	d = max(min(d, LogitLimit), -LogitLimit) + 2048
	i, w := d>>7, d&127
	return (table[i]*(128-w) + table[i+1]*w + 64) >> 7
}

// Stretch is ln(p/(1-p)) of a probability p in 1/65536: the inverse of Squash.
func Stretch(p uint16) int32 { return int32(stretched[p>>4]) }

// table is 65536/(1+exp(-x)) at -8, -7.5, …, 8.
var table = [33]int32{
	22, 36, 60, 98, 162, 267, 440, 724, 1179, 1923, 3108, 4971, 7812, 11955, 17625, 24743, 32768,
	40793, 47911, 53581, 57724, 60565, 62428, 63613, 64357, 64812, 65096, 65269, 65374, 65438, 65476, 65500, 65514,
}

var stretched [4096]int16

func init() {
	at := 0
	for d := int32(-LogitLimit); d <= LogitLimit; d++ {
		for ; at <= int(Squash(d)>>4) && at < len(stretched); at++ {
			stretched[at] = int16(d)
		}
	}
	for ; at < len(stretched); at++ {
		stretched[at] = LogitLimit
	}
}
