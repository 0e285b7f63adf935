package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

// ErrInterrupted is a request that Interrupt ended. The server may have carried it out.
var ErrInterrupted = errors.New("request interrupted")

// Conn is one connection that serves one request at a time and opens itself again when it broke.
type Conn struct {
	client *Client
	out    []byte
	body   []byte
	in     *bufio.Reader

	mu          sync.Mutex
	tcp         net.Conn
	interrupted chan struct{} // closed by Interrupt; nil while nobody may interrupt
	stopped     bool
}

// Interruptible lets Interrupt end the following requests until it is called with false.
func (c *Conn) Interruptible(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = false
	c.interrupted = nil
	if on {
		c.interrupted = make(chan struct{})
	}
}

// Interrupt ends the request in flight, and its retries, with ErrInterrupted.
func (c *Conn) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupted == nil || c.stopped {
		return
	}
	c.stopped = true
	close(c.interrupted)
	if c.tcp != nil {
		_ = c.tcp.Close() // the reader learns it
	}
}

func (c *Conn) pause() bool {
	c.mu.Lock()
	stop := c.interrupted
	c.mu.Unlock()
	t := time.NewTimer(retryPause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-stop:
		return false
	}
}

// open returns the TCP connection, made anew when there is none.
func (c *Conn) open() (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil, ErrInterrupted
	}
	if c.tcp != nil {
		return c.tcp, nil
	}
	tcp, err := net.Dial("tcp", c.client.address)
	if err != nil {
		return nil, err
	}
	c.tcp = tcp
	if c.in == nil {
		c.in = bufio.NewReaderSize(tcp, 4<<10)
	} else {
		c.in.Reset(tcp)
	}
	return tcp, nil
}

// drop closes the connection and says what its request failed with.
func (c *Conn) drop(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tcp != nil {
		_ = c.tcp.Close() // it is broken or of no more use
		c.tcp = nil
	}
	if c.stopped {
		return ErrInterrupted
	}
	return err
}

// Close closes the connection; a later request opens it again.
func (c *Conn) Close() { _ = c.drop(nil) }

func (c *Conn) exchange(method, path string, body []byte) (Response, error) {
	tcp, err := c.open()
	if err != nil {
		return Response{}, err
	}
	o := append(c.out[:0], method...)
	o = append(o, " /api"...)
	o = append(o, path...)
	o = append(o, " HTTP/1.1\r\nHost: "...)
	o = append(o, c.client.address...)
	o = append(o, "\r\nContent-Type: application/json\r\nContent-Length: "...)
	o = strconv.AppendInt(o, int64(len(body)), 10)
	o = append(o, "\r\n"...)
	o = append(o, c.client.headers...)
	o = append(o, "\r\n"...)
	o = append(o, body...)
	c.out = o
	if _, err := tcp.Write(o); err != nil {
		return Response{}, c.drop(err)
	}
	r, keep, err := c.response()
	if err != nil {
		return Response{}, c.drop(err)
	}
	if !keep {
		c.Close()
	}
	return r, nil
}

// response reads one answer and whether the connection stays open after it.
func (c *Conn) response() (r Response, keep bool, err error) {
	line, err := c.line()
	if err != nil {
		return r, false, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return r, false, fmt.Errorf("status line %q", line)
	}
	r.Status = int(Integer(line[9:12]))
	length, chunked, keep := int64(0), false, true
	for {
		if line, err = c.line(); err != nil || len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch string(name) {
		case "Content-Length":
			length = Integer(value)
		case "Transfer-Encoding":
			chunked = true
		case "Connection":
			keep = string(value) != "close"
		}
	}
	if err != nil {
		return r, false, err
	}
	if chunked {
		err = c.chunks()
	} else {
		c.body, err = c.read(c.body[:0], length)
	}
	r.Body = c.body
	return r, keep, err
}

func (c *Conn) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	return bytes.TrimRight(line, "\r\n"), err
}

func (c *Conn) chunks() error {
	c.body = c.body[:0]
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(line), 16, 64)
		if err != nil {
			return err
		}
		if c.body, err = c.read(c.body, size); err != nil {
			return err
		}
		if _, err := c.line(); err != nil || size == 0 {
			return err
		}
	}
}

func (c *Conn) read(into []byte, n int64) ([]byte, error) {
	from := len(into)
	for int64(cap(into)-from) < n {
		into = append(into[:cap(into)], 0)
	}
	into = into[:from+int(n)]
	_, err := io.ReadFull(c.in, into[from:])
	return into, err
}
