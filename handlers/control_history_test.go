package handlers_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"dwserver/handlers/handlertest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// follow asks for history and hands the reply over when it comes.
func follow(p *plane, id, run, query string) <-chan *handlertest.Reply {
	reply := make(chan *handlertest.Reply, 1)
	go func() { reply <- p.Get("/workflows/" + id + "/runs/" + run + "/history?" + query) }()
	return reply
}

func token(after string) string { return base64.StdEncoding.EncodeToString([]byte(after)) }

func TestHistoryPages(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		run := p.start(map[string]any{"workflow_id": "wf"})
		for range 5 {
			p.Post("/workflows/wf/signal/go", nil).Expect(202)
		}
		path := "/workflows/wf/runs/" + run + "/history"
		all := p.Get(path).Expect(200).Is(map[string]any{
			"workflow_id": "wf", "run_id": run, "next_page_token": nil, "control_plane.operation": "history",
			"control_plane.workflow_id": "wf", "control_plane.run_id": run, "control_plane.next_page_token": nil,
			"control_plane.contract.success_fields": []any{"next_page_token"},
			"events.0.sequence":                     1, "events.0.event_type": "StartAccepted", "events.0.principal": nil,
			"events.0.timestamp": "2026-01-02T03:04:05.000678Z", "events.2.event_type": "SignalReceived",
		})
		events := all.Any("events").([]any)
		require.Len(t, events, 7)

		var paged []any
		next := ""
		for {
			page := p.Get(path + "?page_size=3&next_page_token=" + next).Expect(200)
			paged = append(paged, page.Any("events").([]any)...)
			if next = page.Text("next_page_token"); next == "" {
				break
			}
			require.Equal(t, token(string(page.Any("events.2.sequence").(json.Number))), next)
		}
		assert.Equal(t, events, paged)

		p.Get(path + "?page_size=7").Expect(200).Is(map[string]any{"next_page_token": nil})
		for _, unreadable := range []string{"%25%25", "x", token("-1"), token("1.5"), token(""), token("99999999999999999999")} {
			p.Get(path + "?next_page_token=" + unreadable).Expect(200).Is(map[string]any{"events.0.sequence": 1})
		}
		p.Get(path + "?next_page_token=" + token("100")).Expect(200).Is(map[string]any{"events": []any{}, "next_page_token": nil})
		for _, size := range []string{"0", "-1", "1001", "x", "1.5"} {
			p.Get(path+"?page_size="+size, handlertest.Deliberate()).Refused(422, "validation_failed")
		}
		p.Get(path+"?wait_new_event=yes", handlertest.Deliberate()).Refused(422, "validation_failed")
		p.Get("/workflows/nope/runs/"+run+"/history?page_size=0", handlertest.Deliberate()).Refused(404, "run_not_found")
	})
}

func TestHistoryWaitsForTheNextEvent(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		run := p.start(map[string]any{"workflow_id": "wf"})
		path := "/workflows/wf/runs/" + run + "/history?wait_new_event=1"
		first := p.Get(path).Expect(200).Is(map[string]any{"next_page_token": token("2")})
		require.Len(t, first.Any("events"), 2, "what is there is answered at once")
		p.Get(path + "&page_size=1").Expect(200).Is(map[string]any{"next_page_token": token("1")})

		waiting := follow(p, "wf", run, "wait_new_event=true&next_page_token="+token("2"))
		p.clock.await(t, 30*time.Second)
		p.Post("/workflows/wf/signal/go", nil).Expect(202)
		(<-waiting).Expect(200).Is(map[string]any{"events.0.sequence": 3, "events.0.event_type": "SignalReceived", "next_page_token": token("3")})

		waiting = follow(p, "wf", run, "wait_new_event=1&next_page_token="+token("3"))
		p.clock.await(t, 30*time.Second)
		p.clock.advance(30 * time.Second)
		(<-waiting).Expect(200).Is(map[string]any{"events": []any{}, "next_page_token": token("3")})

		waiting = follow(p, "wf", run, "wait_new_event=1&next_page_token="+token("50"))
		p.clock.await(t, 30*time.Second)
		p.clock.advance(30 * time.Second)
		(<-waiting).Expect(200).Is(map[string]any{"events": []any{}, "next_page_token": token("50")})

		p.Post("/workflows/wf/terminate", nil).Expect(200)
		p.Get(path + "&next_page_token=" + token("3")).Expect(200).Is(map[string]any{
			"events.0.event_type": "TerminateRequested", "next_page_token": nil})
		p.Get(path + "&next_page_token=" + token("50")).Expect(200).Is(map[string]any{"events": []any{}, "next_page_token": nil})
		p.Get(path + "&page_size=1&next_page_token=" + token("3")).Expect(200).Is(map[string]any{"next_page_token": token("4")})
	})
}

func TestHistoryWaitsForTheClose(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		run := p.start(map[string]any{"workflow_id": "wf"})
		waiting := follow(p, "wf", run, "wait_new_event=1&closed=1")
		p.clock.await(t, 30*time.Second)
		p.Post("/workflows/wf/signal/go", nil).Expect(202)
		select {
		case early := <-waiting:
			t.Fatalf("answered before the close: %s", early.Body)
		default:
		}
		p.Post("/workflows/wf/cancel", map[string]any{"reason": "enough"}).Expect(200)
		done := (<-waiting).Expect(200).Is(map[string]any{"events.0.event_type": "WorkflowCancelled", "events.0.payload.reason": "enough", "next_page_token": nil})
		require.Len(t, done.Any("events"), 1)
		again := p.Get("/workflows/wf/runs/" + run + "/history?wait_new_event=1&closed=1").Expect(200)
		assert.Equal(t, string(done.Body), string(again.Body))
		whole := p.Get("/workflows/wf/runs/" + run + "/history?closed=1").Expect(200)
		assert.Greater(t, len(whole.Any("events").([]any)), 1, "closed alone changes nothing")
	})
}

// A server that goes down answers its readers instead of cutting them off.
func TestHistoryEndsWhenDraining(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		run := p.start(map[string]any{"workflow_id": "wf"})
		waiting := follow(p, "wf", run, "wait_new_event=1&next_page_token="+token("2"))
		p.clock.await(t, 30*time.Second)
		p.engine.Drain()
		(<-waiting).Expect(200).Is(map[string]any{"events": []any{}, "next_page_token": token("2")})
		p.Get("/ready").Expect(503).Is(map[string]any{"status": "not_ready", "checks.process.status": "draining"})
		p.Get("/health").Expect(200)
		p.Post("/workflows/wf/cancel", nil).Expect(200)
	})
}
