package sdk

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	defaultTolerance = 5 * time.Minute
	secretPrefix     = "whsec_"
	signaturePrefix  = "v1,"
)

var wholeSeconds = regexp.MustCompile(`^[0-9]{1,12}$`)

// WebhookVerifier verifies the origin and age of requests (Standard Webhooks, version 1).
type WebhookVerifier struct {
	// Tolerance limits the difference between timestamp and clock, past or future. The default is 5 minutes.
	Tolerance time.Duration
	// Now replaces the clock in tests.
	Now func() time.Time

	keys [][]byte
}

// NewWebhookVerifier takes secrets as issued, whsec_…; during a rotation, the old and the new one.
func NewWebhookVerifier(secrets ...string) (*WebhookVerifier, error) {
	verifier := &WebhookVerifier{Tolerance: defaultTolerance, Now: time.Now}
	for _, secret := range secrets {
		encoded, ok := strings.CutPrefix(secret, secretPrefix)
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(key) == 0 {
			return nil, errors.New("a webhook secret is whsec_ and base64")
		}
		verifier.keys = append(verifier.keys, key)
	}
	if len(verifier.keys) == 0 {
		return nil, errors.New("at least one webhook secret is needed")
	}
	return verifier, nil
}

// VerifyWebhook is Verify of a WebhookVerifier with these secrets.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) (*Event, error) {
	verifier, err := NewWebhookVerifier(secrets...)
	if err != nil {
		return nil, err
	}
	return verifier.Verify(body, header)
}

// Verify returns the event of a request that one of the secrets signed and that is recent, else a
// *WebhookVerificationError. The body must be the exact bytes received. Deduplicate by the ID of the event.
func (v *WebhookVerifier) Verify(body []byte, header http.Header) (*Event, error) {
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		if header.Get(name) == "" {
			return nil, &WebhookVerificationError{HeaderMissing, "the header " + name + " is missing"}
		}
	}
	timestamp := header.Get("webhook-timestamp")
	if err := v.checkAge(timestamp); err != nil {
		return nil, err
	}
	signed := append([]byte(header.Get("webhook-id")+"."+timestamp+"."), body...)
	if !v.isSigned(signed, header.Get("webhook-signature")) {
		return nil, &WebhookVerificationError{SignatureMismatch, "no signature was made with one of these secrets"}
	}
	event, err := eventIn(body)
	if err != nil {
		return nil, &WebhookVerificationError{BodyMalformed, "the body is signed, and is no event: " + err.Error()}
	}
	return event, nil
}

func (v *WebhookVerifier) checkAge(timestamp string) error {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || !wholeSeconds.MatchString(timestamp) {
		return &WebhookVerificationError{TimestampMalformed, "webhook-timestamp is not a number of seconds"}
	}
	age := v.Now().Unix() - seconds
	limit := int64(v.Tolerance / time.Second)
	if age > limit {
		return &WebhookVerificationError{TimestampTooOld, fmt.Sprintf("the request was signed %d s ago", age)}
	}
	if age < -limit {
		message := fmt.Sprintf("the request was signed %d s in the future; is your clock right?", -age)
		return &WebhookVerificationError{TimestampTooNew, message}
	}
	return nil
}

// isSigned ignores signatures of later versions, and compares the others in constant time.
func (v *WebhookVerifier) isSigned(signed []byte, header string) bool {
	isGenuine := false
	for _, key := range v.keys {
		mac := hmac.New(sha256.New, key)
		mac.Write(signed)
		expected := mac.Sum(nil)
		for _, part := range strings.Fields(header) {
			encoded, ok := strings.CutPrefix(part, signaturePrefix)
			given, err := base64.StdEncoding.DecodeString(encoded)
			if ok && err == nil && hmac.Equal(expected, given) {
				isGenuine = true
			}
		}
	}
	return isGenuine
}
