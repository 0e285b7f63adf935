package handlers

import (
	"testing"

	"dwserver/handlers/handlertest"

	"github.com/stretchr/testify/require"
)

func TestTokensGiveTheirRoles(t *testing.T) {
	all := Config{AuthDriver: AuthToken, AuthToken: "legacy", WorkerToken: "w", OperatorToken: "o", AdminToken: "a"}
	compatible := all
	compatible.AuthBackwardCompatible = true
	shared := Config{AuthDriver: AuthToken, WorkerToken: "same", OperatorToken: "same"}
	for _, tc := range []struct {
		name   string
		config Config
		header string
		// status on: worker heartbeat, register, list workflows, cluster info
		want [4]int
	}{
		{"no driver", Config{AuthDriver: AuthNone, WorkerToken: "w"}, "", [4]int{200, 201, 200, 200}},
		{"legacy alone", Config{AuthDriver: AuthToken, AuthToken: "legacy"}, "Bearer legacy", [4]int{200, 201, 200, 200}},
		{"legacy alone, wrong", Config{AuthDriver: AuthToken, AuthToken: "legacy"}, "Bearer legac", [4]int{401, 401, 401, 401}},
		{"worker", all, "Bearer w", [4]int{200, 201, 403, 200}},
		{"operator", all, "Bearer o", [4]int{403, 201, 200, 200}},
		{"admin", all, "Bearer a", [4]int{403, 201, 200, 200}},
		{"legacy beside roles", all, "Bearer legacy", [4]int{401, 401, 401, 401}},
		{"legacy beside roles, compatible", compatible, "Bearer legacy", [4]int{403, 201, 200, 200}},
		{"one token, two roles", shared, "Bearer same", [4]int{200, 201, 200, 200}},
		{"none sent", all, "", [4]int{401, 401, 401, 401}},
		{"empty", all, "Bearer ", [4]int{401, 401, 401, 401}},
		{"no scheme", all, "w", [4]int{401, 401, 401, 401}},
		{"other scheme", all, "Basic w", [4]int{401, 401, 401, 401}},
		{"lower case scheme", all, "bearer w", [4]int{200, 201, 403, 200}},
		{"misconfigured", Config{AuthDriver: AuthToken}, "Bearer x", [4]int{500, 500, 500, 500}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := newAuthenticator(tc.config)
			for i, route := range []struct {
				plane        *plane
				method, path string
				ok           int
			}{
				{workerPlane, "POST", "/worker/heartbeat", 200}, {workerPlane, "POST", "/worker/register", 201},
				{controlPlane, "GET", "/workflows", 200}, {controlPlane, "GET", "/cluster/info", 200},
			} {
				got := route.ok
				if a.misconfigured() {
					got = 500
				} else if refused := a.check(tc.header, rolesFor(route.plane, route.method, route.path)); refused != nil {
					got = statuses[refused.Reason]
				}
				require.Equal(t, tc.want[i], got, route.path)
			}
		})
	}
}

func TestRolesOfRoutes(t *testing.T) {
	operators, admins := []string{"operator", "admin"}, []string{"admin"}
	for route, want := range map[[2]string][]string{
		{"GET", "/namespaces"}: operators, {"POST", "/namespaces"}: admins, {"DELETE", "/namespaces/{name}"}: admins,
		{"GET", "/workers"}: operators, {"DELETE", "/workers/{id}"}: admins, {"GET", "/system/metrics"}: admins,
		{"POST", "/storage/test"}: admins, {"POST", "/workflows/import/waterline-v1"}: admins,
		{"POST", "/workflows/{workflow_id}/cancel"}: operators, {"PUT", "/schedules/{id}"}: operators,
		{"POST", "/service-endpoints/{e}/services/{s}/operations/{o}/execute"}: operators,
		{"POST", "/service-endpoints"}:                                         admins, {"GET", "/runtime-credentials"}: admins,
	} {
		require.Equal(t, want, rolesFor(controlPlane, route[0], route[1]), route)
	}
}

func TestAMisconfiguredDriverIsAFault(t *testing.T) {
	c := edge(t, Config{AuthDriver: AuthToken}, &fakeEngine{})
	c.Post(heartbeat, `{"worker_id":"w"}`).Refused(500, "internal_error")
	c.Get("/workflows").Refused(500, "server_error")
}

func TestOpenRoutesNeedNothing(t *testing.T) {
	c := edge(t, Config{AuthDriver: AuthToken, AuthToken: "x"}, &fakeEngine{})
	none := handlertest.Header(handlertest.ControlHeader, "")
	for _, path := range []string{"/openapi/worker-protocol.yaml", "/openapi/control-plane.yaml"} {
		reply := c.Get(path, none, handlertest.Header("X-Namespace", "nowhere")).Expect(200)
		require.Equal(t, "2", reply.Header.Get(handlertest.ControlHeader))
	}
	c.Get("/cluster/info", none).Refused(401, "unauthorized")
	with := c.With("Authorization", "Bearer x")
	with.Get("/cluster/info", handlertest.Header(handlertest.ControlHeader, "1"), handlertest.Deliberate()).
		Refused(400, "unsupported_control_plane_version")
}
