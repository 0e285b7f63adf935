package config

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
)

// value reads one setting's text into its field of a Config.
type value func(*Config, string) error

func text(field func(*Config) *string) value {
	return func(c *Config, s string) error {
		*field(c) = s
		return nil
	}
}

func oneOf(field func(*Config) *string, allowed ...string) value {
	return func(c *Config, s string) error {
		if !slices.Contains(allowed, s) {
			return fmt.Errorf("%q is not one of %s", s, strings.Join(allowed, ", "))
		}
		*field(c) = s
		return nil
	}
}

func flagValue(field func(*Config) *bool) value {
	return func(c *Config, s string) error {
		b, err := strconv.ParseBool(strings.ToLower(s))
		if err != nil {
			return fmt.Errorf("%q is not one of true, false, 1, 0", s)
		}
		*field(c) = b
		return nil
	}
}

func duration(field func(*Config) *time.Duration) value {
	return func(c *Config, s string) error {
		d, err := parseDuration(s)
		if err != nil {
			return err
		}
		*field(c) = d
		return nil
	}
}

// parseDuration reads a plain integer as seconds and anything else as a Go duration.
func parseDuration(s string) (time.Duration, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		if n < 0 || n > maxSeconds {
			return 0, fmt.Errorf("%q seconds is out of range", s)
		}
		return time.Duration(n) * time.Second, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is neither a number of seconds nor a duration such as 1m30s", s)
	}
	if d < 0 {
		return 0, fmt.Errorf("%q is negative", s)
	}
	return d, nil
}

// maxSeconds keeps every configured time inside a century, far from overflow when times are added.
const maxSeconds = 100 * 366 * 24 * 3600

func integer(field func(*Config) *int64) value {
	return func(c *Config, s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not a 64-bit integer", s)
		}
		if n < 0 {
			return fmt.Errorf("%q is negative", s)
		}
		*field(c) = n
		return nil
	}
}

func logLevel(c *Config, s string) error {
	var l slog.Level
	if err := l.UnmarshalText([]byte(s)); err != nil {
		return errors.New(strconv.Quote(s) + " is not one of debug, info, warn, error")
	}
	c.LogLevel = l
	return nil
}
