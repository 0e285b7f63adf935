package cluster

import "fmt"

// Durable starts a database server of an engine with the durability it has by default, for
// measurements: unlike the servers of the tests it syncs what it commits. The URL is of a user who may
// create databases; stop ends the server and deletes its data. Errors: it is not installed, or does not start.
func Durable(engine string) (url string, stop func(), err error) {
	var p *process
	switch engine {
	case Postgres:
		p, url, err = startPostgres()
	case MySQL:
		p, url, err = startMariaDB()
	default:
		err = fmt.Errorf("no server for engine %q", engine)
	}
	if err != nil {
		return "", nil, err
	}
	return url, p.stop, nil
}
