// Command bundle joins the parts of each contract under openapi/src into the
// one document that is generated from, served and published.
//
//	go run ./openapi/bundle          write the two documents
//	go run ./openapi/bundle -check   exit 1 when a document is out of date
//
// The parts are OpenAPI, except for the shorthand described in
// openapi/README.md; the documents are plain OpenAPI 3.0.3.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// documents names each folder of parts and the document made from it.
var documents = map[string]string{
	"src/worker":  "worker-protocol.yaml",
	"src/control": "control-plane.yaml",
}

var errStale = errors.New("out of date, run: go run ./openapi/bundle")

func main() {
	dir := flag.String("dir", "openapi", "folder that holds src/ and the documents")
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	for src, name := range documents {
		if err := run(filepath.Join(*dir, src), filepath.Join(*dir, name), *check); err != nil {
			fmt.Fprintf(os.Stderr, "bundle: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

func run(src, target string, check bool) error {
	text, err := bundle(src)
	if err != nil {
		return err
	}
	if !check {
		return os.WriteFile(target, text, 0o644)
	}
	have, err := os.ReadFile(target)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, text) {
		return errStale
	}
	return nil
}
