package sdk

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"integration.example.com/sdk/signon"
)

const (
	defaultSignOnTimeout = 10 * time.Second
	defaultScope         = "openid profile email"
	randomBytes          = 32
	// Of an answer. Those of the service have a few kilobytes.
	mostSignOnBytes = 1 << 20
	// Many proxies take addresses of up to 8 KiB.
	longestHint = 7_000
	// The server repeats its answer for a minute; later it would treat the old refresh token as stolen.
	refreshArrivesWithin = 55 * time.Second
	// With any time limit, a refresh is retried at least this long after it began.
	refreshAgainAtLeast = 10 * time.Second
	refreshAgainAtMost  = 45 * time.Second
)

// Claims about people.
type (
	IDTokenClaims  = signon.IdTokenClaims
	UserinfoClaims = signon.UserinfoClaims
)

// SignOnOptions needs an Issuer, a ClientID and a RedirectURI.
type SignOnOptions struct {
	// Issuer is the address of the sign-on server.
	Issuer   string
	ClientID string
	// ClientSecret is for confidential applications; public ones have none.
	ClientSecret string
	RedirectURI  string
	// IDTokenAlgorithm is the one registered for your application, by default RS256. No other is accepted.
	IDTokenAlgorithm IDTokenAlgorithm
	// Timeout is for each attempt, including the body of the answer. The default is that of HTTPClient, or 10 s.
	Timeout time.Duration
	// Retry is for userinfo, refreshes, revocation and keys; a code is never exchanged twice. The default is DefaultRetry.
	Retry *Retry
	// HTTPClient replaces the default one: for a proxy, or your own certificates.
	HTTPClient *http.Client
	// AllowInsecureHTTP also sends the client secret and tokens to http:// beyond this machine, where others can read them.
	AllowInsecureHTTP bool
}

// SignOn signs people in: authorization code flow, always with PKCE, and OpenID Connect.
type SignOn struct {
	options SignOnOptions
	// once is for codes, whose exchange must not be repeated, and for the revocation of abandoned tokens.
	once *signon.APIClient
	// refreshing repeats a refresh for as long as that is safe.
	refreshing *signon.APIClient
	patient    *signon.APIClient
	verifier   *idTokenVerifier
}

// String keeps the client secret out of logs.
func (s *SignOn) String() string { return "sdk.SignOn " + s.options.Issuer }

// GoString is for %#v.
func (s *SignOn) GoString() string { return s.String() }

// NewSignOn fails on invalid options.
func NewSignOn(options SignOnOptions) (*SignOn, error) {
	issuer, err := serverURL("Issuer", options.Issuer, "the client secret and tokens", options.AllowInsecureHTTP)
	if err != nil {
		return nil, err
	}
	if options.ClientID == "" || options.RedirectURI == "" {
		return nil, errors.New("ClientID and RedirectURI are needed")
	}
	options.Issuer = issuer
	options.Timeout = timeoutOf(options.HTTPClient, options.Timeout, defaultSignOnTimeout)
	client := func(retry Retry, within time.Duration) *http.Client {
		return newClient(options.HTTPClient, defaultSignOnTimeout, transport{
			timeout: options.Timeout, mostBytes: mostSignOnBytes, retry: retry, within: within, refusal: signOnRefusal,
		})
	}
	retry := retryOf(options.Retry)
	patient := client(retry, 0)
	// A retry can take as long as its time limit to arrive.
	within := min(refreshAgainAtMost, max(refreshAgainAtLeast, refreshArrivesWithin-options.Timeout))
	return &SignOn{
		options:    options,
		once:       generatedSignOnClient(issuer, client(Retry{}, 0)),
		refreshing: generatedSignOnClient(issuer, client(retry, within)),
		patient:    generatedSignOnClient(issuer, patient),
		verifier: &idTokenVerifier{
			issuer:    issuer,
			clientID:  options.ClientID,
			algorithm: cmp.Or(options.IDTokenAlgorithm, RS256),
			client:    patient,
		},
	}, nil
}

