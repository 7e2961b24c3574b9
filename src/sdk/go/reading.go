package sdk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"

	"integration.example.com/sdk/gateway"
)

// Reading is the result of a conditional read. Keep ETag with the data for the next one.
type Reading[T any] struct {
	// Changed is false if your data is current; Data is empty then.
	Changed bool
	Data    T
	ETag    string
}

// reading converts the result of a generated operation.
func reading[T any](data T, response *http.Response, err error) (Reading[T], error) {
	if response != nil && response.StatusCode == http.StatusNotModified {
		etag := cmp.Or(response.Header.Get("ETag"), response.Request.Header.Get("If-None-Match"))
		return Reading[T]{ETag: etag}, nil
	}
	if err != nil {
		return Reading[T]{}, readError(response, err)
	}
	return Reading[T]{Changed: true, Data: data, ETag: response.Header.Get("ETag")}, nil
}

func dataOf[T any](reading Reading[T], err error) (T, error) { return reading.Data, err }

// readError is for a missing or unreadable answer.
func readError(response *http.Response, err error) error {
	if response == nil {
		return withoutURL(err)
	}
	unexpected := unexpectedAnswer(response, "the answer is not what the contract describes")
	unexpected.Err = err
	return unexpected
}

func unexpectedAnswer(response *http.Response, message string) *APIError {
	return &APIError{
		Status:     response.StatusCode,
		Code:       UnexpectedResponse,
		Message:    message,
		RequestID:  response.Header.Get("x-request-id"),
		RetryAfter: retryAfter(response.Header),
	}
}

// gatewayRefusal is a problem of the gateway, or an answer from a proxy.
func gatewayRefusal(response *http.Response, body []byte) error {
	isAsked := response.StatusCode == http.StatusOK ||
		response.StatusCode == http.StatusNotModified && response.Request.Header.Get("If-None-Match") != ""
	if isAsked {
		// The generated client takes an empty body and null for an empty list, or no record.
		content := bytes.TrimSpace(body)
		if response.StatusCode == http.StatusOK && (len(content) == 0 || string(content) == "null") {
			return readError(response, nil)
		}
		return nil
	}
	problem := jsonObject(response.Header, body)
	err := unexpectedAnswer(response, "the answer is "+response.Status+", and not one of the gateway's own")
	if code := text(problem, "code"); code != "" {
		err.Code = code
		err.Message = cmp.Or(text(problem, "message"), text(problem, "title"), code)
		err.RequestID = cmp.Or(text(problem, "requestId"), err.RequestID)
		_ = json.Unmarshal(problem["errors"], &err.Fields)
	}
	return err
}

// Conditional makes reads that report whether the data changed.
type Conditional struct {
	gateway *Gateway
	etag    string
}

// conditionalRequest is a read of the generated client.
type conditionalRequest[R, T any] interface {
	IfNoneMatch(etag string) R
	Execute() (T, *http.Response, error)
}

// conditionally sends the ETag, unless it is empty.
func conditionally[R conditionalRequest[R, T], T any](etag string, request R) (Reading[T], error) {
	if etag != "" {
		request = request.IfNoneMatch(etag)
	}
	return reading(request.Execute())
}

// generatedClient prepares requests and reads records.
func generatedClient(baseURL, apiKey string, client *http.Client) *gateway.APIClient {
	configuration := gateway.NewConfiguration()
	configuration.Servers = gateway.ServerConfigurations{{URL: baseURL}}
	configuration.HTTPClient = client
	configuration.AddDefaultHeader("x-api-key", apiKey)
	return gateway.NewAPIClient(configuration)
}
