package web

import (
	"errors"
	"net/http"

	"lorefs/internal/shown"
	"lorefs/nodes"
)

// statusOf returns the status for an error of a tree.
func statusOf(err error) int {
	switch {
	case errors.Is(err, nodes.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, nodes.ErrNotDir):
		return http.StatusNotFound
	case errors.Is(err, nodes.ErrNoKey), errors.Is(err, nodes.ErrUnavailable):
		return http.StatusConflict // it is there, but can't be had: a client need not try again
	case errors.Is(err, nodes.ErrChanged):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// fail answers with an error of a tree, as text.
func fail(w http.ResponseWriter, err error) { refuse(w, statusOf(err), shown.Line(err)) }

// refuse answers with a reason, as text.
func refuse(w http.ResponseWriter, status int, reason string) {
	h := w.Header()
	for _, name := range []string{"Content-Disposition", "Content-Length", "ETag", "Last-Modified"} {
		h.Del(name)
	}
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(reason + "\n")) // the client may have gone
}
