package sdk

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// longestTimeout leaves room for what is added to it.
const longestTimeout = math.MaxInt64 / 2

// transport sends requests of the generated clients with retries, and turns refusals into errors.
type transport struct {
	next    http.RoundTripper
	timeout time.Duration
	// mostBytes limits an answer; 0 sets no limit, for lists, which are as long as what they list.
	mostBytes int64
	retry     Retry
	// within limits the time from the first attempt to the last retry; 0 sets no limit.
	within time.Duration
	// refusal is nil for answers that are for the caller.
	refusal func(response *http.Response, body []byte) error
}

// newClient follows no redirect, which could carry keys to another server.
func newClient(given *http.Client, usualTimeout time.Duration, wrapped transport) *http.Client {
	client := http.Client{}
	if given != nil {
		client = *given
	}
	wrapped.next = client.Transport
	if wrapped.next == nil {
		wrapped.next = http.DefaultTransport
	}
	client.Transport = &wrapped
	wrapped.timeout = timeoutOf(given, wrapped.timeout, usualTimeout)
	// The limit is for each attempt: all attempts and their pauses are one request of this client.
	client.Timeout = 0
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

func timeoutOf(given *http.Client, own, usual time.Duration) time.Duration {
	if given != nil {
		own = cmp.Or(own, given.Timeout)
	}
	return min(cmp.Or(own, usual), longestTimeout)
}

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		defer request.Body.Close()
	}
	// Without the monotonic reading, which leaves out the time in which the machine sleeps.
	began := time.Now().Round(0)
	isTooLate := func(delay time.Duration) bool {
		return t.within != 0 && time.Now().Round(0).Sub(began)+delay > t.within
	}
	for retries := 0; ; retries++ {
		response, err := t.once(request)
		if err == nil {
			return response, nil
		}
		delay, again := t.retry.delayBefore(err, retries)
		if !again || isTooLate(delay) {
			return nil, err
		}
		if err := pause(request.Context(), delay); err != nil {
			return nil, err
		}
		if isTooLate(0) {
			return nil, err
		}
	}
}

// once reads the body as well: a connection can break in the middle of it.
func (t *transport) once(request *http.Request) (*http.Response, error) {
	wait, _ := request.Context().Value(waitKey{}).(time.Duration)
	timeout := t.timeout + wait
	ctx, cancel := context.WithTimeout(request.Context(), timeout)
	defer cancel()
	attempt := request.Clone(ctx)
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		attempt.Body = body
	}
	attempt.Header.Set("User-Agent", userAgent)
	if id, ok := ctx.Value(requestIDKey{}).(string); ok {
		attempt.Header.Set("x-request-id", id)
	}
	for _, name := range []string{"x-request-id", "If-None-Match"} {
		// Found here, so that it is not reported as a lost connection.
		if strings.ContainsFunc(attempt.Header.Get(name), unicode.IsControl) {
			return nil, fmt.Errorf("the header %s has a character that no header can have", name)
		}
	}
	response, err := t.next.RoundTrip(attempt)
	if err != nil {
		return nil, t.failure(request, err, timeout)
	}
	body, err := t.whole(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, t.failure(request, err, timeout)
	}
	if err := t.refusal(response, body); err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.Request = request
	return response, nil
}

func (t *transport) whole(body io.Reader) ([]byte, error) {
	if t.mostBytes == 0 {
		return io.ReadAll(body)
	}
	read, err := io.ReadAll(io.LimitReader(body, t.mostBytes+1))
	if int64(len(read)) > t.mostBytes {
		return nil, fmt.Errorf("the answer has more than %d bytes", t.mostBytes)
	}
	return read, err
}

func (t *transport) failure(request *http.Request, err error, timeout time.Duration) error {
	if cause := request.Context().Err(); cause != nil {
		return cause
	}
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout() {
		return &TimeoutError{Host: request.URL.Host, After: timeout, Err: err}
	}
	return &ConnectionError{Host: request.URL.Host, Err: err}
}

type waitKey struct{}

// waiting allows an answer so much more time, because the service was asked to wait.
func waiting(ctx context.Context, wait time.Duration) context.Context {
	return context.WithValue(ctx, waitKey{}, wait)
}

type requestIDKey struct{}

// WithRequestID sets the request id for requests with this context; the service logs it.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// withoutURL removes the address that http.Client adds to an error.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

func isJSON(header http.Header) bool {
	mediaType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && (mediaType == "application/json" ||
		strings.HasPrefix(mediaType, "application/") && strings.HasSuffix(mediaType, "+json"))
}

// jsonObject is empty if there is none.
func jsonObject(header http.Header, body []byte) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	if isJSON(header) {
		_ = json.Unmarshal(body, &object)
	}
	return object
}

// text is empty if the member is not a text.
func text(object map[string]json.RawMessage, member string) string {
	var value string
	_ = json.Unmarshal(object[member], &value)
	return value
}

// retryAfter is in seconds or a date (RFC 9110).
func retryAfter(header http.Header) *time.Duration {
	value := header.Get("Retry-After")
	var wait time.Duration
	// Beyond 31 bits, ParseUint returns the greatest value together with its error.
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = max(0, time.Until(at))
	} else {
		return nil
	}
	return &wait
}

// isForHeader keeps secrets out of the errors about headers.
func isForHeader(secret string) bool {
	return secret != "" && !strings.ContainsFunc(secret, func(r rune) bool { return r < '!' || r > '~' })
}

// serverURL removes a trailing slash. It refuses an address beyond loopback where http:// would send what unencrypted.
func serverURL(name, address, what string, allowInsecureHTTP bool) (string, error) {
	parsed, err := url.Parse(address)
	// Paths are appended to it.
	if err != nil || parsed.Host == "" || (parsed.Scheme != "https" && parsed.Scheme != "http") || strings.ContainsAny(address, "?# ") {
		return "", fmt.Errorf("%s must be an address that begins with https:// or http://, without ? and #", name)
	}
	if parsed.User != nil {
		return "", fmt.Errorf("%s must have no user name and no password: they would be in messages", name)
	}
	if parsed.Scheme == "http" && !isLoopback(parsed.Hostname()) && !allowInsecureHTTP {
		return "", fmt.Errorf("%s with http:// would send %s unencrypted: use https://, or allow it with AllowInsecureHTTP", name, what)
	}
	return strings.TrimRight(address, "/"), nil
}

func isLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}
