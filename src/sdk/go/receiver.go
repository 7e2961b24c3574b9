package sdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
)

const defaultMaxBytes = 4 << 20

var errAlreadyRead = errors.New("the body was read before the WebhookReceiver could verify its bytes; " +
	"no handler or middleware before it may read r.Body")

// unreadableBody has the error of the connection.
type unreadableBody struct{ error }

// WebhookReceiver is an http.Handler for the requests of webhooks.
type WebhookReceiver struct {
	Verifier *WebhookVerifier
	// Handle stores an event. Without an error the answer is 204; with one it is 500, and the service sends
	// the event again.
	Handle func(ctx context.Context, event *Event) error
	// MaxBytes limits the body: a longer one is answered 413. The default is 4 MiB.
	MaxBytes int64
	// ErrorLog gets refusals and errors. The default is the standard logger.
	ErrorLog *log.Logger
}

func (receiver *WebhookReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, err := receiver.receive(w, r)
	if err == nil {
		w.WriteHeader(status)
		return
	}
	receiver.logf("a webhook request was answered %d: %v", status, err)
	http.Error(w, textOf(status, err), status)
}

// textOf leaves to the log what failed here: such errors may name addresses and tables.
func textOf(status int, err error) string {
	var unreadable unreadableBody
	switch {
	case errors.As(err, &unreadable):
		return "the body could not be read"
	case status == http.StatusInternalServerError:
		return http.StatusText(status)
	}
	return err.Error()
}

func (receiver *WebhookReceiver) receive(w http.ResponseWriter, r *http.Request) (int, error) {
	limit := receiver.MaxBytes
	if limit <= 0 {
		limit = defaultMaxBytes
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge, errors.New("the body is too large")
	case errors.Is(err, http.ErrBodyReadAfterClose), err == nil && len(body) == 0 && r.ContentLength > 0:
		return http.StatusInternalServerError, errAlreadyRead
	case err != nil:
		return http.StatusBadRequest, unreadableBody{err}
	}
	event, err := receiver.Verifier.Verify(body, r.Header)
	var refused *WebhookVerificationError
	if errors.As(err, &refused) {
		return http.StatusBadRequest, fmt.Errorf("%s: %w", refused.Reason, err)
	}
	if err == nil {
		err = receiver.Handle(r.Context(), event)
	}
	if err != nil {
		return http.StatusInternalServerError, err
	}
	return http.StatusNoContent, nil
}

func (receiver *WebhookReceiver) logf(format string, values ...any) {
	if receiver.ErrorLog != nil {
		receiver.ErrorLog.Printf(format, values...)
		return
	}
	log.Printf(format, values...)
}
