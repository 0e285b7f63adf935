package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"net/http"
	"os"

	"dwserver/cmd/dwbench/null"
)

// serveNull serves the null API until it is interrupted. It tells its address as dwserver does.
func serveNull(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("dwbench null", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address to serve on")
	if err := flags.Parse(args); err != nil {
		return parsed(err)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", *listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: null.New().Handler()} //nolint:gosec // a benchmark's own clients need no header timeout
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	slog.New(slog.NewJSONHandler(os.Stderr, nil)).Info("serving", "listen", l.Addr().String())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// parsed makes the error of a flag set one of usage; the set has printed it.
func parsed(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	return usageError{err}
}
