package sdk

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"integration.example.com/sdk/signon"
)

// IDTokenAlgorithm is the signature algorithm of ID tokens.
type IDTokenAlgorithm string

const (
	RS256 IDTokenAlgorithm = "RS256"
	ES256 IDTokenAlgorithm = "ES256"
	EdDSA IDTokenAlgorithm = "EdDSA"
)

const (
	clockTolerance    = 30 * time.Second
	keysMaxAge        = 5 * time.Minute
	keysCooldown      = 30 * time.Second
	es256IntegerBytes = 32
	leastRSABits      = 2048
)

// idTokenVerifier caches the published keys, and reads them again for an unknown one.
type idTokenVerifier struct {
	issuer    string
	clientID  string
	algorithm IDTokenAlgorithm
	client    *http.Client

	lock   sync.Mutex
	keys   map[string]crypto.PublicKey
	readAt time.Time
	// reading is nil between reads; one at a time is shared by all who need it.
	reading *keysRead
}

// keysRead has its result once done is closed.
type keysRead struct {
	done chan struct{}
	keys map[string]crypto.PublicKey
	err  error
}

// audience is a text, or a list of them.
type audience []string

func (a *audience) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(a))
}

func (v *idTokenVerifier) verify(ctx context.Context, idToken string, requested CodeExchange) (*signon.IdTokenClaims, error) {
	parts := strings.Split(idToken, ".")
	if len(parts) != 3 {
		return nil, invalidIDToken("it is no signed token")
	}
	var header struct{ Alg, Kid string }
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || decodePart(parts[0], &header) != nil {
		return nil, invalidIDToken("it is no signed token")
	}
	if IDTokenAlgorithm(header.Alg) != v.algorithm {
		return nil, invalidIDToken("it is signed with " + header.Alg + ", not with " + string(v.algorithm))
	}
	key, err := v.key(ctx, header.Kid)
	if err != nil {
		return nil, err
	}
	if !isSignature(v.algorithm, key, []byte(parts[0]+"."+parts[1]), signature) {
		return nil, invalidIDToken("its signature does not verify")
	}
	return v.claims(parts[1], requested)
}

func (v *idTokenVerifier) claims(payload string, requested CodeExchange) (*signon.IdTokenClaims, error) {
	var checked struct {
		Iss      string
		Sub      string
		Aud      audience
		Exp      float64
		Iat      float64
		Nonce    string
		AuthTime *float64 `json:"auth_time"`
	}
	if decodePart(payload, &checked) != nil {
		return nil, invalidIDToken("its claims cannot be read")
	}
	now := float64(time.Now().Unix())
	switch {
	case checked.Iss != v.issuer:
		return nil, invalidIDToken("its issuer is " + checked.Iss)
	case !slices.Contains(checked.Aud, v.clientID):
		return nil, invalidIDToken("it is for another application")
	case checked.Sub == "" || checked.Iat == 0:
		return nil, invalidIDToken("it says not for whom, or not since when")
	case checked.Exp <= now-clockTolerance.Seconds():
		return nil, invalidIDToken("it has expired")
	case checked.Iat > now+clockTolerance.Seconds():
		return nil, invalidIDToken("it was issued in the future; is your clock right?")
	case requested.Nonce == "" || checked.Nonce != requested.Nonce:
		return nil, &SignInError{NonceMismatch, "the ID token is the answer to another authorization request"}
	case requested.MaxAge != nil && (checked.AuthTime == nil ||
		now-*checked.AuthTime-clockTolerance.Seconds() > requested.MaxAge.Seconds()):
		return nil, invalidIDToken("the person entered the password too long ago")
	}
	var claims signon.IdTokenClaims
	if err := decodePart(payload, &claims); err != nil {
		return nil, invalidIDToken(err.Error())
	}
	return &claims, nil
}

func invalidIDToken(why string) error {
	return &SignInError{IDTokenInvalid, "the ID token is not valid: " + why}
}

func decodePart(part string, target any) error {
	content, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, target)
}

func isSignature(algorithm IDTokenAlgorithm, key crypto.PublicKey, signed, signature []byte) bool {
	digest := sha256.Sum256(signed)
	switch key := key.(type) {
	case *rsa.PublicKey:
		return algorithm == RS256 && rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature) == nil
	case *ecdsa.PublicKey:
		if algorithm != ES256 || len(signature) != 2*es256IntegerBytes {
			return false
		}
		r := new(big.Int).SetBytes(signature[:es256IntegerBytes])
		s := new(big.Int).SetBytes(signature[es256IntegerBytes:])
		return ecdsa.Verify(key, digest[:], r, s)
	case ed25519.PublicKey:
		return algorithm == EdDSA && ed25519.Verify(key, signed, signature)
	}
	return false
}

