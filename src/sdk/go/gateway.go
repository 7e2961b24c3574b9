package sdk

import (
	"context"
	"errors"
	"net/http"
	"strings"
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
	// Timeout is for each attempt, the body of the answer included. 30 s unless said.
	Timeout time.Duration
	// Retry is DefaultRetry unless said; &Retry{} is never.
	Retry *Retry
	// PageSize is how many Workers and Users read at once, 1 to 1000. 200 unless said.
	PageSize int
	// HTTPClient is used in place of the default one: for a proxy, or certificates of your own.
	HTTPClient *http.Client
}

// Gateway is the read API. Reads are tried again after 429, 5xx and lost connections; what remains is returned as
// *APIError, *ConnectionError or *TimeoutError, or as the error of the context.
type Gateway struct {
	baseURL  string
	apiKey   string
	api      *gateway.APIClient
	client   *http.Client
	pageSize int32
}

// NewGateway says so where an option cannot be right.
func NewGateway(options GatewayOptions) (*Gateway, error) {
	baseURL, err := serverURL("BaseURL", options.BaseURL)
	if err != nil {
		return nil, err
	}
	if options.APIKey == "" || strings.ContainsFunc(options.APIKey, func(r rune) bool { return r < '!' || r > '~' }) {
		return nil, errors.New("APIKey must be the API key: letters, digits and underscores, no spaces")
	}
	wrapped := transport{
		timeout: orDefault(options.Timeout, defaultReadTimeout),
		retry:   retryOf(options.Retry),
		refusal: gatewayRefusal,
	}
	client := newClient(options.HTTPClient, wrapped)
	return &Gateway{
		baseURL:  baseURL,
		apiKey:   options.APIKey,
		api:      generatedClient(baseURL, options.APIKey, client),
		client:   client,
		pageSize: int32(orDefault(options.PageSize, defaultPageSize)),
	}, nil
}

func orDefault[T comparable](given, usual T) T {
	var none T
	if given == none {
		return usual
	}
	return given
}

func retryOf(given *Retry) Retry {
	if given == nil {
		return DefaultRetry
	}
	return *given
}

// IfChanged makes reads that answer whether the data changed since the ETag you hold. Empty: you hold nothing yet.
func (g *Gateway) IfChanged(etag string) Conditional { return Conditional{gateway: g, etag: etag} }

// Workers are those of a client, read page by page.
func (g *Gateway) Workers(ctx context.Context, instanceIntegrationID, clientID string) Sequence[WorkerV2] {
	return paged(ctx, g, g.api.WorkersAPI.ListWorkersV2(ctx, instanceIntegrationID, clientID).Limit(g.pageSize).Execute)
}

// Users are those of a client, read page by page.
func (g *Gateway) Users(ctx context.Context, instanceIntegrationID, clientID string) Sequence[User] {
	return paged(ctx, g, g.api.UsersAPI.ListUsers(ctx, instanceIntegrationID, clientID).Limit(g.pageSize).Execute)
}
