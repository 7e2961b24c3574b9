package sdk

import (
	"fmt"
	"time"
)

// UnexpectedResponse is the code of an answer that is not the service's own, such as the page of a proxy.
const UnexpectedResponse = "unexpected_response"

// APIError says that the gateway refused, or failed. Decide by Status and Code; Message is for people.
type APIError struct {
	Status int
	// Code is what the gateway says, or UnexpectedResponse.
	Code    string
	Message string
	// RequestID is for asking for help. Empty where the answer came from somewhere else.
	RequestID string
	// Fields are the parts of the request that are wrong, with the code invalid_request.
	Fields []FieldError
	// RetryAfter is nil where the answer did not say.
	RetryAfter *time.Duration
	// Err is what was wrong with an answer that could not be read.
	Err error
}

// FieldError is a part of the request that is wrong.
type FieldError struct {
	// In is path, query, header and the like.
	In string `json:"in"`
	// Path is the name of the parameter or header.
	Path    string `json:"path"`
	Message string `json:"message"`
}

func (e *APIError) Error() string {
	return fmt.Sprintf("%s (%d %s, request %s)", e.Message, e.Status, e.Code, e.RequestID)
}

func (e *APIError) Unwrap() error { return e.Err }

// OAuthError says that the sign-on server refused: in an answer, or by way of the browser (Status is 0 then).
type OAuthError struct {
	// Code is invalid_grant, access_denied and the like, or UnexpectedResponse.
	Code        string
	Description string
	Status      int
	RequestID   string
	// RetryAfter is nil where the answer did not say.
	RetryAfter *time.Duration
	// Err is what was wrong with an answer that could not be read.
	Err error
}

func (e *OAuthError) Error() string {
	if e.Description == "" {
		return e.Code
	}
	return e.Code + ": " + e.Description
}

func (e *OAuthError) Unwrap() error { return e.Err }

// SignInReason says why a sign-in is none.
type SignInReason string

const (
	CallbackMalformed SignInReason = "callback_malformed"
	StateMismatch     SignInReason = "state_mismatch"
	IssuerMismatch    SignInReason = "issuer_mismatch"
	IDTokenMissing    SignInReason = "id_token_missing"
	IDTokenInvalid    SignInReason = "id_token_invalid"
	NonceMismatch     SignInReason = "nonce_mismatch"
)

// SignInError says that what came back is not the answer to what was asked. Do not sign the person in; begin again.
type SignInError struct {
	Reason  SignInReason
	Message string
}

func (e *SignInError) Error() string { return e.Message }

// ConnectionError says that there was no connection, or one that broke before the answer was whole.
type ConnectionError struct {
	Host string
	Err  error
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("the connection to %s failed: %v", e.Host, e.Err)
}

func (e *ConnectionError) Unwrap() error { return e.Err }

// TimeoutError says that there was no whole answer in time.
type TimeoutError struct {
	Host  string
	After time.Duration
	Err   error
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("there was no whole answer from %s within %v", e.Host, e.After)
}

// Timeout makes it a time-out for those who ask a net.Error.
func (e *TimeoutError) Timeout() bool { return true }

func (e *TimeoutError) Unwrap() error { return e.Err }

// WebhookReason says why a request is not believed.
type WebhookReason string

const (
	HeaderMissing      WebhookReason = "header_missing"
	TimestampMalformed WebhookReason = "timestamp_malformed"
	TimestampTooOld    WebhookReason = "timestamp_too_old"
	TimestampTooNew    WebhookReason = "timestamp_too_new"
	SignatureMismatch  WebhookReason = "signature_mismatch"
	BodyMalformed      WebhookReason = "body_malformed"
)

// WebhookVerificationError says that a request is not from the service, or too old. Answer 4xx, and do nothing with it.
type WebhookVerificationError struct {
	Reason  WebhookReason
	Message string
}

func (e *WebhookVerificationError) Error() string { return e.Message }
