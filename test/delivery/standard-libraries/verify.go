// Reads cases from the standard input, a line of JSON each, and says of each whether the library takes it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type signedCase struct {
	Secret  string            `json:"secret"`
	Body    []byte            `json:"body"`
	Headers map[string]string `json:"headers"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(judge(lines.Bytes()))
	}
}

func judge(line []byte) string {
	var posted signedCase
	if err := json.Unmarshal(line, &posted); err != nil {
		return err.Error()
	}
	webhook, err := standardwebhooks.NewWebhook(posted.Secret)
	if err != nil {
		return err.Error()
	}
	headers := http.Header{}
	for name, value := range posted.Headers {
		headers.Set(name, value)
	}
	if err := webhook.Verify(posted.Body, headers); err != nil {
		return "refused"
	}
	return "taken"
}
