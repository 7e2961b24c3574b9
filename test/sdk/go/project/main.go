// Does what each line of its input says, with the installed module, and answers with a line.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"strings"
	"time"

	"integration.example.com/sdk"
)

var _ net.Error = (*sdk.TimeoutError)(nil)

type command struct {
	ID         int             `json:"id"`
	On         string          `json:"on"`
	Method     string          `json:"method"`
	Options    options         `json:"options"`
	Args       []string        `json:"args"`
	IfChanged  json.RawMessage `json:"ifChanged"`
	RequestID  string          `json:"requestId"`
	Parameters parameters      `json:"parameters"`
}

type options struct {
	BaseURL           string  `json:"baseUrl"`
	APIKey            string  `json:"apiKey"`
	PageSize          int     `json:"pageSize"`
	Issuer            string  `json:"issuer"`
	ClientID          string  `json:"clientId"`
	ClientSecret      string  `json:"clientSecret"`
	RedirectURI       string  `json:"redirectUri"`
	IDTokenAlgorithm  string  `json:"idTokenAlgorithm"`
	AllowInsecureHTTP bool    `json:"allowInsecureHttp"`
	TimeoutSeconds    float64 `json:"timeoutSeconds"`
	// HTTPTimeoutSeconds is that of an HTTP client that is given.
	HTTPTimeoutSeconds float64 `json:"httpTimeoutSeconds"`
	// KeysEnd is how the first read of the keys ends: by a panic, or by an exit of its goroutine.
	KeysEnd string `json:"keysEnd"`
	Retry   struct {
		MaxRetries           *int    `json:"maxRetries"`
		BaseDelaySeconds     float64 `json:"baseDelaySeconds"`
		MaxRetryAfterSeconds float64 `json:"maxRetryAfterSeconds"`
	} `json:"retry"`
}

type parameters struct {
	Scope            string            `json:"scope"`
	State            string            `json:"state"`
	Nonce            string            `json:"nonce"`
	Prompt           string            `json:"prompt"`
	LoginHint        string            `json:"loginHint"`
	MaxAgeSeconds    *float64          `json:"maxAgeSeconds"`
	Ended            string            `json:"ended"`
	CallbackURL      string            `json:"callbackUrl"`
	CodeVerifier     string            `json:"codeVerifier"`
	RefreshToken     string            `json:"refreshToken"`
	AccessToken      string            `json:"accessToken"`
	Token            string            `json:"token"`
	IDToken          string            `json:"idToken"`
	AfterLogout      string            `json:"postLogoutRedirectUri"`
	Body             []byte            `json:"body"`
	Headers          map[string]string `json:"headers"`
	Secrets          []string          `json:"secrets"`
	NowSeconds       int64             `json:"nowSeconds"`
	ToleranceSeconds float64           `json:"toleranceSeconds"`
	After            string            `json:"after"`
	Limit            int               `json:"limit"`
	WaitSeconds      *float64          `json:"waitSeconds"`
	Store            string            `json:"store"`
	PauseSeconds     float64           `json:"pauseSeconds"`
	Seconds          float64           `json:"seconds"`
	Count            int               `json:"count"`
	CompareSeconds   *float64          `json:"compareEverySeconds"`
}

type object map[string]any

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var given command
		if err := json.Unmarshal(lines.Bytes(), &given); err != nil {
			panic(err)
		}
		reply := object{"id": given.ID}
		if value, err := do(given); err != nil {
			reply["error"] = told(err)
		} else {
			reply["value"] = value
		}
		say(reply)
	}
}

