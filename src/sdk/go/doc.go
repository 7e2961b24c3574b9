// Package sdk signs people in, reads the gateway and verifies webhooks of the Integration Service.
//
// [Gateway] reads, [SignOn] signs people in, [VerifyWebhook] tells whether a request is from the service. All three
// may be used by many goroutines. The packages gateway and signon below hold the records, and the generated clients
// this one is built on.
package sdk
