package sdk

import (
	"context"
	"errors"
	"math/rand"
	"net/http"
	"time"
)

// Retry says how often to try again what may be asked twice, and how long to wait before.
type Retry struct {
	// MaxRetries is counted after the first attempt. 0 is never.
	MaxRetries int
	// BaseDelay is waited before the first retry; twice as long before each one more, with jitter.
	BaseDelay time.Duration
	// MaxDelay is the longest pause, but for Retry-After.
	MaxDelay time.Duration
	// MaxRetryAfter bounds what is waited when the service says Retry-After; beyond it the error is returned at once.
	MaxRetryAfter time.Duration
}

// DefaultRetry is what is done unless you say otherwise.
var DefaultRetry = Retry{
	MaxRetries:    3,
	BaseDelay:     250 * time.Millisecond,
	MaxDelay:      8 * time.Second,
	MaxRetryAfter: time.Minute,
}

// delayBefore answers false where another attempt would be of no use.
func (r Retry) delayBefore(err error, retries int) (time.Duration, bool) {
	if retries >= r.MaxRetries {
		return 0, false
	}
	status, retryAfter := statusOf(err)
	if status != 0 && !mayPass(status) {
		return 0, false
	}
	if retryAfter != nil {
		// A little later than asked, or everybody who was told the same comes back at once.
		return time.Duration(float64(*retryAfter) * (1 + rand.Float64()/10)), *retryAfter <= r.MaxRetryAfter
	}
	var lost *ConnectionError
	if status == 0 && !errors.As(err, &lost) {
		return 0, false
	}
	longest := min(r.MaxDelay, r.BaseDelay<<min(retries, 30))
	return time.Duration(float64(longest) * (0.5 + rand.Float64()/2)), true
}

func statusOf(err error) (int, *time.Duration) {
	var api *APIError
	if errors.As(err, &api) {
		return api.Status, api.RetryAfter
	}
	var oauth *OAuthError
	if errors.As(err, &oauth) {
		return oauth.Status, oauth.RetryAfter
	}
	return 0, nil
}

func mayPass(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func pause(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
