package vectors_test

import (
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"testing"

	"dwserver/handlers/avro"
	"dwserver/vectors"
	"dwserver/vectors/runner"

	"github.com/stretchr/testify/require"
)

// The manifest names the contracts and the files as they are.
func TestManifestIsCurrent(t *testing.T) {
	want, err := vectors.MakeManifest(vectors.Files())
	require.NoError(t, err)
	text, err := fs.ReadFile(vectors.Files(), vectors.ManifestFile)
	require.NoError(t, err)
	var have vectors.Manifest
	require.NoError(t, json.Unmarshal(text, &have))
	require.Equal(t, want, have, "run: go run ./vectors/cmd/manifest")
}

// What is compiled in is what lies in the folder: embedding leaves out names that start with a dot.
func TestEveryFileIsCompiledIn(t *testing.T) {
	compiled, err := vectors.MakeManifest(vectors.Files())
	require.NoError(t, err)
	folder, err := vectors.MakeManifest(os.DirFS("."))
	require.NoError(t, err)
	require.Equal(t, folder.Files, compiled.Files)
}

func TestManifestPinsTheVersion(t *testing.T) {
	manifest, err := vectors.MakeManifest(vectors.Files())
	require.NoError(t, err)
	require.Regexp(t, `^1\.20\.[0-9]+$`, manifest.Contracts["worker-protocol"].Version)
	require.Regexp(t, `^2\.[0-9]+$`, manifest.Contracts["control-plane"].Version)
	require.Len(t, manifest.Contracts["worker-protocol"].SHA256, 64)
}

// The vectors name operations, shared steps and payloads that exist.
func TestVectorsAreSound(t *testing.T) {
	set, err := runner.Load(vectors.Files())
	require.NoError(t, err)
	require.NoError(t, runner.Check(set))
}

// The blobs encode the values beside them.
func TestPayloads(t *testing.T) {
	set, err := runner.Load(vectors.Files())
	require.NoError(t, err)
	require.NotEmpty(t, set.Payloads)
	for name, payload := range set.Payloads {
		frame, err := avro.EncodeJSON(payload.Value)
		require.NoError(t, err, name)
		require.Equal(t, base64.StdEncoding.EncodeToString(frame), payload.Blob, name)
	}
}
