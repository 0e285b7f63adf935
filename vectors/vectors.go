// Package vectors holds the replay vectors of the contract: examples as data
// that any server of the protocol has to satisfy. See README.md for the format.
package vectors

import (
	"context"
	"embed"
	"io/fs"

	"dwserver/vectors/runner"
)

//go:embed cases given payloads.json manifest.json
var files embed.FS

// Files returns the vectors' files as they were compiled in.
func Files() fs.FS { return files }

// The runner's own terms, so that callers need only this package.
type (
	Options = runner.Options
	Tokens  = runner.Tokens
	Report  = runner.Report
	Result  = runner.Result
	Outcome = runner.Outcome
)

// Run replays the compiled-in vectors against a server. Vectors that fail are in
// the report; an error means that nothing could be replayed at all.
func Run(ctx context.Context, o Options) (Report, error) {
	set, err := runner.Load(files)
	if err != nil {
		return Report{}, err
	}
	return runner.Run(ctx, set, o)
}
