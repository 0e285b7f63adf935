package writetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/store/storetest/proxy"
)

// repeats are how often a report is sent to find what it takes when its statements are prepared and nothing else
// uses its connection.
const repeats = 12

// testRoundTrips: on PostgreSQL a completion takes two round trips, BEGIN with the lock and what is loaded with it,
// then all writes with COMMIT. On MySQL every statement is one.
func testRoundTrips(t *testing.T, empty Empty) {
	databaseURL := empty(t)
	if engineOf(databaseURL) == sqliteEngine {
		t.Skip("SQLite is not on a wire")
	}
	p, throughURL := proxy.New(t, databaseURL)
	w := openWorld(t, throughURL, nil)
	w.register()
	for _, r := range reports {
		least, statements := 0, 0
		for range repeats {
			send := r.make(w)
			var ran trace
			trips := p.RoundTrips(func() {
				ran = w.probe.during(func() { require.NoError(t, send(runtime.Carriers{})) })
			})
			if least == 0 || trips < least {
				least, statements = trips, ran.all()
			}
			w.drain()
		}
		t.Logf("%-8s %-40s %d statements in %d round trips", w.engine(), r.name, statements, least)
		want := 2
		if w.engine() == mysqlEngine {
			want = statements
		}
		require.Equal(t, want, least, r.name)
	}
}
