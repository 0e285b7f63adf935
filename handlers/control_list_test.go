package handlers_test

import (
	"fmt"
	"net/url"
	"sort"
	"testing"
	"time"

	"dwserver/handlers/handlertest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestListRows(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.Get("/workflows").Expect(200).Is(map[string]any{"workflows": []any{}, "workflow_count": 0, "next_page_token": nil,
			"control_plane.operation": "list", "control_plane.next_page_token": nil})
		run := p.start(map[string]any{"workflow_id": "old", "business_key": "b", "search_attributes": map[string]any{"Tier": "gold"}, "memo": map[string]any{"m": 1}})
		p.clock.advance(time.Microsecond)
		p.start(map[string]any{"workflow_id": "new"})
		p.Post("/workflows/old/cancel", nil).Expect(200)
		p.Get("/workflows").Expect(200).Is(map[string]any{
			"workflow_count": 2, "workflows.0.workflow_id": "new", "workflows.0.closed_at": nil, "workflows.0.search_attributes": map[string]any{},
			"workflows.1": map[string]any{
				"workflow_id": "old", "run_id": run, "workflow_type": "greeter", "business_key": "b", "status": "cancelled",
				"status_bucket": "failed", "task_queue": "default", "is_terminal": true, "compatibility": nil,
				"compatibility_status": "compatible", "compatibility_supported_in_fleet": true, "compatibility_fleet_reason": nil,
				"started_at": "2026-01-02T03:04:05.000678Z", "closed_at": "2026-01-02T03:04:05.000679Z",
				"search_attributes": map[string]any{"Tier": "gold"},
			},
		})
	})
}

func TestListFilters(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.addNamespace(t, "other")
		p.register(t, nil)
		for _, id := range []string{"done", "gone", "stopped", "open"} {
			p.start(map[string]any{"workflow_id": id})
			p.clock.advance(time.Second)
		}
		p.Post("/workflows/gone/cancel", nil).Expect(200)
		p.Post("/workflows/stopped/terminate", nil).Expect(200)
		p.turn(t, map[string]any{"type": "complete_workflow"})
		p.start(map[string]any{"workflow_id": "typed", "workflow_type": "100%_x"})
		p.Post("/workflows", map[string]any{"workflow_id": "theirs", "workflow_type": "greeter"}, handlertest.Header("X-Namespace", "other")).Expect(201)

		for query, want := range map[string][]string{
			"":                                     {"done", "gone", "open", "stopped", "typed"},
			"status=running":                       {"open", "typed"},
			"status=completed":                     {"done"},
			"status=failed":                        {"gone", "stopped"},
			"status=cancelled":                     {"gone"},
			"status=terminated":                    {"stopped"},
			"status=":                              {"done", "gone", "open", "stopped", "typed"},
			"workflow_type=greeter":                {"done", "gone", "open", "stopped"},
			"workflow_type=greeter&status=running": {"open"},
			"workflow_type=100%25_x":               {"typed"},
			"workflow_type=100%25%25":              {},
			"workflow_type=GREETER":                {},
			"namespace=other":                      {"theirs"},
		} {
			assert.Equal(t, want, listed(p.Get("/workflows?"+query).Expect(200)), query)
		}
		for _, query := range []string{"status=pending", "status=Running", "page_size=0", "page_size=201", "page_size=x", "query=Tier%3D1"} {
			p.Get("/workflows?"+query, handlertest.Deliberate()).Refused(422, "validation_failed").Is(map[string]any{"control_plane.operation": "list"})
		}
	})
}

// listed are the workflow ids of a page, sorted.
func listed(page *handlertest.Reply) []string {
	ids := []string{}
	rows, _ := page.Any("workflows").([]any)
	for _, row := range rows {
		ids = append(ids, row.(map[string]any)["workflow_id"].(string))
	}
	sort.Strings(ids)
	return ids
}

// Each run once, pages full, no token at the end, filters kept: also with equal start times, while runs
// start and close (field report 95).
func TestListPages(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		const runs, size = 60, 7
		want := []string{}
		for i := range runs {
			id := fmt.Sprintf("w%03d", i)
			p.start(map[string]any{"workflow_id": id, "workflow_type": fmt.Sprintf("t%d", i%2)})
			if i%2 == 0 {
				want = append(want, id)
			}
			if i%20 == 19 { // three groups of equal start times
				p.clock.advance(time.Second)
			}
		}
		query := fmt.Sprintf("?workflow_type=t0&status=running&page_size=%d", size)
		var got []string
		for page := 0; ; page++ {
			reply := p.Get("/workflows" + query).Expect(200)
			rows := listed(reply)
			got = append(got, rows...)
			next := reply.Text("next_page_token")
			if next == "" {
				require.Equal(t, nil, reply.Any("next_page_token"))
				break
			}
			require.Len(t, rows, size, "a page before the last is full")
			query = fmt.Sprintf("?page_size=%d&next_page_token=%s", size, url.QueryEscape(next)) // the filters are not repeated
			p.start(map[string]any{"workflow_id": fmt.Sprintf("later%d", page), "workflow_type": "t0"})
			p.Post("/workflows/"+rows[0]+"/cancel", nil).Expect(200)
		}
		sort.Strings(got)
		assert.Equal(t, want, got)
		for _, bad := range []string{"x", "%25", "MTA=", "e30="} {
			p.Get("/workflows?page_size=1&next_page_token=" + bad).Expect(200).Is(map[string]any{"workflow_count": 1})
		}
		exact := p.Get("/workflows?status=failed&page_size=200").Expect(200).Is(map[string]any{"next_page_token": nil})
		n := len(listed(exact))
		p.Get(fmt.Sprintf("/workflows?status=failed&page_size=%d", n)).Expect(200).Is(map[string]any{"workflow_count": n, "next_page_token": nil})
	})
}
