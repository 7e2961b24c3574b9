package sdk

import (
	"context"
	"errors"
	"math"
	"math/rand"
	"net/http"
	"time"
)

// Retry configures retries of repeatable requests. A duration of 0 means that of DefaultRetry; a negative one
// means 0.
type Retry struct {
	// MaxRetries excludes the first attempt. 0 disables retries.
	MaxRetries int
	// BaseDelay precedes the first retry and doubles for each further one, with jitter.
	BaseDelay time.Duration
	// MaxDelay is the longest pause, except for Retry-After.
	MaxDelay time.Duration
	// MaxRetryAfter limits the pause for Retry-After; beyond it the error is returned at once.
	MaxRetryAfter time.Duration
}

// DefaultRetry is the default.
var DefaultRetry = Retry{
	MaxRetries:    3,
	BaseDelay:     250 * time.Millisecond,
	MaxDelay:      8 * time.Second,
	MaxRetryAfter: time.Minute,
}

// delayBefore returns false if another attempt would not help.
func (r Retry) delayBefore(err error, retries int) (time.Duration, bool) {
	if retries >= r.MaxRetries {
		return 0, false
	}
	status, retryAfter := statusOf(err)
	if status != 0 && !mayPass(status) {
		return 0, false
	}
	if retryAfter != nil {
		// Slightly later than asked, so that clients with the same answer do not return together.
		return time.Duration(float64(*retryAfter) * (1 + rand.Float64()/10)), *retryAfter <= r.MaxRetryAfter
	}
	var lost *ConnectionError
	if status == 0 && !errors.As(err, &lost) {
		return 0, false
	}
	longest := min(float64(r.MaxDelay), math.Ldexp(float64(r.BaseDelay), retries))
	return time.Duration(longest * (0.5 + rand.Float64()/2)), true
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
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
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
