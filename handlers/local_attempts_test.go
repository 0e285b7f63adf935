package handlers

import (
	"testing"

	"dwserver/openapi"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// TestEveryMemberOfAnAttemptIsRead holds the tables of local_attempts.go against the document.
func TestEveryMemberOfAnAttemptIsRead(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(openapi.WorkerProtocol)
	require.NoError(t, err)
	members := doc.Components.Schemas["LocalActivityAttempt"].Value.Properties
	for name := range members {
		require.Contains(t, attemptFields, name)
	}
	require.Len(t, attemptFields, len(members))
	require.Len(t, doc.Components.Schemas["LocalActivityHeartbeat"].Value.Properties, 2, "elapsed_ms and details")
}