func (v *idTokenVerifier) key(ctx context.Context, kid string) (crypto.PublicKey, error) {
	keys, reading := v.keysFor(ctx, kid)
	if reading != nil {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-reading.done:
		}
		if reading.err != nil {
			return nil, reading.err
		}
		keys = reading.keys
	}
	if key, known := keys[kid]; known {
		return key, nil
	}
	return nil, invalidIDToken("it is signed with a key that is not published")
}

// keysFor returns the cached keys, or a read of them if that is due.
func (v *idTokenVerifier) keysFor(ctx context.Context, kid string) (map[string]crypto.PublicKey, *keysRead) {
	v.lock.Lock()
	defer v.lock.Unlock()
	age := time.Since(v.readAt)
	if _, known := v.keys[kid]; age <= keysMaxAge && (known || age <= keysCooldown) {
		return v.keys, nil
	}
	if v.reading == nil {
		v.reading = &keysRead{done: make(chan struct{})}
		// The end of one context must not end the read of the others.
		go v.share(context.WithoutCancel(ctx), v.reading)
	}
	return nil, v.reading
}

func (v *idTokenVerifier) share(ctx context.Context, reading *keysRead) {
	// A panic of the transport would end the program: net/http recovers only those of its handlers.
	defer func() {
		if cause := recover(); cause != nil {
			reading.err = fmt.Errorf("the read of the keys panicked: %v", cause)
		}
		v.lock.Lock()
		defer v.lock.Unlock()
		v.reading = nil
		if reading.err == nil {
			v.keys, v.readAt = reading.keys, time.Now()
		}
		close(reading.done)
	}()
	// A transport may call runtime.Goexit; read then never returns.
	reading.err = errors.New("the transport ended the goroutine that read the keys")
	reading.keys, reading.err = v.read(ctx)
}

// webKey is a JSON Web Key of the kinds that sign ID tokens.
type webKey struct {
	Kty, Kid, Crv string
	N, E, X, Y    string
}

func (v *idTokenVerifier) read(ctx context.Context) (map[string]crypto.PublicKey, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.issuer+"/.well-known/jwks.json", nil)
	if err != nil {
		return nil, err
	}
	response, err := v.client.Do(request)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer response.Body.Close()
	var set struct{ Keys []json.RawMessage }
	if err := json.NewDecoder(response.Body).Decode(&set); err != nil || set.Keys == nil {
		return nil, unexpectedOAuthAnswer(response, "the answer is no key set", err)
	}
	keys := make(map[string]crypto.PublicKey, len(set.Keys))
	for _, each := range set.Keys {
		var described webKey
		if json.Unmarshal(each, &described) != nil {
			continue
		}
		// Keys of unknown kinds are left out.
		if key, err := described.publicKey(); err == nil {
			keys[described.Kid] = key
		}
	}
	return keys, nil
}

func (k webKey) publicKey() (crypto.PublicKey, error) {
	switch k.Kty + " " + k.Crv {
	case "RSA ":
		n, e := integer(k.N), integer(k.E)
		if n.BitLen() < leastRSABits || e.BitLen() < 2 || e.BitLen() > 31 {
			return nil, errors.New("no RSA key to rely on")
		}
		return &rsa.PublicKey{N: n, E: int(e.Int64())}, nil
	case "EC P-256":
		key := &ecdsa.PublicKey{Curve: elliptic.P256(), X: integer(k.X), Y: integer(k.Y)}
		// ECDH refuses a point that is not on the curve.
		_, err := key.ECDH()
		return key, err
	case "OKP Ed25519":
		x, err := base64.RawURLEncoding.DecodeString(k.X)
		if err != nil || len(x) != ed25519.PublicKeySize {
			return nil, errors.New("no Ed25519 key")
		}
		return ed25519.PublicKey(x), nil
	}
	return nil, errors.New("a key of another kind")
}

// integer is 0 if absent.
func integer(encoded string) *big.Int {
	content, _ := base64.RawURLEncoding.DecodeString(encoded)
	return new(big.Int).SetBytes(content)
}
