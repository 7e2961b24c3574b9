package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
)

// Follow reads the target of a link, such as Links.Self of an event's data, into a record:
//
//	var worker sdk.WorkerV2
//	err := gateway.Follow(ctx, data.Links.Self, &worker)
//
// It refuses links outside the gateway, so that the API key goes nowhere else.
func (g *Gateway) Follow(ctx context.Context, link string, record any) error {
	_, err := g.IfChanged("").Follow(ctx, link, record)
	return err
}

// Follow reads the target of a link into a record, which stays as it is if nothing changed.
func (c Conditional) Follow(ctx context.Context, link string, record any) (Reading[any], error) {
	address, err := addressBelow(c.gateway.baseURL, link)
	if err != nil {
		return Reading[any]{}, err
	}
	response, err := c.gateway.get(ctx, address, c.etag, record)
	return reading(record, response, err)
}

// plainPath contains nothing that could be read as another server, or as a way out of the base URL.
var plainPath = regexp.MustCompile(`^(?:/[\w~-][\w.~-]*)+(?:\?[\w.~%&=+-]*)?$`)

// addressBelow resolves a path, or an address below the base URL. No other address gets the API key.
func addressBelow(baseURL, link string) (string, error) {
	path := link
	if strings.HasPrefix(link, baseURL+"/") {
		path = strings.TrimPrefix(link, baseURL)
	}
	if !plainPath.MatchString(path) {
		return "", errors.New("the link must be a path of the gateway, or an address below its BaseURL")
	}
	return baseURL + path, nil
}

// get is for addresses from answers and events, and for changes; generated operations make the others.
func (g *Gateway) get(ctx context.Context, address, etag string, record any) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("x-api-key", g.apiKey)
	if etag != "" {
		request.Header.Set("If-None-Match", etag)
	}
	response, err := g.client.Do(request)
	if err != nil || response.StatusCode == http.StatusNotModified {
		return response, err
	}
	defer response.Body.Close()
	if !isJSON(response.Header) {
		return response, errors.New("the answer is not JSON")
	}
	return response, json.NewDecoder(response.Body).Decode(record)
}
