package config

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// FileEnv names the settings file in the environment; --config does the same as a flag.
const FileEnv = "DW_CONFIG"

// Load reads the configuration of a subcommand from its arguments, the environment and the settings
// file that either names. It returns flag.ErrHelp after printing the flags to usage when the arguments
// ask for help. The result is read but not yet verified: see Config.Verify. extra adds flags that are the
// subcommand's own.
func Load(name string, args []string, getenv func(string) string, usage io.Writer, extra ...func(*flag.FlagSet)) (Config, error) {
	settings := Settings()
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(usage)
	for _, add := range extra {
		add(set)
	}
	flags, file, err := parseFlags(set, settings, args)
	if err != nil {
		return Config{}, err
	}
	if file == "" {
		file = getenv(FileEnv)
	}
	fromFile, err := readFile(file)
	if err != nil {
		return Config{}, err
	}
	c := Default()
	for _, layer := range []source{
		{"settings file " + file, fromFile},
		{"environment", environment(settings, getenv)},
		{"flags", flags},
	} {
		if err := layer.apply(&c, settings); err != nil {
			return Config{}, err
		}
	}
	if c.ServerID == "" {
		if c.ServerID, err = os.Hostname(); err != nil {
			return Config{}, fmt.Errorf("DW_SERVER_ID is not set and the host has no name: %w", err)
		}
	}
	return c, nil
}

// Default is the configuration with nothing set.
func Default() Config {
	var c Config
	for _, s := range Settings() {
		if s.Default == "" {
			continue
		}
		if err := s.read(&c, s.Default); err != nil {
			//nolint:forbidigo // a mistake in the table itself, caught by any test
			panic("config: default of " + s.Env + ": " + err.Error())
		}
	}
	return c
}

// source is one layer of texts by setting name.
type source struct {
	name  string
	texts map[string]string
}

// apply reads the layer's texts into c. Two different texts for a setting under its two names are refused.
func (l source) apply(c *Config, settings []Setting) error {
	for _, s := range settings {
		own, alias := l.texts[s.Env], l.texts[s.Alias]
		if own != "" && alias != "" && own != alias {
			return fmt.Errorf("%s: %s and %s name the same setting and differ", l.name, s.Env, s.Alias)
		}
		name, value := s.Env, own
		if own == "" {
			name, value = s.Alias, alias
		}
		if value == "" {
			continue
		}
		if err := s.read(c, value); err != nil {
			return fmt.Errorf("%s: %s: %w", l.name, name, err)
		}
	}
	return nil
}

// environment picks the settings' names. An empty variable counts as not set, as compose files pass them.
func environment(settings []Setting, getenv func(string) string) map[string]string {
	texts := map[string]string{}
	for _, s := range settings {
		texts[s.Env] = getenv(s.Env)
		if s.Alias != "" {
			texts[s.Alias] = getenv(s.Alias)
		}
	}
	return texts
}

// parseFlags returns the texts of the flags that were given, and the settings file that --config names.
func parseFlags(set *flag.FlagSet, settings []Setting, args []string) (map[string]string, string, error) {
	file := set.String("config", "", "settings file of NAME=VALUE lines ("+FileEnv+")")
	texts := map[string]string{}
	for _, s := range settings {
		set.Var(&flagText{texts: texts, env: s.Env, bool: s.bool}, s.Flag(), flagUsage(s))
	}
	if err := set.Parse(args); err != nil {
		return nil, "", err
	}
	if set.NArg() > 0 {
		return nil, "", fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	return texts, *file, nil
}

func flagUsage(s Setting) string {
	shown := s.Shown
	if shown == "" {
		shown = s.Default
	}
	return strings.ReplaceAll(s.Help+" ("+s.Env+", default "+shown+")", "`", "")
}

// flagText keeps a flag's text for the flag layer; it is read like any other layer, so that every
// source has the same syntax.
type flagText struct {
	texts map[string]string
	env   string
	bool  bool
}

func (f *flagText) String() string     { return "" }
func (f *flagText) IsBoolFlag() bool   { return f.bool }
func (f *flagText) Set(s string) error { f.texts[f.env] = s; return nil }
