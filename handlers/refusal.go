package handlers

import (
	"dwserver/handlers/schema"
	"dwserver/runtime"
	"dwserver/runtime/rules"
)

// invalid turns broken rules into the 422 of the contract.
func invalid(p *plane, found *schema.Problems) *runtime.Refusal {
	reason := "validation_failed"
	if p == workerPlane && found.OnlyCodec() {
		reason = "unsupported_payload_codec"
	}
	refused := rules.Refuse(reason, found.First)
	refused.Errors = found.Fields
	return refused
}
