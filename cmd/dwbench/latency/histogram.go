// Package latency counts durations in buckets of about three per cent, so that the percentiles of many
// processes can be merged without keeping samples.
package latency

import (
	"math/bits"
	"time"
)

// fine is the number of buckets that every power of two is cut into.
const (
	fineBits = 5
	fine     = 1 << fineBits
)

// Histogram counts durations from 1 ns up. The zero value is empty. It marshals to JSON.
type Histogram struct {
	Buckets map[int]int64 `json:"buckets,omitempty"` // bucket number to count
	Total   int64         `json:"total,omitempty"`
	Sum     time.Duration `json:"sum,omitempty"`
	Max     time.Duration `json:"max,omitempty"`
}

// Add counts one duration; a negative one as zero.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	if h.Buckets == nil {
		h.Buckets = map[int]int64{}
	}
	h.Buckets[bucket(d)]++
	h.Total++
	h.Sum += d
	h.Max = max(h.Max, d)
}

// Merge adds the counts of another histogram.
func (h *Histogram) Merge(other *Histogram) {
	if h.Buckets == nil {
		h.Buckets = map[int]int64{}
	}
	for b, n := range other.Buckets {
		h.Buckets[b] += n
	}
	h.Total += other.Total
	h.Sum += other.Sum
	h.Max = max(h.Max, other.Max)
}

// Quantile is the duration that the fraction q of all counted ones do not exceed; 0 when empty.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := int64(q*float64(h.Total) + 0.5)
	if rank < 1 {
		rank = 1
	}
	last := 0
	for b := range h.Buckets {
		last = max(last, b)
	}
	seen := int64(0)
	for b := 0; b <= last; b++ {
		if seen += h.Buckets[b]; seen >= rank {
			return min(upper(b), h.Max)
		}
	}
	return h.Max
}

// Mean is the average; 0 when empty.
func (h *Histogram) Mean() time.Duration {
	if h.Total == 0 {
		return 0
	}
	return h.Sum / time.Duration(h.Total)
}

func bucket(d time.Duration) int {
	n := uint64(d)
	if n < fine {
		return int(n)
	}
	exponent := bits.Len64(n) - 1 - fineBits
	return exponent*fine + int(n>>exponent)
}

// upper is the largest duration of a bucket.
func upper(b int) time.Duration {
	if b < fine {
		return time.Duration(b)
	}
	exponent := b/fine - 1
	base := b - exponent*fine
	return time.Duration((uint64(base)+1)<<exponent - 1)
}