func generatedSignOnClient(issuer string, client *http.Client) *signon.APIClient {
	configuration := signon.NewConfiguration()
	configuration.Servers = signon.ServerConfigurations{{URL: issuer}}
	configuration.HTTPClient = client
	return signon.NewAPIClient(configuration)
}

// AuthorizationOptions may be empty.
type AuthorizationOptions struct {
	// Scope defaults to "openid profile email".
	Scope string
	// State and Nonce are random by default.
	State string
	Nonce string
	// Prompt is none, login, consent or select_account.
	Prompt    string
	LoginHint string
	// MaxAge limits the time since the person entered the password, and needs the scope openid; nil sets no limit.
	// Give ExchangeCode the same: the browser, which carries this request, can leave it out.
	MaxAge    *time.Duration
	UILocales string
}

// AuthorizationRequest has the URL for the browser; keep the rest in the person's session until it returns.
type AuthorizationRequest struct {
	URL          string
	State        string
	Nonce        string
	CodeVerifier string
}

// AuthorizationURL returns the address to which to send the browser to sign a person in.
func (s *SignOn) AuthorizationURL(options AuthorizationOptions) AuthorizationRequest {
	verifier := randomText()
	state := cmp.Or(options.State, randomText())
	nonce := cmp.Or(options.Nonce, randomText())
	challenge := sha256.Sum256([]byte(verifier))
	maxAge := ""
	if options.MaxAge != nil {
		maxAge = strconv.Itoa(int(options.MaxAge.Seconds()))
	}
	address := s.address("/auth/authorize", map[string]string{
		"response_type":         "code",
		"client_id":             s.options.ClientID,
		"redirect_uri":          s.options.RedirectURI,
		"scope":                 cmp.Or(options.Scope, defaultScope),
		"state":                 state,
		"nonce":                 nonce,
		"code_challenge":        base64.RawURLEncoding.EncodeToString(challenge[:]),
		"code_challenge_method": "S256",
		"prompt":                options.Prompt,
		"login_hint":            options.LoginHint,
		"max_age":               maxAge,
		"ui_locales":            options.UILocales,
	})
	return AuthorizationRequest{URL: address, State: state, Nonce: nonce, CodeVerifier: verifier}
}

// CodeExchange has the callback of the browser, and the values that AuthorizationURL returned.
type CodeExchange struct {
	// CallbackURL is the whole address, or its path and query, as servers have it.
	CallbackURL  string
	State        string
	Nonce        string
	CodeVerifier string
	// MaxAge is for those who asked for one: the sign-in is refused if the person entered the password longer ago.
	MaxAge *time.Duration
}

// Tokens are for your server; keep them out of addresses and logs.
type Tokens struct {
	AccessToken string
	ExpiresIn   time.Duration
	// ExpiresAt is by your clock.
	ExpiresAt time.Time
	// RefreshToken replaces the previous one, which is invalid now. Empty if your application has none.
	RefreshToken string
	// Scope is the granted scopes, separated by spaces.
	Scope string
}

// String keeps the tokens out of logs, also those of a SignIn.
func (Tokens) String() string { return "sdk.Tokens (hidden)" }

// GoString is for %#v.
func (t Tokens) GoString() string { return t.String() }

// LogValue is for handlers of slog that write JSON.
func (t Tokens) LogValue() slog.Value { return slog.StringValue(t.String()) }

// SignIn identifies the person who signed in.
type SignIn struct {
	Tokens
	// IDToken is empty without the scope openid, and Claims nil.
	IDToken string
	Claims  *IDTokenClaims
}

