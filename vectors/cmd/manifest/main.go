// Command manifest pins the contracts and the vectors in vectors/manifest.json.
// Run it from the top of the repository after changing either.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"dwserver/vectors"
)

func main() {
	if err := write("vectors"); err != nil {
		fmt.Fprintln(os.Stderr, "manifest:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	manifest, err := vectors.MakeManifest(os.DirFS(dir))
	if err != nil {
		return err
	}
	text, err := manifest.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, vectors.ManifestFile), text, 0o644)
}
