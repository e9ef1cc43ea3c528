package runtime

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
	"sync"
	"time"
)

// idAlphabet is Crockford's base 32 in lower case: it sorts as the bytes do, and
// no two of its characters look alike.
var idAlphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// lastID is the last id that this process gave, so that those of one millisecond
// sort in the order in which they were given.
var lastID struct {
	sync.Mutex
	id [12]byte
}

// NewID gives a new run id: 20 characters that sort by the time of creation (48
// bits of milliseconds, then 48 random bits or one more than the id before, in
// the alphabet of Crockford).
func NewID(now time.Time) string {
	var b [12]byte
	ms := now.UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (8 * (5 - i)))
	}
	lastID.Lock()
	defer lastID.Unlock()
	if last := &lastID.id; [6]byte(b[:6]) == [6]byte(last[:6]) {
		b = *last
		for i := len(b) - 1; i >= 6; i-- {
			if b[i]++; b[i] != 0 {
				break
			}
		}
	} else {
		_, _ = rand.Read(b[6:]) // never fails (crypto/rand)
		b[6] &= 0x7f            // room to count
	}
	lastID.id = b
	return strings.ToLower(idAlphabet.EncodeToString(b[:]))
}
