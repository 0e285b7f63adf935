//go:build linux

package usage

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSelf(t *testing.T) {
	before := Self()
	for Self()-before < 20*time.Millisecond {
	}
	p, err := Of(os.Getpid(), false)
	require.NoError(t, err)
	require.Greater(t, p.RSS, int64(1<<20))
	require.InDelta(t, Self().Seconds(), p.CPU.Seconds(), 0.05)
}

func TestTreeCountsChildrenThatEnded(t *testing.T) {
	require.NoError(t, exec.CommandContext(t.Context(), "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done").Run())
	alone, err := Of(os.Getpid(), false)
	require.NoError(t, err)
	tree, err := Of(os.Getpid(), true)
	require.NoError(t, err)
	require.Greater(t, tree.CPU, alone.CPU)
}

func TestNoSuchProcess(t *testing.T) {
	_, err := Of(1<<22+1, false)
	require.Error(t, err)
}