// ExchangeCode checks the callback of the browser, exchanges the code, and verifies the ID token. It returns
// an *OAuthError if the server or the person refused, a *SignInError if the callback does not answer this
// request. It never retries: after an error begin with a new AuthorizationURL. If the ID token is not verified,
// it first revokes the tokens.
func (s *SignOn) ExchangeCode(ctx context.Context, exchange CodeExchange) (*SignIn, error) {
	code, err := s.codeIn(exchange)
	if err != nil {
		return nil, err
	}
	grant := signon.NewTokenRequest("authorization_code", s.options.ClientID)
	grant.SetCode(code)
	grant.SetRedirectUri(s.options.RedirectURI)
	grant.SetCodeVerifier(exchange.CodeVerifier)
	answer, tokens, err := s.askForTokens(ctx, s.once, grant)
	if err != nil {
		return nil, err
	}
	signIn := &SignIn{Tokens: *tokens, IDToken: answer.GetIdToken()}
	if signIn.IDToken != "" {
		signIn.Claims, err = s.verifier.verify(ctx, signIn.IDToken, exchange)
	} else if exchange.MaxAge != nil || slices.Contains(strings.Fields(signIn.Scope), "openid") {
		err = &SignInError{IDTokenMissing, "the answer has no ID token; the scope openid and a maximum age require one"}
	}
	if err != nil {
		s.abandon(ctx, tokens)
		return nil, err
	}
	return signIn, nil
}

// abandon revokes tokens that the caller does not get: they would stay valid for weeks. It asks once. It waits
// for the answer, because a program may exit with the error, but not longer than the caller.
func (s *SignOn) abandon(ctx context.Context, tokens *Tokens) {
	revoked := make(chan struct{})
	go func() {
		defer close(revoked)
		// A panic of the transport would end the program.
		defer func() { _ = recover() }()
		_ = s.revoke(context.WithoutCancel(ctx), s.once, cmp.Or(tokens.RefreshToken, tokens.AccessToken))
	}()
	select {
	case <-revoked:
	case <-ctx.Done():
	}
}

// Refresh returns new tokens for a refresh token. Store the new refresh token before you use the others.
func (s *SignOn) Refresh(ctx context.Context, refreshToken string) (*Tokens, error) {
	grant := signon.NewTokenRequest("refresh_token", s.options.ClientID)
	grant.SetRefreshToken(refreshToken)
	_, tokens, err := s.askForTokens(ctx, s.refreshing, grant)
	return tokens, err
}

func (s *SignOn) askForTokens(ctx context.Context, client *signon.APIClient, grant *signon.TokenRequest) (*signon.IssuedTokens, *Tokens, error) {
	if s.options.ClientSecret != "" {
		grant.SetClientSecret(s.options.ClientSecret)
	}
	answer, response, err := client.TokensAPI.Token(ctx).TokenRequest(*grant).Execute()
	// The generated client takes an empty body and null for no tokens, and members that are null for empty ones.
	if err != nil || answer == nil || answer.AccessToken == "" || answer.ExpiresIn <= 0 {
		return nil, nil, signOnError(response, err)
	}
	lifetime := time.Duration(answer.ExpiresIn) * time.Second
	return answer, &Tokens{
		AccessToken:  answer.AccessToken,
		ExpiresIn:    lifetime,
		ExpiresAt:    time.Now().Add(lifetime),
		RefreshToken: answer.GetRefreshToken(),
		Scope:        answer.Scope,
	}, nil
}

// Userinfo describes the person of the access token, at present.
func (s *SignOn) Userinfo(ctx context.Context, accessToken string) (*UserinfoClaims, error) {
	if !isForHeader(accessToken) {
		return nil, errors.New("the access token must have no spaces and line ends")
	}
	ctx = context.WithValue(ctx, signon.ContextAccessToken, accessToken)
	claims, response, err := s.patient.IdentityAPI.Userinfo(ctx).Execute()
	if err != nil || claims == nil {
		return nil, signOnError(response, err)
	}
	return claims, nil
}

// Revoke ends a token and all others of the same sign-in. Send the refresh token: an access token that has
// expired may end nothing. It succeeds for tokens that have ended.
func (s *SignOn) Revoke(ctx context.Context, token string) error {
	return s.revoke(ctx, s.patient, token)
}

