package load

import (
	"context"
	"fmt"
	"net/url"

	"dwserver/cmd/dwbench/target"
	"dwserver/cmd/dwbench/wire"
)

// verify asks the server itself how many runs it has completed: a benchmark of work that was not done
// would look good. Errors: the number is not n.
func (t *trial) verify(ctx context.Context, n int) error {
	conn := newClients(t.server.Address, 1).http.Get()
	defer conn.Close()
	got := 0
	var err error
	if t.server.Engine == target.Null {
		var r wire.Response
		if r, err = conn.GetDocument("/closed"); err == nil {
			got = int(wire.Integer(r.Body))
		}
	} else {
		got, err = completedRuns(ctx, conn)
	}
	if err == nil && got != n {
		err = fmt.Errorf("the server has %d completed runs, %d were started", got, n)
	}
	return err
}

func completedRuns(ctx context.Context, conn *wire.Conn) (int, error) {
	count, token := 0, ""
	for {
		if err := ctx.Err(); err != nil {
			return count, err
		}
		path := "/workflows?status=completed&page_size=200&next_page_token=" + url.QueryEscape(token)
		r, err := conn.GetDocument(path)
		if err == nil {
			err = wire.Check(path, r)
		}
		if err != nil {
			return count, err
		}
		token = ""
		err = wire.Members(r.Body, func(name, value []byte) bool {
			switch string(name) {
			case "workflow_count":
				count += int(wire.Integer(value))
			case "next_page_token":
				token = wire.Text(value)
			}
			return true
		})
		if err != nil || token == "" {
			return count, err
		}
	}
}