// say writes a line. One without an id is no answer: a test that kills the program has read it.
func say(told object) {
	line, err := json.Marshal(told)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

func do(given command) (any, error) {
	switch given.On {
	case "Gateway":
		return read(given)
	case "SignOn":
		return signOn(given)
	case "links":
		return follow(given)
	case "Sync":
		return synced(given)
	}
	return verify(given.Parameters)
}

func seconds(given float64) time.Duration { return time.Duration(given * float64(time.Second)) }

// retry leaves out what was not given.
func (o options) retry() *sdk.Retry {
	retry := sdk.Retry{
		MaxRetries:    sdk.DefaultRetry.MaxRetries,
		BaseDelay:     seconds(o.Retry.BaseDelaySeconds),
		MaxRetryAfter: seconds(o.Retry.MaxRetryAfterSeconds),
	}
	if o.Retry.MaxRetries != nil {
		retry.MaxRetries = *o.Retry.MaxRetries
	}
	return &retry
}

func (o options) httpClient() *http.Client {
	if o.KeysEnd != "" {
		return &http.Client{Transport: &endedKeys{end: o.KeysEnd}}
	}
	if o.HTTPTimeoutSeconds == 0 {
		return nil
	}
	return &http.Client{Timeout: seconds(o.HTTPTimeoutSeconds)}
}

type endedKeys struct{ end string }

func (e *endedKeys) RoundTrip(request *http.Request) (*http.Response, error) {
	if end := e.end; end != "" && strings.HasSuffix(request.URL.Path, "/jwks.json") {
		e.end = ""
		if end == "panic" {
			panic("no transport")
		}
		runtime.Goexit()
	}
	return http.DefaultTransport.RoundTrip(request)
}

// methods are called by name: those of Gateway and of Conditional have the same.
var methods = map[string]string{
	"listInstanceIntegrations": "ListInstanceIntegrations",
	"listClients":              "ListClients",
	"getClient":                "GetClient",
	"listWorkers":              "ListWorkers",
	"listWorkersV1":            "ListWorkersV1",
	"listWorkersV2":            "ListWorkersV2",
	"getWorker":                "GetWorker",
	"getChangesDigest":         "GetChangesDigest",
	"listUsers":                "ListUsers",
	"getUser":                  "GetUser",
	"jobTitles":                "JobTitles",
	"organizationStructure":    "OrganizationStructure",
}

func (o options) gateway() (*sdk.Gateway, error) {
	return sdk.NewGateway(sdk.GatewayOptions{
		BaseURL:           o.BaseURL,
		APIKey:            o.APIKey,
		PageSize:          o.PageSize,
		Timeout:           seconds(o.TimeoutSeconds),
		Retry:             o.retry(),
		HTTPClient:        o.httpClient(),
		AllowInsecureHTTP: o.AllowInsecureHTTP,
	})
}

func read(given command) (any, error) {
	gateway, err := given.Options.gateway()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	if given.RequestID != "" {
		ctx = sdk.WithRequestID(ctx, given.RequestID)
	}
	switch given.Method {
	case "printed":
		return printed(gateway), nil
	case "workers":
		return gateway.Workers(ctx, given.Args[0], given.Args[1]).Collect()
	case "users":
		return gateway.Users(ctx, given.Args[0], given.Args[1]).Collect()
	case "listChanges":
		p := given.Parameters
		asked := sdk.ChangesOptions{After: p.After, Limit: p.Limit}
		if p.WaitSeconds != nil {
			asked.Wait = seconds(*p.WaitSeconds)
		}
		return changes(gateway.ListChanges(ctx, given.Args[0], asked))
	case "follow":
		var record any
		return followed(ctx, gateway, given, given.Args[0], &record)
	}
	var subject any = gateway
	if given.IfChanged != nil {
		var etag string
		_ = json.Unmarshal(given.IfChanged, &etag)
		subject = gateway.IfChanged(etag)
	}
	arguments := []reflect.Value{reflect.ValueOf(ctx)}
	for _, id := range given.Args {
		arguments = append(arguments, reflect.ValueOf(id))
	}
	results := reflect.ValueOf(subject).MethodByName(methods[given.Method]).Call(arguments)
	if err, failed := results[1].Interface().(error); failed {
		return nil, err
	}
	if given.IfChanged == nil {
		return results[0].Interface(), nil
	}
	reading := results[0]
	changed, etag := reading.FieldByName("Changed").Bool(), reading.FieldByName("ETag").String()
	return answer(changed, etag, reading.FieldByName("Data").Interface()), nil
}

func changes(read *sdk.Changes, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return object{"items": items(read.Items), "cursor": orNull(read.Cursor), "hasMore": read.HasMore}, nil
}

func items(changes []sdk.Change) []object {
	items := []object{}
	for _, c := range changes {
		var text any
		if c.JSON != nil {
			text = string(c.JSON)
		}
		items = append(items, object{
			"cursor": c.Cursor, "type": c.Type, "id": c.ID, "clientId": c.ClientID, "removed": c.Removed,
			"changedAt": c.ChangedAt, "version": c.Version, "resource": c.Resource(), "json": text,
		})
	}
	return items
}

func answer(changed bool, etag string, data any) object {
	if !changed {
		return object{"changed": false, "etag": etag}
	}
	return object{"changed": true, "etag": etag, "data": data}
}

// follow goes from an event to the record that its link leads to.
func follow(given command) (any, error) {
	gateway, err := given.Options.gateway()
	if err != nil {
		return nil, err
	}
	event, err := verified(given.Parameters)
	if err != nil {
		return nil, err
	}
	var link string
	var record any
	switch data := event.Data.(type) {
	case *sdk.ClientCreatedData:
		link, record = data.Links.Self, &sdk.Client{}
	case *sdk.UserData:
		link, record = data.Links.Self, &sdk.User{}
	case *sdk.WorkerData:
		link, record = data.Links.Self, &sdk.WorkerV2{}
	case *sdk.OrganizationUnitCreatedData:
		link, record = data.Links.Self, &sdk.OrganizationStructure{}
	case *sdk.OrganizationUnitTypeCreatedData:
		link, record = data.Links.Self, &sdk.OrganizationStructure{}
	case *sdk.OrganizationLocationData:
		link, record = data.Links.Self, &sdk.OrganizationStructure{}
	}
	return followed(context.Background(), gateway, given, link, record)
}

func followed(ctx context.Context, gateway *sdk.Gateway, given command, link string, record any) (any, error) {
	if given.IfChanged == nil {
		return record, gateway.Follow(ctx, link, record)
	}
	var etag string
	_ = json.Unmarshal(given.IfChanged, &etag)
	reading, err := gateway.IfChanged(etag).Follow(ctx, link, record)
	return answer(reading.Changed, reading.ETag, reading.Data), err
}

func signOn(given command) (any, error) {
	o, p := given.Options, given.Parameters
	client, err := sdk.NewSignOn(sdk.SignOnOptions{
		Issuer:           o.Issuer,
		ClientID:         o.ClientID,
		ClientSecret:     o.ClientSecret,
		RedirectURI:      o.RedirectURI,
		IDTokenAlgorithm: sdk.IDTokenAlgorithm(o.IDTokenAlgorithm),
		Timeout:          seconds(o.TimeoutSeconds),
		Retry:            o.retry(),
		HTTPClient:       o.httpClient(),
	})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	switch given.Method {
	case "authorizationUrl":
		asked := sdk.AuthorizationOptions{Scope: p.Scope, State: p.State, Nonce: p.Nonce, Prompt: p.Prompt, LoginHint: p.LoginHint, MaxAge: p.maxAge()}
		r := client.AuthorizationURL(asked)
		return object{"url": r.URL, "state": r.State, "nonce": r.Nonce, "codeVerifier": r.CodeVerifier}, nil
	case "exchangeCode", "exchangeTwice", "exchangeAtOnce", "exchangeInTurn", "endExchange", "printed":
		exchange := sdk.CodeExchange{
			CallbackURL: p.CallbackURL, State: p.State, Nonce: p.Nonce, CodeVerifier: p.CodeVerifier, MaxAge: p.maxAge(),
		}
		if given.Method == "exchangeAtOnce" {
			return exchangeAtOnce(client, exchange, p.Count), nil
		}
		if given.Method == "exchangeInTurn" {
			return []any{<-begun(ctx, client, exchange), <-begun(ctx, client, exchange)}, nil
		}
		if given.Method == "endExchange" {
			return endExchange(client, exchange, p.Ended, seconds(p.Seconds)), nil
		}
		if given.Method == "exchangeTwice" {
			if _, err := client.ExchangeCode(ctx, exchange); err != nil {
				return nil, err
			}
			pass(reflect.ValueOf(client).Elem().FieldByName("verifier"), seconds(p.Seconds))
		}
		signIn, err := client.ExchangeCode(ctx, exchange)
		if err != nil {
			return nil, err
		}
		if given.Method == "printed" {
			return printed(client, signIn, signIn.Tokens, &signIn.Tokens), nil
		}
		answer := tokens(&signIn.Tokens)
		answer["idToken"], answer["claims"] = signIn.IDToken, signIn.Claims
		return answer, nil
	case "refresh":
		refreshed, err := client.Refresh(ctx, p.RefreshToken)
		if err != nil {
			return nil, err
		}
		return tokens(refreshed), nil
	case "userinfo":
		return client.Userinfo(ctx, p.AccessToken)
	case "revoke":
		return nil, client.Revoke(ctx, p.Token)
	}
	return client.LogoutURL(sdk.LogoutOptions{IDToken: p.IDToken, PostLogoutRedirectURI: p.AfterLogout}), nil
}

// printed is what a program that debugs or logs shows of values.
func printed(values ...any) []string {
	var said []string
	for _, value := range values {
		var text, lines bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("value", "value", value)
		slog.New(slog.NewJSONHandler(&lines, nil)).Info("value", "value", value)
		said = append(said, fmt.Sprint(value), fmt.Sprintf("%+v", value), fmt.Sprintf("%#v", value), text.String(), lines.String())
	}
	return said
}

// begun has the name of the error of an exchange, nil if there is none, once that ends.
func begun(ctx context.Context, client *sdk.SignOn, exchange sdk.CodeExchange) <-chan any {
	ended := make(chan any, 1)
	go func() {
		if _, err := client.ExchangeCode(ctx, exchange); err != nil {
			ended <- told(err)["name"]
		}
		close(ended)
	}()
	return ended
}

func exchangeAtOnce(client *sdk.SignOn, exchange sdk.CodeExchange, count int) []any {
	var all []<-chan any
	for range count {
		all = append(all, begun(context.Background(), client, exchange))
	}
	names := []any{}
	for _, ended := range all {
		names = append(names, <-ended)
	}
	return names
}

// endExchange ends one of two exchanges a while after the first has asked for the keys, which is when the
// revocation is answered. The next one has the keys answered.
func endExchange(client *sdk.SignOn, exchange sdk.CodeExchange, ended string, after time.Duration) any {
	running, cancels := map[string]<-chan any{}, map[string]context.CancelFunc{}
	for _, name := range []string{"first", "second"} {
		ctx, cancel := context.WithCancel(sdk.WithRequestID(context.Background(), name))
		running[name], cancels[name] = begun(ctx, client, exchange), cancel
	}
	revoke(client)
	time.Sleep(after)
	cancels[ended]()
	names := object{ended: <-running[ended]}
	revoke(client)
	for name, end := range running {
		if name != ended {
			names[name] = <-end
		}
	}
	return names
}

func revoke(client *sdk.SignOn) {
	if err := client.Revoke(context.Background(), "refresh-1"); err != nil {
		panic(err)
	}
}

func (p parameters) maxAge() *time.Duration {
	if p.MaxAgeSeconds == nil {
		return nil
	}
	maxAge := seconds(*p.MaxAgeSeconds)
	return &maxAge
}

func tokens(given *sdk.Tokens) object {
	return object{
		"accessToken":      given.AccessToken,
		"refreshToken":     given.RefreshToken,
		"expiresInSeconds": given.ExpiresIn.Seconds(),
		"scope":            given.Scope,
	}
}

func verified(given parameters) (*sdk.Event, error) {
	verifier, err := sdk.NewWebhookVerifier(given.Secrets...)
	if err != nil {
		return nil, err
	}
	verifier.Now = func() time.Time { return time.Unix(given.NowSeconds, 0) }
	if given.ToleranceSeconds != 0 {
		verifier.Tolerance = seconds(given.ToleranceSeconds)
	}
	header := http.Header{}
	for name, value := range given.Headers {
		header.Set(name, value)
	}
	return verifier.Verify(given.Body, header)
}

func verify(given parameters) (any, error) {
	event, err := verified(given)
	if err != nil {
		return nil, err
	}
	_, isRaw := event.Data.(json.RawMessage)
	return object{"isKnown": !isRaw, "isTest": event.Test, "event": object{
		"id": event.ID, "type": event.Type, "specVersion": event.SpecVersion, "dataVersion": event.DataVersion,
		"occurredAt": event.OccurredAt, "sequence": event.Sequence, "entity": event.Entity, "data": event.Data,
	}}, nil
}

// told has all that there is to see of an error, under the names of the other languages.
func told(err error) object {
	said := object{"message": err.Error(), "shown": err.Error()}
	var (
		api        *sdk.APIError
		oauth      *sdk.OAuthError
		signIn     *sdk.SignInError
		webhook    *sdk.WebhookVerificationError
		timeout    *sdk.TimeoutError
		connection *sdk.ConnectionError
	)
	switch {
	case errors.As(err, &api):
		fields := api.Fields
		if fields == nil {
			fields = []sdk.FieldError{}
		}
		said["name"], said["status"], said["code"], said["fields"] = "ApiError", api.Status, api.Code, fields
		said["requestId"], said["retryAfterSeconds"] = orNull(api.RequestID), inSeconds(api.RetryAfter)
	case errors.As(err, &oauth):
		said["name"], said["error"], said["description"] = "OAuthError", oauth.Code, orNull(oauth.Description)
		said["status"], said["requestId"] = orNull(oauth.Status), orNull(oauth.RequestID)
	case errors.As(err, &signIn):
		said["name"], said["reason"] = "SignInError", signIn.Reason
	case errors.As(err, &webhook):
		said["name"], said["reason"] = "WebhookVerificationError", webhook.Reason
	case errors.As(err, &timeout):
		said["name"] = "TimeoutError"
	case errors.As(err, &connection):
		said["name"] = "ConnectionError"
	case errors.Is(err, context.Canceled):
		said["name"] = "AbortError"
	default:
		said["name"] = "ValueError"
	}
	return said
}

func orNull[T comparable](value T) any {
	var none T
	if value == none {
		return nil
	}
	return value
}

func inSeconds(wait *time.Duration) any {
	if wait == nil {
		return nil
	}
	return wait.Seconds()
}
