package runtime

// Draining reports whether the server is going down: Drain was called.
func (e *Engine) Draining() bool { return e.hub.Draining() }
