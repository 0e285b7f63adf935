package vectors

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"

	"dwserver/openapi"
)

// ManifestFile is the manifest's name in the folder of the vectors.
const ManifestFile = "manifest.json"

// Manifest pins what a set of vectors was written for.
type Manifest struct {
	Contracts map[string]Contract `json:"contracts"` // by document name
	Files     map[string]string   `json:"files"`     // path to SHA-256, hexadecimal
}

// Contract pins one OpenAPI document.
type Contract struct {
	Version string `json:"version"` // info.version: protocol version and revision
	SHA256  string `json:"sha256"`
}

var infoVersion = regexp.MustCompile(`(?m)^  version: "?([0-9.]+)"?$`)

// MakeManifest pins the contracts of this build and the vectors in files.
func MakeManifest(files fs.FS) (Manifest, error) {
	m := Manifest{Contracts: map[string]Contract{}, Files: map[string]string{}}
	for name, document := range map[string][]byte{
		"worker-protocol": openapi.WorkerProtocol, "control-plane": openapi.ControlPlane,
	} {
		version := infoVersion.FindSubmatch(document)
		if version == nil {
			return m, fmt.Errorf("%s: no info.version", name)
		}
		m.Contracts[name] = Contract{Version: string(version[1]), SHA256: digest(document)}
	}
	for _, pattern := range []string{"payloads.json", "given", "cases"} {
		if err := m.pin(files, pattern); err != nil {
			return m, err
		}
	}
	return m, nil
}

func (m Manifest) pin(files fs.FS, root string) error {
	return fs.WalkDir(files, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		m.Files[name] = digest(text)
		return err
	})
}

// Encode is the manifest as it is written to its file.
func (m Manifest) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
