package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func run(t *testing.T, events ...string) (bool, string) {
	t.Helper()
	var out strings.Builder
	ok, err := summarise(strings.NewReader(strings.Join(events, "\n")), &out)
	require.NoError(t, err)
	return ok, out.String()
}

func TestCountsAndShowsOnlyWhatFailed(t *testing.T) {
	ok, out := run(t,
		`{"Action":"start","Package":"p"}`,
		`{"Action":"output","Package":"p","Test":"TestA","Output":"quiet\n"}`,
		`{"Action":"pass","Package":"p","Test":"TestA"}`,
		`{"Action":"output","Package":"p","Test":"TestB/sub","Output":"loud\n"}`,
		`{"Action":"fail","Package":"p","Test":"TestB/sub"}`,
		`{"Action":"skip","Package":"p","Test":"TestC"}`,
		`{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}`,
		`{"Action":"fail","Package":"p"}`,
		`{"Action":"output","Package":"q","Output":"coverage\n"}`,
		`{"Action":"output","Package":"q","Output":"ok  \tq\t0.1s\n"}`,
		`{"Action":"pass","Package":"q"}`)
	assert.False(t, ok)
	assert.Equal(t, "loud\nFAIL\tp\t0.1s\nok  \tq\t0.1s\n1 passed, 1 failed, 1 skipped\n", out)
}

func TestAllPassed(t *testing.T) {
	ok, out := run(t, `{"Action":"pass","Package":"p","Test":"TestA"}`, `{"Action":"pass","Package":"p"}`)
	assert.True(t, ok)
	assert.Equal(t, "1 passed, 0 failed, 0 skipped\n", out)
}

func TestPackageThatDidNotBuildIsAFailure(t *testing.T) {
	ok, out := run(t,
		`{"ImportPath":"p","Action":"build-output","Output":"p.go:1: no\n"}`,
		`{"ImportPath":"p","Action":"build-fail"}`,
		`{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}`,
		`{"Action":"fail","Package":"p","FailedBuild":"p"}`,
		`{"Action":"pass","Package":"q","Test":"TestA"}`)
	assert.False(t, ok)
	assert.Equal(t, "p.go:1: no\nFAIL\tp [build failed]\n1 passed, 1 failed, 0 skipped\n", out)
}

func TestTestThatNeverEndedIsShown(t *testing.T) {
	ok, out := run(t,
		`{"Action":"output","Package":"p","Test":"TestA","Output":"panic: timed out\n"}`,
		`{"Action":"output","Package":"pp","Test":"TestA","Output":"another package\n"}`,
		`{"Action":"fail","Package":"p"}`)
	assert.False(t, ok)
	assert.Equal(t, "panic: timed out\n0 passed, 1 failed, 0 skipped\n", out)
}

func TestNoTestAtAllIsAFailure(t *testing.T) {
	ok, out := run(t, "go: no such package\n")
	assert.False(t, ok)
	assert.Equal(t, "go: no such package\n0 passed, 0 failed, 0 skipped\n", out)
}
