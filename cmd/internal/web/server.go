package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

const (
	// maxConnections bounds what clients can keep open, with those that send nothing.
	maxConnections = 256
	// maxHeader bounds the header of a request. That of a browser has some hundred bytes.
	maxHeader = 32 << 10
	// headerTime, requestTime and idleTime end connections of clients that send slowly or nothing, and
	// sendTime those of clients that take nothing of an answer.
	headerTime  = 10 * time.Second
	requestTime = 30 * time.Second
	idleTime    = 2 * time.Minute
	sendTime    = time.Minute
	// endTime is how long requests may take that are under way when the server ends.
	endTime = 3 * time.Second
)

// Certificate are the files of a certificate and its key. The zero value is none: http.
type Certificate struct{ Cert, Key string }

// Serve answers requests until ctx is done.
func (s *Site) Serve(ctx context.Context, l net.Listener, c Certificate) error {
	server := &http.Server{
		Handler:        slowly{&s.gate},
		MaxHeaderBytes: maxHeader, ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, IdleTimeout: idleTime,
		ErrorLog: slog.NewLogLogger(s.opts.Logger.Handler(), slog.LevelDebug),
	}
	l = netutil.LimitListener(l, maxConnections)
	ended := make(chan error, 1)
	go func() {
		if c.Cert != "" {
			ended <- server.ServeTLS(l, c.Cert, c.Key)
		} else {
			ended <- server.Serve(l)
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	ending, stop := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer stop()
	err := server.Shutdown(ending)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	return err
}

// slowly lets an answer take as long as the client takes some of it now and then.
type slowly struct{ next http.Handler }

// ServeHTTP implements [http.Handler].
func (s slowly) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.next.ServeHTTP(&sender{ResponseWriter: w, control: http.NewResponseController(w)}, r)
}

// sender moves the time on by which a write has to be done. It hides ReadFrom, which would write a
// whole file as one.
type sender struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write implements [io.Writer].
func (s *sender) Write(p []byte) (int, error) {
	_ = s.control.SetWriteDeadline(time.Now().Add(sendTime)) // without one the write can still be done
	return s.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (s *sender) Unwrap() http.ResponseWriter { return s.ResponseWriter }