func (s *SignOn) revoke(ctx context.Context, client *signon.APIClient, token string) error {
	request := signon.NewRevocationRequest(token)
	request.SetClientId(s.options.ClientID)
	if s.options.ClientSecret != "" {
		request.SetClientSecret(s.options.ClientSecret)
	}
	response, err := client.TokensAPI.Revoke(ctx).RevocationRequest(*request).Execute()
	if err != nil {
		return signOnError(response, err)
	}
	return nil
}

// LogoutOptions may be empty.
type LogoutOptions struct {
	// IDToken is recommended: with it, the person is not asked to confirm the sign-out. That of a person with
	// many clients is left out, because proxies refuse long addresses.
	IDToken string
	// PostLogoutRedirectURI must be registered for your application; State is returned to it.
	PostLogoutRedirectURI string
	State                 string
}

// LogoutURL returns the address that ends the browser's session at the server. Revoke the tokens as well.
func (s *SignOn) LogoutURL(options LogoutOptions) string {
	hint := options.IDToken
	if len(hint) > longestHint {
		hint = ""
	}
	return s.address("/auth/logout", map[string]string{
		"client_id":                s.options.ClientID,
		"id_token_hint":            hint,
		"post_logout_redirect_uri": options.PostLogoutRedirectURI,
		"state":                    options.State,
	})
}

func (s *SignOn) address(path string, parameters map[string]string) string {
	query := url.Values{}
	for name, value := range parameters {
		if value != "" {
			query.Set(name, value)
		}
	}
	return s.options.Issuer + path + "?" + query.Encode()
}

// codeIn is the code of a callback that was verified to answer our request.
func (s *SignOn) codeIn(exchange CodeExchange) (string, error) {
	callback, err := url.Parse(exchange.CallbackURL)
	if err != nil {
		return "", &SignInError{CallbackMalformed, "the address the browser came back to cannot be read"}
	}
	given := callback.Query()
	for _, name := range []string{"code", "state", "iss", "error"} {
		if len(given[name]) > 1 {
			return "", &SignInError{CallbackMalformed, "the parameter " + name + " came more than once"}
		}
	}
	isOurs := subtle.ConstantTimeCompare([]byte(given.Get("state")), []byte(exchange.State)) == 1
	switch {
	case exchange.State == "" || !isOurs:
		return "", &SignInError{StateMismatch, "the browser came back with an answer to another request"}
	case given.Get("iss") != s.options.Issuer:
		return "", &SignInError{IssuerMismatch, "the answer is not from " + s.options.Issuer}
	case given.Has("error"):
		return "", &OAuthError{Code: given.Get("error"), Description: given.Get("error_description")}
	case given.Get("code") == "":
		return "", &SignInError{CallbackMalformed, "the browser came back without a code"}
	}
	return given.Get("code"), nil
}

// signOnError is for a missing or unreadable answer.
func signOnError(response *http.Response, err error) error {
	if response == nil {
		return withoutURL(err)
	}
	return unexpectedOAuthAnswer(response, "the answer is not what the contract describes", err)
}

func unexpectedOAuthAnswer(response *http.Response, description string, err error) *OAuthError {
	return &OAuthError{
		Code:        UnexpectedResponse,
		Description: description,
		Status:      response.StatusCode,
		RequestID:   response.Header.Get("x-request-id"),
		RetryAfter:  retryAfter(response.Header),
		Err:         err,
	}
}

// signOnRefusal is an error of the server, or an answer from a proxy.
func signOnRefusal(response *http.Response, body []byte) error {
	if response.StatusCode == http.StatusOK {
		return nil
	}
	err := unexpectedOAuthAnswer(response, "the answer is "+response.Status+", and not the server's own", nil)
	said := jsonObject(response.Header, body)
	if code := text(said, "error"); code != "" {
		err.Code, err.Description = code, text(said, "error_description")
	}
	return err
}

func randomText() string {
	content := make([]byte, randomBytes)
	// It never fails on systems of Go 1.24 or later; before that, no sign-in is better than a guessable one.
	if _, err := rand.Read(content); err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(content)
}
