package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"dwserver/runtime"
)

// newRegistry collects what the Go runtime and the operating system know of this process.
func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

func meterEngine(r prometheus.Registerer, engine *runtime.Engine) {
	r.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "dwserver_held_polls", Help: "Polls waiting in this process."},
			func() float64 { return float64(engine.HeldPolls()) }),
	)
}

// serveMetrics serves GET /metrics, and Go's profiles under /debug/pprof/, on a listener of its own, so that
// both can be kept inside and still answer while the API drains. An empty address means none. The returned
// function stops it.
func serveMetrics(ctx context.Context, address string, g prometheus.Gatherer, log *slog.Logger) (func() error, error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(g, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	s := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, IdleTimeout: idleTimeout}
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the metrics listener stopped", "error", err)
		}
	}()
	log.Info("serving metrics", "listen", l.Addr().String())
	return s.Close, nil
}
