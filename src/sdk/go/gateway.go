package sdk

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"integration.example.com/sdk/gateway"
)

const (
	defaultReadTimeout = 30 * time.Second
	defaultPageSize    = 200
)

// GatewayOptions needs a BaseURL and an APIKey.
type GatewayOptions struct {
	// BaseURL is the address of the gateway.
	BaseURL string
	// APIKey is ik_live_… or ik_demo_….
	APIKey string
	// Timeout is for each attempt, including the body of the answer. The default is that of HTTPClient, or 30 s.
	Timeout time.Duration
	// Retry defaults to DefaultRetry; &Retry{} disables retries.
	Retry *Retry
	// PageSize is how many Workers and Users read at once, 1 to 1000. The default is 200.
	PageSize int
	// HTTPClient replaces the default one: for a proxy, or your own certificates.
	HTTPClient *http.Client
	// AllowInsecureHTTP also sends the API key to http:// beyond this machine, where others can read it.
	AllowInsecureHTTP bool
}

// Gateway is the read API. It retries reads after 408, 429, 500, 502, 503, 504 and lost connections, and then
// returns an *APIError, *ConnectionError or *TimeoutError, or the error of the context.
type Gateway struct {
	baseURL  string
	apiKey   string
	api      *gateway.APIClient
	client   *http.Client
	pageSize int32
	retry    Retry
}

// String keeps the API key out of logs.
func (g *Gateway) String() string { return "sdk.Gateway " + g.baseURL }

// GoString is for %#v.
func (g *Gateway) GoString() string { return g.String() }

// NewGateway fails on invalid options.
func NewGateway(options GatewayOptions) (*Gateway, error) {
	baseURL, err := serverURL("BaseURL", options.BaseURL, "the API key", options.AllowInsecureHTTP)
	if err != nil {
		return nil, err
	}
	if !isForHeader(options.APIKey) {
		return nil, errors.New("APIKey must be the API key: letters, digits and underscores, no spaces")
	}
	wrapped := transport{
		timeout: options.Timeout,
		retry:   retryOf(options.Retry),
		refusal: gatewayRefusal,
	}
	client := newClient(options.HTTPClient, defaultReadTimeout, wrapped)
	return &Gateway{
		baseURL:  baseURL,
		apiKey:   options.APIKey,
		api:      generatedClient(baseURL, options.APIKey, client),
		client:   client,
		pageSize: int32(cmp.Or(options.PageSize, defaultPageSize)),
		retry:    wrapped.retry,
	}, nil
}

func retryOf(given *Retry) Retry {
	if given == nil {
		return DefaultRetry
	}
	return Retry{
		MaxRetries:    given.MaxRetries,
		BaseDelay:     orUsual(given.BaseDelay, DefaultRetry.BaseDelay),
		MaxDelay:      orUsual(given.MaxDelay, DefaultRetry.MaxDelay),
		MaxRetryAfter: orUsual(given.MaxRetryAfter, DefaultRetry.MaxRetryAfter),
	}
}

func orUsual(given, usual time.Duration) time.Duration { return max(0, cmp.Or(given, usual)) }

// IfChanged makes reads that report whether the data changed since the ETag you have, or empty for none.
func (g *Gateway) IfChanged(etag string) Conditional { return Conditional{gateway: g, etag: etag} }

// ListWorkersV1 calls ListWorkers.
//
// Deprecated: it is the earlier name of ListWorkers.
func (g *Gateway) ListWorkersV1(ctx context.Context, instanceIntegrationID, clientID string) ([]Worker, error) {
	return g.ListWorkers(ctx, instanceIntegrationID, clientID)
}

// ListWorkersV1 calls ListWorkers.
//
// Deprecated: it is the earlier name of ListWorkers.
func (c Conditional) ListWorkersV1(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]Worker], error) {
	return c.ListWorkers(ctx, instanceIntegrationID, clientID)
}
