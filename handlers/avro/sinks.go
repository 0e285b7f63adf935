package avro

// discard reads for the checks alone.
type discard struct{}

func (discard) null() error           { return nil }
func (discard) boolean(bool) error    { return nil }
func (discard) long(int64) error      { return nil }
func (discard) double(float64) error  { return nil }
func (discard) bytes([]byte) error    { return nil }
func (discard) text([]byte) error     { return nil }
func (discard) open(int64, int) error { return nil }
func (discard) element(int) error     { return nil }
func (discard) key([]byte, int) error { return nil }
func (discard) end(int64) error       { return nil }

// counter counts the elements of the outermost list.
type counter struct {
	discard
	list     bool
	elements int
}

func (c *counter) open(branch int64, depth int) error {
	if depth == 1 {
		c.list = branch == branchArray
	}
	return nil
}

func (c *counter) element(depth int) error {
	if depth == 1 {
		c.elements++
	}
	return nil
}
