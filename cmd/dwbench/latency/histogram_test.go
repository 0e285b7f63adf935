package latency

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBucketsCoverEveryDuration(t *testing.T) {
	for d := time.Duration(0); d < 5000; d++ {
		b := bucket(d)
		require.GreaterOrEqual(t, upper(b), d)
		if b > 0 {
			require.Less(t, upper(b-1), d)
		}
	}
	require.GreaterOrEqual(t, upper(bucket(time.Hour)), time.Hour)
}

func TestQuantilesOfMergedHistograms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var whole Histogram
	var all []time.Duration
	for range 4 {
		var part Histogram
		for range 5000 {
			d := time.Duration(r.ExpFloat64() * float64(time.Millisecond))
			part.Add(d)
			all = append(all, d)
		}
		text, err := json.Marshal(part)
		require.NoError(t, err)
		var read Histogram
		require.NoError(t, json.Unmarshal(text, &read))
		whole.Merge(&read)
	}
	slices.Sort(all)
	require.Equal(t, int64(len(all)), whole.Total)
	require.Equal(t, all[len(all)-1], whole.Max)
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
		exact := all[int(q*float64(len(all)))]
		require.InEpsilon(t, float64(exact), float64(whole.Quantile(q)), 0.04, "quantile %v", q)
	}
	require.Equal(t, whole.Max, whole.Quantile(1))
	require.Zero(t, (&Histogram{}).Quantile(0.5))
}
