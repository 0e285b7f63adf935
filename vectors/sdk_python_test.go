package vectors_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/store/storetest/cluster"
)

func TestMain(m *testing.M) { os.Exit(cluster.Run(m)) }

// TestPythonSDK runs the scenarios of the published Python SDK on every engine. It needs Python and the package, so
// it runs where it is asked for: make sdk-python-engines.
func TestPythonSDK(t *testing.T) {
	if os.Getenv("DW_TEST_SDK") != "python" {
		t.Skip("make sdk-python-engines runs it")
	}
	cluster.Each(t, func(t *testing.T, engine string) {
		run := exec.CommandContext(t.Context(), "sdk-python/run.sh")
		run.Env = append(os.Environ(), "DW_SDK_DATABASE_URL="+cluster.URL(t, engine))
		out, err := run.CombinedOutput()
		t.Logf("%s", out)
		require.NoError(t, err)
	})
}
