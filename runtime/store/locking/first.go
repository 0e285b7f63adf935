package locking

import (
	"context"

	"dwserver/runtime/store"
)

// First is the first task that search lists and nobody in this process is taking. When all are being taken it
// waits for how that ends, without a connection: taken back, a task is there again and nobody would be told of it.
// search lists so many tasks of each sort. Errors: store.ErrNotFound, those of search, ctx's.
func (t *Takes) First(ctx context.Context, search func(most int64) ([]Place, error)) (store.Head, error) {
	for {
		found, most := t.Now(), 1+t.Open()
		places, err := search(most)
		if err != nil {
			return store.Head{}, err
		}
		free, err := t.free(ctx, places, found)
		if err != nil {
			return store.Head{}, err
		}
		if free != nil {
			return free.Head(found), nil
		}
		if int64(len(places)) < most { // there was no more
			return store.Head{}, store.ErrNotFound
		}
	}
}

// free is the first place that is free, or becomes so; nil when all were taken for good.
func (t *Takes) free(ctx context.Context, places []Place, found int64) (*Place, error) {
	for i := range places {
		if !t.Gone(places[i].TaskID, found) {
			return &places[i], nil
		}
	}
	for i := range places {
		if taker := t.taker(places[i].TaskID); taker != nil {
			select {
			case <-taker:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		if !t.Gone(places[i].TaskID, found) {
			return &places[i], nil
		}
	}
	return nil, nil
}
