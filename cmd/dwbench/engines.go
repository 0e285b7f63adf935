package main

import (
	"context"
	"fmt"
	"os"

	"dwserver/cmd/dwbench/database"
	"dwserver/runtime/store/storetest/cluster"
)

// databaseServers are the engines that need a server, and the variables that may name one.
var databaseServers = []struct {
	name, env string
	open      func(ctx context.Context, url string, stop func()) (database.Engine, error)
}{
	{cluster.Postgres, "DW_BENCH_POSTGRES_URL", database.Postgres},
	{cluster.MySQL, "DW_BENCH_MYSQL_URL", database.MySQL},
}

// openEngines opens SQLite and the selected database servers: those the environment names, else throw-away
// ones. One that is not installed is left out, unless it was asked for by name.
func openEngines(ctx context.Context, o options) ([]database.Engine, error) {
	var engines []database.Engine
	if selected(o.engineNames, cluster.SQLite) {
		engines = append(engines, database.SQLite{Dir: o.dir})
	}
	for _, server := range databaseServers {
		if !selected(o.engineNames, server.name) {
			continue
		}
		url, stop := os.Getenv(server.env), func() {}
		if url == "" {
			var err error
			if url, stop, err = cluster.Durable(server.name); err != nil {
				if o.engineNames != "" {
					return engines, err
				}
				fmt.Fprintf(os.Stderr, "%s is left out: %v\n", server.name, err)
				continue
			}
		}
		engine, err := server.open(ctx, url, stop)
		if err != nil {
			stop()
			return engines, err
		}
		engines = append(engines, engine)
	}
	return engines, nil
}
