package sdk

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
)

// Sequence is a list that is read page by page while you iterate:
//
//	for worker, err := range gateway.Workers(ctx, instanceIntegrationID, clientID) { … }
//
// The first error ends it. It is an iter.Seq2; before Go 1.23 use Collect, or call it.
type Sequence[T any] func(yield func(T, error) bool)

// Collect reads the whole list.
func (s Sequence[T]) Collect() ([]T, error) {
	var all []T
	var failure error
	s(func(item T, err error) bool {
		if err != nil {
			failure = err
			return false
		}
		all = append(all, item)
		return true
	})
	return all, failure
}

// paged continues from the first page of a generated operation.
func paged[T any](ctx context.Context, g *Gateway, first func() ([]T, *http.Response, error)) Sequence[T] {
	return func(yield func(T, error) bool) {
		items, response, err := first()
		for {
			page, failure := reading(items, response, err)
			if failure != nil {
				var none T
				yield(none, failure)
				return
			}
			for _, item := range page.Data {
				if !yield(item, nil) {
					return
				}
			}
			next := nextAddress(response)
			if next == "" {
				return
			}
			items, response, err = following[T](ctx, g, next, response)
		}
	}
}

var errPageItself = errors.New("the next page is the page itself")

func following[T any](ctx context.Context, g *Gateway, address string, present *http.Response) ([]T, *http.Response, error) {
	if address == present.Request.URL.String() {
		return nil, present, errPageItself
	}
	var items []T
	response, err := g.get(ctx, address, "", &items)
	return items, response, err
}

var (
	link   = regexp.MustCompile(`<([^>]*)>((?:\s*;[^,<]*)*)`)
	isNext = regexp.MustCompile(`(?i);\s*rel\s*=\s*(?:next\b|"[^"]*\bnext\b[^"]*")`)
)

// nextAddress is the next page by Link (RFC 8288); empty on the last page.
func nextAddress(response *http.Response) string {
	here := response.Request.URL
	for _, header := range response.Header.Values("Link") {
		for _, match := range link.FindAllStringSubmatch(header, -1) {
			if !isNext.MatchString(match[2]) {
				continue
			}
			target, _, _ := strings.Cut(match[1], "#")
			// Only its query: the key goes to the configured address, which the service may not know.
			next := *here
			_, next.RawQuery, _ = strings.Cut(target, "?")
			return next.String()
		}
	}
	return ""
}
