package wire

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	retries    = 20
	retryPause = 50 * time.Millisecond
)

// Response is an answer. Its body is valid until the connection's next request.
type Response struct {
	Status int
	Body   []byte
}

// StatusError is an answer that the caller has no use for.
type StatusError struct {
	Path   string
	Status int
	Body   string
}

func (e *StatusError) Error() string {
	// The reason comes after the capabilities.
	return fmt.Sprintf("%s: status %d: %s", e.Path, e.Status, e.Body[max(0, len(e.Body)-1000):])
}

// Client sends requests to one server over kept-alive connections.
type Client struct {
	address string // host:port
	headers string // beyond Host, Content-Type and Content-Length

	mu   sync.Mutex
	free []*Conn
}

// NewClient returns a client of the server at host:port. Headers are whole lines, each ended by CRLF.
func NewClient(address, headers string) *Client {
	return &Client{address: address, headers: headers}
}

// Get takes an idle connection or makes one that is opened by its first request.
func (c *Client) Get() *Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.free); n > 0 {
		conn := c.free[n-1]
		c.free = c.free[:n-1]
		return conn
	}
	return &Conn{client: c}
}

// Put gives a connection back.
func (c *Client) Put(conn *Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = append(c.free, conn)
}

// Post sends a body and returns the answer. A broken connection and a retryable 503 are met by sending
// the very same bytes again, ids included, a bounded number of times; retried tells that this happened.
// Errors: ErrInterrupted, and what the last attempt failed with.
func (c *Conn) Post(path string, body []byte) (r Response, retried bool, err error) {
	for try := 0; ; try++ {
		r, err = c.exchange("POST", path, body)
		if err == nil && r.Status != 503 || errors.Is(err, ErrInterrupted) || try == retries {
			return r, retried, err
		}
		if retried && !c.pause() {
			return r, retried, ErrInterrupted
		}
		retried = true
	}
}

// GetDocument fetches a document.
func (c *Conn) GetDocument(path string) (Response, error) {
	return c.exchange("GET", path, nil)
}

// Check turns an answer with another status than 2xx into a StatusError.
func Check(path string, r Response) error {
	if r.Status/100 == 2 {
		return nil
	}
	return &StatusError{Path: path, Status: r.Status, Body: string(r.Body)}
}
