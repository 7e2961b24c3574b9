package sdk

import (
	"fmt"
	"time"
)

// UnexpectedResponse is the code of an answer that is not the service's own, such as the page of a proxy.
const UnexpectedResponse = "unexpected_response"

// CursorExpired is the code of an APIError of ListChanges: begin again without After.
const CursorExpired = "cursor_expired"

// APIError is an error answer of the gateway. Decide by Status and Code; Message is for people.
type APIError struct {
	Status int
	// Code is that of the gateway, or UnexpectedResponse.
	Code    string
	Message string
	// RequestID is for support requests. Empty if the answer is not the gateway's.
	RequestID string
	// Fields lists the invalid parts of the request, with the code invalid_request.
	Fields []FieldError
	// RetryAfter is nil if the answer has none.
	RetryAfter *time.Duration
	// Err is the cause for an answer that could not be read.
	Err error
}

// FieldError is an invalid part of the request.
type FieldError struct {
	// In is path, query, header and so on.
	In string `json:"in"`
	// Path is the name of the parameter or header.
	Path    string `json:"path"`
	Message string `json:"message"`
}

func (e *APIError) Error() string {
	said := fmt.Sprintf("%s (%d %s%s)", e.Message, e.Status, e.Code, requestIn(e.RequestID))
	for i, field := range e.Fields {
		separator := "; "
		if i == 0 {
			separator = ": "
		}
		said += separator + field.In + " " + field.Path + " " + field.Message
	}
	return said
}

func (e *APIError) Unwrap() error { return e.Err }

// OAuthError is an error of the sign-on server, in an answer or by way of the browser (Status is 0 then).
type OAuthError struct {
	// Code is invalid_grant, access_denied and so on, or UnexpectedResponse.
	Code        string
	Description string
	Status      int
	RequestID   string
	// RetryAfter is nil if the answer has none.
	RetryAfter *time.Duration
	// Err is the cause for an answer that could not be read.
	Err error
}

func (e *OAuthError) Error() string {
	said := e.Code
	if e.Description != "" {
		said += ": " + e.Description
	}
	if e.Status == 0 {
		return said
	}
	return fmt.Sprintf("%s (%d%s)", said, e.Status, requestIn(e.RequestID))
}

func (e *OAuthError) Unwrap() error { return e.Err }

func requestIn(id string) string {
	if id == "" {
		return ""
	}
	return ", request " + id
}

// SignInReason is the reason of a SignInError.
type SignInReason string

const (
	CallbackMalformed SignInReason = "callback_malformed"
	StateMismatch     SignInReason = "state_mismatch"
	IssuerMismatch    SignInReason = "issuer_mismatch"
	IDTokenMissing    SignInReason = "id_token_missing"
	IDTokenInvalid    SignInReason = "id_token_invalid"
	NonceMismatch     SignInReason = "nonce_mismatch"
)

// SignInError means that the browser returned with no valid answer to the request. Do not sign the person in.
type SignInError struct {
	Reason  SignInReason
	Message string
}

func (e *SignInError) Error() string { return e.Message }

// ConnectionError means that there was no connection, or one that broke before the end of the answer.
type ConnectionError struct {
	Host string
	Err  error
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("the connection to %s failed: %v", e.Host, e.Err)
}

func (e *ConnectionError) Unwrap() error { return e.Err }

// TimeoutError means that the answer was not complete in time.
type TimeoutError struct {
	Host  string
	After time.Duration
	Err   error
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("there was no whole answer from %s within %v", e.Host, e.After)
}

// Timeout implements net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// Temporary implements net.Error.
func (e *TimeoutError) Temporary() bool { return true }

func (e *TimeoutError) Unwrap() error { return e.Err }

// WebhookReason is the reason of a WebhookVerificationError.
type WebhookReason string

const (
	HeaderMissing      WebhookReason = "header_missing"
	TimestampMalformed WebhookReason = "timestamp_malformed"
	TimestampTooOld    WebhookReason = "timestamp_too_old"
	TimestampTooNew    WebhookReason = "timestamp_too_new"
	SignatureMismatch  WebhookReason = "signature_mismatch"
	BodyMalformed      WebhookReason = "body_malformed"
)

// WebhookVerificationError means that a request is not from the service, or too old. Answer 4xx; ignore it.
type WebhookVerificationError struct {
	Reason  WebhookReason
	Message string
}

func (e *WebhookVerificationError) Error() string { return e.Message }
