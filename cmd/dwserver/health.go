package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"dwserver/cmd/dwserver/config"
)

// healthTimeout is shorter than the usual patience of what runs health checks.
const healthTimeout = 3 * time.Second

// health asks the configured address for GET /api/health; anything but a 200 is an error.
func health(ctx context.Context, p process) error {
	cfg, err := config.Load("health", p.args, p.getenv, p.stderr)
	if err != nil {
		return asUsage(err)
	}
	target, err := healthURL(cfg.Listen)
	if err != nil {
		return usageError{err}
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return err
	}
	// No proxy: the check is about this machine, whatever the environment says about others.
	client := &http.Client{Transport: &http.Transport{}}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("unhealthy: %w", err)
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New("unhealthy: " + resp.Status)
	}
	_, err = fmt.Fprintln(p.stdout, "healthy")
	return err
}

// healthURL is where a process on this machine reaches a listen address: an unspecified host becomes loopback.
func healthURL(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("DW_LISTEN: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port) + "/api/health", nil
}
