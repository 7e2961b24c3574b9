// What an integrator might write on top of the code that oapi-codegen makes.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"app.example.com/app/gateway"
	"app.example.com/app/signon"
)

func main() {
	ctx := context.Background()
	if err := printClients(ctx); err != nil {
		log.Fatal(err)
	}
	if err := printTokens(ctx); err != nil {
		log.Fatal(err)
	}
}

func printClients(ctx context.Context) error {
	withKey := gateway.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("x-api-key", os.Getenv("API_KEY"))
		return nil
	})
	client, err := gateway.NewClientWithResponses(os.Getenv("GATEWAY_URL"), withKey)
	if err != nil {
		return err
	}
	answer, err := client.ListClientsWithResponse(ctx, os.Getenv("INSTANCE_INTEGRATION"), nil)
	if err != nil {
		return err
	}
	if answer.JSON200 == nil {
		return fmt.Errorf("%s: %s", answer.Status(), answer.Body)
	}
	var clients []gateway.TenantClient = *answer.JSON200
	for _, client := range clients {
		fmt.Println(client.Id, client.Name)
	}
	return nil
}

func printTokens(ctx context.Context) error {
	client, err := signon.NewClientWithResponses(os.Getenv("SIGN_ON_URL"))
	if err != nil {
		return err
	}
	secret := "cs_live_3vQ8mTzK1xWbN6pRdY9sLcHf4GjUeA7oZiXtV2nMqBkR5wPy"
	var request signon.TokenRequest
	err = request.FromAuthorizationCodeGrant(signon.AuthorizationCodeGrant{
		Code:         "kTmAy0IngJVyw9QKvhdKQPU__LhboUjX8ItW9fJA0jQ",
		ClientId:     "app_GRiNdE2svJ6Uj1h5qWVsYI",
		ClientSecret: &secret,
		RedirectUri:  "https://app.example.com/callback",
	})
	if err != nil {
		return err
	}
	answer, err := client.TokenWithResponse(ctx, nil, request)
	if err != nil {
		return err
	}
	if answer.JSON200 == nil {
		return fmt.Errorf("%s: %s", answer.Status(), answer.Body)
	}
	var tokens signon.IssuedTokens = *answer.JSON200
	fmt.Println(tokens.TokenType, tokens.ExpiresIn, tokens.AccessToken, *tokens.IdToken)
	return nil
}
