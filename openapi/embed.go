// Package openapi holds the two contracts this server speaks, as they are
// published and served.
package openapi

import _ "embed"

// WorkerProtocol is the worker protocol's OpenAPI 3.0.3 document, in YAML.
// It must not be changed.
//
//go:embed worker-protocol.yaml
var WorkerProtocol []byte

// ControlPlane is the control plane's OpenAPI 3.0.3 document, in YAML.
// It must not be changed.
//
//go:embed control-plane.yaml
var ControlPlane []byte
